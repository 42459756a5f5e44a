"""What every page needs: the app, the user, the language and the clock of this browser session."""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import UTC, datetime, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

import streamlit as st
from streamlit.errors import StreamlitSecretNotFoundError

from memora.assembly import LOCAL_USER, App, build_app
from memora.i18n import Translator, choose_language, translator
from memora.settings import load_settings

_LANGUAGE = "language"


@st.cache_resource(show_spinner=False)
def get_app() -> App:
    """The app of this process, built once. Raises `OperatorError`."""
    return build_app(load_settings(_secrets()))


def _secrets() -> Mapping[str, Any]:
    try:
        return {name: str(value) for name, value in st.secrets.items() if not isinstance(value, Mapping)}
    except StreamlitSecretNotFoundError:
        return {}


def user_id() -> str:
    """Whose conversations and memories this session sees."""
    return LOCAL_USER


def settle_language() -> Translator:
    """Choose this session's language: the user's choice, the installation's, the browser's."""
    app = get_app()
    chosen = app.preferences.preferences(user_id=user_id()).language or app.settings.language
    return _remember_language(chosen)


def settle_language_without_app() -> Translator:
    """The same for a page that has to say why the app did not start."""
    return _remember_language(os.environ.get("MEMORA_LANGUAGE"))


def _remember_language(chosen: str | None) -> Translator:
    language = choose_language(chosen, st.context.locale)
    st.session_state[_LANGUAGE] = language
    return translator(language)


def translate() -> Translator:
    """The translator of this session."""
    return translator(st.session_state.get(_LANGUAGE, "en"))


def timezone() -> tzinfo:
    """The browser's time zone; UTC where it does not say."""
    name = st.context.timezone
    try:
        return ZoneInfo(name) if name else UTC
    except (KeyError, ValueError):
        return UTC


def now() -> datetime:
    """The moment, aware, in UTC."""
    return datetime.now(UTC)
