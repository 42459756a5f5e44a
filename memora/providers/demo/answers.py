"""What the demo model answers in the chat: the first rule that fits."""

from __future__ import annotations

import re

from memora.providers.demo.counting import (
    TOOL_NAME,
    admit_no_tool,
    ask_for_sentence,
    asks_to_count,
    call_to_count,
    report_outputs,
    sentence_to_count,
)
from memora.providers.demo.examples import asks_for_examples, find_topic, write_examples
from memora.providers.demo.facts import Fact, read_facts
from memora.providers.demo.language import Language, language_of
from memora.providers.demo.recollection import asks_about_user, recollect
from memora.providers.demo.reply import Reply, say
from memora.providers.demo.request import DemoRequest

_GREETING = re.compile(
    r"\s*(?:(?:嗨|你好|您好|哈囉|早安|午安|晚安)|(?:hi|hello|hey|good (?:morning|afternoon|evening))\b)", re.IGNORECASE
)
_THANKS = re.compile(r"謝謝|感謝|多謝|\bthank(?:s| you)\b", re.IGNORECASE)

_ABILITIES: dict[Language, str] = {
    "zh": (
        "我是示範模型，只有寫好的回答，不是真正的語言模型。我可以用工具計算英文單字"
        "（請計算：I don't know the answer.）、給幾個文法例句（請給我一個使用 present perfect 的例句。），"
        "也會根據你說過的簡單事實（我叫小美，住在台北。）回答問題（我住在哪裡？）。"
        "設定 OPENAI_API_KEY 就能連接真正的模型。"
    ),
    "en": (
        "I am the demo model: my answers are scripted, I am not a real language model. I can count English words with "
        "a tool (Count the words: I don't know the answer.), give a few example sentences (An example of the present "
        "perfect, please.), and answer from simple facts you told me (I live in Taipei. Later: Where do I live?). "
        "Set OPENAI_API_KEY to connect a real model."
    ),
}


def answer(request: DemoRequest) -> Reply:
    """Answer the user's message in its language."""
    message = request.message
    language = language_of(message)
    if request.call_outputs:
        return report_outputs(request.call_outputs, language)
    if asks_to_count(message):
        return _count(request, language)
    if topic := find_topic(message):
        return say(write_examples(topic, asked=message, language=language))
    if asks_for_examples(message):
        return say(_no_examples(language))
    if asks_about_user(message):
        return say(recollect(message, request.background, language))
    if facts := read_facts(message):
        return say(_acknowledge(facts, language))
    return say(_introduce(message, language))


def _count(request: DemoRequest, language: Language) -> Reply:
    text = sentence_to_count(request.message)
    if not text:
        return ask_for_sentence(language)
    if TOOL_NAME not in request.tools:
        return admit_no_tool(language)
    return call_to_count(text)


def _acknowledge(facts: tuple[Fact, ...], language: Language) -> str:
    if language == "zh":
        return "收到，謝謝你告訴我！" + "".join(fact.told for fact in facts)
    return "Thank you for telling me! " + " ".join(fact.told for fact in facts)


def _no_examples(language: Language) -> str:
    lead = "我沒有為這個準備例句。" if language == "zh" else "I have no sentences prepared for that. "
    return lead + _ABILITIES[language]


def _introduce(message: str, language: Language) -> str:
    if _THANKS.search(message):
        lead = "不客氣！" if language == "zh" else "You are welcome! "
    elif _GREETING.match(message):
        lead = "你好！" if language == "zh" else "Hello! "
    else:
        lead = "這個問題我沒有準備好的回答。" if language == "zh" else "I have no scripted answer for that. "
    return lead + _ABILITIES[language]
