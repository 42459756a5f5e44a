import pytest

from memora.prompts import render


def test_variables_are_filled_in() -> None:
    assert "At most 120 words" in render("summary", max_words=120)


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(KeyError):
        render("summary")


def test_a_variable_that_the_prompt_does_not_have_is_an_error() -> None:
    with pytest.raises(KeyError, match="today"):
        render("summary", max_words=120, today="2026-03-01")


def test_an_unknown_prompt_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        render("nothing_of_the_kind")


def test_dollar_signs_in_a_value_stay_as_they_are() -> None:
    assert '{"price": "$today"}' in render("background", json='{"price": "$today"}')
