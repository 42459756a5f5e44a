"""From a `ModelRequest` to the body that goes over the wire. A key that has no value is left out, never null."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Literal

from memora.model import ModelRequest
from memora.providers.openai.items import without_reasoning

Concession = Literal["include", "reasoning"]
"""What can be given up for a server that refuses it: encrypted reasoning, or the reasoning sent back."""


def build_body(request: ModelRequest, *, model: str, dropped: Collection[Concession] = ()) -> dict[str, Any]:
    """The body of ``request`` for ``model``, without what was ``dropped``.

    Nothing is stored at the server, so reasoning has to come back encrypted to be carried along.
    """
    body: dict[str, Any] = {"model": model}
    if request.instructions:
        body["instructions"] = request.instructions
    body["input"] = without_reasoning(request.input) if "reasoning" in dropped else list(request.input)
    if request.tools:
        if request.tool_choice is None:
            raise ValueError("a request with tools needs a tool_choice")
        body |= {"tools": list(request.tools), "tool_choice": request.tool_choice, "parallel_tool_calls": False}
    if request.output_schema:
        output = request.output_schema
        body["text"] = {"format": {"type": "json_schema", "name": output.name, "schema": output.schema, "strict": True}}
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if "include" not in dropped:
        body["include"] = ["reasoning.encrypted_content"]
    return body | {"store": False, "stream": True}
