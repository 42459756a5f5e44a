"""Structured answers: asked for with a strict schema, validated here, asked for once more, never trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memora.errors import BadResponse
from memora.model import (
    CancelToken,
    Item,
    LanguageModel,
    ModelRequest,
    ModelResponse,
    OutputSchema,
    Usage,
    rough_token_count,
)
from memora.prompts import render

Answer = TypeVar("Answer", bound=BaseModel)

MAX_OUTPUT_TOKENS = 8_000
"""Room for the answer and the reasoning before it; a model that runs on for ever ends here."""
MAX_REPEATED_CHARS = 4_000
"""How much of a wrong answer is shown to the model again."""

_NOT_STRICT = frozenset({"title", "default", "minimum", "maximum", "discriminator"})
"""Keywords that pydantic writes and strict mode does not need or know."""


@dataclass(frozen=True, kw_only=True)
class StructuredAnswer(Generic[Answer]):
    """A valid answer, what it cost, and in how many ``requests``: 1, or 2 when the first answer was none."""

    value: Answer
    usage: Usage
    requests: int


def quoting(value: Any) -> tuple[Item, ...]:
    """The input of a structured request: one message that is nothing but ``value`` as JSON, quoted as data."""
    return (_message("user", json.dumps(value, ensure_ascii=False)),)


def ask(
    model: LanguageModel, request: ModelRequest, *, name: str, answer_type: type[Answer], cancel: CancelToken
) -> StructuredAnswer[Answer]:
    """Send ``request`` for an ``answer_type``, under the schema's ``name``; ask once more if what comes is none.

    Servers may ignore the schema, fence the object, or write around it. Raises `BadResponse` when the second
    answer is no better, and what the model raises.
    """
    schema = OutputSchema(name=name, schema=strict_schema(answer_type))
    request = replace(request, output_schema=schema, max_output_tokens=request.max_output_tokens or MAX_OUTPUT_TOKENS)
    requests = 1
    first = _complete(model, request, cancel=cancel)
    usage = _usage(first, request)
    value, problem = _read(first, answer_type)
    if value is None:
        requests = 2
        request = replace(request, input=(*request.input, *_repair(first, problem)))
        second = _complete(model, request, cancel=cancel)
        usage += _usage(second, request)
        value, problem = _read(second, answer_type)
    if value is None:
        raise BadResponse(f"{name}: {problem}")
    return StructuredAnswer(value=value, usage=usage, requests=requests)


def strict_schema(answer_type: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of ``answer_type`` by the rules of strict mode: all is required, nothing may be added."""
    schema: dict[str, Any] = _strict(answer_type.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return {"$ref": node["$ref"]}  # strict mode refuses what pydantic may write beside it
    strict = {key: _strict(value) for key, value in node.items() if key not in _NOT_STRICT}
    if "oneOf" in strict:
        strict["anyOf"] = strict.pop("oneOf")
    for named in ("properties", "$defs"):
        if named in node:
            strict[named] = {name: _strict(part) for name, part in node[named].items()}
    if "properties" in node:
        strict |= {"required": list(node["properties"]), "additionalProperties": False}
    return strict


def _complete(model: LanguageModel, request: ModelRequest, *, cancel: CancelToken) -> ModelResponse:
    response = model.complete(request, cancel=cancel)
    response.raise_if_failed()
    return response


def _read(response: ModelResponse, answer_type: type[Answer]) -> tuple[Answer | None, str]:
    """The answer, or None and what is wrong with the response."""
    if response.status == "incomplete":
        return None, f"the answer was cut off ({response.incomplete_reason})"
    problem = f"the model refused: {response.refusal[:200]}" if response.refusal else "there is no JSON object"
    for found in _objects(response.text):
        try:
            return answer_type.model_validate(found), ""
        except ValidationError as error:
            problem = _told(error)
    return None, problem


def _objects(text: str) -> Iterator[Any]:
    """The JSON objects in ``text``, outermost ones only: alone, in a fence, or between other words."""
    decoder = json.JSONDecoder()
    end = 0
    for brace in re.finditer(r"\{", text):
        if brace.start() < end:
            continue
        try:
            found, end = decoder.raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        yield found


def _told(error: ValidationError) -> str:
    """The first problems, without the values: an error may be stored, and these are the user's words."""
    problems = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    return "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in problems)


def _repair(response: ModelResponse, problem: str) -> Iterator[Item]:
    if response.text:
        yield _message("assistant", response.text[:MAX_REPEATED_CHARS])
    yield _message("user", render("repair", problem=problem))


def _message(role: str, content: str) -> Item:
    return {"type": "message", "role": role, "content": content}


def _usage(response: ModelResponse, request: ModelRequest) -> Usage:
    """What the server reported, or a rough estimate."""
    if response.usage:
        return response.usage
    sent = request.instructions + json.dumps(request.input, ensure_ascii=False)
    return Usage(
        input_tokens=rough_token_count(sent),
        output_tokens=rough_token_count(response.text),
        input_source="estimated",
        output_source="estimated",
    )
