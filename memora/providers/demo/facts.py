"""Facts in plain statements: what somebody says about themselves, and what a memory says about the user."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memora.providers.demo.glossary import words_of
from memora.providers.demo.language import Language, count_cjk
from memora.providers.demo.rules import RULES, Slot


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One fact. ``content`` says it about the user, ``told`` to the user; ``quote`` are the words it was read from."""

    slot: Slot
    value: str
    language: Language
    content: str
    told: str
    quote: str

    @property
    def meaning(self) -> frozenset[str]:
        """The value in a form that compares across spellings and, for well-known things, across languages."""
        return words_of(self.value)


LONGEST_READ = 4_000
"""Characters of a text that are read: nobody introduces themselves at greater length."""

_SENTENCE = re.compile(r"[^。！？!?；;\n.]+(?:\.(?=\S)[^。！？!?；;\n.]+)*[。！？!?；;\n.]?")
_CLAUSE_ZH = re.compile(r"[，,：:]")
_CLAUSE_EN = re.compile(
    r",(?: (?:and|but|so))?\s{1,8}|\s{1,8}(?:and|but|so)\s+(?=(?:I|I['’]m|my|am|live|work|have|like|love|prepar\w+)\b)"
)
_QUOTED = re.compile(r"「[^」]*」|『[^』]*』|“[^”]*”|\"[^\"]*\"")
_MATERIAL = re.compile(
    r"(?:計算|翻譯|修改|改正|檢查|訂正|潤飾|造句|例句|count|translate|correct|check|fix|rewrite|explain)[^:：\n]{0,80}[:：].*",
    re.IGNORECASE | re.DOTALL,
)
_QUESTION_ZH = re.compile(r"嗎|什麼|甚麼|哪|誰|幾|多少|怎麼|如何|是不是|有沒有|會不會|可不可以")
_QUESTION_EN = re.compile(
    r"\s*(?:what|where|when|who|which|why|how|do|does|did|is|are|am|can|could|should|shall|will|would)\b", re.IGNORECASE
)
_TAG_QUESTION = re.compile(r"^(?:對|是|不是|好)(?:嗎|吧)")
_HYPOTHETICAL = re.compile(r"如果|假如|假設|要是|萬一|的話|\bif\b|\bsuppose\b|\bimagine\b|\bpretend\b", re.IGNORECASE)

_OPENING_ZH = re.compile(
    r"^\s*(?:嗨|你好|您好|哈囉|大家好|那|嗯|喔|對了|其實|另外|還有|而且|並且|但是|不過|然後|所以|因為|但|並|也)+\s*"
)
_OPENING_EN = re.compile(
    r"^\s*(?:(?:and|but|so|hi|hello|hey|well|also|by the way|actually|because)\b,?\s*)+", re.IGNORECASE
)
_OWN = (
    r"(?:名字|中文|英文|英語|工作|職業|興趣|嗜好|母語|目標|學習|程度|貓|狗|寵物|兔|聽力|口說|寫作|閱讀|文法|發音|單字)"
)
_KIN = r"們|爸|媽|哥|姊|姐|弟|妹|阿公|阿嬤|朋友|同學|同事|老師|老闆|老公|老婆|先生|太太|女兒|兒子|女友|男友|室友"
_SUBJECT_ZH = re.compile(rf"^(?:我|本人|使用者|用戶|[Uu]ser)(?!{_KIN}|的(?!{_OWN}))\s*")
_OTHER_ZH = re.compile(r"^(?:我|你|妳|您|他|她|它|這|那|有人|大家|老師|朋友|使用者的)")
_ADVERB_ZH = re.compile(r"^S(?:現在|目前|最近|一直|已經|也|都|還|平常|平時|從小|就|\s)+")
_BARE_ZH = re.compile(r"^(?:住在|正在|請|以後請)")
_SUBJECT_EN = (
    (re.compile(r"^(?:I['’]m)\s+", re.IGNORECASE), "S am "),
    (re.compile(r"^(?:I['’]ve)\s+", re.IGNORECASE), "S have "),
    (re.compile(r"^(?:I['’]d)\s+", re.IGNORECASE), "S would "),
    (re.compile(r"^(?:my|(?:the )?user['’]s)\s+", re.IGNORECASE), "S's "),
    (re.compile(r"^(?:I|(?:the )?user)\s+", re.IGNORECASE), "S "),
)
_ADVERB_EN = re.compile(r"^(S(?: (?:am|is|have|has))?) (?:currently|now|also|just|actually|still) ")
_BARE_EN = re.compile(r"^(?:am|is|live|lives|work|works|like|likes|have|prepar\w+|studying|want|love|enjoy)\b")
_IMPERATIVE_EN = re.compile(r"^(?:please|always)\b", re.IGNORECASE)
_MY = re.compile(r"\bmy\b")
_PARTICLES = ' \t了喔哦啦呀啊呢耶囉～~.。!！「」"“”'


