"""The word index: which current memories contain which terms, and how much of a question they cover."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate

from sqlalchemy import Connection, delete, func, insert, select

from memora.memory.ports import WordHit
from memora.memory.words import query_terms, terms
from memora.providers.database.memory_rows import is_current
from memora.providers.database.tables import memories, memory_words
from memora.providers.database.users import number_of

MAX_QUERY_TERMS = 2_000
MAX_POSTINGS = 20_000
"""How many (memory, term) pairs are read to find candidates; beyond it only the rarer terms find them."""


def add_words(connection: Connection, *, user_id: str, memory_number: int, content: str) -> None:
    """Make a memory that became current findable."""
    rows = [{"term": term, "memory_number": memory_number} for term in terms(content)]
    if rows:
        connection.execute(insert(memory_words).values(user_number=number_of(user_id)), rows)


def remove_words(connection: Connection, *, user_id: str, memory_number: int, content: str) -> None:
    """Take out what `add_words` put in for the same ``content``."""
    connection.execute(
        delete(memory_words).where(
            memory_words.c.user_number == number_of(user_id),
            memory_words.c.term.in_(terms(content)),
            memory_words.c.memory_number == memory_number,
        )
    )


def find_words(connection: Connection, *, user_id: str, text: str, limit: int) -> Sequence[WordHit]:
    """Current memories that share words with ``text``, best first.

    Coverage is the idf of the shared terms over the idf of all terms of ``text``. Terms that no memory has
    count, but together for no more than those that some memory has: a question that is mostly new
    still reaches 0.5.
    """
    asked = query_terms(text)[:MAX_QUERY_TERMS]
    frequencies = _frequencies(connection, user_id=user_id, terms=asked)
    if not frequencies:
        return ()
    total = connection.scalars(
        select(func.count()).select_from(memories).where(memories.c.user_id == user_id, is_current())
    ).one()
    weights = {term: _idf(frequency, total=total) for term, frequency in frequencies.items()}
    rare, common = _split(frequencies)
    matched = _matches(connection, user_id=user_id, terms=rare)
    # The common terms cannot lift a memory above all that share rarer ones; they only refine the best of those.
    best = sorted(matched, key=lambda number: -_sum(weights, matched[number]))[: 5 * limit]
    for number, more in _matches(connection, user_id=user_id, terms=common, among=best).items():
        matched[number] += more
    known = math.fsum(weights.values())
    whole = known + min(known, _idf(0, total=total) * (len(asked) - len(weights)))
    ids = _ids(connection, user_id=user_id, numbers=best)
    hits = [
        WordHit(
            memory_id=ids[number],
            coverage=_sum(weights, matched[number]) / whole,
            words=tuple(term for term in asked if term in matched[number]),
        )
        for number in best
        if number in ids
    ]
    return sorted(hits, key=lambda hit: -hit.coverage)[:limit]


def _idf(frequency: int, *, total: int) -> float:
    """Inverse document frequency as in BM25; never negative."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _sum(weights: Mapping[str, float], words: Collection[str]) -> float:
    return math.fsum(weights[word] for word in words)


def _split(frequencies: Mapping[str, int]) -> tuple[list[str], list[str]]:
    """The terms to find candidates by, rarest first (at least one), and the rest."""
    ordered = sorted(frequencies, key=lambda term: frequencies[term])
    sums = accumulate(frequencies[term] for term in ordered)
    count = max(1, sum(1 for postings in sums if postings <= MAX_POSTINGS))
    return ordered[:count], ordered[count:]


def _frequencies(connection: Connection, *, user_id: str, terms: Sequence[str]) -> dict[str, int]:
    query = (
        select(memory_words.c.term, func.count())
        .where(memory_words.c.user_number == number_of(user_id), memory_words.c.term.in_(terms))
        .group_by(memory_words.c.term)
    )
    return dict(connection.execute(query).tuples().all())


def _matches(
    connection: Connection, *, user_id: str, terms: Sequence[str], among: Sequence[int] | None = None
) -> dict[int, list[str]]:
    query = select(memory_words.c.memory_number, memory_words.c.term).where(
        memory_words.c.user_number == number_of(user_id), memory_words.c.term.in_(terms)
    )
    if among is not None:
        query = query.where(memory_words.c.memory_number.in_(among))
    matched: dict[int, list[str]] = defaultdict(list)
    for number, term in connection.execute(query):
        matched[number].append(term)
    return matched


def _ids(connection: Connection, *, user_id: str, numbers: Sequence[int]) -> dict[int, str]:
    query = select(memories.c.number, memories.c.id).where(
        memories.c.number.in_(numbers), memories.c.user_id == user_id, is_current()
    )
    return dict(connection.execute(query).tuples().all())
