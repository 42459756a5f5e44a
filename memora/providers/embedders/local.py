"""The default embedder: two small models that travel inside their packages, joined in one vector.

e5 is the better one for facts in English, the universal sentence encoder the better one across languages;
the sum of their cosines is better than either. Both vectors, corrected (see `calibration`) and scaled, are
laid end to end, so that the sum is still one dot product. Where e5 has no wheel, the second serves alone.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memora.memory.ports import IndexUnavailable, Vector
from memora.providers.embedders.calibration import load_corrections
from memora.providers.embedders.encoders import EncoderName, Rows, is_installed, load_encoder
from memora.providers.embedders.readable import readable_text

QUERY_MAX_CHARS = 300
"""Of a longer question only both ends are read: a reply waits for it, and e5 takes its time with every token."""
PASSAGE_MAX_CHARS = 1_000
BATCH = 16
"""Texts embedded at a time, about a quarter of a second's work."""


@dataclass(frozen=True, kw_only=True)
class Ingredient:
    """One model, the weight of its cosine in the sum, and how much of its common component is taken out."""

    encoder: EncoderName
    dimensions: int
    weight: float
    common_share: float


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Which models are joined and what their cosines mean (measured with ``python -m benchmarks.thresholds``)."""

    identity: str
    ingredients: tuple[Ingredient, ...]
    unrelated_cosine: float
    similar_cosine: float

    @property
    def dimensions(self) -> int:
        """Length of the joined vector."""
        return sum(ingredient.dimensions for ingredient in self.ingredients)


E5_AND_USE = Recipe(
    identity="local/e5-small-q4+use-m3/1",
    ingredients=(
        Ingredient(encoder="e5", dimensions=384, weight=1.0, common_share=0.8),
        Ingredient(encoder="use", dimensions=512, weight=0.5, common_share=0.0),
    ),
    unrelated_cosine=0.32,
    similar_cosine=0.36,
)
USE_ALONE = Recipe(
    identity="local/use-m3/1",
    ingredients=(Ingredient(encoder="use", dimensions=512, weight=1.0, common_share=0.0),),
    unrelated_cosine=0.22,
    similar_cosine=0.32,
)


def best_recipe() -> Recipe:
    """What the installed packages allow."""
    return E5_AND_USE if is_installed("e5") else USE_ALONE


class LocalEmbedder:
    """An `Embedder` without a network. Building it is free; the models load at first use, or with `warm`."""

    def __init__(self, *, recipe: Recipe | None = None) -> None:
        self._recipe = recipe or best_recipe()
        self._lock = threading.Lock()
        self._parts: tuple[_Part, ...] = ()

    @property
    def identity(self) -> str:
        """Changes with the models, their weights and their corrections."""
        return self._recipe.identity

    @property
    def dimensions(self) -> int:
        """896, or 512 for the second model alone."""
        return self._recipe.dimensions

    @property
    def unrelated_cosine(self) -> float:
        """Question to passage."""
        return self._recipe.unrelated_cosine

    @property
    def similar_cosine(self) -> float:
        """Passage to passage."""
        return self._recipe.similar_cosine

    def warm(self) -> None:
        """Load the models and run each once. Raises `IndexUnavailable`."""
        self.embed_query("warm")

    def embed_query(self, text: str) -> Vector:
        """The vector of a question. Raises `IndexUnavailable` (``broken``) when a model cannot be loaded."""
        readable = [readable_text(text, max_chars=QUERY_MAX_CHARS)]
        with self._lock:
            rows = [part.queries(readable) for part in self._loaded()]
        return _joined(rows)[0]

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """The vectors of stored sentences. Raises like `embed_query`.

        Other threads get their turn every `BATCH` texts: a question does not wait for a whole rebuild.
        """
        vectors: list[Vector] = []
        for start in range(0, len(texts), BATCH):
            readable = [readable_text(text, max_chars=PASSAGE_MAX_CHARS) for text in texts[start : start + BATCH]]
            with self._lock:
                rows = [part.passages(readable) for part in self._loaded()]
            vectors += _joined(rows)
        return vectors

    def _loaded(self) -> tuple[_Part, ...]:
        """The models; loads them the first time. To be called under the lock."""
        if not self._parts:
            total = sum(ingredient.weight for ingredient in self._recipe.ingredients)
            try:
                self._parts = tuple(
                    _Part(ingredient, scale=math.sqrt(ingredient.weight / total))
                    for ingredient in self._recipe.ingredients
                )
            except (ImportError, OSError, RuntimeError) as error:
                raise IndexUnavailable("broken", f"the embedder cannot be loaded: {error}") from error
        return self._parts


class _Part:
    """One loaded model, corrected and scaled by the square root of its share of the sum."""

    def __init__(self, ingredient: Ingredient, *, scale: float) -> None:
        self._model = load_encoder(ingredient.encoder)
        self._corrections = load_corrections(ingredient.encoder)
        self._common_share = ingredient.common_share
        self._scale = scale

    def queries(self, texts: Sequence[str]) -> Rows:
        return self._scale * self._corrections.query(self._model.queries(texts), common_share=self._common_share)

    def passages(self, texts: Sequence[str]) -> Rows:
        return self._scale * self._corrections.passage(self._model.passages(texts), common_share=self._common_share)


def _joined(rows: Sequence[Rows]) -> list[Vector]:
    vectors: list[Vector] = np.concatenate(rows, axis=1).tolist()
    return vectors
