"""Long-term memory: the record and its index as one. Record first, index after."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from memora.memory.ports import Embedder, IndexEntry, IndexUnavailable, MemoryIndex, MemoryStore
from memora.memory.ranking import Found, pinned_first, rank
from memora.memory.values import (
    Category,
    HistoryEntry,
    Memory,
    MemoryPage,
    MemoryQuery,
    Provenance,
    Recall,
)

log = logging.getLogger(__name__)

RECALLED = 6
CANDIDATES = 50
SIMILAR = 3
SIMILAR_COVERAGE = 0.5
"""Share of a sentence's words from which a memory is shown to reconciliation even where vectors differ."""
BATCH = 32


class LongTermMemory:
    """Everything that is remembered of the users. Every call names its user.

    The index may fail at any time: reads fall back to words, writes are already safe in the record, and the
    user's index is marked as stale until `refresh_index` has brought it back in step.
    """

    def __init__(
        self, *, store: MemoryStore, index: MemoryIndex, embedder: Embedder, clock: Callable[[], datetime]
    ) -> None:
        self.store = store
        self.index = index
        self.clock = clock
        self._embedder = embedder
        self._fresh: set[str] = set()

    # Recall.

    def search(self, *, user_id: str, query: str, k: int = RECALLED) -> Recall:
        """The ``k`` memories that matter to ``query``, best first, pinned ones before all others.

        Falls back to words when the index cannot be asked; `Recall.degraded` then says why.
        """
        timer = _Timer()
        near, degraded = self._nearest(user_id=user_id, query=query, timer=timer)
        with_words = {
            hit.memory_id: hit for hit in self.store.find_words(user_id=user_id, text=query, limit=CANDIDATES)
        }
        timer.note("words")
        current = self.store.get_current(user_id=user_id, memory_ids=[*{**near, **with_words}])
        found = [
            Found(
                memory=memory,
                cosine=near.get(memory_id),
                coverage=with_words[memory_id].coverage if memory_id in with_words else 0.0,
                words=with_words[memory_id].words if memory_id in with_words else (),
            )
            for memory_id, memory in current.items()
        ]
        ranked = rank(found, unrelated_cosine=self._embedder.unrelated_cosine, now=self.clock(), limit=k)
        memories = pinned_first(ranked, self.store.pinned(user_id=user_id), limit=k)
        timer.note("ranking")
        return Recall(query=query, memories=memories, degraded=degraded, timings_ms=timer.noted)

    def similar(self, *, user_id: str, contents: Sequence[str]) -> list[list[Memory]]:
        """For each sentence the current memories that may speak of the same fact, nearest first."""
        near: list[Mapping[str, float]]
        try:
            vectors = self._embedder.embed_passages(contents) if contents else ()
            near = [dict(self.index.search(user_id=user_id, vector=vector, limit=SIMILAR)) for vector in vectors]
        except IndexUnavailable as error:
            self._lost(user_id, error)
            near = [{} for _ in contents]
        return [
            self._similar(user_id=user_id, content=content, near=cosines)
            for content, cosines in zip(contents, near, strict=True)
        ]

    def _similar(self, *, user_id: str, content: str, near: Mapping[str, float]) -> list[Memory]:
        ids = [memory_id for memory_id, cosine in near.items() if cosine >= self._embedder.similar_cosine]
        hits = self.store.find_words(user_id=user_id, text=content, limit=SIMILAR)
        ids += [hit.memory_id for hit in hits if hit.coverage >= SIMILAR_COVERAGE and hit.memory_id not in ids]
        current = self.store.get_current(user_id=user_id, memory_ids=ids)
        return [current[memory_id] for memory_id in ids if memory_id in current]

    def _nearest(self, *, user_id: str, query: str, timer: _Timer) -> tuple[dict[str, float], str | None]:
        try:
            vector = self._embedder.embed_query(query)
            timer.note("embedding")
            near = dict(self.index.search(user_id=user_id, vector=vector, limit=CANDIDATES))
            timer.note("index")
        except IndexUnavailable as error:
            self._lost(user_id, error)
            return {}, error.code
        return near, None

    def touch(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Note that these memories were used just now."""
        self.store.touch(user_id=user_id, memory_ids=memory_ids, at=self.clock())

    # What a person does on the memories page.

    def get(self, *, user_id: str, memory_id: str) -> Memory:
        """Any memory of the user, current or not. Raises `NotFound`."""
        return self.store.get(user_id=user_id, memory_id=memory_id)

    def find_same(self, *, user_id: str, content: str) -> Memory | None:
        """The current memory that holds this very sentence."""
        return self.store.find_same(user_id=user_id, content=content)

    def page(self, *, user_id: str, query: MemoryQuery) -> MemoryPage:
        """A page of the user's memories."""
        return self.store.page(user_id=user_id, query=query)

    def history(self, *, user_id: str, memory_id: str) -> Sequence[HistoryEntry]:
        """What happened to a memory and to the versions that it replaced, newest first."""
        return self.store.history(user_id=user_id, memory_id=memory_id)

    def add(self, *, user_id: str, content: str, category: Category, importance: int) -> Memory:
        """Remember what the user wrote by hand."""
        memory = self.store.add(
            user_id=user_id,
            content=content,
            category=category,
            importance=importance,
            provenance=Provenance(origin="user"),
            at=self.clock(),
        )
        self.index_memories(user_id=user_id, memories=(memory,))
        return memory

    def edit(self, *, user_id: str, memory_id: str, content: str, category: Category, importance: int) -> Memory:
        """Change a memory; its history keeps what was there. Raises `NotFound`."""
        memory = self.store.edit(
            user_id=user_id,
            memory_id=memory_id,
            content=content,
            category=category,
            importance=importance,
            at=self.clock(),
        )
        self.index_memories(user_id=user_id, memories=(memory,))
        return memory

    def set_pinned(self, *, user_id: str, memory_id: str, pinned: bool) -> Memory:
        """Pin a memory (it always comes back), or unpin it. Raises `NotFound`."""
        return self.store.set_pinned(user_id=user_id, memory_id=memory_id, pinned=pinned, at=self.clock())

    def delete(self, *, user_id: str, memory_ids: Sequence[str]) -> Sequence[str]:
        """Forget memories; `undelete` brings them back. Returns the ids that were forgotten."""
        deleted = self.store.delete(user_id=user_id, memory_ids=memory_ids, at=self.clock())
        self.unindex(user_id=user_id, memory_ids=deleted)
        return deleted

    def undelete(self, *, user_id: str, memory_ids: Sequence[str]) -> Sequence[str]:
        """Undo `delete`. Returns the ids that came back."""
        restored = self.store.undelete(user_id=user_id, memory_ids=memory_ids, at=self.clock())
        current = self.store.get_current(user_id=user_id, memory_ids=restored)
        self.index_memories(user_id=user_id, memories=tuple(current.values()))
        return restored

    def restore(self, *, user_id: str, memory_id: str) -> Memory:
        """Bring a superseded version back in the place of what replaced it. Raises `NotFound`."""
        memory = self.store.restore(user_id=user_id, memory_id=memory_id, at=self.clock())
        self._fresh.discard(user_id)
        self.index_memories(user_id=user_id, memories=(memory,))
        return memory

    # The index.

    def needs_refresh(self, *, user_id: str) -> bool:
        """Whether the user's index was not yet compared with the record, or is known to be behind."""
        return user_id not in self._fresh

    def refresh_index(
        self, *, user_id: str, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """Bring the user's index in step with the record. ``on_progress`` gets (memories done, in all).

        Raises `IndexUnavailable`; what was done until then stays done.
        """
        self._fresh.add(user_id)
        try:
            wanted = self.store.revisions(user_id=user_id)
            held = self.index.revisions(user_id=user_id)
            if gone := [memory_id for memory_id in held if memory_id not in wanted]:
                self.index.remove(user_id=user_id, memory_ids=gone)
            missing = [memory_id for memory_id, revision in wanted.items() if held.get(memory_id) != revision]
            for start in range(0, len(missing), BATCH):
                on_progress(start, len(missing))
                batch = missing[start : start + BATCH]
                self._upsert(user_id, tuple(self.store.get_current(user_id=user_id, memory_ids=batch).values()))
        except BaseException:
            self._fresh.discard(user_id)
            raise

    def index_memories(self, *, user_id: str, memories: Sequence[Memory]) -> None:
        """Put memories that the record holds already into the index; a failure only marks it as stale."""
        try:
            self._upsert(user_id, memories)
        except IndexUnavailable as error:
            self._lost(user_id, error)

    def unindex(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Take memories out of the index; a failure only marks it as stale."""
        if not memory_ids:
            return
        try:
            self.index.remove(user_id=user_id, memory_ids=memory_ids)
        except IndexUnavailable as error:
            self._lost(user_id, error)

    def _upsert(self, user_id: str, memories: Sequence[Memory]) -> None:
        if not memories:
            return
        vectors = self._embedder.embed_passages([memory.content for memory in memories])
        entries = [
            IndexEntry(memory_id=memory.id, revision=memory.revision, vector=vector)
            for memory, vector in zip(memories, vectors, strict=True)
        ]
        self.index.upsert(user_id=user_id, entries=entries)

    def _lost(self, user_id: str, error: IndexUnavailable) -> None:
        self._fresh.discard(user_id)
        log.warning("the memory index is unavailable: %s", error.detail or error.code)


class _Timer:
    """Milliseconds between one note and the next."""

    def __init__(self) -> None:
        self.noted: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, step: str) -> None:
        now = time.perf_counter()
        self.noted[step] = (now - self._last) * 1000
        self._last = now
