"""The interface follows the browser and can be switched; it fits a telephone."""

from __future__ import annotations

import pytest
from browser.conftest import OpenReader
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import expect

TELEPHONE = 390
PAGES = ("/", "/memories", "/profile", "/settings")


@pytest.mark.parametrize(
    ("locale", "new_conversation"), [("zh-TW", "新對話"), ("zh-Hant", "新對話"), ("en-US", "New conversation")]
)
def test_the_interface_follows_the_browser(
    app: RunningApp, open_reader: OpenReader, locale: str, new_conversation: str
) -> None:
    reader = open_reader(app, locale=locale)
    expect(reader.key("new-conversation")).to_contain_text(new_conversation)
    expect(reader.key("demo-notice")).to_be_visible()


@pytest.mark.parametrize("path", PAGES)
def test_no_page_mixes_the_languages(app: RunningApp, open_reader: OpenReader, path: str) -> None:
    reader = open_reader(app, locale="en-US", path=path)
    shown = reader.page.get_by_test_id("stMain").inner_text()
    for name in ("繁體中文", "正體中文", "中文"):
        shown = shown.replace(name, "")
    assert not any("\u4e00" <= letter <= "\u9fff" for letter in shown), shown


def test_the_language_can_be_switched_and_stays(own_app: RunningApp, open_reader: OpenReader) -> None:
    reader = open_reader(own_app, path="/settings")
    reader.key("setting-language").get_by_text("English").click()
    expect(reader.key("new-conversation")).to_contain_text("New conversation")
    reader.open("/")
    expect(reader.key("new-conversation")).to_contain_text("New conversation")


@pytest.mark.parametrize("path", PAGES)
def test_no_page_scrolls_sideways_on_a_telephone(app: RunningApp, open_reader: OpenReader, path: str) -> None:
    assert_fits(open_reader(app, width=TELEPHONE, path=path))


def test_an_answer_with_its_trace_fits_a_telephone(app: RunningApp, open_reader: OpenReader) -> None:
    reader = open_reader(app, width=TELEPHONE)
    turn = reader.ask("請精確計算這句英文有幾個單字：I have studied English for three years.")
    reader.open_trace(turn)
    expect(reader.page.locator('[class*="st-key-function-call-"]')).to_be_visible()
    assert_fits(reader)
    expect(reader.box).to_be_in_viewport()


def assert_fits(reader: Reader) -> None:
    """Nothing on the page is wider than the screen."""
    boxes = reader.page.locator('html, .stApp, [data-testid="stMain"]')
    assert max(boxes.evaluate_all("all => all.map(one => one.scrollWidth)")) <= TELEPHONE
