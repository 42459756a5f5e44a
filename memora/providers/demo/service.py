"""The demo service: what happens to a request body, before any transport carries it out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from memora.providers.demo.faults import Fault, FaultPlan, NoFaults, without_triggers
from memora.providers.demo.mind import think
from memora.providers.demo.request import read_request, records
from memora.providers.demo.spoiling import spoil
from memora.providers.demo.tokens import estimate_input_tokens
from memora.providers.demo.validation import complaint, counting_complaint
from memora.providers.demo.wire import Event, response_body, response_events

WORDS_PER_SECOND = 50.0
"""Quick, and still visibly a stream."""

_RETRY_SOON = {"retry-after-ms": "20", "retry-after": "1"}
_ENCRYPTED = "reasoning.encrypted_content"
_BROKEN: dict[str, Literal["cut", "end", "error"]] = {"cut": "cut", "end": "end", "error": "error"}


@dataclass(frozen=True, kw_only=True)
class Answered:
    """A complete HTTP answer. ``content`` is JSON or HTML; ``delay`` seconds pass before it."""

    status: int
    content: str
    content_type: str = "application/json"
    headers: dict[str, str]
    delay: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Streamed:
    """Frames of server-sent events, each with the seconds that pass before it; ``cut`` breaks the connection after."""

    frames: Iterator[tuple[float, str]]
    cut: bool = False


@dataclass(frozen=True)
class Unanswered:
    """No HTTP answer at all: the connection is refused, or nothing comes."""

    why: Literal["refused", "timeout"]


Outcome = Answered | Streamed | Unanswered


class DemoService:
    """Answers request bodies of ``POST /responses`` and counts those of ``POST /responses/input_tokens``.

    Safe across threads.
    """

    def __init__(self, *, faults: FaultPlan | None = None, words_per_second: float = WORDS_PER_SECOND) -> None:
        self._faults = faults or NoFaults()
        self._pause = 1 / words_per_second

    def respond(self, body: dict[str, Any]) -> Outcome:
        """The outcome of a request, with whatever the fault plan wants to go wrong."""
        if wrong := complaint(body):
            return api_error(400, *wrong)
        faults = self._faults.faults_for(body)
        for fault in faults:
            if fault.kind == "fail" and (failed := failure(fault.name, body)):
                return failed
        body = without_triggers(body)
        request = read_request(body)
        reply = spoil(think(body), faults, request)
        seconds = next((float(fault.name) for fault in faults if fault.kind == "slow"), None)
        broken = _broken(faults)
        if not body.get("stream"):
            if broken:
                return Unanswered("refused")
            whole = json.dumps(response_body(reply, body), ensure_ascii=False)
            return Answered(status=200, content=whole, headers={}, delay=seconds or 0.0)
        pause = self._pause if request.purpose == "answer" else 0.0
        events = list(response_events(reply, body))
        return Streamed(
            frames=_frames(_break(events, broken), _pause_before_deltas(events, pause, seconds)), cut=broken == "cut"
        )

    def count(self, body: dict[str, Any]) -> Answered:
        """How many input tokens ``body`` has: what `respond` reports as usage. Faults do not concern it."""
        if wrong := counting_complaint(body):
            return api_error(400, *wrong)
        tokens = estimate_input_tokens(without_triggers(body))
        counted = {"object": "response.input_tokens", "input_tokens": tokens}
        return Answered(status=200, content=json.dumps(counted), headers={})


def api_error(status: int, message: str, param: str | None = None, code: str | None = None) -> Answered:
    """An error as the API writes it."""
    error = {"message": message, "type": "invalid_request_error" if status < 500 else "server_error"}
    content = json.dumps({"error": error | {"param": param, "code": code}})
    return Answered(status=status, content=content, headers=_RETRY_SOON if status in (429, 503) else {})


def models(model: str) -> Answered:
    """The list of models: one."""
    entry = {"id": model, "object": "model", "created": 0, "owned_by": "memora"}
    return Answered(status=200, content=json.dumps({"object": "list", "data": [entry]}), headers={})


def failure(name: str, body: dict[str, Any]) -> Outcome | None:
    """The outcome of a fault that comes instead of an answer; None for the other faults."""
    match name:
        case "refused" | "timeout":
            return Unanswered(name)
        case "html":
            page = "<!doctype html><title>Sign in</title><p>This network wants you to sign in."
            return Answered(status=200, content=page, content_type="text/html", headers={})
        case "401":
            return api_error(401, "Incorrect API key provided.", code="invalid_api_key")
        case "429":
            return api_error(429, "Rate limit reached.", code="rate_limit_exceeded")
        case "quota":
            return api_error(429, "You exceeded your current quota.", code="insufficient_quota")
        case "model":
            return api_error(404, f"The model '{body['model']}' does not exist.", "model", "model_not_found")
        case "route":
            return Answered(status=404, content="404 page not found", content_type="text/plain", headers={})
        case "include" if _ENCRYPTED in (body.get("include") or ()):
            return api_error(400, "Encrypted content is not supported with this model.", "include")
        case "reasoning" if any(item.get("type") == "reasoning" for item in records(body["input"])):
            return api_error(400, "The encrypted content could not be verified.", code="invalid_encrypted_content")
        case status if status.isdigit():
            return api_error(int(status), f"The demo model was told to fail with {status}.")
        case _:
            return None


def _broken(faults: tuple[Fault, ...]) -> Literal["cut", "end", "error"] | None:
    return next((_BROKEN[fault.name] for fault in faults if fault.kind == "fail" and fault.name in _BROKEN), None)


def _break(events: list[Event], broken: Literal["cut", "end", "error"] | None) -> list[Event]:
    """The events up to the middle of their deltas, when something breaks there."""
    if broken is None:
        return events
    deltas = [index for index, event in enumerate(events) if "delta" in event]
    kept = events[: deltas[len(deltas) // 2] + 1] if deltas else events[:2]
    if broken == "error":
        error = {"code": "server_error", "message": "The demo model was told to fail.", "param": None}
        kept.append({"type": "error", **error, "sequence_number": len(kept)})
    return kept


def _pause_before_deltas(events: list[Event], pause: float, seconds: float | None) -> float:
    """The seconds before each delta: the usual pause, or a share of ``seconds``."""
    deltas = sum("delta" in event for event in events)
    return pause if seconds is None else seconds / max(deltas, 1)


def _frames(events: list[Event], pause: float) -> Iterator[tuple[float, str]]:
    for event in events:
        yield (
            pause if "delta" in event else 0.0,
            f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n",
        )
