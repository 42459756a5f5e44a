"""Memories that read like instructions to a model: to be marked, not to be refused.

A memory is quoted to the model as data, whatever it says. A person who looks through their memories should still see at
a glance which one may have come from a text that wanted to be obeyed. A few turns of phrase, in both languages: what
nobody has thought of is not marked, and a learner who quotes such a sentence gets the mark too.
"""

from __future__ import annotations

import re
import unicodedata

_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Forget what you were told
        r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|rule|prompt|direction|guideline|command)",
        r"(?:忽略|無視|忘記|忘掉|不要理會|不用管|跳過|推翻).{0,12}(?:指示|指令|規則|提示|設定|限制)",
        # Be somebody else
        r"\byou are now\b|\bfrom now on,? you\b|\bpretend (?:to be|that you)\b|\byou must (?:always|never|now)\b",
        r"從現在(?:起|開始).{0,4}你|你現在是|假裝你是|你必須(?:永遠|總是|一律|立刻)",
        # Say it, and do not say so
        r"\bsystem prompt\b|系統提示|\b(?:do not|don't|never) tell the user\b|(?:不要|別)(?:讓|告訴)使用者",
        r"\b(?:reveal|print|repeat|send|leak)\b.{0,40}\b(?:prompt|instruction|password|api key|memories|secrets)\b",
        # The signs of a prompt
        r"</?(?:system|assistant|user|background|summary|instructions?)\b[^>]*>|<\|\w+\|>|\[/?INST\]",
        r"^\s*(?:system|assistant|developer)\s*[:：]",
        r"!\[[^\]]*\]\(\s*https?:",
    )
)


def reads_like_an_instruction(text: str) -> bool:
    """Whether ``text`` seems to be written for a model to obey, rather than about a person."""
    plain = unicodedata.normalize("NFKC", text)
    return any(pattern.search(plain) for pattern in _PATTERNS)
