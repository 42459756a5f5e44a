"""The write path (step 8 of a turn): extract, reconcile, store. Runs after the reply, off its critical path."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime

from memora.elapsed import ms_since
from memora.memory import LongTermMemory, extract, reconcile, store_accepted_memories
from memora.model import CancelToken, LanguageModel
from memora.turn.events import CandidatesExtracted, DecisionsMade, Event, LearningFinished, LearningStarted
from memora.turn.ports import Turn


class NotWanted(Exception):
    """The user has switched memory off since the turn began."""


def learn_from_turn(
    turn: Turn,
    *,
    memory: LongTermMemory,
    model: LanguageModel,
    is_wanted: Callable[[], bool],
    now: Callable[[], datetime],
    emit: Callable[[Event], None],
    cancel: CancelToken,
    attempt: int,
) -> None:
    """Learn from the user's message and the final reply, and from nothing else.

    Storing and marking the turn as learned is one transaction, so a write path that was cut off may be
    begun again: what had been stored is not stored twice. ``is_wanted`` is asked before the model and before
    anything is stored. Raises `NotWanted`, `ModelError`, `Cancelled` or a database error; then nothing was stored.
    """
    if not is_wanted():
        raise NotWanted
    started = time.perf_counter()
    emit(LearningStarted(at=time.time(), attempt=attempt))
    step = time.perf_counter()
    extraction, extraction_usage = extract(
        model=model,
        user_message=turn.user_message,
        assistant_reply=turn.reply,
        today=now().date(),
        cancel=cancel,
    )
    emit(
        CandidatesExtracted(
            at=time.time(),
            took_ms=ms_since(step),
            accepted=extraction.accepted,
            refused=extraction.refused,
            profile=extraction.profile,
            usage=extraction_usage,
        )
    )
    step = time.perf_counter()
    decisions, usage = reconcile(
        model=model, memory=memory, user_id=turn.user_id, candidates=extraction.accepted, cancel=cancel
    )
    emit(DecisionsMade(at=time.time(), took_ms=ms_since(step), decisions=decisions, usage=usage))
    if not is_wanted():
        raise NotWanted
    learned = store_accepted_memories(
        memory=memory,
        user_id=turn.user_id,
        turn_id=turn.id,
        decisions=decisions,
        profile=extraction.profile,
        at=now(),
    )
    emit(
        LearningFinished(
            at=time.time(),
            took_ms=ms_since(started),
            changes=learned.changes if learned else (),
            profile=learned.profile if learned else (),
            already_done=learned is None,
        )
    )
