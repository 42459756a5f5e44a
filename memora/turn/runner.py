"""The runner owns every turn from its submission to its end. Pages only subscribe."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from memora.context import TOOL_TURN_TOKEN_RESERVE, TokenCounter, check_message_fits, clean_message, system_prompt
from memora.context.ports import CalibrationStore, ConversationStore
from memora.errors import DatabaseUnavailable, Failure, MemoraError
from memora.memory import LongTermMemory, ProfileStore
from memora.model import CancelToken, LanguageModel, Usage
from memora.preferences import PreferenceStore
from memora.tools import TOOLS
from memora.turn.events import FINAL_STATES, TurnFinished
from memora.turn.lanes import Job, Lanes
from memora.turn.learner import Learner
from memora.turn.log import LiveLogs, TurnLog
from memora.turn.pipeline import TurnParts, answer_turn
from memora.turn.ports import Turn, TurnStore
from memora.turn.recorder import TurnRecorder
from memora.turn.tally import TokenTally
from memora.turn.trace import Trace, advance, fold

log = logging.getLogger(__name__)

RECORD_AGAIN_SECONDS = 1.0
"""How long a turn waits whose end could not be recorded, before that is tried again."""


@dataclass(frozen=True, kw_only=True)
class RunnerParts:
    """What the runner works with.

    ``model_for`` gives the model that a user's preferences name; ``look_after`` is told whose index may need
    attention; ``counting``: whether a server that reported no tokens is asked to count them after the answer.
    """

    turns: TurnStore
    conversations: ConversationStore
    memory: LongTermMemory
    profiles: ProfileStore
    preferences: PreferenceStore
    counter: TokenCounter
    calibrations: CalibrationStore
    counting: Literal["off", "on"]
    model_for: Callable[[str | None], LanguageModel]
    look_after: Callable[[str], None]
    max_input_tokens: int
    now: Callable[[], datetime]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answering:
    """An answer on its way, or in the queue: what stops it, and its work."""

    cancel: CancelToken
    job: Job


class TurnRunner:
    """Runs turns on background threads: those of one conversation in order, conversations side by side."""

    def __init__(self, parts: RunnerParts, *, workers: int = 8) -> None:
        self._parts = parts
        self._answers = Lanes(workers=workers, name="memora-turn")
        self._logs = LiveLogs()
        self._tally = TokenTally(calibrations=parts.calibrations, counting=parts.counting)
        self._learner = Learner(
            turns=parts.turns,
            memory=parts.memory,
            preferences=parts.preferences,
            model_for=parts.model_for,
            logs=self._logs,
            now=parts.now,
        )
        self._lock = threading.Lock()
        self._answering: dict[str, _Answering] = {}
        self._closing = threading.Event()
        self._passing_on = threading.Lock()
        """Held while a turn goes from the record into its lane, or from its answer into the write path."""

    # What a page calls.

    def submit(self, *, user_id: str, conversation_id: str, text: str) -> Turn:
        """Commit the message as a new turn and answer it in the background.

        Raises `BlankMessage`, `MessageTooLong` (nothing is stored then), `NotFound`, `DatabaseUnavailable`.
        """
        preferences = self._parts.preferences.preferences(user_id=user_id)
        content = clean_message(text)
        check_message_fits(
            content,
            counter=self._counter_for(self._parts.model_for(preferences.model)),
            instructions=system_prompt(today=self._parts.now().date()),
            tools=TOOLS,
            max_input_tokens=preferences.max_input_tokens or self._parts.max_input_tokens,
            reserved_input_tokens=TOOL_TURN_TOKEN_RESERVE,
        )
        with self._passing_on:  # the order in the record is the order in the lane
            turn = self._parts.turns.begin_turn(
                user_id=user_id, conversation_id=conversation_id, content=content, at=self._parts.now()
            )
            self._enqueue(turn)
        return turn

    def retry(self, *, user_id: str, turn_id: str) -> Turn:
        """Answer a turn again that failed, was stopped, cut off or interrupted. Raises `NotFound`."""
        self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        with self._passing_on:
            self._tally.abandon(turn_id)
            self._learner.abandon(turn_id)
            turn = self._parts.turns.reopen_turn(user_id=user_id, turn_id=turn_id)
            self._enqueue(turn)
        return turn

    def stop(self, *, user_id: str, turn_id: str) -> None:
        """End the answer now; what has arrived is kept. Nothing happens when it has ended already."""
        turn = self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        with self._lock:
            answering = self._answering.get(turn_id)
        if answering is None:
            return
        answering.cancel.cancel()
        if self._answers.withdraw(turn.conversation_id, answering.job):
            # In a lane of its own: nobody waits for the answers before it to see it end.
            self._answers.submit(turn_id, answering.job)

    def log(self, *, user_id: str, turn_id: str) -> TurnLog | None:
        """The live log while the turn or its write path goes on; None otherwise. Raises `NotFound`."""
        self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        return self._logs.get(turn_id)

    def trace(self, *, user_id: str, turn_id: str) -> Trace:
        """The turn's trace, from the live log or from the record. Raises `NotFound`."""
        turn = self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        live = self._logs.get(turn_id)
        if live is not None:
            return fold(live.since(0))
        return _closed(fold(self._parts.turns.events(user_id=user_id, turn_id=turn_id)), turn)

    # What the assembly calls.

    def recover(self) -> None:
        """At start: close what a process that is gone left open, and finish its write paths."""
        for turn in self._parts.turns.interrupt_open_turns(at=self._parts.now()):
            events = self._parts.turns.events(user_id=turn.user_id, turn_id=turn.id)
            self._recorder(turn, TurnLog(events))(_interrupted(turn, fold(events)))
        for turn in self._parts.turns.turns_to_learn():
            events = self._parts.turns.events(user_id=turn.user_id, turn_id=turn.id)
            if fold(events).state != turn.state:
                self._recorder(turn, TurnLog(events))(_ended(turn, fold(events)))
            self._learner.learn(turn)

    def close(self, *, timeout: float = 5.0) -> None:
        """Stop taking work and end what runs: answers in the middle are kept as far as they came."""
        self._closing.set()
        with self._lock:
            running = tuple(self._answering.values())
        for answering in running:
            answering.cancel.cancel("interrupted")
        self._answers.close(timeout=timeout)
        self._tally.close(timeout=timeout)
        self._learner.close(timeout=timeout)

    # Answers.

    def _enqueue(self, turn: Turn) -> None:
        live, cancel = self._logs.open(turn.id), CancelToken()
        answering = _Answering(cancel=cancel, job=lambda: self._answer(turn, live, cancel))
        with self._lock:
            self._answering[turn.id] = answering
        self._answers.submit(turn.conversation_id, answering.job)

    def _answer(self, turn: Turn, live: TurnLog, cancel: CancelToken) -> None:
        """The worker boundary of an answer: whatever happens, the turn ends and says how."""
        recorder = self._recorder(turn, live)
        parts: TurnParts | None = None
        try:
            self._parts.turns.mark_running(user_id=turn.user_id, turn_id=turn.id)
            parts = self._turn_parts(turn)
            answer_turn(turn, parts=parts, emit=recorder, cancel=cancel)
        except MemoraError as error:
            self._fail(turn, recorder, live, error.as_failure())
        except Exception as error:  # nothing may leave a turn running for ever
            log.exception("turn %s failed", turn.id)
            self._fail(turn, recorder, live, Failure(code="internal", detail=type(error).__name__))
        with self._lock:
            current = self._answering.get(turn.id)
            if current and current.cancel is cancel:  # and not an answer that was asked for since
                del self._answering[turn.id]
        self._parts.look_after(turn.user_id)
        hand_over = partial(self._hand_over, turn, live)
        if parts and self._logs.get(turn.id) is live:
            self._tally.settle(turn, model=parts.model, recorder=recorder, then=hand_over)
        else:
            hand_over()

    def _turn_parts(self, turn: Turn) -> TurnParts:
        preferences = self._parts.preferences.preferences(user_id=turn.user_id)
        model = self._parts.model_for(preferences.model)
        return TurnParts(
            conversations=self._parts.conversations,
            memory=self._parts.memory,
            profiles=self._parts.profiles,
            preferences=preferences,
            model=model,
            counter=self._counter_for(model),
            max_input_tokens=preferences.max_input_tokens or self._parts.max_input_tokens,
            now=self._parts.now,
        )

    def _counter_for(self, model: LanguageModel) -> TokenCounter:
        """A counter that counts as the model's server does, as far as that is known."""
        known = self._parts.calibrations.calibration(model=model.name, host=model.host)
        return self._parts.counter.calibrated(known)

    def _recorder(self, turn: Turn, live: TurnLog) -> TurnRecorder:
        return TurnRecorder(store=self._parts.turns, log=live, user_id=turn.user_id, turn_id=turn.id)

    def _fail(self, turn: Turn, recorder: TurnRecorder, live: TurnLog, failure: Failure) -> None:
        """End a turn that its pipeline could not end. If even the record is out of reach, the page still hears."""
        text = recorder.trace.live_text
        end = replace(_failed(recorder.trace, failure), reply=text, state="cut_off" if text else "failed")
        try:
            self._record_end(turn, recorder, end)
        except MemoraError as error:
            log.exception("turn %s could not be recorded as failed", turn.id)
            live.append(end)
            if isinstance(error, DatabaseUnavailable):
                self._record_end_later(turn, recorder, end)

    def _record_end(self, turn: Turn, recorder: TurnRecorder, end: TurnFinished) -> None:
        """Record ``end``, unless a reply was committed: it stays one, whatever failed after it."""
        self._parts.conversations.finish_turn(
            user_id=turn.user_id,
            turn_id=turn.id,
            reply=end.reply,
            state="cut_off" if end.reply else "failed",
            response_tokens=end.response_tokens,
            usage=end.usage,
            context_messages=0,
            failure=end.failure,
            learn=False,
        )
        recorder(_ended(self._parts.turns.turn(user_id=turn.user_id, turn_id=turn.id), recorder.trace))

    def _record_end_later(self, turn: Turn, recorder: TurnRecorder, end: TurnFinished) -> None:
        """Until then the turn runs, its text can be read, and what follows in its conversation waits."""
        while not self._closing.wait(RECORD_AGAIN_SECONDS):
            with suppress(DatabaseUnavailable):
                self._record_end(turn, recorder, end)
                return

    def _hand_over(self, turn: Turn, live: TurnLog) -> None:
        """Hand the finished turn to the write path, or let its log go: also when it is to be answered again."""
        with self._passing_on:
            try:
                finished = self._parts.turns.turn(user_id=turn.user_id, turn_id=turn.id)
            except MemoraError:
                self._logs.release(turn.id, live)
                return
            if finished.learning == "pending" and self._logs.get(turn.id) is live:
                self._learner.learn(finished, live)
            else:
                self._logs.release(turn.id, live)


