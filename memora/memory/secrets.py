"""What is never remembered: keys, passwords, card, account and identity numbers.

Two ways lead to a secret: its own shape (a prefix, a checksum), or a word before it that says what it is.
Everything is looked for in the text's compatibility form (NFKC), so that full-width digits hide nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Collection

MASK = "•••"

_IS = (
    r"\s*(?:(?:就|都|也|還)?是|為|叫做?|(?:已經?|剛剛?)?[改換设設](?:定?[成為]|定)了?|[:：=]"
    r"|['’]s\b|\b(?:is|are|was)\b(?: now\b)?|\b(?:(?:is|was) )?(?:changed|set) to\b)?\s*[「『“\"'`(]?"
)
"""Between the name of a secret and the secret."""
_HAS_DIGIT = r"(?=\S*\d)"
_WORD = r"[^\s。、「」『』“”\"'`()]"

_SHAPES = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"),
    re.compile(
        r"(?<![A-Za-z0-9])(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|xapp-|hf_|npm_|pypi-)[A-Za-z0-9_-]{16,}"
    ),
    re.compile(r"(?<![A-Za-z0-9])(?:(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{35})(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{8,}"),
    re.compile(r"(?<![\d-])(?!000|666|9)\d{3}-(?!00)\d{2}-(?!0000)\d{4}(?![\d-])"),  # US social security
)
_NAMED = tuple(
    re.compile(f"(?P<name>{name}{_IS})(?P<secret>{secret})", re.IGNORECASE)
    for name, secret in (
        # A Chinese sentence goes on in Chinese characters: what is a password there is not.
        (r"(?:密碼|密码|口令|通關碼|驗證碼|验证码|金鑰|密鑰)(?!學)", r"(?=[!-~]*[A-Za-z0-9])[!-~]{4,}"),
        (r"\b(?:password|passwd|passphrase|passcode|pwd)\b", rf"{_HAS_DIGIT}{_WORD}{{4,}}"),
        (r"\b(?:api|access|secret|private)[ _-]?(?:key|token)\b", rf"{_HAS_DIGIT}{_WORD}{{6,}}"),
        (r"\b(?:token|secret|bearer)\b", rf"{_HAS_DIGIT}[\w.+/=-]{{16,}}"),
        (
            r"(?:(?<![A-Za-z])PIN(?![A-Za-z])(?:[ -]?(?:code|number|碼))?|\bOTP\b|\b(?:verification|one-time) code\b)",
            r"\d{4,8}(?!\d)",
        ),
        (r"(?:\bCV[VC]2?\b(?: code)?|安全碼)", r"\d{3,4}(?!\d)"),
        (r"身[分份][證证](?:字[號号]|[號号]碼?)?", r"[A-Z]?\d{8,}"),
        (r"(?:護照|护照|健保卡|居留[證证]|駕照|信用卡|提款卡|金融卡)(?:卡?[號号]碼?)?", r"[A-Z]{0,2}[\d -]{7,}\d"),
        (r"(?:銀行|郵局)?(?:帳|賬)[戶號](?:號碼)?", r"[\d-]{8,}\d"),
        (
            r"\b(?:passport|social security|SSN|ID card|national ID|credit card|debit card|card|bank account|account)"
            r"(?: (?:number|no\.?))?",
            r"[A-Z]{0,2}[\d -]{7,}\d",
        ),
    )
)
# "My API key is zxcvbnmasdfghj": without a digit it takes odd capitals or a length that few words have.
_ENGLISH_KEY = re.compile(
    r"(?P<name>\b(?:api|access|secret|private)[ _-]?(?:key|token)(?:['’]s|\s+is\b|\s*[:=])\s*[\"'“`]?)"
    r"(?P<secret>(?:(?=\w*(?-i:[a-z][A-Z]))\w{8,}|\w{14,}))",
    re.IGNORECASE | re.ASCII,
)
# "My password is dragon" gives one away, "my password is too weak" does not.
_ENGLISH_PASSWORD = re.compile(
    r"(?P<name>\b(?:password|passphrase|passcode)\s*(?:is(?: now)?|[:=])\s*[\"'“`]?)"
    r"(?!(?:a|an|the|my|too|very|so|not|in|on|at|with|always|often|never|really|still|hard|easy|weak|strong|long|short"
    r"|stored|saved|kept|wrong|lost|required|expired|forgotten|difficult|important|secure|safe|used|now|set"
    r"|changed)\b)(?P<secret>\S{4,})",
    re.IGNORECASE,
)

_CARD = re.compile(
    r"(?<!\d)(?:[2-6]\d{3}([ -]?)\d{4}\1\d{4}\1\d{1,7}|3\d{3}[ -]?\d{6}[ -]?\d{4,5}|[2-6]\d{12,18})(?!\d)"
)
_TAIWAN_ID = re.compile(r"(?<![A-Za-z0-9])[A-Z][1289A-D]\d{8}(?![A-Za-z0-9])", re.IGNORECASE)
_LETTER_VALUES = dict(zip("ABCDEFGHJKLMNPQRSTUVXYWZIO", range(10, 36), strict=True))
_IBAN = re.compile(
    r"(?<![A-Za-z0-9])(?:[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?(?=[A-Z]{0,2}\d)[A-Z0-9]{1,3})?"
    r"|(?i:[A-Z]{2}\d{2}[A-Z0-9]{11,30}))(?![A-Za-z0-9])"
)
_PUNCTUATION = ".,;:!?)]}>'\"`’”」』"


def mask_secrets(text: str, *, known: Collection[str] = ()) -> str:
    """``text`` with every secret in it masked, in compatibility form; ``text`` itself when there is none.

    ``known`` are secrets that were found elsewhere (by `find_secrets`): they are masked wherever they stand alone.
    """
    plain = unicodedata.normalize("NFKC", text)
    masked, _ = _mask(plain)
    for secret in sorted(known, key=len, reverse=True):
        masked = re.sub(rf"(?<![A-Za-z0-9]){re.escape(secret)}(?![A-Za-z0-9])", MASK, masked, flags=re.IGNORECASE)
    return text if masked == plain else masked


def holds_secret(text: str, *, known: Collection[str] = ()) -> bool:
    """Whether `mask_secrets` would mask anything."""
    return mask_secrets(text, known=known) != text


def find_secrets(text: str) -> frozenset[str]:
    """The secrets in ``text`` themselves, in compatibility form and without the punctuation that follows them."""
    _, found = _mask(unicodedata.normalize("NFKC", text))
    return frozenset(secret.rstrip(_PUNCTUATION) or secret for secret in found)


def _mask(text: str) -> tuple[str, list[str]]:
    """``text`` with its secrets masked, and the secrets."""
    found: list[str] = []
    for pattern, is_secret in _RULES:
        text = pattern.sub(_masking(is_secret, found), text)
    return text, found


def _masking(is_secret: Callable[[str], bool], found: list[str]) -> Callable[[re.Match[str]], str]:
    """A replacement that adds what it masks to ``found``."""

    def mask(match: re.Match[str]) -> str:
        secret = match.groupdict().get("secret", match.group())
        if not is_secret(secret):
            return match.group()
        found.append(secret)
        return match.group().removesuffix(secret) + MASK

    return mask


def _is_card(number: str) -> bool:
    """Luhn's checksum."""
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [digit if place % 2 == 0 else sum(divmod(2 * digit, 10)) for place, digit in enumerate(reversed(digits))]
    return sum(doubled) % 10 == 0


