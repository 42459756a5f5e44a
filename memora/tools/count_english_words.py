"""The tool that counts English words."""

from __future__ import annotations

import re
from typing import TypedDict

COUNT_WORDS_MAX_CHARS = 2000

_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)?")
_RULE = "English letter sequences; contractions count as one word"


class WordCount(TypedDict):
    """How many words, and by which rule."""

    word_count: int
    counting_rule: str


def count_english_words(text: str) -> WordCount:
    """Count the English words of a text exactly.

    Use this whenever the user asks how many English words a sentence or a text has: counting is more
    reliable than guessing. It counts words, not tokens and not characters; digits and Chinese do not count.

    Args:
        text: The text to count, word for word as the user gave it, without the rest of the question.

    Raises:
        ValueError: ``text`` is no string, is blank, or is longer than `COUNT_WORDS_MAX_CHARS`.
    """
    if not isinstance(text, str):
        raise ValueError("text must be a string")
    if not text.strip():
        raise ValueError("text must not be empty")
    if len(text) > COUNT_WORDS_MAX_CHARS:
        raise ValueError("text is too long")
    return {"word_count": len(_WORD.findall(text)), "counting_rule": _RULE}
