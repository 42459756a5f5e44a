"""The two-request flow above the real OpenAI client: what is posted, byte for byte of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from support.odd_streams import streams
from support.scale import scaled
from support.wire import Chunk, Wire, delta, ended, event, item_done, sse

from memora.tools import TOOLS
from memora.turn import ModelReply, run_model_with_tools
from memora.turn.events import Event, RequestStarted, event_from_json, event_to_json

QUESTION = {"type": "message", "role": "user", "content": "請數一數：I don't know the answer."}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [],
    "content": None,
    "encrypted_content": "opaque",
    "status": "completed",
}
COMMENT = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "我來數。", "annotations": [], "logprobs": None}],
}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_7",
    "name": "count_english_words",
    "arguments": '{"text": "I don\'t know the answer."}',
    "status": "completed",
    "caller": None,
    "parsed_arguments": None,
}
ANSWER = {
    "type": "message",
    "id": "msg_2",
    "role": "assistant",
    "status": "completed",
    "content": [{"type": "output_text", "text": "共 5 個單字。", "annotations": []}],
}


def answer(wire: Wire) -> tuple[ModelReply, list[Event]]:
    events: list[Event] = []
    reply = run_model_with_tools(
        input_messages=[QUESTION], model=wire.model(), instructions="Be kind.", emit=events.append
    )
    return reply, events


LARGEST_IN_THE_RECORD = 2**63

COMMON: dict[str, Any] = {
    "model": "test-model",
    "instructions": "Be kind.",
    "tools": TOOLS,
    "parallel_tool_calls": False,
    "include": ["reasoning.encrypted_content"],
    "store": False,
    "stream": True,
}


@pytest.mark.parametrize(
    "first",
    [
        [delta("我來數。"), ended(REASONING, COMMENT, CALL)],
        [item_done(REASONING), item_done(COMMENT), item_done(CALL), ended(output=[])],
        [event("response.output_item.added", item=CALL), ended(REASONING, COMMENT, CALL, usage=None)],
    ],
    ids=["as OpenAI does", "output left out", "usage left out"],
)
def test_both_requests_have_exactly_these_bodies(first: list[Chunk]) -> None:
    wire = Wire(sse(*first), sse(delta("共 5 個"), delta("單字。"), ended(ANSWER)))
    reply, _ = answer(wire)
    assert (reply.text, reply.state, reply.requests) == ("共 5 個單字。", "done", 2)
    one, two = wire.bodies
    assert one == {**COMMON, "input": [QUESTION], "tool_choice": "auto"}
    assert two == {
        **COMMON,
        "tool_choice": "none",
        "input": [
            QUESTION,
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
            {
                "type": "message",
                "id": "msg_1",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "我來數。", "annotations": []}],
            },
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_7",
                "name": "count_english_words",
                "arguments": '{"text": "I don\'t know the answer."}',
                "status": "completed",
            },
            {
                "type": "function_call_output",
                "call_id": "call_7",
                "output": '{"ok": true, "result": {"word_count": 5, '
                '"counting_rule": "English letter sequences; contractions count as one word"}}',
            },
        ],
    }


def test_the_bodies_told_are_the_bodies_sent_but_for_the_input_that_was_told_before() -> None:
    wire = Wire(sse(ended(REASONING, CALL)), sse(ended(ANSWER)))
    _, events = answer(wire)
    first, second = (event.body for event in events if isinstance(event, RequestStarted))
    assert first == wire.bodies[0]
    assert {**second, "input": [QUESTION, *second["input"]]} == wire.bodies[1]


def test_an_answer_cut_in_the_second_request_keeps_what_arrived() -> None:
    reply, _ = answer(Wire(sse(ended(CALL)), sse(delta("共 5"))))
    assert (reply.text, reply.state) == ("共 5", "cut_off")
    assert reply.failure is not None
    assert reply.failure.code == "stream_cut"


@given(streams, streams)
@example([event("response.output_item.added", item={**CALL, "name": "\ud800"}), ended(CALL)], [delta("a")])
@example([ended({**CALL, "\ud800": 1})], [])
@example([ended(ANSWER, id="\ud800", model="\ud800")], [])
@example([ended(ANSWER, kind="response.failed", error={"message": "\ud800"})], [])
@example([ended({**CALL, "more": json.loads("[" * 150 + "]" * 150)})], [delta("a"), ended(ANSWER)])
@example([ended({**CALL, "arguments": json.loads("[" * 400 + "]" * 400)})], [])
@example([ended({**ANSWER, "content": [None, "a", 1, []]}, usage=None)], [])
@example([ended({**ANSWER, "content": 5}, usage=None)], [])
@example([ended({"content": [None]}, usage=None)], [])
@example([ended(ANSWER, usage={"input_tokens": 10**30, "output_tokens": 1})], [])
@settings(max_examples=scaled(short=25, full=500), deadline=None)
def test_whatever_shape_the_streams_have_the_turn_ends_with_a_reply(first: list[bytes], second: list[bytes]) -> None:
    wire = Wire(sse(*first), sse(*second))
    reply, events = answer(wire)
    assert reply.text or reply.failure
    assert [event_from_json(event_to_json(each)) for each in events] == events
    assert reply.usage.total_tokens < LARGEST_IN_THE_RECORD
    assert len(wire.bodies) <= 2
