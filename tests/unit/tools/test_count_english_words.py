from __future__ import annotations

import pytest

from memora.tools import COUNT_WORDS_MAX_CHARS, count_english_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("I have studied English for three years.", 7),
        ("I don't know the answer.", 5),
        ("I don’t know the answer.", 5),
        ("a well-known example", 4),
        ("rock'n'roll", 2),
        ("'quoted' words'", 2),
        ("I have 3 cats and 2 dogs", 5),
        ("我喜歡 English 和 coffee", 2),
        ("一二三 123 ！", 0),
        ("naïve", 2),
        ("line one\nline two\ttab", 5),
    ],
)
def test_words_are_runs_of_english_letters(text: str, words: int) -> None:
    assert count_english_words(text)["word_count"] == words


def test_the_result_states_its_rule() -> None:
    assert count_english_words("one") == {
        "word_count": 1,
        "counting_rule": "English letter sequences; contractions count as one word",
    }


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (7, "text must be a string"),
        (None, "text must be a string"),
        ("", "text must not be empty"),
        (" \n\t　", "text must not be empty"),
        ("a" * (COUNT_WORDS_MAX_CHARS + 1), "text is too long"),
    ],
)
def test_bad_input_is_refused_with_its_reason(text: object, complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}$"):
        count_english_words(text)  # type: ignore[arg-type]


def test_a_text_of_exactly_the_limit_is_counted() -> None:
    assert COUNT_WORDS_MAX_CHARS == 2000
    assert count_english_words("a " * 1000)["word_count"] == 1000
