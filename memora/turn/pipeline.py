"""One turn, in order: steps 2 to 7. Step 1 (save the message) is `runner.submit`, step 8 is `learning`."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memora.context import (
    BACKGROUND_SHARE,
    TOOL_TURN_TOKEN_RESERVE,
    Background,
    Calibration,
    Fold,
    PreparedContext,
    ShortTermMemory,
    Summarizer,
    TokenCounter,
    build_background,
    system_prompt,
)
from memora.context.ports import ConversationStore
from memora.elapsed import ms_since
from memora.errors import Cancelled, Failure, MemoraError, UserError
from memora.memory import LongTermMemory, ProfileField, ProfileStore, ProfileValue, Recall
from memora.model import CancelToken, LanguageModel, Usage
from memora.preferences import Preferences
from memora.tools import TOOLS
from memora.turn.events import (
    ContextPrepared,
    Event,
    LearningSkipped,
    MemoriesTouched,
    RecallFinished,
    RecallStarted,
    SummaryFailed,
    SummaryMade,
    TurnFinished,
    TurnStarted,
)
from memora.turn.flow import ModelReply, run_model_with_tools
from memora.turn.ports import Turn

Emit = Callable[[Event], None]

SUMMARY_SHARE = 0.5
"""The share of the context window that one summary request may fill with old messages."""


@dataclass(frozen=True, kw_only=True)
class TurnParts:
    """What a turn works with. ``max_input_tokens`` and ``model`` are the user's own, ``counter`` the model's."""

    conversations: ConversationStore
    memory: LongTermMemory
    profiles: ProfileStore
    preferences: Preferences
    model: LanguageModel
    counter: TokenCounter
    max_input_tokens: int
    now: Callable[[], datetime]


@dataclass(frozen=True, kw_only=True)
class Known:
    """What is known of the user when the answer begins."""

    recall: Recall
    profile: Mapping[ProfileField, ProfileValue]


def answer_turn(turn: Turn, *, parts: TurnParts, emit: Emit, cancel: CancelToken) -> None:
    """Recall, background, context, answer, touch, finish. Every end of a turn is told by `TurnFinished`.

    Raises only what is no turn's fault (a broken database); the runner records that as a failed turn.
    """
    started = time.perf_counter()
    emit(TurnStarted(at=time.time(), user_message=turn.user_message, model=parts.model.name))
    short_term = _short_term_memory(turn, parts=parts, cancel=cancel)
    context: PreparedContext | None = None
    try:
        cancel.raise_if_cancelled()  # it may have been stopped while it waited
        known = _recall(turn, parts=parts, emit=emit)
        background = build_background(
            profile=known.profile,
            memories=known.recall.memories,
            count_tokens=parts.counter.count,
            max_tokens=int(parts.max_input_tokens * BACKGROUND_SHARE),
        )
        context = _prepare(short_term, background, calibration=parts.counter.calibration, emit=emit)
        reply = run_model_with_tools(
            input_messages=context.input_messages,
            model=parts.model,
            instructions=short_term.instructions,
            emit=emit,
            cancel=cancel,
            count_tokens=parts.counter.count,
        )
        if context.has_background:
            _touch(turn, background, parts=parts, emit=emit)
    except (Cancelled, UserError) as error:
        reply = _no_reply(error)
    if reply.state == "stopped" and cancel.reason == "interrupted":
        reply = replace(reply, state="cut_off" if reply.text else "failed", failure=Failure(code="interrupted"))
    learn = parts.preferences.memory_enabled and bool(reply.text) and reply.state != "failed"
    short_term.finish_turn(
        assistant_reply=reply.text,
        context_messages=context.context_messages if context else 0,
        response_tokens=reply.usage.total_tokens,
        state=reply.state,
        usage=reply.usage,
        failure=reply.failure,
        learn=learn,
    )
    emit(
        TurnFinished(
            at=time.time(),
            took_ms=ms_since(started),
            state=reply.state,
            reply=reply.text,
            response_tokens=reply.usage.total_tokens,
            usage=reply.usage,
            failure=reply.failure,
        )
    )
    if not learn:
        emit(LearningSkipped(at=time.time(), reason="no_reply" if parts.preferences.memory_enabled else "memory_off"))


def _short_term_memory(turn: Turn, *, parts: TurnParts, cancel: CancelToken) -> ShortTermMemory:
    return ShortTermMemory(
        store=parts.conversations,
        counter=parts.counter,
        summarizer=Summarizer(
            model=parts.model, counter=parts.counter, max_tokens=int(parts.max_input_tokens * SUMMARY_SHARE)
        ),
        user_id=turn.user_id,
        conversation_id=turn.conversation_id,
        turn_id=turn.id,
        instructions=system_prompt(today=parts.now().date()),
        tools=TOOLS,
        max_input_tokens=parts.max_input_tokens,
        cancel=cancel,
    )


def _recall(turn: Turn, *, parts: TurnParts, emit: Emit) -> Known:
    """Search long-term memory and read the profile. Without either the turn goes on, and says so."""
    started = time.perf_counter()
    nothing = Known(recall=Recall(query=turn.user_message), profile={})
    emit(RecallStarted(at=time.time(), query=turn.user_message))
    if not parts.preferences.memory_enabled:
        emit(RecallFinished(at=time.time(), took_ms=ms_since(started), memory_enabled=False))
        return nothing
    try:
        known = Known(
            recall=parts.memory.search(user_id=turn.user_id, query=turn.user_message),
            profile=parts.profiles.profile(user_id=turn.user_id),
        )
    except MemoraError as error:
        emit(RecallFinished(at=time.time(), took_ms=ms_since(started), failure=error.as_failure()))
        return nothing
    emit(
        RecallFinished(
            at=time.time(),
            took_ms=ms_since(started),
            memories=known.recall.memories,
            profile_fields=len(known.profile),
            degraded=known.recall.degraded,
            timings_ms=known.recall.timings_ms,
        )
    )
    return known


def _prepare(
    short_term: ShortTermMemory, background: Background, *, calibration: Calibration, emit: Emit
) -> PreparedContext:
    """Fit the conversation into the window, telling what was folded away and what is sent."""
    started = time.perf_counter()
    context = short_term.prepare_context(
        background_messages=background.messages, reserved_input_tokens=TOOL_TURN_TOKEN_RESERVE
    )
    for fold in context.folds:
        emit(_told(fold, left_out=context.left_out_messages))
    emit(
        ContextPrepared(
            at=time.time(),
            took_ms=ms_since(started),
            max_input_tokens=context.max_input_tokens,
            input_tokens=context.input_tokens,
            reserved_input_tokens=context.reserved_input_tokens,
            estimated_input_tokens=context.estimated_input_tokens,
            context_messages=context.context_messages,
            newly_summarized_count=context.newly_summarized_count,
            summary_token_usage=context.summary_token_usage,
            parts=context.parts,
            left_out_messages=context.left_out_messages,
            calibration=calibration,
        )
    )
    return context


def _told(fold: Fold, *, left_out: int) -> SummaryMade | SummaryFailed:
    if fold.failure:
        return SummaryFailed(at=time.time(), took_ms=fold.took_ms, left_out_messages=left_out, failure=fold.failure)
    return SummaryMade(
        at=time.time(),
        took_ms=fold.took_ms,
        folded_messages=fold.messages,
        summary=fold.summary,
        usage=fold.usage,
    )


def _touch(turn: Turn, background: Background, *, parts: TurnParts, emit: Emit) -> None:
    """Mark the memories that were really put into the context as used; a failure is only told."""
    if not background.memory_ids:
        return
    failure: Failure | None = None
    try:
        parts.memory.touch(user_id=turn.user_id, memory_ids=background.memory_ids)
    except MemoraError as error:
        failure = error.as_failure()
    emit(MemoriesTouched(at=time.time(), memory_ids=background.memory_ids, failure=failure))


def _no_reply(error: Cancelled | UserError) -> ModelReply:
    """The end of a turn that never reached the model."""
    if isinstance(error, Cancelled):
        return ModelReply(text="", state="stopped", usage=Usage(), requests=0)
    return ModelReply(text="", state="failed", failure=error.as_failure(), usage=Usage(), requests=0)
