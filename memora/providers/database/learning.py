"""The end of the write path: what a turn taught and the turn's mark "learned", for one transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, select, update

from memora.memory.values import MemoryChange, MemoryReconciliationDecision, Provenance
from memora.providers.database.memory_changes import create
from memora.providers.database.memory_rows import find_same, is_current
from memora.providers.database.tables import memories, turns
from memora.providers.database.turn_rows import find_turn


def mark_learned(connection: Connection, *, user_id: str, turn_id: str) -> bool:
    """``pending`` → ``done``; False when the turn was in another state. Raises `NotFound`."""
    marked = connection.execute(
        update(turns)
        .where(turns.c.id == turn_id, turns.c.user_id == user_id, turns.c.learning == "pending")
        .values(learning="done")
    )
    if not marked.rowcount:
        find_turn(connection, user_id=user_id, turn_id=turn_id)
    return bool(marked.rowcount)


def learn_no_more(connection: Connection, *, user_id: str) -> None:
    """Mark everything that the user has said so far as learned, what is still being answered included."""
    unlearned = (turns.c.learning == "pending") | turns.c.state.in_(("queued", "running"))
    connection.execute(update(turns).where(turns.c.user_id == user_id, unlearned).values(learning="done"))


def apply_decision(
    connection: Connection,
    decision: MemoryReconciliationDecision,
    *,
    user_id: str,
    turn_id: str,
    conversation_id: str,
    at: datetime,
) -> MemoryChange:
    """Store what becomes of one candidate.

    Whatever was decided, a sentence that is current already is not stored again. An ``update`` whose target
    does not stand any more as the model was shown it becomes a ``create`` of the candidate itself: what somebody
    wrote in its place stays, and what they deleted does not come back inside of the model's sentence.
    """
    if decision.action == "skip":
        return _skipped(decision.target_memory_id, decision.target_content or decision.candidate.content)
    target = _target(connection, decision, user_id=user_id)
    content = (decision.content if target is not None else "") or decision.candidate.content
    same = find_same(connection, user_id=user_id, content=content)
    if same is not None:
        return _skipped(same.id, same.content)
    created = create(
        connection,
        user_id=user_id,
        content=content,
        category=decision.candidate.category,
        importance=decision.candidate.importance,
        provenance=Provenance(
            origin="extraction", turn_id=turn_id, conversation_id=conversation_id, quote=decision.candidate.quote
        ),
        at=at,
        replaces=target,
    )
    if target is None:
        return MemoryChange(action="create", memory_id=created.id, content=content)
    return MemoryChange(
        action="update",
        memory_id=created.id,
        content=content,
        previous_memory_id=target.id,
        previous_content=target.content,
    )


def _skipped(memory_id: str | None, content: str) -> MemoryChange:
    return MemoryChange(action="skip", memory_id=memory_id or "", content=content)


def _target(connection: Connection, decision: MemoryReconciliationDecision, *, user_id: str) -> Row[Any] | None:
    if decision.action != "update":
        return None
    return connection.execute(
        select(memories).where(
            memories.c.id == decision.target_memory_id,
            memories.c.user_id == user_id,
            memories.c.content == decision.target_content,
            is_current(),
        )
    ).first()
