from __future__ import annotations

import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from memora.memory.ports import IndexUnavailable, Vector
from memora.providers.embedders import local
from memora.providers.embedders.local import E5_AND_USE, QUERY_MAX_CHARS, USE_ALONE, LocalEmbedder, Recipe

JOINED = LocalEmbedder(recipe=E5_AND_USE)
"""One for all tests: loading takes a second or two."""
ALONE = LocalEmbedder(recipe=USE_ALONE)
both = pytest.mark.parametrize("embedder", [JOINED, ALONE], ids=["joined", "alone"])

FACTS = (
    "使用者叫小美。",
    "使用者住在高雄。",
    "使用者正在準備三月的 IELTS 考試。",
    "使用者養了一隻橘貓。",
    "The user prefers short explanations.",
)


def cosine(one: Vector, other: Vector) -> float:
    return float(np.dot(one, other))


def cosines(embedder: LocalEmbedder, question: str, facts: Sequence[str] = FACTS) -> list[float]:
    asked = embedder.embed_query(question)
    return [cosine(asked, vector) for vector in embedder.embed_passages(facts)]


@both
@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("我在準備什麼考試？", "使用者正在準備三月的 IELTS 考試。"),
        ("我住在哪裡？", "使用者住在高雄。"),
        ("Where do I live?", "使用者住在高雄。"),
        ("What exam am I preparing for?", "使用者正在準備三月的 IELTS 考試。"),
        ("Do I have a pet?", "使用者養了一隻橘貓。"),
        ("我喜歡長的解釋還是短的？", "The user prefers short explanations."),
    ],
)
def test_a_question_finds_its_answer_in_either_language(embedder: LocalEmbedder, question: str, answer: str) -> None:
    found = cosines(embedder, question)
    assert FACTS[int(np.argmax(found))] == answer


@pytest.mark.parametrize(
    "question", ["我在準備什麼考試？", "我住在哪裡？", "Where do I live?", "What exam am I preparing for?"]
)
def test_an_answer_is_closer_than_unrelated_texts(question: str) -> None:
    assert max(cosines(JOINED, question)) > JOINED.unrelated_cosine


@both
@pytest.mark.parametrize("chat", ["你好", "謝謝", "hello", "今天天氣如何", "請計算：I don't know the answer."])
def test_small_talk_comes_close_to_nothing(embedder: LocalEmbedder, chat: str) -> None:
    assert max(cosines(embedder, chat)) < embedder.unrelated_cosine


@both
def test_sentences_about_the_same_fact_are_similar_and_others_are_not(embedder: LocalEmbedder) -> None:
    taipei, kaohsiung, cat = embedder.embed_passages(["使用者住在台北。", "使用者住在高雄。", "使用者養了一隻橘貓。"])
    assert cosine(taipei, kaohsiung) > embedder.similar_cosine > cosine(taipei, cat)


@both
@pytest.mark.parametrize(
    "text", ["", "   ", "\ud800", "a\0b", "\x07", "🙂", "word " * 20_000], ids=lambda text: text[:3]
)
def test_any_text_has_a_vector_of_length_one(embedder: LocalEmbedder, text: str) -> None:
    [passage] = embedder.embed_passages([text])
    for vector in (embedder.embed_query(text), passage):
        assert len(vector) == embedder.dimensions
        assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-5)


def test_what_follows_a_nul_counts() -> None:
    assert cosine(JOINED.embed_query("\0我住在哪裡？"), JOINED.embed_query("我住在哪裡？")) > 0.9


def test_of_a_long_question_both_ends_are_read() -> None:
    filler = "x" * QUERY_MAX_CHARS
    assert JOINED.embed_query(f"我住在哪裡？{filler}") != JOINED.embed_query(filler)
    assert JOINED.embed_query(f"{filler}我住在哪裡？") != JOINED.embed_query(filler)


@both
def test_a_passage_has_the_same_vector_alone_and_among_others(embedder: LocalEmbedder) -> None:
    alone = [embedder.embed_passages([fact])[0] for fact in FACTS]
    np.testing.assert_allclose(embedder.embed_passages(FACTS * 4), alone * 4, atol=1e-4)


def test_no_passages_have_no_vectors() -> None:
    assert JOINED.embed_passages([]) == []


def test_threads_get_what_one_would_get() -> None:
    expected = [JOINED.embed_query(fact) for fact in FACTS]
    with ThreadPoolExecutor(max_workers=4) as threads:
        assert list(threads.map(JOINED.embed_query, FACTS)) == expected


def test_without_e5_the_second_model_serves_alone_under_another_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "is_installed", lambda name: name != "e5")
    assert LocalEmbedder().identity == USE_ALONE.identity != E5_AND_USE.identity


def test_a_model_that_cannot_be_loaded_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str) -> None:
        raise ImportError(f"no {name}")

    monkeypatch.setattr(local, "load_encoder", load)
    embedder = LocalEmbedder(recipe=E5_AND_USE)
    with pytest.raises(IndexUnavailable, match="no e5") as caught:
        embedder.warm()
    assert caught.value.code == "broken"


@pytest.mark.parametrize("recipe", [E5_AND_USE, USE_ALONE], ids=lambda recipe: recipe.identity)
def test_vectors_can_be_stored_as_json(recipe: Recipe) -> None:
    embedder = JOINED if recipe is E5_AND_USE else ALONE
    assert len(json.loads(json.dumps(embedder.embed_query("hello")))) == recipe.dimensions
