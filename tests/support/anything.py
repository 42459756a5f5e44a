"""Strategies for what comes from outside and may be anything: text, JSON values, and JSON as somebody wrote it."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

any_text: st.SearchStrategy[str] = st.text(st.characters(), max_size=30) | st.sampled_from(
    ["", "\x00", "\ud800", "\udc00\ud83d", "\u202e\u200b", "\ufeff", "字 😀", "e\u0301" * 20, "\r\n\u2028\x85", '"\\']
)
"""Halves of surrogate pairs, NUL, separators and marks included."""

_numbers = st.integers(-(10**20), 10**20) | st.sampled_from([10**400, 2**63, -1]) | st.floats()

any_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | _numbers | any_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(any_text, inner, max_size=3),
    max_leaves=6,
)
"""What ``json.loads`` can return, NaN and the infinities included."""

readable_text: st.SearchStrategy[str] = st.text(st.characters(codec="utf-8"), max_size=30)
"""Text that can be encoded."""

finite_numbers: st.SearchStrategy[float] = st.floats(allow_nan=False, allow_infinity=False)

readable_json: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | finite_numbers | readable_text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(readable_text, inner, max_size=3),
    max_leaves=4,
)
"""JSON as the standard has it."""


def _nested(depth: int, opening: str, closing: str) -> str:
    return opening * depth + closing * depth


def _twice(name: str, values: list[Any]) -> str:
    return "{" + ", ".join(f"{json.dumps(name)}: {json.dumps(value)}" for value in values) + "}"


def _spoiled(value: Any, place: int, junk: str) -> str:
    text = json.dumps(value)
    return text[:place] + junk + text[place + 1 :]


written_json: st.SearchStrategy[str] = st.one_of(
    st.builds(json.dumps, any_json, ensure_ascii=st.booleans()),
    st.builds(_spoiled, any_json, st.integers(0, 60), any_text),
    st.builds(_twice, st.just("text") | any_text, st.lists(any_json, min_size=2, max_size=3)),
    st.builds(_nested, st.integers(1, 3_000), st.sampled_from(["[", '{"text":']), st.sampled_from(["]", "}", ""])),
    st.integers(4_000, 6_000).map(lambda digits: '{"text": ' + "9" * digits + "}"),
)
"""JSON, broken JSON, keys that come twice, deep nesting and numbers of thousands of digits."""
