from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from support.wire import USAGE, ScriptedStream, Wire, delta, ended, event, item_done, refused, sse, whole

from memora import errors
from memora.model import (
    CallAnnounced,
    CancelToken,
    ModelEvent,
    ModelRequest,
    ModelResponse,
    RequestSent,
    ResponseEnded,
    TextDelta,
    Usage,
)
from memora.providers.openai import OpenAIModel, build_client

QUESTION = {"type": "message", "role": "user", "content": "How many words?"}
REQUEST = ModelRequest(purpose="answer", instructions="Be kind.", input=(QUESTION,))
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "count_english_words",
    "arguments": '{"text": "a"}',
    "status": "completed",
}
REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"}


def message(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def events_of(wire: Wire, request: ModelRequest = REQUEST) -> list[ModelEvent]:
    return list(wire.model().stream(request, cancel=CancelToken()))


def response_of(*chunks: Any) -> ModelResponse:
    return Wire(sse(*chunks)).model().complete(REQUEST, cancel=CancelToken())


def collect(wire: Wire, kind: type[errors.MemoraError], *, max_retries: int = 0) -> tuple[list[ModelEvent], Any]:
    """The events before an error of exactly ``kind``, and the error."""
    events: list[ModelEvent] = []
    with pytest.raises(kind) as raised:
        for each in wire.model(max_retries=max_retries).stream(REQUEST, cancel=CancelToken()):
            events.append(each)
    assert type(raised.value) is kind
    return events, raised.value


def test_a_streamed_answer_comes_as_events_and_the_body_told_is_the_body_sent() -> None:
    wire = Wire(sse(event("response.created"), delta("Seven"), delta(" words."), ended(message("Seven words."))))
    sent, *deltas, last = events_of(wire)
    assert isinstance(sent, RequestSent)
    assert sent.body == wire.bodies[0]
    assert wire.bodies[0] == {
        "model": "test-model",
        "instructions": "Be kind.",
        "input": [QUESTION],
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
    }
    assert deltas == [TextDelta(text="Seven"), TextDelta(text=" words.")]
    assert last == ResponseEnded(
        response=ModelResponse(
            response_id="resp_1",
            model="test-model",
            status="completed",
            output=(message("Seven words."),),
            usage=Usage(input_tokens=100, cached_tokens=20, output_tokens=10, reasoning_tokens=4),
        )
    )


def test_long_and_chinese_input_arrives_as_it_was_given() -> None:
    long = tuple({"type": "message", "role": "user", "content": f"第 {number} 句 😀"} for number in range(300))
    wire = Wire(sse(ended(message("好"))))
    wire.model().complete(ModelRequest(purpose="answer", instructions="", input=long), cancel=CancelToken())
    assert wire.bodies[0]["input"] == list(long)


def test_a_key_is_sent_and_a_placeholder_where_there_is_none() -> None:
    wire = Wire(sse(ended(message("a"))), sse(ended(message("a"))))
    wire.model(api_key="sk-mine").complete(REQUEST, cancel=CancelToken())
    wire.model(api_key=None).complete(REQUEST, cancel=CancelToken())
    assert [headers["authorization"] for headers in wire.headers] == ["Bearer sk-mine", "Bearer no-key"]


def test_a_call_is_announced_and_the_whole_output_is_kept_in_order() -> None:
    added = event("response.output_item.added", item={**CALL, "arguments": "", "status": "in_progress"}, output_index=1)
    events = events_of(Wire(sse(added, ended(REASONING, message("Let me count."), CALL))))
    assert CallAnnounced(call_id="call_1", name="count_english_words") in events
    last = events[-1]
    assert isinstance(last, ResponseEnded)
    assert last.response.output == (REASONING, message("Let me count."), CALL)
    assert last.response.function_calls == (CALL,)


def test_nulls_and_reasoning_status_are_cleaned_from_what_will_be_sent_back() -> None:
    dirty_call = {**CALL, "caller": None, "parsed_arguments": None, "namespace": None}
    response = response_of(ended({**REASONING, "status": "completed", "content": None}, dirty_call))
    assert response.output == (REASONING, CALL)


def test_items_of_unknown_types_and_unknown_events_are_carried_along() -> None:
    new = {"type": "brand_new_item", "id": "bn_1", "data": {"a": 1}}
    response = response_of(event("response.brand_new.delta", delta="x"), ended(new, message("a")))
    assert response.output == (new, message("a"))


@pytest.mark.parametrize("output", [[], None])
def test_an_output_left_out_of_the_terminal_event_is_rebuilt_from_its_items(output: object) -> None:
    response = response_of(item_done(CALL, output_index=1), item_done(REASONING, output_index=0), ended(output=output))
    assert response.output == (REASONING, CALL)


def test_items_without_indices_keep_the_order_of_their_arrival() -> None:
    assert response_of(item_done(REASONING), item_done(CALL), ended(output=[])).output == (REASONING, CALL)


def test_an_output_left_out_altogether_is_rebuilt_from_the_text() -> None:
    bare_delta = event("response.output_text.delta", delta="Seven")
    response = response_of(bare_delta, delta(" words."), ended(output=None))
    assert response.text == "Seven words."


def test_a_refusal_streams_and_is_told_apart_from_text() -> None:
    part = {"type": "refusal", "refusal": "I can't help with that."}
    refusal = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}
    events = events_of(Wire(sse(event("response.refusal.delta", delta="I can't help with that."), ended(refusal))))
    assert TextDelta(text="I can't help with that.") in events
    last = events[-1]
    assert isinstance(last, ResponseEnded)
    assert (last.response.text, last.response.refusal) == ("", "I can't help with that.")


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (None, None),
        ({}, None),
        ({"input_tokens": 0, "output_tokens": 0}, None),
        ({"input_tokens": 5, "output_tokens": None}, None),
        ({"input_tokens": 10**19, "output_tokens": 2}, None),
        ({"input_tokens": True, "output_tokens": 2}, None),
        ({"input_tokens": 5.5, "output_tokens": 2}, None),
        ({"input_tokens": 5, "output_tokens": 2}, Usage(input_tokens=5, output_tokens=2)),
        (
            {**USAGE, "input_tokens_details": None, "output_tokens_details": {}},
            Usage(input_tokens=100, output_tokens=10),
        ),
    ],
)
def test_usage_and_its_details_may_be_missing(usage: object, expected: Usage | None) -> None:
    assert response_of(ended(message("a"), usage=usage)).usage == expected


