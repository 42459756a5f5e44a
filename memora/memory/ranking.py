"""Which memories matter to a query, and why: values in, scores in parts out. Pure.

The score is a weighted sum, not a fusion of ranks: fusing ranks one to one lets weak word matches override
good vectors across languages. Cosine carries it, shared words add to it, and recency, importance and pins
only decide between memories that are about equally close.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memora.memory.values import Memory, RecalledMemory, ScorePart
from memora.memory.words import normalize, terms

SECONDS_PER_DAY = 86_400.0
SAME_WORDS = 0.9
"""Share of common terms from which two memories say the same."""


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each part counts. ``half_life_days``: after how long without use recency is halved."""

    vector: float = 1.0
    words: float = 0.13
    recency: float = 0.01
    importance: float = 0.01
    pinned: float = 0.02
    half_life_days: float = 30.0
    least_coverage: float = 0.34


@dataclass(frozen=True, kw_only=True)
class Found:
    """A memory as the searches found it. ``cosine`` is None where only words did."""

    memory: Memory
    cosine: float | None = None
    coverage: float = 0.0
    words: tuple[str, ...] = ()


def rank(
    found: Sequence[Found], *, unrelated_cosine: float, now: datetime, limit: int, weights: Weights | None = None
) -> tuple[RecalledMemory, ...]:
    """The best ``limit`` of what was found, best first.

    A memory that is no closer than unrelated texts are comes back only when it has enough of the query's
    words. One that the index did not return counts as just unrelated. Superseded and deleted ones never
    come back; ones that say the same come back once.
    """
    weights = weights or Weights()
    scored = [
        _score(item, unrelated_cosine=unrelated_cosine, now=now, weights=weights)
        for item in found
        if item.memory.is_current and _is_relevant(item, unrelated_cosine=unrelated_cosine, weights=weights)
    ]
    scored.sort(key=lambda recalled: (-recalled.score, recalled.memory.id))
    return _once(scored)[:limit]


def _is_relevant(item: Found, *, unrelated_cosine: float, weights: Weights) -> bool:
    close = item.cosine is not None and item.cosine >= unrelated_cosine
    return close or item.coverage >= weights.least_coverage


def _score(item: Found, *, unrelated_cosine: float, now: datetime, weights: Weights) -> RecalledMemory:
    memory = item.memory
    cosine = unrelated_cosine if item.cosine is None else item.cosine
    parts = (
        ScorePart(name="vector", value=cosine, weight=weights.vector),
        ScorePart(name="words", value=item.coverage, weight=weights.words),
        ScorePart(name="recency", value=_recency(memory, now=now, weights=weights), weight=weights.recency),
        ScorePart(name="importance", value=(memory.importance - 1) / 4, weight=weights.importance),
        ScorePart(name="pinned", value=float(memory.pinned), weight=weights.pinned),
    )
    score = sum(part.value * part.weight for part in parts)
    return RecalledMemory(memory=memory, score=score, parts=parts, matched_words=item.words)


def _recency(memory: Memory, *, now: datetime, weights: Weights) -> float:
    """1 for what was used just now, halved with every half-life since."""
    last = max(filter(None, (memory.updated_at, memory.last_accessed_at)))
    days = max((now - last).total_seconds(), 0.0) / SECONDS_PER_DAY
    return float(0.5 ** (days / weights.half_life_days))


def _once(scored: Sequence[RecalledMemory]) -> tuple[RecalledMemory, ...]:
    """Without those that say what a better one says already."""
    kept: list[RecalledMemory] = []
    seen: dict[str, frozenset[str]] = {}
    for recalled in scored:
        sentence = normalize(recalled.memory.content)
        words = frozenset(terms(recalled.memory.content))
        if sentence in seen or any(_overlap(words, other) >= SAME_WORDS for other in seen.values()):
            continue
        seen[sentence] = words
        kept.append(recalled)
    return tuple(kept)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Common terms over all terms (Jaccard)."""
    return len(one & other) / len(one | other) if one and other else 0.0


def pinned_first(
    recalled: Sequence[RecalledMemory], pinned: Sequence[Memory], *, limit: int
) -> tuple[RecalledMemory, ...]:
    """``recalled`` behind the pinned memories, which always come back; each memory once, ``limit`` in all."""
    scores: Mapping[str, RecalledMemory] = {item.memory.id: item for item in recalled}
    first = [
        scores.get(memory.id)
        or RecalledMemory(memory=memory, score=0.0, parts=(ScorePart(name="pinned", value=1.0, weight=0.0),))
        for memory in pinned
    ]
    pinned_ids = {memory.id for memory in pinned}
    return tuple([*first, *(item for item in recalled if item.memory.id not in pinned_ids)][:limit])
