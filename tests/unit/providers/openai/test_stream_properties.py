"""Decoding a stream: wherever it is cut, and whatever stands in between, it says the same or a typed error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.anything import any_json, any_text, readable_text
from support.figures import count
from support.scale import scaled
from support.wire import USAGE, Wire, ended, event, sse

from memora.errors import ModelError, StreamCut
from memora.model import CallAnnounced, CancelToken, ModelEvent, ModelRequest, ModelResponse, ResponseEnded, TextDelta

pytestmark = pytest.mark.timeout(600)
EXAMPLES = settings(max_examples=scaled(short=60, full=500), deadline=None)
REQUEST = ModelRequest(
    purpose="answer", instructions="", input=({"type": "message", "role": "user", "content": "How many words?"},)
)
Json = dict[str, Any]


@dataclass(frozen=True)
class Framing:
    """How a server writes its events."""

    line_end: str
    space: str
    names_events: bool
    is_ascii: bool
    comment: str

    def written(self, said: Json) -> bytes:
        data = json.dumps(said, ensure_ascii=self.is_ascii)
        name = [f"event:{self.space}{said['type']}"] if self.names_events else []
        lines = [*self.comment.splitlines(), *name, f"data:{self.space}{data}", "", ""]
        return self.line_end.join(lines).encode("utf-8", "backslashreplace")


@dataclass(frozen=True)
class Told:
    """What a stream is meant to say, and the events that say it; the last of them ends it."""

    items: tuple[Json, ...]
    usage: Json | None
    events: tuple[Json, ...]

    @property
    def text(self) -> str:
        return "".join(part["text"] for item in self.items if item["type"] == "message" for part in item["content"])

    @property
    def calls(self) -> tuple[Json, ...]:
        return tuple(item for item in self.items if item["type"] == "function_call")


pieces = st.lists(readable_text.filter(bool), min_size=1, max_size=4)
framings = st.builds(
    Framing,
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    space=st.sampled_from([" ", ""]),
    names_events=st.booleans(),
    is_ascii=st.booleans(),
    comment=st.sampled_from(["", ": keep-alive", "id: 7\nretry: 100"]),
)


@st.composite
def streams(draw: st.DrawFn, *, says_output: st.SearchStrategy[bool] = st.booleans()) -> Told:  # noqa: B008
    """Streams as servers that keep to the rules write them: up to three items, and a terminal event.

    ``says_output``: whether that event repeats the output; otherwise only the events before it do.
    """
    kinds = draw(st.lists(st.sampled_from(["reasoning", "message", "function_call"]), min_size=1, max_size=3))
    items: list[Json] = []
    events: list[Json] = [{"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}}]
    for index, kind in enumerate(kinds):
        said = draw(pieces)
        item = _item(kind, "".join(said), index)
        items.append(item)
        events.append({"type": "response.output_item.added", "output_index": index, "item": _begun(item)})
        events += [
            {"type": _DELTAS[kind], "item_id": item["id"], "output_index": index, "content_index": 0, "delta": piece}
            for piece in said
        ]
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    usage = draw(st.sampled_from([USAGE, None]))
    response = {"id": "resp_1", "model": "test-model", "status": "completed", "usage": usage}
    response["output"] = items if draw(says_output) else []
    return Told(tuple(items), usage, (*events, {"type": "response.completed", "response": response}))


_DELTAS = {
    "reasoning": "response.reasoning_summary_text.delta",
    "message": "response.output_text.delta",
    "function_call": "response.function_call_arguments.delta",
}


def _item(kind: str, said: str, index: int) -> Json:
    item: Json = {"type": kind, "id": f"item_{index}"}
    match kind:
        case "reasoning":
            return item | {"summary": [{"type": "summary_text", "text": said}]}
        case "message":
            part = {"type": "output_text", "text": said, "annotations": []}
            return item | {"role": "assistant", "status": "completed", "content": [part]}
        case _:
            arguments = json.dumps({"text": said})
            return item | {"call_id": f"call_{index}", "name": "count_english_words", "arguments": arguments}


def _begun(item: Json) -> Json:
    return item | {"arguments": "" if "arguments" in item else None, "content": []}


strangers: st.SearchStrategy[Json] = st.builds(
    lambda kind, fields: {**fields, "type": kind},
    st.just("response.shiny.delta") | any_text,
    st.dictionaries(st.sampled_from(["delta", "item", "response", "output_index", "error", "code"]), any_json),
)


def chunks_of(body: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted({cut % (len(body) + 1) for cut in cuts}), len(body)]
    return [body[start:end] for start, end in pairwise(places)]


def decoded(chunks: list[bytes]) -> list[ModelEvent]:
    """All events after the first, which only repeats the request."""
    count("streams decoded")
    _, *events = Wire(sse(*chunks)).model().stream(REQUEST, cancel=CancelToken())
    return events


def response_in(events: list[ModelEvent]) -> ModelResponse:
    assert isinstance(events[-1], ResponseEnded)
    return events[-1].response


def text_in(events: list[ModelEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def check_says(response: ModelResponse, told: Told) -> None:
    assert response.output == told.items
    assert (response.text, response.function_calls) == (told.text, told.calls)
    assert (response.usage is None) == (told.usage is None)
    assert response.usage is None or response.usage.total_tokens == USAGE["total_tokens"]


@EXAMPLES
@given(told=streams(), framing=framings, cuts=st.lists(st.integers(0, 20_000), max_size=12))
def test_a_stream_says_the_same_wherever_it_is_cut_into_chunks(told: Told, framing: Framing, cuts: list[int]) -> None:
    body = b"".join(framing.written(event) for event in told.events)
    in_one_piece = decoded([body])
    assert decoded(chunks_of(body, cuts)) == in_one_piece
    check_says(response_in(in_one_piece), told)
    assert text_in(in_one_piece) == told.text
    announced = [event.call_id for event in in_one_piece if isinstance(event, CallAnnounced)]
    assert announced == [call["call_id"] for call in told.calls]


@settings(max_examples=scaled(short=10, full=150), deadline=None)
@given(told=streams(), framing=framings)
def test_a_stream_says_the_same_byte_by_byte(told: Told, framing: Framing) -> None:
    body = b"".join(framing.written(event) for event in told.events)
    assert decoded([bytes([byte]) for byte in body]) == decoded([body])


@EXAMPLES
@given(told=streams(), framing=framings, end=st.floats(0, 1, exclude_max=True))
def test_a_stream_that_ends_at_any_byte_before_its_end_is_cut_and_what_came_is_its_beginning(
    told: Told, framing: Framing, end: float
) -> None:
    body = b"".join(framing.written(event) for event in told.events)
    last = len(framing.written(told.events[-1]))
    arrived: list[ModelEvent] = []
    try:
        for event in Wire(sse(body[: int(end * (len(body) - last))])).model().stream(REQUEST, cancel=CancelToken()):
            arrived.append(event)
    except StreamCut:
        assert told.text.startswith(text_in(arrived))
    else:
        raise AssertionError("a stream without a terminal event came to an end")


def disturbed(told: Told, *, data: st.DataObject) -> list[Json]:
    """The events of ``told`` in any order but for the last, some of them twice, and strangers in between."""
    events = data.draw(st.permutations(told.events[:-1]))
    events += data.draw(st.lists(st.sampled_from(told.events[:-1]), max_size=3))
    for stranger in data.draw(st.lists(strangers, max_size=3)):
        events.insert(data.draw(st.integers(0, len(events))), stranger)
    return [*events, told.events[-1], *data.draw(st.lists(st.sampled_from(told.events), max_size=2))]


@EXAMPLES
@given(told=streams(), framing=framings, data=st.data())
def test_strange_repeated_and_reordered_events_end_in_the_same_response_or_in_a_typed_error(
    told: Told, framing: Framing, data: st.DataObject
) -> None:
    body = b"".join(framing.written(event) for event in disturbed(told, data=data))
    try:
        response = response_in(decoded([body]))
    except ModelError:
        return
    check_says(response, told)


@EXAMPLES
@given(told=streams(says_output=st.just(True)), framing=framings, place=st.integers(0, 20))
def test_a_terminal_event_that_comes_early_still_says_everything(told: Told, framing: Framing, place: int) -> None:
    *events, last = told.events
    events.insert(place % len(told.events), last)
    check_says(response_in(decoded([b"".join(framing.written(event) for event in events)])), told)


def test_a_call_that_is_told_twice_is_one_call() -> None:
    call = _item("function_call", "one two", 0)
    done = event("response.output_item.done", output_index=0, item=call)
    assert response_in(decoded([done, done, ended(output=[])])).output == (call,)


@EXAMPLES
@given(lines=st.lists(st.binary(max_size=40) | any_text.map(lambda text: text.encode("utf-8", "replace")), max_size=8))
@example(lines=[b'data: {"type": "response.shiny", "v": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"])
@example(lines=[b'data: {"type": "error", "v": ' + b"[" * 300 + b"]" * 300 + b"}"])
@example(lines=[b'data: {"type": "response.completed", "response": {"id": "\\ud800", "\\ud800": 1}}'])
@example(lines=[b"data: " + b"9" * 5_000])
@example(lines=[b"\xff"])
def test_whatever_bytes_come_end_in_a_response_or_in_a_typed_error(lines: list[bytes]) -> None:
    body = b"".join((b"" if line.startswith(b"data: ") else b"data: ") + line + b"\n\n" for line in lines)
    try:
        response_in(decoded([body]))
    except ModelError as error:
        assert error.as_failure().detail.encode()