def test_an_incomplete_response_says_why() -> None:
    response = response_of(
        ended(message("Sev"), kind="response.incomplete", incomplete_details={"reason": "max_output_tokens"})
    )
    assert (response.status, response.incomplete_reason) == ("incomplete", "max_output_tokens")


def test_a_completed_event_around_an_incomplete_response_is_not_complete() -> None:
    assert response_of(event("response.completed", response=whole(CALL, status="incomplete"))).status == "incomplete"


def test_a_failed_response_carries_its_failure() -> None:
    response = response_of(
        ended(kind="response.failed", error={"code": "rate_limit_exceeded", "message": "Slow down."})
    )
    assert response.status == "failed"
    assert response.failure is not None
    assert response.failure.code == "rate_limited"


@pytest.mark.parametrize("cut", [[], [httpx2.RemoteProtocolError("peer closed")], [httpx2.ReadError("reset")]])
def test_a_stream_without_a_terminal_event_is_cut_and_what_came_is_told(cut: list[Exception]) -> None:
    events, _ = collect(Wire(sse(delta("Sev"), delta("en"), *cut)), errors.StreamCut)
    assert events[1:] == [TextDelta(text="Sev"), TextDelta(text="en")]


def test_a_stream_that_stalls_times_out_by_name() -> None:
    events, error = collect(Wire(sse(delta("Sev"), httpx2.ReadTimeout("slow"))), errors.ModelTimedOut)
    assert events[1:] == [TextDelta(text="Sev")]
    assert error.params == {"host": "model.test", "seconds": 5.0}


