"""When the model fails, the reader gets a sentence in their language, and what they typed is kept."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from browser.conftest import OpenReader, endpoint_settings
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import expect

CHINESE = re.compile(r"[\u4e00-\u9fff]{4,}")
QUESTION = "請給我一個使用 present perfect 的例句。"


@pytest.fixture(scope="module", params=["demo", "http"])
def endpoint(request: pytest.FixtureRequest) -> Iterator[dict[str, str]]:
    with endpoint_settings(request.param) as settings:
        yield {**settings, "MEMORA_REQUEST_TIMEOUT": "3"}


@pytest.mark.parametrize("fault", ["429", "500", "refused", "timeout"])
def test_a_passing_fault_is_told_and_can_be_tried_again(reader: Reader, fault: str) -> None:
    turn = reader.ask(f"{QUESTION} [[fail:{fault}]]")
    expect(reader.ending(turn)).to_contain_text(CHINESE)
    expect(reader.retry_button(turn)).to_be_visible()
    expect(reader.question(turn)).to_contain_text(QUESTION)


def test_a_wrong_key_is_told_by_the_name_of_its_setting(reader: Reader) -> None:
    turn = reader.ask(f"{QUESTION} [[fail:401]]")
    expect(reader.ending(turn)).to_contain_text(CHINESE)
    expect(reader.ending(turn)).to_contain_text("OPENAI_API_KEY")
    expect(reader.question(turn)).to_contain_text(QUESTION)


def test_an_answer_that_breaks_off_keeps_what_arrived(reader: Reader) -> None:
    turn = reader.ask(f"{QUESTION} [[fail:cut]]")
    expect(reader.answer(turn)).to_have_text(re.compile(r"\S{2,}"))
    expect(reader.ending(turn)).to_contain_text(CHINESE)
    expect(reader.retry_button(turn)).to_be_visible()


def test_the_sentence_is_english_for_an_english_browser(app: RunningApp, open_reader: OpenReader) -> None:
    reader = open_reader(app, locale="en-US")
    turn = reader.ask("Give me an example sentence. [[fail:500]]")
    expect(reader.ending(turn)).to_contain_text("Your message is kept")
    expect(reader.retry_button(turn)).to_contain_text("Try again")


def test_trying_again_after_the_fault_has_gone_answers(reader: Reader) -> None:
    turn = reader.ask(f"{QUESTION} [[fail:500x1]]")
    reader.try_again(turn)
    reader.wait_for_end(turn)
    expect(reader.answer(turn)).to_have_text(re.compile(r"\S{2,}"))


def test_the_conversation_goes_on_after_a_fault(reader: Reader) -> None:
    reader.ask(f"{QUESTION} [[fail:500]]")
    turn = reader.ask("請計算：I don't know the answer.")
    expect(reader.answer(turn)).to_contain_text("5")


def test_the_key_is_not_on_the_pages_nor_in_what_the_app_prints(
    app: RunningApp, endpoint: dict[str, str], reader: Reader
) -> None:
    key = endpoint.get("OPENAI_API_KEY", "no key is set for the demo model")
    turn = reader.ask(f"{QUESTION} [[fail:401]]")
    reader.open_trace(turn)
    expect(reader.ending(turn)).to_contain_text("OPENAI_API_KEY")
    assert key not in reader.page.content()
    reader.open("/settings")
    expect(reader.page.get_by_text("OPENAI_API_KEY").first).to_be_visible()
    assert key not in reader.page.content()
    assert key not in app.log
