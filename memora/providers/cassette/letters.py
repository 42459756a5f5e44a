"""Private text made unreadable character by character, so that its length and the kind of its writing stay."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection

LATIN, HAN, DIGIT = "x", "文", "1"
"""What stands for a letter, for a letter of a script without cases, and for a digit.

1 and not 0, because a number in JSON may not begin with 0.
"""

_SMILEY, _SMILEY_HALVES = "😀", "\ud83d\ude00"

_LITERAL = re.compile(
    r'"(?P<word>[A-Za-z_][\w-]*)"(?P<number>\s*:\s*-?\d{1,2}(?=\s*[,}]))?'  # a quoted word, and a small number after it
    r"|\b(?:true|false|null)\b"
    r"|(?<=[0-9])(?P<exponent>[eE][+-]?)(?=[0-9])"
    r"|\\(?:u[0-9A-Fa-f]{4}|[\"\\/bfnrt])"
)


class _Stand(dict[int, str]):
    """What stands for each character, found out once. Halves of a surrogate pair become the halves of one smiley."""

    def __missing__(self, code: int) -> str:
        self[code] = stand = _stand_in(chr(code))
        return stand


def masked(text: str, *, words: Collection[str] = ()) -> str:
    """``text`` with every letter, digit and symbol replaced by its stand-in; punctuation and spaces stay.

    So that JSON inside of it stays JSON of the same shape, ``true``, ``false`` and ``null``, escapes, and ``words`` in
    double quotes stay too (as the key of a number below 100, with the number). The length never changes.
    """
    kept: list[str] = []
    end = 0
    for found in _LITERAL.finditer(text):
        kept += text[end : found.start()].translate(_STANDS), _literal(found, words)
        end = found.end()
    return "".join(kept) + text[end:].translate(_STANDS)


def _literal(found: re.Match[str], words: Collection[str]) -> str:
    literal, word = found.group(), found["word"]
    if word is not None:
        return literal if word in words else literal.translate(_STANDS)
    if found["exponent"] is not None:
        return DIGIT * len(literal)  # 1x+11 is no number
    if literal.startswith("\\u"):
        return f"\\u{ord(_STANDS[int(literal[2:], 16)]):04x}"
    return literal


def _stand_in(char: str) -> str:
    code, category = ord(char), unicodedata.category(char)
    if code > 0xFFFF:
        return _SMILEY
    if category == "Cs":
        return _SMILEY_HALVES[code >= 0xDC00]
    is_ascii = code < 0x80
    match category[0], category[1]:
        case "L", "u" | "t":
            return "X" if is_ascii else "É"
        case "L", "l":
            return LATIN if is_ascii else "é"
        case "L", _:
            return HAN
        case "N", _:
            return DIGIT if is_ascii else "１"
        case "M", _:
            return "\u0301"
        case ("S", _) if not is_ascii and char != "\ufffd":
            return "☺"
        case "C", "o" | "n":
            return HAN
        case _:
            return char


_STANDS = _Stand()
