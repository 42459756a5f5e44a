"""From a typed function to its definition for the Responses API, and the rules of strict schemas.

A tool's parameters are typed with ``str``, ``int``, ``float``, ``bool``, ``Literal`` of strings,
``list[…]``, a ``TypedDict``, or any of these ``| None``. Its docstring is written for the model: all of it
above the first section is the description, and ``Args:`` describes every parameter.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from memora.model import Item

Schema = dict[str, Any]

_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}
_STRICT_TYPES = frozenset({*_TYPES.values(), "array", "object", "null"})
_STRICT_KEYWORDS = frozenset({"type", "description", "enum", "items", "properties", "required", "additionalProperties"})
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SECTION = re.compile(r"^(?:Args|Returns|Raises|Yields|Examples?|Notes?):\s*$", re.MULTILINE)
_ARGUMENT = re.compile(r"^ {4}(\w+):\s*(.*(?:\n {5,}.*)*)", re.MULTILINE)


class ToolDefinitionError(TypeError):
    """The developer has to act: a tool is not written so that a strict definition can be derived."""


def define_tool(function: Callable[..., Any]) -> Item:
    """The strict definition of ``function``: name, description and parameters.

    Raises `ToolDefinitionError`, naming the function and the parameter, if there can be none.
    """
    name = function.__name__
    description, arguments = _read_docstring(inspect.getdoc(function) or "")
    hints = get_type_hints(function)
    properties: dict[str, Schema] = {}
    for parameter in inspect.signature(function).parameters.values():
        where = f"{name}({parameter.name})"
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise ToolDefinitionError(f"{where}: the model passes arguments by name, one by one")
        if parameter.default is not parameter.empty:
            raise ToolDefinitionError(f"{where}: strict schemas know no defaults; use `… | None` without one")
        if parameter.name not in hints or parameter.name not in arguments:
            raise ToolDefinitionError(f"{where}: a type and a line under Args are needed")
        schema = _schema_of(hints[parameter.name], where=where)
        properties[parameter.name] = {**schema, "description": arguments[parameter.name]}
    definition = {
        "type": "function",
        "name": name,
        "description": description,
        "parameters": _object(properties),
        "strict": True,
    }
    check_definition(definition)
    return definition


def check_definition(definition: Mapping[str, Any]) -> None:
    """Raise `ToolDefinitionError` unless ``definition`` follows the rules of strict function definitions."""
    name = definition.get("name")
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise ToolDefinitionError(f"{name!r} is no name for a function (letters, digits, _ and -, up to 64)")
    if definition.get("type") != "function" or definition.get("strict") is not True:
        raise ToolDefinitionError(f"{name}: type must be function and strict must be true")
    if not definition.get("description"):
        raise ToolDefinitionError(f"{name}: a description is needed, it tells the model when to use the tool")
    parameters = definition.get("parameters")
    if not isinstance(parameters, Mapping) or parameters.get("type") != "object":
        raise ToolDefinitionError(f"{name}: parameters must be an object")
    check_strict(parameters, where=name)


def check_strict(schema: Mapping[str, Any], *, where: str) -> None:
    """Raise `ToolDefinitionError` where ``schema``, or one nested in it, is not a strict schema."""
    if unknown := schema.keys() - _STRICT_KEYWORDS:
        raise ToolDefinitionError(f"{where}: {', '.join(sorted(unknown))} is not allowed in a strict schema")
    types = _types(schema)
    if not types or not _STRICT_TYPES.issuperset(types):
        raise ToolDefinitionError(f"{where}: type must be among {', '.join(sorted(_STRICT_TYPES))}")
    if "array" in types:
        if not isinstance(schema.get("items"), Mapping):
            raise ToolDefinitionError(f"{where}: an array needs items")
        check_strict(schema["items"], where=f"{where}[]")
    if "object" in types:
        _check_strict_object(schema, where=where)


def _check_strict_object(schema: Mapping[str, Any], *, where: str) -> None:
    if schema.get("additionalProperties") is not False:
        raise ToolDefinitionError(f"{where}: additionalProperties must be false")
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        raise ToolDefinitionError(f"{where}: an object needs properties")
    if set(schema.get("required", ())) != set(properties):
        raise ToolDefinitionError(f"{where}: every property must be required")
    for name, nested in properties.items():
        check_strict(nested, where=f"{where}.{name}")


def _types(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The allowed types of a schema: ``type`` is one name or a list of names."""
    declared = schema.get("type", ())
    return (declared,) if isinstance(declared, str) else tuple(declared)


def _schema_of(annotation: Any, *, where: str) -> Schema:
    if annotation in _TYPES:
        return {"type": _TYPES[annotation]}
    if is_typeddict(annotation):
        hints = get_type_hints(annotation)
        return _object({name: _schema_of(hint, where=f"{where}.{name}") for name, hint in hints.items()})
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Literal and all(isinstance(value, str) for value in arguments):
        return {"type": "string", "enum": list(arguments)}
    if origin is list:
        return {"type": "array", "items": _schema_of(arguments[0], where=f"{where}[]")}
    if origin in (Union, UnionType) and NoneType in arguments and len(arguments) == 2:
        return _or_null(_schema_of(next(a for a in arguments if a is not NoneType), where=where))
    raise ToolDefinitionError(f"{where}: {annotation!r} cannot be put into a strict schema")


def _object(properties: dict[str, Schema]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(schema: Schema) -> Schema:
    nullable = {**schema, "type": [schema["type"], "null"]}
    if "enum" in schema:
        nullable["enum"] = [*schema["enum"], None]
    return nullable


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description, and the description of each argument, with their lines joined."""
    sections = _SECTION.split(text)
    titles = [title.strip() for title in _SECTION.findall(text)]
    arguments: dict[str, str] = {}
    for title, body in zip(titles, sections[1:], strict=True):
        if title == "Args:":
            arguments = {name: _one_line(words) for name, words in _ARGUMENT.findall(body)}
    return _one_line(sections[0]), arguments


def _one_line(text: str) -> str:
    return " ".join(text.split())
