"""Token counts of the demo model: an estimate, the same for the same text."""

from __future__ import annotations

import json
from typing import Any

from memora.providers.demo.language import count_cjk

CHARACTERS_PER_TOKEN = 4
"""What English text needs on average; a Chinese character counts as one token."""


def estimate_tokens(text: str) -> int:
    """Tokens of a text, at least one unless it is empty."""
    cjk = count_cjk(text)
    return cjk + -(-(len(text) - cjk) // CHARACTERS_PER_TOKEN)


def estimate_input_tokens(body: dict[str, Any]) -> int:
    """Tokens of everything in a request that a model would read."""
    read = {key: body[key] for key in ("instructions", "input", "tools", "text") if body.get(key)}
    return estimate_tokens(json.dumps(read, ensure_ascii=False))
