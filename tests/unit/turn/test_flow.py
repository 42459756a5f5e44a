from __future__ import annotations

import json
from typing import Any

import pytest
from support.scripted_model import (
    SOME_USAGE,
    ScriptedModel,
    function_call,
    message,
    reasoning,
    refusal,
    response,
)

from memora import errors
from memora.context.tokens import TOKENS_PER_MESSAGE
from memora.errors import Failure
from memora.model import CallAnnounced, CancelToken, Item, ModelEvent, ModelRequest, ResponseEnded, TextDelta, Usage
from memora.tools import TOOLS
from memora.turn import ModelReply, run_model_with_tools
from memora.turn.events import (
    CallArriving,
    CallFinished,
    CallNotExecuted,
    CallStarted,
    Event,
    RequestFinished,
    RequestStarted,
    TextArrived,
)
from memora.turn.flow import ONLY_ONE_CALL
from memora.turn.trace import fold

QUESTION: Item = {"type": "message", "role": "user", "content": "How many words: I have two cats."}
COUNT = {"text": "I have two cats."}
COUNTED = (
    '{"ok": true, "result": {"word_count": 4, '
    '"counting_rule": "English letter sequences; contractions count as one word"}}'
)


def count_call(call_id: str = "call_1") -> Item:
    return function_call("count_english_words", COUNT, call_id=call_id)


class Run:
    """One run of the flow: its reply, its events, and what the model was asked."""

    def __init__(self, *script: Any, **arguments: Any) -> None:
        self.model = ScriptedModel(*script)
        self.events: list[Event] = []
        self.reply: ModelReply = run_model_with_tools(
            input_messages=[QUESTION],
            model=self.model,
            emit=self.events.append,
            **{"instructions": "Be kind.", **arguments},
        )

    @property
    def requests(self) -> list[ModelRequest]:
        return self.model.requests

    def of(self, kind: type) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def test_an_answer_without_a_tool_is_one_request() -> None:
    run = Run("Here is a sentence.")
    assert run.reply == ModelReply(text="Here is a sentence.", state="done", usage=SOME_USAGE, requests=1)
    (request,) = run.requests
    assert request == ModelRequest(
        purpose="answer", instructions="Be kind.", input=(QUESTION,), tools=tuple(TOOLS), tool_choice="auto"
    )


def test_question_and_model_are_all_that_is_needed() -> None:
    reply = run_model_with_tools(input_messages=[QUESTION], model=ScriptedModel("Hello."))
    assert reply.text == "Hello."


def test_a_call_is_executed_and_the_whole_output_is_carried_back_in_order() -> None:
    output = (reasoning(), message("Let me count."), count_call())
    run = Run(response(*output), "There are 4 words.")
    assert run.reply == ModelReply(text="There are 4 words.", state="done", usage=SOME_USAGE + SOME_USAGE, requests=2)
    first, second = run.requests
    assert second.input == (
        QUESTION,
        *output,
        {"type": "function_call_output", "call_id": "call_1", "output": COUNTED},
    )
    assert (first.tool_choice, second.tool_choice) == ("auto", "none")
    assert (second.instructions, second.tools) == (first.instructions, first.tools)


def test_the_events_of_a_turn_with_a_call_come_in_their_order() -> None:
    run = Run(response(count_call()), "Four.")
    assert [type(event) for event in run.events] == [
        RequestStarted,
        CallArriving,
        RequestFinished,
        CallStarted,
        CallFinished,
        RequestStarted,
        TextArrived,
        TextArrived,
        RequestFinished,
    ]
    (started,), (finished,) = run.of(CallStarted), run.of(CallFinished)
    assert (started.call_id, started.name, json.loads(started.arguments)) == ("call_1", "count_english_words", COUNT)
    assert (finished.call_id, finished.ok, finished.output) == ("call_1", True, COUNTED)
    assert [event.text for event in run.of(TextArrived)] == ["Fo", "ur."]


