"""Definitions derived from functions of any signature."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from typing import Any

import pytest
from conformance.json_schemas import complaints
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from support.anything import any_json
from support.figures import count
from support.scale import scaled
from support.shapes import Shape, parameters

from memora.errors import ToolError
from memora.tools.arguments import read_arguments
from memora.tools.schema import define_tool

EXAMPLES = settings(max_examples=scaled(short=60, full=1000), deadline=None)


def tool_with(shapes: dict[str, Shape]) -> Callable[..., Any]:
    """A function whose parameters have the types of ``shapes``."""

    def tool(**arguments: Any) -> dict[str, Any]:
        return arguments

    tool.__doc__ = "Do it.\n\nArgs:\n" + "".join(f"    {name}: What {name} is.\n" for name in shapes)
    tool.__annotations__ = {name: shape.type for name, shape in shapes.items()}
    tool.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=shapes[name].type) for name in shapes]
    )
    return tool


@EXAMPLES
@given(shapes=parameters, data=st.data())
def test_every_signature_has_a_strict_definition_that_all_its_arguments_keep(
    shapes: dict[str, Shape], data: st.DataObject
) -> None:
    definition = define_tool(tool_with(shapes))
    assert list(complaints({"tools": [definition]})) == []
    arguments = {name: data.draw(shape.values) for name, shape in shapes.items()}
    Draft202012Validator(definition["parameters"]).validate(arguments)
    assert read_arguments(json.dumps(arguments), parameters=definition["parameters"]) == arguments
    count("strict schemas")


@EXAMPLES
@given(shapes=parameters, data=st.data())
def test_arguments_are_taken_exactly_when_they_keep_the_schema(shapes: dict[str, Shape], data: st.DataObject) -> None:
    schema = define_tool(tool_with(shapes))["parameters"]
    names = st.sampled_from([*shapes, "one more"])
    right = {name: data.draw(shape.values) for name, shape in shapes.items()}
    written = json.dumps({**right, **data.draw(st.dictionaries(names, any_json, max_size=1))})
    given_arguments = json.loads(written)
    if "NaN" in written or "Infinity" in written or not Draft202012Validator(schema).is_valid(given_arguments):
        with pytest.raises(ToolError):
            read_arguments(written, parameters=schema)
    else:
        assert read_arguments(written, parameters=schema) == given_arguments
