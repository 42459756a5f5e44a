"""Long-term memory: the record and its index as one. Record first, index after."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from memora.errors import DatabaseUnavailable, InvalidInput
from memora.memory.ports import Embedder, IndexEntry, IndexUnavailable, MemoryIndex, MemoryStore, WordHit
from memora.memory.ranking import Found, rank
from memora.memory.sentence import clean_sentence
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
"""How many memories a search returns."""
CANDIDATES = 50
"""How many the index and the words each propose for ranking."""
SIMILAR = 3
"""How many memories reconciliation is shown for one candidate."""
MUCH_IN_COMMON = 0.7
"""Share of a sentence's words from which a memory counts as similar whatever its vector says."""
SOME_IN_COMMON = 0.34
"""The same where the index is in doubt or cannot be asked: rather one question too many than a fact doubled."""
CATCHING_UP = timedelta(minutes=1)
"""How long after a write the index may lack a memory without being in doubt."""
BATCH = 32
"""How many memories are embedded between two reports of progress."""


class LongTermMemory:
    """Everything that is remembered of the users. Every call names its user.

    The index may fail at any time: reads fall back to words, writes are safe in the record by then, and the
    user's index is in doubt until `refresh_index` has compared it with the record. Safe across threads.
    """

    def __init__(
        self, *, store: MemoryStore, index: MemoryIndex, embedder: Embedder, clock: Callable[[], datetime]
    ) -> None:
        self.store = store
        self.index = index
        self.clock = clock
        self._embedder = embedder
        self._index_writes = threading.Lock()
        self._doubts: Counter[str] = Counter()
        self._doubts_settled: dict[str, int] = {}

    # Recall.

    def search(self, *, user_id: str, query: str, k: int = RECALLED) -> Recall:
        """The ``k`` memories that matter most to ``query``, pinned ones in front (see `ranking.rank`).

        Falls back to words when the index cannot be asked; `Recall.degraded` then says why, and says
        ``rebuilding`` when the index is known to lack memories. ``timings_ms`` has the steps ``embedding``,
        ``index``, ``words``, ``record`` and ``ranking``.
        """
        timer = _Timer()
        near = self._nearest(user_id=user_id, query=query, timer=timer)
        hits = {hit.memory_id: hit for hit in self.store.find_words(user_id=user_id, text=query, limit=CANDIDATES)}
        timer.note("words")
        current = self.store.get_current(user_id=user_id, memory_ids=[*near.cosines.keys() | hits.keys()])
        memories = {**current, **{memory.id: memory for memory in self.store.pinned(user_id=user_id)}}
        degraded = near.unavailable or self._behind(user_id=user_id, near=near, current=current)
        timer.note("record")
        recalled = rank(
            [_found(memory, near=near, hit=hits.get(memory.id)) for memory in memories.values()],
            unrelated_cosine=self._embedder.unrelated_cosine,
            now=self.clock(),
            limit=k,
        )
        timer.note("ranking")
        return Recall(query=query, memories=recalled, degraded=degraded, timings_ms=timer.noted)

    def similar(self, *, user_id: str, contents: Sequence[str], k: int = SIMILAR) -> list[list[Memory]]:
        """For each sentence the at most ``k`` current memories that may speak of the same fact, best first."""
        # Asked before the search: an index that is complete only by now may still have answered with gaps.
        coverage = SOME_IN_COMMON if self.needs_refresh(user_id=user_id) else MUCH_IN_COMMON
        near: list[Sequence[tuple[str, float]]]
        try:
            vectors = self._embedder.embed_passages(contents) if contents else ()
            near = [self.index.search(user_id=user_id, vector=vector, limit=k) for vector in vectors]
        except IndexUnavailable as error:
            self._doubt(user_id, error)
            coverage = SOME_IN_COMMON
            near = [()] * len(contents)
        return [
            self._alike(user_id, content, near=neighbours, coverage=coverage, k=k)
            for content, neighbours in zip(contents, near, strict=True)
        ]

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

    def add(
        self,
        *,
        user_id: str,
        content: str,
        category: Category,
        importance: int,
        provenance: Provenance = Provenance(origin="user"),  # noqa: B008 - frozen
    ) -> Memory:
        """Remember what the user wrote by hand or imported; what is remembered already stays as it is.

        Raises `InvalidInput`.
        """
        sentence = clean_sentence(content)
        if same := self.store.find_same(user_id=user_id, content=sentence):
            return same
        memory = self.store.add(
            user_id=user_id,
            content=sentence,
            category=category,
            importance=_checked_importance(importance),
            provenance=provenance,
            at=self.clock(),
        )
        self.reindex(user_id=user_id, memory_ids=[memory.id])
        return memory

    def edit(self, *, user_id: str, memory_id: str, content: str, category: Category, importance: int) -> Memory:
        """Change a memory; its history keeps what was there. Raises `InvalidInput` and `NotFound`."""
        memory = self.store.edit(
            user_id=user_id,
            memory_id=memory_id,
            content=clean_sentence(content),
            category=category,
            importance=_checked_importance(importance),
            at=self.clock(),
        )
        self.reindex(user_id=user_id, memory_ids=[memory.id])
        return memory

    def set_pinned(self, *, user_id: str, memory_id: str, pinned: bool) -> Memory:
        """Pin a memory (it always comes back), or unpin it. Raises `NotFound`."""
        return self.store.set_pinned(user_id=user_id, memory_id=memory_id, pinned=pinned, at=self.clock())

    def delete(self, *, user_id: str, memory_ids: Sequence[str]) -> Sequence[str]:
        """Forget memories; `undelete` brings them back. Returns the ids that were forgotten."""
        deleted = self.store.delete(user_id=user_id, memory_ids=memory_ids, at=self.clock())
        self.reindex(user_id=user_id, memory_ids=deleted)
        return deleted

    def undelete(self, *, user_id: str, memory_ids: Sequence[str]) -> Sequence[str]:
        """Undo `delete`. Returns the ids that came back."""
        restored = self.store.undelete(user_id=user_id, memory_ids=memory_ids, at=self.clock())
        self.reindex(user_id=user_id, memory_ids=restored)
        return restored

    def restore(self, *, user_id: str, memory_id: str) -> Memory:
        """Bring a superseded version back in the place of what replaced it. Raises `NotFound`."""
        memory = self.store.restore(user_id=user_id, memory_id=memory_id, at=self.clock())
        replaced = {entry.memory_id for entry in self.store.history(user_id=user_id, memory_id=memory_id)}
        self.reindex(user_id=user_id, memory_ids=[*replaced | {memory.id}])
        return memory

    def forget_all(self, *, user_id: str) -> int:
        """Remove every memory of the user for good, with its history; returns how many there were.

        What was said before is not learned afterwards either.
        """
        forgotten = 0
        self.store.learn_no_more(user_id=user_id)
        while page := self.store.page(user_id=user_id, query=MemoryQuery(status="all", limit=500)).memories:
            ids = [memory.id for memory in page]
            self.store.delete(user_id=user_id, memory_ids=ids, at=self.clock())
            self.store.purge(user_id=user_id, memory_ids=ids)
            forgotten += len(ids)
        try:
            with self._index_writes:
                self.index.forget_user(user_id=user_id)
        except IndexUnavailable as error:
            self._doubt(user_id, error)
        return forgotten

    # The index.

    def needs_refresh(self, *, user_id: str) -> bool:
        """Whether the user's index has still to be compared with the record."""
        return self._doubts_settled.get(user_id) != self._doubts[user_id]

    def refresh_index(
        self, *, user_id: str, on_progress: Callable[[int, int], None] = lambda done, total: None
    ) -> None:
        """Bring the user's index in step with the record. ``on_progress`` gets (memories done, to do).

        Raises `IndexUnavailable`; what was done until then stays done.
        """
        doubts = self._doubts[user_id]
        wanted = self.store.revisions(user_id=user_id)
        held = self.index.revisions(user_id=user_id)
        differing = [memory_id for memory_id in {**wanted, **held} if wanted.get(memory_id) != held.get(memory_id)]
        for start in range(0, len(differing), BATCH):
            on_progress(start, len(differing))
            self._reindex(user_id, differing[start : start + BATCH])
        self._doubts_settled[user_id] = doubts

    def reindex(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        """Make the index hold these memories as the record does, or not at all.

        To be called after a write to the record, which stands whatever happens here: a failure only casts
        doubt on the index.
        """
        try:
            self._reindex(user_id, memory_ids)
        except (IndexUnavailable, DatabaseUnavailable) as error:
            self._doubt(user_id, error)

    def _reindex(self, user_id: str, memory_ids: Sequence[str]) -> None:
        if not memory_ids:
            return
        memories = self.store.get_current(user_id=user_id, memory_ids=memory_ids)
        contents = [memory.content for memory in memories.values()]
        vectors = dict(zip(memories, self._embedder.embed_passages(contents) if contents else (), strict=True))
        with self._index_writes:
            # Read again: a sentence that changed while it was embedded is left to whoever changed it.
            current = self.store.get_current(user_id=user_id, memory_ids=memory_ids)
            entries = [
                IndexEntry(memory_id=memory_id, revision=memory.revision, vector=vectors[memory_id])
                for memory_id, memory in memories.items()
                if memory_id in current and current[memory_id].revision == memory.revision
            ]
            gone = [memory_id for memory_id in memory_ids if memory_id not in current]
            if entries:
                self.index.upsert(user_id=user_id, entries=entries)
            if gone:
                self.index.remove(user_id=user_id, memory_ids=gone)

    def _nearest(self, *, user_id: str, query: str, timer: _Timer) -> _Neighbours:
        try:
            vector = self._embedder.embed_query(query)
            timer.note("embedding")
            listed = self.index.search(user_id=user_id, vector=vector, limit=CANDIDATES)
            timer.note("index")
        except IndexUnavailable as error:
            self._doubt(user_id, error)
            return _Neighbours(unavailable=error.code)
        is_complete = len(listed) < CANDIDATES
        return _Neighbours(
            cosines=dict(listed),
            is_complete=is_complete,
            unlisted_cosine=self._embedder.unrelated_cosine if is_complete else listed[-1][1],
        )

    def _behind(self, *, user_id: str, near: _Neighbours, current: Mapping[str, Memory]) -> str | None:
        """``rebuilding`` when the index lacks a memory that words have found. It may also hold too many."""
        old_enough = self.clock() - CATCHING_UP
        lacks = near.is_complete and any(
            memory_id not in near.cosines and memory.updated_at < old_enough for memory_id, memory in current.items()
        )
        if lacks or not near.cosines.keys() <= current.keys():
            self._doubts[user_id] += 1
        return "rebuilding" if lacks else None

    def _alike(
        self, user_id: str, content: str, *, near: Sequence[tuple[str, float]], coverage: float, k: int
    ) -> list[Memory]:
        hits = self.store.find_words(user_id=user_id, text=content, limit=k)
        by_vector = [memory_id for memory_id, cosine in near if cosine >= self._embedder.similar_cosine]
        by_words = [hit.memory_id for hit in hits if hit.coverage >= coverage]
        ids = list(dict.fromkeys((*by_vector, *by_words)))
        current = self.store.get_current(user_id=user_id, memory_ids=ids)
        return [current[memory_id] for memory_id in ids if memory_id in current][:k]

    def _doubt(self, user_id: str, error: Exception) -> None:
        self._doubts[user_id] += 1
        log.warning("the memory index is in doubt: %s", error)


@dataclass(frozen=True, kw_only=True)
class _Neighbours:
    """What the index answered. ``unavailable`` is the code when it did not.

    ``is_complete``: it listed all it has, so what is missing is not indexed. ``unlisted_cosine`` is what a
    memory that it did not list is taken to have: no more than the last one listed.
    """

    cosines: Mapping[str, float] = field(default_factory=dict)
    is_complete: bool = False
    unlisted_cosine: float | None = None
    unavailable: str | None = None


def _found(memory: Memory, *, near: _Neighbours, hit: WordHit | None) -> Found:
    cosine = near.cosines.get(memory.id, near.unlisted_cosine)
    if hit is None:
        return Found(memory=memory, cosine=cosine)
    return Found(memory=memory, cosine=cosine, coverage=hit.coverage, words=hit.words)


def _checked_importance(importance: int) -> int:
    if not 1 <= importance <= 5:
        raise InvalidInput(f"importance {importance}", field="importance", allowed="1–5")
    return importance


class _Timer:
    """Milliseconds between one note and the next."""

    def __init__(self) -> None:
        self.noted: dict[str, float] = {}
        self._last = time.perf_counter()

    def note(self, step: str) -> None:
        now = time.perf_counter()
        self.noted[step] = (now - self._last) * 1000
        self._last = now