@pytest.mark.parametrize(
    "failure",
    [
        event("error", code="server_error", message="It broke.", param=None),
        event("error", error={"code": "server_error", "message": "It broke."}),
    ],
    ids=["flat", "nested"],
)
def test_an_error_inside_the_stream_is_raised_in_both_of_its_shapes(failure: bytes) -> None:
    events, error = collect(Wire(sse(delta("Sev"), failure)), errors.ServerFailed)
    assert events[1:] == [TextDelta(text="Sev")]
    assert error.detail == "server_error: It broke."


@pytest.mark.parametrize("chunk", [b"data: {broken\n\n", b"data: \xff\xfe\n\n"], ids=["json", "bytes"])
def test_a_broken_chunk_is_a_bad_response(chunk: bytes) -> None:
    collect(Wire(sse(delta("Sev"), chunk)), errors.BadResponse)


@pytest.mark.parametrize("chunk", [b'data: "text"\n\n', b"data: [1]\n\n", b"data: {}\n\n", b": keep-alive\n\n"])
def test_chunks_that_are_no_events_are_passed_over(chunk: bytes) -> None:
    assert response_of(chunk, ended(message("a"))).text == "a"


def test_deltas_that_are_no_text_are_passed_over_and_half_characters_are_mended() -> None:
    odd = event("response.output_text.delta", delta=None)
    half = b'data: {"type": "response.output_text.delta", "delta": "a\\ud83d"}\n\n'
    events = events_of(Wire(sse(odd, half, ended(message("a😀")))))
    assert events[1] == TextDelta(text="a�")


def test_a_page_with_status_200_is_a_bad_response() -> None:
    page = httpx2.Response(200, html="<html>Welcome</html>")
    _, error = collect(Wire(page), errors.BadResponse)
    assert "Welcome" not in error.detail


def test_a_server_that_does_not_stream_is_understood() -> None:
    wire = Wire(httpx2.Response(200, json=whole(message("Seven."))))
    assert events_of(wire)[1:] == [
        TextDelta(text="Seven."),
        ResponseEnded(response=response_of(ended(message("Seven.")))),
    ]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b'{"error": {"code": "server_error", "message": "It broke."}}', errors.ServerFailed),
        (b'{"choices": []}', errors.BadResponse),
        (b'{"output": null}', errors.BadResponse),
        (b"[]", errors.BadResponse),
        (b"{broken", errors.BadResponse),
    ],
)
def test_json_that_is_no_response_is_refused(body: bytes, kind: type[errors.ModelError]) -> None:
    collect(Wire(httpx2.Response(200, headers={"content-type": "application/json"}, content=body)), kind)


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (httpx2.ConnectError("connection refused"), errors.ModelUnreachable),
        (httpx2.ConnectTimeout("slow"), errors.ModelTimedOut),
        (refused(401, code="invalid_api_key", message="Wrong key: sk-test-secret"), errors.AuthenticationFailed),
        (refused(403, message="No."), errors.PermissionRefused),
        (refused(404, code="model_not_found", message="The model `test-model` does not exist"), errors.ModelNotFound),
        (httpx2.Response(404, text="404 page not found"), errors.RouteMissing),
        (httpx2.Response(404, json={"detail": "Not Found"}), errors.RouteMissing),
        (httpx2.Response(404, json={"error": "model 'test-model' not found"}), errors.ModelNotFound),
        (refused(429, code="insufficient_quota", message="You exceeded your current quota"), errors.QuotaExhausted),
        (refused(429, code="rate_limit_exceeded", message="Slow down"), errors.RateLimited),
        (refused(400, code="context_length_exceeded", message="Too long"), errors.RequestRejected),
        (refused(400, message="No tool output found for function call call_1."), errors.RequestRejected),
        (httpx2.Response(502, html="<html>Bad gateway</html>"), errors.ServerFailed),
        (httpx2.Response(500), errors.ServerFailed),
    ],
)  # fmt: skip
def test_a_refused_request_is_one_of_our_errors_without_the_key(
    reply: httpx2.Response | Exception, kind: type[errors.ModelError]
) -> None:
    events, error = collect(Wire(reply), kind)
    assert [type(each) for each in events] == [RequestSent]
    assert "sk-test-secret" not in error.detail


