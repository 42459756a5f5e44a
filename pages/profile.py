"""Who the tutor speaks to: the fields that are always in the context, editable by their owner."""

from __future__ import annotations

import streamlit as st

from memora.errors import MemoraError
from memora.memory.profile import validate_profile_value
from memora.memory.values import CEFR_LEVELS, PROFILE_FIELDS, ProfileField, ProfileValue
from memora.ui import labels
from memora.ui.callbacks import told
from memora.ui.cautions import draw_cautions
from memora.ui.frame import framed
from memora.ui.markdown import as_plain
from memora.ui.numbers import moment
from memora.ui.sentences import sentence
from memora.ui.session import get_app, now, timezone, translate, user_id

_REFUSED = "refused-profile"


def draw_profile() -> None:
    """All fields, each saved by itself as soon as it is left."""
    _ = translate()
    st.title(_("Profile"), anchor=False)
    st.markdown(
        _(
            "The tutor always knows what is written here. Memora also fills it in from what you say; "
            "a locked field is never changed by that."
        )
    )
    known = get_app().profiles.profile(user_id=user_id())
    for field in PROFILE_FIELDS:
        draw_field(field, known.get(field))


def draw_field(field: ProfileField, value: ProfileValue | None) -> None:
    """One field with where it came from and its lock."""
    _ = translate()
    with st.container(key=f"profile-{field}", gap="xsmall"):
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            draw_entry(field, value.value if value else "")
            if value:
                draw_lock(value)
        refused = st.session_state.get(_REFUSED, {}).get(field)
        if refused:
            st.warning(as_plain(sentence(refused, _)), icon=":material/edit_note:")
        if value:
            st.caption(as_plain(origin(value)))
            draw_cautions(value.value)


def draw_entry(field: ProfileField, current: str) -> None:
    """The box to type in, or the levels to choose from."""
    _ = translate()
    key = f"profile-value-{field}"
    # The record may have changed behind the box (learning, another tab); a refused entry stays to be put right.
    if field not in st.session_state.get(_REFUSED, {}):
        st.session_state[key] = current or (None if field == "english_level" else "")
    label, hint = _(labels.PROFILE_FIELD[field]), _(labels.PROFILE_HINT[field])
    if field == "english_level":
        st.selectbox(label, CEFR_LEVELS, index=None, placeholder=hint, key=key, on_change=save, args=(field,))
    else:
        st.text_input(label, placeholder=hint, key=key, on_change=save, args=(field,))


def draw_lock(value: ProfileValue) -> None:
    """Lock against learning, or unlock."""
    _ = translate()
    st.button(
        "",
        key=f"profile-lock-{value.field}",
        icon=":material/lock:" if value.locked else ":material/lock_open_right:",
        help=_("Locked: only you change it. Click to unlock.") if value.locked else _("Click to lock it."),
        on_click=toggle_lock,
        args=(value,),
    )


@told
def toggle_lock(value: ProfileValue) -> None:
    """Lock an open field, open a locked one."""
    get_app().profiles.lock_profile(user_id=user_id(), field=value.field, locked=not value.locked, at=now())


def save(field: ProfileField) -> None:
    """Save what was typed; an empty value clears the field, a wrong one is refused and kept in the box."""
    _ = translate()
    typed = st.session_state[f"profile-value-{field}"] or ""
    refused = st.session_state.setdefault(_REFUSED, {})
    try:
        value = validate_profile_value(field, typed)
        get_app().profiles.set_profile(user_id=user_id(), field=field, value=value, at=now())
    except MemoraError as error:
        refused[field] = error.as_failure()
        return
    refused.pop(field, None)
    st.toast(_("Saved"), icon=":material/check:")


def origin(value: ProfileValue) -> str:
    """Where a value came from, and when."""
    _ = translate()
    when = moment(value.updated_at, _, zone=timezone(), now=now())
    parts = [_(labels.ORIGIN[value.provenance.origin]), when]
    if value.provenance.quote:
        parts.insert(1, _("“{quote}”").format(quote=value.provenance.quote))
    return " · ".join(parts)


framed(draw_profile)
