from datetime import UTC, datetime

import pytest

from memora.turn.events import RecallStarted, TextArrived, TurnStarted
from memora.turn.log import TurnLog
from memora.turn.ports import Turn
from memora.ui.live import LiveTurn, pace


def turn(**changes):
    values = {
        "id": "t",
        "user_id": "local",
        "conversation_id": "c",
        "position": 1,
        "state": "running",
        "user_message_id": "m",
        "user_message": "hi",
        "created_at": datetime(2026, 3, 5, tzinfo=UTC),
    }
    return Turn(**(values | changes))


def test_every_event_is_folded_once():
    log = TurnLog([TurnStarted(at=0.0, user_message="hi", model="m"), TextArrived(at=0.0, number=1, text="a")])
    live = LiveTurn(log)
    live.read()
    log.append(TextArrived(at=0.0, number=1, text="b"))
    live.read()
    assert live.trace.live_text == "ab"


def test_reading_says_whether_more_than_text_came():
    log = TurnLog()
    live = LiveTurn(log)
    log.append(TextArrived(at=0.0, number=1, text="a"))
    assert not live.read()
    log.append(RecallStarted(at=0.0, query="hi"))
    assert live.read()


def test_following_shows_text_and_ends_when_something_else_happens():
    log = TurnLog([TextArrived(at=0.0, number=1, text="a")])
    shown = []

    def show(trace):
        shown.append(trace.live_text)
        log.append(RecallStarted(at=0.0, query="hi"))

    LiveTurn(log).follow(show)
    assert shown == ["a"]


def test_following_a_closed_log_returns_at_once():
    log = TurnLog()
    log.close()
    LiveTurn(log).follow(lambda trace: pytest.fail("there is nothing to show"))


@pytest.mark.parametrize(
    ("changes", "draws_again"),
    [
        ({"state": "queued"}, True),
        ({"state": "running"}, True),
        ({"state": "done", "learning": "pending"}, True),
        ({"state": "done", "learning": "done"}, False),
        ({"state": "failed"}, False),
    ],
)
def test_a_turn_is_drawn_again_by_itself_until_nothing_more_happens(changes, draws_again):
    assert (pace(turn(**changes), None) is not None) == draws_again


def test_a_turn_that_is_over_is_drawn_again_until_its_log_is_let_go():
    assert pace(turn(state="done", learning="done"), TurnLog()) is not None
