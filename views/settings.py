"""What a user chooses, what the installation has set, and which model answers."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from memora.errors import InvalidInput
from memora.i18n import mark
from memora.preferences import Preferences
from memora.settings import MAX_INPUT_TOKENS, MIN_INPUT_TOKENS
from memora.ui.markdown import as_plain
from memora.ui.numbers import whole
from memora.ui.sentences import sentence
from memora.ui.session import get_app, translate, user_id

LANGUAGES = {"auto": mark("Like the browser"), "zh_TW": "繁體中文", "en": "English"}


def draw_settings() -> None:
    """The four groups of settings."""
    st.title(translate()("Settings"), anchor=False)
    draw_choices()
    draw_model()
    draw_connection()
    draw_installation()


def preferences() -> Preferences:
    """What the user has chosen so far."""
    return get_app().preferences.preferences(user_id=user_id())


def save(chosen: Preferences) -> None:
    """Keep a choice and say so."""
    get_app().preferences.save_preferences(user_id=user_id(), preferences=chosen)
    st.toast(translate()("Saved"), icon=":material/check:")


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


def save_language() -> None:
    """Take the language that was clicked."""
    name = st.session_state["setting-language"]
    save(replace(preferences(), language=None if name == "auto" else name))


def save_memory() -> None:
    """Take the position of the memory switch."""
    save(replace(preferences(), memory_enabled=st.session_state["setting-memory"]))


def draw_model() -> None:
    """Model and token budget; empty means the installation's."""
    _ = translate()
    chosen, settings = preferences(), get_app().settings
    st.subheader(_("Model"), anchor=False)
    with st.form("setting-model-form", border=True):
        model = st.text_input(
            _("Model name"), value=chosen.model or "", placeholder=settings.model, max_chars=200, key="setting-model"
        )
        tokens = st.number_input(
            _("Token budget for one request"),
            min_value=MIN_INPUT_TOKENS,
            max_value=MAX_INPUT_TOKENS,
            value=chosen.max_input_tokens,
            step=1_000,
            placeholder=whole(settings.max_input_tokens, _),
            help=_("How much of the conversation is sent. Older messages are summarised to fit."),
            key="setting-tokens",
        )
        st.caption(_("Left empty, the installation's value is used."))
        if st.form_submit_button(_("Save"), key="setting-model-save"):
            save(replace(chosen, model=(model or "").strip() or None, max_input_tokens=tokens))


def draw_connection() -> None:
    """Which server answers, and another one until the app is closed."""
    _ = translate()
    st.subheader(_("Connection"), anchor=False)
    status = get_app().status(user_id=user_id())
    if status.is_demo:
        st.markdown(_("The **demo model** answers. Its answers are scripted."))
    else:
        host = as_plain(status.endpoint or "api.openai.com")
        st.markdown(_("**{model}** at {host} answers.").format(model=as_plain(status.model), host=host))
    with st.form("connection-form", border=True, clear_on_submit=False):
        base_url = st.text_input(
            _("Address of an OpenAI-compatible server"),
            placeholder="http://localhost:11434/v1",
            help=_("Leave it empty for OpenAI itself."),
            key="connection-url",
        )
        api_key = st.text_input(_("API key"), type="password", key="connection-key", autocomplete="off")
        st.caption(
            _(
                "Kept in memory until Memora is closed, never written to disk. To keep it, set OPENAI_API_KEY and "
                "OPENAI_BASE_URL in the environment or in the file .env."
            )
        )
        with st.container(horizontal=True, gap="small"):
            wanted = st.form_submit_button(_("Connect"), type="primary", key="connection-connect")
            back = st.form_submit_button(_("Back to the start settings"), key="connection-reset")
    if wanted or back:
        connect(base_url if wanted else None, api_key if wanted else None)


def connect(base_url: str | None, api_key: str | None) -> None:
    """Switch the connection, or say what is wrong with the address."""
    _ = translate()
    try:
        get_app().connect(base_url=base_url or None, api_key=api_key or None)
    except InvalidInput as error:
        st.warning(as_plain(sentence(error.as_failure(), _)), icon=":material/edit_note:")
        return
    st.toast(_("Connection changed"), icon=":material/check:")
    st.rerun()


def draw_installation() -> None:
    """The values in effect and where the data lives. Never a key."""
    _ = translate()
    settings = get_app().settings
    st.subheader(_("This installation"), anchor=False)
    rows = {
        _("Data folder"): str(settings.data_dir),
        _("Database"): settings.sqlalchemy_url,
        _("Memory index"): settings.chroma_url or str(settings.data_dir / "chroma"),
        _("Embeddings"): settings.embedder,
        "OPENAI_API_KEY": _("set") if settings.openai_api_key else _("not set"),
        "OPENAI_BASE_URL": settings.openai_base_url or _("not set"),
        "MEMORA_MODEL": settings.model,
        "MEMORA_MAX_INPUT_TOKENS": whole(settings.max_input_tokens, _),
    }
    table = "\n".join(f"| {as_plain(name)} | {as_plain(value)} |" for name, value in rows.items())
    with st.container(key="installation"):
        st.markdown(f"| | |\n|---|---|\n{table}", anchors=False)


draw_settings()
