"""What the Responses API refuses with a 400, as far as Memora could get it wrong."""

from __future__ import annotations

from typing import Any

from memora.model import Item

MIN_OUTPUT_TOKENS = 16
_COUNTED = frozenset(
    {
        "conversation",
        "input",
        "instructions",
        "model",
        "parallel_tool_calls",
        "personality",
        "previous_response_id",
        "reasoning",
        "text",
        "tool_choice",
        "tools",
        "truncation",
    }
)
_NOT_INPUT = ("parsed", "parsed_arguments")


def complaint(body: dict[str, Any]) -> tuple[str, str] | None:
    """What is wrong with a request body (message, param); None when it is acceptable."""
    for name in ("model", "input"):
        if not body.get(name):
            return f"Missing required parameter: '{name}'.", name
    if isinstance(tokens := body.get("max_output_tokens"), int) and tokens < MIN_OUTPUT_TOKENS:
        name = "max_output_tokens"
        return f"Invalid '{name}': integer below minimum value. Expected a value >= {MIN_OUTPUT_TOKENS}.", name
    if body.get("tool_choice") and not body.get("tools"):
        return "Tool choice is only allowed when 'tools' are specified.", "tool_choice"
    items = body["input"] if isinstance(body["input"], list) else []
    return _item_complaint(items) or _call_complaint(items)


def counting_complaint(body: dict[str, Any]) -> tuple[str, str] | None:
    """What is wrong with a body of ``POST /responses/input_tokens``, which knows fewer parameters."""
    for name in body:
        if name not in _COUNTED:
            return f"Unknown parameter: '{name}'.", name
    return complaint(body)


def _item_complaint(items: list[Item]) -> tuple[str, str] | None:
    for index, item in enumerate(items):
        for name, value in item.items():
            param = f"input[{index}].{name}"
            if name in _NOT_INPUT:
                return f"Unknown parameter: '{param}'.", param
            if value is None:
                return f"Invalid type for '{param}': got null instead.", param
    return None


def _call_complaint(items: list[Item]) -> tuple[str, str] | None:
    """A call and its output belong together, whichever is missing."""
    called = {item.get("call_id") for item in items if item.get("type") == "function_call"}
    answered = {item.get("call_id") for item in items if item.get("type") == "function_call_output"}
    for call_id in called - answered:
        return f"No tool output found for function call {call_id}.", "input"
    for call_id in answered - called:
        return f"No tool call found for function call output with call_id {call_id}.", "input"
    return None
