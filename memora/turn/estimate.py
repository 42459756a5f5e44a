"""The usage of a request whose server reports none: counted here, and marked as an estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memora.context.tokens import TOKENS_PER_MESSAGE, as_json, texts_of
from memora.model import Item, ModelRequest, Usage

CountTokens = Callable[[str], int]


def estimate_usage(request: ModelRequest, *, output: Iterable[Item], text: str, count_tokens: CountTokens) -> Usage:
    """Tokens of what was sent, and of the ``output`` items, or of the ``text`` when no item came whole."""
    sent = [request.instructions, *map(as_json, request.tools), *_all_texts(request.input)]
    received = _all_texts(output) or [text]
    return Usage(
        input_tokens=sum(map(count_tokens, sent)) + TOKENS_PER_MESSAGE * len(request.input),
        output_tokens=sum(map(count_tokens, received)),
        input_source="estimated",
        output_source="estimated",
    )


def _all_texts(items: Iterable[Item]) -> list[str]:
    return [text for item in items for text in texts_of(item)]
