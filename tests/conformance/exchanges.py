"""Asking a stand-in for the API, over HTTP or beneath the client, and taking apart what it answers."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2

Json = dict[str, Any]
TOOL: Json = {
    "type": "function",
    "name": "count_english_words",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
        "additionalProperties": False,
    },
    "strict": True,
}


def asking(text: str) -> Json:
    """A body that asks ``text``, with a tool to call, for a stream."""
    return {
        "model": "m",
        "input": [{"type": "message", "role": "user", "content": text}],
        "tools": [TOOL],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "store": False,
        "stream": True,
    }


def not_streamed(body: Json) -> Json:
    """The same request without a stream."""
    return {name: value for name, value in body.items() if name != "stream"}


def post(client: httpx2.Client, path: str, body: Json) -> httpx2.Response:
    """The whole answer to ``body``, a stream included."""
    return client.post(path, json=body, headers={"authorization": "Bearer sk-test"})


def events_of(response: httpx2.Response) -> list[Json]:
    """The events of a stream; the ``event`` line of each has to name its type."""
    return list(_events(response.text))


def _events(stream: str) -> Iterator[Json]:
    for frame in stream.split("\n\n"):
        if frame.strip():
            name, data = frame.split("\n")
            event = json.loads(data.removeprefix("data: "))
            assert name == f"event: {event['type']}"
            yield event
