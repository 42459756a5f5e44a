"""Seen in the browser: a turn on a server that nobody here wrote, and one of its faults."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browser.reader import Reader, spans
from peers.llmock_server import Llmock, llmock
from playwright.sync_api import expect

from memora.turn.connection_check import STEPS

SENTENCE = "I have studied English for three years."
CALL = {"type": "reply", "tool_calls": [{"name": "count_english_words", "arguments": {"text": SENTENCE}}]}
ANSWER = {"type": "reply", "text": "這句話有七個英文單字。"}


@pytest.fixture(scope="module")
def server() -> Iterator[Llmock]:
    with llmock() as running:
        yield running


@pytest.fixture(scope="module")
def endpoint(server: Llmock) -> Iterator[dict[str, str]]:
    yield {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "a-key-for-tests", "MEMORA_MODEL": "gpt-4o-mini"}


def test_the_call_and_its_output_are_in_the_trace(reader: Reader, server: Llmock) -> None:
    server.reset()
    server.script(CALL, ANSWER)
    turn = reader.ask(f"這句英文有幾個單字：{SENTENCE}")
    expect(reader.answer(turn)).to_contain_text("這句話有七個英文單字。")
    (call,) = spans(reader.trace_when_learned(turn), "call_id")
    assert '"word_count": 7' in call["output"]
    panel = reader.open_trace(turn)
    expect(panel.locator('[class*="st-key-function-call-"]').first).to_be_attached()


def test_a_broken_stream_keeps_what_arrived_and_can_be_tried_again(reader: Reader, server: Llmock) -> None:
    server.reset()
    server.script({"type": "stream_fault", "kind": "disconnect", "after_chunks": 6}, {**ANSWER, "times": None})
    turn = reader.ask("你好！")
    expect(reader.answer(turn)).to_have_text(re.compile(r"這"))
    expect(reader.ending(turn)).to_contain_text(re.compile(r"[\u4e00-\u9fff]{4,}"))
    reader.try_again(turn)
    reader.wait_for_end(turn)
    expect(reader.answer(turn)).to_contain_text("這句話有七個英文單字。")


def test_the_connection_is_tested_from_the_settings_page(reader: Reader, server: Llmock) -> None:
    server.reset()
    reader.open("/settings")
    reader.key("connection-test").get_by_role("button").click()
    steps = reader.key("connection-check")
    expect(steps.get_by_test_id("stMarkdown")).to_have_count(len(STEPS))
    expect(steps).to_contain_text("模型能透過 Responses API 回答。")
