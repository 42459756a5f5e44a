"""The app and a reader in front of a real Chromium. A failed test leaves a picture in tests/artifacts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from browser.browsers import FLAGS, NO_BROWSER, find_browser
from browser.reader import PATIENCE_SECONDS, Reader
from browser.running_app import RunningApp
from playwright.sync_api import Browser, Dialog, Page, Request, expect, sync_playwright
from servers.launch import responses_server

ARTIFACTS = Path(__file__).parent.parent / "artifacts"
PATIENCE_MS = PATIENCE_SECONDS * 1000

failed = pytest.StashKey[bool]()

OpenReader = Callable[..., Reader]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(300))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    report = yield
    if report.when == "call":
        item.stash[failed] = report.failed
    return report


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    path = find_browser()
    if path is None:
        pytest.fail(NO_BROWSER, pytrace=False)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield chromium
        chromium.close()


@contextmanager
def endpoint_settings(kind: str) -> Iterator[dict[str, str]]:
    """The settings for the demo model (``demo``), or for a server in another process (``http``)."""
    if kind == "demo":
        yield {}
        return
    with responses_server() as server:
        yield {"OPENAI_API_KEY": "a-key-for-tests", "OPENAI_BASE_URL": server.base_url}


@contextmanager
def running_app(data_dir: Path, **environment: str) -> Iterator[RunningApp]:
    app = RunningApp(data_dir=data_dir, environment=environment)
    app.start()
    try:
        yield app
    finally:
        app.stop()


@pytest.fixture(scope="module")
def endpoint() -> Iterator[dict[str, str]]:
    """The settings that say which model answers: none, so the demo model. Files that want others override it."""
    yield {}


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, endpoint: dict[str, str]) -> Iterator[RunningApp]:
    """The app, shared by the tests of one file."""
    with running_app(tmp_path_factory.mktemp("memora") / "data", **endpoint) as started:
        yield started


@pytest.fixture
def own_app(tmp_path: Path, endpoint: dict[str, str]) -> Iterator[RunningApp]:
    """The app with nothing in it yet, for one test."""
    with running_app(tmp_path / "data", **endpoint) as started:
        yield started


@pytest.fixture
def open_reader(browser: Browser, request: pytest.FixtureRequest) -> Iterator[OpenReader]:
    """Opens browsers at an app's front page; what they show is pictured when the test fails."""
    readers: list[Reader] = []
    noticed: list[list[str]] = []

    def open_one(app: RunningApp, *, locale: str = "zh-TW", width: int = 1280, path: str = "/") -> Reader:
        context = browser.new_context(
            locale=locale, timezone_id="Asia/Taipei", viewport={"width": width, "height": 900}, accept_downloads=True
        )
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        noticed.append(watched(page, app.url))
        reader = Reader(page, app.url)
        readers.append(reader)
        reader.open(path)
        return reader

    yield open_one
    for number, reader in enumerate(readers):
        if request.node.stash.get(failed, True):
            _picture(reader.page, name=request.node.name, number=number)
        reader.page.context.close()
    assert [*chain(*noticed)] == []


@pytest.fixture
def reader(app: RunningApp, open_reader: OpenReader) -> Reader:
    """A reader whose browser speaks Chinese, at a new conversation."""
    return open_reader(app)


def watched(page: Page, home: str) -> list[str]:
    """What goes wrong in a page from now on: errors of scripts, dialogs, requests to anywhere but ``home``."""
    noticed: list[str] = []

    def note_dialog(dialog: Dialog) -> None:
        noticed.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    page.on("pageerror", lambda error: noticed.append(f"script error: {error}"))
    page.on("dialog", note_dialog)
    # The context sees what windows that the page opens ask for, too.
    page.context.on("request", lambda sent: noticed.extend(_leaks(sent, home)))
    return noticed


def _leaks(sent: Request, home: str) -> list[str]:
    """Requests that leave the app: there are to be none."""
    address = urlsplit(sent.url)
    stays = address.scheme in ("data", "blob") or address.netloc == urlsplit(home).netloc
    return [] if stays else [f"request to {sent.url}"]


def _picture(page: Page, *, name: str, number: int) -> None:
    ARTIFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTIFACTS / f"{re.sub(r'[^A-Za-z0-9_-]+', '-', name)}-{number}.png")
