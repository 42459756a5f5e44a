"""Talking to a whole app without its pages."""

from __future__ import annotations

from support.waiting import wait_until

from memora.assembly import LOCAL_USER, App
from memora.turn.ports import Turn
from memora.turn.trace import Trace


def open_conversation(app: App) -> str:
    """The id of a new conversation."""
    return app.turns.create_conversation(user_id=LOCAL_USER, title="t", at=app.memory.clock()).id


def say(app: App, conversation_id: str, text: str) -> Turn:
    """The turn of ``text`` when its answer and its write path are over."""
    turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text=text)
    return ended(app, turn.id)


def ended(app: App, turn_id: str, *, user_id: str = LOCAL_USER, seconds: float = 60.0) -> Turn:
    """The turn when its answer and the first attempt to learn from it are over."""
    wait_until(
        lambda: app.runner.log(user_id=user_id, turn_id=turn_id) is None,
        seconds=seconds,
        otherwise="the turn never ended",
    )
    return app.turns.turn(user_id=user_id, turn_id=turn_id)


def trace_of(app: App, turn: Turn) -> Trace:
    return app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
