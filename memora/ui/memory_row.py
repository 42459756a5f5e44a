"""One memory on the memories page: what it says, where it came from, and what can be done with it."""

from __future__ import annotations

import streamlit as st

from memora.i18n import Translator, mark
from memora.memory.values import Category, HistoryEntry, Memory, RecalledMemory
from memora.ui import labels
from memora.ui.callbacks import told
from memora.ui.cautions import draw_cautions
from memora.ui.markdown import as_label, as_plain
from memora.ui.notices import told_in_words
from memora.ui.numbers import full_moment, moment
from memora.ui.session import get_app, now, timezone, translate, user_id

DELETED_KEY = "deleted-memory"
CONTENT_CHARS = 500
"""How long a memory written by hand may be, in characters."""

_STATUS = {"superseded": mark("replaced"), "deleted": mark("deleted")}


def draw_memory(memory: Memory, *, recalled: RecalledMemory | None = None) -> None:
    """A row; with ``recalled`` it shows its score for the question that was asked."""
    with st.container(key=f"memory-{memory.id}", border=True, gap="xsmall"):
        st.markdown(as_plain(memory.content), anchors=False)
        st.markdown(_badges(memory, recalled, translate()), anchors=False)
        draw_cautions(memory.content)
        _draw_provenance(memory)
        _draw_actions(memory)


def _badges(memory: Memory, recalled: RecalledMemory | None, _: Translator) -> str:
    color = labels.CATEGORY_COLOR[memory.category]
    badges = [f":{color}-badge[{_(labels.CATEGORY[memory.category])}]"]
    if memory.pinned:
        badges.append(":primary-badge[:material/keep: " + _("pinned") + "]")
    status = "deleted" if memory.deleted_at else "superseded" if memory.superseded_by else ""
    if status:
        badges.append(f":gray-badge[{_(_STATUS[status])}]")
    if recalled:
        score = _("score {n}").format(n=f"{recalled.score:.2f}")
        badges.append(f":blue-badge[{score}]")
    zone, today = timezone(), now()
    facts = [
        _("importance {n}").format(n=memory.importance),
        moment(memory.created_at, _, zone=zone, now=today),
    ]
    if memory.updated_at.date() != memory.created_at.date():
        facts.append(_("changed {when}").format(when=moment(memory.updated_at, _, zone=zone, now=today)))
    if memory.access_count:
        count = memory.access_count
        facts.append(_.plural("used once", "used {n} times", count).format(n=count))
    return " ".join(badges) + f" :gray[:small[{' · '.join(facts)}]]"


def _draw_provenance(memory: Memory) -> None:
    _ = translate()
    source = memory.provenance
    told = _(labels.ORIGIN[source.origin])
    quote = _("“{quote}”").format(quote=source.quote) if source.quote else ""
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key=f"provenance-{memory.id}"):
        st.caption(as_plain(" · ".join(part for part in (told, quote) if part)))
        if source.conversation_id:
            st.page_link(
                "pages/chat.py",
                label=_("Conversation"),
                icon=":material/chat_bubble:",
                query_params={"c": source.conversation_id},
            )


def _draw_actions(memory: Memory) -> None:
    _ = translate()
    with st.container(key=f"actions-{memory.id}", horizontal=True, gap="small"):
        if memory.is_current:
            _draw_pin(memory)
            if st.button(_("Edit"), key=f"memory-edit-{memory.id}", icon=":material/edit:", type="tertiary"):
                open_editor(memory)
        if st.button(_("History"), key=f"memory-history-{memory.id}", icon=":material/history:", type="tertiary"):
            open_history(memory)
        if memory.is_current:
            st.button(
                _("Delete"),
                key=f"memory-delete-{memory.id}",
                icon=":material/delete:",
                type="tertiary",
                on_click=delete,
                args=(memory,),
            )
        else:
            _draw_bring_back(memory)


def _draw_bring_back(memory: Memory) -> None:
    _ = translate()
    st.button(
        _("Bring back"),
        key=f"memory-back-{memory.id}",
        icon=":material/restore:",
        type="tertiary",
        on_click=_bring_back,
        args=(memory,),
    )


@told
def _bring_back(memory: Memory) -> None:
    """A deleted memory is undeleted; a replaced one takes the place of its successor again."""
    if memory.deleted_at:
        get_app().memory.undelete(user_id=user_id(), memory_ids=[memory.id])
    else:
        get_app().memory.restore(user_id=user_id(), memory_id=memory.id)


