"""What a user chooses, what the installation has set, and which model answers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memora.errors import InvalidInput
from memora.i18n import mark
from memora.preferences import Preferences
from memora.settings import MAX_INPUT_TOKENS, MIN_INPUT_TOKENS, without_credentials
from memora.ui.bug_report import draw_bug_report
from memora.ui.callbacks import told
from memora.ui.connection_form import draw_connection, known_models
from memora.ui.frame import framed
from memora.ui.markdown import as_plain
from memora.ui.notices import told_in_words
from memora.ui.numbers import whole
from memora.ui.session import get_app, translate, user_id

LANGUAGES = {"auto": mark("Like the browser"), "zh_TW": "繁體中文", "en": "English"}


def draw_settings() -> None:
    """The groups of settings."""
    _ = translate()
    st.title(_("Settings"), anchor=False)
    draw_choices()
    draw_model()
    draw_connection()
    draw_bug_report()
    draw_installation()


def preferences() -> Preferences:
    """What the user has chosen so far."""
    return get_app().preferences.preferences(user_id=user_id())


def save(chosen: Preferences) -> None:
    """Keep a choice and say so."""
    get_app().preferences.save_preferences(user_id=user_id(), preferences=chosen)
    _ = translate()
    st.toast(_("Saved"), icon=":material/check:")


def draw_choices() -> None:
    """Language and memory: saved with a click."""
    _ = translate()
    chosen = preferences()
    st.session_state["setting-language"] = chosen.language or "auto"
    st.segmented_control(
        _("Language of the interface"),
        list(LANGUAGES),
        required=True,
        format_func=lambda name: _(LANGUAGES[name]),
        key="setting-language",
        on_change=save_language,
    )
    st.session_state["setting-memory"] = chosen.memory_enabled
    st.toggle(
        _("Remember across conversations"),
        key="setting-memory",
        on_change=save_memory,
        help=_("Off: nothing is recalled and nothing new is remembered. What is stored stays."),
    )


@told
def save_language() -> None:
    """Take the language that was clicked."""
    name = st.session_state["setting-language"]
    save(replace(preferences(), language=None if name == "auto" else name))


@told
def save_memory() -> None:
    """Take the position of the memory switch."""
    save(replace(preferences(), memory_enabled=st.session_state["setting-memory"]))


def draw_model() -> None:
    """Model and token budget; empty means the installation's."""
    _ = translate()
    chosen, settings = preferences(), get_app().settings
    st.subheader(_("Model"), anchor=False)
    with st.form("setting-model-form", border=True):
        model = draw_model_name(chosen.model)
        tokens = st.number_input(
            _("Token budget for one request"),
            value=chosen.max_input_tokens,
            step=1_000,
            placeholder=whole(settings.max_input_tokens, _),
            help=_("How much of the conversation is sent. Older messages are summarised to fit."),
            key="setting-tokens",
        )
        st.caption(_("Left empty, the installation's value is used."))
        if st.form_submit_button(_("Save"), key="setting-model-save"):
            with told_in_words():
                save_model(model, tokens)


def draw_model_name(chosen: str | None) -> str | None:
    """A list to choose from where the server has one, else a box; any other name may be typed in either."""
    _ = translate()
    default = get_app().settings.model
    known = known_models()
    if not known:
        return st.text_input(
            _("Model name"), value=chosen or "", placeholder=default, max_chars=200, key="setting-model"
        )
    names = list(dict.fromkeys([*([chosen] if chosen else []), *known]))
    return st.selectbox(
        _("Model name"),
        names,
        index=0 if chosen else None,
        placeholder=default,
        accept_new_options=True,
        help=_("One of the server's models, or any other name."),
        key="setting-model-choice",
    )


def save_model(model: str | None, tokens: int | None) -> None:
    """Take the form's values. Raises `InvalidInput` for a budget that is out of bounds."""
    _ = translate()
    if tokens is not None and not MIN_INPUT_TOKENS <= tokens <= MAX_INPUT_TOKENS:
        allowed = f"{whole(MIN_INPUT_TOKENS, _)}–{whole(MAX_INPUT_TOKENS, _)}"
        raise InvalidInput(field="max_input_tokens", allowed=allowed)
    save(replace(preferences(), model=(model or "").strip() or None, max_input_tokens=tokens))


def draw_installation() -> None:
    """The values in effect and where the data lives. Never a key."""
    _ = translate()
    settings = get_app().settings
    st.subheader(_("This installation"), anchor=False)
    rows = {
        _("Data folder"): str(settings.data_dir),
        _("Database"): settings.sqlalchemy_url,
        _("Memory index"): without_credentials(settings.chroma_url)
        if settings.chroma_url
        else str(settings.data_dir / "chroma"),
        _("Embeddings"): settings.embedder,
        "OPENAI_API_KEY": _("set") if settings.openai_api_key else _("not set"),
        "OPENAI_BASE_URL": without_credentials(settings.openai_base_url) if settings.openai_base_url else _("not set"),
        "MEMORA_PROVIDER": settings.provider,
        "MEMORA_MODEL": settings.model,
        "MEMORA_COUNT_TOKENS": settings.count_tokens,
        "MEMORA_MAX_INPUT_TOKENS": whole(settings.max_input_tokens, _),
    }
    table = "\n".join(f"| {as_plain(name)} | {as_plain(value)} |" for name, value in rows.items())
    with st.container(key="installation"):
        st.markdown(f"| | |\n|---|---|\n{table}", anchors=False)


framed(draw_settings)
