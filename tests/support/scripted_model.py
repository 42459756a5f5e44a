"""A language model that follows a script: one step per request, and it keeps the requests.

A step is one of

- a string: the text of a completed answer;
- a `ModelResponse` (see `response`, `message`, `function_call`): streamed as a provider would;
- an exception: raised instead of an answer;
- a list of model events and exceptions: played in order, for answers that break off in the middle;
- a callable of the request and the cancel token that returns any of these.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeAlias

from memora.model import (
    CallAnnounced,
    CancelToken,
    Item,
    ModelEvent,
    ModelRequest,
    ModelResponse,
    RequestSent,
    ResponseEnded,
    TextDelta,
    Usage,
)

Played: TypeAlias = str | ModelResponse | BaseException | Sequence[ModelEvent | BaseException]
Step: TypeAlias = Played | Callable[[ModelRequest, CancelToken], Played]

SOME_USAGE = Usage(input_tokens=100, cached_tokens=20, output_tokens=10, reasoning_tokens=4)


def message(text: str) -> Item:
    """An assistant message."""
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def refusal(text: str) -> Item:
    """An assistant message that is a refusal."""
    part = {"type": "refusal", "refusal": text}
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]}


def function_call(name: str, arguments: str | dict[str, Any], *, call_id: str = "call_1") -> Item:
    """A request to run a function; a dictionary of arguments is encoded."""
    encoded = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return {"type": "function_call", "id": "fc_1", "call_id": call_id, "name": name, "arguments": encoded}


def reasoning(encrypted_content: str = "opaque") -> Item:
    """A reasoning item as it travels under ``store=False``."""
    return {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": encrypted_content}


def response(*items: Item, usage: Usage | None = SOME_USAGE, **fields: Any) -> ModelResponse:
    """A completed response of ``items``; ``fields`` overrides what `ModelResponse` has."""
    defaults: dict[str, Any] = {"response_id": "resp_1", "model": "scripted", "status": "completed"}
    return ModelResponse(**{**defaults, **fields}, output=items, usage=usage)


def structured(value: Any, *, usage: Usage | None = SOME_USAGE) -> ModelResponse:
    """An answer to a request with an output schema."""
    return response(message(json.dumps(value, ensure_ascii=False)), usage=usage)


class ScriptedModel:
    """A `LanguageModel` for tests. ``requests`` holds what it was asked; the script must not run out.

    ``counts`` are its answers when asked to count a body: a number, None, an exception, or a callable of the
    body and the cancel token that returns one of these. ``counted`` holds the bodies.
    """

    host = "scripted.test"

    def __init__(self, *script: Step, name: str = "scripted", counts: Iterable[Any] = ()) -> None:
        self.requests: list[ModelRequest] = []
        self.counted: list[dict[str, Any]] = []
        self._counts = list(counts)
        self._name = name
        self._script = list(script)
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return self._name

    @property
    def steps_left(self) -> int:
        return len(self._script)

    def stream(self, request: ModelRequest, *, cancel: CancelToken) -> Iterator[ModelEvent]:
        cancel.raise_if_cancelled()
        step = self._next_step(request)
        yield RequestSent(body=self._body(request))
        played = step(request, cancel) if callable(step) else step
        for event in _events(played):
            cancel.raise_if_cancelled()
            if isinstance(event, BaseException):
                raise event
            yield event

    def complete(self, request: ModelRequest, *, cancel: CancelToken) -> ModelResponse:
        for event in self.stream(request, cancel=cancel):
            if isinstance(event, ResponseEnded):
                return event.response
        raise AssertionError("the script's step has no end")

    def count_input_tokens(self, body: dict[str, Any], *, cancel: CancelToken) -> int | None:
        cancel.raise_if_cancelled()
        self.counted.append(body)
        step = self._counts.pop(0)
        count = step(body, cancel) if callable(step) else step
        if isinstance(count, BaseException):
            raise count
        return count

    def _next_step(self, request: ModelRequest) -> Step:
        with self._lock:
            self.requests.append(request)
            if not self._script:
                raise AssertionError(f"request {len(self.requests)} ({request.purpose}) is not in the script")
            return self._script.pop(0)

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {"model": self._name, "instructions": request.instructions, "input": [*request.input]}
        if request.tools:
            body |= {"tools": [*request.tools], "tool_choice": request.tool_choice, "parallel_tool_calls": False}
        return body


def _events(played: Played) -> Iterator[ModelEvent | BaseException]:
    if isinstance(played, str):
        played = response(message(played))
    if isinstance(played, BaseException):
        yield played
        return
    if not isinstance(played, ModelResponse):
        yield from played
        return
    for call in played.function_calls:
        yield CallAnnounced(call_id=call["call_id"], name=call["name"])
    text = played.text or played.refusal
    middle = len(text) // 2
    for piece in (text[:middle], text[middle:]):
        if piece:
            yield TextDelta(text=piece)
    yield ResponseEnded(response=played)
