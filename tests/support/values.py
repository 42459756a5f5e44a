"""Random values of any of Memora's frozen dataclasses, made from their types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from support.anything import finite_numbers, readable_json, readable_text

_LEAVES: Mapping[Any, st.SearchStrategy[Any]] = {
    str: readable_text,
    int: st.integers(),
    float: finite_numbers,
    bool: st.booleans(),
    NoneType: st.none(),
    Any: readable_json,
    datetime: st.datetimes(timezones=st.just(UTC)),
}


def values_of(kind: Any) -> st.SearchStrategy[Any]:
    """Values of the type ``kind``: whatever its fields may hold, and nothing that no server or user could cause."""
    if kind in _LEAVES:
        return _LEAVES[kind]
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return st.builds(kind, **{part.name: values_of(hints[part.name]) for part in fields(kind)})  # type: ignore[arg-type]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return st.sampled_from(kind)
    arguments = get_args(kind)
    match get_origin(kind):
        case origin if origin is Literal:
            return st.sampled_from(arguments)
        case origin if origin in (Union, UnionType):
            return st.one_of(map(values_of, arguments))
        case origin if origin is tuple:
            return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
        case origin if origin is dict:
            return st.dictionaries(*map(values_of, arguments), max_size=2)
    raise TypeError(f"no values of {kind!r}")
