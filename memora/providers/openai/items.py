"""Output items, cleaned once so that they can be stored, told, and sent back as input."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from memora.model import Item


def sendable_items(output: Iterable[Any]) -> tuple[Item, ...]:
    """The items of ``output`` (objects of the SDK or dictionaries) in their order, each `sendable`."""
    plain = (as_dict(item) for item in output)
    return tuple(sendable(item) for item in plain if item)


def as_dict(value: Any) -> dict[str, Any]:
    """An object of the SDK as the server sent it; empty for anything that is no object."""
    if hasattr(value, "to_dict"):
        value = value.to_dict(mode="json", warnings=False)
    return dict(value) if isinstance(value, Mapping) else {}


def sendable(item: Mapping[str, Any]) -> Item:
    """``item`` without what the API refuses as input.

    That is: nulls, what the SDK has added (``parsed`` and ``parsed_arguments``), the ``status`` of a
    reasoning item, and halves of surrogate pairs, which nothing can encode.
    """
    cleaned: Item = _clean(item)
    if cleaned.get("type") == "reasoning":
        cleaned.pop("status", None)
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


def _clean(value: Any) -> Any:
    match value:
        case str():
            return well_formed(value)
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
