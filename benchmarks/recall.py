"""Does the right memory come back? Memora's own search against plain vector search, on the same facts.

R@k is evidence recall: the share of a question's evidence that the first k results cover, averaged over the
questions. MRR is the mean of 1 / rank of the first result with evidence. "precise" is the share of evidence
among the memories that a turn is given.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.harness import Clock, load_data, print_machine, print_table
from memora.memory import LongTermMemory
from memora.memory.long_term import RECALLED
from memora.memory.ports import Embedder, IndexEntry, Vector
from memora.memory.values import Category, Provenance
from memora.providers.chroma_index import ChromaIndex
from memora.providers.database import open_database
from memora.providers.embedders import LocalEmbedder
from memora.providers.embedders.encoders import E5Encoder

NOW = datetime(2026, 9, 1, tzinfo=UTC)
DEPTH = 50


@dataclass(frozen=True)
class Fact:
    """A sentence to remember and the ids of the evidence that it covers."""

    text: str
    covers: frozenset[str]


@dataclass(frozen=True)
class Question:
    """What is asked and the evidence that answers it; nothing answers an unanswerable one."""

    text: str
    evidence: frozenset[str]
    category: str


@dataclass(frozen=True)
class Person:
    """The facts of one user and the questions about them."""

    name: str
    facts: tuple[Fact, ...]
    questions: tuple[Question, ...]


class System(Protocol):
    """Something that remembers facts and finds them again."""

    embedder: Embedder

    def remember(self, person: Person) -> None: ...

    def ranking(self, person: Person, question: str) -> list[int]:
        """Positions of facts, best first: no more than `DEPTH`, and only those that it holds for relevant."""
        ...


class Memora:
    """The product's own search."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self._database = open_database(f"sqlite:///{folder / 'memora.db'}")
        self._index = ChromaIndex(data_dir=folder, chroma_url=None, embedder=embedder.identity)
        self._memory = LongTermMemory(
            store=self._database.memories, index=self._index, embedder=embedder, clock=lambda: NOW
        )
        self._positions: dict[str, int] = {}

    def remember(self, person: Person) -> None:
        for position, fact in enumerate(person.facts):
            memory = self._database.memories.add(
                user_id=person.name,
                content=fact.text,
                category=Category.EXPERIENCE,
                importance=3,
                provenance=Provenance(origin="import"),
                at=NOW,
            )
            self._positions[memory.id] = position
        self._memory.refresh_index(user_id=person.name)

    def ranking(self, person: Person, question: str) -> list[int]:
        recall = self._memory.search(user_id=person.name, query=question, k=DEPTH)
        return [self._positions[item.memory.id] for item in recall.memories]

    def close(self) -> None:
        self._index.close()
        self._database.close()


class VectorsOnly:
    """Chroma and an embedder, as most systems use them."""

    def __init__(self, folder: Path, embedder: Embedder) -> None:
        self.embedder = embedder
        self._index = ChromaIndex(data_dir=folder, chroma_url=None, embedder=embedder.identity)

    def remember(self, person: Person) -> None:
        vectors = self.embedder.embed_passages([fact.text for fact in person.facts])
        entries = [
            IndexEntry(memory_id=str(position), revision=1, vector=vector) for position, vector in enumerate(vectors)
        ]
        self._index.upsert(user_id=person.name, entries=entries)

    def ranking(self, person: Person, question: str) -> list[int]:
        vector = self.embedder.embed_query(question)
        return [int(found) for found, _ in self._index.search(user_id=person.name, vector=vector, limit=DEPTH)]

    def close(self) -> None:
        self._index.close()


class Remembering:
    """An embedder that computes each vector once: several systems ask for the same, and their time is their own."""

    def __init__(self, embedder: Embedder) -> None:
        self.identity = embedder.identity
        self.dimensions = embedder.dimensions
        self.unrelated_cosine = embedder.unrelated_cosine
        self.similar_cosine = embedder.similar_cosine
        self.embed_query = cache(embedder.embed_query)
        self._embed_passage = cache(lambda text: embedder.embed_passages([text])[0])

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        return [self._embed_passage(text) for text in texts]


class PlainE5:
    """e5 as it comes: the baseline's embedder."""

    identity = "benchmark/plain-e5"
    dimensions = 384
    unrelated_cosine = 0.0
    similar_cosine = 0.0

    def __init__(self) -> None:
        self._encoder = E5Encoder()

    def embed_query(self, text: str) -> Vector:
        vector: list[float] = self._encoder.queries([text])[0].tolist()
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        rows: list[Vector] = self._encoder.passages(texts).tolist()
        return rows


