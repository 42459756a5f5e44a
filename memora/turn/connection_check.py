"""Test connection: the flow of a real turn against the server that is connected, told step by step.

One question that needs the function, so two requests with a call between them, then one structured answer.
Nothing of it is stored, and nothing personal is sent.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from memora.errors import AuthenticationFailed, BadResponse, Failure, ModelError, ModelTimedOut, ModelUnreachable
from memora.model import CancelToken, LanguageModel, ModelRequest
from memora.prompts import render
from memora.structured import ask, quoting
from memora.turn.events import CallFinished, CallNotExecuted, Event, RequestFinished, RequestStarted, TextArrived
from memora.turn.flow import ModelReply, run_model_with_tools

StepName = Literal["reach", "model", "answer", "stream", "call", "result", "one_call", "structured", "usage", "count"]
StepState = Literal["ok", "partly", "failed", "skipped"]
"""``partly``: Memora works all the same, and says what is different."""

STEPS: tuple[StepName, ...] = (
    "reach",
    "model",
    "answer",
    "stream",
    "call",
    "result",
    "one_call",
    "usage",
    "structured",
    "count",
)
"""In the order in which they are told."""

QUESTION = "How many English words are in this sentence? “The quick brown fox jumps over the lazy dog.” Use digits."

E = TypeVar("E")


@dataclass(frozen=True, kw_only=True)
class Step:
    """What one step found. ``note`` is the code of a remark, ``failure`` what went wrong."""

    name: StepName
    state: StepState
    note: str = ""
    params: dict[str, Any] = field(default_factory=dict)
    failure: Failure | None = None


class _Colour(BaseModel):
    """What the structured request asks for."""

    model_config = ConfigDict(extra="forbid")

    colour: Literal["red", "green", "blue"]


def check_connection(
    *,
    model_for: Callable[[], LanguageModel],
    list_models: Callable[[], Sequence[str]],
    cancel: CancelToken,
) -> Iterator[Step]:
    """Try the connection; yields every step of `STEPS`, in order, as it is known.

    ``list_models`` gives the names of the server's models or raises `ModelError`; by them the kind of server may be
    told, so ``model_for`` is asked for the model only then. Raises `Cancelled`.
    """
    reached, known = _reach(list_models)
    yield reached
    model = model_for()
    yield _find_model(model.name, known)
    if reached.state == "failed":
        yield from _skipped("answer")
        return
    flow = _Flow()
    reply = run_model_with_tools(
        input_messages=[{"type": "message", "role": "user", "content": QUESTION}],
        model=model,
        instructions=render("connection_check"),
        emit=flow.events.append,
        cancel=cancel,
    )
    cancel.raise_if_cancelled()
    if reply.failure and (not reply.text or reply.requests == 1):
        yield Step(name="answer", state="failed", failure=reply.failure)
        yield from _skipped("stream")
        return
    yield Step(name="answer", state="ok", params={"requests": reply.requests})
    yield from flow.steps(reply)
    yield _structured(model, cancel)
    yield _count(model, flow.of(RequestStarted)[0].body, cancel)


def _reach(list_models: Callable[[], Sequence[str]]) -> tuple[Step, Sequence[str]]:
    """Whether anybody is there. A server without a list of models is reached all the same."""
    try:
        names = list_models()
    except (ModelUnreachable, ModelTimedOut, AuthenticationFailed) as error:
        return Step(name="reach", state="failed", failure=error.as_failure()), ()
    except ModelError:  # somebody is there; a key may not be allowed to see the list
        return Step(name="reach", state="partly", note="no_model_list"), ()
    return Step(name="reach", state="ok", params={"count": len(names)}), names


def _find_model(name: str, known: Sequence[str]) -> Step:
    if not known:
        return Step(name="model", state="skipped")
    if name in known:
        return Step(name="model", state="ok", params={"model": name})
    some = ", ".join(known[:5])
    return Step(name="model", state="partly", note="model_not_listed", params={"model": name, "some": some})


def _skipped(first: StepName) -> Iterator[Step]:
    for name in STEPS[STEPS.index(first) :]:
        yield Step(name=name, state="skipped")


@dataclass
class _Flow:
    """What was told of the two requests, and what it says about the server."""

    events: list[Event] = field(default_factory=list)

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def _second(self) -> RequestStarted | None:
        """Request 2; a request 1 that was refused and sent again is none."""
        return next((started for started in self.of(RequestStarted) if started.number == 2), None)

    def steps(self, reply: ModelReply) -> Iterator[Step]:
        yield self._stream()
        yield self._call()
        yield self._result(reply)
        yield self._one_call()
        yield self._usage()

    def _stream(self) -> Step:
        pieces = max(Counter(event.number for event in self.of(TextArrived)).values(), default=0)
        if pieces > 1:
            return Step(name="stream", state="ok", params={"pieces": pieces})
        return Step(name="stream", state="partly", note="in_one_piece")

    def _call(self) -> Step:
        finished = self.of(CallFinished)
        if not finished:
            return Step(name="call", state="partly", note="no_call")
        if not finished[0].ok:
            return Step(name="call", state="partly", note="bad_call", params={"output": finished[0].output})
        return Step(name="call", state="ok")

    def _result(self, reply: ModelReply) -> Step:
        if self._second is None:
            return Step(name="result", state="skipped")
        if reply.failure:
            return Step(name="result", state="partly", note="no_second_answer", failure=reply.failure)
        if not any(_says(reply.text, finished.output) for finished in self.of(CallFinished)):
            return Step(name="result", state="partly", note="result_unused")
        return Step(name="result", state="ok")

    def _one_call(self) -> Step:
        if self._second is None:
            return Step(name="one_call", state="skipped")
        if any(left.number == 2 for left in self.of(CallNotExecuted)):
            return Step(name="one_call", state="partly", note="calls_again")
        if "tools" not in self._second.body:
            return Step(name="one_call", state="ok", note="no_tools_offered")
        return Step(name="one_call", state="ok")

    def _usage(self) -> Step:
        reported = [event.usage for event in self.of(RequestFinished)]
        if all(usage and usage.source == "reported" for usage in reported):
            return Step(name="usage", state="ok")
        return Step(name="usage", state="partly", note="no_usage")


def _says(text: str, output: str) -> bool:
    """Whether ``text`` names the number that the function has returned; a complaint may be answered in any words."""
    returned = json.loads(output)
    if not returned["ok"]:
        return True
    return re.search(rf"(?<!\d){returned['result']['word_count']}(?!\d)", text) is not None


def _structured(model: LanguageModel, cancel: CancelToken) -> Step:
    request = ModelRequest(
        purpose="check",
        instructions=render("connection_check_structured"),
        input=quoting({"sentence": "The sky is blue."}),
    )
    try:
        answer = ask(model, request, name="connection_check", answer_type=_Colour, cancel=cancel)
    except BadResponse:
        return Step(name="structured", state="partly", note="not_structured")
    except ModelError as error:
        return Step(name="structured", state="partly", note="not_found_out", failure=error.as_failure())
    if answer.requests > 1:
        return Step(name="structured", state="partly", note="structured_at_second_try")
    return Step(name="structured", state="ok")


def _count(model: LanguageModel, body: dict[str, Any], cancel: CancelToken) -> Step:
    try:
        tokens = model.count_input_tokens(body, cancel=cancel)
    except ModelError as error:
        return Step(name="count", state="partly", note="not_found_out", failure=error.as_failure())
    if tokens is None:
        return Step(name="count", state="partly", note="no_count")
    return Step(name="count", state="ok", params={"tokens": tokens})
