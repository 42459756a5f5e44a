"""Replies in the shape of the Responses API: the response object and the events of its stream."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Iterator
from itertools import count
from typing import Any

from memora.model import Item
from memora.providers.demo.reply import FunctionCall, Part, Reasoning, Refusal, Reply, Text
from memora.providers.demo.tokens import estimate_input_tokens, estimate_tokens

Event = dict[str, Any]

_PIECES = re.compile(
    r"[\u3000-\u303f\u3400-\u9fff\uff00-\uffef]{1,2}|[^\s\u3000-\u303f\u3400-\u9fff\uff00-\uffef]+ ?|\s+"
)
ARGUMENT_PIECE = 12
_FAILED = {"code": "server_error", "message": "The demo model was told to fail."}
_ECHOED: dict[str, Any] = {
    "instructions": None,
    "max_output_tokens": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "previous_response_id": None,
    "temperature": 1.0,
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "top_p": 1.0,
    "truncation": "disabled",
}


def response_body(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    """The whole response to the request ``body``."""
    return _end(_response(body), reply, body, output=_items(reply))


def response_events(reply: Reply, body: dict[str, Any]) -> Iterator[Event]:
    """The events of the stream that answers ``body``, in order, from ``response.created`` to the terminal one."""
    response = _response(body)
    output = _items(reply)
    numbers = count()

    def event(kind: str, **fields: Any) -> Event:
        return {"type": kind, **fields, "sequence_number": next(numbers)}

    yield event("response.created", response=response)
    yield event("response.in_progress", response=response)
    for index, (item, part) in enumerate(zip(output, reply.parts, strict=True)):
        yield event("response.output_item.added", output_index=index, item=_begun(item))
        for kind, fields in _progress(item, part):
            yield event(kind, item_id=item["id"], output_index=index, **fields)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event(f"response.{reply.status}", response=_end(response, reply, body, output=output))


def text_pieces(text: str) -> list[str]:
    """A text in the pieces that it streams in: words, or pairs of Chinese characters. Joined, they are the text."""
    return _PIECES.findall(text)


def new_id(prefix: str) -> str:
    """An id as the API writes them."""
    return f"{prefix}_{uuid.uuid4().hex}"


def _response(body: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": new_id("resp"),
        "object": "response",
        "created_at": int(time.time()),
        "status": "in_progress",
        "error": None,
        "incomplete_details": None,
        "model": body.get("model"),
        "output": [],
        **{name: default if body.get(name) is None else body[name] for name, default in _ECHOED.items()},
    }


def _end(response: dict[str, Any], reply: Reply, body: dict[str, Any], *, output: list[Item]) -> dict[str, Any]:
    ended = {**response, "status": reply.status, "output": output}
    if reply.status == "completed":
        ended["completed_at"] = int(time.time())
    elif reply.status == "incomplete":
        ended["incomplete_details"] = {"reason": "max_output_tokens"}
    else:
        ended["error"] = _FAILED
    if reply.reports_usage and reply.status != "failed":
        ended["usage"] = _usage(reply, body)
    return ended


def _usage(reply: Reply, body: dict[str, Any]) -> dict[str, Any]:
    reasoning = sum(estimate_tokens(_content(part)) for part in reply.parts if isinstance(part, Reasoning))
    sent = estimate_input_tokens(body)
    made = sum(estimate_tokens(_content(part)) for part in reply.parts)
    return {
        "input_tokens": sent,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": made,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": sent + made,
    }


def _content(part: Part) -> str:
    match part:
        case Text(text) | Refusal(text):
            return text
        case FunctionCall(name, arguments):
            return name + arguments
        case Reasoning(encrypted_content):
            return encrypted_content


def _items(reply: Reply) -> list[Item]:
    """The items of ``reply``, whole; where it ran out of tokens, the last one says so itself."""
    items = [_item(part) for part in reply.parts]
    if reply.status == "incomplete" and items:
        items[-1]["status"] = "incomplete"
    return items


def _item(part: Part) -> Item:
    match part:
        case Text() | Refusal():
            return {
                "id": new_id("msg"),
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [_content_part(part)],
            }
        case FunctionCall(name, arguments):
            return {
                "id": new_id("fc"),
                "type": "function_call",
                "status": "completed",
                "call_id": new_id("call"),
                "name": name,
                "arguments": arguments,
            }
        case Reasoning(encrypted_content):
            return {"id": new_id("rs"), "type": "reasoning", "summary": [], "encrypted_content": encrypted_content}


def _content_part(part: Text | Refusal) -> dict[str, Any]:
    if isinstance(part, Refusal):
        return {"type": "refusal", "refusal": part.text}
    return {"type": "output_text", "text": part.text, "annotations": [], "logprobs": []}


def _begun(item: Item) -> Item:
    """The item as it looks when it is announced: nothing of its content is there yet."""
    empty: dict[str, Item] = {
        "message": {"content": []},
        "function_call": {"arguments": ""},
        "reasoning": {"encrypted_content": ""},
    }
    status = {"status": "in_progress"} if "status" in item else {}
    return {**item, **status, **empty[item["type"]]}


def _progress(item: Item, part: Part) -> Iterator[tuple[str, dict[str, Any]]]:
    """The events between an item's announcement and its end: (type, fields)."""
    match part:
        case Text(text):
            yield "response.content_part.added", {"content_index": 0, "part": _content_part(Text(""))}
            for piece in text_pieces(text):
                yield "response.output_text.delta", {"content_index": 0, "delta": piece, "logprobs": []}
            yield "response.output_text.done", {"content_index": 0, "text": text, "logprobs": []}
            yield "response.content_part.done", {"content_index": 0, "part": _content_part(part)}
        case Refusal(text):
            yield "response.content_part.added", {"content_index": 0, "part": _content_part(Refusal(""))}
            for piece in text_pieces(text):
                yield "response.refusal.delta", {"content_index": 0, "delta": piece}
            yield "response.refusal.done", {"content_index": 0, "refusal": text}
            yield "response.content_part.done", {"content_index": 0, "part": _content_part(part)}
        case FunctionCall(name, arguments):
            for start in range(0, len(arguments), ARGUMENT_PIECE):
                yield "response.function_call_arguments.delta", {"delta": arguments[start : start + ARGUMENT_PIECE]}
            yield "response.function_call_arguments.done", {"name": name, "arguments": arguments}
        case Reasoning():
            return
