"""What a first reader types, and what they see, with the demo model and with a server over HTTP."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browser.conftest import OpenReader, endpoint_settings
from browser.reader import Reader, spans
from browser.running_app import RunningApp
from playwright.sync_api import expect

EXAMPLE = "請給我一個使用 present perfect 的例句。"
COUNT_SEVEN = "請精確計算這句英文有幾個單字：I have studied English for three years."
COUNT_FIVE = "請計算：I don't know the answer."
INTRODUCTION = "我叫小美，住在台北，正在準備三月的 IELTS 考試。"


@pytest.fixture(scope="module", params=["demo", "http"])
def endpoint(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    with endpoint_settings(request.param) as settings:
        yield settings


def test_an_example_sentence_needs_one_request_and_no_tool(reader: Reader) -> None:
    turn = reader.ask(EXAMPLE)
    expect(reader.answer(turn)).to_contain_text(re.compile(r"\b(have|has|'ve|'s)\b \w+"))
    trace = reader.download_trace(turn)
    assert len(spans(trace, "body")) == 1
    assert spans(trace, "call_id") == []


def test_words_are_counted_by_the_tool_between_two_requests(reader: Reader) -> None:
    turn = reader.ask(COUNT_SEVEN)
    expect(reader.answer(turn)).to_contain_text("7")

    trace = reader.download_trace(turn)
    requests, (call,) = spans(trace, "body"), spans(trace, "call_id")
    assert len(requests) == 2
    totals = [request["usage"]["input_tokens"] + request["usage"]["output_tokens"] for request in requests]
    assert trace["response_tokens"] == sum(totals) > 0

    shown = reader.open_trace(turn).locator(f'[class*="st-key-function-call-{call["call_id"]}"]')
    expect(shown).to_contain_text(call["call_id"])
    expect(shown).to_contain_text("I have studied English for three years.")
    expect(shown).to_contain_text("function_call_output")
    expect(shown).to_contain_text('"word_count": 7')


def test_a_contraction_is_one_word(reader: Reader) -> None:
    turn = reader.ask(COUNT_FIVE)
    expect(reader.answer(turn)).to_contain_text("5")


def test_what_is_told_is_remembered_across_conversations_and_follows_a_move(
    own_app: RunningApp, open_reader: OpenReader
) -> None:
    reader = open_reader(own_app)

    told = reader.trace_when_learned(reader.ask(INTRODUCTION))
    (learning,) = spans(told, "accepted")
    assert {decision["action"] for decision in learning["decisions"]} == {"create"}
    assert all(candidate["quote"] in INTRODUCTION for candidate in learning["accepted"])
    assert any("IELTS" in candidate["content"] for candidate in learning["accepted"])

    reader.start_new_conversation()
    asked = reader.ask("我在準備什麼考試？")
    expect(reader.answer(asked)).to_contain_text("IELTS")
    (recall,) = spans(reader.download_trace(asked), "query")
    recalled = {one["memory"]["content"]: one["score"] for one in recall["memories"]}
    assert any("IELTS" in content and score > 0 for content, score in recalled.items())
    expect(reader.open_trace(asked)).to_contain_text(next(content for content in recalled if "IELTS" in content))

    again = reader.trace_when_learned(reader.ask(INTRODUCTION))
    (learning,) = spans(again, "accepted")
    assert learning["decisions"] != []
    assert {decision["action"] for decision in learning["decisions"]} == {"skip"}

    moved = reader.trace_when_learned(reader.ask("我搬到高雄了。"))
    (learning,) = spans(moved, "accepted")
    assert [decision["action"] for decision in learning["decisions"]] == ["update"]

    reader.start_new_conversation()
    expect(reader.answer(reader.ask("我住在哪裡？"))).to_contain_text("高雄")

    reader.open("/memories")
    kaohsiung = reader.memory("高雄")
    expect(kaohsiung).to_have_count(1)
    expect(reader.memory("台北")).to_have_count(0)
    kaohsiung.locator('[class*="st-key-memory-history-"] button').click()
    expect(reader.page.get_by_role("dialog")).to_contain_text("台北")
    expect(reader.page.get_by_role("dialog")).to_contain_text("高雄")
