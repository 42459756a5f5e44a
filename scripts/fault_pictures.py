"""Pictures of what is shown when something goes wrong: an answer cut off, a wrong key, the index being rebuilt."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import Browser, Page, expect

from memora.assembly import LOCAL_USER, build_app
from memora.memory import Category
from memora.settings import Settings

QUESTION = "請給我一個使用 present perfect 的例句。"
MEMORIES = 1_000


def take_all(browser: Browser, folder: Path) -> None:
    """Write ``fault-*.png`` into ``folder``."""
    with tempfile.TemporaryDirectory() as data:
        data_dir = Path(data) / "data"
        _remember_much(data_dir)
        shutil.rmtree(data_dir / "chroma")
        app = RunningApp(data_dir=data_dir)
        app.start()
        try:
            page = browser.new_page(locale="zh-TW", viewport={"width": 1000, "height": 640}, device_scale_factor=1.5)
            take_rebuilding(page, app, folder / "fault-rebuilding.png")
            take_answer(page, app, folder / "fault-cut-off.png", fault="cut")
            take_answer(page, app, folder / "fault-wrong-key.png", fault="401")
            page.close()
        finally:
            app.stop()


def take_rebuilding(page: Page, app: RunningApp, path: Path) -> None:
    """The memories page while the index is made again."""
    reader = Reader(page, app.url)
    reader.open("/memories")
    expect(reader.key("index-notice")).to_contain_text(f"{MEMORIES:,}", timeout=60_000)
    page.screenshot(path=path)


def take_answer(page: Page, app: RunningApp, path: Path, *, fault: str) -> None:
    """A conversation whose answer met ``fault``."""
    reader = Reader(page, app.url)
    reader.open()
    turn = reader.ask(f"{QUESTION} [[fail:{fault}]]")
    expect(reader.retry_button(turn)).to_be_visible()
    page.screenshot(path=path)


def _remember_much(data_dir: Path) -> None:
    app = build_app(Settings(MEMORA_DATA_DIR=data_dir))
    for number in range(MEMORIES):
        app.memory.add(
            user_id=LOCAL_USER, content=f"我第 {number} 天學了新的單字。", category=Category.EXPERIENCE, importance=2
        )
    app.close()
