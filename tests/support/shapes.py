"""Random types and values that fit them: nested models, lists, optionals, enums, literals and unions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from typing import Any, Literal, TypedDict, Union

from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model
from support.anything import finite_numbers, readable_text


@dataclass(frozen=True)
class Shape:
    """A type, and the strategy for the values that fit it."""

    type: Any
    values: st.SearchStrategy[Any]


class Level(StrEnum):
    """A choice of texts."""

    LOW = "low"
    HIGH = "高"


class Grade(IntEnum):
    """A choice of numbers."""

    ONE = 1
    TWO = 2


TEXT = Shape(str, readable_text)
INTEGER = Shape(int, st.integers(-(2**53), 2**53))
NUMBER = Shape(float, finite_numbers)
TRUTH = Shape(bool, st.booleans())
ONE_OF_THREE = Shape(Literal["a", "b", "null"], st.sampled_from(["a", "b", "null"]))
ONE_OF_ONE = Shape(Literal["only"], st.just("only"))


def choice_of(members: type[Enum]) -> Shape:
    return Shape(members, st.sampled_from(members))


def list_of(part: Shape) -> Shape:
    return Shape(list[part.type], st.lists(part.values, max_size=3))  # type: ignore[name-defined]


def or_none(part: Shape) -> Shape:
    return Shape(Union[part.type, None], st.none() | part.values)  # noqa: UP007 - a type that is made, not written


def either(one: Shape, other: Shape) -> Shape:
    return Shape(Union[one.type, other.type], one.values | other.values)  # noqa: UP007 - a type that is made


def model_of(name: str, fields: dict[str, Shape], describing: str | None = None) -> Shape:
    """A pydantic model whose fields carry the description ``describing``."""
    described: dict[str, Any] = {field: (shape.type, Field(description=describing)) for field, shape in fields.items()}
    model: type[BaseModel] = create_model(name, **described)
    return Shape(model, _filled(fields).map(model.model_validate))


def typed_dict_of(name: str, fields: dict[str, Shape]) -> Shape:
    typed = TypedDict(name, {field: shape.type for field, shape in fields.items()})  # type: ignore[misc]
    return Shape(typed, _filled(fields))


def _filled(fields: dict[str, Shape]) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({field: shape.values for field, shape in fields.items()})


def fields_of(parts: st.SearchStrategy[Shape]) -> st.SearchStrategy[dict[str, Shape]]:
    """Up to four fields. Most names are keywords of JSON schemas, which must not be taken for them."""
    names = ["title", "default", "minimum", "type", "items", "enum", "properties", "required", "anyOf", "oneOf", "字"]
    return st.dictionaries(st.sampled_from(names), parts, max_size=4)


def models_of(parts: st.SearchStrategy[Shape]) -> st.SearchStrategy[Shape]:
    """Models of ``parts``; some have the same name, and some the name of a keyword."""
    names = st.sampled_from(["Part", "title", "default", "properties"])
    return st.builds(model_of, names, fields_of(parts), st.sampled_from([None, "What it is."]))


_plain = st.sampled_from([TEXT, INTEGER, NUMBER, TRUTH, ONE_OF_THREE])
_parts = st.recursive(
    _plain | st.sampled_from([ONE_OF_ONE, choice_of(Level), choice_of(Grade)]),
    lambda inner: st.one_of(inner.map(list_of), inner.map(or_none), st.builds(either, inner, inner), models_of(inner)),
    max_leaves=6,
)
models: st.SearchStrategy[Shape] = models_of(_parts)
"""Models as structured answers may be made of."""

parameters: st.SearchStrategy[dict[str, Shape]] = fields_of(
    st.recursive(
        _plain,
        lambda inner: st.one_of(
            inner.map(list_of), inner.map(or_none), st.builds(typed_dict_of, st.just("Part"), fields_of(inner))
        ),
        max_leaves=6,
    )
)
"""Parameters as tools may have them."""
