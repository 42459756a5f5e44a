"""Whatever a model, a tool or a memory says: nothing runs, nothing leaves the machine, and the page goes on working.

That nothing leaves, and that no dialog opens, is watched in the browser: either fails the test (see `open_reader`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from browser.conftest import OpenReader, running_app, watched
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import Browser, expect
from servers.launch import ResponsesServer, responses_server
from support.figures import count
from support.hostile import ELSEWHERE, FENCES, LONG, RUN, SHORT
from support.scale import scaled

from memora.assembly import LOCAL_USER, build_app
from memora.errors import UserError
from memora.memory import Category
from memora.settings import Settings

TOGETHER = "\n\n".join(SHORT.values())
IN_FENCES = scaled(short=["\n\n".join(FENCES.values())], full=[*FENCES.values()])
ANSWERS = (TOGETHER, *IN_FENCES, "\n\n".join(LONG.values()))
STORABLE = {name: text for name, text in (SHORT | FENCES | LONG).items() if "surrogate" not in name}
IN_A_TITLE = ("script", "image", "live links", "directives", "overrides", "out of a span")


@pytest.fixture(scope="module")
def server() -> Iterator[ResponsesServer]:
    with responses_server(words_per_second=100_000) as started:
        yield started


@pytest.fixture(scope="module")
def app(server: ResponsesServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningApp]:
    """An app whose user has remembered, and is called, the worst."""
    data_dir = tmp_path_factory.mktemp("hostile") / "data"
    settings = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "a-key-for-tests", "MEMORA_EMBEDDER": "openai"}
    _remember_the_worst(data_dir, settings)
    with running_app(data_dir, **settings) as started:
        yield started


def _remember_the_worst(data_dir: Path, settings: dict[str, str]) -> None:
    prepared = build_app(Settings(MEMORA_DATA_DIR=data_dir, **settings))
    for text in STORABLE.values():
        try:
            prepared.memory.add(user_id=LOCAL_USER, content=text, category=Category.KNOWLEDGE, importance=3)
        except UserError:  # too long to be a memory
            continue
    now = prepared.memory.clock()
    prepared.profiles.set_profile(user_id=LOCAL_USER, field="name", value=SHORT["handlers"][:80], at=now)
    for name in IN_A_TITLE:
        conversation = prepared.turns.create_conversation(user_id=LOCAL_USER, title=STORABLE[name][:60], at=now)
        prepared.runner.submit(user_id=LOCAL_USER, conversation_id=conversation.id, text=STORABLE[name])
    prepared.close()


def nothing_happened(reader: Reader) -> None:
    """No script ran, no window opened, no link does more than lead somewhere, the page is as wide as its window."""
    assert reader.page.evaluate("window.hacked") is None
    assert len(reader.page.context.pages) == 1
    assert reader.page.evaluate("document.documentElement.scrollWidth - window.innerWidth") <= 0
    unsafe = "a[href^='javascript:'], a[href^='data:'], a[href^='file:'], iframe[src], object, embed, base, img"
    assert reader.page.locator(f"[data-testid=stMain] :is({unsafe})").count() == 0


def test_no_answer_runs_loads_or_breaks_anything(reader: Reader, server: ResponsesServer) -> None:
    for text in ANSWERS:
        server.say_next(text)
        turn = reader.ask("Say something.")
        expect(reader.answer(turn)).not_to_be_empty()
        nothing_happened(reader)
    turn = reader.ask("請精確計算這句英文有幾個單字：I am still here.")
    expect(reader.answer(turn)).to_contain_text("4")
    count("hostile texts drawn", len(SHORT | FENCES | LONG))


def test_no_call_in_the_trace_runs_loads_or_breaks_anything(reader: Reader, server: ResponsesServer) -> None:
    for name, text in ((SHORT["script"], TOGETHER), (SHORT["out of a span"], LONG["combining marks"])):
        server.say_next({"name": f"count_english_words{name}", "arguments": json.dumps({"text": text})}, text)
        turn = reader.ask("Call something.")
        expect(reader.open_trace(turn)).to_contain_text(name)
        nothing_happened(reader)


@pytest.mark.parametrize("path", ["/memories", "/profile", "/settings", "/"])
def test_no_page_of_what_is_stored_runs_loads_or_breaks_anything(
    app: RunningApp, open_reader: OpenReader, path: str
) -> None:
    reader = open_reader(app, path=path)
    nothing_happened(reader)
    if path == "/memories":
        expect(reader.memory("<script>").first).to_be_visible()


def test_a_conversation_with_the_worst_title_can_be_opened(app: RunningApp, open_reader: OpenReader) -> None:
    reader = open_reader(app)
    entry = reader.page.get_by_test_id("stSidebar").get_by_text(f"<script>{RUN}</script>")
    expect(entry).to_be_visible()
    entry.click()
    reader.wait_until_drawn()
    expect(reader.page.get_by_test_id("stMain").get_by_text(f"<script>{RUN}</script>").first).to_be_visible()
    nothing_happened(reader)


def test_what_would_leave_is_noticed(browser: Browser) -> None:
    page = browser.new_page()
    noticed = watched(page, "http://127.0.0.1:1")
    page.set_content(f"<img src='{ELSEWHERE}/i.png'><img src='http://127.0.0.1:2/i.png'><script>alert(1)</script>")
    page.close()
    assert sorted(noticed) == ["dialog: 1", "request to http://127.0.0.1:2/i.png", f"request to {ELSEWHERE}/i.png"]
