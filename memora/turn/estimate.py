"""The usage of a request whose server reports none: counted here, and marked as an estimate."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

from memora.model import Item, ModelRequest, Usage

CountTokens = Callable[[str], int]


def estimate_usage(request: ModelRequest, *, output: Iterable[Item], text: str, count_tokens: CountTokens) -> Usage:
    """Tokens of what was sent, and of the ``output`` items, or of the ``text`` when no item came whole."""
    sent = [request.instructions, *map(_as_json, request.tools), *map(_as_json, request.input)]
    received = [_as_json(item) for item in output] or [text]
    return Usage(
        input_tokens=sum(count_tokens(part) for part in sent),
        output_tokens=sum(count_tokens(part) for part in received),
        estimated=True,
    )


def rough_token_count(text: str) -> int:
    """Tokens without a tokenizer: a quarter of the bytes, which suits English and is near for Chinese."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _as_json(item: Item) -> str:
    return json.dumps(item, ensure_ascii=False)
