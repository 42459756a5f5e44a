"""Responses and events in the API's shape, checked against the SDK's own types."""

import pytest
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from memora.providers.demo.reply import FunctionCall, Reasoning, Refusal, Reply, Text, say
from memora.providers.demo.wire import response_body, response_events, text_pieces

TOOL = {
    "type": "function",
    "name": "count_english_words",
    "description": "Counts.",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    "strict": True,
}
BODY = {"model": "some-model", "instructions": "Teach.", "input": "hi", "tools": [TOOL], "tool_choice": "auto"}
CALL = Reply(parts=(FunctionCall("count_english_words", '{"text": "I do not know the answer."}'),))
REPLIES = {
    "text": say("你好，hello there!"),
    "call": CALL,
    "everything": Reply(parts=(Reasoning("secret"), Text("Let me see."), *CALL.parts)),
    "refusal": Reply(parts=(Refusal("I cannot."),)),
    "incomplete": Reply(parts=(Text("I was going to"),), status="incomplete"),
    "failed": Reply(parts=(), status="failed"),
    "empty": Reply(parts=()),
    "no usage": Reply(parts=(Text("hi"),), reports_usage=False),
}
every_reply = pytest.mark.parametrize("reply", REPLIES.values(), ids=REPLIES.keys())


def kinds(reply):
    return [event["type"] for event in response_events(reply, BODY)]


@every_reply
def test_every_response_is_valid_by_the_sdks_types(reply):
    Response.model_validate(response_body(reply, BODY), strict=True)


@every_reply
def test_every_event_is_valid_by_the_sdks_types(reply):
    adapter = TypeAdapter(ResponseStreamEvent)
    for event in response_events(reply, BODY):
        assert adapter.validate_python(event).type == event["type"]


@every_reply
def test_events_are_numbered_without_a_gap(reply):
    events = list(response_events(reply, BODY))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


@every_reply
def test_a_stream_ends_with_the_whole_response(reply):
    *_, last = response_events(reply, BODY)
    done = [event["item"] for event in response_events(reply, BODY) if event["type"] == "response.output_item.done"]
    assert last["type"] == f"response.{reply.status}"
    assert [item["type"] for item in last["response"]["output"]] == [item["type"] for item in done]


def test_a_text_streams_in_the_order_of_the_real_api():
    assert kinds(say("one two")) == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]


def test_a_call_streams_its_arguments_and_announces_its_name_first():
    events = list(response_events(CALL, BODY))
    added = next(event["item"] for event in events if event["type"] == "response.output_item.added")
    deltas = [event["delta"] for event in events if event["type"] == "response.function_call_arguments.delta"]
    done = next(event for event in events if event["type"] == "response.function_call_arguments.done")
    assert (added["name"], added["arguments"]) == ("count_english_words", "")
    assert added["call_id"].startswith("call_")
    assert len(deltas) > 1
    assert "".join(deltas) == done["arguments"] == CALL.parts[0].arguments


def test_events_of_an_item_carry_its_id_and_place():
    events = [event for event in response_events(REPLIES["everything"], BODY) if "item_id" in event]
    ids = {event["output_index"]: event["item_id"] for event in events}
    assert set(ids) == {1, 2}
    assert all(ids[event["output_index"]] == event["item_id"] for event in events)


@pytest.mark.parametrize("text", ["", " ", "你好，世界！", "a  b\n\nc ", "我叫 Tom，住在 Taipei。", "😀 naïve café\t"])
def test_the_pieces_of_a_text_are_the_text(text):
    assert "".join(text_pieces(text)) == text


def test_chinese_streams_by_pairs_of_characters():
    assert text_pieces("我住在台北") == ["我住", "在台", "北"]


def test_the_response_names_the_model_that_was_asked_for_and_echoes_the_request():
    response = response_body(say("hi"), BODY)
    assert response["model"] == "some-model"
    assert (response["instructions"], response["tools"], response["tool_choice"]) == ("Teach.", [TOOL], "auto")


def test_usage_counts_input_and_output_and_their_sum():
    usage = response_body(say("你好世界"), BODY)["usage"]
    assert usage["output_tokens"] == 4
    assert usage["input_tokens"] > 20
    assert usage["total_tokens"] == usage["input_tokens"] + 4


def test_ids_are_never_used_twice():
    ids = [response_body(CALL, BODY)["output"][0]["call_id"] for _ in range(20)]
    assert len(set(ids)) == 20
