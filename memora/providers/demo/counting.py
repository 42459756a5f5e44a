"""Requests to count words: the call that they lead to, and the sentence about its result."""

from __future__ import annotations

import json
import re
from typing import Any

from memora.providers.demo.language import Language, has_english
from memora.providers.demo.reply import FunctionCall, Reply, say

TOOL_NAME = "count_english_words"

_REQUEST = re.compile(
    r"計算|數一?[數下]|算一?[算下]|幾個(?:英文)?(?:單字|單詞|字|詞)|多少個?(?:英文)?(?:單字|單詞|字|詞)|字數|"
    r"\bcount\b[^.:]{0,60}(?:\bwords?\b|:)|\bhow many (?:english )?words\b|\bword count\b|\bnumber of words\b",
    re.IGNORECASE,
)
_COLON = re.compile(r"：|(?<!\d):(?!\d|//)")
_QUOTED = (
    re.compile(r"「(.+?)」", re.DOTALL),
    re.compile(r"『(.+?)』", re.DOTALL),
    re.compile(r"“(.+?)”", re.DOTALL),
    re.compile(r"\"(.+)\"", re.DOTALL),
    re.compile(r"‘(.+)’(?!\w)", re.DOTALL),
    re.compile(r"(?<!\w)'(.+)'(?!\w)", re.DOTALL),
)
_WHOLLY_QUOTED = re.compile(r"[「『“\"‘'](.+)[」』”\"’'][\s。？?]*", re.DOTALL)
_TRAILING_REQUEST = re.compile(
    r"[\s，,]{0,8}(?:請問|這句|這段|總共|一共|裡面?|請|有){0,4}(?:幾個|多少|計算|算|數).{0,20}$"
)
_ENGLISH_RUN = re.compile(r"[A-Za-z][A-Za-z0-9'’\-,;:.!?()\s\"]*[A-Za-z0-9.!?)\"]")
_AFTER_IN = re.compile(
    r"\bwords?\b.*?\b(?:in|of)\b (?:(?:the|this) (?:following )?(?:sentence|text|phrase)s?\b[,\s]*)?(.+)",
    re.IGNORECASE | re.DOTALL,
)
_POINTS_ELSEWHERE = re.compile(
    r"(?:it|this|that|these|those|them|(?:the|this|my) .*(?:sentence|text|essay)s?)\W*", re.IGNORECASE
)


def asks_to_count(message: str) -> bool:
    """Whether ``message`` wants words counted."""
    return _REQUEST.search(message) is not None


def sentence_to_count(message: str) -> str:
    """The English text that is to be counted, exactly as it was typed; empty when there is none."""
    colon = _COLON.search(message)
    quoted = next((match for pattern in _QUOTED if (match := pattern.search(message))), None)
    if colon and not (quoted and quoted.start() < colon.start()):
        text = _TRAILING_REQUEST.sub("", message[colon.end() :]).strip()
        wholly = _WHOLLY_QUOTED.fullmatch(text)
        text = wholly[1] if wholly else text
    elif quoted:
        text = quoted[1].strip()
    else:
        text = _unmarked_sentence(message)
    return text if has_english(text) else ""


def _unmarked_sentence(message: str) -> str:
    """Nothing marks the sentence: what follows "words in", or the longest English stretch among Chinese."""
    if _REQUEST.search(message) and not re.search(r"[\u4e00-\u9fff]", message):
        found = _AFTER_IN.search(message)
        text = found[1].strip() if found else ""
        return "" if _POINTS_ELSEWHERE.fullmatch(text) else text
    runs = [run.strip() for run in _ENGLISH_RUN.findall(message) if " " in run.strip()]
    return max(runs, key=len, default="")


def call_to_count(text: str) -> Reply:
    """The function call that counts ``text``."""
    return Reply(parts=(FunctionCall(TOOL_NAME, json.dumps({"text": text}, ensure_ascii=False)),))


def ask_for_sentence(language: Language) -> Reply:
    """There is nothing to count."""
    if language == "zh":
        return say("請把要計算的英文句子貼給我，例如：「請計算：I don't know the answer.」")
    return say("Please give me the English sentence to count, for example: Count the words: I don't know the answer.")


def admit_no_tool(language: Language) -> Reply:
    """The counting tool may not be called."""
    if language == "zh":
        return say("這次沒有計算工具可以用，用猜的不可靠，所以我不給你數字。")
    return say("The counting tool is not available this time, and a guess would not be reliable, so I give no number.")


def report_outputs(outputs: tuple[str, ...], language: Language) -> Reply:
    """Tell the result of the call, or that it failed."""
    results = [_parse(output) for output in outputs]
    for result in results:
        if isinstance(count := _word_count(result), int):
            return say(_tell_count(count, language))
    errors = [str(result["error"]) for result in results if result.get("error")]
    error = errors[0] if errors else "no result"
    if language == "zh":
        return say(f"工具沒有算出結果，錯誤訊息是：{error}。所以我沒有可靠的數字可以給你。")
    return say(f"The tool gave no result; its error was: {error}. So I have no reliable number for you.")


def _parse(output: str) -> dict[str, Any]:
    try:
        parsed = json.loads(output)
    except json.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _word_count(result: dict[str, Any]) -> Any:
    inner = result.get("result")
    return inner.get("word_count") if result.get("ok") is True and isinstance(inner, dict) else None


def _tell_count(count: int, language: Language) -> str:
    if language == "zh":
        return f"這段英文共有 {count} 個單字。計算方式：連續的英文字母算一個單字，縮寫（例如 don't）也算一個。"
    counted = "There is 1 word." if count == 1 else f"There are {count} words."
    return f"{counted} A word is a run of English letters; a contraction such as don't counts as one."