def _failed(trace: Trace, failure: Failure) -> TurnFinished:
    return TurnFinished(
        at=time.time(),
        took_ms=(time.time() - trace.started_at) * 1000 if trace.started_at else 0.0,
        state="failed",
        reply="",
        response_tokens=trace.usage.total_tokens,
        usage=trace.usage,
        failure=failure,
    )


def _interrupted(turn: Turn, trace: Trace) -> TurnFinished:
    return replace(_failed(trace, Failure(code="interrupted")), state="interrupted", took_ms=0.0, reply=turn.reply)


def _ended(turn: Turn, trace: Trace) -> TurnFinished:
    """The end that a turn's row knows and its log does not, because the process was killed in between."""
    took_ms = 0.0
    if turn.finished_at and trace.started_at:
        took_ms = (turn.finished_at.timestamp() - trace.started_at) * 1000
    return TurnFinished(
        at=turn.finished_at.timestamp() if turn.finished_at else time.time(),
        took_ms=took_ms,
        state=turn.state,
        reply=turn.reply,
        response_tokens=turn.response_tokens,
        usage=sum((span.usage for span in trace.requests if span.usage), Usage()),
        failure=turn.failure,
    )


def _closed(trace: Trace, turn: Turn) -> Trace:
    """A stored log that a crash cut short, closed with what the turn's own row says."""
    if turn.state in FINAL_STATES and trace.state != turn.state:
        trace = advance(trace, _ended(turn, trace))
    learning = trace.learning
    if learning is not None and learning.status == "running" and turn.learning == "done":
        closed = replace(learning, status="ok", already_done=True, took_ms=0.0)
        trace = replace(trace, spans=tuple(closed if span is learning else span for span in trace.spans))
    return trace
