"""The one thing that the connection check asks in a structured way: which colour a sentence names."""

from __future__ import annotations

import re

_COLOUR = re.compile(r"\b(red|green|blue)\b", re.IGNORECASE)


def named_colour(sentence: str) -> str:
    """The first of red, green and blue in ``sentence``; empty when there is none."""
    found = _COLOUR.search(sentence)
    return found[1].lower() if found else ""
