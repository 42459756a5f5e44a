from __future__ import annotations

import json
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from memora.errors import ToolError
from memora.tools import TOOL_HANDLERS, TOOLS, count_english_words, execute_tool_call
from memora.tools.registry import MAX_OUTPUT_CHARS


def call(arguments: object, name: object = "count_english_words") -> dict[str, Any]:
    return {"type": "function_call", "call_id": "call_1", "name": name, "arguments": arguments}


def execute_with(handler: Callable[..., Any], *, time_limit: float = 5.0) -> dict[str, Any]:
    """Run ``handler`` under the name and the definition of the word counter."""
    output = execute_tool_call(
        call('{"text": "one two"}'), handlers={"count_english_words": handler}, time_limit=time_limit
    )
    result: dict[str, Any] = json.loads(output)
    return result


def test_handlers_and_definitions_name_the_same_tools() -> None:
    assert {"count_english_words": count_english_words} == TOOL_HANDLERS
    assert [tool["name"] for tool in TOOLS] == list(TOOL_HANDLERS)


def test_a_call_comes_back_as_a_json_string_with_the_result() -> None:
    output = execute_tool_call(call('{"text": "I don’t know the answer."}'))
    assert json.loads(output) == {"ok": True, "result": count_english_words("I don't know the answer.")}


def test_a_call_may_be_an_object_of_the_sdk() -> None:
    item = SimpleNamespace(name="count_english_words", arguments='{"text": "one two"}', call_id="call_1")
    assert json.loads(execute_tool_call(item))["result"]["word_count"] == 2


def test_the_output_is_not_escaped() -> None:
    def echo(text: str) -> str:
        return f"“{text}” 有兩個字"

    output = execute_tool_call(call('{"text": "字"}'), handlers={"count_english_words": echo})
    assert output == '{"ok": true, "result": "“字” 有兩個字"}'


@pytest.mark.parametrize("name", ["execute_tool_call", "os.system", "", None, 3, "count_english_words "])
def test_only_registered_names_lead_to_code(name: object) -> None:
    assert json.loads(execute_tool_call(call("{}", name))) == {"ok": False, "error": "unknown tool"}


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ("[]", "arguments must be an object"),
        ("{", "arguments are not valid JSON"),
        ("{}", "text is missing"),
        ('{"text": 7}', "text must be a string"),
        ('{"text": " "}', "text must not be empty"),
        ('{"text": "a", "lang": "en"}', "lang is not an argument; allowed: text"),
        (json.dumps({"text": "a" * 2001}), "text is too long"),
    ],
)
def test_bad_arguments_come_back_as_a_message_for_the_model(arguments: str, complaint: str) -> None:
    assert json.loads(execute_tool_call(call(arguments))) == {"ok": False, "error": complaint}


def test_exactly_the_limit_is_counted_through_a_call() -> None:
    assert json.loads(execute_tool_call(call(json.dumps({"text": "a " * 1000}))))["result"]["word_count"] == 1000


@pytest.mark.parametrize(
    ("error", "complaint"),
    [
        (ToolError("try a shorter text"), "try a shorter text"),
        (ValueError("text is odd"), "text is odd"),
        (ValueError(), "count_english_words refused the arguments"),
        (ZeroDivisionError("secret path"), "count_english_words failed with ZeroDivisionError"),
        (SystemExit(1), "count_english_words failed with SystemExit"),
        (KeyboardInterrupt(), "count_english_words failed with KeyboardInterrupt"),
    ],
)
def test_a_handler_that_raises_anything_does_not_end_the_turn(error: BaseException, complaint: str) -> None:
    def fail(text: str) -> None:
        raise error

    assert execute_with(fail) == {"ok": False, "error": complaint}


def test_a_handler_that_runs_too_long_is_left_behind() -> None:
    release = threading.Event()
    try:
        output = execute_with(lambda text: release.wait(), time_limit=0.01)
    finally:
        release.set()
    assert output == {"ok": False, "error": "count_english_words took longer than 0.01 seconds"}


def nest(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize("result", [{1, 2}, object(), float("nan"), float("inf"), b"bytes", "\ud800", nest(100_000)])
def test_a_result_that_is_not_json_is_refused(result: object) -> None:
    assert execute_with(lambda text: result) == {
        "ok": False,
        "error": "count_english_words returned something that is not JSON",
    }


def test_a_result_that_is_too_large_is_refused() -> None:
    output = execute_with(lambda text: "a" * MAX_OUTPUT_CHARS)
    assert output["ok"] is False
    assert "returned too much" in output["error"]


def test_none_is_a_result_too() -> None:
    assert execute_with(lambda text: None) == {"ok": True, "result": None}


def test_an_argument_name_that_cannot_be_encoded_is_still_told() -> None:
    output = execute_tool_call(call('{"text": "a", "\\ud800": 1}'))
    assert output.encode()
    assert json.loads(output)["ok"] is False
