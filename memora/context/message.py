"""What a user typed, before anything is stored: cleaned, and refused when it cannot be answered."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from memora.context.tokens import TokenCounter
from memora.errors import BlankMessage, MessageTooLong
from memora.model import Item

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNSEEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Zs", "Zl", "Zp", "Mn", "Mc", "Me"})
_UNSEEN_CHARS = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols by their category, yet drawn as nothing: Hangul fillers and the empty Braille cell."""


def clean_message(text: str) -> str:
    """``text`` as it is stored: without control characters but line breaks and tabs, without white space around it.

    Line ends become ``\\n``; lone surrogates, which cannot be encoded, become U+FFFD. Nothing else is changed.
    """
    unified = text.replace("\r\n", "\n").replace("\r", "\n")
    return replace_surrogates(_CONTROLS.sub("", unified)).strip()


def replace_surrogates(text: str) -> str:
    """``text`` with pairs of surrogates joined and lone ones replaced by U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


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
    if not any(map(_is_visible, text)):
        raise BlankMessage
    frame = counter.count_message({"content": ""})
    fixed = counter.count(instructions) + counter.count_tools(tools) + frame
    room = max_input_tokens - reserved_input_tokens - fixed
    tokens = counter.count_message({"content": text}) - frame
    if tokens > room:
        limit = max(0, room)
        raise MessageTooLong(f"{tokens} tokens, but {limit} fit", tokens=tokens, limit=limit)


def _is_visible(char: str) -> bool:
    # Unassigned code points count as visible: Unicode may have assigned them after this Python was built.
    return unicodedata.category(char) not in _UNSEEN_CATEGORIES and char not in _UNSEEN_CHARS
