"""What happens in a turn, as an append-only list of frozen values.

Events are the only thing the runner tells the page and the only thing a trace is made of. All but
`TextArrived` are stored. ``at`` is UTC seconds since the epoch, ``took_ms`` milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from memora.context.calibration import Calibration
from memora.errors import Failure
from memora.memory.values import (
    Candidate,
    MemoryChange,
    MemoryReconciliationDecision,
    ProfileUpdate,
    RecalledMemory,
    RefusedCandidate,
)
from memora.model import Item, Usage

TurnState = Literal["queued", "running", "done", "stopped", "cut_off", "failed", "interrupted"]
"""``cut_off``: the stream broke, what arrived is kept; ``interrupted``: the process ended in the middle."""

FINAL_STATES: frozenset[TurnState] = frozenset({"done", "stopped", "cut_off", "failed", "interrupted"})


@dataclass(frozen=True, kw_only=True)
class TurnStarted:
    """A worker took the turn."""

    type: Literal["turn_started"] = "turn_started"
    at: float
    user_message: str
    model: str


@dataclass(frozen=True, kw_only=True)
class RecallStarted:
    """Long-term memory is being searched."""

    type: Literal["recall_started"] = "recall_started"
    at: float
    query: str


@dataclass(frozen=True, kw_only=True)
class RecallFinished:
    """What came back. ``degraded``: why the index was not asked; ``failure``: why nothing was."""

    type: Literal["recall_finished"] = "recall_finished"
    at: float
    took_ms: float
    memories: tuple[RecalledMemory, ...] = ()
    profile_fields: int = 0
    memory_enabled: bool = True
    degraded: str | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class SummaryMade:
    """Old messages were folded into the running summary."""

    type: Literal["summary_made"] = "summary_made"
    at: float
    took_ms: float
    folded_messages: int
    summary: str
    usage: Usage


@dataclass(frozen=True, kw_only=True)
class SummaryFailed:
    """The summary could not be made; old turns were left out of this request, nothing is lost."""

    type: Literal["summary_failed"] = "summary_failed"
    at: float
    took_ms: float
    left_out_messages: int
    failure: Failure


@dataclass(frozen=True, kw_only=True)
class ContextPrepared:
    """The context window of this turn. ``parts`` maps each kind of content to its tokens.

    All are our estimates, corrected by ``calibration``.
    """

    type: Literal["context_prepared"] = "context_prepared"
    at: float
    took_ms: float
    max_input_tokens: int
    input_tokens: int
    reserved_input_tokens: int
    estimated_input_tokens: int
    context_messages: int
    newly_summarized_count: int
    summary_token_usage: Usage
    parts: dict[str, int] = field(default_factory=dict)
    left_out_messages: int = 0
    calibration: Calibration = field(default_factory=Calibration)


@dataclass(frozen=True, kw_only=True)
class RequestStarted:
    """Request ``number`` (1 or 2) left.

    ``body`` is what went over the wire; of request 2, ``body["input"]`` holds only the items that were
    added to request 1's input. ``dropped`` names parameters that the server had refused.
    """

    type: Literal["request_started"] = "request_started"
    at: float
    number: int
    body: dict[str, Any]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TextArrived:
    """A piece of text. Live only, never stored."""

    type: Literal["text_arrived"] = "text_arrived"
    at: float
    number: int
    text: str


@dataclass(frozen=True, kw_only=True)
class CallArriving:
    """The model began to ask for a function."""

    type: Literal["call_arriving"] = "call_arriving"
    at: float
    number: int
    name: str
    call_id: str


@dataclass(frozen=True, kw_only=True)
class RequestFinished:
    """Request ``number`` ended, well or not. ``text`` is text that came along (kept even beside a call)."""

    type: Literal["request_finished"] = "request_finished"
    at: float
    number: int
    took_ms: float
    first_token_ms: float | None
    status: Literal["completed", "incomplete", "failed", "stopped"]
    response_id: str = ""
    model: str = ""
    output: tuple[Item, ...] = ()
    text: str = ""
    usage: Usage | None = None
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class CallStarted:
    """A function is being executed."""

    type: Literal["call_started"] = "call_started"
    at: float
    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, kw_only=True)
class CallFinished:
    """The function's ``output`` as it goes back to the model: a JSON string."""

    type: Literal["call_finished"] = "call_finished"
    at: float
    call_id: str
    took_ms: float
    ok: bool
    output: str


