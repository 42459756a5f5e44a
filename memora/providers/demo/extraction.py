"""Extraction by rules: the facts of the user's message in the shape that memory extraction asks for."""

from __future__ import annotations

from typing import Any

from memora.providers.demo.counting import asks_to_count
from memora.providers.demo.facts import read_facts
from memora.providers.demo.request import DemoRequest
from memora.providers.demo.rules import SLOTS


def extract(request: DemoRequest) -> dict[str, Any]:
    """The ``memory_extraction`` object for the turn in the request. The assistant's reply teaches nothing."""
    message = str(request.data.get("user_message") or "")
    facts = () if asks_to_count(message) else read_facts(message)
    return {
        "memories": [
            {
                "content": fact.content,
                "category": SLOTS[fact.slot].category.value,
                "importance": SLOTS[fact.slot].importance,
                "quote": fact.quote,
            }
            for fact in facts
        ],
        "profile": [
            {"field": field, "value": fact.value, "quote": fact.quote}
            for fact in facts
            if (field := SLOTS[fact.slot].profile_field)
        ],
    }