@dataclass
class Score:
    """The figures of one system over all questions."""

    at_1: list[float] = field(default_factory=list)
    at_5: list[float] = field(default_factory=list)
    reciprocal_rank: list[float] = field(default_factory=list)
    precision: list[float] = field(default_factory=list)
    silent: list[bool] = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def note(self, system: System, person: Person, question: Question) -> None:
        system.embedder.embed_query(question.text)
        with self.clock.measure("search"):
            ranking = system.ranking(person, question.text)
        recalled = ranking[:RECALLED]
        if not question.evidence:
            self.silent.append(not recalled)
            return
        self.at_1.append(_covered(person, ranking[:1], question))
        self.at_5.append(_covered(person, ranking[:5], question))
        hits = [rank for rank, at in enumerate(ranking, start=1) if person.facts[at].covers & question.evidence]
        self.reciprocal_rank.append(1 / hits[0] if hits else 0.0)
        if recalled:
            self.precision.append(
                float(np.mean([bool(person.facts[at].covers & question.evidence) for at in recalled]))
            )

    def row(self) -> list[str]:
        figures = [np.mean(self.at_1), np.mean(self.at_5), np.mean(self.reciprocal_rank), np.mean(self.precision)]
        silent = f"{np.mean(self.silent):.2f}" if self.silent else "–"
        return [*(f"{figure:.3f}" for figure in figures), silent, f"{self.clock.percentile('search', 50):.1f}"]


COLUMNS = ["system", "R@1", "R@5", "MRR", "precise", "silent when it should", "p50 ms without embedding"]


def _covered(person: Person, positions: Sequence[int], question: Question) -> float:
    covered = frozenset[str]().union(*(person.facts[at].covers for at in positions))
    return len(covered & question.evidence) / len(question.evidence)


def learner(data: dict[str, Any], small_talk: Sequence[str]) -> list[Person]:
    """The learner of ``zh_en_dev.json``; small talk stands in for questions without an answer."""
    facts = tuple(Fact(item["text"], frozenset([item["id"]])) for item in data["items"])
    asked = [Question(query["text"], frozenset(query["need"]), query["category"]) for query in data["queries"]]
    idle = [Question(text, frozenset(), "small talk") for text in small_talk]
    return [Person("learner", facts, (*asked, *idle))]


def locomo(data: list[dict[str, Any]]) -> list[Person]:
    """LoCoMo's observations: short facts about two speakers, one collection for each conversation."""
    return [Person(talk["sample_id"], tuple(_observations(talk)), tuple(_questions(talk))) for talk in data]


def _observations(talk: dict[str, Any]) -> Iterator[Fact]:
    for session in talk["observation"].values():
        for observations in session.values():
            for text, source in observations:
                yield Fact(text, frozenset(source if isinstance(source, list) else [source]))


def _questions(talk: dict[str, Any]) -> Iterator[Question]:
    for asked in talk["qa"]:
        adversarial = asked["category"] == 5
        if adversarial or asked.get("evidence"):
            evidence = frozenset[str]() if adversarial else frozenset(asked["evidence"])
            yield Question(asked["question"], evidence, str(asked["category"]))


@contextmanager
def _systems() -> Iterator[dict[str, System]]:
    local, plain = Remembering(LocalEmbedder()), Remembering(PlainE5())
    with tempfile.TemporaryDirectory() as folder:
        for name in ("memora", "local", "plain"):
            (Path(folder) / name).mkdir()
        systems = {
            "Chroma, vectors only (e5)": VectorsOnly(Path(folder) / "plain", plain),
            "Chroma, vectors only (Memora's embedder)": VectorsOnly(Path(folder) / "local", local),
            "Memora": Memora(Path(folder) / "memora", local),
        }
        try:
            yield dict(systems)
        finally:
            for system in systems.values():
                system.close()


def measure(title: str, people: Sequence[Person]) -> None:
    """Let every system remember everybody, ask everything, print the tables."""
    scores: dict[str, Score] = {}
    with _systems() as systems:
        for name, system in systems.items():
            scores[name] = Score()
            for person in people:
                system.remember(person)
                for question in person.questions:
                    scores[name].note(system, person, question)
    print_table(title, COLUMNS, [[name, *score.row()] for name, score in scores.items()])


def main() -> None:
    print_machine()
    small_talk = load_data("thresholds.json")
    if learned := load_data("zh_en_dev.json"):
        measure("A learner's facts, Chinese and English", learner(learned, small_talk["small_talk"]))
    if talks := load_data("locomo-dev.json"):
        measure("LoCoMo, facts", locomo(talks))


if __name__ == "__main__":
    main()