@dataclass(frozen=True, kw_only=True)
class CallNotExecuted:
    """A call that the flow does not run: a second one, or one in request 2.

    ``output`` is what the model was told; empty when nothing is sent any more.
    """

    type: Literal["call_not_executed"] = "call_not_executed"
    at: float
    number: int
    call_id: str
    name: str
    arguments: str
    reason: Literal["only_one_call_per_turn", "no_call_in_second_request", "response_incomplete"]
    output: str = ""


@dataclass(frozen=True, kw_only=True)
class MemoriesTouched:
    """The recalled memories in the context were marked as used, or why not."""

    type: Literal["memories_touched"] = "memories_touched"
    at: float
    memory_ids: tuple[str, ...] = ()
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class TurnFinished:
    """The reply is committed. ``response_tokens`` is the sum of all requests of the answer."""

    type: Literal["turn_finished"] = "turn_finished"
    at: float
    took_ms: float
    state: TurnState
    reply: str
    response_tokens: int
    usage: Usage
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class InputTokensCounted:
    """After the answer, the server counted the input of request ``number``."""

    type: Literal["input_tokens_counted"] = "input_tokens_counted"
    at: float
    took_ms: float
    number: int
    input_tokens: int


@dataclass(frozen=True, kw_only=True)
class LearningStarted:
    """The write path began (again, when ``attempt`` is above 1)."""

    type: Literal["learning_started"] = "learning_started"
    at: float
    attempt: int = 1


@dataclass(frozen=True, kw_only=True)
class CandidatesExtracted:
    """What extraction proposed, and what of it the application refused."""

    type: Literal["candidates_extracted"] = "candidates_extracted"
    at: float
    took_ms: float
    accepted: tuple[Candidate, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    profile: tuple[ProfileUpdate, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class DecisionsMade:
    """What reconciliation decided. ``usage`` is None when no model was asked."""

    type: Literal["decisions_made"] = "decisions_made"
    at: float
    took_ms: float
    decisions: tuple[MemoryReconciliationDecision, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True, kw_only=True)
class LearningFinished:
    """What changed in the record. ``already_done``: an earlier attempt had stored it."""

    type: Literal["learning_finished"] = "learning_finished"
    at: float
    took_ms: float
    changes: tuple[MemoryChange, ...] = ()
    profile: tuple[ProfileUpdate, ...] = ()
    already_done: bool = False


@dataclass(frozen=True, kw_only=True)
class LearningSkipped:
    """Nothing is learned from this turn, and why."""

    type: Literal["learning_skipped"] = "learning_skipped"
    at: float
    reason: Literal["memory_off", "no_reply"]


@dataclass(frozen=True, kw_only=True)
class LearningFailed:
    """The write path failed; ``will_retry`` says whether it is tried again by itself."""

    type: Literal["learning_failed"] = "learning_failed"
    at: float
    took_ms: float
    failure: Failure
    will_retry: bool


Event = Annotated[
    TurnStarted
    | RecallStarted
    | RecallFinished
    | SummaryMade
    | SummaryFailed
    | ContextPrepared
    | RequestStarted
    | TextArrived
    | CallArriving
    | RequestFinished
    | CallStarted
    | CallFinished
    | CallNotExecuted
    | MemoriesTouched
    | TurnFinished
    | InputTokensCounted
    | LearningStarted
    | CandidatesExtracted
    | DecisionsMade
    | LearningFinished
    | LearningSkipped
    | LearningFailed,
    Field(discriminator="type"),
]

_ADAPTER: TypeAdapter[Event] = TypeAdapter(Event)


def event_to_json(event: Event) -> str:
    """The event as one line of JSON."""
    return _ADAPTER.dump_json(event).decode()


def event_from_json(text: str) -> Event:
    """The event that `event_to_json` wrote. Raises ``pydantic.ValidationError``."""
    return _ADAPTER.validate_json(text)
