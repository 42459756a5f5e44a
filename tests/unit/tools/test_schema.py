from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypedDict

import pytest

from memora.tools import TOOLS, count_english_words
from memora.tools.schema import ToolDefinitionError, check_definition, check_strict, define_tool


class Word(TypedDict):
    text: str
    syllables: int | None


def rate_words(words: list[Word], scale: Literal["cefr", "zipf"], strictness: float, note: str | None) -> None:
    """Rate how hard words are.

    Use it for lists.

    Args:
        words: The words,
            one by one.
        scale: Which scale.
        strictness: From 0 to 1.
        note: Anything else.

    Returns:
        nothing: of interest to the model.
    """


def test_the_definition_of_the_word_counter_is_what_the_api_takes() -> None:
    (definition,) = TOOLS
    assert definition == define_tool(count_english_words)
    assert {name: definition[name] for name in ("type", "name", "strict")} == {
        "type": "function",
        "name": "count_english_words",
        "strict": True,
    }
    assert "whenever the user asks" in definition["description"]
    parameters = definition["parameters"]
    assert parameters["additionalProperties"] is False
    assert parameters["required"] == ["text"]
    assert parameters["properties"]["text"]["type"] == "string"


def test_types_become_strict_schemas_nested_ones_too() -> None:
    definition = define_tool(rate_words)
    assert definition["description"] == "Rate how hard words are. Use it for lists."
    assert definition["parameters"] == {
        "type": "object",
        "properties": {
            "words": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"text": {"type": "string"}, "syllables": {"type": ["integer", "null"]}},
                    "required": ["text", "syllables"],
                    "additionalProperties": False,
                },
                "description": "The words, one by one.",
            },
            "scale": {"type": "string", "enum": ["cefr", "zipf"], "description": "Which scale."},
            "strictness": {"type": "number", "description": "From 0 to 1."},
            "note": {"type": ["string", "null"], "description": "Anything else."},
        },
        "required": ["words", "scale", "strictness", "note"],
        "additionalProperties": False,
    }


def no_types(text) -> None:  # type: ignore[no-untyped-def]
    """Do it.

    Args:
        text: Text.
    """


def no_argument_line(text: str) -> None:
    """Do it."""


def no_description(text: str) -> None:
    """
    Args:
        text: Text.
    """


def with_default(text: str = "a") -> None:
    """Do it.

    Args:
        text: Text.
    """


def with_any_number_of(*texts: str) -> None:
    """Do it.

    Args:
        texts: Texts.
    """


def with_open_object(values: dict[str, int]) -> None:
    """Do it.

    Args:
        values: Values.
    """


def with_a_choice_of_types(value: int | str) -> None:
    """Do it.

    Args:
        value: A value.
    """


@pytest.mark.parametrize(
    ("function", "complaint"),
    [
        (no_types, r"no_types\(text\).*type"),
        (no_argument_line, r"no_argument_line\(text\).*Args"),
        (no_description, "description"),
        (with_default, "no defaults"),
        (with_any_number_of, "by name"),
        (with_open_object, r"with_open_object\(values\).*strict schema"),
        (with_a_choice_of_types, "strict schema"),
        (lambda: None, "no name for a function"),
    ],
)
def test_a_function_without_a_strict_definition_is_the_developers_error(
    function: Callable[..., Any], complaint: str
) -> None:
    with pytest.raises(ToolDefinitionError, match=complaint):
        define_tool(function)


STRICT = {
    "type": "object",
    "properties": {"a": {"type": "array", "items": {"type": "string"}}},
    "required": ["a"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"additionalProperties": True}, "additionalProperties must be false"),
        ({"required": []}, "every property must be required"),
        ({"properties": {"a": {"type": "array"}}}, "needs items"),
        ({"properties": {"a": {"type": "date"}}}, "type must be among"),
        ({"properties": {"a": {}}}, "type must be among"),
        ({"properties": {"a": {"type": "string", "format": "date"}}}, "format is not allowed"),
        ({"properties": {"a": {"type": "array", "items": {"type": "object"}}}}, r"f\.a\[\]: additionalProperties"),
        ({"properties": None}, "needs properties"),
    ],
)
def test_a_schema_that_is_not_strict_is_refused_at_its_place(change: dict[str, Any], complaint: str) -> None:
    check_strict(STRICT, where="f")
    with pytest.raises(ToolDefinitionError, match=complaint):
        check_strict({**STRICT, **change}, where="f")


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"name": "two words"}, "no name"),
        ({"strict": False}, "strict must be true"),
        ({"type": "custom"}, "type must be function"),
        ({"description": ""}, "description is needed"),
        ({"parameters": {"type": "string"}}, "parameters must be an object"),
    ],
)
def test_a_definition_that_is_not_strict_is_refused(change: dict[str, Any], complaint: str) -> None:
    definition = {"type": "function", "name": "f", "description": "d", "strict": True, "parameters": STRICT}
    check_definition(definition)
    with pytest.raises(ToolDefinitionError, match=complaint):
        check_definition({**definition, **change})
