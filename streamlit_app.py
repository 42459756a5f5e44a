"""Memora's entry: page settings, navigation and the frame around the pages."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from memora.errors import OperatorError
from memora.preferences import Language
from memora.ui import conversation
from memora.ui.callbacks import draw_failure
from memora.ui.markdown import as_plain
from memora.ui.notices import told_in_words
from memora.ui.sentences import sentence
from memora.ui.session import get_app, settle_language, settle_language_without_app
from memora.ui.sidebar import draw_sidebar

LANGUAGE_TAG: dict[Language, str] = {"zh_TW": "zh-Hant-TW", "en": "en"}
ASSETS = Path(__file__).parent / "memora" / "ui" / "assets"


def main() -> None:
    """Draw the frame and the page that is asked for."""
    st.set_page_config(page_title="Memora", page_icon=str(ASSETS / "icon.svg"), layout="centered")
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
    # The folder is not called "pages": the first request to a new server would find its files by itself and run the
    # one that is asked for without this frame.
    chat = st.Page("views/chat.py", title=_("Chat"), icon=":material/chat_bubble:", default=True)
    page = st.navigation(
        [
            chat,
            st.Page("views/memories.py", title=_("Memories"), icon=":material/bookmarks:", url_path="memories"),
            st.Page("views/profile.py", title=_("Profile"), icon=":material/person:", url_path="profile"),
            st.Page("views/settings.py", title=_("Settings"), icon=":material/tune:", url_path="settings"),
        ]
    )
    is_chat = page == chat
    if is_chat:
        conversation.settle_open(came_from_elsewhere=st.session_state.get("page", "") != page.url_path)
    st.session_state["page"] = page.url_path
    draw_sidebar(chat, is_chat=is_chat)
    declare_language(_.language)
    draw_failure()
    page.run()


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
