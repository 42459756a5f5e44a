"""Questions that users ask about themselves, answered from the background messages and from nothing else."""

from __future__ import annotations

import re
from dataclasses import dataclass

from memora.providers.demo.facts import Fact, fact_in
from memora.providers.demo.glossary import translate
from memora.providers.demo.language import Language
from memora.providers.demo.request import Background
from memora.providers.demo.rules import Slot

_ABOUT_ALL = re.compile(
    r"(?:記得|知道|認識|了解|記住)(?:了)?(?:關於)?我?(?:的|了)?(?:什麼|哪些|多少|的事)|你(?:還)?(?:記得|認識|知道)我是誰?(?:嗎|？|\?|$)|"
    r"what (?:do|can) you (?:know|remember|recall|tell)\b.*\bme\b|do you (?:know|remember) me\b|tell me about myself",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """A way of asking about oneself. The answer comes from the first of ``slots`` that anything is known of."""

    slots: tuple[Slot, ...]
    pattern: re.Pattern[str]


def _question(*slots: Slot, zh: str, en: str) -> Question:
    english = en.replace("{is}", "(?:'s|’s| is| are)")
    return Question(slots, re.compile(f"{zh}|{english}", re.IGNORECASE))


_QUESTIONS = (
    _question(
        "name",
        zh=r"我(?:叫|的名字)(?:什麼|是什麼|叫什麼)|我是誰|怎麼稱呼我",
        en=r"what{is} my name|who am i\b",
    ),
    _question(
        "home",
        zh=r"我(?:現在|目前)?住(?:在)?(?:哪|什麼)|我家在哪|我搬到哪",
        en=r"where (?:do|am) i (?:now )?liv|where{is} my home|(?:what|which) city do i",
    ),
    _question(
        "origin",
        zh=r"我(?:來自|是)哪裡?(?:人|來)?|我是從哪",
        en=r"where am i from|where do i come from",
    ),
    _question(
        "exam",
        zh=(
            r"我.{0,8}(?:什麼|哪個|哪種|哪一?[個種])(?:考試|測驗|檢定)|我(?:正在|在)?準備(?:什麼|考什麼)|"
            r"我(?:想|要|打算)考什麼|什麼時候.{0,4}考試|我的考試"
        ),
        en=r"(?:what|which) (?:exam|test)|what am i (?:preparing|studying) for|when{is} my (?:exam|test)",
    ),
    _question("goal", "exam", zh=r"我的(?:學習|英文)?目標", en=r"what{is} my goals?"),
    _question(
        "job",
        zh=r"我(?:是)?(?:做|從事)什麼|我的(?:工作|職業)|我在哪裡?(?:工作|上班)",
        en=r"what{is} my (?:job|work|occupation)|what do i do\b|where do i work",
    ),
    _question(
        "dislike",
        zh=r"我(?:不喜歡|討厭)(?:吃|喝|做|看)?什麼",
        en=r"what don['’]?t i like|what do i (?:hate|dislike|not like)",
    ),
    _question("like", "hobby", zh=r"我(?:最)?(?:喜歡|愛)(?:做|吃|喝|看)?什麼", en=r"what do i (?:like|love|enjoy)"),
    _question("hobby", "like", zh=r"我(?:的|有什麼)(?:興趣|嗜好)", en=r"what{is} my (?:hobby|hobbies|interests?)"),
    _question("native_language", zh=r"我的母語", en=r"what{is} my (?:native|first) language|my mother tongue"),
    _question(
        "level",
        zh=r"我的(?:英文|英語)?(?:程度|等級)|我的英文(?:是|在)什麼",
        en=r"what{is} my (?:english )?level|how good is my english",
    ),
    _question(
        "difficulty",
        zh=r"我.{0,6}(?:搞混|弄混|混淆|覺得)什麼|我的(?:弱點|困難)|我哪裡.{0,4}(?:弱|難)",
        en=r"what do i (?:often |always |usually )?(?:confuse|mix up|struggle|have trouble)|my (?:weak|difficult)",
    ),
    _question(
        "experience",
        zh=r"我學(?:英文|英語)?了?(?:多久|幾年)",
        en=r"how long have i (?:been )?(?:studied|studying|learned|learning)",
    ),
    _question(
        "pet",
        zh=r"我(?:有養|有|養)了?(?:什麼|哪些|幾隻)(?:寵物|動物|貓|狗)?|我的(?:寵物|貓|狗)",
        en=r"what pets?\b|do i have (?:a |any )?(?:pet|cat|dog)|what{is} my pet",
    ),
    _question("correction", zh=r"我.{0,8}(?:怎麼|如何)被?(?:糾正|改正)", en=r"how do i (?:like|want) to be corrected"),
)
_ASKS = re.compile(r"[?？]|嗎|什麼|哪|誰|多久|幾|怎麼|\b(?:what|where|who|which|when|how|do|tell)\b", re.IGNORECASE)

_SENTENCES: dict[Slot, tuple[str, str]] = {
    "name": ("你的名字是{v}", "Your name is {v}"),
    "home": ("你住在{v}", "You live in {v}"),
    "origin": ("你來自{v}", "You come from {v}"),
    "exam": ("你在準備{v}", "You are preparing for {v}"),
    "goal": ("你的目標是{v}", "Your goal is {v}"),
    "job": ("你的工作是{v}", "Your job: {v}"),
    "dislike": ("你不喜歡{v}", "You do not like {v}"),
    "like": ("你喜歡{v}", "You like {v}"),
    "hobby": ("你的興趣是{v}", "Your hobby is {v}"),
    "native_language": ("你的母語是{v}", "Your native language is {v}"),
    "level": ("你的英文程度是{v}", "Your English level is {v}"),
    "difficulty": ("你覺得難的是{v}", "You find this difficult: {v}"),
    "experience": ("你學英文{v}了", "You have studied English for {v}"),
    "correction": ("你希望這樣被糾正：{v}", "You want to be corrected like this: {v}"),
    "explanation": ("你希望用{v}解釋", "You want explanations in {v}"),
    "pet": ("你的寵物：{v}", "Your pets: {v}"),
}
_PROFILE_SLOTS: dict[str, Slot] = {
    "name": "name",
    "native_language": "native_language",
    "english_level": "level",
    "goals": "goal",
    "interests": "hobby",
    "correction_style": "correction",
    "explanation_style": "explanation",
}


def asks_about_user(message: str) -> bool:
    """Whether ``message`` asks what is known about its writer."""
    return bool(_ABOUT_ALL.search(message) or _wanted_slots(message))


def recollect(message: str, background: Background, language: Language) -> str:
    """The answer to such a question; says so when nothing in the background fits."""
    if _ABOUT_ALL.search(message):
        told = _everything(background, language)
    else:
        told = _one_slot(_wanted_slots(message), background, language)
    if not told:
        if language == "zh":
            return "我還不知道。你還沒有告訴過我，或是這次沒有找到相關的記憶。"
        return "I do not know that yet: you have not told me, or no memory about it was found this time."
    lead = "就我記得的：" if language == "zh" else "From what I remember:"
    if len(told) > 1:
        return "\n".join([lead, "", *(f"- {line}" for line in told)])
    return lead + ("" if language == "zh" else " ") + told[0]


def _wanted_slots(message: str) -> tuple[Slot, ...]:
    if not _ASKS.search(message):
        return ()
    return next((question.slots for question in _QUESTIONS if question.pattern.search(message)), ())


def _one_slot(slots: tuple[Slot, ...], background: Background, language: Language) -> list[str]:
    """What is known of the first of ``slots`` that anything is known of. Memories are newer than the profile."""
    facts = [fact for memory in background.memories if (fact := fact_in(memory))]
    for slot in slots:
        told = [_tell(fact, language) for fact in facts if fact.slot == slot]
        told = told or [
            _tell_value(slot, value, language)
            for name, value in background.profile.items()
            if _PROFILE_SLOTS.get(name) == slot
        ]
        if told:
            return list(dict.fromkeys(told))
    return []


def _everything(background: Background, language: Language) -> list[str]:
    told = [
        _tell_value(_PROFILE_SLOTS[name], value, language)
        for name, value in background.profile.items()
        if name in _PROFILE_SLOTS
    ]
    for memory in background.memories:
        fact = fact_in(memory)
        told.append(_tell(fact, language) if fact else memory)
    return list(dict.fromkeys(told))


def _tell(fact: Fact, language: Language) -> str:
    return fact.told if fact.language == language else _tell_value(fact.slot, fact.value, language)


def _tell_value(slot: Slot, value: str, language: Language) -> str:
    chinese, english = _SENTENCES[slot]
    translated = translate(value, into=language)
    if language == "zh":
        return chinese.format(v=_spaced(translated)) + "。"
    return english.format(v=translated) + "."


def _spaced(value: str) -> str:
    """Latin words stand apart from Chinese ones."""
    return f" {value}" if value[:1].isascii() else value
