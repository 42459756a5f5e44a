from __future__ import annotations

import json
from typing import Any

import pytest
from support.scripted_model import ScriptedModel, function_call, message, response, structured

from memora.errors import (
    AuthenticationFailed,
    Cancelled,
    Failure,
    ModelUnreachable,
    PermissionRefused,
    RateLimited,
    RouteMissing,
)
from memora.model import CancelToken, ModelRequest, ModelResponse, RequestSent, ResponseEnded
from memora.turn.connection_check import STEPS, Step, check_connection

SENTENCE = "The quick brown fox jumps over the lazy dog."
BLUE = structured({"colour": "blue"})


def call(arguments: Any = None) -> ModelResponse:
    return response(function_call("count_english_words", {"text": SENTENCE} if arguments is None else arguments))


def check(*script: Any, models: Any = ("scripted",), tokens: int | None = 7) -> dict[str, Step]:
    def list_models() -> tuple[str, ...]:
        if isinstance(models, Exception):
            raise models
        return tuple(models)

    steps = list(
        check_connection(
            model_for=lambda: ScriptedModel(*script, counts=[tokens]), list_models=list_models, cancel=CancelToken()
        )
    )
    assert [step.name for step in steps] == list(STEPS)
    return {step.name: step for step in steps}


def states(steps: dict[str, Step]) -> dict[str, str]:
    return {name: step.note or step.state for name, step in steps.items() if step.state != "ok"}


def test_a_server_that_does_everything_is_ok_in_every_step() -> None:
    assert states(check(call(), "There are 9 words.", BLUE)) == {}


def test_nobody_there_ends_the_test_and_says_why() -> None:
    steps = check(models=ModelUnreachable(host="localhost"))
    assert steps["reach"].failure == Failure(code="unreachable", params={"host": "localhost"})
    assert {step.state for step in list(steps.values())[1:]} == {"skipped"}


def test_a_wrong_key_ends_the_test() -> None:
    steps = check(models=AuthenticationFailed("no"))
    assert steps["reach"].state == "failed"


def test_a_server_without_a_list_of_models_is_still_tested() -> None:
    steps = check(call(), "There are 9.", BLUE, models=RouteMissing(host="h"))
    assert states(steps) == {"reach": "no_model_list", "model": "skipped"}


def test_a_server_without_the_responses_api_fails_with_that() -> None:
    steps = check(RouteMissing(host="h"))
    assert (steps["answer"].state, steps["answer"].failure) == ("failed", Failure("route_missing", {"host": "h"}))
    assert steps["structured"].state == "skipped"


def test_a_model_that_is_not_listed_is_told_with_some_that_are() -> None:
    steps = check(call(), "9", BLUE, models=("a", "b"))
    assert steps["model"].params == {"model": "scripted", "some": "a, b"}


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (["About nine, I guess.", BLUE], {"call": "no_call", "result": "skipped", "one_call": "skipped"}),
        ([call("{not json"), "Nine.", BLUE], {"call": "bad_call"}),
        ([call(), "Many words.", BLUE], {"result": "result_unused"}),
        ([call(), "There are 19.", BLUE], {"result": "result_unused"}),
        ([call(), "9", RateLimited("slow down")], {"structured": "not_found_out"}),
        ([call(), call(), BLUE], {"result": "no_second_answer", "one_call": "calls_again"}),
        ([call(), "9", "no JSON", BLUE], {"structured": "structured_at_second_try"}),
        ([call(), "9", "no JSON", "neither"], {"structured": "not_structured"}),
        ([call(), response(message("9"), usage=None), BLUE], {"usage": "no_usage"}),
    ],
)
def test_what_a_server_does_differently_is_found(script: list[Any], found: dict[str, str]) -> None:
    steps = states(check(*script))
    steps.pop("stream", None)
    assert steps == found


def test_a_request_that_was_refused_and_sent_again_is_no_second_request() -> None:
    """As where a server does not take ``include``: two requests were begun, both with the number 1."""

    def sent_twice(request: ModelRequest, cancel: CancelToken) -> list[Any]:
        return [RequestSent(body={}), RequestSent(body={}, dropped=("include",)), ResponseEnded(response=whole)]

    whole = response(message("About ten."))
    steps = states(check(sent_twice, BLUE))
    assert (steps["call"], steps["result"], steps["one_call"]) == ("no_call", "skipped", "skipped")


def test_a_first_answer_that_was_cut_off_is_a_failure() -> None:
    cut = response(message("There are"), status="incomplete", incomplete_reason="max_output_tokens")
    steps = check(cut)
    assert (steps["answer"].state, steps["answer"].failure) == (
        "failed",
        Failure("incomplete_length", {}, "incomplete: max_output_tokens"),
    )


@pytest.mark.parametrize("refused", [PermissionRefused("no"), RateLimited("slow down")])
def test_a_key_that_may_not_see_the_list_of_models_may_still_chat(refused: Exception) -> None:
    assert states(check(call(), "There are 9.", BLUE, models=refused)) == {"reach": "no_model_list", "model": "skipped"}


def test_an_answer_in_one_piece_is_no_stream() -> None:
    assert states(check(call(), "9", BLUE))["stream"] == "in_one_piece"


def test_a_server_that_cannot_count_is_told() -> None:
    assert states(check(call(), "9 words", BLUE, tokens=None)) == {"count": "no_count"}


def test_a_call_that_was_refused_tells_what_the_model_heard() -> None:
    output = check(call("{not json"), "Nine.", BLUE)["call"].params["output"]
    assert json.loads(output)["ok"] is False


def test_stop_ends_the_test() -> None:
    cancel = CancelToken()
    steps = check_connection(model_for=lambda: ScriptedModel("unused"), list_models=lambda: (), cancel=cancel)
    assert next(steps).name == "reach"
    cancel.cancel()
    with pytest.raises(Cancelled):
        list(steps)
