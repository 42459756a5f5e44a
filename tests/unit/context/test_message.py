import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.context.calibration import MIN_ANSWERS, Calibration
from memora.context.message import check_message_fits, clean_message
from memora.context.tokens import TOKENS_PER_MESSAGE, TokenCounter
from memora.errors import BlankMessage, MessageTooLong
from memora.tools import TOOLS

COUNTER = TokenCounter()


def check(text: str, *, max_input_tokens: int = 16_000, counter: TokenCounter = COUNTER) -> None:
    check_message_fits(
        text,
        counter=counter,
        instructions="Be kind.",
        tools=TOOLS,
        max_input_tokens=max_input_tokens,
        reserved_input_tokens=1_200,
    )


@pytest.mark.parametrize(
    "text",
    ["", "   ", "\n\t\n", "　", "\u200b\u200d\ufeff", "\u202e", "\x00\x07", "\ufe0f", "\u3164", "\u2800", "\u0301"],
)
def test_a_message_in_which_nothing_can_be_seen_is_blank(text: str) -> None:
    with pytest.raises(BlankMessage):
        check(text)


@pytest.mark.parametrize("text", ["a", "。", "?", "7", "👍🏽", "🏳️\u200d🌈", "한", "\U000e0fff\U0001fae9", "\ue000"])
def test_a_message_in_which_something_can_be_seen_is_not_blank(text: str) -> None:
    check(text)


def test_a_message_may_take_all_the_room_and_not_a_token_more() -> None:
    fixed = COUNTER.count("Be kind.") + COUNTER.count_tools(TOOLS) + TOKENS_PER_MESSAGE
    window = fixed + 1_200 + 100
    check(" hello" * 100, max_input_tokens=window)
    with pytest.raises(MessageTooLong) as caught:
        check(" hello" * 101, max_input_tokens=window)
    assert caught.value.params == {"tokens": 101, "limit": 100}


def test_the_room_is_counted_as_the_server_counts() -> None:
    counter = COUNTER.calibrated(Calibration(estimated_tokens=100, server_tokens=200, answers=MIN_ANSWERS))
    window = 2 * (COUNTER.count("Be kind.") + COUNTER.count_tools(TOOLS) + TOKENS_PER_MESSAGE) + 1_200 + 200
    check(" hello" * 100, max_input_tokens=window, counter=counter)
    with pytest.raises(MessageTooLong) as caught:
        check(" hello" * 101, max_input_tokens=window, counter=counter)
    assert caught.value.params == {"tokens": 202, "limit": 200}


def test_a_window_smaller_than_what_is_fixed_has_no_room_at_all() -> None:
    with pytest.raises(MessageTooLong) as caught:
        check("hello", max_input_tokens=1_000)
    assert caught.value.params["limit"] == 0


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("one\r\ntwo\rthree\tfour\n", "one\ntwo\nthree\tfour"),
        ("nul\x00bell\x07esc\x1b[31m del\x7f c1\x85\x9b", "nulbellesc[31m del c1"),
        ("lone \ud83d surrogate", "lone \ufffd surrogate"),
        ("a pair \ud83d\ude00", "a pair 😀"),
        ("e\u0301 stays as it is", "e\u0301 stays as it is"),
        ("家\u200d族 \u202ertl", "家\u200d族 \u202ertl"),
        ("　 around 　", "around"),
    ],
)
def test_a_message_is_cleaned_and_otherwise_kept(typed: str, stored: str) -> None:
    assert clean_message(typed) == stored


@given(st.text(st.characters(codec=None)))
def test_a_clean_message_can_be_encoded_and_is_clean(text: str) -> None:
    clean = clean_message(text)
    clean.encode("utf-8")
    assert clean_message(clean) == clean
