"""The named points at which a process can be killed: around what is recorded, written and indexed, and within."""

from __future__ import annotations

import os
import signal
from typing import Any

from sqlalchemy import Engine, event

from memora.providers.chroma_index import ChromaIndex
from memora.providers.database.conversations import SqlConversations
from memora.providers.database.memories import SqlMemories
from memora.providers.database.turns import SqlTurns
from memora.turn.recorder import TurnRecorder

EVENTS = (
    "turn_started",
    "recall_started",
    "recall_finished",
    "context_prepared",
    "request_started",
    "request_finished",
    "turn_finished",
    "learning_started",
    "candidates_extracted",
    "decisions_made",
    "learning_finished",
)
CALLS: dict[type, tuple[str, ...]] = {
    SqlTurns: (
        "create_conversation",
        "rename_conversation",
        "delete_conversation",
        "undelete_conversation",
        "begin_turn",
        "mark_running",
        "append_events",
        "save_digest",
        "note_learning_attempt",
        "interrupt_open_turns",
        "turns_to_learn",
    ),
    SqlConversations: ("window", "finish_turn"),
    SqlMemories: (
        "add",
        "edit",
        "set_pinned",
        "delete",
        "undelete",
        "restore",
        "touch",
        "commit_learning",
        "revisions",
    ),
    ChromaIndex: ("warm", "search", "upsert", "remove", "revisions"),
}
NAMES = (*EVENTS, *(f"{owner.__name__}.{name}" for owner, names in CALLS.items() for name in names))
IN_A_TRANSACTION = "in:transaction"
"""Everything is written and nothing committed yet: of the schema, a turn, a memory …"""
POINTS = (IN_A_TRANSACTION, *(f"{when}:{name}" for name in NAMES for when in ("before", "after")))


def die() -> None:
    """End at once, as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


class Fate:
    """A life ends at ``point`` (one of `POINTS`), the ``times``-th time that it is reached; never, if it is empty."""

    def __init__(self, point: str, *, times: int) -> None:
        self._point = point
        self._left = times

    def be_sealed(self) -> None:
        """Make every point of this process one."""
        self._around_events()
        for owner, names in CALLS.items():
            for name in names:
                self._around(owner, name)
        event.listen(Engine, "commit", lambda connection: self._reach(IN_A_TRANSACTION))

    def _reach(self, point: str) -> None:
        if point == self._point:
            self._left -= 1
            if self._left <= 0:
                die()

    def _around(self, owner: type, name: str) -> None:
        call = getattr(owner, name)

        def reached(*arguments: Any, **named: Any) -> Any:
            self._reach(f"before:{owner.__name__}.{name}")
            result = call(*arguments, **named)
            self._reach(f"after:{owner.__name__}.{name}")
            return result

        setattr(owner, name, reached)

    def _around_events(self) -> None:
        record = TurnRecorder.__call__

        def recorded(recorder: TurnRecorder, happened: Any) -> None:
            self._reach(f"before:{happened.type}")
            record(recorder, happened)
            self._reach(f"after:{happened.type}")

        TurnRecorder.__call__ = recorded  # type: ignore[method-assign]
