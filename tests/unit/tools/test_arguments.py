from __future__ import annotations

import json
from typing import Any

import pytest

from memora.errors import ToolError
from memora.tools.arguments import read_arguments

PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "words": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"text": {"type": "string"}, "count": {"type": ["integer", "null"]}},
                "required": ["text", "count"],
                "additionalProperties": False,
            },
        },
        "scale": {"type": "string", "enum": ["cefr", "zipf"]},
        "share": {"type": "number"},
        "is_long": {"type": "boolean"},
    },
    "required": ["words", "scale", "share", "is_long"],
    "additionalProperties": False,
}
GOOD: dict[str, Any] = {"words": [{"text": "字", "count": None}], "scale": "cefr", "share": 1, "is_long": True}


def test_arguments_that_fit_come_back_as_values() -> None:
    assert read_arguments(json.dumps(GOOD), parameters=PARAMETERS) == GOOD


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"scale": 1}, "scale must be a string"),
        ({"scale": "other"}, 'scale must be one of "cefr", "zipf"'),
        ({"share": True}, "share must be a number"),
        ({"share": "1"}, "share must be a number"),
        ({"is_long": 1}, "is_long must be true or false"),
        ({"words": {}}, "words must be an array"),
        ({"words": ["a"]}, "words[0] must be an object"),
        ({"words": [{"text": "a"}]}, "words[0].count is missing"),
        ({"words": [{"text": "a", "count": True}]}, "words[0].count must be an integer or null"),
        ({"words": [{"text": "a", "count": 1, "x": 1}]}, "words[0].x is not an argument; allowed: text, count"),
        ({"extra": 1}, "extra is not an argument; allowed: words, scale, share, is_long"),
    ],
)
def test_arguments_that_do_not_fit_are_named(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ToolError) as raised:
        read_arguments(json.dumps({**GOOD, **change}), parameters=PARAMETERS)
    assert str(raised.value) == complaint


@pytest.mark.parametrize(
    ("encoded", "complaint"),
    [
        ("", "arguments are not valid JSON"),
        ('{"text": "cut of', "arguments are not valid JSON"),
        ('{"share": NaN}', "arguments are not valid JSON"),
        ("[" * 100_000, "arguments are not valid JSON"),
        ("[]", "arguments must be an object"),
        ('"text"', "arguments must be an object"),
        ("null", "arguments must be an object"),
        (None, "arguments must be a JSON string"),
        ({"share": 1}, "arguments must be a JSON string"),
    ],
)
def test_what_is_no_json_object_is_refused(encoded: object, complaint: str) -> None:
    with pytest.raises(ToolError) as raised:
        read_arguments(encoded, parameters=PARAMETERS)
    assert str(raised.value) == complaint
