"""The JSON schemas inside a request: to the API's specification they are any object, to the API they are not."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

Json = dict[str, Any]

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_NOT_STRICT = frozenset(
    {
        "allOf",
        "default",
        "dependentRequired",
        "dependentSchemas",
        "else",
        "if",
        "not",
        "oneOf",
        "patternProperties",
        "then",
        "uniqueItems",
    }
)
"""Keywords that strict mode refuses."""


def complaints(body: Json) -> Iterator[str]:
    """What is wrong with the schemas of ``body``'s functions and of its format, and with the names of these."""
    for place, tool in enumerate(body.get("tools") or ()):
        yield from _schema_complaints(f"tools[{place}]", tool, tool.get("parameters"))
    text = body.get("text")
    output = text.get("format") if isinstance(text, dict) else None
    if isinstance(output, dict) and output.get("type") == "json_schema":
        yield from _schema_complaints("text.format", output, output.get("schema"))


def _schema_complaints(where: str, owner: Json, schema: Any) -> Iterator[str]:
    if not _NAME.fullmatch(str(owner.get("name"))):
        yield f"{where}.name is not made of up to 64 letters, digits, _ and -"
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        yield f"{where} holds no JSON schema: {error.json_path}: {error.message[:200]}"
        return
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{where}: the schema is not of an object"
    elif owner.get("strict") is not False:
        yield from (f"{where}: {complaint}" for complaint in _strictness("$", schema))


def _strictness(where: str, schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for place, part in enumerate(schema):
            yield from _strictness(f"{where}[{place}]", part)
    if not isinstance(schema, dict):
        return
    yield from (f"{where}.{keyword} is refused in strict mode" for keyword in sorted(_NOT_STRICT & schema.keys()))
    if schema.get("type") == "object" or "properties" in schema:
        if schema.get("additionalProperties") is not False:
            yield f"{where} may have additional properties"
        if sorted(schema.get("required", ())) != sorted(schema.get("properties", ())):
            yield f"{where} does not require all of its properties"
    for keyword, value in schema.items():
        if keyword in ("properties", "$defs"):
            for name, part in value.items():
                yield from _strictness(f"{where}.{keyword}.{name}", part)
        elif keyword in ("items", "anyOf"):
            yield from _strictness(f"{where}.{keyword}", value)
