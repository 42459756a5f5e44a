"""The checks see what they are there to see: valid bodies, events and responses are spoiled, and each is caught."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import httpx2
import pytest
from conformance import openapi, rules, sdk_types, sequence, tally
from conformance.corpus import COUNT, Corpus
from conformance.exchanges import asking, events_of, post

from memora.providers.demo import DemoTransport, TriggerFaults

Json = dict[str, Any]
Mutation = Callable[[Json], bool]
"""Changes a value in place; False where there is nothing to change."""


def place_of(body: Json, kind: str) -> int:
    """Where the first item of a ``kind`` is, or -1."""
    return next((place for place, item in enumerate(body["input"]) if item.get("type") == kind), -1)


def change_item(kind: str, change: Callable[[Json], object]) -> Mutation:
    def mutate(body: Json) -> bool:
        if (place := place_of(body, kind)) >= 0:
            change(body["input"][place])
        return place >= 0

    return mutate


def change_items(kind: str, change: Callable[[list[Json], int], object]) -> Mutation:
    def mutate(body: Json) -> bool:
        if (place := place_of(body, kind)) >= 0:
            change(body["input"], place)
        return place >= 0

    return mutate


def change_body(change: Callable[[Json], object], *, needs: str = "model") -> Mutation:
    def mutate(body: Json) -> bool:
        is_there = needs in body
        if is_there:
            change(body)
        return is_there

    return mutate


def swap(items: list[Json], place: int) -> None:
    items[place], items[place + 1] = items[place + 1], items[place]


def swap_with_output(body: Json) -> bool:
    """Put the first call behind its output."""
    items = body["input"]
    if (place := place_of(body, "function_call")) >= 0:
        items.append(items.pop(place))
    return place >= 0


CALL, OUTPUT, REASONING, MESSAGE = "function_call", "function_call_output", "reasoning", "message"
SDK, DOCUMENT, RULES = sdk_types.NAME, openapi.NAME, rules.NAME
BODIES: dict[str, tuple[Mutation, set[str]]] = {
    "parsed_arguments on a call": (change_item(CALL, lambda c: c.update(parsed_arguments={})), {SDK, DOCUMENT, RULES}),
    "null in a call": (change_item(CALL, lambda call: call.update(caller=None)), {RULES}),
    "null at the top": (change_body(lambda body: body.update(metadata=None)), {RULES}),
    "unknown key on an item": (change_item(MESSAGE, lambda item: item.update(colour="red")), {SDK, DOCUMENT}),
    "unknown key at the top": (change_body(lambda body: body.update(colour="red")), {SDK, DOCUMENT}),
    "call and output swapped": (swap_with_output, {RULES}),
    "reasoning and its call swapped": (change_items(REASONING, swap), {RULES}),
    "output dropped": (change_items(OUTPUT, lambda items, place: items.pop(place)), {RULES}),
    "output doubled": (change_items(OUTPUT, lambda items, place: items.append(items[place])), {RULES}),
    "call dropped": (change_items(CALL, lambda items, place: items.pop(place)), {RULES}),
    "call doubled": (change_items(CALL, lambda items, place: items.insert(place, items[place])), {RULES}),
    "call id changed": (change_item(CALL, lambda call: call.update(call_id="call_other")), {RULES}),
    "arguments as an object": (change_item(CALL, lambda call: call.update(arguments={})), {SDK, DOCUMENT}),
    "name left out": (change_item(CALL, lambda call: call.pop("name")), {SDK, DOCUMENT}),
    "output left out": (change_item(OUTPUT, lambda output: output.pop("output")), {SDK, DOCUMENT}),
    "type of a message left out": (change_item(MESSAGE, lambda item: item.pop("type")), {RULES}),
    "unknown role": (change_item(MESSAGE, lambda item: item.update(role="tutor")), {SDK, DOCUMENT}),
    "unknown type of item": (change_item(MESSAGE, lambda item: item.update(type="thought")), {SDK, DOCUMENT}),
    "reasoning alone at the end": (
        change_items(REASONING, lambda items, place: items.append(items.pop(place))),
        {RULES},
    ),
    "reasoning without a summary": (change_item(REASONING, lambda item: item.pop("summary")), {SDK, DOCUMENT}),
    "tool choice without tools": (change_body(lambda body: body.pop("tools"), needs="tools"), {RULES}),
    "unknown tool choice": (change_body(lambda body: body.update(tool_choice="never"), needs="tools"), {SDK, DOCUMENT}),
    "tool without parameters": (change_body(lambda b: b["tools"][0].pop("parameters"), needs="tools"), {SDK, DOCUMENT}),
    "tool without strict": (change_body(lambda b: b["tools"][0].pop("strict"), needs="tools"), {SDK, DOCUMENT}),
    "stored": (change_body(lambda body: body.update(store=True)), {RULES}),
    "unknown include": (change_body(lambda b: b.update(include=["everything"]), needs="include"), {SDK, DOCUMENT}),
    "format without a name": (change_body(lambda b: b["text"]["format"].pop("name"), needs="text"), {SDK, DOCUMENT}),
}
ANSWERS: dict[str, tuple[str, Mutation]] = {
    "unknown key in an event": ("response.output_text.delta", lambda e: e.update(colour="red") is None),
    "delta left out": ("response.output_text.delta", lambda e: e.pop("delta") is not None),
    "sequence number left out": ("response.completed", lambda e: e.pop("sequence_number") is not None),
    "item without an id": ("response.output_item.done", lambda e: e["item"].pop("id") is not None),
    "unknown key in an item": ("response.output_item.done", lambda e: e["item"].update(colour="red") is None),
    "unknown key in the response": ("response.completed", lambda e: e["response"].update(colour="red") is None),
    "output left out": ("response.completed", lambda e: e["response"].pop("output") is not None),
    "unknown status": ("response.completed", lambda e: e["response"].update(status="finished") is None),
    "usage without a total": ("response.completed", lambda e: bool(e["response"]["usage"].pop("total_tokens"))),
    "unknown type of event": ("response.completed", lambda e: e.update(type="response.over") is None),
}


def spoiled(values: list[Json], mutation: Mutation) -> Iterator[Json]:
    for value in values:
        copied = copy.deepcopy(value)
        if mutation(copied):
            yield copied


def caught_by(value: Json, schema: str) -> set[str]:
    return {name for name, complaints in tally.complaints(value, schema).items() if complaints}


def expected(names: set[str]) -> set[str]:
    return names if openapi.document() is not None else names - {DOCUMENT}


@pytest.mark.parametrize("name", BODIES)
def test_a_spoiled_body_is_caught(corpus: Corpus, name: str) -> None:
    mutation, catchers = BODIES[name]
    found = [caught_by(body, "CreateResponse") for body in islice(spoiled(corpus.bodies(), mutation), 12)]
    assert found
    assert all(expected(catchers) <= each for each in found), found


@pytest.fixture(scope="module")
def events() -> list[Json]:
    transport = DemoTransport(faults=TriggerFaults(), words_per_second=100_000)
    with httpx2.Client(base_url="http://demo.test/v1", transport=transport) as client:
        return events_of(post(client, "/responses", asking("An example of the present perfect, please.")))


@pytest.mark.parametrize("name", ANSWERS)
def test_a_spoiled_answer_is_caught(events: list[Json], name: str) -> None:
    kind, mutation = ANSWERS[name]
    found = [
        caught_by(event, "ResponseStreamEvent")
        for event in spoiled([event for event in events if event["type"] == kind], mutation)
    ]
    assert found
    assert all(each == expected({SDK, DOCUMENT}) for each in found), found


STREAMS: dict[str, Callable[[list[Json]], object]] = {
    "two events swapped": lambda events: events.insert(3, events.pop(4)),
    "an event left out": lambda events: events.pop(5),
    "no end": lambda events: events.pop(),
    "two ends": lambda events: events.append({**events[-1], "sequence_number": len(events)}),
    "another id in the end": lambda events: events[-1]["response"].update(id="resp_other"),
    "an output that was not streamed": lambda events: events[-1]["response"]["output"].clear(),
    "tokens that do not sum up": lambda events: events[-1]["response"]["usage"].update(total_tokens=1),
}


@pytest.mark.parametrize("name", STREAMS)
def test_a_spoiled_stream_is_caught(events: list[Json], name: str) -> None:
    assert sequence.complaints(events) == []
    copied = copy.deepcopy(events)
    STREAMS[name](copied)
    assert sequence.complaints(copied)


def test_a_delta_that_does_not_belong_is_caught(events: list[Json]) -> None:
    copied = copy.deepcopy(events)
    next(event for event in copied if event["type"] == "response.output_text.delta")["delta"] += "!"
    assert sequence.complaints(copied)


SCHEMAS: dict[str, Callable[[Json], object]] = {
    "an optional argument": lambda schema: schema["required"].clear(),
    "further arguments allowed": lambda schema: schema.pop("additionalProperties"),
    "a keyword that strict mode refuses": lambda schema: schema["properties"]["text"].update(default=""),
    "no object": lambda schema: schema.update(type="string"),
    "no JSON schema": lambda schema: schema.update(properties=7),
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_that_the_api_refuses_is_caught(name: str) -> None:
    body = asking("Hello.")
    assert rules.complaints(body) == []
    spoiled_body = copy.deepcopy(body)
    SCHEMAS[name](spoiled_body["tools"][0]["parameters"])
    assert rules.complaints(spoiled_body)


def test_a_replayed_item_of_an_earlier_turn_is_caught(corpus: Corpus) -> None:
    second = next(body for body in corpus.bodies() if place_of(body, CALL) >= 0)
    assert rules.replays([second])
    assert rules.replays([{"input": [{"type": "message", "role": "user", "content": "a", "id": "msg_1"}]}])


@pytest.mark.parametrize("change", [list.reverse, list.pop, lambda items: items.insert(1, items[-1])])
def test_an_output_that_is_not_carried_on_whole_and_in_order_is_caught(change: Callable[[list[Json]], Any]) -> None:
    output = [{"type": "reasoning", "id": "rs_1"}, {"type": "function_call", "id": "fc_1", "call_id": "call_1"}]
    asked = [{"type": "message", "role": "user", "content": COUNT}]
    answer = {"type": "function_call_output", "call_id": "call_1"}
    assert rules.carries_on({"input": asked}, output, {"input": [*asked, *output, answer]}) == []
    changed = list(output)
    change(changed)
    assert rules.carries_on({"input": asked}, output, {"input": [*asked, *changed, answer]})
