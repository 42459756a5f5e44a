"""Streams of any shape, for the property that none of them breaks a turn."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st
from support.wire import event

_KINDS = [
    "response.output_text.delta",
    "response.refusal.delta",
    "response.output_item.added",
    "response.output_item.done",
    "response.completed",
    "response.incomplete",
    "response.failed",
    "error",
    "response.unheard_of",
]
_DEEP = json.loads("[" * 150 + "]" * 150)
_leaf = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 2),
    st.sampled_from(["", "text", "call_1", "{}"]),
    st.sampled_from(["\ud800", "\x00", "\udc00\ud83d", 2**63, 10**400, float("nan"), float("-inf"), _DEEP]),
)
_anything = st.recursive(
    _leaf,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "text", "reason", "\ud800"]), inner)
    ),
    max_leaves=4,
)


def _object(names: list[str], values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.dictionaries(st.sampled_from(names), values)


_part = st.builds(dict, _object(["text", "refusal"], _anything), type=st.sampled_from(["output_text", "refusal", None]))
_item = st.builds(
    dict,
    _object(["id", "call_id", "name", "arguments", "summary", "status"], _anything),
    type=st.sampled_from(["message", "function_call", "reasoning", "unheard_of"]),
    content=st.lists(_part, max_size=2) | _anything,
)
_response = st.builds(
    dict,
    _object(["id", "model", "status", "error", "incomplete_details"], _anything),
    usage=_object(["input_tokens", "output_tokens", "input_tokens_details"], _anything) | _anything,
    output=st.lists(_item | _anything, max_size=3) | _anything,
)
_fields = st.builds(
    dict,
    _object(["delta", "output_index", "code", "message", "error"], _anything),
    item=_item | _anything,
    response=_response | _anything,
)

streams: st.SearchStrategy[list[bytes]] = st.lists(
    st.builds(lambda kind, fields: event(kind, **fields), st.sampled_from(_KINDS), _fields), max_size=4
)
