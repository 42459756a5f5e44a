"""One turn, told: the fold of its events, live or stored.

`fold` is the only way from events to a `Trace`, and the page draws nothing but traces, so a running turn
and one read back after a restart cannot look different.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, assert_never

from pydantic import AliasChoices, Field

from memora.errors import Failure
from memora.model import FromOldRecords, TokenSource, Usage
from memora.turn import events as ev
from memora.turn.spans import (
    CallSpan,
    ContextSpan,
    LearningSpan,
    RecallSpan,
    RequestSpan,
    ServerCount,
    Span,
    SpanStatus,
    SummarySpan,
)


@dataclass(frozen=True, kw_only=True)
class Trace:
    """A turn as its spans in order. ``live_text`` is what has streamed in so far."""

    started_at: float | None = None
    state: ev.TurnState = "queued"
    user_message: str = ""
    model: str = ""
    live_text: str = ""
    reply: str = ""
    took_ms: float | None = None
    response_tokens: int = 0
    usage: Usage = field(default_factory=Usage)
    failure: Failure | None = None
    spans: tuple[Span, ...] = ()

    @property
    def requests(self) -> tuple[RequestSpan, ...]:
        """The requests of the answer, in order."""
        return tuple(span for span in self.spans if isinstance(span, RequestSpan))

    @property
    def calls(self) -> tuple[CallSpan, ...]:
        """The function calls, in order."""
        return tuple(span for span in self.spans if isinstance(span, CallSpan))

    @property
    def recall(self) -> RecallSpan | None:
        """The retrieval, if it has begun."""
        return next((span for span in self.spans if isinstance(span, RecallSpan)), None)

    @property
    def context(self) -> ContextSpan | None:
        """The context window, if it has been prepared."""
        return next((span for span in self.spans if isinstance(span, ContextSpan)), None)

    @property
    def learning(self) -> LearningSpan | None:
        """The write path, if it has begun."""
        return next((span for span in self.spans if isinstance(span, LearningSpan)), None)

    def digest(self) -> TraceDigest:
        """What the closed panel shows: small enough to keep beside the turn."""
        learning = self.learning
        return TraceDigest(
            state=self.state,
            tools=tuple(call.name for call in self.calls if not call.not_executed),
            requests=len(self.requests),
            total_tokens=self.usage.total_tokens,
            source=self.usage.source,
            took_ms=self.took_ms,
            recalled=len(self.recall.memories) if self.recall else 0,
            remembered=len([c for c in learning.changes if c.action != "skip"]) if learning else 0,
            has_error=any(span.status == "error" for span in self.spans) or self.failure is not None,
        )


@dataclass(frozen=True, kw_only=True)
class TraceDigest:
    """A trace in one line."""

    state: ev.TurnState = "queued"
    tools: tuple[str, ...] = ()
    requests: int = 0
    total_tokens: int = 0
    source: Annotated[TokenSource, Field(validation_alias=AliasChoices("source", "estimated")), FromOldRecords] = (
        "reported"
    )
    took_ms: float | None = None
    recalled: int = 0
    remembered: int = 0
    has_error: bool = False


def fold(events: Iterable[ev.Event]) -> Trace:
    """The trace that ``events`` tell so far."""
    trace = Trace()
    for event in events:
        trace = advance(trace, event)
    return trace


def advance(trace: Trace, event: ev.Event) -> Trace:
    """``trace`` after one more event. Events about spans that never began are taken as they are."""
    match event:
        case ev.TurnStarted():
            return replace(
                trace,
                started_at=event.at,
                state="running",
                user_message=event.user_message,
                model=event.model,
            )
        case ev.TextArrived():
            return replace(trace, live_text=trace.live_text + event.text)
        case ev.RecallStarted() | ev.RecallFinished() | ev.MemoriesTouched():
            return _advance_recall(trace, event)
        case ev.SummaryMade() | ev.SummaryFailed() | ev.ContextPrepared():
            return _advance_context(trace, event)
        case ev.RequestStarted() | ev.RequestFinished():
            return _advance_request(trace, event)
        case ev.CallArriving() | ev.CallStarted() | ev.CallFinished() | ev.CallNotExecuted():
            return _advance_call(trace, event)
        case ev.InputTokensCounted():
            return _count(trace, event)
        case ev.TurnFinished():
            return _finish(trace, event)
        case (
            ev.LearningStarted()
            | ev.CandidatesExtracted()
            | ev.DecisionsMade()
            | ev.LearningFinished()
            | ev.LearningSkipped()
            | ev.LearningFailed()
        ):
            return _advance_learning(trace, event)
        case _:
            assert_never(event)


def _begin(event_at: float, took_ms: float) -> float:
    return event_at - took_ms / 1000


def _add(trace: Trace, span: Span) -> Trace:
    return replace(trace, spans=(*trace.spans, span))


def _put(trace: Trace, old: Span, new: Span) -> Trace:
    return replace(trace, spans=tuple(new if span is old else span for span in trace.spans))


def _advance_recall(trace: Trace, event: ev.RecallStarted | ev.RecallFinished | ev.MemoriesTouched) -> Trace:
    span = trace.recall
    if span is None:
        trace = _add(trace, RecallSpan(started_at=event.at))
        span = trace.recall
        assert span is not None
    match event:
        case ev.RecallStarted():
            return _put(trace, span, replace(span, query=event.query))
        case ev.RecallFinished():
            status: SpanStatus = "error" if event.failure else "ok" if event.memory_enabled else "skipped"
            return _put(
                trace,
                span,
                replace(
                    span,
                    took_ms=event.took_ms,
                    status=status,
                    memories=event.memories,
                    profile_fields=event.profile_fields,
                    memory_enabled=event.memory_enabled,
                    degraded=event.degraded,
                    timings_ms=event.timings_ms,
                    failure=event.failure,
                ),
            )
        case ev.MemoriesTouched():
            return _put(trace, span, replace(span, touched=event.memory_ids, touch_failure=event.failure))
        case _:
            assert_never(event)


def _advance_context(trace: Trace, event: ev.SummaryMade | ev.SummaryFailed | ev.ContextPrepared) -> Trace:
    started_at = _begin(event.at, event.took_ms)
    match event:
        case ev.SummaryMade():
            span: Span = SummarySpan(
                started_at=started_at,
                took_ms=event.took_ms,
                status="ok",
                messages=event.folded_messages,
                summary=event.summary,
                usage=event.usage,
            )
        case ev.SummaryFailed():
            span = SummarySpan(
                started_at=started_at,
                took_ms=event.took_ms,
                status="error",
                messages=event.left_out_messages,
                failure=event.failure,
            )
        case ev.ContextPrepared():
            span = ContextSpan(started_at=started_at, took_ms=event.took_ms, status="ok", stats=event)
        case _:
            assert_never(event)
    return _add(trace, span)


def _advance_request(trace: Trace, event: ev.RequestStarted | ev.RequestFinished) -> Trace:
    match event:
        case ev.RequestStarted():
            span = RequestSpan(number=event.number, started_at=event.at, body=event.body, dropped=event.dropped)
            # A request that starts again (a parameter was refused) replaces its first attempt.
            for old in trace.requests:
                if old.number == event.number:
                    return _put(trace, old, span)
            return _add(replace(trace, live_text=""), span)
        case ev.RequestFinished():
            for old in trace.requests:
                if old.number == event.number:
                    break
            else:
                old = RequestSpan(number=event.number, started_at=_begin(event.at, event.took_ms), body={})
                trace = _add(trace, old)
            status: SpanStatus = "error" if event.failure or event.status == "failed" else "ok"
            return _put(
                _measured(trace, number=event.number, usage=event.usage),
                old,
                replace(
                    old,
                    took_ms=event.took_ms,
                    first_token_ms=event.first_token_ms,
                    status=status,
                    response_status=event.status,
                    response_id=event.response_id,
                    model=event.model,
                    output=event.output,
                    text=event.text,
                    usage=event.usage,
                    failure=event.failure,
                ),
            )
        case _:
            assert_never(event)


def _advance_call(
    trace: Trace, event: ev.CallArriving | ev.CallStarted | ev.CallFinished | ev.CallNotExecuted
) -> Trace:
    old = next((call for call in trace.calls if call.call_id == event.call_id and call.status == "running"), None)
    match event:
        case ev.CallArriving():
            return _add(trace, CallSpan(call_id=event.call_id, name=event.name, started_at=event.at))
        case ev.CallStarted():
            new = CallSpan(call_id=event.call_id, name=event.name, started_at=event.at, arguments=event.arguments)
        case ev.CallFinished():
            base = old or CallSpan(call_id=event.call_id, name="", started_at=_begin(event.at, event.took_ms))
            new = replace(base, took_ms=event.took_ms, status="ok" if event.ok else "error", output=event.output)
        case ev.CallNotExecuted():
            new = CallSpan(
                call_id=event.call_id,
                name=event.name,
                started_at=event.at,
                arguments=event.arguments,
                status="skipped",
                output=event.output,
                not_executed=event.reason,
            )
        case _:
            assert_never(event)
    return _put(trace, old, new) if old else _add(trace, new)


def _measured(trace: Trace, *, number: int, usage: Usage | None) -> Trace:
    """What the server says of request 1 is said of the context window too. Its first word stands."""
    context = trace.context
    if number != 1 or context is None or context.server or not usage or usage.input_source == "estimated":
        return trace
    tokens = usage.input_tokens
    server = ServerCount(tokens=tokens, source=usage.input_source, difference=tokens - context.stats.input_tokens)
    return _put(trace, context, replace(context, server=server))


def _count(trace: Trace, event: ev.InputTokensCounted) -> Trace:
    """A count takes the place of an estimate, never of what was reported."""
    for request in trace.requests:
        if request.number == event.number and request.usage and request.usage.input_source == "estimated":
            usage = replace(request.usage, input_tokens=event.input_tokens, input_source="counted")
            trace = _put(trace, request, replace(request, usage=usage))
            total = sum((request.usage for request in trace.requests if request.usage), Usage())
            trace = replace(trace, usage=total, response_tokens=total.total_tokens)
            return _measured(trace, number=event.number, usage=usage)
    return trace


def _finish(trace: Trace, event: ev.TurnFinished) -> Trace:
    """The turn is over: nothing in it goes on running."""
    spans = tuple(_ended(span) for span in trace.spans)
    return replace(
        trace,
        spans=spans,
        state=event.state,
        reply=event.reply,
        took_ms=event.took_ms,
        response_tokens=event.response_tokens,
        usage=event.usage,
        failure=event.failure,
    )


def _ended(span: Span) -> Span:
    """A span that still ran is an error; a call whose arguments never came whole was not executed."""
    if span.status != "running":
        return span
    if isinstance(span, CallSpan) and not span.arguments:
        return replace(span, status="skipped", not_executed="response_incomplete")
    return replace(span, status="error")


_LearningEvent = (
    ev.LearningStarted
    | ev.CandidatesExtracted
    | ev.DecisionsMade
    | ev.LearningFinished
    | ev.LearningSkipped
    | ev.LearningFailed
)


def _advance_learning(trace: Trace, event: _LearningEvent) -> Trace:
    span = trace.learning
    if isinstance(event, ev.LearningStarted):
        new = LearningSpan(started_at=event.at, attempt=event.attempt)
        return _put(trace, span, new) if span else _add(trace, new)
    if span is None:
        trace = _add(trace, LearningSpan(started_at=event.at))
        span = trace.learning
        assert span is not None
    match event:
        case ev.CandidatesExtracted():
            new = replace(
                span,
                accepted=event.accepted,
                refused=event.refused,
                profile=event.profile,
                extraction_usage=event.usage,
            )
        case ev.DecisionsMade():
            new = replace(span, decisions=event.decisions, reconciliation_usage=event.usage)
        case ev.LearningFinished():
            new = replace(
                span,
                took_ms=event.took_ms,
                status="ok",
                changes=event.changes,
                learned_profile=event.profile,
                already_done=event.already_done,
            )
        case ev.LearningSkipped():
            new = replace(span, took_ms=0.0, status="skipped", skipped=event.reason)
        case ev.LearningFailed():
            new = replace(
                span, took_ms=event.took_ms, status="error", failure=event.failure, will_retry=event.will_retry
            )
        case _:
            assert_never(event)
    return _put(trace, span, new)
