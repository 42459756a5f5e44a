"""The end of the write path: decisions into the record, then into the index."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from memora.memory.long_term import LongTermMemory
from memora.memory.ports import Learned
from memora.memory.values import MemoryReconciliationDecision, ProfileUpdate


def store_accepted_memories(
    *,
    memory: LongTermMemory,
    user_id: str,
    turn_id: str,
    decisions: Sequence[MemoryReconciliationDecision],
    profile: Sequence[ProfileUpdate] = (),
    at: datetime,
) -> Learned | None:
    """Store what a turn taught, once, and say what was written: None when this turn had been learned already.

    The record is one transaction; the index follows and may lag behind it.
    """
    learned = memory.store.commit_learning(
        user_id=user_id, turn_id=turn_id, decisions=decisions, profile=profile, at=at
    )
    if learned is None:
        return None
    written = [change.memory_id for change in learned.changes if change.action != "skip"]
    replaced = [change.previous_memory_id for change in learned.changes if change.previous_memory_id]
    memory.reindex(user_id=user_id, memory_ids=[*written, *replaced])
    return learned
