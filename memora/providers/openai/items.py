"""Output items, cleaned once so that they can be stored, told, and sent back as input."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from memora.model import Item

MAX_DEPTH = 100
"""How deep an item may be nested: what is stored deeper than about 200 levels could not be read again."""


def sendable_items(output: Iterable[Any]) -> tuple[Item, ...]:
    """The items of ``output`` (objects of the SDK or dictionaries) in their order, each `sendable`."""
    plain = (as_dict(item) for item in output)
    return tuple(sendable(item) for item in plain if item)


def as_dict(value: Any) -> dict[str, Any]:
    """An object of the SDK as the server sent it; empty for anything that is no object.

    Text is `well_formed`, and a number that JSON has not (NaN, infinity) is None. Raises ``ValueError`` for an
    object that is nested deeper than `MAX_DEPTH`, or that the SDK cannot turn into a dictionary.
    """
    if hasattr(value, "to_dict"):
        try:
            value = value.to_dict(warnings=False)
        except UnicodeEncodeError:  # which would read as if our own request could not be encoded
            raise ValueError("the name of a field cannot be encoded") from None
    readable: dict[str, Any] = _readable(value) if isinstance(value, Mapping) else {}
    return readable


def sendable(item: Mapping[str, Any]) -> Item:
    """``item`` without what the API refuses as input.

    That is: nulls, what the SDK has added (``parsed`` and ``parsed_arguments``), the ``status`` of a reasoning
    item, and what is no part of a message in its ``content``.
    """
    cleaned: Item = _clean(item)
    if cleaned.get("type") == "reasoning":
        cleaned.pop("status", None)
    if cleaned.get("type", "message") == "message" and "content" in cleaned:
        cleaned["content"] = _parts(cleaned["content"])
    return cleaned


def without_reasoning(items: Iterable[Item]) -> list[Item]:
    """``items`` for a server that refuses their reasoning.

    The other items lose their ids too: a server that knows an id misses the reasoning that belonged to it.
    """
    return [
        {name: value for name, value in item.items() if name != "id"} if item.get("type") == "function_call" else item
        for item in items
        if item.get("type") != "reasoning"
    ]


def well_formed(text: str) -> str:
    """``text`` with surrogate pairs joined and lone halves replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _parts(content: Any) -> str | list[Item]:
    if isinstance(content, str):
        return content
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _readable(value: Any, *, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"nested deeper than {MAX_DEPTH} levels")
    match value:
        case str():
            return well_formed(value)
        case float():
            return value if math.isfinite(value) else None
        case Mapping():
            return {well_formed(name): _readable(nested, depth=depth + 1) for name, nested in value.items()}
        case list() | tuple():
            return [_readable(nested, depth=depth + 1) for nested in value]
        case _:
            return value


def _clean(value: Any) -> Any:
    match value:
        case Mapping():
            return {
                name: _clean(nested)
                for name, nested in value.items()
                if nested is not None and name not in ("parsed", "parsed_arguments")
            }
        case list() | tuple():
            return [_clean(nested) for nested in value]
        case _:
            return value
