"""Asking a server how many input tokens a request has."""

from __future__ import annotations

import threading
from typing import Any

import httpx2
import pytest
from openai.types.responses import InputTokenCountParams
from support.wire import Wire, ended, refused, sse

from memora import errors
from memora.model import CancelToken, ModelRequest, RequestSent
from memora.tools import TOOLS

QUESTION = {"type": "message", "role": "user", "content": "How many words?"}
REQUEST = ModelRequest(
    purpose="answer", instructions="Be kind.", input=(QUESTION,), tools=tuple(TOOLS), tool_choice="auto"
)
BODY = {"model": "test-model", "input": [QUESTION]}


def counted(tokens: Any) -> httpx2.Response:
    return httpx2.Response(200, json={"object": "response.input_tokens", "input_tokens": tokens})


def count(wire: Wire, body: dict[str, Any] = BODY) -> int | None:
    return wire.model().count_input_tokens(body, cancel=CancelToken())


def test_the_body_that_was_sent_is_counted_without_what_the_route_does_not_know() -> None:
    wire = Wire(sse(ended()), counted(42))
    model = wire.model()
    sent, *_ = model.stream(REQUEST, cancel=CancelToken())
    assert isinstance(sent, RequestSent)
    assert model.count_input_tokens(sent.body, cancel=CancelToken()) == 42
    asked = wire.bodies[-1]
    assert set(asked) <= set(InputTokenCountParams.__annotations__)
    assert set(sent.body) - set(asked) == {"include", "store", "stream"}
    assert asked.items() <= sent.body.items()


@pytest.mark.parametrize("status", [404, 405, 501])
def test_a_server_without_the_route_is_asked_once(status: int) -> None:
    wire = Wire(refused(status, message="Not found"))
    model = wire.model()
    assert [model.count_input_tokens(BODY, cancel=CancelToken()) for _ in range(3)] == [None] * 3
    assert len(wire.bodies) == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx2.Response(200, json={"error": "Unexpected endpoint or method"}),
        httpx2.Response(200, headers={"content-type": "text/html"}, text="<p>Sign in"),
        counted(None),
        counted(0),
        counted("many"),
    ],
    ids=["other json", "a page", "null", "nothing", "words"],
)
def test_an_answer_that_is_no_count_counts_as_no_route(answer: httpx2.Response) -> None:
    assert count(Wire(answer)) is None


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (refused(500, message="broken"), errors.ServerFailed),
        (refused(401, message="no", code="invalid_api_key"), errors.AuthenticationFailed),
        (httpx2.ReadTimeout("slow"), errors.ModelTimedOut),
        (httpx2.ConnectError("refused"), errors.ModelUnreachable),
    ],
)
def test_a_failure_is_raised_and_the_next_request_may_be_counted(reply: Any, kind: type[errors.MemoraError]) -> None:
    wire = Wire(reply, counted(7))
    model = wire.model()
    with pytest.raises(kind):
        model.count_input_tokens(BODY, cancel=CancelToken())
    assert model.count_input_tokens(BODY, cancel=CancelToken()) == 7


def test_counting_is_tried_once_and_not_retried() -> None:
    wire = Wire(refused(503, message="busy"))
    with pytest.raises(errors.ServerFailed):
        wire.model(max_retries=2).count_input_tokens(BODY, cancel=CancelToken())
    assert len(wire.bodies) == 1


def test_giving_up_does_not_wait_for_the_server() -> None:
    cancel, gate = CancelToken(), threading.Event()

    def never() -> httpx2.Response:
        cancel.cancel()
        gate.wait(10)
        return counted(1)

    with pytest.raises(errors.Cancelled):
        Wire(never).model().count_input_tokens(BODY, cancel=cancel)
    gate.set()
