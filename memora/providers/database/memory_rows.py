"""How memories lie in the table, and the small steps that every change of one is made of."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Update, and_, insert, select, update

from memora.memory.values import Category, HistoryEntry, Memory, Provenance
from memora.memory.words import normalize
from memora.providers.database.tables import memories, memory_history

IDS_PER_STATEMENT = 10_000


def is_current() -> ColumnElement[bool]:
    """Neither superseded nor deleted."""
    return and_(memories.c.superseded_by.is_(None), memories.c.deleted_at.is_(None))


def fingerprint(content: str) -> str:
    """The same for the same sentence, short enough for an index."""
    return hashlib.blake2b(normalize(content).encode(), digest_size=16).hexdigest()


def memory_of(row: Row[Any]) -> Memory:
    """The memory in a row of the table."""
    return Memory(
        id=row.id,
        user_id=row.user_id,
        content=row.content,
        category=Category(row.category),
        importance=row.importance,
        created_at=row.created_at,
        updated_at=row.updated_at,
        provenance=Provenance(
            origin=row.origin, turn_id=row.turn_id, conversation_id=row.conversation_id, quote=row.quote
        ),
        last_accessed_at=row.last_accessed_at,
        access_count=row.access_count,
        pinned=row.pinned,
        valid_from=row.valid_from,
        superseded_by=row.superseded_by,
        superseded_at=row.superseded_at,
        deleted_at=row.deleted_at,
        revision=row.revision,
    )


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    """``ids`` without repetitions, in pieces that one statement can take."""
    distinct = tuple(dict.fromkeys(ids))
    for start in range(0, len(distinct), IDS_PER_STATEMENT):
        yield distinct[start : start + IDS_PER_STATEMENT]


def update_memory(user_id: str, memory_id: str) -> Update:
    """An update of one memory of the user."""
    return update(memories).where(memories.c.id == memory_id, memories.c.user_id == user_id)


def find_same(connection: Connection, *, user_id: str, content: str) -> Row[Any] | None:
    """The row of the current memory with this sentence."""
    return connection.execute(
        select(memories)
        .where(memories.c.user_id == user_id, memories.c.fingerprint == fingerprint(content), is_current())
        .order_by(memories.c.number)
    ).first()


def write_history(connection: Connection, *, user_id: str, entries: Sequence[HistoryEntry]) -> None:
    """Add to the history."""
    if entries:
        connection.execute(
            insert(memory_history),
            [
                {
                    "user_id": user_id,
                    "memory_id": entry.memory_id,
                    "action": entry.action,
                    "at": entry.at,
                    "origin": entry.origin,
                    "before": entry.before,
                    "after": entry.after,
                    "turn_id": entry.turn_id,
                    "other_memory_id": entry.other_memory_id,
                }
                for entry in entries
            ],
        )
