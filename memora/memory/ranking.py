"""Which memories matter to a query, and why: values in, scores in parts out. Pure.

The score is a weighted sum and not a fusion of ranks: rank fusion lets a weak word match override a good
vector, which is harmful across languages. The cosine carries the score, the share of the query's words that
a memory covers adds to it, recency and importance decide between memories that are about as close, and a
pin puts a memory in front.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from memora.memory.values import Memory, RecalledMemory, ScorePart
from memora.memory.words import normalize, query_terms

# What may be added to a sentence without changing the fact: the user as its subject, and emphasis.
_WORDING = re.compile(
    r"使用者|用戶|很|非常|十分|真的|超級|特別|\bthe user\b|\b(?:really|very|truly|quite|so much|a lot)\b"
)


@dataclass(frozen=True, kw_only=True)
class Weights:
    """How much each part of a score counts.

    ``half_life``: the time without use after which recency is halved. ``enough_words``: the coverage from
    which words alone make a memory relevant although its vector does not; ``enough_words_alone``: the same
    where no vector could be asked.
    """

    vector: float = 1.0
    words: float = 0.06
    recency: float = 0.02
    importance: float = 0.02
    pinned: float = 2.0
    half_life: timedelta = timedelta(days=30)
    enough_words: float = 0.6
    enough_words_alone: float = 0.34


DEFAULT_WEIGHTS = Weights()


@dataclass(frozen=True, kw_only=True)
class Found:
    """A memory as the searches found it. ``cosine`` is None when the index could not be asked."""

    memory: Memory
    cosine: float | None = None
    coverage: float = 0.0
    words: tuple[str, ...] = ()


def rank(
    found: Sequence[Found],
    *,
    unrelated_cosine: float,
    now: datetime,
    limit: int,
    weights: Weights = DEFAULT_WEIGHTS,
) -> tuple[RecalledMemory, ...]:
    """The best ``limit`` of what was found, best first.

    A memory whose cosine is below ``unrelated_cosine`` comes back only when it covers enough of the query's
    words, or is pinned. Pinned memories come first, but take no more than half of the places from what fits the
    query. Superseded and deleted memories never come back, and those that say the same come back once.
    """
    scored = [
        _score(one, now=now, weights=weights)
        for one in found
        if one.memory.is_current and _is_relevant(one, unrelated_cosine=unrelated_cosine, weights=weights)
    ]
    kept = _once(sorted(scored, key=lambda recalled: (-recalled.score, recalled.memory.id)))
    surplus = [recalled for recalled in kept if recalled.memory.pinned][limit - limit // 2 :]
    return tuple([*(recalled for recalled in kept if recalled not in surplus), *surplus][:limit])


def say_the_same(one: str, other: str) -> bool:
    """Whether two sentences differ in nothing but their wording: inflection, emphasis, punctuation, case.

    A number, a negation, a name or the order of things makes a difference.
    """
    return _gist(one) == _gist(other)


def _is_relevant(found: Found, *, unrelated_cosine: float, weights: Weights) -> bool:
    if found.memory.pinned:
        return True
    if found.cosine is not None and found.cosine >= unrelated_cosine:
        return True
    # A single Chinese character is a part of too many words to count for itself.
    has_word = any(len(word) > 1 for word in found.words)
    enough = weights.enough_words_alone if found.cosine is None else weights.enough_words
    return has_word and found.coverage >= enough


def _score(found: Found, *, now: datetime, weights: Weights) -> RecalledMemory:
    memory = found.memory
    parts = [
        ScorePart(name="words", value=found.coverage, weight=weights.words),
        ScorePart(name="recency", value=_recency(memory, now=now, half_life=weights.half_life), weight=weights.recency),
        ScorePart(name="importance", value=(memory.importance - 1) / 4, weight=weights.importance),
    ]
    if found.cosine is not None:
        parts.insert(0, ScorePart(name="vector", value=found.cosine, weight=weights.vector))
    if memory.pinned:
        parts.append(ScorePart(name="pinned", value=1.0, weight=weights.pinned))
    score = sum(part.value * part.weight for part in parts)
    return RecalledMemory(memory=memory, score=score, parts=tuple(parts), matched_words=found.words)


def _recency(memory: Memory, *, now: datetime, half_life: timedelta) -> float:
    """1 for what was written or recalled just now, halved with every ``half_life`` since."""
    last = max(memory.updated_at, memory.last_accessed_at or memory.updated_at)
    return float(0.5 ** (max(now - last, timedelta()) / half_life))


def _once(recalled: Sequence[RecalledMemory]) -> list[RecalledMemory]:
    """Without those that say what a better one says already."""
    best: dict[tuple[str, ...], RecalledMemory] = {}
    for one in recalled:
        best.setdefault(_gist(one.memory.content), one)
    return list(best.values())


def _gist(sentence: str) -> tuple[str, ...]:
    """What a sentence says, in order; the sentence itself where that is nothing."""
    plain = normalize(sentence)
    return query_terms(_WORDING.sub("", plain)) or (plain,)
