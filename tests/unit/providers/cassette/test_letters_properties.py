"""Masked text: as long as it was, nothing of it readable, and JSON where it was JSON."""

from __future__ import annotations

import json
import re
import unicodedata
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st
from support.anything import any_json, any_text, written_json
from support.scale import scaled

from memora.providers.cassette.letters import masked

EXAMPLES = settings(max_examples=scaled(short=60, full=1000), deadline=None)
STAND_INS = frozenset("xXéÉ文1１")
OF_JSON = re.compile(r"\\(?:u[0-9A-Fa-f]{4}|[\"\\/bfnrt])|\b(?:true|false|null)\b")


def shape(value: Any) -> Any:
    """``value`` without what is private: kinds, and the lengths of lists and objects."""
    match value:
        case dict():
            return [shape(part) for part in value.values()]
        case list():
            return [shape(part) for part in value]
        case _:
            return "number" if isinstance(value, float | int) and not isinstance(value, bool) else type(value).__name__


def pairs(text: str) -> Any:
    """The JSON in ``text``; names that masking made the same stay apart."""
    return json.loads(text, object_pairs_hook=lambda found: dict(enumerate(value for _, value in found)))


finite_json = any_json.filter(lambda value: "NaN" not in json.dumps(value) and "Infinity" not in json.dumps(value))


@EXAMPLES
@given(value=finite_json, escaped=st.booleans(), indent=st.sampled_from([None, 2]))
@example(value=1e300, escaped=True, indent=None)
@example(value=[-1.5e-7, 1e22, 0.0], escaped=True, indent=None)
@example(value={"1e5": "1e5"}, escaped=True, indent=None)
def test_json_stays_json_of_the_same_shape_and_length(value: Any, escaped: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent)
    kept = masked(text)
    assert len(kept) == len(text)
    assert shape(pairs(kept)) == shape(pairs(text))


def is_private(char: str) -> bool:
    return unicodedata.category(char)[0] in "LN"


@EXAMPLES
@given(text=any_text | written_json | st.text(st.characters()))
@example(text="room 4E5, 1e-3")
def test_no_letter_and_no_digit_is_left_but_those_of_json_itself(text: str) -> None:
    kept = masked(text)
    assert len(kept) == len(text)
    assert masked(kept) == kept
    assert [char for char in OF_JSON.sub("", kept) if is_private(char) and char not in STAND_INS] == []
