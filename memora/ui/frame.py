"""The pages and the frame around them: which there are, and what a page does that was run without its frame."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from memora.i18n import Translator
from memora.ui.session import settle_language_without_app

ASSETS = Path(__file__).with_name("assets")
_FRAMED = "framed"


def configure() -> None:
    """Title, icon and layout of every page. Without an icon of ours Streamlit would fetch one from another host."""
    st.set_page_config(page_title="Memora", page_icon=str(ASSETS / "icon.svg"), layout="centered")


def navigate(_: Translator) -> tuple[StreamlitPage, StreamlitPage]:
    """Declare the pages; returns the front page and the one that is asked for."""
    chat = st.Page("pages/chat.py", title=_("Chat"), icon=":material/chat_bubble:", default=True)
    asked = st.navigation(
        [
            chat,
            st.Page("pages/memories.py", title=_("Memories"), icon=":material/bookmarks:", url_path="memories"),
            st.Page("pages/profile.py", title=_("Profile"), icon=":material/person:", url_path="profile"),
            st.Page("pages/settings.py", title=_("Settings"), icon=":material/tune:", url_path="settings"),
        ]
    )
    return chat, asked


def run_framed(page: StreamlitPage) -> None:
    """Run ``page``, whose frame has been drawn."""
    st.session_state[_FRAMED] = True
    page.run()


def framed(draw: Callable[[], None]) -> None:
    """Draw a page, in its frame.

    Until the pages were declared once in the life of a server, Streamlit finds the files in ``pages/`` by itself,
    and runs the one that is asked for without any frame. Then they are declared here, and the run begins again.
    """
    if st.session_state.pop(_FRAMED, False):
        draw()
        return
    configure()
    navigate(settle_language_without_app())
    st.rerun()
