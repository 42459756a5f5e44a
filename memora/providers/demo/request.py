"""A request body of the Responses API, as the demo model reads it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any, Literal

from memora.model import Item, Purpose

_BACKGROUND = re.compile(r"<background\b[^>]*>(.*?)</background>", re.DOTALL)
_STRUCTURED: dict[str, Purpose] = {
    "memory_extraction": "extraction",
    "memory_reconciliation": "reconciliation",
    "connection_check": "check",
}


@dataclass(frozen=True)
class Background:
    """What the application told the model about the user: profile fields, and sentences."""

    profile: dict[str, str] = field(default_factory=dict)
    memories: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DemoRequest:
    """What is wanted.

    ``message`` is the last thing the user said; ``call_outputs`` are the results of calls made for it;
    ``tools`` names the functions that may be called now; ``texts`` are all messages of the input.
    """

    purpose: Purpose
    instructions: str
    message: str
    background: Background
    call_outputs: tuple[str, ...]
    tools: frozenset[str]
    texts: tuple[str, ...]

    @property
    def number(self) -> Literal[1, 2]:
        """1, or 2 once a call has been answered."""
        return 2 if self.call_outputs else 1

    @property
    def data(self) -> dict[str, Any]:
        """The JSON object that the application quotes in requests other than answers; empty when there is none."""
        return next((found for text in self.texts if (found := embedded_object(text))), {})


def read_request(body: dict[str, Any]) -> DemoRequest:
    """Read a request body; whatever is missing or odd in it counts as empty."""
    items = _items(body.get("input"))
    messages = [(item.get("role"), text) for item in items if (text := message_text(item))]
    spoken = [index for index, (role, _) in enumerate(messages) if role == "user"]
    last = spoken[-1] if spoken else len(messages)
    texts = tuple(text for _, text in messages)
    may_call = body.get("tool_choice", "auto") != "none"
    tools = [str(tool.get("name")) for tool in body.get("tools") or () if isinstance(tool, dict)]
    return DemoRequest(
        purpose=_purpose(body, items),
        instructions=str(body.get("instructions") or ""),
        message=texts[last] if spoken else "",
        background=_background(texts[:last]),
        call_outputs=_call_outputs(items),
        tools=frozenset(tools if may_call else ()),
        texts=texts,
    )


def message_text(item: Item) -> str:
    """The text of a message item, however its content is written; empty for other items."""
    content = item.get("content") if item.get("type", "message") == "message" else None
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(str(part["text"]) for part in parts if isinstance(part, dict) and part.get("text"))


def embedded_object(text: str) -> dict[str, Any]:
    """The first JSON object inside ``text``; empty when there is none."""
    decoder = json.JSONDecoder()
    start = text.find("{")
    while start >= 0:
        try:
            found: dict[str, Any] = decoder.raw_decode(text, start)[0]
        except (json.JSONDecodeError, RecursionError):
            start = text.find("{", start + 1)
        else:
            return found
    return {}


def records(value: Any) -> list[dict[str, Any]]:
    """The objects in a list that came as JSON; empty for anything else."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _items(written: Any) -> list[Item]:
    if isinstance(written, str):
        return [{"role": "user", "content": written}]
    return records(written)


def _purpose(body: dict[str, Any], items: list[Item]) -> Purpose:
    text = body.get("text")
    output_format = text.get("format") if isinstance(text, dict) else None
    if isinstance(output_format, dict) and (structured := _STRUCTURED.get(str(output_format.get("name")))):
        return structured
    if body.get("tools") or any(item.get("type") == "function_call_output" for item in items):
        return "answer"
    instructions = str(body.get("instructions") or "").lower()
    return "summary" if "summar" in instructions or "摘要" in instructions else "answer"


def _call_outputs(items: list[Item]) -> tuple[str, ...]:
    outputs: list[str] = []
    for item in items:
        if item.get("role") == "user":
            outputs.clear()
        elif item.get("type") == "function_call_output":
            outputs.append(str(item.get("output")))
    return tuple(outputs)


def _background(texts: tuple[str, ...]) -> Background:
    profile: dict[str, str] = {}
    memories: list[str] = []
    for block in (block for text in texts for block in _BACKGROUND.findall(text)):
        told = embedded_object(block)
        fields = told.get("profile")
        if isinstance(fields, dict):
            profile |= {str(name): str(value) for name, value in fields.items() if value}
        memories += [str(memory.get("content") or "") for memory in records(told.get("memories"))]
    return Background(profile=profile, memories=tuple(memory for memory in memories if memory))
