"""The runner owns every turn from its submission to the end of its write path. Pages only subscribe."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from memora.context import TOOL_TURN_TOKEN_RESERVE, TokenCounter, check_message_fits, clean_message, system_prompt
from memora.context.ports import ConversationStore
from memora.errors import Cancelled, Failure, MemoraError
from memora.memory import LongTermMemory, ProfileStore
from memora.model import CancelToken, LanguageModel, Usage
from memora.preferences import PreferenceStore
from memora.tools import TOOLS
from memora.turn.events import FINAL_STATES, LearningFailed, TurnFinished
from memora.turn.lanes import Lanes
from memora.turn.learning import learn_from_turn
from memora.turn.log import TurnLog
from memora.turn.pipeline import TurnParts, answer_turn
from memora.turn.ports import Turn, TurnStore
from memora.turn.recorder import TurnRecorder
from memora.turn.trace import Trace, advance, fold

log = logging.getLogger(__name__)

LEARNING_RETRY_SECONDS = (5.0, 30.0, 120.0, 600.0)
"""How long the write path waits after each failed attempt; after the last one it gives up."""


@dataclass(frozen=True, kw_only=True)
class RunnerParts:
    """What the runner works with.

    ``model_for`` gives the model that a user's preferences name; ``look_after`` is told whose index may need
    attention.
    """

    turns: TurnStore
    conversations: ConversationStore
    memory: LongTermMemory
    profiles: ProfileStore
    preferences: PreferenceStore
    counter: TokenCounter
    model_for: Callable[[str | None], LanguageModel]
    look_after: Callable[[str], None]
    max_input_tokens: int
    now: Callable[[], datetime]


class TurnRunner:
    """Runs turns on background threads: those of one conversation in order, conversations side by side.

    Write paths run in lanes of their own, one user at a time, so that two turns of one user reconcile one
    after the other and no answer waits for them.
    """

    def __init__(self, parts: RunnerParts, *, workers: int = 8, learners: int = 2) -> None:
        self._parts = parts
        self._answers = Lanes(workers=workers, name="memora-turn")
        self._learning = Lanes(workers=learners, name="memora-learn")
        self._lock = threading.Lock()
        self._logs: dict[str, TurnLog] = {}
        self._cancels: dict[str, CancelToken] = {}
        self._closing = CancelToken()

    # What a page calls.

    def submit(self, *, user_id: str, conversation_id: str, text: str) -> Turn:
        """Commit the message as a new turn and answer it in the background.

        Raises `BlankMessage`, `MessageTooLong` (nothing is stored then), `NotFound`, `DatabaseUnavailable`.
        """
        preferences = self._parts.preferences.preferences(user_id=user_id)
        content = clean_message(text)
        check_message_fits(
            content,
            counter=self._parts.counter,
            instructions=system_prompt(today=self._parts.now().date()),
            tools=TOOLS,
            max_input_tokens=preferences.max_input_tokens or self._parts.max_input_tokens,
            reserved_input_tokens=TOOL_TURN_TOKEN_RESERVE,
        )
        turn = self._parts.turns.begin_turn(
            user_id=user_id, conversation_id=conversation_id, content=content, at=self._parts.now()
        )
        self._enqueue(turn)
        return turn

    def retry(self, *, user_id: str, turn_id: str) -> Turn:
        """Answer a turn again that failed, was stopped, cut off or interrupted. Raises `NotFound`."""
        turn = self._parts.turns.reopen_turn(user_id=user_id, turn_id=turn_id)
        self._enqueue(turn)
        return turn

    def stop(self, *, user_id: str, turn_id: str) -> None:
        """End the answer now; what has arrived is kept. Nothing happens when it has ended already."""
        self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        with self._lock:
            cancel = self._cancels.get(turn_id)
        if cancel is not None:
            cancel.cancel()

    def log(self, *, user_id: str, turn_id: str) -> TurnLog | None:
        """The live log while the turn or its write path goes on; None otherwise. Raises `NotFound`."""
        self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        with self._lock:
            return self._logs.get(turn_id)

    def trace(self, *, user_id: str, turn_id: str) -> Trace:
        """The turn's trace, from the live log or from the record. Raises `NotFound`."""
        turn = self._parts.turns.turn(user_id=user_id, turn_id=turn_id)
        with self._lock:
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
            self._enqueue_learning(turn)

    def close(self, *, timeout: float = 5.0) -> None:
        """Stop taking work and end what runs: answers in the middle are kept as far as they came."""
        self._closing.cancel("interrupted")
        with self._lock:
            cancels = tuple(self._cancels.values())
        for cancel in cancels:
            cancel.cancel("interrupted")
        self._answers.close(timeout=timeout)
        self._learning.close(timeout=timeout)

    # Answers.

    def _enqueue(self, turn: Turn) -> None:
        with self._lock:
            self._logs[turn.id] = TurnLog()
            self._cancels[turn.id] = CancelToken()
        self._answers.submit(turn.conversation_id, lambda: self._answer(turn))

    def _answer(self, turn: Turn) -> None:
        """The worker boundary of an answer: whatever happens, the turn ends and says how."""
        recorder = self._recorder(turn, self._logs[turn.id])
        cancel = self._cancels[turn.id]
        try:
            self._parts.turns.mark_running(user_id=turn.user_id, turn_id=turn.id)
            answer_turn(turn, parts=self._turn_parts(turn), emit=recorder, cancel=cancel)
        except MemoraError as error:
            self._fail(turn, recorder, error.as_failure())
        except Exception as error:  # nothing may leave a turn running for ever
            log.exception("turn %s failed", turn.id)
            self._fail(turn, recorder, Failure(code="internal", detail=type(error).__name__))
        with self._lock:
            self._cancels.pop(turn.id, None)
        self._after_answer(turn)

    def _turn_parts(self, turn: Turn) -> TurnParts:
        preferences = self._parts.preferences.preferences(user_id=turn.user_id)
        return TurnParts(
            conversations=self._parts.conversations,
            memory=self._parts.memory,
            profiles=self._parts.profiles,
            preferences=preferences,
            model=self._parts.model_for(preferences.model),
            counter=self._parts.counter,
            max_input_tokens=preferences.max_input_tokens or self._parts.max_input_tokens,
            now=self._parts.now,
        )

    def _fail(self, turn: Turn, recorder: TurnRecorder, failure: Failure) -> None:
        """End a turn that its pipeline could not end. If even the record is out of reach, the page still hears."""
        usage = recorder.trace.usage
        try:
            self._parts.conversations.finish_turn(
                user_id=turn.user_id,
                turn_id=turn.id,
                reply="",
                state="failed",
                response_tokens=usage.total_tokens,
                usage=usage,
                context_messages=0,
                failure=failure,
                learn=False,
            )
            recorder(_failed(recorder.trace, failure))
        except MemoraError:
            log.exception("turn %s could not be recorded as failed", turn.id)
            self._logs[turn.id].append(_failed(recorder.trace, failure))

    def _after_answer(self, turn: Turn) -> None:
        """Hand the finished turn to the write path, or let its log go."""
        self._parts.look_after(turn.user_id)
        try:
            finished = self._parts.turns.turn(user_id=turn.user_id, turn_id=turn.id)
        except MemoraError:
            self._release(turn)
            return
        if finished.learning == "pending":
            self._enqueue_learning(finished)
        else:
            self._release(turn)

    # The write path.

    def _enqueue_learning(self, turn: Turn) -> None:
        self._learning.submit(turn.user_id, lambda: self._learn(turn))

    def _learn(self, turn: Turn) -> None:
        """The worker boundary of a write path: a failure is recorded and, while it may help, tried again."""
        with self._lock:
            live = self._logs.get(turn.id)
        if live is None:
            live = TurnLog(self._parts.turns.events(user_id=turn.user_id, turn_id=turn.id))
            with self._lock:
                self._logs[turn.id] = live
        recorder = self._recorder(turn, live)
        attempt = 0
        started = time.perf_counter()
        try:
            attempt = self._parts.turns.note_learning_attempt(user_id=turn.user_id, turn_id=turn.id)
            learn_from_turn(
                turn,
                memory=self._parts.memory,
                model=self._turn_parts(turn).model,
                now=self._parts.now,
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
            self._release(turn)

    def _postpone(self, turn: Turn, recorder: TurnRecorder, failure: Failure, *, attempt: int, started: float) -> None:
        will_retry = attempt <= len(LEARNING_RETRY_SECONDS)
        if not will_retry:
            self._parts.turns.give_up_learning(user_id=turn.user_id, turn_id=turn.id)
        recorder(
            LearningFailed(
                at=time.time(),
                took_ms=(time.perf_counter() - started) * 1000,
                failure=failure,
                will_retry=will_retry,
            )
        )
        if will_retry:
            timer = threading.Timer(LEARNING_RETRY_SECONDS[max(attempt, 1) - 1], lambda: self._enqueue_learning(turn))
            timer.daemon = True
            timer.start()

    # Logs.

    def _recorder(self, turn: Turn, live: TurnLog) -> TurnRecorder:
        return TurnRecorder(store=self._parts.turns, log=live, user_id=turn.user_id, turn_id=turn.id)

    def _release(self, turn: Turn) -> None:
        """Let the live log go: from now on the record tells the turn."""
        with self._lock:
            live = self._logs.pop(turn.id, None)
        if live is not None:
            live.close()


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
