"""Replies with something wrong in them: what faults do to what the demo model says."""

from __future__ import annotations

import json
from dataclasses import replace

from memora.providers.demo.counting import TOOL_NAME
from memora.providers.demo.faults import Fault
from memora.providers.demo.reply import FunctionCall, Part, Reasoning, Refusal, Reply, Text
from memora.providers.demo.request import DemoRequest

TOO_LONG = 2_001
_BAD_ARGUMENTS = {
    "arguments": '{"text": "not closed',
    "not_object": '["a", "list"]',
    "extra": json.dumps({"text": "Hello there.", "language": "en"}),
    "missing": "{}",
    "ill_typed": json.dumps({"text": 42}),
    "too_long": json.dumps({"text": "a" * TOO_LONG}),
}


def spoil(reply: Reply, faults: tuple[Fault, ...], request: DemoRequest) -> Reply:
    """The reply after every fault that concerns its content, in the order in which they were named."""
    for fault in faults:
        match fault.kind, fault.name:
            case "fail", name:
                reply = _ended_badly(reply, name)
            case "bad", name:
                reply = _with_bad_call(reply, name, request)
            case "with", "text":
                reply = replace(reply, parts=(Text("Let me count."), *reply.parts))
            case "with", "reasoning":
                reply = replace(reply, parts=(Reasoning("gAAAA-demo-reasoning"), *reply.parts))
            case "no", "usage":
                reply = replace(reply, reports_usage=False)
    return reply


def _ended_badly(reply: Reply, name: str) -> Reply:
    match name:
        case "failed":
            return replace(reply, parts=(), status="failed")
        case "incomplete":
            return replace(reply, parts=tuple(map(_first_half, reply.parts)), status="incomplete")
        case "refusal":
            return replace(reply, parts=(Refusal("I cannot help with that."),))
        case "garbled":
            return replace(reply, parts=(Text("Sure! Here is what you asked for: {"),))
        case "empty":
            return replace(reply, parts=())
        case _:
            return reply


def _first_half(part: Part) -> Part:
    match part:
        case Text(text):
            return Text(text[: (len(text) + 1) // 2])
        case FunctionCall(name, arguments):
            return FunctionCall(name, arguments[: (len(arguments) + 1) // 2])
        case _:
            return part


def _with_bad_call(reply: Reply, name: str, request: DemoRequest) -> Reply:
    good = FunctionCall(TOOL_NAME, json.dumps({"text": "Hello there."}))
    if name == "call_again":
        return replace(reply, parts=(good,)) if request.number == 2 else reply
    if request.number == 2 or not request.tools:
        return reply
    asked = next((part for part in reply.parts if isinstance(part, FunctionCall)), good)
    match name:
        case "unknown_tool":
            return replace(reply, parts=(FunctionCall("launch_rocket", asked.arguments),))
        case "two_calls":
            return replace(reply, parts=(asked, good))
        case name if name in _BAD_ARGUMENTS:
            return replace(reply, parts=(FunctionCall(asked.name, _BAD_ARGUMENTS[name]),))
        case _:
            return reply
