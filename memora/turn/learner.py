"""The learner owns the write path of every finished turn, until it is done or given up."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from datetime import datetime

from memora.errors import Cancelled, Failure, MemoraError
from memora.memory import LongTermMemory
from memora.model import CancelToken, LanguageModel
from memora.turn.events import LearningFailed
from memora.turn.lanes import Lanes
from memora.turn.learning import learn_from_turn
from memora.turn.log import LiveLogs
from memora.turn.ports import Turn, TurnStore
from memora.turn.recorder import TurnRecorder

log = logging.getLogger(__name__)

RETRY_SECONDS = (5.0, 30.0, 120.0, 600.0)
"""How long the write path waits after each failed attempt; after the last one it gives up."""


class Learner:
    """Runs write paths in the background, those of one user in order: two turns reconcile one after the other.

    A turn's live log stays open until its write path ends, and is let go here.
    """

    def __init__(
        self,
        *,
        turns: TurnStore,
        memory: LongTermMemory,
        model_of: Callable[[str], LanguageModel],
        logs: LiveLogs,
        now: Callable[[], datetime],
        workers: int = 2,
    ) -> None:
        self._turns = turns
        self._memory = memory
        self._model_of = model_of
        self._logs = logs
        self._now = now
        self._lanes = Lanes(workers=workers, name="memora-learn")
        self._closing = CancelToken()

    def learn(self, turn: Turn) -> None:
        """Learn from ``turn`` after everything that this user is to be learned from already."""
        self._lanes.submit(turn.user_id, lambda: self._learn(turn))

    def close(self, *, timeout: float) -> None:
        """End within ``timeout`` seconds; what is not done is done after the next start."""
        self._closing.cancel("interrupted")
        self._lanes.close(timeout=timeout)

    def _learn(self, turn: Turn) -> None:
        """The worker boundary: a failure is recorded and, while it may help, tried again."""
        live = self._logs.get(turn.id) or self._logs.open(
            turn.id, self._turns.events(user_id=turn.user_id, turn_id=turn.id)
        )
        recorder = TurnRecorder(store=self._turns, log=live, user_id=turn.user_id, turn_id=turn.id)
        attempt = 1
        started = time.perf_counter()
        try:
            attempt = self._turns.note_learning_attempt(user_id=turn.user_id, turn_id=turn.id)
            learn_from_turn(
                turn,
                memory=self._memory,
                model=self._model_of(turn.user_id),
                now=self._now,
                emit=recorder,
                cancel=self._closing,
                attempt=attempt,
            )
        except Cancelled:
            pass  # the process ends; the turn is still pending and is learned after the next start
        except MemoraError as error:
            self._postpone(turn, recorder, error.as_failure(), attempt=attempt, started=started)
        except Exception as error:  # a write path that dies silently would be lost
            log.exception("learning from turn %s failed", turn.id)
            failure = Failure(code="internal", detail=type(error).__name__)
            self._postpone(turn, recorder, failure, attempt=attempt, started=started)
        finally:
            self._logs.release(turn.id)

    def _postpone(self, turn: Turn, recorder: TurnRecorder, failure: Failure, *, attempt: int, started: float) -> None:
        will_retry = attempt <= len(RETRY_SECONDS)
        if not will_retry:
            self._turns.give_up_learning(user_id=turn.user_id, turn_id=turn.id)
        recorder(
            LearningFailed(
                at=time.time(),
                took_ms=(time.perf_counter() - started) * 1000,
                failure=failure,
                will_retry=will_retry,
            )
        )
        if will_retry:
            timer = threading.Timer(RETRY_SECONDS[attempt - 1], lambda: self.learn(turn))
            timer.daemon = True
            timer.start()