def test_the_second_request_tells_only_the_items_that_were_added() -> None:
    run = Run(response(reasoning(), count_call()), "Four.")
    first, second = run.of(RequestStarted)
    assert first.body["input"] == [QUESTION]
    assert [item["type"] for item in second.body["input"]] == ["reasoning", "function_call", "function_call_output"]
    assert second.body["tool_choice"] == "none"


def test_text_beside_a_call_stays_in_the_trace_and_is_not_the_reply() -> None:
    run = Run(response(message("Let me count."), count_call()), "Four.")
    assert run.reply.text == "Four."
    assert [event.text for event in run.of(RequestFinished)] == ["Let me count.", "Four."]


def test_a_second_function_call_is_answered_but_not_run() -> None:
    executed: list[Item] = []

    def execute(call: Item) -> str:
        executed.append(call)
        return '{"ok": true, "result": 1}'

    run = Run(response(count_call("call_1"), count_call("call_2")), "Four.", execute=execute)
    assert [call["call_id"] for call in executed] == ["call_1"]
    assert run.requests[1].input[-2:] == (
        {"type": "function_call_output", "call_id": "call_1", "output": '{"ok": true, "result": 1}'},
        {"type": "function_call_output", "call_id": "call_2", "output": ONLY_ONE_CALL},
    )
    assert json.loads(ONLY_ONE_CALL)["ok"] is False
    (left,) = run.of(CallNotExecuted)
    assert (left.number, left.call_id, left.reason, left.output) == (
        1,
        "call_2",
        "only_one_call_per_turn",
        ONLY_ONE_CALL,
    )


def test_a_call_in_the_second_request_is_not_executed() -> None:
    run = Run(response(count_call("call_1")), response(message("Four."), count_call("call_2")))
    assert (run.reply.text, run.reply.state, run.reply.requests) == ("Four.", "done", 2)
    assert len(run.of(CallStarted)) == 1
    (left,) = run.of(CallNotExecuted)
    assert (left.number, left.call_id, left.reason) == (2, "call_2", "no_call_in_second_request")


def test_a_server_that_only_calls_again_still_ends_in_an_answer_the_result_itself() -> None:
    run = Run(response(count_call("call_1")), response(count_call("call_2")))
    assert run.of(CallFinished)[0].output in run.reply.text
    assert (run.reply.state, run.reply.failure) == ("cut_off", Failure(code="call_instead_of_answer"))
    assert (run.reply.usage, run.reply.requests) == (SOME_USAGE + SOME_USAGE, 2)


def test_text_beside_the_first_call_is_kept_before_the_result_alone() -> None:
    run = Run(response(message("Let me count."), count_call("call_1")), response(count_call("call_2")))
    assert run.reply.text.startswith("Let me count.\n\n`count_english_words`")


@pytest.mark.parametrize(
    "fields",
    [
        {"status": "incomplete", "incomplete_reason": "max_output_tokens"},
        {"status": "failed", "failure": Failure(code="server_error")},
    ],
)
def test_no_call_of_a_response_that_is_not_completed_is_run(fields: dict[str, Any]) -> None:
    run = Run(response(count_call(), **fields))
    assert (run.reply.state, run.reply.requests) == ("failed", 1)
    assert run.of(CallStarted) == []
    (left,) = run.of(CallNotExecuted)
    assert left.reason == "response_incomplete"


def test_a_failing_tool_goes_back_to_the_model_and_does_not_end_the_turn() -> None:
    run = Run(response(function_call("launch_rocket", "{}")), "I cannot do that.")
    assert run.reply.state == "done"
    (finished,) = run.of(CallFinished)
    assert finished.ok is False
    assert json.loads(run.requests[1].input[-1]["output"]) == {"ok": False, "error": "unknown tool"}


@pytest.mark.parametrize("call_id", ["", None])
def test_a_call_without_an_id_gets_one_for_both_of_its_items(call_id: str | None) -> None:
    call = {**count_call(), "call_id": call_id}
    run = Run([ResponseEnded(response=response(call))], "Four.")
    sent_call, sent_output = run.requests[1].input[-2:]
    assert sent_call["call_id"] == sent_output["call_id"] == "call_memora_1"
    assert run.of(CallArriving) == []


