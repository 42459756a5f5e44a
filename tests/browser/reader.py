"""Someone in front of the browser: what they do and what they see, by the keys that the app promises."""

from __future__ import annotations

import json
import re
import time
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

from playwright.sync_api import Error, Locator, Page, expect

PATIENCE_SECONDS = 60.0
"""How long to wait for something to happen: a limit for slow machines, not a measure."""

_SETTLED = """
turnId => {
    const busy = document.querySelector('[class*="st-key-stop"]')
    const ending = document.querySelector(`.st-key-ending-${turnId}`)
    const label = document.querySelector(`.st-key-trace-${turnId}`)?.innerText ?? ''
    return !busy && (ending || /\\d/.test(label))
}
"""
"""An answer is over when nothing can be stopped and its trace tells figures, or the page tells how it ended."""


class Reader:
    """Drives one page of the app."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self._url = url

    # What they do

    def open(self, path: str = "/") -> None:
        """Go to a page of the app and wait until it is drawn."""
        self.page.goto(self._url + path)
        self.wait_until_drawn()

    def reload(self) -> None:
        self.page.reload()
        self.wait_until_drawn()

    def wait_until_drawn(self) -> None:
        expect(self.key("new-conversation")).to_be_attached()
        expect(self.page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")

    def type(self, text: str) -> None:
        self.box.fill(text)

    def say(self, text: str) -> str:
        """Send a message; returns the id of its turn as soon as that is on the page."""
        before = set(self.turn_ids())
        self.type(text)
        self.box.press("Enter")
        self.page.wait_for_function(
            "count => document.querySelectorAll('[class*=\"st-key-answer-\"]').length > count", arg=len(before)
        )
        return next(turn_id for turn_id in self.turn_ids() if turn_id not in before)

    def ask(self, text: str) -> str:
        """Send a message and wait for the end of its answer; returns the id of the turn."""
        turn_id = self.say(text)
        self.wait_for_end(turn_id)
        return turn_id

    def wait_for_end(self, turn_id: str) -> None:
        self.page.wait_for_function(_SETTLED, arg=turn_id)

    def stop(self) -> None:
        self.key("stop").get_by_role("button").click()

    def try_again(self, turn_id: str) -> None:
        self.retry_button(turn_id).click()
        expect(self.ending(turn_id)).to_have_count(0)

    def search(self, text: str) -> None:
        """Search on the memories page."""
        box = self.key("memory-search").locator("input")
        box.fill(text)
        box.press("Enter")
        self.wait_until_drawn()

    def start_new_conversation(self) -> None:
        self.key("new-conversation").get_by_role("button").click()
        expect(self.key("welcome")).to_be_visible()

    def open_trace(self, turn_id: str) -> Locator:
        """Open the trace panel of a turn, if it is not open yet, and wait for its steps; returns it."""
        panel = self.key(f"trace-{turn_id}")
        steps = panel.locator("details details")
        deadline = time.monotonic() + PATIENCE_SECONDS
        while steps.count() == 0 and time.monotonic() < deadline:
            # A click that meets a redraw can be lost: a reader would click again.
            if panel.locator("details[open]").count() == 0:
                panel.locator("summary").first.click()
            self.page.wait_for_timeout(200)
        expect(steps).not_to_have_count(0)
        return panel

    def download_trace(self, turn_id: str) -> dict[str, Any]:
        """The trace of a turn as its download button gives it."""
        button = self.open_trace(turn_id).locator(f".st-key-trace-download-{turn_id} button")
        with self.page.expect_download() as download:
            button.click()
        return json.loads(download.value.path().read_text(encoding="utf-8"))

    def trace_when_learned(self, turn_id: str) -> dict[str, Any]:
        """The trace of a turn once its write path has ended."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < deadline:
            expect(self.open_trace(turn_id).get_by_test_id("stExpanderIconSpinner")).to_have_count(0)
            # A step that begins while a file is on its way replaces the file.
            with suppress(Error):
                trace = self.download_trace(turn_id)
                if any(span["status"] != "running" for span in spans(trace, "accepted")):
                    return trace
        raise AssertionError(f"the write path of turn {turn_id} did not end")

    # What they see

    @property
    def box(self) -> Locator:
        """The message box."""
        return self.key("chat_input").locator("textarea")

    def key(self, key: str) -> Locator:
        """What the app has drawn under this key."""
        return self.page.locator(f".st-key-{key}")

    def answer(self, turn_id: str) -> Locator:
        return self.key(f"answer-{turn_id}")

    def question(self, turn_id: str) -> Locator:
        """The user's message of a turn: the last one above its answer."""
        return self.page.locator(
            f'xpath=//*[contains(@class, "st-key-answer-{turn_id}")]/preceding::*[contains(@class, "st-key-message-")'
            ' and @data-testid="stVerticalBlock"][1]'
        )

    def retry_button(self, turn_id: str) -> Locator:
        return self.key(f"retry-{turn_id}").get_by_role("button")

    def trace_label(self, turn_id: str) -> str:
        return self.key(f"trace-{turn_id}").locator("summary").first.inner_text()

    @property
    def path(self) -> str:
        """The page that is open, with its query."""
        return self.page.url.removeprefix(self._url)

    @property
    def conversation_id(self) -> str:
        """The open conversation, as the address says."""
        return parse_qs(urlsplit(self.page.url).query)["c"][0]

    @property
    def memories(self) -> Locator:
        """The rows of the memories page."""
        rows = self.page.locator('[data-testid="stVerticalBlock"][class*="st-key-memory-"]')
        return rows.filter(has=self.page.locator('[class*="st-key-memory-history-"]'))

    def memory(self, text: str) -> Locator:
        """The rows of the memories page whose sentence holds ``text``."""
        sentence = self.page.locator(':scope > [data-testid="stElementContainer"]:first-child', has_text=text)
        return self.memories.filter(has=sentence)

    def ending(self, turn_id: str) -> Locator:
        """How a turn ended that did not simply end."""
        return self.key(f"ending-{turn_id}")

    def turn_ids(self) -> list[str]:
        """The turns on the page, from the top."""
        classes = self.page.locator('[class*="st-key-answer-"]').evaluate_all("all => all.map(one => one.className)")
        return [found[1] for found in (re.search(r"st-key-answer-(\S+)", name) for name in classes) if found]


def spans(trace: dict[str, Any], field: str) -> list[dict[str, Any]]:
    """The spans that have ``field``: a request has a ``body``, a call a ``call_id``, recall a ``query``, the write path
    what it ``accepted``."""
    return [span for span in trace["spans"] if field in span]