def read_facts(text: str) -> tuple[Fact, ...]:
    """The facts that ``text`` states about its writer (or, in a memory, about "the user"), in order.

    Questions, hypotheticals, quoted material and what is said about others state nothing.
    """
    plain = _MATERIAL.sub("", _QUOTED.sub("…", text[:LONGEST_READ]))
    facts: dict[str, Fact] = {}
    for sentence in _SENTENCE.findall(plain):
        for fact in _sentence_facts(sentence):
            facts.setdefault(fact.content, fact)
    return tuple(fact for fact in facts.values() if fact.quote in text)


def fact_in(sentence: str) -> Fact | None:
    """The fact that a stored sentence holds; None when it is of no known kind."""
    return next(iter(read_facts(sentence)), None)


def _sentence_facts(sentence: str) -> Iterator[Fact]:
    if _HYPOTHETICAL.search(sentence):
        return
    is_question = sentence.rstrip().endswith(("?", "？"))
    language: Language = "zh" if count_cjk(sentence) else "en"
    clauses = [clause.strip(" \t。！？!?；;.") for clause in _split(sentence, language)]
    if is_question:
        clauses = clauses[:-2] if _TAG_QUESTION.match(clauses[-1]) else clauses[:-1]
    subject_is_user: bool | None = None
    for clause in clauses:
        normalized, subject_is_user = _with_subject(clause, language, subject_is_user)
        if normalized and not _asks(clause, language) and (fact := _match(normalized, clause, language)):
            yield fact


def _split(sentence: str, language: Language) -> list[str]:
    return (_CLAUSE_ZH if language == "zh" else _CLAUSE_EN).split(sentence)


def _asks(clause: str, language: Language) -> bool:
    return bool(
        _QUESTION_ZH.search(clause) if language == "zh" else _QUESTION_EN.match(clause) and not _BARE_EN.match(clause)
    )


def _with_subject(clause: str, language: Language, inherited: bool | None) -> tuple[str, bool | None]:
    """The clause with ``S`` for the user, empty when it speaks of somebody else, and whose clause the next one is."""
    return _subject_zh(clause, inherited) if language == "zh" else _subject_en(clause, inherited)


def _subject_zh(clause: str, inherited: bool | None) -> tuple[str, bool | None]:
    clause = _OPENING_ZH.sub("", clause)
    if _SUBJECT_ZH.match(clause):
        return _ADVERB_ZH.sub("S", _SUBJECT_ZH.sub("S", clause)), True
    if _OTHER_ZH.match(clause):
        return "", False
    if inherited or (inherited is None and _BARE_ZH.match(clause)):
        return _ADVERB_ZH.sub("S", f"S{clause}"), inherited
    return "", inherited


def _subject_en(clause: str, inherited: bool | None) -> tuple[str, bool | None]:
    clause = _OPENING_EN.sub("", clause)
    for pattern, subject in _SUBJECT_EN:
        if pattern.match(clause):
            return _ADVERB_EN.sub(r"\1 ", pattern.sub(subject, clause)), True
    if _IMPERATIVE_EN.match(clause):
        return clause[:1].lower() + clause[1:], inherited
    if inherited and _BARE_EN.match(clause):
        return f"S {clause}", True
    return "", False


def _match(normalized: str, clause: str, language: Language) -> Fact | None:
    ending = r"(?:了|喔|哦|啦|呀|啊|耶|囉)*" if language == "zh" else ""
    for rule in RULES:
        if rule.language != language:
            continue
        found = re.fullmatch(f"(?:{rule.pattern.pattern}){ending}", normalized)
        if not found:
            continue
        groups = {name: (text or "").strip(_PARTICLES) for name, text in found.groupdict().items()}
        if not groups["v"]:
            continue
        return Fact(
            slot=rule.slot,
            value=groups["v"],
            language=language,
            content=rule.third.format(**groups | {"v": _MY.sub("their", groups["v"])}),
            told=rule.second.format(**groups | {"v": _MY.sub("your", groups["v"])}),
            quote=clause.strip(),
        )
    return None
