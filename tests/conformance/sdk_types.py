"""The SDK's own types as a strict check: what it would send, and what it would read, without any unknown key."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
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
from pydantic_core import ErrorDetails

NAME = "SDK types"
NOT_STREAMED = "CreateResponse, not streamed"

_TYPES: dict[str, Any] = {
    "CreateResponse": ResponseCreateParamsStreaming,
    NOT_STREAMED: ResponseCreateParamsNonStreaming,
    "TokenCountsBody": InputTokenCountParams,
    "CreateEmbeddingRequest": EmbeddingCreateParams,
    "Response": Response,
    "ResponseStreamEvent": ResponseStreamEvent,
    "TokenCountsResource": InputTokenCountResponse,
    "CreateEmbeddingResponse": CreateEmbeddingResponse,
    "Model": Model,
}
_DISAGREED = frozenset({("ResponseFunctionCallArgumentsDoneEvent", "name")})
"""Where the OpenAPI document requires what the SDK's type does not know: (type, key)."""


def knows(schema: str) -> bool:
    """Whether there is a type for ``schema``; of lists of models and of errors the SDK has none that is strict."""
    return schema in _TYPES


def complaints(value: Any, schema: str) -> list[str]:
    """What the SDK's type for ``schema`` has against ``value``: the complaint that got furthest into it."""
    try:
        # Strict: otherwise "7" is a number too. A list of one: see `_adapter`.
        [read] = _adapter(schema).validate_python([value], strict=True)
        return [f"{where}: unknown key" for where in _unknown(read, "$")]
    except pydantic.ValidationError as error:
        errors = error.errors(include_url=False, include_input=False)
        told = max(_of_its_type(errors), key=lambda found: len(found["loc"]))
        return [f"{'.'.join(map(str, told['loc'][1:]))}: {told['msg']}"]


@functools.cache
def _adapter(schema: str) -> pydantic.TypeAdapter[Any]:
    """A list of one: so the rule about unknown keys reaches into the TypedDicts, which have none of their own."""
    return pydantic.TypeAdapter(list[_TYPES[schema]], config=pydantic.ConfigDict(extra="forbid"))


def _of_its_type(errors: Sequence[ErrorDetails]) -> Sequence[ErrorDetails]:
    """The complaints without those of alternatives whose ``type`` (or ``role``) is another one, where any are left."""
    others = tuple(
        error["loc"][:-1]
        for error in errors
        if error["loc"][-1:] in (("type",), ("role",)) and error["type"] in ("literal_error", "missing")
    )
    return [error for error in errors if not any(error["loc"][: len(loc)] == loc for loc in others)] or errors


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
