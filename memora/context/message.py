"""What a user typed, before anything is stored: cleaned, and refused when it cannot be answered."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from memora.context.tokens import TOKENS_PER_MESSAGE, TokenCounter
from memora.errors import BlankMessage, MessageTooLong
from memora.model import Item

_KEPT_CONTROLS = "\n\t"
_INVISIBLE = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Cs", "Cn"})


def clean_message(text: str) -> str:
    """``text`` without control characters (line breaks and tabs stay), and well-formed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    kept = (char for char in text if char in _KEPT_CONTROLS or unicodedata.category(char) != "Cc")
    return "".join(kept).strip()


def check_message_fits(
    text: str,
    *,
    counter: TokenCounter,
    instructions: str,
    tools: Sequence[Item],
    max_input_tokens: int,
    reserved_input_tokens: int,
) -> None:
    """Raise `BlankMessage` when nothing of ``text`` is visible, `MessageTooLong` when it cannot fit.

    It has to fit beside the system prompt, the tool definitions and the reserve, with nothing else.
    """
    if all(unicodedata.category(char) in _INVISIBLE for char in text):
        raise BlankMessage
    fixed = counter.count(instructions) + counter.count_tools(tools) + TOKENS_PER_MESSAGE
    limit = max(max_input_tokens - reserved_input_tokens - fixed, 0)
    tokens = counter.count(text)
    if tokens > limit:
        raise MessageTooLong(tokens=tokens, limit=limit)
