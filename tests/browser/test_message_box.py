"""What may be typed, and what becomes of what may not."""

from __future__ import annotations

import re

from browser.reader import Reader
from playwright.sync_api import expect


def test_only_spaces_are_not_sent(reader: Reader) -> None:
    reader.type("   \u3000 ")
    reader.box.press("Enter")
    reader.ask("請計算：one two three")
    assert len(reader.turn_ids()) == 1


def test_a_message_that_cannot_fit_is_refused_and_stays_in_the_box(reader: Reader) -> None:
    too_long = "很長的訊息。" * 10_000
    reader.type(too_long)
    reader.box.press("Enter")
    expect(reader.page.get_by_test_id("stAlert")).to_contain_text(re.compile(r"[\u4e00-\u9fff]{4,}"))
    expect(reader.box).to_have_value(too_long)
    assert reader.turn_ids() == []


def test_what_looks_like_markup_is_shown_as_text(reader: Reader) -> None:
    typed = "<img src=http://example.com/x.png onerror=alert(1)> **粗體** ![圖](http://example.com/y.png) $5 到 $10"
    turn = reader.ask(typed)
    expect(reader.question(turn)).to_contain_text(typed)
    expect(reader.page.locator('img[src*="example.com"]')).to_have_count(0)


def test_several_lines_and_odd_characters_arrive_as_typed(reader: Reader) -> None:
    turn = reader.ask("請計算：one\u200b two 👩‍👩‍👧 three\nfour ｆｉｖｅ")
    expect(reader.question(turn)).to_contain_text("👩‍👩‍👧 three")
    expect(reader.answer(turn)).to_contain_text("4")
