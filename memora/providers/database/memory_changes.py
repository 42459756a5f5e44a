"""The changes of which the record of memories is made; each keeps table, word index and history in step."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Row, insert, select

from memora.memory.values import Category, HistoryEntry, Origin, Provenance
from memora.providers.database.memory_rows import fingerprint, update_memory, write_history
from memora.providers.database.tables import memories
from memora.providers.database.turn_rows import new_id
from memora.providers.database.users import ensure_user
from memora.providers.database.word_index import add_words, remove_words


def create(
    connection: Connection,
    *,
    user_id: str,
    content: str,
    category: Category,
    importance: int,
    provenance: Provenance,
    at: datetime,
    replaces: Row[Any] | None = None,
) -> Row[Any]:
    """A new current memory. One that ``replaces`` another supersedes it and is as pinned and as important."""
    ensure_user(connection, user_id)
    memory_id = new_id()
    row = connection.execute(
        insert(memories)
        .values(
            id=memory_id,
            user_id=user_id,
            content=content,
            fingerprint=fingerprint(content),
            category=category,
            importance=max(importance, replaces.importance) if replaces else importance,
            pinned=replaces.pinned if replaces else False,
            created_at=at,
            updated_at=at,
            valid_from=at,
            origin=provenance.origin,
            turn_id=provenance.turn_id,
            conversation_id=provenance.conversation_id,
            quote=provenance.quote,
        )
        .returning(memories)
    ).one()
    add_words(connection, user_id=user_id, memory_number=row.number, content=content)
    created = HistoryEntry(
        memory_id=memory_id,
        action="created",
        at=at,
        origin=provenance.origin,
        after=content,
        turn_id=provenance.turn_id,
        other_memory_id=replaces.id if replaces else None,
    )
    if replaces:
        supersede(connection, replaces, by=row, at=at, origin=provenance.origin, turn_id=provenance.turn_id)
    write_history(connection, user_id=user_id, entries=[created])
    return row


def supersede(
    connection: Connection, old: Row[Any], *, by: Row[Any], at: datetime, origin: Origin, turn_id: str | None = None
) -> None:
    """``old`` gives way to ``by``."""
    connection.execute(update_memory(old.user_id, old.id).values(superseded_by=by.id, superseded_at=at))
    remove_words(connection, user_id=old.user_id, memory_number=old.number, content=old.content)
    entry = HistoryEntry(
        memory_id=old.id,
        action="superseded",
        at=at,
        origin=origin,
        before=old.content,
        after=by.content,
        turn_id=turn_id,
        other_memory_id=by.id,
    )
    write_history(connection, user_id=old.user_id, entries=[entry])


def restore(connection: Connection, old: Row[Any], *, at: datetime) -> None:
    """The superseded ``old`` becomes current again, the same memory under the same id.

    The chain turns round: what had replaced it at last is now superseded by it, so every chain has exactly
    one end that is not superseded. When each of them was valid is told by the history.
    """
    connection.execute(
        update_memory(old.user_id, old.id).values(superseded_by=None, superseded_at=None, valid_from=at, updated_at=at)
    )
    add_words(connection, user_id=old.user_id, memory_number=old.number, content=old.content)
    latest = _latest_version(connection, old)
    if latest is not None:
        supersede(connection, latest, by=old, at=at, origin="user")
    entry = HistoryEntry(
        memory_id=old.id,
        action="restored",
        at=at,
        origin="user",
        before=latest.content if latest is not None else "",
        after=old.content,
        other_memory_id=latest.id if latest is not None else None,
    )
    write_history(connection, user_id=old.user_id, entries=[entry])


def _latest_version(connection: Connection, old: Row[Any]) -> Row[Any] | None:
    """What stands at the end of the chain that began with ``old``; None when it was purged."""
    chain = (
        select(memories.c.id, memories.c.superseded_by)
        .where(memories.c.id == old.superseded_by, memories.c.user_id == old.user_id)
        .cte(recursive=True)
    )
    chain = chain.union(
        select(memories.c.id, memories.c.superseded_by).where(
            memories.c.id == chain.c.superseded_by, memories.c.user_id == old.user_id
        )
    )
    end = select(memories).join(chain, memories.c.id == chain.c.id).where(chain.c.superseded_by.is_(None))
    return connection.execute(end).first()
