import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from memora.context import tokens
from memora.context.calibration import MIN_ANSWERS, Calibration
from memora.context.tokens import RANKS_FILE, TOKENS_PER_MESSAGE, TokenCounter, o200k_base
from memora.errors import OperatorError
from memora.settings import APP_FOLDER
from memora.tools import TOOLS

COUNTER = TokenCounter()


def test_the_encoding_is_the_one_that_tiktoken_knows_by_this_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(RANKS_FILE.parent))
    theirs, ours = tiktoken.get_encoding("o200k_base"), o200k_base()
    assert ours._pat_str == theirs._pat_str
    assert ours._special_tokens == theirs._special_tokens
    assert ours._mergeable_ranks == theirs._mergeable_ranks


@pytest.mark.parametrize(
    ("text", "count"),
    [("", 0), ("hello world", 2), ("I don't know the answer.", 6), ("請給我一個例句。", 8), ("tiktoken is great!", 6)],
)
def test_known_texts_have_their_known_counts(text: str, count: int) -> None:
    assert COUNTER.count(text) == count


def test_counting_needs_no_network_and_leaves_the_environment_alone(tmp_path: Path) -> None:
    program = """
import os, socket
def refuse(*args, **kwargs):
    raise AssertionError("the network was used")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
before = dict(os.environ)
from memora.context.tokens import TokenCounter
counter = TokenCounter()
counter.warm()
print(counter.count("hello world"), dict(os.environ) == before)
"""
    finished = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(APP_FOLDER), "TMPDIR": str(tmp_path), "TIKTOKEN_CACHE_DIR": ""},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (finished.stdout.strip(), finished.stderr) == ("2 True", "")
    assert list(tmp_path.iterdir()) == []


def test_names_of_special_tokens_are_counted_as_plain_text() -> None:
    assert COUNTER.count("<|endoftext|>") > 1


def test_lone_surrogates_are_counted() -> None:
    assert COUNTER.count("a\ud800b\udc00") > 0


@given(st.text(st.characters(codec=None), max_size=300))
def test_any_text_can_be_counted(text: str) -> None:
    assert 0 <= COUNTER.count(text) <= 4 * len(text)


@given(st.text(max_size=200), st.text(max_size=200))
def test_two_texts_together_never_count_much_more_than_apart(left: str, right: str) -> None:
    assert COUNTER.count(left + right) <= COUNTER.count(left) + COUNTER.count(right) + 4


@pytest.mark.timeout(20)
@pytest.mark.parametrize("char", ["a", "　", " ", "^", "\n", "é"])
def test_a_long_run_of_one_character_is_no_trap(char: str) -> None:
    run = char * 200_000
    assert 0 < COUNTER.count(run) <= len(run)


def test_a_text_of_several_pieces_counts_about_as_much_as_in_one() -> None:
    text = "The quick brown fox jumps over the lazy dog. 我正在準備三月的考試。" * 1_000
    exact = len(o200k_base().encode_ordinary(text))
    assert exact <= COUNTER.count(text) <= exact + 20


def test_a_message_costs_its_text_and_what_is_around_it() -> None:
    plain = {"type": "message", "role": "user", "content": "hello world"}
    in_parts = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello world"}]}
    assert COUNTER.count_message(plain) == COUNTER.count_message(in_parts) == 2 + TOKENS_PER_MESSAGE
    assert COUNTER.count_items([plain, in_parts]) == 2 * (2 + TOKENS_PER_MESSAGE)


def test_a_function_call_is_counted_with_its_arguments() -> None:
    short = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    assert COUNTER.count_message(short) < COUNTER.count_message(short | {"arguments": '{"text": "one two three"}'})


def test_tool_definitions_are_counted_and_no_tools_cost_nothing() -> None:
    assert COUNTER.count_tools(TOOLS) > 50
    assert COUNTER.count_tools([]) == 0


def test_threads_that_count_first_at_the_same_time_agree() -> None:
    with ThreadPoolExecutor(8) as pool:
        counts = set(pool.map(TokenCounter().count, ["hello world"] * 32))
    assert counts == {2}


@pytest.mark.parametrize("content", [None, b"aGVsbG8= 0\n"])
def test_ranks_that_are_missing_or_damaged_are_named(
    content: bytes | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "ranks"
    if content is not None:
        file.write_bytes(content)
    monkeypatch.setattr(tokens, "RANKS_FILE", file)
    with pytest.raises(OperatorError, match=str(file)):
        tokens._load.__wrapped__()


CALIBRATED = COUNTER.calibrated(Calibration(estimated_tokens=1_000, server_tokens=1_500, answers=MIN_ANSWERS))
ITEMS = [
    {"type": "message", "role": "user", "content": "How many words are there in this sentence?"},
    {"type": "function_call_output", "call_id": "call_1", "output": '{"ok": true}'},
]


def test_a_calibrated_counter_counts_everything_as_the_server_would() -> None:
    assert CALIBRATED.count("hello world") == 3
    assert CALIBRATED.count_tools(TOOLS) == round(1.5 * COUNTER.count_tools(TOOLS))
    assert [CALIBRATED.count_message(item) for item in ITEMS] == [
        round(1.5 * COUNTER.count_message(item)) for item in ITEMS
    ]
    assert CALIBRATED.count_items(ITEMS) == sum(map(CALIBRATED.count_message, ITEMS))


def test_calibrating_leaves_the_counter_itself_as_it_was_and_shares_what_it_remembers() -> None:
    fresh = TokenCounter()
    calibrated = fresh.calibrated(CALIBRATED.calibration)
    calibrated.count("a text that nobody has counted yet")
    assert fresh._count_piece.cache_info().currsize == 1
    assert fresh.count("hello world") == 2
