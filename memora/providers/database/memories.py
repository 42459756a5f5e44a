"""The record of memories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, assert_never

from sqlalchemy import ColumnElement, Connection, Row, Select, delete, func, select, true, update

from memora.errors import NotFound
from memora.memory.ports import Learned, WordHit
from memora.memory.values import (
    Category,
    HistoryAction,
    HistoryEntry,
    Memory,
    MemoryPage,
    MemoryQuery,
    MemoryReconciliationDecision,
    ProfileUpdate,
    Provenance,
)
from memora.providers.database import memory_changes, word_index
from memora.providers.database.engine import SqliteFile
from memora.providers.database.learning import apply_decision, learn_no_more, mark_learned
from memora.providers.database.memory_rows import (
    batches,
    find_same,
    fingerprint,
    is_current,
    memory_of,
    update_memory,
    write_history,
)
from memora.providers.database.profiles import learn_profile
from memora.providers.database.tables import memories, memory_history
from memora.providers.database.turn_rows import find_turn

_ORDER = {
    "newest": memories.c.created_at,
    "updated": memories.c.updated_at,
    "last_used": memories.c.last_accessed_at,
    "most_used": memories.c.access_count,
    "importance": memories.c.importance,
}


class SqlMemories:
    """A `memora.memory.ports.MemoryStore`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    # Reading.

    def get(self, *, user_id: str, memory_id: str) -> Memory:
        """Any memory of the user, current or not. Raises `NotFound`."""
        with self._file.reading() as connection:
            return memory_of(_row(connection, user_id, memory_id))

    def get_current(self, *, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        """Those of ``memory_ids`` that are this user's and current."""
        with self._file.reading() as connection:
            found = [memory_of(row) for row in _rows(connection, user_id, memory_ids)]
        return {memory.id: memory for memory in found if memory.is_current}

    def pinned(self, *, user_id: str) -> Sequence[Memory]:
        """The user's current pinned memories, most important first."""
        query = (
            select(memories)
            .where(memories.c.user_id == user_id, memories.c.pinned == 1, is_current())
            .order_by(memories.c.importance.desc(), memories.c.number.desc())
        )
        with self._file.reading() as connection:
            return tuple(memory_of(row) for row in connection.execute(query))

    def find_words(self, *, user_id: str, text: str, limit: int) -> Sequence[WordHit]:
        """Current memories that share words with ``text``, best first."""
        with self._file.reading() as connection:
            return word_index.find_words(connection, user_id=user_id, text=text, limit=limit)

    def find_same(self, *, user_id: str, content: str) -> Memory | None:
        """The current memory with this sentence, compared after `memora.memory.words.normalize`."""
        with self._file.reading() as connection:
            row = find_same(connection, user_id=user_id, content=content)
        return None if row is None else memory_of(row)

    def page(self, *, user_id: str, query: MemoryQuery) -> MemoryPage:
        """A page of the user's memories, sorted and filtered in the database."""
        matching = select(memories).where(memories.c.user_id == user_id, *_filters(query))
        column = _ORDER[query.sort]
        page = matching.order_by(column.desc(), memories.c.number.desc()).offset(query.offset).limit(query.limit)
        with self._file.reading() as connection:
            rows = connection.execute(page).all()
            total = connection.scalars(matching.with_only_columns(func.count())).one()
        return MemoryPage(memories=tuple(memory_of(row) for row in rows), total=total)

    def revisions(self, *, user_id: str) -> Mapping[str, int]:
        """Id → revision of every current memory: what the index ought to hold."""
        query = select(memories.c.id, memories.c.revision).where(memories.c.user_id == user_id, is_current())
        with self._file.reading() as connection:
            return dict(connection.execute(query).all())

    def history(self, *, user_id: str, memory_id: str) -> Sequence[HistoryEntry]:
        """Everything that happened to a memory and to the versions it replaced, newest first."""
        query = (
            select(memory_history)
            .where(memory_history.c.user_id == user_id, memory_history.c.memory_id.in_(_versions(user_id, memory_id)))
            .order_by(memory_history.c.number.desc())
        )
        with self._file.reading() as connection:
            return tuple(_entry(row) for row in connection.execute(query))

    # Writing.

    def touch(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Set last accessed and add one to the count."""
        with self._file.writing() as connection:
            for ids in batches(memory_ids):
                connection.execute(
                    update(memories)
                    .where(memories.c.id.in_(ids), memories.c.user_id == user_id)
                    .values(last_accessed_at=at, access_count=memories.c.access_count + 1)
                )

    def add(
        self,
        *,
        user_id: str,
        content: str,
        category: Category,
        importance: int,
        provenance: Provenance,
        at: datetime,
    ) -> Memory:
        """Create a memory (by hand or by import), with its history entry."""
        with self._file.writing() as connection:
            row = memory_changes.create(
                connection,
                user_id=user_id,
                content=content,
                category=category,
                importance=importance,
                provenance=provenance,
                at=at,
            )
        return memory_of(row)

    def edit(
        self, *, user_id: str, memory_id: str, content: str, category: Category, importance: int, at: datetime
    ) -> Memory:
        """The user's own edit of a current memory, in place; the history keeps what was there. Raises `NotFound`."""
        with self._file.writing() as connection:
            row = _row(connection, user_id, memory_id, is_current())
            if (row.content, row.category, row.importance) == (content, category, importance):
                return memory_of(row)
            connection.execute(
                update_memory(user_id, memory_id).values(
                    content=content,
                    fingerprint=fingerprint(content),
                    category=category,
                    importance=importance,
                    updated_at=at,
                    revision=row.revision + (content != row.content),
                )
            )
            word_index.remove_words(connection, user_id=user_id, memory_number=row.number, content=row.content)
            word_index.add_words(connection, user_id=user_id, memory_number=row.number, content=content)
            _note(connection, row, "edited", at=at, before=row.content, after=content)
            return memory_of(_row(connection, user_id, memory_id))

    def set_pinned(self, *, user_id: str, memory_id: str, pinned: bool, at: datetime) -> Memory:
        """Pin or unpin a current memory. Raises `NotFound`."""
        with self._file.writing() as connection:
            row = _row(connection, user_id, memory_id, is_current())
            if row.pinned != pinned:
                connection.execute(update_memory(user_id, memory_id).values(pinned=pinned))
                _note(connection, row, "pinned" if pinned else "unpinned", at=at)
            return memory_of(_row(connection, user_id, memory_id))

    def delete(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> Sequence[str]:
        """Mark as deleted; returns the ids that were. `undelete` brings them back."""
        with self._file.writing() as connection:
            rows = [row for row in _rows(connection, user_id, memory_ids) if row.deleted_at is None]
            for row in rows:
                connection.execute(update_memory(user_id, row.id).values(deleted_at=at))
                word_index.remove_words(connection, user_id=user_id, memory_number=row.number, content=row.content)
                _note(connection, row, "deleted", at=at, before=row.content)
        return tuple(row.id for row in rows)

    def undelete(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> Sequence[str]:
        """Undo `delete`; returns the ids that came back. A superseded memory comes back as superseded."""
        with self._file.writing() as connection:
            rows = [row for row in _rows(connection, user_id, memory_ids) if row.deleted_at is not None]
            for row in rows:
                connection.execute(update_memory(user_id, row.id).values(deleted_at=None))
                if row.superseded_by is None:
                    word_index.add_words(connection, user_id=user_id, memory_number=row.number, content=row.content)
                _note(connection, row, "undeleted", at=at, after=row.content)
        return tuple(row.id for row in rows)

    def restore(self, *, user_id: str, memory_id: str, at: datetime) -> Memory:
        """Bring a superseded version back: it becomes current and supersedes what had replaced it.

        It keeps its id and its provenance; ``valid_from`` is the moment of its return. A memory that is
        current already stays as it is. Raises `NotFound`, also for a deleted one.
        """
        with self._file.writing() as connection:
            row = _row(connection, user_id, memory_id, memories.c.deleted_at.is_(None))
            if row.superseded_by is not None:
                memory_changes.restore(connection, row, at=at)
            return memory_of(_row(connection, user_id, memory_id))

    def purge(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Remove deleted memories for good: record, words and history, also where others' history quotes them."""
        with self._file.writing() as connection:
            rows = [row for row in _rows(connection, user_id, memory_ids) if row.deleted_at is not None]
            for row in rows:
                own = memory_history.c.user_id == user_id
                connection.execute(delete(memory_history).where(own, memory_history.c.memory_id == row.id))
                quoting = update(memory_history).where(own, memory_history.c.other_memory_id == row.id)
                connection.execute(quoting.where(memory_history.c.action == "superseded").values(after=""))
                connection.execute(quoting.where(memory_history.c.action == "restored").values(before=""))
                connection.execute(delete(memories).where(memories.c.id == row.id, memories.c.user_id == user_id))

    def learn_no_more(self, *, user_id: str) -> None:
        """Nothing is learned any more from what the user has said so far."""
        with self._file.writing() as connection:
            learn_no_more(connection, user_id=user_id)

    def commit_learning(
        self,
        *,
        user_id: str,
        turn_id: str,
        decisions: Sequence[MemoryReconciliationDecision],
        profile: Sequence[ProfileUpdate],
        at: datetime,
    ) -> Learned | None:
        """Store what a turn taught, in one transaction with the turn's mark "learned".

        None when the turn had been learned already (or given up, or reopened): nothing is written. Returns
        one change per decision, in order, and the profile updates that changed a field. Raises `NotFound`.
        """
        with self._file.writing() as connection:
            if not mark_learned(connection, user_id=user_id, turn_id=turn_id):
                return None
            conversation_id = find_turn(connection, user_id=user_id, turn_id=turn_id).conversation_id
            learned_profile = learn_profile(
                connection,
                user_id=user_id,
                conversation_id=conversation_id,
                turn_id=turn_id,
                updates=profile,
                at=at,
            )
            changes = tuple(
                apply_decision(
                    connection,
                    decision,
                    user_id=user_id,
                    turn_id=turn_id,
                    conversation_id=conversation_id,
                    at=at,
                )
                for decision in decisions
            )
        return Learned(changes=changes, profile=learned_profile)


def _row(
    connection: Connection, user_id: str, memory_id: str, condition: ColumnElement[bool] | None = None
) -> Row[Any]:
    query = select(memories).where(memories.c.id == memory_id, memories.c.user_id == user_id)
    row = connection.execute(query.where(true() if condition is None else condition)).first()
    if row is None:
        raise NotFound(kind="memory")
    return row


def _rows(connection: Connection, user_id: str, memory_ids: Sequence[str]) -> list[Row[Any]]:
    """Those of the ids that are the user's."""
    rows: list[Row[Any]] = []
    for ids in batches(memory_ids):
        rows += connection.execute(select(memories).where(memories.c.id.in_(ids), memories.c.user_id == user_id))
    return rows


def _filters(query: MemoryQuery) -> Iterator[ColumnElement[bool]]:
    match query.status:
        case "current":
            yield is_current()
        case "superseded":
            yield memories.c.superseded_by.is_not(None)
            yield memories.c.deleted_at.is_(None)
        case "deleted":
            yield memories.c.deleted_at.is_not(None)
        case "all":
            pass
        case _:
            assert_never(query.status)
    if query.categories:
        yield memories.c.category.in_(query.categories)
    if query.pinned_only:
        yield memories.c.pinned == 1
    if query.text:
        yield memories.c.content.contains(query.text, autoescape=True)


def _versions(user_id: str, memory_id: str) -> Select[tuple[str]]:
    """The memory and all that it replaced, directly or not."""
    chain = (
        select(memories.c.id)
        .where(memories.c.id == memory_id, memories.c.user_id == user_id)
        .cte("versions", recursive=True)
    )
    chain = chain.union(
        select(memories.c.id).where(memories.c.superseded_by == chain.c.id, memories.c.user_id == user_id)
    )
    return select(chain.c.id)


def _entry(row: Row[Any]) -> HistoryEntry:
    return HistoryEntry(
        memory_id=row.memory_id,
        action=row.action,
        at=row.at,
        origin=row.origin,
        before=row.before,
        after=row.after,
        turn_id=row.turn_id,
        other_memory_id=row.other_memory_id,
    )


def _note(
    connection: Connection, row: Row[Any], action: HistoryAction, *, at: datetime, before: str = "", after: str = ""
) -> None:
    entry = HistoryEntry(memory_id=row.id, action=action, at=at, origin="user", before=before, after=after)
    write_history(connection, user_id=row.user_id, entries=[entry])
