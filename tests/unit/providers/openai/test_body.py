from __future__ import annotations

from typing import Any

import pytest

from memora.model import ModelRequest, OutputSchema
from memora.providers.openai.body import build_body

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
