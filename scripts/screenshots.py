"""``make screenshots``: takes the pictures in docs/ from the real app, with the demo model."""

from __future__ import annotations

import tempfile
from pathlib import Path

from browser.browsers import FLAGS, find_browser
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import Browser, sync_playwright

from memora.settings import APP_FOLDER
from scripts import connection_pictures, fault_pictures

PICTURES = APP_FOLDER / "docs"
INTRODUCTION = "我叫小美，住在台北，正在準備三月的 IELTS 考試。"
QUESTION = "請精確計算這句英文有幾個單字：I have studied English for three years."


def main() -> None:
    """Start the app, have a conversation, take the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        app = RunningApp(data_dir=Path(folder) / "data")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        app.start()
        try:
            _take(browser, app)
        finally:
            app.stop()
        connection_pictures.take_all(browser, PICTURES)
        fault_pictures.take_all(browser, PICTURES)
        browser.close()


def _take(browser: Browser, app: RunningApp) -> None:
    page = browser.new_page(
        locale="zh-TW", timezone_id="Asia/Taipei", viewport={"width": 1280, "height": 1300}, device_scale_factor=1.5
    )
    reader = Reader(page, app.url)
    reader.open()
    reader.trace_when_learned(reader.ask(INTRODUCTION))
    reader.start_new_conversation()
    turn = reader.ask(QUESTION)
    reader.trace_when_learned(turn)
    reader.question(turn).scroll_into_view_if_needed()
    page.screenshot(path=PICTURES / "screenshot.png")
    page.set_viewport_size({"width": 1280, "height": 800})
    reader.open("/memories")
    page.screenshot(path=PICTURES / "memories.png")


if __name__ == "__main__":
    main()
