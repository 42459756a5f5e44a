"""What is remembered can be found, put right, deleted and brought back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browser.conftest import OpenReader
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import expect


@pytest.fixture
def memories(own_app: RunningApp, open_reader: OpenReader) -> Iterator[Reader]:
    """The memories page of someone who has introduced themselves."""
    reader = open_reader(own_app)
    reader.trace_when_learned(reader.ask("我叫小美，住在台北，正在準備三月的 IELTS 考試。"))
    reader.open("/memories")
    expect(reader.memory("IELTS")).to_be_visible()
    yield reader


def act(reader: Reader, text: str, action: str) -> None:
    """Press a button of the memory that holds ``text``."""
    reader.memory(text).locator(f'[class*="st-key-memory-{action}-"] button').click()


def test_a_memory_names_the_words_it_came_from(memories: Reader) -> None:
    expect(memories.memory("台北")).to_contain_text("住在台北")


def test_search_finds_by_meaning(memories: Reader) -> None:
    memories.search("我住在哪裡？")
    expect(memories.memories.first).to_contain_text("台北")


def test_a_deleted_memory_goes_and_undo_brings_it_back(memories: Reader) -> None:
    act(memories, "台北", "delete")
    expect(memories.memory("台北")).to_have_count(0)
    memories.key("memory-undo").get_by_role("button").click()
    expect(memories.memory("台北")).to_be_visible()


def test_an_edit_is_kept_and_the_chat_uses_it(memories: Reader) -> None:
    act(memories, "台北", "edit")
    memories.key("memory-editor-content").locator("textarea").fill("使用者住在花蓮。")
    memories.key("memory-editor-save").get_by_role("button").click()
    expect(memories.memory("花蓮")).to_be_visible()
    expect(memories.memory("台北")).to_have_count(0)
    memories.open("/")
    turn = memories.ask("我住在哪裡？")
    expect(memories.answer(turn)).to_contain_text("花蓮")


def test_a_deleted_memory_is_not_recalled(memories: Reader) -> None:
    act(memories, "IELTS", "delete")
    expect(memories.memory("IELTS")).to_have_count(0)
    memories.open("/")
    turn = memories.ask("我在準備什麼考試？")
    assert "IELTS" not in memories.answer(turn).inner_text()
