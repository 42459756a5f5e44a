"""Memories that read like instructions to a model: to be marked, not to be refused.

A memory is quoted to the model as data, whatever it says. A person who looks through their memories should still see at
a glance which one may have come from a text that wanted to be obeyed. A few turns of phrase, in both languages: what
nobody has thought of is not marked, and a learner who quotes such a sentence gets the mark too.
"""

from __future__ import annotations

import re
import unicodedata

_TAGS = {0xE0000 + code: chr(code) for code in range(0x20, 0x7F)}
"""Invisible twins of the ASCII characters: a model reads them, a person does not see them."""

_ORDERS = r"(?:instruction|rule|prompt|direction|guideline|command|constraint)"
_GIVEN = r"(?:previous|prior|above|earlier|your|system)"
_SPEAK = r"(?:answer|reply|respond|say|mention|tell|reveal|write|include|append|end)"
_CHINESE_ORDERS = r"(?:指示|指令|規則|规则|提示|命令|設定|设定|限制)"
_PATTERNS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # Forget what you were told
        r"\bnew instructions?:",
        rf"\b(?:ignore|disregard|forget|override|bypass)\b(?=.{{0,40}}\b{_ORDERS}).{{0,40}}\b{_GIVEN}\b",
        rf"\b(?:ignore|disregard|override|bypass) (?:all|any|every|the|these)\b.{{0,20}}\b{_ORDERS}",
        r"\b(?:ignore|disregard|forget) (?:everything|all) (?:that |the )?(?:above|before|said|told|you)\b",
        rf"(?:忽[略視视]|[無无][視视]|不要?[理遵]|不用[管遵]|跳過|跳过|推翻).{{0,12}}{_CHINESE_ORDERS}",
        rf"忘[記记掉了].{{0,4}}(?:以上|之前|先前|前面|你的|系統|系统).{{0,6}}{_CHINESE_ORDERS}",
        # Be somebody else
        r"\byou are now\b|\bfrom now on,? you\b|\bpretend (?:to be|(?:that )?you)\b|\byou must (?:always|never|now)\b",
        r"[從从][現现]在(?:起|開始|开始).{0,4}你|你[現现]在是|假[裝装]你是|[請请你]扮演|你必[須须](?:永遠|總是|一律|立刻|在每)",
        r"\b(?:the (?:assistant|tutor|model|AI)|memora) (?:must|shall|has to)\b|\bdo anything now\b",
        # Say it, and do not say so
        rf"^(?:please )?(?:always|never|do not|don['’]t)\b.{{0,30}}\b{_SPEAK}\b",
        rf"\b(?:when(?:ever)?|if)\b.{{1,60}}, {_SPEAK} (?:that|only|exactly)\b",
        r"\bsystem prompt\b|系[統统]提示|\b(?:do not|don['’]t|never) tell the user\b",
        r"(?:不要|別|别)(?:讓|让|告訴|告诉)(?:使用者|用戶|用户)",
        r"\b(?:reveal|print|repeat|send|leak)\b.{0,40}\b(?:prompt|instructions?|password|api key|memories|secrets)\b",
        # The signs of a prompt
        r"</?(?:system|assistant|user|background|summary|instructions?)\b[^>]*>|<\|\w+\|>|\[/?INST\]",
        r"^\s*(?:system|assistant|developer|系[統统]|助理|指令)\s*:",
        r"!\[[^\]]*\]\(\s*https?:",
    )
)


def reads_like_an_instruction(text: str) -> bool:
    """Whether ``text`` seems to be written for a model to obey, rather than about a person."""
    plain = _as_a_model_reads(text)
    return any(pattern.search(plain) for pattern in _PATTERNS)


def _as_a_model_reads(text: str) -> str:
    """Compatibility form, with hidden letters in it and without what has no width."""
    plain = unicodedata.normalize("NFKC", text.translate(_TAGS))
    return "".join(char for char in plain if unicodedata.category(char) != "Cf")
