from __future__ import annotations

import pytest

from memora.i18n import choose_language, mark, terminal_language, translator


@pytest.mark.parametrize("accept", ["zh-TW", "zh-Hant", "zh_TW.UTF-8", "zh", "zh-CN,en;q=0.5", "fr, zh-TW;q=0.9, en"])
def test_any_chinese_is_answered_in_traditional_chinese(accept: str) -> None:
    assert choose_language(None, accept) == "zh_TW"


@pytest.mark.parametrize("accept", ["en-US", "en", "en;q=0.9,zh-TW;q=0.1", "fr-FR", "C.UTF-8", "", None])
def test_everything_else_is_answered_in_english(accept: str | None) -> None:
    assert choose_language("auto", accept) == "en"


def test_a_choice_that_was_made_beats_the_browser() -> None:
    assert choose_language("en", "zh-TW") == "en"
    assert choose_language("zh_TW", "en-US") == "zh_TW"


def test_the_same_translator_serves_a_language() -> None:
    assert translator("en") is translator("en")


def test_english_speaks_the_sentences_of_the_code() -> None:
    _ = translator("en")
    assert _("Try again") == "Try again"
    assert _.plural("{n} request", "{n} requests", 1) == "{n} request"
    assert _.plural("{n} request", "{n} requests", 2) == "{n} requests"


def test_a_sentence_without_a_translation_stays_english() -> None:
    assert translator("zh_TW")("no such sentence anywhere") == "no such sentence anywhere"


@pytest.mark.parametrize("language", ["zh_TW", "en"])
def test_nothing_stays_nothing(language: str) -> None:
    assert translator(language)("") == ""  # type: ignore[arg-type]


def test_a_marked_sentence_is_itself() -> None:
    assert mark("Try again") == "Try again"


@pytest.mark.parametrize(
    ("environ", "language"),
    [
        ({"LANG": "zh_TW.UTF-8"}, "zh_TW"),
        ({"LC_ALL": "en_US.UTF-8", "LANG": "zh_TW.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh_TW"),
        ({"LANG": "en_US.UTF-8", "MEMORA_LANGUAGE": "zh_TW"}, "zh_TW"),
        ({}, "en"),
    ],
)
def test_the_terminals_language_is_found_as_gettext_finds_it(environ: dict[str, str], language: str) -> None:
    assert terminal_language(environ) == language
