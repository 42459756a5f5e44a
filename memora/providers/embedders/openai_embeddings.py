"""Embeddings from OpenAI or from any server with the same route."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from memora.memory.ports import IndexUnavailable, Vector
from memora.providers.embedders.readable import readable_text
from memora.providers.openai.failures import Endpoint, as_model_error

if TYPE_CHECKING:
    from openai import OpenAI

BATCH = 256
"""Texts per request; OpenAI takes up to 2,048, others fewer."""
MAX_CHARS = 6_000
"""OpenAI's models read 8,192 tokens, and a Chinese character may cost more than one."""
QUERY_TIMEOUT_SECONDS = 5.0
"""A reply waits for the question's vector; past this, memories are found by their words."""
_DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}


class OpenAIEmbedder:
    """An `Embedder` behind ``POST /embeddings``.

    It keeps the client that it got first, so that its identity and its vectors cannot part when the app is
    connected to another server. ``dimensions`` shortens the vectors where the model allows it. The two
    thresholds are conservative and *not measured*: in this family unrelated texts mostly stay below 0.2 and
    paraphrases above 0.5, so too much is recalled rather than too little, and reconciliation asks too often.
    """

    def __init__(self, *, client_factory: Callable[[], OpenAI], model: str, dimensions: int | None = None) -> None:
        self._client_factory = client_factory
        self._model = model
        self._requested = dimensions
        self._dimensions = dimensions or _DIMENSIONS.get(model)
        self._kept_client: OpenAI | None = None
        self._lock = threading.Lock()

    @property
    def identity(self) -> str:
        """Host, model and length: the same name on another server may be another model."""
        length = f"/{self._requested}" if self._requested else ""
        return f"openai/{self._client().base_url.host}/{self._model}{length}"

    @property
    def dimensions(self) -> int:
        """As requested or known by the model's name; of other models, as seen. May raise `IndexUnavailable`."""
        if self._dimensions is None:
            self._dimensions = len(self.embed_query("length"))
        return self._dimensions

    @property
    def unrelated_cosine(self) -> float:
        """Not measured."""
        return 0.2

    @property
    def similar_cosine(self) -> float:
        """Not measured."""
        return 0.4

    def embed_query(self, text: str) -> Vector:
        """One short request, never repeated. Raises `IndexUnavailable` with the code of a `ModelError`."""
        client = self._client().with_options(timeout=QUERY_TIMEOUT_SECONDS, max_retries=0)
        [vector] = self._request(client, [text])
        return vector

    def embed_passages(self, texts: Sequence[str]) -> Sequence[Vector]:
        """As many requests as it takes, repeated as the client does. Raises like `embed_query`."""
        batches = [texts[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        return [vector for batch in batches for vector in self._request(self._client(), batch)]

    def _client(self) -> OpenAI:
        with self._lock:
            if self._kept_client is None:
                self._kept_client = self._client_factory()
            return self._kept_client

    def _request(self, client: OpenAI, texts: Sequence[str]) -> list[Vector]:
        import httpx2
        import openai

        wanted: dict[str, Any] = {"dimensions": self._requested} if self._requested else {}
        try:
            response = client.embeddings.create(
                # Blank input is refused; a stop means as little.
                input=[readable_text(text, max_chars=MAX_CHARS).strip() or "." for text in texts],
                model=self._model,
                encoding_format="float",
                **wanted,
            )
            return _vectors(response.data, count=len(texts))
        except (
            openai.OpenAIError,
            httpx2.HTTPError,
            json.JSONDecodeError,
            TypeError,
            ValueError,
            AttributeError,
        ) as error:
            failure = as_model_error(error, endpoint=self._endpoint(client))
            raise IndexUnavailable(failure.code, failure.detail) from error

    def _endpoint(self, client: OpenAI) -> Endpoint:
        return Endpoint(
            model=self._model,
            host=client.base_url.host,
            timeout_seconds=QUERY_TIMEOUT_SECONDS,
            secrets=(client.api_key,),
        )


def _vectors(data: Sequence[Any], *, count: int) -> list[Vector]:
    """The vectors in the order of their texts, normalised. Raises ``ValueError`` when they do not fit."""
    if len(data) != count:
        raise ValueError(f"{count} texts were sent and {len(data)} vectors came back")
    return [_normalised(item.embedding) for item in sorted(data, key=lambda item: item.index)]


def _normalised(vector: Sequence[float]) -> Vector:
    length = math.hypot(*vector)
    if not math.isfinite(length) or length == 0:
        raise ValueError("a vector came back that has no direction")
    return [number / length for number in vector]