def _draw_pin(memory: Memory) -> None:
    _ = translate()
    st.button(
        _("Unpin") if memory.pinned else _("Pin"),
        key=f"memory-pin-{memory.id}",
        icon=":material/keep_off:" if memory.pinned else ":material/keep:",
        type="tertiary",
        on_click=_toggle_pin,
        args=(memory,),
    )


@told
def _toggle_pin(memory: Memory) -> None:
    get_app().memory.set_pinned(user_id=user_id(), memory_id=memory.id, pinned=not memory.pinned)


@told
def delete(memory: Memory) -> None:
    """Delete ``memory``, remembering it for undo."""
    get_app().memory.delete(user_id=user_id(), memory_ids=[memory.id])
    st.session_state[DELETED_KEY] = memory


def draw_undo() -> None:
    """What was deleted last, and the way back."""
    _ = translate()
    gone: Memory | None = st.session_state.get(DELETED_KEY)
    if gone is None:
        return
    with st.container(key="memory-deleted", horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/delete: " + _("Deleted: {content}").format(content=as_label(gone.content, limit=60)))
        st.button(_("Undo"), key="memory-undo", icon=":material/undo:", type="tertiary", on_click=_undelete)


@told
def _undelete() -> None:
    gone: Memory | None = st.session_state.pop(DELETED_KEY, None)
    if gone:
        get_app().memory.undelete(user_id=user_id(), memory_ids=[gone.id])


def open_editor(memory: Memory | None) -> None:
    """A dialog for one memory; None for a new one."""
    _ = translate()
    title = _("Edit memory") if memory else _("Add a memory")
    st.dialog(title)(draw_editor)(memory)


def draw_editor(memory: Memory | None) -> None:
    """The fields of a memory and Save; saving draws the whole page again, which closes the dialog."""
    _ = translate()
    with st.form("memory-editor", border=False):
        content = st.text_area(
            _("What should be remembered"),
            value=memory.content if memory else "",
            max_chars=CONTENT_CHARS,
            placeholder=_("One sentence about you, for example: I prefer British spelling."),
            key="memory-editor-content",
        )
        category = st.selectbox(
            _("Category"),
            list(Category),
            index=list(Category).index(memory.category) if memory else 1,
            format_func=lambda category: _(labels.CATEGORY[category]),
            key="memory-editor-category",
        )
        importance = st.slider(
            _("Importance"), 1, 5, memory.importance if memory else 3, key="memory-editor-importance"
        )
        saved = st.form_submit_button(_("Save"), type="primary", key="memory-editor-save")
    if saved and not content.strip():
        st.warning(_("Write a sentence first."), icon=":material/edit_note:")
    elif saved and category:
        with told_in_words():
            _save(memory, content=content.strip(), category=category, importance=importance)
            st.rerun()


def _save(memory: Memory | None, *, content: str, category: Category, importance: int) -> None:
    long_term = get_app().memory
    if memory is None:
        long_term.add(user_id=user_id(), content=content, category=category, importance=importance)
    else:
        long_term.edit(
            user_id=user_id(), memory_id=memory.id, content=content, category=category, importance=importance
        )


def open_history(memory: Memory) -> None:
    """A dialog with everything that happened to a memory and to the versions it replaced."""
    _ = translate()
    st.dialog(_("History"), width="medium")(_draw_history)(memory)


def _draw_history(memory: Memory) -> None:
    with told_in_words():
        entries = get_app().memory.history(user_id=user_id(), memory_id=memory.id)
        for number, entry in enumerate(entries):
            _draw_entry(entry, number=number, memory=memory)


def _draw_entry(entry: HistoryEntry, *, number: int, memory: Memory) -> None:
    _ = translate()
    when = full_moment(entry.at, _, zone=timezone())
    st.markdown(f"**{_(labels.HISTORY[entry.action])}** :gray[:small[{when} · {_(labels.ORIGIN[entry.origin])}]]")
    if entry.before and entry.before != entry.after:
        st.caption(as_plain(_("before: {content}").format(content=entry.before)))
    if entry.after:
        st.caption(as_plain(_("after: {content}").format(content=entry.after)))
    old_id = entry.memory_id
    if entry.action == "superseded" and st.button(
        _("Bring this version back"), key=f"memory-restore-{number}", icon=":material/restore:", type="tertiary"
    ):
        get_app().memory.restore(user_id=user_id(), memory_id=old_id)
        st.rerun()
