"""Sentences as words: what two texts have to share to be the same, and to be found by each other. Pure.

English words are lower-cased and lightly stemmed. Chinese (and Japanese, Korean) has no spaces between
words: it is indexed by single characters and by pairs, and asked for by pairs.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

_CJK = "\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_TOKEN = re.compile(
    rf"(?P<cjk>[{_CJK}]+)"
    r"|(?P<number>\d+(?:[.,:]\d+)+)"
    rf"|(?P<word>(?:(?![{_CJK}])[^\W_])+(?:'(?:(?![{_CJK}])[^\W_])+)*)"
)
_VOWEL = re.compile(r"[aeiouy]")

_ENGLISH_FUNCTION_WORDS = """
    a about am an and any are as at be been being but by can could did do does doing for from had has have he her
    hers him his how i i'd i'll i'm i've if in is it it's its just me mine my of on or our ours please she should so
    some tell than that that's the their them then there these they this those to us was we were what what's when
    where which who whom whose why will with would you you're your yours
"""
_STOP_WORDS = frozenset(_ENGLISH_FUNCTION_WORDS.split())
# Only words that hardly ever are a part of a longer one: a query is cut at them. Longer ones come first.
_CHINESE_FUNCTION_WORDS = re.compile(
    "為什麼|為甚麼|什麼|甚麼|怎麼樣|怎麼|怎樣|哪裡|哪裏|哪兒|哪個|哪些|多少|是不是|有沒有|可不可以|請問|可以"
    "|我們|你們|他們|她們|這個|那個|这个|那个|为什么|什么|怎么|哪里|请问|[我你您妳他她它的嗎吗呢吧啊呀喔嘛]"
)


def normalize(text: str) -> str:
    """The form in which two sentences are the same: width, case, white space and the final stop do not count."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = " ".join(folded.split())
    end = len(words)
    while end and (unicodedata.category(words[end - 1])[0] in "PZ"):
        end -= 1
    return words[:end] or words


def terms(text: str) -> tuple[str, ...]:
    """What ``text`` is indexed under, each term once, in order."""
    return tuple(dict.fromkeys(_indexed(text)))


def query_terms(text: str) -> tuple[str, ...]:
    """What ``text`` asks for, each term once, in order; function words of both languages ask for nothing."""
    return tuple(dict.fromkeys(_asked(text)))


def _indexed(text: str) -> Iterator[str]:
    for kind, token in _tokens(text):
        if kind == "cjk":
            yield from token
            yield from _pairs(token)
        else:
            yield _stem(token)


def _asked(text: str) -> Iterator[str]:
    for kind, token in _tokens(text):
        if kind == "cjk":
            for part in _CHINESE_FUNCTION_WORDS.split(token):
                yield from _pairs(part) if len(part) > 1 else part
        elif token not in _STOP_WORDS:
            yield _stem(token)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    folded = unicodedata.normalize("NFKC", text).casefold().replace("’", "'")
    for match in _TOKEN.finditer(folded):
        yield match.lastgroup or "", match.group()


def _pairs(run: str) -> Iterator[str]:
    return (run[at : at + 2] for at in range(len(run) - 1))


def _stem(word: str) -> str:
    """One form for the inflections of a regular English word; not a word itself, and not meant to be read."""
    word = word.removesuffix("'s")
    return _bare(_without_inflection(word)) if word.isascii() and word.isalpha() else word


def _without_inflection(word: str) -> str:
    if len(word) > 4 and word.endswith(("ies", "ied")):
        return word[:-2]
    for ending in ("ing", "ed"):
        stem = word.removesuffix(ending)
        if stem != word and len(stem) > 1 and _VOWEL.search(stem) and not word.endswith("eed"):
            return stem
    if len(word) > 3 and word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _bare(stem: str) -> str:
    """Without what endings hide or bring: live/living, stop/stopped, study/studies."""
    if len(stem) > 2:
        stem = stem.removesuffix("e")
    if len(stem) > 3 and stem[-1] == stem[-2] and not _VOWEL.match(stem[-1]):
        stem = stem[:-1]
    return stem[:-1] + "i" if stem.endswith("y") else stem
