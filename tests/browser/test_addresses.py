"""Every page can be opened by its own address."""

from __future__ import annotations

from browser.conftest import OpenReader
from browser.running_app import RunningApp
from playwright.sync_api import expect


def test_a_page_that_is_the_first_thing_a_new_server_is_asked_for_has_its_frame(
    own_app: RunningApp, open_reader: OpenReader
) -> None:
    reader = open_reader(own_app, path="/memories")
    expect(reader.key("new-conversation")).to_be_visible()
    expect(reader.key("memory-search")).to_be_visible()
    assert reader.page.url.endswith("/memories")
