"""Where an embedder's cosines lie: what `unrelated_cosine` and `similar_cosine` are chosen from.

Question to passage: questions with the facts that answer them, and small talk with whatever comes nearest.
Passage to passage: pairs about the same fact, and pairs about different ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import load_data, print_machine, print_table
from memora.memory.ports import Embedder
from memora.providers.embedders import LocalEmbedder
from memora.providers.embedders.local import E5_AND_USE, USE_ALONE

PERCENTS = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 100)
Cosines = NDArray[np.float64]


def measure(embedder: Embedder, *, made: dict[str, Any], learner: dict[str, Any]) -> None:
    """Print the distributions for one embedder, and what thresholds in their range would do."""
    answers = np.concatenate([_answers_of_made(embedder, made), _answers_of_learner(embedder, learner)])
    few = _table(embedder, made["small_talk"], made["facts"])
    many = _table(embedder, made["small_talk"], [item["text"] for item in learner["items"]])
    same = np.array(
        [_passages(embedder, [one])[0] @ _passages(embedder, [other])[0] for one, other in made["same_fact"]]
    )
    different = _pairs(embedder, made["different_facts"])
    print_table(
        f"{embedder.identity}: percentiles of cosines",
        ["", *PERCENTS],
        [
            ["question – its answer", *_percentiles(answers)],
            ["small talk – nearest of 10 facts", *_percentiles(few.max(axis=1))],
            ["small talk – nearest of 80 facts", *_percentiles(many.max(axis=1))],
            ["two sentences about the same fact", *_percentiles(same)],
            ["two sentences about different facts", *_percentiles(different)],
        ],
    )
    print_table(
        f"{embedder.identity}: an unrelated_cosine of …",
        [
            "threshold",
            "answers kept",
            "small talk that recalls nothing of 10",
            "nothing of 80",
            "recalled per small talk",
        ],
        [
            [f"{at:.2f}", *(f"{share:.2f}" for share in _effect(at, answers, few, many))]
            for at in _around(embedder.unrelated_cosine)
        ],
    )
    print_table(
        f"{embedder.identity}: a similar_cosine of …",
        ["threshold", "same facts noticed", "different facts taken for similar"],
        [
            [f"{at:.2f}", f"{np.mean(same >= at):.2f}", f"{np.mean(different >= at):.2f}"]
            for at in _around(embedder.similar_cosine)
        ],
    )


def _effect(threshold: float, answers: Cosines, few: Cosines, many: Cosines) -> tuple[float, ...]:
    return (
        float(np.mean(answers >= threshold)),
        float(np.mean(few.max(axis=1) < threshold)),
        float(np.mean(many.max(axis=1) < threshold)),
        float(np.mean((many >= threshold).sum(axis=1))),
    )


def _around(threshold: float) -> list[float]:
    return [round(threshold + step * 0.02, 2) for step in range(-4, 5)]


def _answers_of_made(embedder: Embedder, made: dict[str, Any]) -> Cosines:
    return np.array([_table(embedder, [pair["text"]], [pair["fact"]])[0, 0] for pair in made["questions"]])


def _answers_of_learner(embedder: Embedder, learner: dict[str, Any]) -> Cosines:
    facts = {item["id"]: item["text"] for item in learner["items"]}
    cosines = [
        _table(embedder, [query["text"]], [facts[needed] for needed in query["need"]])[0]
        for query in learner["queries"]
    ]
    return np.concatenate(cosines)


def _table(embedder: Embedder, questions: Sequence[str], passages: Sequence[str]) -> Cosines:
    asked = np.array([embedder.embed_query(question) for question in questions])
    return np.asarray(asked @ _passages(embedder, passages).T)


def _pairs(embedder: Embedder, passages: Sequence[str]) -> Cosines:
    rows = _passages(embedder, passages)
    return np.asarray((rows @ rows.T)[np.triu_indices(len(rows), k=1)])


def _passages(embedder: Embedder, texts: Sequence[str]) -> Cosines:
    return np.array(embedder.embed_passages(texts))


def _percentiles(cosines: Cosines) -> list[str]:
    return [f"{cosine:.2f}" for cosine in np.percentile(cosines, PERCENTS)]


def main() -> None:
    print_machine()
    made, learner = load_data("thresholds.json"), load_data("zh_en_dev.json")
    for recipe in (E5_AND_USE, USE_ALONE):
        measure(LocalEmbedder(recipe=recipe), made=made, learner=learner)


if __name__ == "__main__":
    main()
