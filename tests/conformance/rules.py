"""What no schema says about a request, and the API refuses or misunderstands all the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from conformance import json_schemas

NAME = "rules"
Json = dict[str, Any]

_CALL, _OUTPUT = "function_call", "function_call_output"


def complaints(body: Json, schema: str = "CreateResponse") -> list[str]:
    """What the rules have against a request ``body`` of ``POST /responses`` or of ``/responses/input_tokens``."""
    items = body.get("input")
    return [
        *(f"{name} is missing" for name in ("model", "input") if not body.get(name)),
        *_nulls_and_leftovers(body, "$"),
        *_choice(body),
        *(["store is not false"] if schema == "CreateResponse" and body.get("store") is not False else ()),
        *json_schemas.complaints(body),
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


def carries_on(first: Json, output: list[Json], second: Json) -> list[str]:
    """Whether ``second``'s input is that of ``first``, its whole ``output``, in order, then answers only."""
    known = [*first["input"], *output]
    if second["input"][: len(known)] != known:
        return ["request 2 does not begin with request 1's input and its whole output, in order"]
    answers = second["input"][len(known) :]
    called = [item["call_id"] for item in output if item["type"] == "function_call"]
    if [(item.get("type"), item.get("call_id")) for item in answers] != [(_OUTPUT, call_id) for call_id in called]:
        return ["request 2 does not end with the output of each call, in order"]
    return []


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
    for name in ("tool_choice", "parallel_tool_calls"):
        if name in body and not body.get("tools"):
            yield f"{name} without tools"
        if name not in body and body.get("tools"):
            yield f"tools without {name}"


def _items(items: list[Any]) -> Iterator[str]:
    objects = [item for item in items if isinstance(item, dict)]
    if len(objects) < len(items):
        yield "input holds something that is no item"
    yield from (f"input[{place}] has no type" for place, item in enumerate(objects) if "type" not in item)
    yield from _pairs(objects)
    ids = Counter(str(item["id"]) for item in objects if "id" in item)
    yield from (f"id {name} twice" for name, times in ids.items() if times > 1)
    for place, item in enumerate(objects):
        if item.get("type") == "reasoning":
            follower = objects[place + 1] if place + 1 < len(objects) else {}
            if follower.get("type") not in ("reasoning", _CALL, "message") or follower.get("role") == "user":
                yield f"input[{place}] is reasoning without the item it led to"


def _pairs(items: list[Json]) -> Iterator[str]:
    """Every call has exactly one output, after it, and the other way round."""
    calls = [str(item.get("call_id")) for item in items if item.get("type") == _CALL]
    outputs = [str(item.get("call_id")) for item in items if item.get("type") == _OUTPUT]
    if sorted(calls) != sorted(outputs) or len(set(calls)) != len(calls):
        yield f"calls {calls} and outputs {outputs} do not pair"
    called: set[str] = set()
    for place, item in enumerate(items):
        call_id = str(item.get("call_id"))
        if item.get("type") == _CALL:
            called.add(call_id)
        elif item.get("type") == _OUTPUT and call_id not in called:
            yield f"input[{place}] answers a call that did not come before it"