def test_calls_that_share_an_id_get_different_ones() -> None:
    run = Run(response(count_call(), count_call()), response(message("Four."), count_call()))
    ids = [item["call_id"] for item in run.requests[1].input if "call_id" in item]
    assert ids == ["call_1", "call_memora_1", "call_1", "call_memora_1"]
    (last,) = [event for event in run.of(CallNotExecuted) if event.number == 2]
    assert last.call_id == "call_memora_2"
    assert [event.call_id for event in run.of(CallArriving)] == ["call_1"]


def test_a_call_with_neither_a_name_nor_a_string_of_arguments_is_told_as_it_is() -> None:
    call = {"type": "function_call", "call_id": "call_1", "arguments": {"text": "a"}}
    run = Run([ResponseEnded(response=response(call))], "Sorry.")
    (started,) = run.of(CallStarted)
    assert (started.name, started.arguments) == ("", '{"text": "a"}')
    assert run.reply.state == "done"


def test_without_tools_nothing_is_offered() -> None:
    run = Run("Hello.", tools=())
    assert (run.requests[0].tools, run.requests[0].tool_choice) == ((), None)


def text_then(error: BaseException) -> list[ModelEvent | BaseException]:
    return [TextDelta(text="There "), TextDelta(text="are"), error]


def test_a_stream_that_breaks_off_keeps_what_arrived() -> None:
    run = Run(text_then(errors.StreamCut("gone")))
    assert (run.reply.text, run.reply.state) == ("There are", "cut_off")
    assert run.reply.failure == Failure(code="stream_cut", detail="gone")
    (finished,) = run.of(RequestFinished)
    assert (finished.status, finished.text, finished.failure) == ("failed", "There are", run.reply.failure)


def test_stop_keeps_what_arrived() -> None:
    run = Run(text_then(errors.Cancelled()))
    assert (run.reply.text, run.reply.state, run.reply.failure) == ("There are", "stopped", None)
    (finished,) = run.of(RequestFinished)
    assert (finished.status, finished.failure) == ("stopped", None)


def test_stop_before_anything_leaves_no_request() -> None:
    cancel = CancelToken()
    cancel.cancel()
    run = Run(cancel=cancel)
    assert run.reply == ModelReply(text="", state="stopped", usage=Usage(), requests=0)
    assert run.events == []


def test_stop_before_a_call_is_run_leaves_it_alone() -> None:
    cancel = CancelToken()

    class StopsAtTheEnd(ScriptedModel):
        def stream(self, request: ModelRequest, *, cancel: CancelToken) -> Any:
            yield from super().stream(request, cancel=cancel)
            cancel.cancel()

    events: list[Event] = []
    reply = run_model_with_tools(
        input_messages=[QUESTION],
        model=StopsAtTheEnd(response(count_call())),
        emit=events.append,
        cancel=cancel,
    )
    assert reply == ModelReply(text="", state="stopped", usage=SOME_USAGE, requests=1)
    assert not any(isinstance(event, CallStarted) for event in events)


def test_stop_while_a_call_runs_leaves_no_second_request() -> None:
    cancel = CancelToken()

    def execute(call: Item) -> str:
        cancel.cancel()
        return '{"ok": true, "result": 1}'

    run = Run(response(count_call()), cancel=cancel, execute=execute)
    assert run.reply == ModelReply(text="", state="stopped", usage=SOME_USAGE, requests=1)
    assert [event.number for event in run.of(RequestFinished)] == [1]


@pytest.mark.parametrize(
    "error",
    [
        errors.ModelUnreachable("no route", host="model.test"),
        errors.RateLimited(),
        errors.AuthenticationFailed(),
        errors.BadResponse(),
        errors.StreamCut(),
    ],
)
def test_a_request_that_fails_before_any_text_is_a_failed_turn(error: errors.ModelError) -> None:
    run = Run(error)
    assert run.reply == ModelReply(text="", state="failed", failure=error.as_failure(), usage=Usage(), requests=1)
    (finished,) = run.of(RequestFinished)
    assert (finished.status, finished.usage, finished.failure) == ("failed", None, error.as_failure())


