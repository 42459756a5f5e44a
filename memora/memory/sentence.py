"""The sentence that a memory is: one line, not too long, nothing in it that cannot be stored."""

from __future__ import annotations

import unicodedata

from memora.errors import InvalidInput

MAX_SENTENCE_CHARS = 500

_UNWANTED = ("Cc", "Cs", "Co")
"""Control characters, lone surrogates, private use."""


def one_line(text: str) -> str:
    """``text`` composed (NFC), with single spaces for its white space and without control characters."""
    spaced = " ".join(unicodedata.normalize("NFC", text).split())
    return "".join(char for char in spaced if unicodedata.category(char) not in _UNWANTED)


def clean_sentence(text: str) -> str:
    """``text`` as a memory holds it. Raises `InvalidInput` when nothing is left or it is too long."""
    sentence = one_line(text)
    if not 0 < len(sentence) <= MAX_SENTENCE_CHARS:
        raise InvalidInput(f"{len(sentence)} characters", field="content", allowed=f"1–{MAX_SENTENCE_CHARS}")
    return sentence
