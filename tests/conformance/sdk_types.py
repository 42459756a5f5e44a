"""The SDK's own types as a strict check: what it would send, and what it would read, without any unknown key."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import pydantic
from openai.types import CreateEmbeddingResponse, Model
from openai.types.embedding_create_params import EmbeddingCreateParams
from openai.types.responses import Response, ResponseStreamEvent
from openai.types.responses.input_token_count_params import InputTokenCountParams
from openai.types.responses.input_token_count_response import InputTokenCountResponse
from openai.types.responses.response_create_params import (
    ResponseCreateParamsNonStreaming,
    ResponseCreateParamsStreaming,
)

NAME = "SDK types"

SENT: dict[str, Any] = {
    "CreateResponse": ResponseCreateParamsStreaming,
    "CreateResponse, not streamed": ResponseCreateParamsNonStreaming,
    "TokenCountsBody": InputTokenCountParams,
    "CreateEmbeddingRequest": EmbeddingCreateParams,
}
_DISAGREED = frozenset({("ResponseFunctionCallArgumentsDoneEvent", "name")})
"""Where the OpenAPI document requires what the SDK's type does not know: (type, key)."""

READ: dict[str, Any] = {
    "Response": Response,
    "ResponseStreamEvent": ResponseStreamEvent,
    "TokenCountsResource": InputTokenCountResponse,
    "CreateEmbeddingResponse": CreateEmbeddingResponse,
    "Model": Model,
}


def complaints(value: Any, schema: str) -> list[str]:
    """What the SDK's type for ``schema`` has against ``value``."""
    try:
        read = _adapter(schema).validate_python([value])
        return [f"{where}: unknown key" for where in _unknown(read[0], "$")]
    except pydantic.ValidationError as error:
        first = min(error.errors(include_url=False, include_input=False), key=lambda found: len(found["loc"]))
        return [f"{'.'.join(map(str, first['loc'][1:]))}: {first['msg']} (1 of {error.error_count()})"]


@functools.cache
def _adapter(schema: str) -> pydantic.TypeAdapter[Any]:
    """A list of one: so the rule about unknown keys reaches into the TypedDicts, which have none of their own."""
    kind = SENT[schema] if schema in SENT else READ[schema]
    return pydantic.TypeAdapter(list[kind], config=pydantic.ConfigDict(extra="forbid"))  # type: ignore[valid-type]


def _unknown(value: Any, where: str) -> Iterator[str]:
    """The keys of responses that no type names. Walking also validates what pydantic leaves for later (iterables)."""
    if isinstance(value, pydantic.BaseModel):
        unknown = (name for name in value.model_extra or () if (type(value).__name__, name) not in _DISAGREED)
        yield from (f"{where}.{name}" for name in unknown)
        value = {name: getattr(value, name) for name in type(value).model_fields}
    if isinstance(value, dict):
        for name, nested in value.items():
            yield from _unknown(nested, f"{where}.{name}")
    elif not isinstance(value, str | int | float | None):
        for place, nested in enumerate(value):
            yield from _unknown(nested, f"{where}[{place}]")
