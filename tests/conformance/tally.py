"""How many bodies, events and responses were validated, by which specification: told at the end of the run."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from conformance import openapi, rules, sdk_types

Kind = Literal["bodies", "events", "responses"]

counts: Counter[tuple[Kind, str]] = Counter()


def check_document(value: Any, schema: str, *, kind: Kind) -> list[str]:
    """The same by the OpenAPI document alone, for what the SDK has no strict type of; nothing where it is missing."""
    if openapi.document() is None:
        return []
    return _by(openapi.NAME, openapi.complaints(value, schema), kind=kind)


def check(value: Any, schema: str, *, kind: Kind) -> list[str]:
    """Every complaint of every specification about ``value``, each with the specification's name. Counted."""
    found = _by(sdk_types.NAME, sdk_types.complaints(value, schema), kind=kind)
    found += check_document(value, schema.partition(",")[0], kind=kind)
    if kind == "bodies" and isinstance(value, dict) and "input" in value and "Embedding" not in schema:
        found += _by(rules.NAME, rules.complaints(value, schema), kind=kind)
    return found


def lines() -> list[str]:
    """What the run says at its end; nothing when nothing was validated."""
    if not counts:
        return []
    told = []
    for kind in ("bodies", "events", "responses"):
        by = ", ".join(f"{counted:,} by the {name}" for (of, name), counted in sorted(counts.items()) if of == kind)
        told.append(f"{kind} validated: {by or 'none'}")
    if openapi.document() is None:
        told.append("OpenAI's OpenAPI document is not here: nothing was validated by it")
    return told


def _by(name: str, complaints: list[str], *, kind: Kind) -> list[str]:
    counts[kind, name] += 1
    return [f"{name}: {complaint}" for complaint in complaints]
