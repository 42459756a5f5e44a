"""An answer belongs to the server, not to the page: reloads, second tabs, Stop and restarts."""

from __future__ import annotations

import re

from browser.conftest import OpenReader
from browser.reader import Reader
from browser.running_app import RunningApp
from playwright.sync_api import expect

SLOW_EXAMPLE = "請給我一個使用 present perfect 的例句。 [[slow:4]]"
BEGINNING = re.compile(r"^\s*present perfect")
"""What the demo model's answer to it begins with; until then, the page says what is being done."""


def text_so_far(reader: Reader, turn: str) -> str:
    """The first words of a running answer, as soon as there are some."""
    expect(reader.answer(turn)).to_have_text(BEGINNING)
    return reader.answer(turn).inner_text().strip()


def test_a_reload_in_the_middle_shows_the_answer_from_its_first_word(reader: Reader) -> None:
    turn = reader.say(SLOW_EXAMPLE)
    beginning = text_so_far(reader, turn)
    reader.reload()
    assert text_so_far(reader, turn).startswith(beginning[:5])
    reader.wait_for_end(turn)
    assert reader.answer(turn).inner_text().strip().startswith(beginning[:5])
    expect(reader.ending(turn)).to_have_count(0)


def test_a_second_tab_shows_the_same_running_answer(app: RunningApp, reader: Reader, open_reader: OpenReader) -> None:
    turn = reader.say(SLOW_EXAMPLE)
    beginning = text_so_far(reader, turn)
    second = open_reader(app, path=reader.path)
    assert text_so_far(second, turn).startswith(beginning[:5])
    reader.wait_for_end(turn)
    second.wait_for_end(turn)
    assert second.answer(turn).inner_text() == reader.answer(turn).inner_text()


def test_stop_keeps_what_has_arrived(reader: Reader) -> None:
    turn = reader.say(SLOW_EXAMPLE)
    beginning = text_so_far(reader, turn)
    reader.stop()
    reader.wait_for_end(turn)
    expect(reader.ending(turn)).to_be_visible()
    kept = reader.answer(turn).inner_text().strip()
    assert kept.startswith(beginning[:5])
    reader.reload()
    assert reader.answer(turn).inner_text().strip() == kept


def test_a_stopped_answer_can_be_asked_for_again(reader: Reader) -> None:
    turn = reader.say(SLOW_EXAMPLE)
    text_so_far(reader, turn)
    reader.stop()
    reader.wait_for_end(turn)
    reader.try_again(turn)
    reader.wait_for_end(turn)
    expect(reader.ending(turn)).to_have_count(0)
    expect(reader.answer(turn)).to_have_text(BEGINNING)


def test_after_a_restart_everything_is_still_there(own_app: RunningApp, open_reader: OpenReader) -> None:
    reader = open_reader(own_app)
    turn = reader.ask("請計算：I don't know the answer.")
    answer, label = reader.answer(turn).inner_text(), reader.trace_label(turn)
    trace = reader.download_trace(turn)
    own_app.restart()
    reader.reload()
    assert reader.answer(turn).inner_text() == answer
    assert reader.trace_label(turn) == label
    assert reader.download_trace(turn)["spans"] == trace["spans"]


def test_a_killed_server_leaves_the_message_and_offers_to_try_again(
    own_app: RunningApp, open_reader: OpenReader
) -> None:
    reader = open_reader(own_app)
    turn = reader.say(SLOW_EXAMPLE)
    text_so_far(reader, turn)
    own_app.kill()
    own_app.start()
    reader.reload()
    expect(reader.page.get_by_text("present perfect").first).to_be_visible()
    expect(reader.ending(turn)).to_be_visible()
    reader.try_again(turn)
    reader.wait_for_end(turn)
    expect(reader.ending(turn)).to_have_count(0)


def test_a_conversation_is_deleted_and_brought_back(reader: Reader) -> None:
    turn = reader.ask("請計算：one two three")
    conversation = reader.conversation_id
    reader.key(f"row-{conversation}").or_(reader.key(f"open-row-{conversation}")).hover()
    reader.key(f"delete-conversation-{conversation}").get_by_role("button").click()
    expect(reader.key(f"conversation-{conversation}")).to_have_count(0)
    expect(reader.answer(turn)).to_have_count(0)
    reader.key("undo-conversation").get_by_role("button").click()
    expect(reader.key(f"conversation-{conversation}")).to_be_visible()
    expect(reader.answer(turn)).to_contain_text("3")
