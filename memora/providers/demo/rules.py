"""The plain statements that the demo model understands: one row per way of saying something about oneself.

A pattern is matched against a whole clause whose subject was replaced by ``S`` (see `facts`), so that "I live in
Taipei" and "The user lives in Taipei" are read by the same row. ``{v}`` is the value; ``third`` and ``second``
write the statement about the user and to the user.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from memora.memory.values import Category, ProfileField
from memora.providers.demo.language import Language

Slot = Literal[
    "name",
    "home",
    "origin",
    "exam",
    "goal",
    "job",
    "dislike",
    "like",
    "hobby",
    "native_language",
    "level",
    "difficulty",
    "experience",
    "correction",
    "explanation",
    "pet",
]


@dataclass(frozen=True, kw_only=True)
class SlotKind:
    """What is remembered of a kind of fact. A user has one value of a single slot and several of others."""

    category: Category
    importance: int
    single: bool
    profile_field: ProfileField | None = None


SLOTS: dict[Slot, SlotKind] = {
    "name": SlotKind(category=Category.PROFILE, importance=5, single=True, profile_field="name"),
    "home": SlotKind(category=Category.PROFILE, importance=4, single=True),
    "origin": SlotKind(category=Category.PROFILE, importance=3, single=True),
    "exam": SlotKind(category=Category.GOAL, importance=5, single=True, profile_field="goals"),
    "goal": SlotKind(category=Category.GOAL, importance=4, single=False, profile_field="goals"),
    "job": SlotKind(category=Category.PROFILE, importance=4, single=True),
    "dislike": SlotKind(category=Category.PREFERENCE, importance=3, single=False),
    "like": SlotKind(category=Category.PREFERENCE, importance=3, single=False),
    "hobby": SlotKind(category=Category.PREFERENCE, importance=3, single=False, profile_field="interests"),
    "native_language": SlotKind(category=Category.PROFILE, importance=4, single=True, profile_field="native_language"),
    "level": SlotKind(category=Category.KNOWLEDGE, importance=4, single=True, profile_field="english_level"),
    "difficulty": SlotKind(category=Category.DIFFICULTY, importance=4, single=False),
    "experience": SlotKind(category=Category.EXPERIENCE, importance=3, single=True),
    "correction": SlotKind(category=Category.PREFERENCE, importance=4, single=True, profile_field="correction_style"),
    "explanation": SlotKind(category=Category.PREFERENCE, importance=4, single=True, profile_field="explanation_style"),
    "pet": SlotKind(category=Category.PROFILE, importance=2, single=False),
}


@dataclass(frozen=True)
class Rule:
    """One way of stating a fact of ``slot``."""

    slot: Slot
    language: Language
    pattern: re.Pattern[str]
    third: str
    second: str


def _zh(slot: Slot, pattern: str, sentence: str) -> Rule:
    return Rule(
        slot, "zh", re.compile(pattern), sentence.replace("{S}", "使用者") + "。", sentence.replace("{S}", "你") + "。"
    )


def _en(slot: Slot, pattern: str, third: str, second: str) -> Rule:
    return Rule(slot, "en", re.compile(pattern), third + ".", second + ".")


_ZH_TIME = r"(?P<t>今年|明年|後年|下個月|下半年|年底|暑假|[一二三四五六七八九十\d]+月[底初中]?)?"
_ZH_DURATION = r"[半一二兩三四五六七八九十百\d]+ ?(?:多|幾)?(?:年半?|個半?月|週)"
_EXAM_ZH = r"(?:考試|測驗|檢定|英檢|雅思|托福|多益|學測|分科|會考|高考|期中考|期末考|[A-Z]{3,})"
_JOB_ZH = (
    r"(?:師|學生|大學生|高中生|國中生|研究生|博士生|醫生|護士|員|老闆|經理|主管|助理|業務|會計|上班族|作家|畫家|記者|"
    r"店長|司機|家庭主婦|軍人)"
)
_EXAM_EN = r"(?:[Ee]xams?|[Tt]ests?|IELTS|TOEFL|TOEIC|GEPT|GRE|GMAT|SAT|[Ff]inals|[Mm]idterms)\b"
_JOB_EN = (
    r"(?:nurse|teacher|engineer|student|doctor|designer|developer|programmer|manager|accountant|lawyer|chef|cook|"
    r"driver|writer|artist|scientist|researcher|salesperson|secretary|dentist|pharmacist|pilot|journalist|barista)"
)
_DURATION_EN = r"(?:about |over |almost |more than )?(?:an?|one|two|three|four|five|six|seven|eight|nine|ten|\d+) \w+"
_AM = r"(?:am|is|are)"

RULES: tuple[Rule, ...] = (
    _zh("name", r"S的(?:中文|英文)?名字(?:叫做|叫|是) ?(?P<v>.{1,30})", "{S}的名字是{v}"),
    _zh(
        "name",
        r"S(?:叫做?|是) ?(?!他|她|你|我|人|車|外送|計程車)(?P<v>[A-Z][A-Za-z .'-]{1,30}|[小阿][\u4e00-\u9fff]{1,2})",
        "{S}的名字是{v}",
    ),
    _zh(
        "name",
        r"S叫做? ?(?!他|她|你|我|妳|人|車|外送|計程車)(?P<v>[\u4e00-\u9fff]{2,4}|[A-Za-z]{2,20})",
        "{S}的名字是{v}",
    ),
    _zh("home", r"S(?:已經|剛剛?|上個月|上週)?(?:搬到|搬去|搬來) ?(?P<v>[^了住]{1,20}?)(?:住|生活)?", "{S}住在{v}"),
    _zh("home", rf"S住(?:在|(?!的|得|過|院|不)) ?(?P<v>.{{1,20}}?)(?:住?(?:已經)?{_ZH_DURATION})?", "{S}住在{v}"),
    _zh("origin", r"S(?:來自|是從) ?(?P<v>.{1,20}?)(?:來的)?", "{S}來自{v}"),
    _zh("exam", rf"S(?:正在|在|要|開始)*準備(?:要)?考? ?(?P<v>.{{0,20}}{_EXAM_ZH}.{{0,10}})", "{S}正在準備{v}"),
    _zh(
        "exam",
        rf"S(?:打算)?{_ZH_TIME} ?(?:想要|想|打算|計畫|預計|要|準備)?(?:去)?(?:報考|參加|考) ?"
        rf"(?P<v>(?!慮|察|量).{{0,20}}{_EXAM_ZH}.{{0,10}})",
        "{S}打算{t}考{v}",
    ),
    _zh("goal", r"S的?(?:學習|英文|英語)?目標(?:是|為) ?(?P<v>.{1,40})", "{S}的目標是{v}"),
    _zh(
        "goal",
        rf"S(?:希望|想要|想)?{_ZH_TIME} ?(?:希望|想要|想|要)?(?:能夠|能|可以)? ?"
        r"(?P<v>(?:提升|提高|加強|改善|通過|拿到|考到|考上|出國|留學|成為|去.{1,10}(?:念書|讀書|留學|工作)).{0,30})",
        "{S}想{t}{v}",
    ),
    _zh("job", r"S的?(?:工作|職業)是 ?(?P<v>.{1,20})", "{S}的職業是{v}"),
    _zh("job", r"S在 ?(?P<v>.{1,20}?)(?:工作|上班)", "{S}在{v}工作"),
    _zh("job", rf"S是(?:一?[名位個])? ?(?P<v>(?!的|不).{{0,12}}{_JOB_ZH})", "{S}是{v}"),
    _zh("dislike", r"S(?:很|非常|超級?|最|比較)?(?:不太?喜歡|討厭|不愛) ?(?P<v>(?!的話|你|妳).{1,30})", "{S}不喜歡{v}"),
    _zh("like", r"S(?:很|非常|超級?|最|特別)?(?:喜歡|愛) ?(?P<v>(?!的|上|你|妳).{1,30})", "{S}喜歡{v}"),
    _zh("hobby", r"S的?(?:興趣|嗜好)(?:是|有|包括) ?(?P<v>.{1,30})", "{S}的興趣是{v}"),
    _zh("native_language", r"S的?母語(?:是|為) ?(?P<v>.{1,12})", "{S}的母語是{v}"),
    _zh(
        "level",
        r"S的?(?:英文|英語)?(?:程度|等級|能力)?(?:大概|大約|差不多)?(?:是|在|有|為)? ?"
        r"(?P<v>[ABC][12]|[初中高]級|中高級)(?: ?(?:程度|等級|左右))?",
        "{S}的英文程度是 {v}",
    ),
    _zh(
        "difficulty",
        r"S的?(?:常常|常|總是|老是|容易|經常|很容易)*會?(?:搞混|混淆|弄混|搞不清楚|分不清楚?) ?(?P<v>.{1,40})",
        "{S}常常搞混 {v}",
    ),
    _zh("difficulty", r"S覺得 ?(?P<v>.{1,30}?) ?(?:很|非常|太|最|比較)(?:難|困難)", "{S}覺得{v}很難"),
    _zh("difficulty", r"S(?:不擅長|不太會) ?(?P<v>.{1,30})", "{S}不擅長{v}"),
    _zh(
        "difficulty",
        r"S的?(?:英文|英語)?(?P<v>聽力|口說|寫作|閱讀|文法|發音|單字)(?:很|比較|最|非常)?(?:差|弱|不好)",
        "{S}的英文{v}比較弱",
    ),
    _zh("experience", rf"S學了?(?:英文|英語)(?:學?了)?(?:已經)? ?(?P<v>{_ZH_DURATION})", "{S}學英文{v}了"),
    _zh("experience", rf"S學了 ?(?P<v>{_ZH_DURATION})(?:的)?(?:英文|英語)", "{S}學英文{v}了"),
    _zh(
        "correction",
        r"S?(?:希望(?:老師|你)|請)你?(?P<v>(?:直接|馬上|立刻|最後再?|溫和地)(?:糾正|改正|指正)).*",
        "{S}希望老師{v}錯誤",
    ),
    _zh(
        "explanation",
        r"S?(?:希望(?:老師|你)(?:以後)?(?:都|一律)?|以後請|請(?:以後|每次|一律|都))"
        r"(?:以後|都|一律)*用 ?(?P<v>.{1,10}?) ?(?:解釋|說明|回答)(?:文法)?",
        "{S}希望老師用{v}解釋",
    ),
    _zh("pet", r"S(?:家裡?)?(?:養|有)了? ?(?P<v>[一二兩三四五六七八九十\d]+ ?[隻條匹].{1,20})", "{S}養了{v}"),
    _zh("pet", r"S的?(?:貓|狗|寵物|兔子)(?:叫做?|名字(?:叫|是)) ?(?P<v>.{1,12})", "{S}的寵物叫{v}"),
    _en("name", r"S's (?:first |full )?name is (?P<v>.{1,40})", "The user's name is {v}", "Your name is {v}"),
    _en("name", rf"S {_AM} called (?P<v>.{{1,40}})", "The user's name is {v}", "Your name is {v}"),
    _en(
        "name",
        rf"S {_AM} (?P<v>(?!American|British|Taiwanese|Chinese|Japanese|Korean|Canadian|Australian)[A-Z][a-z]{{1,15}})",
        "The user's name is {v}",
        "Your name is {v}",
    ),
    _en(
        "home",
        rf"S (?:lives?|{_AM} living) in (?P<v>.{{1,40}}?)(?: now| for {_DURATION_EN})?",
        "The user lives in {v}",
        "You live in {v}",
    ),
    _en(
        "home",
        r"S (?:have |has )?(?:just |recently )?moved to (?P<v>.{1,40}?)(?: now| last \w+| this \w+)?",
        "The user lives in {v}",
        "You live in {v}",
    ),
    _en("origin", rf"S (?:{_AM}|comes?) from (?P<v>.{{1,40}})", "The user comes from {v}", "You come from {v}"),
    _en(
        "exam",
        rf"S (?:{_AM} )?(?:preparing|studying|getting ready) for (?P<v>.{{0,40}}{_EXAM_EN}.{{0,30}})",
        "The user is preparing for {v}",
        "You are preparing for {v}",
    ),
    _en(
        "exam",
        rf"S (?:wants?|plans?|hopes?|would like|{_AM} going) to (?:take|pass|sit) (?P<v>.{{0,40}}{_EXAM_EN}.{{0,30}})",
        "The user plans to take {v}",
        "You plan to take {v}",
    ),
    _en(
        "goal",
        rf"S (?:{_AM} )?preparing for (?P<v>.{{1,60}})",
        "The user is preparing for {v}",
        "You are preparing for {v}",
    ),
    _en("goal", r"S's (?:main |learning )?goal is (?P<v>.{1,60})", "The user's goal is {v}", "Your goal is {v}"),
    _en(
        "goal",
        r"S (?:wants?|hopes?|would like) to (?P<v>(?:improve|study|become|speak|work|get|reach|learn) .{1,60})",
        "The user wants to {v}",
        "You want to {v}",
    ),
    _en(
        "job",
        rf"S {_AM} (?P<a>an?) (?P<v>(?:\w+ ){{0,3}}{_JOB_EN})(?: .{{0,30}})?",
        "The user is {a} {v}",
        "You are {a} {v}",
    ),
    _en("job", r"S works? (?P<a>as|at|for) (?P<v>.{1,40})", "The user works {a} {v}", "You work {a} {v}"),
    _en(
        "dislike",
        r"S (?:(?:don['’]t|do not|doesn['’]t|does not) (?:really )?like|hates?|dislikes?) (?P<v>.{1,60})",
        "The user does not like {v}",
        "You do not like {v}",
    ),
    _en(
        "like", r"S (?:really )?(?:likes?|loves?|enjoys?) (?P<v>(?!you\b).{1,60})", "The user likes {v}", "You like {v}"
    ),
    _en("hobby", r"S's hobb(?:y|ies) (?:is|are) (?P<v>.{1,60})", "The user's hobby is {v}", "Your hobby is {v}"),
    _en(
        "native_language",
        r"S's (?:native language|mother tongue|first language) is (?P<v>.{1,30})",
        "The user's native language is {v}",
        "Your native language is {v}",
    ),
    _en(
        "level",
        rf"S(?:'s English(?: level)?)?(?: {_AM})?(?: at| about| around)? (?P<v>[ABC][12])(?: level)?",
        "The user's English level is {v}",
        "Your English level is {v}",
    ),
    _en(
        "difficulty",
        r"S (?:always|often|usually|sometimes) "
        r"(?:confuses?|mix(?:es)? up|gets? confused (?:by|with|about)) (?P<v>.{1,60})",
        "The user often confuses {v}",
        "You often confuse {v}",
    ),
    _en(
        "difficulty",
        r"S (?:ha(?:ve|s) (?:trouble|difficulty|problems)(?: with| in)?|struggles? with) (?P<v>.{1,60})",
        "The user has trouble with {v}",
        "You have trouble with {v}",
    ),
    _en(
        "experience",
        rf"S (?:have|has) (?:been )?(?:studied|studying|learned|learnt|learning) English for (?P<v>{_DURATION_EN})",
        "The user has studied English for {v}",
        "You have studied English for {v}",
    ),
    _en(
        "correction",
        r"(?:S )?(?:please )?(?:always )?(?:wants mistakes corrected|correct (?:me|my mistakes)) "
        r"(?P<v>directly|gently|at once|immediately|at the end)",
        "The user wants mistakes corrected {v}",
        "You want mistakes corrected {v}",
    ),
    _en(
        "explanation",
        r"(?:S )?(?:please )?(?:always (?:explain|answer)|wants explanations)(?: things| grammar)? in (?P<v>.{1,30})",
        "The user wants explanations in {v}",
        "You want explanations in {v}",
    ),
    _en(
        "pet",
        r"S (?:have|has) "
        r"(?P<v>(?:an?|one|two|three|four|\d+) (?:\w+ )?(?:cat|dog|rabbit|bird|hamster|fish)s?\b.{0,30})",
        "The user has {v}",
        "You have {v}",
    ),
)