def _is_taiwan_id(number: str) -> bool:
    """The checksum of Taiwan's identity and residence numbers (the older ones of these have two letters)."""
    tens, ones = divmod(_LETTER_VALUES[number[0].upper()], 10)
    digits = [tens, ones, *(_LETTER_VALUES[char] % 10 if char.isalpha() else int(char) for char in number[1:].upper())]
    weights = (1, 9, 8, 7, 6, 5, 4, 3, 2, 1, 1)
    return sum(digit * weight for digit, weight in zip(digits, weights, strict=True)) % 10 == 0


def _is_iban(number: str) -> bool:
    """The checksum of international bank account numbers (ISO 7064, modulo 97)."""
    plain = number.replace(" ", "")
    return int("".join(str(int(char, 36)) for char in plain[4:] + plain[:4])) % 97 == 1


def _by_its_shape(_: str) -> bool:
    return True


_RULES: tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...] = (
    *((shape, _by_its_shape) for shape in _SHAPES),
    (_IBAN, _is_iban),
    (_CARD, _is_card),
    (_TAIWAN_ID, _is_taiwan_id),
    *((named, _by_its_shape) for named in (*_NAMED, _ENGLISH_KEY, _ENGLISH_PASSWORD)),
)
"""What to look for, and what makes a match a secret; in this order."""
