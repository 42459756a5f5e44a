"""The pages on the real app and the demo model: one app for all tests, a user of its own for each."""

import time
import uuid

import pytest
import streamlit as st
from streamlit.runtime.pages_manager import PagesManager
from streamlit.testing.v1 import AppTest

from memora.settings import APP_FOLDER
from memora.ui import session

SECONDS = 30
ELSEWHERE = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEMORA_MODEL", "MEMORA_DATABASE_URL", "MEMORA_CHROMA_URL")


@pytest.fixture(autouse=True)
def a_server_that_knows_its_pages(monkeypatch):
    """AppTest forgets before every run that the pages were declared; a server remembers it all its life."""
    init = PagesManager.__init__

    def remembering(self, *args, **kwargs):
        PagesManager.uses_pages_directory = False
        init(self, *args, **kwargs)

    monkeypatch.setattr(PagesManager, "__init__", remembering)


@pytest.fixture(scope="session")
def shared_app(tmp_path_factory):
    with pytest.MonkeyPatch.context() as environment:
        for name in ELSEWHERE:
            environment.delenv(name, raising=False)
        environment.setenv("MEMORA_DATA_DIR", str(tmp_path_factory.mktemp("data")))
        environment.setenv("MEMORA_LANGUAGE", "en")
        st.cache_resource.clear()
        app = session.get_app()
    yield app
    app.close()
    st.cache_resource.clear()


@pytest.fixture
def user(monkeypatch):
    name = f"user-{uuid.uuid4().hex[:8]}"
    monkeypatch.setattr(session, "LOCAL_USER", name)
    return name


@pytest.fixture
def app(shared_app, user):
    return shared_app


@pytest.fixture
def page(app):
    """The front page, drawn once; ``page.switch_page`` leads to the others."""
    return AppTest.from_file(str(APP_FOLDER / "streamlit_app.py"), default_timeout=SECONDS).run()


@pytest.fixture
def say(page, app, user):
    """Type a message, wait for the end of its write path, and return the turn."""

    def say(text):
        page.chat_input(key="chat_input").set_value(text).run()
        (conversation,) = app.turns.conversations(user_id=user, limit=1)
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            (turn,) = app.turns.turns(user_id=user, conversation_id=conversation.id, before=None, limit=1)
            if turn.finished_at and turn.learning != "pending":
                page.run()
                return turn
            time.sleep(0.05)
        raise AssertionError("the turn did not end")

    return say


def texts(page):
    """Everything that the page says in words, joined."""
    kinds = (page.title, page.markdown, page.caption, page.warning, page.error, page.info)
    return "\n".join(element.value for kind in kinds for element in kind)
