"""Talking to a whole app without its pages."""

from __future__ import annotations

import time

from memora.assembly import LOCAL_USER, App
from memora.turn.ports import Turn
from memora.turn.trace import Trace


def open_conversation(app: App) -> str:
    """The id of a new conversation."""
    return app.turns.create_conversation(user_id=LOCAL_USER, title="t", at=app.memory.clock()).id


def say(app: App, conversation_id: str, text: str) -> Turn:
    """The turn of ``text`` when its answer and its write path are over."""
    turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text=text)
    deadline = time.monotonic() + 60
    while app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is not None:
        assert time.monotonic() < deadline, "the turn never ended"
        time.sleep(0.005)
    return app.turns.turn(user_id=LOCAL_USER, turn_id=turn.id)


def trace_of(app: App, turn: Turn) -> Trace:
    return app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
