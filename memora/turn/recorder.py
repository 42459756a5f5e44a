"""Where a turn's events go: to the live log at once, to the record at the points where it counts."""

from __future__ import annotations

from memora.turn.events import (
    CallFinished,
    Event,
    InputTokensCounted,
    LearningFailed,
    LearningFinished,
    LearningSkipped,
    RequestStarted,
    TextArrived,
    TurnFinished,
)
from memora.turn.log import TurnLog
from memora.turn.ports import TurnStore
from memora.turn.trace import Trace, advance, fold


class TurnRecorder:
    """Appends events to a turn's live log and stores them in batches.

    A batch is written while a request is on its way (so that it costs the reader nothing), after a tool
    ran, and *before* the end of the answer or of the write path, or a late count, is announced: whoever hears
    of it finds it in the record.
    """

    def __init__(self, *, store: TurnStore, log: TurnLog, user_id: str, turn_id: str) -> None:
        self._store = store
        self._log = log
        self._user_id = user_id
        self._turn_id = turn_id
        self._unsaved: list[Event] = []
        self._trace: Trace = fold(log.since(0))

    @property
    def trace(self) -> Trace:
        """The turn so far."""
        return self._trace

    def __call__(self, event: Event) -> None:
        """Record ``event``."""
        self._trace = advance(self._trace, event)
        if not isinstance(event, TextArrived):
            self._unsaved.append(event)
        match event:
            case TurnFinished() | InputTokensCounted() | LearningFinished() | LearningSkipped() | LearningFailed():
                self.save()
                self._log.append(event)
            case RequestStarted() | CallFinished():
                self._log.append(event)
                self.save()
            case _:
                self._log.append(event)

    def save(self) -> None:
        """Write what is not yet in the record, and the digest of all of it."""
        self._store.append_events(user_id=self._user_id, turn_id=self._turn_id, events=self._unsaved)
        self._unsaved = []
        self._store.save_digest(user_id=self._user_id, turn_id=self._turn_id, digest=self._trace.digest())