def test_a_second_request_that_fails_keeps_the_tokens_of_the_first() -> None:
    run = Run(response(message("Let me count."), count_call()), errors.ServerFailed(status=500))
    assert (run.reply.text, run.reply.state, run.reply.usage) == ("Let me count.", "cut_off", SOME_USAGE)


@pytest.mark.parametrize(
    ("output", "fields", "text", "state", "code"),
    [
        ([message("Sev")], {"incomplete_reason": "max_output_tokens"}, "Sev", "cut_off", "incomplete_length"),
        ([], {"incomplete_reason": "max_output_tokens"}, "", "failed", "incomplete_length"),
        ([message("Sev")], {"incomplete_reason": "content_filter"}, "Sev", "cut_off", "incomplete_filter"),
        ([], {"incomplete_reason": None}, "", "failed", "incomplete_length"),
        ([message("Sev")], {"status": "failed"}, "Sev", "cut_off", "server_error"),
        ([], {"status": "failed", "failure": Failure(code="rate_limited")}, "", "failed", "rate_limited"),
        ([], {"status": "completed"}, "", "failed", "empty_answer"),
        ([message(" \n")], {"status": "completed"}, "", "failed", "empty_answer"),
        ([reasoning()], {"status": "completed"}, "", "failed", "empty_answer"),
        ([refusal("I can't help.")], {"status": "completed"}, "I can't help.", "done", None),
        ([refusal("")], {"status": "completed"}, "", "failed", "refused"),
        ([message("A."), refusal("No B.")], {"status": "completed"}, "A.\n\nNo B.", "done", None),
    ],
)
def test_every_unusual_end_has_a_state_and_a_code(
    output: list[Item], fields: dict[str, Any], text: str, state: str, code: str | None
) -> None:
    run = Run(response(*output, **{"status": "incomplete", **fields}))
    assert (run.reply.text, run.reply.state) == (text, state)
    assert (run.reply.failure.code if run.reply.failure else None) == code


def count_words(text: str) -> int:
    return len(text.split())


def test_usage_that_a_server_leaves_out_is_estimated_and_said_to_be() -> None:
    run = Run(response(count_call(), usage=None), "Four.", count_tokens=count_words)
    assert run.reply.usage.source == "estimated"
    first, second = (event.usage for event in run.of(RequestFinished))
    assert first.source == "estimated"
    assert first.output_tokens == count_words(json.dumps(count_call()))
    texts = ["Be kind.", json.dumps(TOOLS[0]), QUESTION["content"]]
    assert first.input_tokens == sum(map(count_words, texts)) + TOKENS_PER_MESSAGE
    assert second == SOME_USAGE
    assert run.reply.usage == first + second


def test_what_arrived_before_a_cut_is_estimated_too() -> None:
    run = Run(text_then(errors.StreamCut()), count_tokens=count_words)
    assert (run.reply.usage.output_tokens, run.reply.usage.source) == (2, "estimated")


def test_a_model_whose_stream_has_no_end_is_cut_off() -> None:
    run = Run([TextDelta(text="Sev")])
    assert (run.reply.state, run.reply.failure and run.reply.failure.code) == ("cut_off", "stream_cut")


def test_a_call_that_was_announced_and_never_came_does_not_disturb_the_trace() -> None:
    run = Run([CallAnnounced(call_id="call_1", name="count_english_words"), errors.StreamCut()])
    assert [event.call_id for event in run.of(CallArriving)] == ["call_1"]
    assert run.reply.state == "failed"


def test_the_events_fold_into_a_trace_with_two_requests_and_one_call() -> None:
    trace = fold(Run(response(message("Let me count."), count_call()), "Four.").events)
    assert [(span.number, span.status, span.text) for span in trace.requests] == [
        (1, "ok", "Let me count."),
        (2, "ok", "Four."),
    ]
    (call,) = trace.calls
    assert (call.name, call.call_id, call.status, call.output) == ("count_english_words", "call_1", "ok", COUNTED)
