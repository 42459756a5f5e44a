"""The language model as the rest of Memora sees it: a request goes in, stream events come out.

Items are plain dictionaries in the shape of OpenAI's Responses API (``message``, ``reasoning``,
``function_call``, ``function_call_output``), already cleaned so that they may be sent back as input.
Providers implement `LanguageModel`; nothing above them imports the SDK.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Protocol

from pydantic import AliasChoices, BeforeValidator, Field

from memora.errors import Cancelled, Failure, ServerFailed

Item = dict[str, Any]
Purpose = Literal["answer", "summary", "extraction", "reconciliation", "title", "check"]
ResponseStatus = Literal["completed", "incomplete", "failed"]

TokenSource = Literal["reported", "counted", "estimated"]
"""Who says how many tokens: the server with its answer, the server when asked to count, or we ourselves."""


def weakest(*sources: TokenSource) -> TokenSource:
    """Where a number comes from that is made of several."""
    return max(sources, key=("reported", "counted", "estimated").index)


def _as_source(value: object) -> object:
    """Records of the first versions say only whether a number was ``estimated``."""
    return ("estimated" if value else "reported") if isinstance(value, bool) else value


FromOldRecords = BeforeValidator(_as_source)
"""For a `TokenSource` that older records hold under the name ``estimated``."""


@dataclass(frozen=True, kw_only=True)
class OutputSchema:
    """A strict JSON schema that the answer has to follow (``text.format`` on the wire)."""

    name: str
    schema: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class ModelRequest:
    """What is asked of the model, before a provider turns it into a body.

    ``tools`` without ``tool_choice`` is an error; requests without tools leave both out.
    ``max_output_tokens`` includes reasoning tokens; None lets the server decide.
    """

    purpose: Purpose
    instructions: str
    input: tuple[Item, ...]
    tools: tuple[Item, ...] = ()
    tool_choice: Literal["auto", "none"] | None = None
    output_schema: OutputSchema | None = None
    max_output_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Usage:
    """Tokens of one request or of several; where they come from, the weakest source of all parts.

    A server can count what is sent to it, but not what it will answer: the two sources may differ.
    """

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    reasoning_tokens: int = 0
    input_source: Annotated[
        TokenSource, Field(validation_alias=AliasChoices("input_source", "estimated")), FromOldRecords
    ] = "reported"
    output_source: Annotated[
        TokenSource, Field(validation_alias=AliasChoices("output_source", "estimated")), FromOldRecords
    ] = "reported"

    @property
    def total_tokens(self) -> int:
        """Input and output together (cached and reasoning tokens are parts of them)."""
        return self.input_tokens + self.output_tokens

    @property
    def source(self) -> TokenSource:
        """Where the total comes from."""
        return weakest(self.input_source, self.output_source)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            reasoning_tokens=self.reasoning_tokens + other.reasoning_tokens,
            input_source=weakest(self.input_source, other.input_source),
            output_source=weakest(self.output_source, other.output_source),
        )


@dataclass(frozen=True, kw_only=True)
class ModelResponse:
    """A whole response: its items in order, ready to be sent back as input.

    ``usage`` is None where the server reports none. ``incomplete_reason`` is ``max_output_tokens`` or
    ``content_filter``; ``failure`` is set when ``status`` is ``failed``.
    """

    response_id: str
    model: str
    status: ResponseStatus
    output: tuple[Item, ...]
    usage: Usage | None = None
    incomplete_reason: str | None = None
    failure: Failure | None = None

    def raise_if_failed(self) -> None:
        """Raise `ServerFailed` with the server's reason when it called the response failed."""
        if self.status == "failed":
            raise ServerFailed(self.failure.detail if self.failure else "")

    @property
    def text(self) -> str:
        """The text of all assistant messages, joined."""
        return "".join(
            str(part.get("text") or "") for part in _content_parts(self.output) if part.get("type") == "output_text"
        )

    @property
    def refusal(self) -> str:
        """The refusal of all assistant messages, joined; empty when there is none."""
        return "".join(
            str(part.get("refusal") or "") for part in _content_parts(self.output) if part.get("type") == "refusal"
        )

    @property
    def function_calls(self) -> tuple[Item, ...]:
        """The ``function_call`` items, in order."""
        return tuple(item for item in self.output if item.get("type") == "function_call")


def rough_token_count(text: str) -> int:
    """Tokens without a tokenizer: a quarter of the bytes, which suits English and is near for Chinese."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def _content_parts(output: tuple[Item, ...]) -> Iterator[Item]:
    for item in output:
        content = item.get("content")
        if item.get("type") == "message" and isinstance(content, list):
            yield from (part for part in content if isinstance(part, dict))


@dataclass(frozen=True, kw_only=True)
class RequestSent:
    """The request left. ``body`` is what went over the wire; ``dropped`` names parameters given up on."""

    body: dict[str, Any]
    dropped: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class TextDelta:
    """A piece of the answer's (or the refusal's) text."""

    text: str


@dataclass(frozen=True, kw_only=True)
class CallAnnounced:
    """The model began to ask for a function; its arguments are still on their way."""

    call_id: str
    name: str


@dataclass(frozen=True, kw_only=True)
class ResponseEnded:
    """The last event of every stream that did not raise."""

    response: ModelResponse


ModelEvent = RequestSent | TextDelta | CallAnnounced | ResponseEnded


@dataclass
class CancelToken:
    """Set once by whoever presses Stop; asked, or waited on, by whoever works. Safe across threads.

    ``reason`` is ``stopped`` (the user) or ``interrupted`` (the process ends).
    """

    reason: Literal["", "stopped", "interrupted"] = ""
    _event: threading.Event = field(default_factory=threading.Event)
    _callbacks: list[Callable[[], None]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def cancel(self, reason: Literal["stopped", "interrupted"] = "stopped") -> None:
        """Cancel; runs the callbacks the first time."""
        with self._lock:
            if self._event.is_set():
                return
            self.reason = reason
            self._event.set()
            callbacks = tuple(self._callbacks)
        for callback in callbacks:
            callback()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._event.is_set()

    def raise_if_cancelled(self) -> None:
        """Raise `Cancelled` if `cancel` was called."""
        if self.cancelled:
            raise Cancelled

    def on_cancel(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` on `cancel`; at once if that has happened already."""
        with self._lock:
            if not self._event.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def wait(self, seconds: float) -> bool:
        """Sleep for ``seconds`` or until cancelled; True when cancelled."""
        return self._event.wait(seconds)


class LanguageModel(Protocol):
    """A model behind the Responses API. Implementations are safe to share between threads."""

    @property
    def name(self) -> str:
        """The model's name, as sent."""
        ...

    @property
    def host(self) -> str:
        """Where it runs: host and port, empty for OpenAI's own address and for the demo model."""
        ...

    def stream(self, request: ModelRequest, *, cancel: CancelToken) -> Iterator[ModelEvent]:
        """Send ``request`` and yield its events: `RequestSent` first, `ResponseEnded` last.

        Raises `ModelError` when the request fails or the stream breaks off, `Cancelled` soon after
        ``cancel`` is set, wherever the work is (connecting, backing off, reading).
        """
        ...

    def complete(self, request: ModelRequest, *, cancel: CancelToken) -> ModelResponse:
        """Send ``request`` and return the whole response. Raises like `stream`."""
        ...

    def count_input_tokens(self, body: Mapping[str, Any], *, cancel: CancelToken) -> int | None:
        """How many input tokens the server counts in ``body`` (of `RequestSent`), without answering it.

        None where the server does not count. Raises `ModelError` when it should have, and `Cancelled`.
        """
        ...
