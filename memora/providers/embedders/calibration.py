"""What the local models' vectors hold besides meaning, measured once and taken out.

Two things are in the way. Whatever e5 encodes shares one large component, so that even unrelated texts
reach a cosine of 0.8. And both models encode the language: a Chinese question is nearer to a Chinese
sentence about something else than to the English sentence that answers it. ``parallel_sentences.json``
(thirty everyday sentences in Traditional Chinese and English, written for Memora) shows both: the mean of
all its vectors, and the direction in which the two halves differ (the first right singular vector of
their differences). ``corrections.json`` keeps what ``python -m scripts.calibrate_embedder`` measured.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from memora.providers.embedders.encoders import EncoderName, Rows

_FOLDER = Path(__file__).parent
CORRECTIONS_FILE = _FOLDER / "corrections.json"
PARALLEL_SENTENCES_FILE = _FOLDER / "parallel_sentences.json"


@dataclass(frozen=True)
class Correction:
    """What is taken out of one kind of vector: a part of ``common``, then all along ``language``.

    Both have the shape (dimensions,); ``language`` has length 1.
    """

    common: Rows
    language: Rows

    def __call__(self, rows: Rows, *, common_share: float) -> Rows:
        """``rows``, shape (n, dimensions), corrected and normalised again; ``common_share`` is from 0 to 1."""
        shifted = rows - common_share * self.common
        across = shifted - np.outer(shifted @ self.language, self.language)
        return normalised(across)


@dataclass(frozen=True)
class Corrections:
    """The corrections of one model: questions and passages differ where a model tells them apart."""

    query: Correction
    passage: Correction


def normalised(rows: Rows) -> Rows:
    """Each row at length 1; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1), dtype=np.float32)


def measure(encode: Callable[[Sequence[str]], Rows]) -> Correction:
    """The correction for what ``encode`` returns."""
    sentences = json.loads(PARALLEL_SENTENCES_FILE.read_text(encoding="utf-8"))
    chinese, english = encode(sentences["zh"]), encode(sentences["en"])
    _, _, directions = np.linalg.svd(chinese - english, full_matrices=False)
    direction = directions[0]
    towards_chinese = np.sign((chinese - english).mean(axis=0) @ direction)
    return Correction(common=np.concatenate([chinese, english]).mean(axis=0), language=direction * towards_chinese)


def load_corrections(name: EncoderName) -> Corrections:
    """The kept corrections of a model."""
    kept = json.loads(CORRECTIONS_FILE.read_text(encoding="utf-8"))[name]
    return Corrections(query=_from_json(kept["query"]), passage=_from_json(kept["passage"]))


def _from_json(kept: dict[str, Any]) -> Correction:
    return Correction(
        common=np.asarray(kept["common"], dtype=np.float32), language=np.asarray(kept["language"], dtype=np.float32)
    )
