"""The spans of a turn: its steps as they are shown, each with its time and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from memora.errors import Failure
from memora.memory.values import (
    Candidate,
    MemoryChange,
    MemoryReconciliationDecision,
    ProfileUpdate,
    RecalledMemory,
    RefusedCandidate,
)
from memora.model import Item, TokenSource, Usage
from memora.turn.events import ContextPrepared

SpanStatus = Literal["running", "ok", "error", "skipped"]


@dataclass(frozen=True, kw_only=True)
class RecallSpan:
    """Retrieval from long-term memory."""

    started_at: float
    took_ms: float | None = None
    status: SpanStatus = "running"
    query: str = ""
    memories: tuple[RecalledMemory, ...] = ()
    profile_fields: int = 0
    memory_enabled: bool = True
    degraded: str | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    touched: tuple[str, ...] = ()
    touch_failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class SummarySpan:
    """One folding of old messages into the running summary."""

    started_at: float
    took_ms: float
    status: SpanStatus
    messages: int
    summary: str = ""
    usage: Usage | None = None
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class ServerCount:
    """What the server said of an input: its ``tokens``, and how many more (or, below 0, fewer) than estimated."""

    tokens: int
    source: TokenSource
    difference: int


@dataclass(frozen=True, kw_only=True)
class ContextSpan:
    """The context window, as prepared. ``server`` is there once the server has said how large it was."""

    started_at: float
    took_ms: float
    status: SpanStatus
    stats: ContextPrepared
    server: ServerCount | None = None


@dataclass(frozen=True, kw_only=True)
class RequestSpan:
    """One request to the model."""

    number: int
    started_at: float
    body: dict[str, Any]
    took_ms: float | None = None
    first_token_ms: float | None = None
    status: SpanStatus = "running"
    response_status: str = ""
    response_id: str = ""
    model: str = ""
    output: tuple[Item, ...] = ()
    text: str = ""
    usage: Usage | None = None
    failure: Failure | None = None
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class CallSpan:
    """One function call: asked for, executed or not, answered or not."""

    call_id: str
    name: str
    started_at: float
    arguments: str = ""
    took_ms: float | None = None
    status: SpanStatus = "running"
    output: str = ""
    not_executed: str = ""


@dataclass(frozen=True, kw_only=True)
class LearningSpan:
    """The write path. ``profile`` is what was proposed, ``learned_profile`` what of it was written."""

    started_at: float
    took_ms: float | None = None
    status: SpanStatus = "running"
    attempt: int = 1
    accepted: tuple[Candidate, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    profile: tuple[ProfileUpdate, ...] = ()
    decisions: tuple[MemoryReconciliationDecision, ...] = ()
    changes: tuple[MemoryChange, ...] = ()
    learned_profile: tuple[ProfileUpdate, ...] = ()
    extraction_usage: Usage | None = None
    reconciliation_usage: Usage | None = None
    already_done: bool = False
    skipped: str = ""
    failure: Failure | None = None
    will_retry: bool = False


Span = RecallSpan | SummarySpan | ContextSpan | RequestSpan | CallSpan | LearningSpan
