"""One request to the model: sent, told as events, and brought to an end of some kind."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import assert_never

from memora.elapsed import ms_since
from memora.errors import Cancelled, Failure, ModelError, StreamCut
from memora.model import (
    CallAnnounced,
    CancelToken,
    Item,
    LanguageModel,
    ModelEvent,
    ModelRequest,
    ModelResponse,
    RequestSent,
    ResponseEnded,
    TextDelta,
    Usage,
)
from memora.turn.calls import with_distinct_call_ids
from memora.turn.estimate import CountTokens, estimate_usage
from memora.turn.events import CallArriving, Event, RequestFinished, RequestStarted, TextArrived


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """How a request ended: with a ``response``, or with an ``error`` after ``text`` had arrived or not."""

    sent: bool
    text: str
    usage: Usage
    response: ModelResponse | None = None
    error: ModelError | Cancelled | None = None

    @property
    def is_completed(self) -> bool:
        """Whether the response came whole; only then may its calls be run."""
        return self.response is not None and self.response.status == "completed"

    @property
    def output(self) -> tuple[Item, ...]:
        """The whole output, in order; empty without a response."""
        return self.response.output if self.response else ()

    @property
    def calls(self) -> tuple[Item, ...]:
        """The function calls of the response, each with a ``call_id`` of its own."""
        return self.response.function_calls if self.response else ()

    @property
    def failure(self) -> Failure | None:
        """Why there is no whole answer, if there is none. A call counts as an answer here."""
        if self.error:
            return self.error.as_failure()
        if self.response is None or self.response.status == "completed":
            return None
        if self.response.status == "failed":
            return self.response.failure or Failure(code="server_error")
        reason = self.response.incomplete_reason or ""
        code = "incomplete_filter" if reason == "content_filter" else "incomplete_length"
        return Failure(code=code, detail=f"incomplete: {reason or 'no reason given'}")


def exchange(
    request: ModelRequest,
    *,
    number: int,
    model: LanguageModel,
    emit: Callable[[Event], None],
    cancel: CancelToken,
    count_tokens: CountTokens,
    clock: Callable[[], float],
    known_items: int = 0,
    taken_call_ids: Collection[str] = (),
) -> Exchange:
    """Send ``request`` as number ``number`` of the turn. Every end comes back as a value; nothing is raised.

    ``known_items`` is how many items of the input an earlier request of the turn has told already.
    ``taken_call_ids`` are the call ids of earlier requests.
    """
    hearing = _Hearing(number=number, emit=emit, clock=clock, known_items=known_items, announced=set(taken_call_ids))
    error: ModelError | Cancelled | None = None
    try:
        for event in model.stream(request, cancel=cancel):
            hearing.hear(event)
        if hearing.response is None:
            raise StreamCut("the model's stream had no end")
    except (ModelError, Cancelled) as raised:
        error = raised
    response = hearing.response
    if response:
        response = replace(response, output=with_distinct_call_ids(response.output, taken=taken_call_ids))
    result = Exchange(
        sent=hearing.sent,
        text=_text_of(response) or hearing.text,
        usage=_usage(request, response, arrived=hearing.text, count_tokens=count_tokens),
        response=response,
        error=error,
    )
    if result.sent or not isinstance(error, Cancelled):
        emit(_finished(result, hearing=hearing))
    return result


@dataclass
class _Hearing:
    """What has arrived of a response, told as it comes."""

    number: int
    emit: Callable[[Event], None]
    clock: Callable[[], float]
    known_items: int
    announced: set[str]
    sent: bool = False
    response: ModelResponse | None = None
    first_token_ms: float | None = None
    pieces: list[str] = field(default_factory=list)
    started: float = field(default_factory=time.perf_counter)

    @property
    def text(self) -> str:
        return "".join(self.pieces)

    @property
    def took_ms(self) -> float:
        return ms_since(self.started)

    def hear(self, event: ModelEvent) -> None:
        match event:
            case RequestSent():
                self.sent = True
                body = {**event.body, "input": event.body.get("input", [])[self.known_items :]}
                self.emit(RequestStarted(at=self.clock(), number=self.number, body=body, dropped=event.dropped))
            case TextDelta():
                self._note_first_token()
                self.pieces.append(event.text)
                self.emit(TextArrived(at=self.clock(), number=self.number, text=event.text))
            case CallAnnounced():
                self._note_first_token()
                self._announce(event)
            case ResponseEnded():
                self.response = event.response
            case _:
                assert_never(event)

    def _note_first_token(self) -> None:
        if self.first_token_ms is None:
            self.first_token_ms = self.took_ms

    def _announce(self, call: CallAnnounced) -> None:
        """Tell of a call, unless its id cannot stay: it gets another one when the response has ended."""
        if not call.call_id or call.call_id in self.announced:
            return
        self.announced.add(call.call_id)
        self.emit(CallArriving(at=self.clock(), number=self.number, name=call.name, call_id=call.call_id))


def _text_of(response: ModelResponse | None) -> str:
    """The words for the reader: the answer, the refusal, or both."""
    if response is None:
        return ""
    return "\n\n".join(part for part in (response.text, response.refusal) if part)


def _usage(request: ModelRequest, response: ModelResponse | None, *, arrived: str, count_tokens: CountTokens) -> Usage:
    """What was reported; an estimate where the model worked and nothing was; nothing where it did not."""
    if response and response.usage:
        return response.usage
    worked = arrived or (response and response.status != "failed")
    if not worked:
        return Usage()
    output = response.output if response else ()
    return estimate_usage(request, output=output, text=arrived, count_tokens=count_tokens)


def _finished(result: Exchange, *, hearing: _Hearing) -> RequestFinished:
    response = result.response
    is_stopped = isinstance(result.error, Cancelled)
    return RequestFinished(
        at=hearing.clock(),
        number=hearing.number,
        took_ms=hearing.took_ms,
        first_token_ms=hearing.first_token_ms,
        status=response.status if response else "stopped" if is_stopped else "failed",
        response_id=response.response_id if response else "",
        model=response.model if response else "",
        output=result.output,
        text=result.text,
        usage=result.usage if result.usage.total_tokens else None,
        failure=None if is_stopped else result.failure,
    )
