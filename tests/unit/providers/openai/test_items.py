from __future__ import annotations

import json
from typing import Any

import pytest

from memora.providers.openai.items import MAX_DEPTH, as_dict, sendable, sendable_items, well_formed, without_reasoning


def test_nulls_and_fields_of_the_sdk_are_left_out_at_every_depth() -> None:
    item = {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "phase": None,
        "content": [{"type": "output_text", "text": "a", "annotations": [], "logprobs": None, "parsed": {"a": 1}}],
    }
    assert sendable(item) == {
        "type": "message",
        "id": "msg_1",
        "status": "completed",
        "content": [{"type": "output_text", "text": "a", "annotations": []}],
    }
    assert sendable({"type": "function_call", "arguments": "{}", "parsed_arguments": {}, "caller": None}) == {
        "type": "function_call",
        "arguments": "{}",
    }


def test_a_reasoning_item_loses_its_status_and_keeps_its_empty_summary() -> None:
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "status": "completed", "encrypted_content": "x"}
    assert sendable(item) == {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "x"}


def test_items_keep_their_order_and_what_is_no_item_is_left_out() -> None:
    output = [{"type": "reasoning"}, None, "text", {"type": "message"}, {"type": "something_new", "data": [1, None]}]
    assert sendable_items(output) == (
        {"type": "reasoning"},
        {"type": "message"},
        {"type": "something_new", "data": [1, None]},
    )


def test_without_reasoning_calls_lose_their_ids_and_keep_their_call_ids() -> None:
    items = [
        {"type": "message", "role": "user", "content": "q"},
        {"type": "reasoning", "id": "rs_1"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]
    assert without_reasoning(items) == [
        {"type": "message", "role": "user", "content": "q"},
        {"type": "function_call", "call_id": "call_1", "name": "f", "arguments": "{}"},
    ]


@pytest.mark.parametrize(
    ("text", "mended"), [("字 😀", "字 😀"), ("\ud83d\ude00", "😀"), ("a\ud83d", "a�"), ("\ude00b", "�b")]
)
def test_surrogates_are_joined_or_replaced(text: str, mended: str) -> None:
    assert well_formed(text) == mended


def test_what_is_no_part_of_a_message_is_left_out_of_its_content() -> None:
    part = {"type": "output_text", "text": "a"}
    assert sendable({"type": "message", "content": [None, "b", part, 1]}) == {"type": "message", "content": [part]}
    assert sendable({"type": "message", "content": 5}) == {"type": "message", "content": []}
    assert sendable({"type": "message", "content": "a"}) == {"type": "message", "content": "a"}


def test_what_python_knows_and_json_does_not_is_nothing() -> None:
    assert as_dict({"a": float("nan"), "b": [float("-inf")], "\ud800": "\ud800"}) == {
        "a": None,
        "b": [None],
        "\ufffd": "\ufffd",
    }


def test_an_object_is_nested_only_so_deep_that_it_can_be_stored_and_read_again() -> None:
    def nested(levels: int) -> dict[str, Any]:
        return json.loads('{"a": ' * levels + "1" + "}" * levels)

    assert as_dict(nested(MAX_DEPTH)) == nested(MAX_DEPTH)
    with pytest.raises(ValueError, match="nested deeper"):
        as_dict(nested(MAX_DEPTH + 2))
