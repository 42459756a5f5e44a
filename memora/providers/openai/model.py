"""A language model behind the Responses API, through the OpenAI client."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, Any

from memora.errors import BadResponse, ModelUnreachable, StreamCut
from memora.model import CancelToken, ModelEvent, ModelRequest, ModelResponse, RequestSent, ResponseEnded
from memora.providers.openai.body import Concession, build_body
from memora.providers.openai.counting import count_input_tokens
from memora.providers.openai.failures import Endpoint, as_model_error, endpoint_of, report_of, sdk_failures
from memora.providers.openai.pump import Line, pump
from memora.providers.openai.stream import read_stream, read_whole
from memora.providers.profiles import ANY, Profile

if TYPE_CHECKING:
    from openai import OpenAI

_INCLUDE_REFUSED = re.compile(r"encrypted content is not supported", re.IGNORECASE)
_REASONING_REFUSED = re.compile(r"invalid_encrypted_content|item (?:with id )?'rs_", re.IGNORECASE)


class OpenAIModel:
    """A `LanguageModel` on a server of ``profile``, which learns what that server does not take or obey.

    The client is built at the first request; one model serves all threads.
    """

    def __init__(
        self, *, client_factory: Callable[[], OpenAI], model: str, host: str = "", profile: Profile = ANY
    ) -> None:
        self._client_factory = client_factory
        self._model = model
        self._host = host
        self._profile = profile
        self._client: OpenAI | None = None
        self._lock = threading.Lock()
        self._refused: tuple[Concession, ...] = ()
        self._counts = True

    @property
    def name(self) -> str:
        """The model's name, as sent."""
        return self._model

    @property
    def host(self) -> str:
        """See `LanguageModel.host`."""
        return self._host

    def stream(self, request: ModelRequest, *, cancel: CancelToken) -> Iterator[ModelEvent]:
        """See `LanguageModel.stream`. The client retries what fails before the first event, with backoff."""
        cancel.raise_if_cancelled()
        heard: Generator[ModelEvent, None, None] = pump(lambda line: self._converse(request, line=line), cancel=cancel)
        with closing(heard):
            for event in heard:
                if isinstance(event, ResponseEnded) and request.tool_choice == "none" and event.response.function_calls:
                    self._give_up("tools")
                yield event

    def complete(self, request: ModelRequest, *, cancel: CancelToken) -> ModelResponse:
        """See `LanguageModel.complete`. It streams too: so no answer is too slow for the timeout."""
        for event in self.stream(request, cancel=cancel):
            if isinstance(event, ResponseEnded):
                return event.response
        raise StreamCut("the stream ended without a response")

    def count_input_tokens(self, body: Mapping[str, Any], *, cancel: CancelToken) -> int | None:
        """See `LanguageModel.count_input_tokens`. A server that does not count is not asked again."""
        cancel.raise_if_cancelled()
        if not self._counts:
            return None

        def ask(line: Line[int | None]) -> None:
            line.send(count_input_tokens(self._shared_client(), body, model=self._model))

        with closing(pump(ask, cancel=cancel)) as heard:
            tokens = next(heard)
        self._counts = tokens is not None
        return tokens

    def _converse(self, request: ModelRequest, *, line: Line[ModelEvent]) -> None:
        """Send the request, again without what the server refuses, and send on what comes back."""
        client = self._shared_client()
        endpoint = endpoint_of(client, model=self._model)
        dropped = self._refused
        while True:
            body = build_body(request, model=self._model, profile=self._profile, dropped=dropped)
            line.send(RequestSent(body=body, dropped=_noticeable(dropped, request)))
            try:
                stream = _open(client, body)
            except sdk_failures() as error:
                concession = _concession(error, body)
                if concession is None:
                    raise as_model_error(error, endpoint=endpoint) from error
                dropped = (*dropped, concession)
                if concession == "include":
                    self._give_up("include")
                continue
            with stream:
                _forward(stream, line=line, endpoint=endpoint)
            return

    def _give_up(self, concession: Concession) -> None:
        """From now on every request does without it."""
        with self._lock:
            if concession not in self._refused:
                self._refused = (*self._refused, concession)

    def _shared_client(self) -> OpenAI:
        with self._lock:
            if self._client is None:
                self._client = self._client_factory()
            return self._client


def _open(client: OpenAI, body: dict[str, Any]) -> Any:
    """Post ``body`` and return the SDK's stream.

    The body goes through ``extra_body``: walking a long ``input`` costs the SDK hundreds of milliseconds.
    """
    return client.responses.create(stream=True, extra_body=body)


def _forward(stream: Any, *, line: Line[ModelEvent], endpoint: Endpoint) -> None:
    """Send on the events of ``stream``, let the reader go at its end, and read what is left of it."""
    line.watch(stream.response)
    events = _sdk_events(stream, endpoint=endpoint)
    try:
        for event in _read(stream, events, endpoint=endpoint):
            line.send(event)
    except sdk_failures() as error:
        raise as_model_error(error, endpoint=endpoint) from error
    line.end()
    for _ in events:
        pass


def _read(stream: Any, events: Iterator[Any], *, endpoint: Endpoint) -> Iterator[ModelEvent]:
    content_type = stream.response.headers.get("content-type", "")
    if "html" in content_type:
        raise BadResponse("the server answered with an HTML page")
    if "json" not in content_type:
        return read_stream(events, endpoint=endpoint)
    return read_whole(json.loads(stream.response.read()), endpoint=endpoint)


def _sdk_events(stream: Any, *, endpoint: Endpoint) -> Iterator[Any]:
    """The SDK's events. What breaks off after the answer began is a cut: no unreachable server, no bad answer."""
    try:
        yield from stream
    except sdk_failures() as error:
        failure = as_model_error(error, endpoint=endpoint)
        is_cut = isinstance(failure, ModelUnreachable) or _ends_inside_a_character(error)
        raise StreamCut(failure.detail) if is_cut else failure from error


def _ends_inside_a_character(error: Exception) -> bool:
    return isinstance(error, UnicodeDecodeError) and error.reason == "unexpected end of data"


def _concession(error: Exception, body: dict[str, Any]) -> Concession | None:
    """What to give up so that the server may take the request, if its error asks for that."""
    report = report_of(error)
    if report.status is None or not 400 <= report.status < 500:
        return None
    words = f"{report.code} {report.message}"
    if "include" in body and (report.param.startswith("include") or _INCLUDE_REFUSED.search(words)):
        return "include"
    has_reasoning = any(item.get("type") == "reasoning" for item in body["input"])
    return "reasoning" if has_reasoning and _REASONING_REFUSED.search(words) else None


def _noticeable(dropped: Collection[Concession], request: ModelRequest) -> tuple[Concession, ...]:
    """What ``request`` really goes without: tools are left out only where they may not be called."""
    may_call = request.tool_choice != "none"
    return tuple(concession for concession in dropped if not (concession == "tools" and may_call))
