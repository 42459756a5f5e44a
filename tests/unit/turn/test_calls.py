from __future__ import annotations

from memora.turn.calls import arguments_of, name_of, output_item, with_distinct_call_ids


def call(call_id: object) -> dict[str, object]:
    return {"type": "function_call", "call_id": call_id, "name": "f", "arguments": "{}"}


def test_call_ids_that_are_good_stay() -> None:
    output = (call("a"), {"type": "message"}, call("b"))
    assert with_distinct_call_ids(output) == output


def test_call_ids_that_are_missing_repeated_or_taken_are_replaced() -> None:
    output = [call(""), call(None), call(7), call("a"), call("a"), call("b"), call("call_memora_1")]
    ids = [item["call_id"] for item in with_distinct_call_ids(output, taken=["b"])]
    assert ids[3] == "a"
    assert len(set(ids)) == len(ids)
    assert "b" not in ids
    assert all(isinstance(call_id, str) and call_id for call_id in ids)


def test_what_a_server_left_out_of_a_call_is_told_as_text() -> None:
    assert (name_of({}), arguments_of({})) == ("", "null")
    assert arguments_of({"arguments": {"text": "字"}}) == '{"text": "字"}'


def test_an_output_item_names_the_call_that_it_answers() -> None:
    assert output_item(call("a"), "{}") == {"type": "function_call_output", "call_id": "a", "output": "{}"}
