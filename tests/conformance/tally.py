"""How many bodies, events and responses were validated, by which specification: told at the end of the run.

Only what Memora or a stand-in for the API really sent is counted, not what a test spoils on purpose.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

from conformance import openapi, rules, sdk_types, sequence
from support import figures

Json = dict[str, Any]
Kind = Literal["bodies", "events", "streams", "responses"]
KINDS: dict[Kind, str] = {
    "bodies": "request bodies",
    "events": "events",
    "streams": "whole streams",
    "responses": "responses, lists and errors",
}
_WITH_RULES = frozenset({"CreateResponse", sdk_types.NOT_STREAMED, "TokenCountsBody"})

counts: Counter[tuple[Kind, str]] = figures.counter("conformance")


def complaints(value: Any, schema: str) -> dict[str, list[str]]:
    """What each specification that applies has against ``value``; the keys are their names."""
    found = {}
    if sdk_types.knows(schema):
        found[sdk_types.NAME] = sdk_types.complaints(value, schema)
    if openapi.document() is not None:
        found[openapi.NAME] = openapi.complaints(value, schema.partition(",")[0])
    if schema in _WITH_RULES:
        found[rules.NAME] = rules.complaints(value, schema)
    return found


def check(value: Any, schema: str, *, kind: Kind) -> list[str]:
    """Every complaint about ``value``, each after the specification's name. Counted."""
    return _counted(complaints(value, schema), kind)


def check_stream(events: list[Json]) -> list[str]:
    """Every complaint about the events of one stream, and about their order. Counted."""
    found = [complaint for event in events for complaint in check(event, "ResponseStreamEvent", kind="events")]
    return found + _counted({sequence.NAME: sequence.complaints(events)}, "streams")


def lines() -> list[str]:
    """What the run says at its end; nothing when nothing was validated."""
    if not counts:
        return []
    told = [line for kind in KINDS if (line := _line(kind))]
    if openapi.document() is None:
        told.append("OpenAI's OpenAPI document is not here, nothing was validated by it (MEMORA_OPENAPI_DOCUMENT)")
    return told


def _line(kind: Kind) -> str:
    by = ", ".join(f"{counted:,} by the {name}" for (of, name), counted in sorted(counts.items()) if of == kind)
    return by and f"{KINDS[kind]} validated: {by}"


def _counted(found: dict[str, list[str]], kind: Kind) -> list[str]:
    counts.update((kind, name) for name in found)
    return [f"{name}: {complaint}" for name, complaints in found.items() for complaint in complaints]
