"""Whether the events of one stream belong together, which no schema of a single event can say."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

NAME = "order of events"
NO_END = "the stream does not have one end, at its end"
Json = dict[str, Any]

_BEGIN = ["response.created", "response.in_progress"]
_ENDS = {f"response.{status}": status for status in ("completed", "incomplete", "failed")}
_GROWING = {"output_text": "text", "refusal": "refusal", "function_call_arguments": "arguments"}
"""What comes in deltas, and the field that grows by them."""
_SETTLED_LATER = ("status", "encrypted_content")
"""What an item has from its announcement on, but not for good."""


def complaints(events: list[Json]) -> list[str]:
    """What is wrong with a whole stream: its numbers, its begin and end, and how its items come about."""
    return [*_frame(events), *_items(events)]


def _frame(events: list[Json]) -> Iterator[str]:
    types = [event["type"] for event in events]
    if [event.get("sequence_number") for event in events] != list(range(len(events))):
        yield "the sequence numbers are not consecutive"
    if types[:2] != _BEGIN or any(kind in _BEGIN for kind in types[2:]):
        yield f"the stream begins with {types[:2]}, or begins again"
    if [place for place, kind in enumerate(types) if kind in _ENDS or kind == "error"] != [len(types) - 1]:
        yield NO_END
    responses = [event["response"] for event in events if "response" in event]
    if len({response["id"] for response in responses}) > 1:
        yield "the id of the response changes"
    statuses = [_ENDS.get(event["type"], "in_progress") for event in events if "response" in event]
    if [response.get("status") for response in responses] != statuses:
        yield "the response has another status than its event"
    usage = responses[-1].get("usage")
    if usage and usage["total_tokens"] != usage["input_tokens"] + usage["output_tokens"]:
        yield "the tokens do not sum up"


def _items(events: list[Json]) -> Iterator[str]:
    """Items are announced one after the other, each comes about by its events, and the last event holds them all."""
    items: list[list[Json]] = []
    for event in (event for event in events if "output_index" in event):
        if event["type"] == "response.output_item.added":
            items.append([])
        if event["output_index"] != len(items) - 1:
            yield f"event {event['sequence_number']} is of item {event['output_index']}, not of {len(items) - 1}"
            return
        items[-1].append(event)
    for told in items:
        yield from _item(told)
    done = [event["item"] for event in events if event["type"] == "response.output_item.done"]
    if events[-1]["type"] in _ENDS and events[-1]["response"]["output"] != done:
        yield "the output of the last event is not what was done"


def _item(events: list[Json]) -> Iterator[str]:
    """Build the item from its events; each that says what it should be by then has to be right."""
    item = copy.deepcopy(events[0]["item"])
    is_done = False
    for event in events[1:]:
        where = f"event {event['sequence_number']} ({event['type']})"
        if is_done or event.get("item_id", item.get("id")) != item.get("id"):
            yield f"{where} is not of item {item.get('id')}, or comes after its end"
            return
        try:
            said, built = _said_and_built(item, event)
        except LookupError:
            yield f"{where} is of something that was never announced"
            return
        if said != built:
            yield f"{where} says {said!r:.100} and the events made {built!r:.100}"
        is_done = event["type"] == "response.output_item.done"


def _said_and_built(item: Json, event: Json) -> tuple[Any, Any]:
    """Let ``item`` grow by ``event``; what the event says of it (nothing: the same twice), and what it is by now."""
    _, subject, kind = event["type"].split(".")
    if subject == "output_item":
        return _settled(event["item"]), _settled(item)
    if subject == "content_part" and kind == "added":
        item["content"].append(copy.deepcopy(event["part"]))
        return event["content_index"], len(item["content"]) - 1
    holder = item["content"][event["content_index"]] if "content_index" in event else item
    if subject == "content_part":
        return event["part"], holder
    name = _GROWING[subject]
    if kind == "delta":
        holder[name] += event["delta"]
        return holder, holder
    return (event[name], event.get("name")), (holder[name], holder.get("name"))


def _settled(item: Json) -> Json:
    return {name: value for name, value in item.items() if name not in _SETTLED_LATER}
