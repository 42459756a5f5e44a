"""A running turn as this session follows it: its log, how far it was read, and the trace so far."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import streamlit as st

from memora.turn.events import FINAL_STATES, TextArrived
from memora.turn.log import TurnLog
from memora.turn.ports import Turn
from memora.turn.trace import Trace, advance

SLICE_SECONDS = 0.25
"""How long one run of a turn's fragment follows the log: clicks wait no longer than that."""

FRAME_SECONDS = 0.04
"""The shortest time between two drawings of the arriving text."""


@dataclass
class LiveTurn:
    """Reads a `TurnLog` forward, folding each event once."""

    log: TurnLog
    cursor: int = 0
    trace: Trace = field(default_factory=Trace)

    def read(self, *, timeout: float = 0.0) -> bool:
        """Fold what is new, waiting up to ``timeout`` seconds for it; True if more than text came."""
        events = self.log.wait(self.cursor, timeout=timeout)
        self.cursor += len(events)
        for event in events:
            self.trace = advance(self.trace, event)
        return any(not isinstance(event, TextArrived) for event in events)

    def follow(self, show: Callable[[Trace], None]) -> None:
        """Show the text as it arrives, for one slice or until something else happens."""
        deadline = time.monotonic() + SLICE_SECONDS
        while not self.log.closed and (left := deadline - time.monotonic()) > 0:
            if self.read(timeout=left):
                return
            show(self.trace)
            time.sleep(FRAME_SECONDS)


def live_turn(turn: Turn, log: TurnLog | None) -> LiveTurn | None:
    """This session's view of ``log``, read up to now; None when there is no live log."""
    key = f"live-{turn.id}"
    if log is None:
        st.session_state.pop(key, None)
        return None
    live: LiveTurn | None = st.session_state.get(key)
    if live is None or live.log is not log:
        live = st.session_state[key] = LiveTurn(log)
    live.read()
    return live


def pace(turn: Turn, log: TurnLog | None) -> float | None:
    """How often, in seconds, a turn is drawn again by itself; None when nothing more will happen.

    The last event of a turn comes a moment after its row says that it is over: the log is there until then.
    """
    if turn.state not in FINAL_STATES:
        return 0.1
    return 0.5 if turn.learning == "pending" or log is not None else None
