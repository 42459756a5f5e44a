"""The tally of a turn's input: what the server said of its size, asked for where it said nothing, and learned from."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from memora.context.ports import CalibrationStore
from memora.elapsed import ms_since
from memora.errors import Cancelled, MemoraError
from memora.model import CancelToken, LanguageModel
from memora.turn.events import InputTokensCounted
from memora.turn.lanes import Lanes
from memora.turn.ports import Turn
from memora.turn.recorder import TurnRecorder
from memora.turn.spans import ContextSpan
from memora.turn.trace import Trace

log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Question:
    """How large ``body``, the first request of a turn, is."""

    turn_id: str
    body: dict[str, Any]
    model: LanguageModel
    recorder: TurnRecorder
    cancel: CancelToken = field(default_factory=CancelToken)


class TokenTally:
    """Settles how large the input of request 1 was, after the answer. Nothing that fails here harms a turn.

    Estimates are compared with what the server reported. An answer that came without the server's numbers (a
    server that reports none, a stream that was stopped or cut off) is asked about where ``counting`` is on.
    """

    def __init__(self, *, calibrations: CalibrationStore, counting: Literal["off", "on"], workers: int = 2) -> None:
        self._calibrations = calibrations
        self._counting = counting
        self._lanes = Lanes(workers=workers, name="memora-tally")
        self._lock = threading.Lock()
        self._questions: dict[str, _Question] = {}

    def settle(self, turn: Turn, *, model: LanguageModel, recorder: TurnRecorder, then: Callable[[], None]) -> None:
        """Settle an answered turn and go on with ``then``: at once, or after the server was asked in the background.

        ``recorder`` belongs to the tally until ``then`` is called.
        """
        self._learn(recorder.trace.context, model)
        body = _uncounted(recorder.trace) if self._counting == "on" else None
        if body is None:
            then()
            return
        question = _Question(turn_id=turn.id, body=body, model=model, recorder=recorder)
        with self._lock:
            self._questions[turn.id] = question
        self._lanes.submit(turn.id, lambda: self._ask(question, then))

    def abandon(self, turn_id: str) -> None:
        """Forget about a turn that is to be answered again."""
        with self._lock:
            question = self._questions.get(turn_id)
        if question is not None:
            question.cancel.cancel()

    def close(self, *, timeout: float) -> None:
        """End within ``timeout`` seconds; a number that is not there by then stays an estimate."""
        with self._lock:
            questions = tuple(self._questions.values())
        for question in questions:
            question.cancel.cancel("interrupted")
        self._lanes.close(timeout=timeout)

    def _ask(self, question: _Question, then: Callable[[], None]) -> None:
        try:
            self._count(question)
        except Cancelled:
            log.info("the input of turn %s is not counted any more", question.turn_id)
        except MemoraError as error:
            log.warning("the input of turn %s could not be counted: %s", question.turn_id, error)
        finally:
            with self._lock:
                if self._questions.get(question.turn_id) is question:
                    del self._questions[question.turn_id]
            then()

    def _count(self, question: _Question) -> None:
        model, recorder, cancel = question.model, question.recorder, question.cancel
        started = time.perf_counter()
        tokens = model.count_input_tokens(question.body, cancel=cancel)
        cancel.raise_if_cancelled()
        if tokens is not None:
            recorder(InputTokensCounted(at=time.time(), took_ms=ms_since(started), number=1, input_tokens=tokens))
            self._learn(recorder.trace.context, model)

    def _learn(self, context: ContextSpan | None, model: LanguageModel) -> None:
        if context is None or context.server is None:
            return
        stats = context.stats
        try:
            self._calibrations.learn_tokens(
                model=model.name,
                host=model.host,
                estimated_tokens=stats.calibration.uncorrected(stats.input_tokens),
                server_tokens=context.server.tokens,
            )
        except MemoraError:
            log.exception("what %s reported could not be kept for the next estimates", model.name)


def _uncounted(trace: Trace) -> dict[str, Any] | None:
    """The body of request 1, where its size is only an estimate."""
    for request in trace.requests:
        if request.number == 1 and request.usage and request.usage.input_source == "estimated":
            return request.body
    return None
