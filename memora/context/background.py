"""What is known of the user, as quoted data in front of the conversation.

The profile comes first and in a message of its own: where room is short, memories go before it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from memora.context.quoted import quoted_json
from memora.memory.values import Memory, ProfileField, ProfileValue, RecalledMemory
from memora.model import Item
from memora.prompts import render

BACKGROUND_SHARE = 0.25
"""The share of the context window that profile and memories may take together."""


@dataclass(frozen=True, kw_only=True)
class Background:
    """The input items that quote what is known, and the ids of the memories that are really among it."""

    messages: tuple[Item, ...] = ()
    memory_ids: tuple[str, ...] = ()


def build_background(
    *,
    profile: Mapping[ProfileField, ProfileValue],
    memories: Sequence[RecalledMemory],
    count_tokens: Callable[[str], int],
    max_tokens: int,
) -> Background:
    """Quote the profile and as many ``memories`` as fit into ``max_tokens``, the best ones first.

    Memories are left out whole, from the end; the profile (small by its own limits) stays.
    """
    memories = tuple(memories)
    while True:
        messages = background_messages(profile=profile, memories=memories)
        if not memories or sum(count_tokens(message["content"]) for message in messages) <= max_tokens:
            return Background(messages=messages, memory_ids=tuple(recalled.memory.id for recalled in memories))
        memories = memories[:-1]


def background_messages(
    *, profile: Mapping[ProfileField, ProfileValue], memories: Sequence[RecalledMemory]
) -> tuple[Item, ...]:
    """Up to two input messages: the profile, and the memories, each quoted between ``<background>`` tags.

    Their JSON: ``{"profile": {field: value}}`` and ``{"memories": [{"content", "category", "date"}]}``. They
    are messages of the user's role because that role commands the least; ``type`` is there because some
    servers want it.
    """
    messages: list[Item] = []
    if profile:
        messages.append(_quoting({"profile": {name: entry.value for name, entry in profile.items()}}))
    if memories:
        messages.append(_quoting({"memories": [_told(recalled.memory) for recalled in memories]}))
    return tuple(messages)


def _told(memory: Memory) -> dict[str, str]:
    return {
        "content": memory.content,
        "category": memory.category.value,
        "date": memory.valid_from.date().isoformat(),
    }


def _quoting(data: dict[str, object]) -> Item:
    return {"type": "message", "role": "user", "content": render("background", json=quoted_json(data))}
