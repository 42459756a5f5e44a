"""The pages on the real app: a fresh data folder and the demo model for every test."""

import time

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from memora.settings import APP_FOLDER
from memora.ui.session import get_app

SECONDS = 20


@pytest.fixture
def app(tmp_path, monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEMORA_MODEL", "MEMORA_DATABASE_URL", "MEMORA_CHROMA_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEMORA_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("MEMORA_LANGUAGE", "en")
    st.cache_resource.clear()
    built = get_app()
    yield built
    built.close()
    st.cache_resource.clear()


@pytest.fixture
def page(app):
    """The front page, drawn once; ``page.switch_page`` leads to the others."""
    return AppTest.from_file(str(APP_FOLDER / "streamlit_app.py"), default_timeout=SECONDS).run()


@pytest.fixture
def say(page, app):
    """Type a message, wait for the end of its write path, and return the turn."""

    def say(text):
        page.chat_input(key="chat_input").set_value(text).run()
        conversation = app.turns.conversations(user_id="local", limit=1)[0]
        return settled(page, app, conversation.id)

    return say


def settled(page, app, conversation_id):
    """The last turn of the conversation, once nothing more happens to it; the page is drawn as of then."""
    deadline = time.monotonic() + SECONDS
    while time.monotonic() < deadline:
        turn = app.turns.turns(user_id="local", conversation_id=conversation_id, before=None, limit=1)[-1]
        if turn.finished_at and turn.learning != "pending":
            page.run()
            return turn
        time.sleep(0.05)
    raise AssertionError("the turn did not end")


def texts(page):
    """Everything that the page says in words, joined."""
    kinds = (page.title, page.markdown, page.caption, page.warning, page.error, page.info)
    return "\n".join(element.value for kind in kinds for element in kind)
