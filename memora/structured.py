"""Structured answers: asked for with a strict schema, validated here, asked for once more, never trusted."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from memora.context.quoted import quoted_json
from memora.errors import BadResponse, ServerFailed
from memora.model import CancelToken, Item, LanguageModel, ModelRequest, ModelResponse, OutputSchema, Purpose, Usage
from memora.prompts import render

Answer = TypeVar("Answer", bound=BaseModel)

MAX_OUTPUT_TOKENS = 4_000
_FENCE = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class Structured(Generic[Answer]):
    """A valid answer, and what it cost (repair included)."""

    value: Answer
    usage: Usage


def quoting(value: Any) -> tuple[Item, ...]:
    """The input of a structured request: one message that is nothing but quoted JSON."""
    return ({"type": "message", "role": "user", "content": quoted_json(value)},)


def ask(
    model: LanguageModel,
    *,
    purpose: Purpose,
    instructions: str,
    input: tuple[Item, ...],
    name: str,
    answer_type: type[Answer],
    cancel: CancelToken,
) -> Structured[Answer]:
    """Ask for an ``answer_type``; if what comes is none, say why and ask once more.

    Raises `BadResponse` when the second answer is no better, and what the model raises.
    """
    request = ModelRequest(
        purpose=purpose,
        instructions=instructions,
        input=input,
        output_schema=OutputSchema(name=name, schema=strict_schema(answer_type)),
        max_output_tokens=MAX_OUTPUT_TOKENS,
    )
    usage = Usage()
    complaint = ""
    for _attempt in range(2):
        response = model.complete(_with_complaint(request, complaint), cancel=cancel)
        usage += response.usage or Usage(estimated=True)
        if response.status == "failed":
            raise ServerFailed(f"the {purpose} request failed")
        try:
            return Structured(value=_read(response, answer_type), usage=usage)
        except ValidationError as error:
            complaint = _complaint(error)
    raise BadResponse(f"the {purpose} answer is not what was asked for: {complaint}")


def strict_schema(answer_type: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of ``answer_type`` by the rules of strict mode.

    The type forbids extra fields and has no defaults; what remains is to drop titles and the keywords that
    strict mode does not know (their bounds are still checked here).
    """
    schema: dict[str, Any] = _strict(answer_type.model_json_schema())
    return schema


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(part) for part in node]
    if not isinstance(node, dict):
        return node
    kept = {key: value for key, value in node.items() if not (key == "title" and isinstance(value, str))}
    return {
        key: {name: _strict(part) for name, part in value.items()} if key in ("properties", "$defs") else _strict(value)
        for key, value in kept.items()
        if key not in ("minimum", "maximum", "default")
    }


def _with_complaint(request: ModelRequest, complaint: str) -> ModelRequest:
    if not complaint:
        return request
    repair: Item = {"type": "message", "role": "user", "content": render("repair", complaint=complaint)}
    return ModelRequest(
        purpose=request.purpose,
        instructions=request.instructions,
        input=(*request.input, repair),
        output_schema=request.output_schema,
        max_output_tokens=request.max_output_tokens,
    )


def _read(response: ModelResponse, answer_type: type[Answer]) -> Answer:
    """The first JSON object in the text that validates; the error of the whole text when none does."""
    for text in _objects(response.text):
        try:
            return answer_type.model_validate_json(text)
        except ValidationError:
            continue
    return answer_type.model_validate_json(response.text)


def _objects(text: str) -> Iterator[str]:
    """Where an object may stand: alone, in a fence, or between other words."""
    yield text
    yield from _FENCE.findall(text)
    if "{" in text and "}" in text:
        yield text[text.index("{") : text.rindex("}") + 1]


def _complaint(error: ValidationError) -> str:
    """The first few problems, without the values (they are the user's words)."""
    problems = error.errors(include_input=False, include_url=False, include_context=False)[:3]
    return json.dumps([f"{'.'.join(map(str, one['loc'])) or 'answer'}: {one['msg']}" for one in problems])
