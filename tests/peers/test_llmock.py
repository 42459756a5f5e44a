"""Memora against llmock, a server and a set of faults that nobody here wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from openai import OpenAI
from peers.llmock_server import Llmock
from support.talking import open_conversation, say, trace_of

from memora.assembly import LOCAL_USER, App
from memora.model import CancelToken, ResponseEnded
from memora.providers.openai.failures import endpoint_of
from memora.providers.openai.stream import read_stream, read_whole
from memora.turn.ports import Turn
from memora.turn.spans import CallSpan, RequestSpan

SENTENCE = "I have studied English for three years."
QUESTION = f"How many words are in “{SENTENCE}”?"
ANSWER = {"type": "reply", "text": "There are seven words."}
CALL = {"type": "reply", "tool_calls": [{"name": "count_english_words", "arguments": {"text": SENTENCE}}]}
NOTHING_LEARNED = {"type": "reply", "text": '{"memories": [], "profile": []}', "times": None}
STREAMED = {"type": "stream_fault", "after_chunks": 5}


@pytest.fixture
def ask(app: App, server: Llmock) -> Any:
    """Script the server, ask a question in a new conversation, and return the turn."""

    def ask(*script: dict[str, Any], text: str = QUESTION) -> Turn:
        server.script(*script, NOTHING_LEARNED)
        return say(app, open_conversation(app), text)

    return ask


def spans(app: App, turn: Turn, kind: type[Any]) -> list[Any]:
    return [span for span in trace_of(app, turn).spans if isinstance(span, kind)]


def test_the_two_requests_of_a_turn_with_a_call(app: App, server: Llmock, ask: Any) -> None:
    turn = ask(CALL, ANSWER)
    assert (turn.state, turn.reply) == ("done", "There are seven words.")
    (call,) = spans(app, turn, CallSpan)
    assert json.loads(call.output)["result"]["word_count"] == 7
    first, second = (request["body"] for request in server.requests()[:2])
    assert first["input"] == second["input"][: len(first["input"])]
    assert [item["type"] for item in second["input"][-2:]] == ["function_call", "function_call_output"]
    assert (first["tool_choice"], second["tool_choice"]) == ("auto", "none")


def test_what_it_received_is_what_the_trace_says(app: App, server: Llmock, ask: Any) -> None:
    turn = ask(CALL, ANSWER)
    told = spans(app, turn, RequestSpan)
    received = [request["body"] for request in server.requests()[:2]]
    assert told[0].body == received[0]
    assert told[1].body["input"] == received[1]["input"][len(received[0]["input"]) :]


def test_tokens_are_the_ones_it_reports(app: App, ask: Any) -> None:
    turn = ask(CALL, ANSWER)
    usages = [span.usage for span in spans(app, turn, RequestSpan)]
    assert all(usage.input_source == usage.output_source == "reported" for usage in usages)
    assert turn.response_tokens == sum(usage.total_tokens for usage in usages)


def test_a_whole_turn_without_a_script_ends_in_an_answer(app: App, server: Llmock) -> None:
    """Left alone, llmock calls the function with arguments of its own, answers, and follows the schemas."""
    turn = say(app, open_conversation(app), "I live in Taipei. How many words is that?")
    assert turn.state == "done"
    assert turn.reply
    assert turn.learning == "done"
    assert [call.status for call in spans(app, turn, CallSpan)] == ["ok"]


def test_a_response_in_one_piece_reads_like_a_streamed_one(server: Llmock) -> None:
    client = OpenAI(base_url=server.base_url, api_key="a-key-for-tests", max_retries=0)
    endpoint = endpoint_of(client, model="m")
    server.script({**ANSWER, "times": 2})
    streamed = read_stream(client.responses.create(model="m", input="x", stream=True), endpoint=endpoint)
    whole = read_whole(client.responses.create(model="m", input="x").to_dict(), endpoint=endpoint)
    ends = [event.response for events in (streamed, whole) for event in events if isinstance(event, ResponseEnded)]
    assert len(ends) == 2
    assert ends[0].text == ends[1].text == "There are seven words."
    assert (ends[0].status, ends[0].usage) == (ends[1].status, ends[1].usage)


def test_memories_are_learned_found_and_reconciled(app: App, server: Llmock) -> None:
    learned = {"content": "小美住在台北。", "category": "profile", "importance": 3, "quote": "我住在台北"}
    conversation = open_conversation(app)
    server.script(ANSWER, {"type": "reply", "text": json.dumps({"memories": [learned], "profile": []})})
    assert say(app, conversation, "我住在台北").learning == "done"
    kept = app.memory.search(user_id=LOCAL_USER, query="我住在哪裡？台北嗎？").memories
    assert "小美住在台北。" in [found.memory.content for found in kept]
    assert server.requests("/v1/embeddings")


def test_an_answer_that_breaks_the_schema_is_asked_for_once_more(app: App, server: Llmock) -> None:
    conversation = open_conversation(app)
    server.script(ANSWER, {"type": "reply", "text": "Here you are: {"}, NOTHING_LEARNED)
    turn = say(app, conversation, "Hello there.")
    assert turn.learning == "done"
    assert [request["body"].get("text") is not None for request in server.requests()] == [False, True, True]


def test_old_messages_are_folded_into_a_summary(app: App, server: Llmock) -> None:
    conversation = open_conversation(app)
    server.script({"type": "reply", "text": "All right. " * 150, "times": None, "match": {"tools": True}})
    for _ in range(6):
        turn = say(app, conversation, "Tell me a story, please. " * 40)
    summaries = [body for body in (request["body"] for request in server.requests()) if not {"tools", "text"} & {*body}]
    assert summaries
    assert turn.state == "done"


@pytest.mark.parametrize("kind", ["malformed_arguments", "unknown_tool"])
def test_a_broken_call_is_answered_and_the_turn_ends_well(app: App, ask: Any, kind: str) -> None:
    turn = ask({"type": "tool_fault", "kind": kind})
    (call,) = spans(app, turn, CallSpan)
    assert call.status == "error"
    assert json.loads(call.output)["ok"] is False
    assert (turn.state, bool(turn.reply)) == ("done", True)


@pytest.mark.parametrize("kind", ["disconnect", "truncate"])
def test_a_stream_that_breaks_off_keeps_what_arrived(server: Llmock, ask: Any, kind: str) -> None:
    turn = ask({"type": "reply", "text": "One two three four five six seven."}, {**STREAMED, "kind": kind})
    assert (turn.state, turn.failure and turn.failure.code) == ("cut_off", "stream_cut")
    assert "One two three four five six seven.".startswith(turn.reply.strip())
    assert turn.reply
    # From outside, half an answer that is kept and marked looks like one that was taken for whole.
    assert {finding["code"] for finding in server.failings()} <= {"truncated_stream_accepted"}


def test_a_malformed_chunk_keeps_what_arrived_and_is_no_answer(server: Llmock, ask: Any) -> None:
    turn = ask({"type": "reply", "text": "One two three four five six."}, {**STREAMED, "kind": "malformed"})
    assert (turn.state, turn.failure and turn.failure.code) == ("cut_off", "bad_response")
    assert server.failings() == []


def test_a_stream_that_stalls_ends_at_the_time_limit(ask: Any) -> None:
    turn = ask(ANSWER, {**STREAMED, "kind": "stall", "stall_seconds": 20})
    assert turn.state == "cut_off"
    assert turn.failure
    assert turn.failure.code == "timeout"


@pytest.mark.parametrize("fault", [{"status": 500}, {"status": 503}, {"status": 429, "retry_after": 0.5}])
def test_a_passing_failure_is_tried_again_by_itself_as_late_as_asked(
    server: Llmock, ask: Any, fault: dict[str, Any]
) -> None:
    turn = ask({"type": "fail", **fault}, ANSWER)
    assert (turn.state, turn.reply) == ("done", "There are seven words.")
    assert server.failings() == []


@pytest.mark.parametrize(
    ("fault", "code", "attempts"),
    [
        ({"status": 401}, "auth", 1),
        ({"status": 400, "message": "no"}, "request_rejected", 1),
        ({"status": 500, "times": 3}, "server_error", 3),
        ({"status": 429, "code": "insufficient_quota", "times": 3}, "quota", 3),
    ],
)
def test_a_lasting_failure_is_told_and_the_message_kept(
    server: Llmock, ask: Any, fault: dict[str, Any], code: str, attempts: int
) -> None:
    turn = ask({"type": "fail", **fault})
    assert (turn.state, turn.failure and turn.failure.code, turn.user_message) == ("failed", code, QUESTION)
    assert len(server.requests()) == attempts
    assert server.failings() == []


def test_the_test_of_the_connection_finds_what_it_can_do(app: App, server: Llmock) -> None:
    steps = {step.name: step for step in app.check_connection(user_id=LOCAL_USER, cancel=CancelToken())}
    assert {name for name, step in steps.items() if step.state == "ok"} == {
        "reach",
        "model",
        "answer",
        "stream",
        "call",
        "one_call",
        "usage",
        "structured",
    }
    assert (steps["result"].note, steps["count"].note) == ("result_unused", "no_count")
