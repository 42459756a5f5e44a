"""From a `ModelRequest` to the body that goes over the wire. A key that has no value is left out, never null."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from typing import Any, Literal

from memora.model import Item, ModelRequest, OutputSchema
from memora.prompts import render
from memora.providers.openai.items import without_reasoning
from memora.providers.profiles import ANY, Profile

Concession = Literal["include", "reasoning", "tools"]
"""What can be given up for a server that refuses or ignores it.

Encrypted reasoning, the reasoning sent back, or the tools of a request that may not call them.
"""


def build_body(
    request: ModelRequest, *, model: str, profile: Profile = ANY, dropped: Collection[Concession] = ()
) -> dict[str, Any]:
    """The body of ``request`` for ``model`` on a server of ``profile``, without what was ``dropped``.

    Nothing is stored at the server, so reasoning has to come back encrypted to be carried along.
    """
    body: dict[str, Any] = {"model": model}
    if instructions := "\n\n".join(_instructions(request, profile)):
        body["instructions"] = instructions
    body["input"] = without_reasoning(request.input) if "reasoning" in dropped else list(request.input)
    if request.tools and not (request.tool_choice == "none" and _leaves_tools_out(profile, dropped)):
        body |= _tools(request, profile)
    if request.output_schema:
        body["text"] = {"format": _format(request.output_schema, profile)}
    if request.max_output_tokens is not None:
        body["max_output_tokens"] = request.max_output_tokens
    if profile.takes_include and "include" not in dropped:
        body["include"] = ["reasoning.encrypted_content"]
    return body | {"store": False, "stream": True}


def _instructions(request: ModelRequest, profile: Profile) -> Iterator[str]:
    if request.instructions:
        yield request.instructions
    if request.output_schema and not profile.enforces_schemas:
        yield render("schema", schema=json.dumps(request.output_schema.schema, ensure_ascii=False))


def _leaves_tools_out(profile: Profile, dropped: Collection[Concession]) -> bool:
    """Whether only a model that sees no tools can be kept from calling them."""
    return not profile.obeys_tool_choice or "tools" in dropped


def _tools(request: ModelRequest, profile: Profile) -> dict[str, Any]:
    if request.tool_choice is None:
        raise ValueError("a request with tools needs a tool_choice")
    tools: list[Item] = list(request.tools)
    if not profile.enforces_schemas:
        tools = [{**tool, "strict": False} for tool in tools]
    return {"tools": tools, "tool_choice": request.tool_choice, "parallel_tool_calls": False}


def _format(output: OutputSchema, profile: Profile) -> dict[str, Any]:
    return {"type": "json_schema", "name": output.name, "schema": output.schema, "strict": profile.enforces_schemas}
