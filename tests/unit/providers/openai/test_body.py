from __future__ import annotations

import json
from typing import Any

import pytest

from memora.model import ModelRequest, OutputSchema
from memora.providers.openai.body import build_body
from memora.providers.profiles import PROFILES

QUESTION = {"type": "message", "role": "user", "content": "請數一數"}
TOOL = {"type": "function", "name": "f", "parameters": {}, "strict": True}


def request(**fields: Any) -> ModelRequest:
    return ModelRequest(**{"purpose": "answer", "instructions": "Be kind.", "input": (QUESTION,), **fields})


def test_a_request_with_tools_has_exactly_this_body() -> None:
    assert build_body(request(tools=(TOOL,), tool_choice="auto"), model="m") == {
        "model": "m",
        "instructions": "Be kind.",
        "input": [QUESTION],
        "tools": [TOOL],
        "tool_choice": "auto",
        "parallel_tool_calls": False,
        "include": ["reasoning.encrypted_content"],
        "store": False,
        "stream": True,
    }


def test_a_request_without_tools_leaves_out_what_it_does_not_have() -> None:
    assert build_body(request(instructions=""), model="m", dropped=("include",)) == {
        "model": "m",
        "input": [QUESTION],
        "store": False,
        "stream": True,
    }


def test_an_output_schema_is_strict_and_an_output_limit_is_sent() -> None:
    schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    body = build_body(
        request(output_schema=OutputSchema(name="facts", schema=schema), max_output_tokens=400), model="m"
    )
    assert body["text"] == {"format": {"type": "json_schema", "name": "facts", "schema": schema, "strict": True}}
    assert body["max_output_tokens"] == 400


def test_tools_without_a_choice_are_the_callers_error() -> None:
    with pytest.raises(ValueError, match="tool_choice"):
        build_body(request(tools=(TOOL,)), model="m")


def test_dropped_reasoning_is_not_in_the_input() -> None:
    body = build_body(request(input=(QUESTION, {"type": "reasoning", "id": "rs_1"})), model="m", dropped=("reasoning",))
    assert body["input"] == [QUESTION]


def test_a_server_that_takes_no_include_is_sent_none() -> None:
    assert "include" not in build_body(request(), model="m", profile=PROFILES["ollama"])


def test_a_server_that_ignores_the_tool_choice_sees_no_tools_where_none_may_be_called() -> None:
    profile = PROFILES["ollama"]
    may_call = build_body(request(tools=(TOOL,), tool_choice="auto"), model="m", profile=profile)
    may_not = build_body(request(tools=(TOOL,), tool_choice="none"), model="m", profile=profile)
    assert may_call["tools"] == [TOOL]
    assert not {"tools", "tool_choice", "parallel_tool_calls"} & may_not.keys()


def test_a_server_that_turned_out_to_ignore_the_tool_choice_is_treated_alike() -> None:
    body = build_body(request(tools=(TOOL,), tool_choice="none"), model="m", dropped=("tools",))
    assert "tools" not in body
    assert "tools" in build_body(request(tools=(TOOL,), tool_choice="auto"), model="m", dropped=("tools",))


def test_a_server_that_enforces_no_schema_is_told_it_in_words_and_promised_nothing() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    asked = request(output_schema=OutputSchema(name="facts", schema=schema), tools=(TOOL,), tool_choice="auto")
    body = build_body(asked, model="m", profile=PROFILES["llama_cpp"])
    assert body["instructions"].startswith("Be kind.\n\n")
    assert json.dumps(schema) in body["instructions"]
    assert body["text"]["format"]["strict"] is False
    assert body["tools"] == [{**TOOL, "strict": False}]
    assert TOOL["strict"] is True
