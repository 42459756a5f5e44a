import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from memora.settings import APP_FOLDER
from tests.pages.conftest import texts


@pytest.fixture
def start(monkeypatch):
    """Start with these settings; nothing is built, because every one of them is wrong."""

    def start(**environment):
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        st.cache_resource.clear()
        return AppTest.from_file(str(APP_FOLDER / "streamlit_app.py"), default_timeout=20).run()

    return start


def test_a_wrong_setting_is_named_with_what_is_allowed(start):
    page = start(MEMORA_EMBEDDER="cloud", MEMORA_LANGUAGE="en")
    assert not page.exception
    assert "MEMORA\\_EMBEDDER" in texts(page) or "MEMORA_EMBEDDER" in texts(page)
    assert "local, openai" in texts(page)


def test_a_data_folder_that_cannot_be_made_is_named(start, tmp_path):
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    page = start(MEMORA_DATA_DIR=str(blocker / "data"), MEMORA_LANGUAGE="zh_TW")
    assert not page.exception
    assert "Memora 還無法啟動" in texts(page)
    assert "MEMORA_DATA_DIR" in texts(page)
