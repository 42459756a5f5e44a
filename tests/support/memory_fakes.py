"""Long-term memory with its edges faked: an index and an embedder in memory, a clock that is moved by hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from memora.memory.ports import IndexEntry, IndexUnavailable, Vector

MEANINGS = {
    "home": ("住", "搬到", "live", "moved", "home"),
    "exam": ("考試", "exam", "IELTS"),
    "cat": ("貓", "cat"),
    "dog": ("狗", "dog"),
    "coffee": ("咖啡", "coffee"),
    "name": ("名字", "叫", "name"),
}


class FakeClock:
    """The same moment until it is moved."""

    def __init__(self) -> None:
        self.now = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **units: float) -> None:
        self.now += timedelta(**units)


class FakeEmbedder:
    """Texts with a meaning in common (see `MEANINGS`) are near, in whatever language; all others are at right angles.

    ``failure``: raised instead, while it is set.
    """

    identity = "fake/1"
    dimensions = len(MEANINGS)
    unrelated_cosine = 0.3
    similar_cosine = 0.6

    def __init__(self) -> None:
        self.failure: IndexUnavailable | None = None
        self.passages: list[str] = []

    def embed_query(self, text: str) -> Vector:
        if self.failure:
            raise self.failure
        return vector_of(text)

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        if self.failure:
            raise self.failure
        self.passages += texts
        return [vector_of(text) for text in texts]


def vector_of(text: str) -> list[float]:
    """Length 1; zeros for a text of no known meaning."""
    found = [float(any(word in text for word in words)) for words in MEANINGS.values()]
    length = math.hypot(*found) or 1.0
    return [value / length for value in found]


class FakeIndex:
    """A `MemoryIndex` in a dictionary. ``failure``: raised instead, while it is set."""

    def __init__(self) -> None:
        self.failure: IndexUnavailable | None = None
        self.entries: dict[str, dict[str, IndexEntry]] = {}

    def search(self, *, user_id: str, vector: Vector, limit: int) -> Sequence[tuple[str, float]]:
        self._check()
        cosines = [
            (entry.memory_id, sum(one * other for one, other in zip(entry.vector, vector, strict=True)))
            for entry in self.entries.get(user_id, {}).values()
        ]
        return sorted(cosines, key=lambda listed: -listed[1])[:limit]

    def upsert(self, *, user_id: str, entries: Sequence[IndexEntry]) -> None:
        self._check()
        self.entries.setdefault(user_id, {}).update({entry.memory_id: entry for entry in entries})

    def remove(self, *, user_id: str, memory_ids: Sequence[str]) -> None:
        self._check()
        for memory_id in memory_ids:
            self.entries.get(user_id, {}).pop(memory_id, None)

    def revisions(self, *, user_id: str) -> Mapping[str, int]:
        self._check()
        return {entry.memory_id: entry.revision for entry in self.entries.get(user_id, {}).values()}

    def forget_user(self, *, user_id: str) -> None:
        self._check()
        self.entries.pop(user_id, None)

    def _check(self) -> None:
        if self.failure:
            raise self.failure
