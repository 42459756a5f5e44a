"""The learner owns the write path of every finished turn, until it is done or given up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from memora.elapsed import ms_since
from memora.errors import Cancelled, Failure, MemoraError, ModelError, NotFound
from memora.memory import LongTermMemory
from memora.model import CancelToken, LanguageModel
from memora.preferences import PreferenceStore
from memora.turn.events import Event, LearningFailed, LearningSkipped
from memora.turn.lanes import Lanes
from memora.turn.later import Later
from memora.turn.learning import NotWanted, learn_from_turn
from memora.turn.log import LiveLogs, TurnLog
from memora.turn.ports import Turn, TurnStore
from memora.turn.recorder import TurnRecorder

log = logging.getLogger(__name__)

RETRY_SECONDS = (5.0, 30.0, 120.0, 600.0)
"""How long the write path waits after each failed attempt; after the last one it gives up."""


@dataclass(frozen=True, kw_only=True)
class _Attempt:
    """One run of a turn's write path; ``number`` counts from 1."""

    turn: Turn
    recorder: TurnRecorder
    cancel: CancelToken
    number: int
    started: float = field(default_factory=time.perf_counter)

    def emit(self, event: Event) -> None:
        """Record ``event``, unless the turn has been abandoned: then its log belongs to the next answer."""
        self.cancel.raise_if_cancelled()
        self.recorder(event)


class Learner:
    """Runs write paths in the background, those of one user in order: two turns reconcile one after the other.

    A turn's live log stays open until its write path ends, and is let go here.
    """

    def __init__(
        self,
        *,
        turns: TurnStore,
        memory: LongTermMemory,
        preferences: PreferenceStore,
        model_for: Callable[[str | None], LanguageModel],
        logs: LiveLogs,
        now: Callable[[], datetime],
        workers: int = 2,
    ) -> None:
        self._turns = turns
        self._memory = memory
        self._preferences = preferences
        self._model_for = model_for
        self._logs = logs
        self._now = now
        self._lanes = Lanes(workers=workers, name="memora-learn")
        self._later = Later(name="memora-learn-later")
        self._lock = threading.Lock()
        self._cancels: dict[str, CancelToken] = {}
        self._waiting: dict[str, list[tuple[Turn, CancelToken]]] = {}

    def learn(self, turn: Turn, live: TurnLog | None = None) -> None:
        """Learn from ``turn`` after everything that this user is to be learned from already.

        ``live`` is the turn's log, where it is still open. The model answers again, it seems: what had to wait for
        somebody to put something right is tried first.
        """
        cancel = CancelToken()
        with self._lock:
            self._cancels[turn.id] = cancel
            waiting = self._waiting.pop(turn.user_id, ())
        for waiting_turn, its_cancel in waiting:
            self._submit(waiting_turn, None, its_cancel)
        self._submit(turn, live, cancel)

    def abandon(self, turn_id: str) -> None:
        """Forget about a turn that is to be answered again: its old reply is not learned from any more."""
        with self._lock:
            cancel = self._cancels.pop(turn_id, None)
        if cancel is not None:
            cancel.cancel()

    def close(self, *, timeout: float) -> None:
        """End within ``timeout`` seconds; what is not done is done after the next start."""
        with self._lock:
            cancels = tuple(self._cancels.values())
        for cancel in cancels:
            cancel.cancel("interrupted")
        self._later.close()
        self._lanes.close(timeout=timeout)

    def _submit(self, turn: Turn, live: TurnLog | None, cancel: CancelToken) -> None:
        self._lanes.submit(turn.user_id, lambda: self._learn(turn, live, cancel))

    def _learn(self, turn: Turn, live: TurnLog | None, cancel: CancelToken) -> None:
        """Try once, with the turn's log open."""
        if cancel.cancelled:
            return
        try:
            live = live or self._logs.open(turn.id, self._turns.events(user_id=turn.user_id, turn_id=turn.id))
            try:
                self._attempt(turn, live, cancel)
            finally:
                self._logs.release(turn.id, live)
        except (Cancelled, NotFound):
            self._forget(turn, cancel)  # abandoned, gone, or the process ends: a pending turn is learned after a start
        except MemoraError:
            log.exception("the record is out of reach; the write path of turn %s is put off", turn.id)
            self._again(turn, cancel, seconds=RETRY_SECONDS[0])

    def _attempt(self, turn: Turn, live: TurnLog, cancel: CancelToken) -> None:
        """The worker boundary: a failure is recorded and, while it may help, tried again.

        Raises what the record raises.
        """
        recorder = TurnRecorder(store=self._turns, log=live, user_id=turn.user_id, turn_id=turn.id)
        attempt = _Attempt(turn=turn, recorder=recorder, cancel=cancel, number=self._count(turn))
        try:
            self._learn_from(attempt)
            self._forget(turn, cancel)
        except NotWanted:
            self._turns.give_up_learning(user_id=turn.user_id, turn_id=turn.id)
            recorder(LearningSkipped(at=time.time(), reason="memory_off"))
            self._forget(turn, cancel)
        except ModelError as error:
            self._put_off(attempt, error.as_failure(), by_itself=error.can_retry)
        except MemoraError:
            raise
        except Exception as error:  # a write path that dies silently would be lost
            log.exception("learning from turn %s failed", turn.id)
            self._put_off(attempt, Failure(code="internal", detail=type(error).__name__), by_itself=True)

    def _count(self, turn: Turn) -> int:
        return self._turns.note_learning_attempt(user_id=turn.user_id, turn_id=turn.id)

    def _learn_from(self, attempt: _Attempt) -> None:
        user_id = attempt.turn.user_id
        learn_from_turn(
            attempt.turn,
            memory=self._memory,
            model=self._model_for(self._preferences.preferences(user_id=user_id).model),
            is_wanted=lambda: self._preferences.preferences(user_id=user_id).memory_enabled,
            now=self._now,
            emit=attempt.emit,
            cancel=attempt.cancel,
            attempt=attempt.number,
        )

    def _put_off(self, attempt: _Attempt, failure: Failure, *, by_itself: bool) -> None:
        """Try again later: ``by_itself``, or with the user's next turn where somebody has to put something right."""
        turn = attempt.turn
        will_retry = attempt.number <= len(RETRY_SECONDS)
        if not will_retry:
            self._turns.give_up_learning(user_id=turn.user_id, turn_id=turn.id)
            self._forget(turn, attempt.cancel)
        elif by_itself:
            self._again(turn, attempt.cancel, seconds=RETRY_SECONDS[attempt.number - 1])
        else:
            with self._lock:
                self._waiting.setdefault(turn.user_id, []).append((turn, attempt.cancel))
        took_ms = ms_since(attempt.started)
        attempt.emit(LearningFailed(at=time.time(), took_ms=took_ms, failure=failure, will_retry=will_retry))

    def _forget(self, turn: Turn, cancel: CancelToken) -> None:
        """Nothing more is to be done for this turn; a token that came after ``cancel`` stays."""
        with self._lock:
            if self._cancels.get(turn.id) is cancel:
                del self._cancels[turn.id]

    def _again(self, turn: Turn, cancel: CancelToken, *, seconds: float) -> None:
        self._later.call(lambda: self._submit(turn, None, cancel), seconds=seconds)
