"""From the events of a Responses stream to Memora's. Servers leave things out; a terminal event they may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from memora.errors import BadResponse, StreamCut
from memora.model import (
    CallAnnounced,
    Item,
    ModelEvent,
    ModelResponse,
    ResponseEnded,
    ResponseStatus,
    TextDelta,
    Usage,
)
from memora.providers.openai.failures import Endpoint, Report, reported_error
from memora.providers.openai.items import as_dict, sendable_items, well_formed

MAX_TOKENS = 1_000_000_000
"""A larger count of one request's tokens is nonsense, and a far larger one would not fit into the record."""


def read_stream(events: Iterable[Any], *, endpoint: Endpoint) -> Iterator[ModelEvent]:
    """The model events in the SDK's ``events``, up to `ResponseEnded`; what follows is left unread.

    Raises `StreamCut` when the stream ends without a terminal event, and the error of an ``error`` event.
    Events of unknown types are passed over.
    """
    draft = _Draft()
    for event in events:
        match getattr(event, "type", None):
            case "response.output_text.delta" | "response.refusal.delta" as kind:
                piece = getattr(event, "delta", None)
                if isinstance(piece, str) and piece:
                    text = well_formed(piece)
                    draft.add_text(text, is_refusal=kind == "response.refusal.delta")
                    yield TextDelta(text=text)
            case "response.output_item.added":
                yield from _announcement(as_dict(getattr(event, "item", None)))
            case "response.output_item.done":
                draft.add_item(getattr(event, "item", None), index=getattr(event, "output_index", None))
            case "response.completed" | "response.incomplete" | "response.failed" as kind:
                response = as_dict(getattr(event, "response", None))
                yield ResponseEnded(response=_response(response, kind=kind, draft=draft, endpoint=endpoint))
                return
            case "error":
                raise reported_error(Report.of(as_dict(event)), endpoint=endpoint)
    raise StreamCut("the stream ended without a terminal event")


def read_whole(body: object, *, endpoint: Endpoint) -> Iterator[ModelEvent]:
    """The model events of a response that came in one piece, from a server that does not stream.

    Raises `BadResponse` when ``body`` is no response.
    """
    response = as_dict(body)
    if error := as_dict(response.get("error")):
        raise reported_error(Report.of(error), endpoint=endpoint)
    if not isinstance(response.get("output"), list):
        raise BadResponse("the server sent JSON that is no response")
    kind = f"response.{response.get('status')}"
    ended = _response(response, kind=kind, draft=_Draft(), endpoint=endpoint)
    if text := ended.text or ended.refusal:
        yield TextDelta(text=text)
    yield ResponseEnded(response=ended)


class _Draft:
    """What has come of the output, for servers whose terminal event leaves it out."""

    def __init__(self) -> None:
        self._items: list[tuple[object, Any]] = []
        self._parts: list[Item] = []

    def add_item(self, item: Any, *, index: object) -> None:
        """Add a finished item, unless it came before: some servers say things twice."""
        if (index, item) not in self._items:
            self._items.append((index, item))

    def add_text(self, text: str, *, is_refusal: bool) -> None:
        kind, name = ("refusal", "refusal") if is_refusal else ("output_text", "text")
        if not self._parts or self._parts[-1]["type"] != kind:
            self._parts.append({"type": kind, name: ""})
        self._parts[-1][name] += text

    @property
    def output(self) -> list[Any]:
        """The items that were finished, in their order; a message of the text when there is none."""
        if self._items:
            indices = [index if isinstance(index, int) else arrival for arrival, (index, _) in enumerate(self._items)]
            return [item for _, (_, item) in sorted(zip(indices, self._items, strict=True), key=lambda pair: pair[0])]
        return [{"type": "message", "role": "assistant", "content": self._parts}] if self._parts else []


def _announcement(item: Item) -> Iterator[CallAnnounced]:
    call_id, name = item.get("call_id"), item.get("name")
    if item.get("type") == "function_call" and isinstance(call_id, str) and isinstance(name, str):
        yield CallAnnounced(call_id=call_id, name=name)


def _response(response: Mapping[str, Any], *, kind: str, draft: _Draft, endpoint: Endpoint) -> ModelResponse:
    status = _status(response, kind=kind)
    failure = None
    if status == "failed":
        error = as_dict(response.get("error"))
        failure = reported_error(Report.of(error, fallback="no reason given"), endpoint=endpoint).as_failure()
    output = response.get("output")
    return ModelResponse(
        response_id=str(response.get("id") or ""),
        model=str(response.get("model") or endpoint.model),
        status=status,
        output=sendable_items(output if isinstance(output, list) else ()) or sendable_items(draft.output),
        usage=_usage(as_dict(response.get("usage"))),
        incomplete_reason=as_dict(response.get("incomplete_details")).get("reason"),
        failure=failure,
    )


def _status(response: Mapping[str, Any], *, kind: str) -> ResponseStatus:
    """The worst of what the event and the response say: only what both call completed is complete."""
    said = {kind, f"response.{response.get('status') or 'completed'}"}
    if "response.failed" in said:
        return "failed"
    return "incomplete" if "response.incomplete" in said else "completed"


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    """The reported usage; None when there is none, or one without the two numbers that count."""
    input_tokens, output_tokens = _count(usage, "input_tokens"), _count(usage, "output_tokens")
    if not input_tokens or output_tokens is None:
        return None
    return Usage(
        input_tokens=input_tokens,
        cached_tokens=_count(as_dict(usage.get("input_tokens_details")), "cached_tokens") or 0,
        output_tokens=output_tokens,
        reasoning_tokens=_count(as_dict(usage.get("output_tokens_details")), "reasoning_tokens") or 0,
    )


def _count(counts: Mapping[str, Any], name: str) -> int | None:
    return token_count(counts.get(name))


def token_count(value: object) -> int | None:
    """``value`` as a number of tokens; None for anything else, and for more than `MAX_TOKENS`."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS:
        return value
    return None
