"""The arguments of a call: from the model's JSON string to values that fit the schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

from memora.errors import ToolError

_KINDS: dict[str, tuple[str, type | tuple[type, ...]]] = {
    "string": ("a string", str),
    "integer": ("an integer", int),
    "number": ("a number", (int, float)),
    "boolean": ("true or false", bool),
    "array": ("an array", list),
    "object": ("an object", dict),
    "null": ("null", type(None)),
}


def read_arguments(encoded: object, *, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments in ``encoded``, checked against the schema ``parameters``.

    Raises `ToolError` with a sentence that tells the model what to change.
    """
    if not isinstance(encoded, str):
        raise ToolError("arguments must be a JSON string")
    try:
        arguments = json.loads(encoded, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        raise ToolError("arguments are not valid JSON") from None
    if not isinstance(arguments, dict):
        raise ToolError("arguments must be an object")
    _check_object(arguments, parameters, where="")
    return arguments


def _refuse_constant(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not JSON")


def _check(value: Any, schema: Mapping[str, Any], *, where: str) -> None:
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    kind = next((name for name in types if _is_kind(value, name)), None)
    if kind is None:
        raise ToolError(f"{where} must be {' or '.join(_KINDS[name][0] for name in types)}")
    if "enum" in schema and value not in schema["enum"]:
        allowed = ", ".join(json.dumps(choice, ensure_ascii=False) for choice in schema["enum"])
        raise ToolError(f"{where} must be one of {allowed}")
    if kind == "array":
        for index, element in enumerate(value):
            _check(element, schema["items"], where=f"{where}[{index}]")
    if kind == "object":
        _check_object(value, schema, where=f"{where}.")


def _check_object(value: dict[str, Any], schema: Mapping[str, Any], *, where: str) -> None:
    properties = schema["properties"]
    for name in properties:
        if name not in value:
            raise ToolError(f"{where}{name} is missing")
    for name in value:
        if name not in properties:
            raise ToolError(f"{where}{name} is not an argument; allowed: {', '.join(properties)}")
    for name, nested in properties.items():
        _check(value[name], nested, where=f"{where}{name}")


def _is_kind(value: Any, name: str) -> bool:
    is_number_like_bool = isinstance(value, bool) and name in ("integer", "number")
    return isinstance(value, _KINDS[name][1]) and not is_number_like_bool
