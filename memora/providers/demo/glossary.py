"""Well-known things under both their names, so that a Chinese memory answers an English question and back."""

from __future__ import annotations

import re

from memora.providers.demo.language import Language, count_cjk

_NAMES: tuple[tuple[str, str], ...] = (
    ("新北", "New Taipei"),
    ("台北", "Taipei"),
    ("桃園", "Taoyuan"),
    ("新竹", "Hsinchu"),
    ("台中", "Taichung"),
    ("台南", "Tainan"),
    ("高雄", "Kaohsiung"),
    ("花蓮", "Hualien"),
    ("宜蘭", "Yilan"),
    ("台灣", "Taiwan"),
    ("日本", "Japan"),
    ("東京", "Tokyo"),
    ("英國", "the UK"),
    ("倫敦", "London"),
    ("美國", "the US"),
    ("紐約", "New York"),
    ("雅思", "IELTS"),
    ("托福", "TOEFL"),
    ("多益", "TOEIC"),
    ("全民英檢", "GEPT"),
    ("軟體工程師", "software engineer"),
    ("工程師", "engineer"),
    ("護理師", "nurse"),
    ("老師", "teacher"),
    ("大學生", "university student"),
    ("學生", "student"),
    ("醫生", "doctor"),
    ("設計師", "designer"),
    ("會計", "accountant"),
    ("中文", "Chinese"),
    ("台語", "Taiwanese"),
    ("日文", "Japanese"),
    ("英文", "English"),
    ("咖啡", "coffee"),
    ("茶", "tea"),
    ("爬山", "hiking"),
    ("登山", "mountain climbing"),
    ("游泳", "swimming"),
    ("跑步", "running"),
    ("閱讀", "reading"),
    ("看書", "reading books"),
    ("看電影", "watching movies"),
    ("聽音樂", "listening to music"),
    ("旅行", "travelling"),
    ("煮飯", "cooking"),
    ("攝影", "photography"),
    ("一隻貓", "a cat"),
    ("兩隻貓", "two cats"),
    ("一隻狗", "a dog"),
    ("兩隻狗", "two dogs"),
    ("直接糾正", "directly"),
)
_NUMBERS = {
    "一": "one",
    "二": "two",
    "三": "three",
    "四": "four",
    "五": "five",
    "六": "six",
    "七": "seven",
    "八": "eight",
    "九": "nine",
    "十": "ten",
}
_MONTHS = {
    "一": "January",
    "二": "February",
    "三": "March",
    "四": "April",
    "五": "May",
    "六": "June",
    "七": "July",
    "八": "August",
    "九": "September",
    "十": "October",
    "十一": "November",
    "十二": "December",
}
_USED_AS_THEY_ARE = frozenset(("IELTS", "TOEFL", "TOEIC", "GEPT"))

_TO_ENGLISH = dict(_NAMES)
_TO_CHINESE = {english.lower(): chinese for chinese, english in _NAMES if english not in _USED_AS_THEY_ARE}
_NUMBER_IN_CHINESE = {english: chinese for chinese, english in _NUMBERS.items()}
_MONTH_IN_CHINESE = {english: chinese for chinese, english in _MONTHS.items()}
_SPELLINGS = sorted(
    [(chinese.replace("兩", "二"), english) for chinese, english in _NAMES]
    + [(f"{chinese}月", english) for chinese, english in _MONTHS.items()]
    + [(f"{chinese}年", f"{english} years") for chinese, english in _NUMBERS.items()],
    key=lambda names: len(names[0]),
    reverse=True,
)
_LITTLE_WORDS = frozenset(("the", "a", "an", "my", "in", "exam", "test"))
_LITTLE_WORDS_ZH = re.compile(r"考試|測驗|的|市$")
_WORD = re.compile(r"[a-z]+\d*|\d+|[\u3400-\u9fff]+")
_EXAM_ZH = re.compile(r"(?:(?P<month>十?[一二三四五六七八九十])月的? ?)?(?P<name>.+?) ?(?:考試|測驗)")
_EXAM_EN = re.compile(r"(?:the |an? )?(?P<name>.+?) (?:exam|test)(?: in (?P<month>[A-Z]\w+))?")
_DURATION_ZH = re.compile(r"([一二兩三四五六七八九十]|\d+) ?年")
_DURATION_EN = re.compile(r"(\w+) years?")
_VERB_ZH = re.compile(r"^[喝吃](?=.)")
_ARTICLE_EN = re.compile(r"^(?:a|an|my|the) (?=\w)")


def words_of(value: str) -> frozenset[str]:
    """What a value means, for comparing: its words, well-known things under their English names.

    Chinese and English values compare as far as this glossary reaches.
    """
    spelled = _LITTLE_WORDS_ZH.sub(" ", value.replace("臺", "台").replace("兩", "二"))
    for chinese, english in _SPELLINGS:
        spelled = spelled.replace(chinese, f" {english} ")
    return frozenset(_WORD.findall(spelled.lower())) - _LITTLE_WORDS


def translate(value: str, *, into: Language) -> str:
    """The value's name in another language, or the value as it is when the glossary has none."""
    value = value.strip()
    if into == "en":
        return _in_english(value) if count_cjk(value) else value
    return value if count_cjk(value) else _in_chinese(value)


def _in_english(value: str) -> str:
    plain = _VERB_ZH.sub("", value.replace("臺", "台")).removesuffix("市")
    if plain in _TO_ENGLISH:
        return _TO_ENGLISH[plain]
    if exam := _EXAM_ZH.fullmatch(plain):
        name = _TO_ENGLISH.get(exam["name"], exam["name"])
        month = f" in {_MONTHS[exam['month']]}" if exam["month"] in _MONTHS else ""
        return value if count_cjk(name) else f"the {name} exam{month}"
    if duration := _DURATION_ZH.fullmatch(plain):
        number = duration[1].replace("兩", "二")
        return f"{_NUMBERS.get(number, number)} years"
    return value


def _in_chinese(value: str) -> str:
    for name in (value.lower(), _ARTICLE_EN.sub("", value.lower())):
        if name in _TO_CHINESE:
            return _TO_CHINESE[name]
    if exam := _EXAM_EN.fullmatch(value):
        month = f"{_MONTH_IN_CHINESE[exam['month']]}月的 " if exam["month"] in _MONTH_IN_CHINESE else ""
        return f"{month}{exam['name']} 考試"
    if duration := _DURATION_EN.fullmatch(value):
        return f"{_NUMBER_IN_CHINESE.get(duration[1].lower(), duration[1])}年"
    return value
