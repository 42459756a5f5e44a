"""What long-term memory needs from outside: a record, an index and an embedder.

Every function names the user. Ids of another user behave as ids that do not exist.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memora.memory.values import (
    Category,
    HistoryEntry,
    Memory,
    MemoryChange,
    MemoryPage,
    MemoryQuery,
    MemoryReconciliationDecision,
    ProfileField,
    ProfileUpdate,
    ProfileValue,
    Provenance,
)

Vector = Sequence[float]


@dataclass(frozen=True, kw_only=True)
class WordHit:
    """A memory found by words. ``coverage`` (0–1): the share of the query's idf weight that it contains."""

    memory_id: str
    coverage: float
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class IndexEntry:
    """What the index holds of a memory."""

    memory_id: str
    revision: int
    vector: Vector


@dataclass(frozen=True, kw_only=True)
class Learned:
    """What a turn has taught, as it was written: one change per decision, and the profile fields that changed."""

    changes: tuple[MemoryChange, ...] = ()
    profile: tuple[ProfileUpdate, ...] = ()


class MemoryStore(Protocol):
    """The record of memories and their history (a database). Writes are durable when they return."""

    def get(self, *, user_id: str, memory_id: str) -> Memory:
        """Any memory of the user, current or not. Raises `NotFound`."""
        ...

    def get_current(self, *, user_id: str, memory_ids: Sequence[str]) -> Mapping[str, Memory]:
        """Those of ``memory_ids`` that are this user's and current."""
        ...

    def pinned(self, *, user_id: str) -> Sequence[Memory]:
        """The user's current pinned memories, most important first."""
        ...

    def find_words(self, *, user_id: str, text: str, limit: int) -> Sequence[WordHit]:
        """Current memories that share words (analysed by `memora.memory.words`) with ``text``, best first."""
        ...

    def find_same(self, *, user_id: str, content: str) -> Memory | None:
        """The current memory with this sentence, compared after `memora.memory.words.normalize`."""
        ...

    def page(self, *, user_id: str, query: MemoryQuery) -> MemoryPage:
        """A page of the user's memories, sorted and filtered in the database."""
        ...

    def revisions(self, *, user_id: str) -> Mapping[str, int]:
        """Id → revision of every current memory: what the index ought to hold."""
        ...

    def history(self, *, user_id: str, memory_id: str) -> Sequence[HistoryEntry]:
        """Everything that happened to a memory and to the versions it replaced, newest first."""
        ...

    def touch(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> None:
        """Set last accessed and add one to the count."""
        ...

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
        ...

    def edit(
        self, *, user_id: str, memory_id: str, content: str, category: Category, importance: int, at: datetime
    ) -> Memory:
        """The user's own edit, in place; the history keeps what was there. Raises `NotFound`."""
        ...

    def set_pinned(self, *, user_id: str, memory_id: str, pinned: bool, at: datetime) -> Memory:
        """Pin or unpin. Raises `NotFound`."""
        ...

    def delete(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> Sequence[str]:
        """Mark as deleted; returns the ids that were. `undelete` brings them back."""
        ...

    def undelete(self, *, user_id: str, memory_ids: Sequence[str], at: datetime) -> Sequence[str]:
        """Undo `delete`; returns the ids that came back."""
        ...

    def restore(self, *, user_id: str, memory_id: str, at: datetime) -> Memory:
        """Bring a superseded version back: it becomes current and supersedes what had replaced it."""
        ...

    def purge(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Remove deleted memories for good: record, words and history."""
        ...

    def learn_no_more(self, *, user_id: str) -> None:
        """Nothing is learned any more from what the user has said so far."""
        ...

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

        None when the turn had been learned already: nothing is written twice. An ``update`` whose target
        is not current any more, or says something else by now, becomes a ``create``. A locked profile field, or one
        that has this value already, stays as it is and is not among what was learned.
        """
        ...


class ProfileStore(Protocol):
    """The record of user profiles."""

    def profile(self, *, user_id: str) -> Mapping[ProfileField, ProfileValue]:
        """The fields that have a value."""
        ...

    def set_profile(self, *, user_id: str, field: ProfileField, value: str, at: datetime) -> None:
        """The user's own entry; an empty value clears the field."""
        ...

    def lock_profile(self, *, user_id: str, field: ProfileField, locked: bool, at: datetime) -> None:
        """Lock a field against learning, or unlock it."""
        ...


class MemoryIndex(Protocol):
    """A vector index, one collection per user and embedder. It may be lost at any time.

    Every function may raise `IndexUnavailable`.
    """

    def search(self, *, user_id: str, vector: Vector, limit: int) -> Sequence[tuple[str, float]]:
        """(memory id, cosine) of the nearest entries, nearest first."""
        ...

    def upsert(self, *, user_id: str, entries: Sequence[IndexEntry]) -> None:
        """Add or replace entries."""
        ...

    def remove(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Remove entries; unknown ids are ignored."""
        ...

    def revisions(self, *, user_id: str) -> Mapping[str, int]:
        """Id → revision of everything the index holds for this user."""
        ...

    def forget_user(self, *, user_id: str) -> None:
        """Drop the user's collection."""
        ...


class IndexUnavailable(Exception):
    """The index cannot be asked right now; ``code`` says why (``starting``, ``broken``, ``unreachable``)."""

    def __init__(self, code: str, detail: str = "") -> None:
        super().__init__(detail or code)
        self.code = code
        self.detail = detail


class Embedder(Protocol):
    """Texts to vectors. Vectors are normalised: a dot product is a cosine. Safe across threads."""

    @property
    def identity(self) -> str:
        """Names model and treatment; a different identity means a different index."""
        ...

    @property
    def dimensions(self) -> int:
        """Length of every vector."""
        ...

    @property
    def unrelated_cosine(self) -> float:
        """The cosine that unrelated texts reach with this embedder (measured): below it, nothing is recalled."""
        ...

    @property
    def similar_cosine(self) -> float:
        """The cosine from which two sentences may speak of the same fact (measured): reconciliation asks."""
        ...

    def embed_query(self, text: str) -> Vector:
        """The vector of a question. Raises `IndexUnavailable`."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored sentences. Raises `IndexUnavailable`."""
        ...
