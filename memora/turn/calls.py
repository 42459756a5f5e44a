"""The function calls of a response, made safe to be told, answered and sent back."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable

from memora.model import Item


def with_distinct_call_ids(output: Iterable[Item], *, taken: Collection[str] = ()) -> tuple[Item, ...]:
    """``output`` with a new ``call_id`` for every call whose own is empty, missing, or used already.

    Calls and their outputs are joined by ``call_id``, and some servers number every response from the start.
    """
    used = set(taken)
    items: list[Item] = []
    for item in output:
        if item.get("type") != "function_call":
            items.append(item)
            continue
        call_id = item.get("call_id")
        if not isinstance(call_id, str) or not call_id or call_id in used:
            call_id = _unused_call_id(used)
        used.add(call_id)
        items.append({**item, "call_id": call_id})
    return tuple(items)


def name_of(call: Item) -> str:
    """The function's name; empty where the server left it out."""
    name = call.get("name")
    return name if isinstance(name, str) else ""


def arguments_of(call: Item) -> str:
    """The arguments as text, also where the server did not encode them."""
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)


def output_item(call: Item, output: str) -> Item:
    """The item that answers ``call``; ``output`` is a JSON string."""
    return {"type": "function_call_output", "call_id": call["call_id"], "output": output}


def _unused_call_id(used: Collection[str]) -> str:
    number = 1
    while f"call_memora_{number}" in used:
        number += 1
    return f"call_memora_{number}"
