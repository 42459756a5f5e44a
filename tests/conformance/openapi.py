"""OpenAI's published OpenAPI document as a check that forbids unknown properties.

The document lies beside the checkout and is not part of the project; ``MEMORA_OPENAPI_DOCUMENT`` names another
place. Where it is missing, `document` is None and the run says so at its end.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError, best_match

from memora.settings import APP_FOLDER

NAME = "OpenAPI document"
_PLACE = APP_FOLDER.parent / "shared" / "data" / "openai" / "openapi.json"
_SCHEMAS = "#/components/schemas/"
_OPEN = "__open"
"""Ends the name of a schema's copy that may be extended: what stands in an ``allOf`` cannot be closed by itself."""


@functools.cache
def document() -> dict[str, Any] | None:
    """The document's schemas, or None where there is no document."""
    place = Path(os.environ.get("MEMORA_OPENAPI_DOCUMENT", _PLACE))
    if not place.is_file():
        return None
    schemas: dict[str, Any] = json.loads(place.read_text(encoding="utf-8"))["components"]["schemas"]
    return schemas


def complaints(value: Any, schema: str) -> list[str]:
    """What the document has against ``value`` as a ``schema`` (CreateResponse, Response, …); the best one first."""
    if schema == "ResponseStreamEvent":
        kind = value.get("type")
        if kind not in _event_schemas():
            return [f"$.type: there is no event {kind}"]
        schema = _event_schemas()[kind]
    error = best_match(_causes(_validator(schema).iter_errors(value)))
    return [] if error is None else [_told(error)]


def _causes(errors: Iterable[ValidationError]) -> list[ValidationError]:
    """The errors without those that only follow: where one property is wrong, all around it count as unevaluated."""
    errors = list(errors)
    return [error for error in errors if error.validator != "unevaluatedProperties"] or errors


@functools.cache
def _event_schemas() -> dict[str, str]:
    """The schema of each type of event: trying all sixty for each of a thousand deltas takes long."""
    schemas = document()
    assert schemas is not None
    names = (part["$ref"].removeprefix(_SCHEMAS) for part in schemas["ResponseStreamEvent"]["anyOf"])
    return {schemas[name]["properties"]["type"]["enum"][0]: name for name in names}


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator({"$ref": _SCHEMAS + name, "components": {"schemas": _closed_schemas()}})


@functools.cache
def _closed_schemas() -> dict[str, Any]:
    schemas = document()
    assert schemas is not None
    closed = {name: _closed(schema) for name, schema in schemas.items()}
    return closed | {name + _OPEN: _opened(schema) for name, schema in schemas.items()}


def _closed(schema: Any) -> Any:
    """``schema`` with every object in it closed against properties that it does not name."""
    if isinstance(schema, list):
        return [_closed(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: _closed(value) for key, value in schema.items() if key not in ("allOf", "oneOf", "discriminator")}
    if "properties" in schema:
        result["properties"] = {name: _closed(value) for name, value in schema["properties"].items()}
    if "oneOf" in schema:
        # The document's alternatives overlap in places (an empty list of two kinds of parts): one of them is enough.
        result["anyOf"] = [*result.get("anyOf", ()), *map(_closed, schema["oneOf"])]
    if "allOf" in schema:
        result["allOf"] = [_opened(part) for part in schema["allOf"]]
    if ("properties" in schema or "allOf" in schema) and "additionalProperties" not in schema:
        result["unevaluatedProperties"] = False
    return result


def _opened(schema: Any) -> Any:
    """``schema`` closed inside, but not itself: its neighbours in an ``allOf`` bring properties of their own."""
    if "$ref" in schema:
        return {**schema, "$ref": schema["$ref"] + _OPEN}
    result: dict[str, Any] = _closed(schema)
    return {key: value for key, value in result.items() if key != "unevaluatedProperties"}


def _told(error: ValidationError) -> str:
    deepest = _deepest(error)
    return f"{deepest.json_path}: {deepest.message[:300]}"


def _deepest(error: ValidationError) -> ValidationError:
    """Of all alternatives that failed, the complaint that got furthest into the value."""
    while error.context:
        error = max(_causes(_of_its_type(error.context)), key=lambda inner: len(inner.absolute_path))
    return error


def _of_its_type(errors: Iterable[ValidationError]) -> list[ValidationError]:
    """The complaints of the alternative whose ``type`` fits, where one does."""
    errors = list(errors)
    misfits = {error.schema_path[0] for error in errors if list(error.path)[-1:] == ["type"]}
    return [error for error in errors if error.schema_path[0] not in misfits] or errors
