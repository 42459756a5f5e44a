"""What a stand-in for the API answers, over HTTP or beneath the client, taken apart for validation."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx2

Json = dict[str, Any]


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


def disorder(events: list[Json]) -> list[str]:
    """What is wrong with the order of ``events``: numbers, begin and end, deltas that do not make up their whole."""
    found = []
    if [event["sequence_number"] for event in events] != list(range(len(events))):
        found.append("sequence numbers are not consecutive")
    types = [event["type"] for event in events]
    if types[:2] != ["response.created", "response.in_progress"]:
        found.append(f"the stream begins with {types[:2]}")
    for text in ("output_text", "refusal", "function_call_arguments"):
        joined: dict[Any, str] = {}
        for event in events:
            if event["type"] == f"response.{text}.delta":
                joined[event["item_id"]] = joined.get(event["item_id"], "") + event["delta"]
            elif event["type"] == f"response.{text}.done":
                whole = event.get("text", event.get("refusal", event.get("arguments")))
                if joined.get(event["item_id"], "") != whole:
                    found.append(f"the deltas of {event['item_id']} are not its {text}")
    items = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    last = events[-1]
    if last["type"] == "response.completed" and last["response"]["output"] != items:
        found.append("the output of the last event is not what was streamed")
    return found
