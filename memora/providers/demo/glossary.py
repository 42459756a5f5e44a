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
_NUMBERS = "一二三四五六七八九十"
_NUMBER_WORDS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_MONTHS_ZH = (*_NUMBERS, "十一", "十二")

_TO_ENGLISH = dict(_NAMES)
_TO_CHINESE = {english.lower(): chinese for chinese, english in _NAMES if english not in ("IELTS", "TOEFL", "TOEIC", "GEPT")}
_SPELLINGS = sorted(
    [(chinese, english) for chinese, english in _NAMES]
    + [(f"{month}月", english) for month, english in zip(_MONTHS_ZH, _MONTHS, strict=True)]
    + [(f"{number}年", f"{word} years") for number, word in zip(_NUMBERS, _NUMBER_WORDS, strict=True)],
    key=lambda names: len(names[0]),
    reverse=True,
)
_LITTLE_WORDS = re.compile(r"\b(?:the|a|an|my|in|exam|test)\b|考試|測驗|[\W_]|的|市", re.IGNORECASE)
_EXAM_WITH_MONTH_ZH = re.compile(r"(\S{1,2})月的? ?(.+?) ?(?:考試|測驗)?")
_EXAM_WITH_MONTH_EN = re.compile(r"(?:the |an? )?(.+?)(?: exam| test)? in (\w+)")
_DURATION_ZH = re.compile(r"([一二三四五六七八九十兩]|\d+) ?年")
_DURATION_EN = re.compile(r"(\w+) years?")


def canonical(value: str) -> str:
    """The value for comparing: English names of well-known things, without little words, spaces and punctuation.

    Cross-language equality holds for what this glossary knows.
    """
    spelled = value.replace("臺", "台").replace("兩", "二")
    for chinese, english in _SPELLINGS:
        spelled = spelled.replace(chinese.replace("兩", "二"), f" {english} ")
    kept = _LITTLE_WORDS.sub("", spelled.lower())
    return "".join(sorted(re.findall(r"[a-z]+|\d+|[^a-z\d]", kept))) if count_cjk(value) == 0 else kept


def translate(value: str, *, into: Language) -> str:
    """The value's name in another language, or the value as it is when the glossary has none."""
    value = value.strip()
    if into == "en":
        return _in_english(value) if count_cjk(value) else value
    return value if count_cjk(value) else _in_chinese(value)


def _in_english(value: str) -> str:
    plain = value.replace("臺", "台").removesuffix("市")
    if plain in _TO_ENGLISH:
        return _TO_ENGLISH[plain]
    if (exam := _EXAM_WITH_MONTH_ZH.fullmatch(plain)) and exam[1] in _MONTHS_ZH:
        name = _TO_ENGLISH.get(exam[2], exam[2])
        return value if count_cjk(name) else f"the {name} exam in {_MONTHS[_MONTHS_ZH.index(exam[1])]}"
    if duration := _DURATION_ZH.fullmatch(plain):
        number = duration[1].replace("兩", "二")
        return f"{_NUMBER_WORDS[_NUMBERS.index(number)] if number in _NUMBERS else number} years"
    exam_name = re.sub(r" ?(?:考試|測驗)$", "", plain)
    return f"the {_TO_ENGLISH.get(exam_name, exam_name)} exam" if plain != exam_name and not count_cjk(_TO_ENGLISH.get(exam_name, exam_name)) else value


def _in_chinese(value: str) -> str:
    plain = re.sub(r"^(?:a|an|my|the) (?=\w)", "", value) if value.lower() not in _TO_CHINESE else value
    if plain.lower() in _TO_CHINESE:
        return _TO_CHINESE[plain.lower()]
    if (exam := _EXAM_WITH_MONTH_EN.fullmatch(value)) and exam[2].capitalize() in _MONTHS:
        return f"{_MONTHS_ZH[_MONTHS.index(exam[2].capitalize())]}月的 {exam[1]} 考試"
    if duration := _DURATION_EN.fullmatch(value):
        word = duration[1].lower()
        return f"{_NUMBERS[_NUMBER_WORDS.index(word)] if word in _NUMBER_WORDS else word}年"
    return re.sub(r"^(?:the )?(.+) (?:exam|test)$", r"\1 考試", value)
