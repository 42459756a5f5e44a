"""Memora's entry: page settings, navigation and the frame around the pages."""

from __future__ import annotations

import streamlit as st

from memora.errors import OperatorError
from memora.preferences import Language
from memora.ui import conversation
from memora.ui.callbacks import draw_failure
from memora.ui.frame import ASSETS, configure, navigate, run_framed
from memora.ui.markdown import as_plain
from memora.ui.notices import told_in_words
from memora.ui.sentences import sentence
from memora.ui.session import get_app, settle_language, settle_language_without_app
from memora.ui.sidebar import draw_sidebar

LANGUAGE_TAG: dict[Language, str] = {"zh_TW": "zh-Hant-TW", "en": "en"}


def main() -> None:
    """Draw the frame and the page that is asked for."""
    configure()
    st.html(ASSETS / "style.css")
    st.logo(ASSETS / "logo.svg", icon_image=ASSETS / "icon.svg", size="large")
    try:
        get_app()
    except OperatorError as error:
        draw_start_failure(error)
        return
    with told_in_words():
        draw_page()


def draw_page() -> None:
    """Navigation, sidebar and the page itself."""
    _ = settle_language()
    chat, page = navigate(_)
    is_chat = page == chat
    if is_chat:
        conversation.settle_open(came_from_elsewhere=st.session_state.get("page", "") != page.url_path)
    st.session_state["page"] = page.url_path
    draw_sidebar(chat, is_chat=is_chat)
    declare_language(_.language)
    draw_failure()
    run_framed(page)


def declare_language(language: Language) -> None:
    """Say in the page which language it speaks: voices, glyphs and offers to translate depend on it."""
    script = f"<script>document.documentElement.lang = '{LANGUAGE_TAG[language]}'</script>"
    with st.sidebar:
        st.html(script, unsafe_allow_javascript=True)


def draw_start_failure(error: OperatorError) -> None:
    """Why Memora cannot start, in words, with what is to be done."""
    _ = settle_language_without_app()
    st.title(_("Memora cannot start yet"))
    st.error(as_plain(sentence(error.as_failure(), _)), icon=":material/build:")
    st.caption(_("Settings come from the environment, the file .env or Streamlit's secrets. Correct it and reload."))


main()
