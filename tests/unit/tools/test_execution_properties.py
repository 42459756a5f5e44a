"""`execute_tool_call` for any name, arguments and handler: one string of bounded JSON in the contract's envelope."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, NoReturn

from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.anything import any_json, any_text, written_json
from support.figures import count
from support.scale import scaled

from memora.errors import ToolError
from memora.tools import COUNT_WORDS_MAX_CHARS, execute_tool_call, failed_output
from memora.tools.registry import MAX_OUTPUT_CHARS

EXAMPLES = settings(max_examples=scaled(short=60, full=1000), deadline=None)
NAME = "count_english_words"

words = st.sampled_from(["one", "don't", "Don’t", "ab"])
gaps = st.text(" ,.-1字\n", min_size=1, max_size=3)


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is no JSON")


def envelope(output: object) -> dict[str, Any]:
    """What ``output`` holds, after all that is promised of any output."""
    assert isinstance(output, str)
    assert output.encode()
    assert len(output) <= MAX_OUTPUT_CHARS
    told: dict[str, Any] = json.loads(output, parse_constant=refuse)
    assert told.keys() == {"ok", "result" if told["ok"] is True else "error"}
    assert told["ok"] is True or (told["ok"] is False and isinstance(told["error"], str) and told["error"])
    count("tool calls of any shape")
    return told


def executed(handler: Callable[..., Any]) -> dict[str, Any]:
    return envelope(
        execute_tool_call({"name": NAME, "call_id": "c", "arguments": '{"text": "a"}'}, handlers={NAME: handler})
    )


@EXAMPLES
@given(name=st.just(NAME) | any_text | any_json, call_id=any_json, arguments=written_json | any_json)
@example(name=NAME, call_id="c", arguments=json.dumps({"text": "a", "k" * 100_000: 1}))
@example(name=NAME, call_id="c", arguments=json.dumps({"text": "a", "\x00" * 4_000: 1}))
def test_whatever_is_called_with_whatever_arguments_one_bounded_envelope_comes_back(
    name: Any, call_id: Any, arguments: Any
) -> None:
    as_dictionary = execute_tool_call({"name": name, "call_id": call_id, "arguments": arguments})
    told = envelope(as_dictionary)
    assert execute_tool_call(SimpleNamespace(name=name, call_id=call_id, arguments=arguments)) == as_dictionary
    assert name == NAME or told == {"ok": False, "error": "unknown tool"}


@EXAMPLES
@given(call=any_json)
def test_what_is_no_call_at_all_is_an_unknown_tool(call: Any) -> None:
    assert envelope(execute_tool_call(call)) == {"ok": False, "error": "unknown tool"}


@EXAMPLES
@given(said=st.lists(st.tuples(gaps, words), max_size=200), escaped=st.booleans(), spaced=st.booleans())
def test_right_arguments_give_the_right_count_however_they_are_written(
    said: list[tuple[str, str]], escaped: bool, spaced: bool
) -> None:
    text = "".join(gap + word for gap, word in said)
    arguments = json.dumps({"text": text}, ensure_ascii=escaped, indent=2 if spaced else None)
    told = envelope(execute_tool_call({"name": NAME, "call_id": "c", "arguments": arguments}))
    is_countable = bool(text.strip()) and len(text) <= COUNT_WORDS_MAX_CHARS
    assert told["ok"] is is_countable
    assert not is_countable or told["result"]["word_count"] == len(said)


@EXAMPLES
@given(text=any_text.filter(str.strip), again=any_text.filter(str.strip))
def test_of_a_key_that_comes_twice_the_last_one_counts(text: str, again: str) -> None:
    arguments = f'{{"text": {json.dumps(text)}, "text": {json.dumps(again)}}}'
    told = envelope(execute_tool_call({"name": NAME, "arguments": arguments}))
    assert told["result"]["word_count"] == len(re.findall(r"[A-Za-z]+(?:['’][A-Za-z]+)?", again))


@EXAMPLES
@given(result=any_json | st.binary() | st.sets(st.integers()) | st.integers(0, 6_000).map(lambda size: "字" * size))
def test_whatever_a_handler_returns_comes_back_as_it_is_or_is_refused(result: Any) -> None:
    told = executed(lambda text: result)
    assert not told["ok"] or told["result"] == result


@EXAMPLES
@given(
    kind=st.sampled_from([ToolError, ValueError, TypeError, KeyError, OSError, RecursionError, SystemExit]),
    said=any_json | st.integers(0, 10_000).map(lambda size: '"' * size),
)
@example(kind=ValueError, said=10**5_000)
@example(kind=ValueError, said="\x00" * 10_000)
def test_whatever_a_handler_raises_is_told_within_the_bound(kind: type[BaseException], said: Any) -> None:
    def fail(text: str) -> NoReturn:
        raise kind(said)

    assert executed(fail)["ok"] is False


@EXAMPLES
@given(message=any_text, times=st.integers(1, 2_000))
def test_a_failure_keeps_the_beginning_of_its_message(message: str, times: int) -> None:
    whole = f"reason: {message * times}"
    told = json.loads(failed_output(whole))["error"]
    assert len(failed_output(whole)) <= MAX_OUTPUT_CHARS
    assert told[:-1] == whole.encode("utf-8", "replace").decode()[: len(told) - 1]
