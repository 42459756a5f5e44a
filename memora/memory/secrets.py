"""What is never remembered: keys, passwords, card and identity numbers."""

from __future__ import annotations

import re

MASK = "•••"

_CARD = re.compile(r"(?<!\d)(?:\d[ -]?){12,18}\d(?!\d)")
_TAIWAN_ID = re.compile(r"(?<![A-Za-z0-9])[A-Z][12]\d{8}(?!\d)", re.IGNORECASE)
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"\b(?:sk|pk|rk|ghp|gho|github_pat|xox[abp]|glpat|hf|AKIA)[-_]?[A-Za-z0-9_-]{16,}"),
    re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]{10,}"),
    re.compile(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)"),
    re.compile(r"(?:密碼|密码|口令|驗證碼|验证码|PIN\s*碼)[^\w\n]{0,3}(?:是|為|为|[:：=])\s*\S{3,}", re.IGNORECASE),
    re.compile(r"\b(?:password|passwd|passcode|pin|api[ _-]?key|secret key|token)\b\s*(?:is|are|[:=])\s*\S{3,}", re.I),
)
_LETTER_VALUES = dict(zip("ABCDEFGHJKLMNPQRSTUVXYWZIO", range(10, 36), strict=True))


def mask_secrets(text: str) -> str:
    """``text`` with every secret in it masked."""
    for pattern in _PATTERNS:
        text = pattern.sub(MASK, text)
    text = _CARD.sub(lambda match: MASK if _is_card(match.group()) else match.group(), text)
    return _TAIWAN_ID.sub(lambda match: MASK if _is_taiwan_id(match.group()) else match.group(), text)


def holds_secret(text: str) -> bool:
    """Whether `mask_secrets` would mask anything."""
    return mask_secrets(text) != text


def _is_card(text: str) -> bool:
    """Luhn's checksum over 13 to 19 digits."""
    digits = [int(char) for char in text if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(digit * 2, 10)) for place, digit in enumerate(reversed(digits))]
    return len(set(digits)) > 1 and sum(doubled) % 10 == 0


def _is_taiwan_id(text: str) -> bool:
    """The checksum of Taiwan's national identity numbers."""
    tens, ones = divmod(_LETTER_VALUES[text[0].upper()], 10)
    digits = [tens, ones, *map(int, text[1:])]
    weights = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 10 == 0
