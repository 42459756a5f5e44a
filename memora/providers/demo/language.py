"""Which language a text is in, as far as the demo model has to know: Chinese or English."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en"]

_CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_ENGLISH_WORD = re.compile(r"[A-Za-z]+(?:['’][A-Za-z]+)*")
_ENGLISH_OPENING = re.compile(
    r"\s*(?:what|where|when|who|which|why|how|do|does|did|is|are|can|could|please|i|my|the|count|give|tell|explain)\b",
    re.IGNORECASE,
)


def count_cjk(text: str) -> int:
    """How many Chinese characters there are in ``text``."""
    return len(_CJK.findall(text))


def count_words(text: str) -> int:
    """How long a text is: its English words and its Chinese characters."""
    return count_cjk(text) + len(_ENGLISH_WORD.findall(text))


def has_english(text: str) -> bool:
    """Whether there is at least one English word in ``text``."""
    return _ENGLISH_WORD.search(text) is not None


def language_of(text: str) -> Language:
    """The language that the writer of ``text`` wants to be answered in.

    One Chinese sentence around English material is Chinese; an English question about a Chinese word is English.
    """
    cjk = count_cjk(text)
    if not cjk:
        return "en"
    is_english_sentence = _ENGLISH_OPENING.match(text) and len(_ENGLISH_WORD.findall(text)) > cjk
    return "en" if is_english_sentence else "zh"
