"""The live event log of one turn: workers append, pages read and wait."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from memora.turn.events import Event


class TurnLog:
    """An append-only list of events that readers can wait on. Safe across threads.

    Readers keep a cursor: the number of events that they have seen.
    """

    def __init__(self, events: Sequence[Event] = ()) -> None:
        self._events: list[Event] = list(events)
        self._changed = threading.Condition()
        self._closed = False

    def append(self, event: Event) -> None:
        """Add an event and wake the readers."""
        with self._changed:
            self._events.append(event)
            self._changed.notify_all()

    def close(self) -> None:
        """Nothing more will come (the write path included); wakes the readers."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def since(self, cursor: int) -> Sequence[Event]:
        """The events after the first ``cursor``."""
        with self._changed:
            return tuple(self._events[cursor:])

    def wait(self, cursor: int, *, timeout: float) -> Sequence[Event]:
        """Like `since`, but waits up to ``timeout`` seconds for something new or for the end."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._events) > cursor or self._closed, timeout)
            return tuple(self._events[cursor:])


class LiveLogs:
    """The logs of the turns that go on right now, by turn id. Safe across threads."""

    def __init__(self) -> None:
        self._logs: dict[str, TurnLog] = {}
        self._lock = threading.Lock()

    def open(self, turn_id: str, events: Sequence[Event] = ()) -> TurnLog:
        """A new log that begins with ``events``; it takes the place of an earlier one."""
        log = TurnLog(events)
        with self._lock:
            self._logs[turn_id] = log
        return log

    def get(self, turn_id: str) -> TurnLog | None:
        """The log, while the turn goes on."""
        with self._lock:
            return self._logs.get(turn_id)

    def release(self, turn_id: str, log: TurnLog) -> None:
        """Close ``log`` and let it go: from now on the record tells the turn. A newer log of the turn stays."""
        with self._lock:
            if self._logs.get(turn_id) is log:
                del self._logs[turn_id]
        log.close()
