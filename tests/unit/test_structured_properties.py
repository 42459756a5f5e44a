"""Strict schemas of structured answers, for models of any shape."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import pytest
from conformance.json_schemas import complaints
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field
from support.figures import count
from support.scale import scaled
from support.shapes import Shape, models

from memora.structured import strict_schema

pytestmark = pytest.mark.timeout(600)


def as_sent(schema: dict[str, Any]) -> dict[str, Any]:
    """What of a request carries ``schema``."""
    return {"text": {"format": {"type": "json_schema", "name": "answer", "strict": True, "schema": schema}}}


def references(node: Any) -> Iterator[dict[str, Any]]:
    """The objects in ``node`` that refer to a definition."""
    if isinstance(node, dict) and isinstance(node.get("$ref"), str):
        yield node
    for part in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from references(part)


@settings(max_examples=scaled(short=60, full=1000), deadline=None)
@given(shape=models, data=st.data())
def test_every_model_has_a_strict_schema_that_all_its_instances_keep(shape: Shape, data: st.DataObject) -> None:
    schema = strict_schema(shape.type)
    assert list(complaints(as_sent(schema))) == []
    assert all(node.keys() == {"$ref"} for node in references(schema))
    instance = data.draw(shape.values)
    Draft202012Validator(schema).validate(json.loads(instance.model_dump_json()))
    count("strict schemas")


@settings(max_examples=scaled(short=30, full=300), deadline=None)
@given(shape=models, data=st.data())
def test_a_field_too_many_or_too_few_is_no_such_instance(shape: Shape, data: st.DataObject) -> None:
    validator = Draft202012Validator(strict_schema(shape.type))
    dumped = json.loads(data.draw(shape.values).model_dump_json())
    assert not validator.is_valid({**dumped, "one more": 1})
    for name in dumped:
        assert not validator.is_valid({key: value for key, value in dumped.items() if key != name})


class Cat(BaseModel):
    kind: Literal["cat"]


class Dog(BaseModel):
    kind: Literal["dog"]
    barks: bool = Field(default=True, description="Whether it barks.")


class Owner(BaseModel):
    pet: Annotated[Cat | Dog, Field(discriminator="kind", description="What they have.")]


@pytest.mark.parametrize("pet", [Cat(kind="cat"), Dog(kind="dog", barks=False)])
def test_a_union_that_a_field_tells_apart_is_strict_too(pet: Cat | Dog) -> None:
    schema = strict_schema(Owner)
    assert list(complaints(as_sent(schema))) == []
    Draft202012Validator(schema).validate(Owner(pet=pet).model_dump())
