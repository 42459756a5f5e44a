"""What no schema says about a request, and the API refuses or misunderstands all the same."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

NAME = "rules"
Json = dict[str, Any]


def complaints(body: Json, schema: str = "CreateResponse") -> list[str]:
    """What the rules have against a request ``body`` of ``POST /responses`` or of ``/responses/input_tokens``."""
    items = body.get("input")
    return [
        *_nulls_and_leftovers(body, "$"),
        *(_choice(body) if schema.startswith("CreateResponse") else ()),
        *(_items(items) if isinstance(items, list) else ()),
    ]


def replays(bodies: list[Json]) -> list[str]:
    """What of an earlier turn comes back in a later one: ``bodies`` are the first requests of a conversation's turns.

    Across turns only text travels: no ids, no reasoning, no calls.
    """
    return [
        f"turn {turn}, input[{place}] is a {item.get('type')} {item.get('id', '')}".rstrip()
        for turn, body in enumerate(bodies)
        for place, item in enumerate(body["input"])
        if item.get("type") != "message" or "id" in item
    ]


def carries_on(first_output: list[Json], first_input: list[Json], second_input: list[Json]) -> list[str]:
    """Whether request 2 is request 1's input, its whole output in order, and then only outputs of calls."""
    known = [_identity(item) for item in (*first_input, *first_output)]
    sent = [_identity(item) for item in second_input]
    if sent[: len(known)] != known:
        return ["request 2 does not begin with request 1's input and its whole output, in order"]
    rest = {item.get("type") for item in second_input[len(known) :]}
    return [] if rest == {"function_call_output"} else [f"request 2 ends with {sorted(map(str, rest))}"]


def _identity(item: Json) -> tuple[Any, ...]:
    return item.get("type"), item.get("id"), item.get("call_id"), json.dumps(item.get("content"), sort_keys=True)


def _nulls_and_leftovers(value: Any, where: str) -> Iterator[str]:
    if value is None:
        yield f"{where} is null"
    elif isinstance(value, dict):
        for name, nested in value.items():
            if name.startswith("parsed"):
                yield f"{where}.{name} was added by the SDK and is refused"
            yield from _nulls_and_leftovers(nested, f"{where}.{name}")
    elif isinstance(value, list):
        for place, nested in enumerate(value):
            yield from _nulls_and_leftovers(nested, f"{where}[{place}]")


def _choice(body: Json) -> Iterator[str]:
    if body.get("store") is not False:
        yield "store is not false"
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and not body.get("tools"):
            yield f"{name} without tools"
        if name not in body and body.get("tools"):
            yield f"tools without {name}"


def _items(items: list[Json]) -> Iterator[str]:
    yield from (f"input[{place}] has no type" for place, item in enumerate(items) if "type" not in item)
    yield from _pairs(items)
    ids = Counter(item["id"] for item in items if "id" in item)
    yield from (f"id {name} twice" for name, times in ids.items() if times > 1)
    for place, item in enumerate(items):
        if item.get("type") == "reasoning":
            follower = items[place + 1].get("type") if place + 1 < len(items) else None
            if follower not in ("reasoning", "function_call", "message"):
                yield f"input[{place}] is reasoning without the item it led to"


def _pairs(items: list[Json]) -> Iterator[str]:
    """Every call has exactly one output, after it, and the other way round."""
    calls = [item.get("call_id") for item in items if item.get("type") == "function_call"]
    outputs = [item.get("call_id") for item in items if item.get("type") == "function_call_output"]
    if sorted(map(str, calls)) != sorted(map(str, outputs)) or len(set(calls)) != len(calls):
        yield f"calls {calls} and outputs {outputs} do not pair"
    called: set[Any] = set()
    for place, item in enumerate(items):
        if item.get("type") == "function_call":
            called.add(item.get("call_id"))
        elif item.get("type") == "function_call_output" and item.get("call_id") not in called:
            yield f"input[{place}] answers a call that did not come before it"
