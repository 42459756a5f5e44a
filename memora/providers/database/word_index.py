"""The word index: which current memories contain which terms, and how much of a question they cover."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import accumulate

from sqlalchemy import ColumnElement, Connection, case, delete, func, insert, select

from memora.memory.ports import WordHit
from memora.memory.words import query_terms, terms
from memora.providers.database.memory_rows import is_current
from memora.providers.database.tables import memories, memory_words
from memora.providers.database.users import number_of

MAX_QUERY_TERMS = 2_000
MAX_FINDING_TERMS = 64
MAX_POSTINGS = 20_000
"""Memories are found by a question's rarest terms: so many terms, and so many (memory, term) pairs to read."""


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
    total = _count(connection, user_id=user_id)
    weights = {term: _idf(frequency, total=total) for term, frequency in frequencies.items()}
    finding = {term: weights[term] for term in _finding_terms(frequencies)}
    best = _best(connection, user_id=user_id, weights=finding, limit=2 * limit)
    known = math.fsum(weights.values())
    whole = known + min(known, _idf(0, total=total) * (len(asked) - len(weights)))
    hits = [
        WordHit(
            memory_id=memory_id,
            coverage=math.fsum(weights[term] for term in shared) / whole,
            words=tuple(term for term in asked if term in shared),
        )
        for memory_id, shared in _shared_terms(connection, user_id=user_id, terms=weights, numbers=best).items()
    ]
    return sorted(hits, key=lambda hit: hit.coverage, reverse=True)[:limit]


def _idf(frequency: int, *, total: int) -> float:
    """Inverse document frequency as in BM25, never negative."""
    return math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))


def _finding_terms(frequencies: Mapping[str, int]) -> list[str]:
    """The rarest terms, at least one. Commoner ones cannot lift a memory above all that share these."""
    rarest = sorted(frequencies, key=lambda term: frequencies[term])[:MAX_FINDING_TERMS]
    postings = accumulate(frequencies[term] for term in rarest)
    return rarest[: max(1, sum(1 for count in postings if count <= MAX_POSTINGS))]


def _count(connection: Connection, *, user_id: str) -> int:
    query = select(func.count()).select_from(memories).where(memories.c.user_id == user_id, is_current())
    return connection.scalars(query).one()


def _frequencies(connection: Connection, *, user_id: str, terms: Sequence[str]) -> dict[str, int]:
    query = select(memory_words.c.term, func.count()).where(*_owned(user_id, terms)).group_by(memory_words.c.term)
    return dict(connection.execute(query).all())


def _best(connection: Connection, *, user_id: str, weights: Mapping[str, float], limit: int) -> Sequence[int]:
    """The numbers of the memories with the greatest weight; among equals the newest."""
    weight = func.sum(case(dict(weights), value=memory_words.c.term))
    number = memory_words.c.memory_number
    query = select(number).where(*_owned(user_id, tuple(weights))).group_by(number)
    return connection.scalars(query.order_by(weight.desc(), number.desc()).limit(limit)).all()


def _shared_terms(
    connection: Connection, *, user_id: str, terms: Mapping[str, float], numbers: Sequence[int]
) -> Mapping[str, set[str]]:
    """Memory id → those of the terms that it contains; in the order of ``numbers``."""
    query = (
        select(memories.c.number, memories.c.id, memory_words.c.term)
        .join(memories, memories.c.number == memory_words.c.memory_number)
        .where(*_owned(user_id, tuple(terms)), memory_words.c.memory_number.in_(numbers))
    )
    shared: dict[str, set[str]] = defaultdict(set)
    rows = connection.execute(query.where(memories.c.user_id == user_id)).all()
    place = {number: place for place, number in enumerate(numbers)}
    for _, memory_id, term in sorted(rows, key=lambda row: place[row.number]):
        shared[memory_id].add(term)
    return shared


def _owned(user_id: str, terms: Sequence[str]) -> tuple[ColumnElement[bool], ColumnElement[bool]]:
    return memory_words.c.user_number == number_of(user_id), memory_words.c.term.in_(terms)