def test_the_client_tries_again_after_errors_that_pass() -> None:
    at_once = {"retry-after-ms": "1"}
    wire = Wire(
        refused(500, at_once, message="It broke."),
        refused(429, at_once, message="Slow down."),
        sse(ended(message("Seven."))),
    )
    response = wire.model(max_retries=2).complete(REQUEST, cancel=CancelToken())
    assert response.text == "Seven."
    assert wire.bodies == [wire.bodies[0]] * 3


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds between attempts, which nobody has to wait for here."""
    waited: list[float] = []
    monkeypatch.setattr("openai._base_client.time.sleep", waited.append)
    return waited


def test_the_wait_before_another_attempt_is_what_the_server_asks_for(waits: list[float]) -> None:
    wire = Wire(refused(429, {"retry-after": "7"}, message="Slow down."), sse(ended(message("Seven."))))
    wire.model(max_retries=1).complete(REQUEST, cancel=CancelToken())
    assert waits == [7.0]


def test_otherwise_the_wait_grows_and_is_never_the_same(waits: list[float]) -> None:
    for _ in range(5):
        busy = [refused(503, message="Busy.") for _ in range(3)]
        wire = Wire(*busy, sse(ended(message("Seven."))))
        wire.model(max_retries=3).complete(REQUEST, cancel=CancelToken())
    first, second, third = waits[::3], waits[1::3], waits[2::3]
    assert max(first) < min(second) and max(second) < min(third)
    assert len(set(waits)) == len(waits)


def test_a_stream_that_has_begun_is_not_sent_again() -> None:
    wire = Wire(sse(delta("Sev")), sse(ended(message("Seven."))))
    collect(wire, errors.StreamCut, max_retries=2)
    assert len(wire.bodies) == 1


def test_tools_are_left_out_once_a_server_has_ignored_that_none_may_be_called() -> None:
    wire = Wire(sse(ended(CALL)), sse(ended(message("a"))), sse(ended(message("b"))))
    model = wire.model()
    tool = {"type": "function", "name": "f", "parameters": {}, "strict": True}
    may_not = replace(REQUEST, tools=(tool,), tool_choice="none")
    sent = [
        event
        for request in (may_not, may_not, replace(may_not, tool_choice="auto"))
        for event in model.stream(request, cancel=CancelToken())
        if isinstance(event, RequestSent)
    ]
    assert ["tools" in body for body in wire.bodies] == [True, False, True]
    assert [event.dropped for event in sent] == [(), ("tools",), ()]


def test_include_is_given_up_once_and_for_all_where_a_model_refuses_it() -> None:
    wire = Wire(
        refused(400, message="Encrypted content is not supported with this model.", param="include"),
        sse(ended(message("a"))),
        sse(ended(message("b"))),
    )
    model = wire.model()
    sent = [each for each in model.stream(REQUEST, cancel=CancelToken()) if isinstance(each, RequestSent)]
    assert [each.dropped for each in sent] == [(), ("include",)]
    assert [each.body for each in sent] == wire.bodies
    assert "include" not in wire.bodies[1]
    model.complete(REQUEST, cancel=CancelToken())
    assert "include" not in wire.bodies[2]


WITH_REASONING = ModelRequest(purpose="answer", instructions="", input=(QUESTION, REASONING, CALL))


@pytest.mark.parametrize(
    "reply",
    [
        refused(400, code="invalid_encrypted_content", message="The encrypted content could not be verified."),
        refused(404, message="Item with id 'rs_1' not found. Items are not persisted when store is set to false."),
        refused(400, message="Item 'rs_1' of type 'reasoning' was provided without its required following item."),
    ],
)
def test_reasoning_that_a_server_refuses_is_dropped_for_this_request_only(reply: httpx2.Response) -> None:
    wire = Wire(reply, sse(ended(message("a"))), sse(ended(message("b"))))
    model = wire.model()
    events = list(model.stream(WITH_REASONING, cancel=CancelToken()))
    assert [each.dropped for each in events if isinstance(each, RequestSent)] == [(), ("reasoning",)]
    assert [item["type"] for item in wire.bodies[1]["input"]] == ["message", "function_call"]
    model.complete(WITH_REASONING, cancel=CancelToken())
    assert len(wire.bodies[2]["input"]) == 3


def test_what_was_given_up_already_is_not_given_up_again() -> None:
    complaint = {"message": "Encrypted content is not supported with this model.", "param": "include"}
    wire = Wire(refused(400, **complaint), refused(400, **complaint))
    events, _ = collect(wire, errors.RequestRejected)
    assert len(events) == len(wire.bodies) == 2


def test_a_cancelled_request_is_not_sent() -> None:
    wire, cancel = Wire(), CancelToken()
    cancel.cancel()
    with pytest.raises(errors.Cancelled):
        list(wire.model().stream(REQUEST, cancel=cancel))
    assert wire.bodies == []


def test_stop_ends_the_wait_in_the_middle_of_a_stream_and_the_response_is_closed() -> None:
    cancel, release, closed = CancelToken(), threading.Event(), threading.Event()

    class Stalled(ScriptedStream):
        def close(self) -> None:
            closed.set()

    stalled = Stalled([delta("Sev"), lambda: release.wait() and None, delta("en")])
    wire = Wire(httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stalled))
    arrived = []
    with pytest.raises(errors.Cancelled):
        for each in wire.model().stream(REQUEST, cancel=cancel):
            arrived.append(each)
            if isinstance(each, TextDelta):
                cancel.cancel()
    assert arrived[1:] == [TextDelta(text="Sev")]
    release.set()
    assert closed.wait(5)


def test_stop_ends_a_backoff_and_nothing_more_is_sent() -> None:
    cancel, tried = CancelToken(), threading.Event()

    def fail() -> httpx2.Response:
        tried.set()
        return refused(500, {"retry-after-ms": "200"}, message="It broke.")

    wire = Wire(fail, fail)
    threading.Thread(target=lambda: tried.wait() and cancel.cancel()).start()
    with pytest.raises(errors.Cancelled):
        list(wire.model(max_retries=1).stream(REQUEST, cancel=cancel))
    for worker in threading.enumerate():
        if worker.name == "model-request":
            worker.join(5)
    assert len(wire.bodies) == 1


def test_stop_ends_the_wait_for_a_connection() -> None:
    cancel, release = CancelToken(), threading.Event()

    def hang() -> httpx2.Response:
        cancel.cancel()
        release.wait()
        return sse(ended(message("late")))

    try:
        with pytest.raises(errors.Cancelled):
            list(Wire(hang).model().stream(REQUEST, cancel=cancel))
    finally:
        release.set()


def test_the_client_is_built_once_and_only_when_it_is_needed() -> None:
    wire = Wire(sse(ended(message("a"))), sse(ended(message("b"))))
    built = []

    def build() -> Any:
        client = build_client(api_key=None, base_url="http://model.test/v1", timeout=5, max_retries=0, transport=wire)
        built.append(client)
        return client

    model = OpenAIModel(client_factory=build, model="test-model")
    assert (model.name, built) == ("test-model", [])
    assert [model.complete(REQUEST, cancel=CancelToken()).text for _ in range(2)] == ["a", "b"]
    assert len(built) == 1


def test_a_message_that_no_encoding_can_carry_is_rejected_by_reason() -> None:
    request = ModelRequest(purpose="answer", instructions="", input=({**QUESTION, "content": "\ud800"},))
    with pytest.raises(errors.RequestRejected) as raised:
        Wire().model().complete(request, cancel=CancelToken())
    assert raised.value.params["reason"] == "invalid_text"


def test_a_key_that_fits_no_header_is_an_authentication_failure() -> None:
    with pytest.raises(errors.AuthenticationFailed):
        Wire().model(api_key="sk-鑰匙").complete(REQUEST, cancel=CancelToken())
