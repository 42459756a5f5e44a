"""A language model behind the Responses API, through the OpenAI client."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from memora.errors import BadResponse, ModelUnreachable, StreamCut
from memora.model import CancelToken, ModelEvent, ModelRequest, ModelResponse, RequestSent, ResponseEnded
from memora.providers.openai.body import Concession, build_body
from memora.providers.openai.failures import Endpoint, as_model_error, report_of
from memora.providers.openai.pump import Line, pump
from memora.providers.openai.stream import read_stream, read_whole

if TYPE_CHECKING:
    from openai import OpenAI

_INCLUDE_REFUSED = re.compile(r"encrypted content is not supported", re.IGNORECASE)
_REASONING_REFUSED = re.compile(r"invalid_encrypted_content|item (?:with id )?'rs_", re.IGNORECASE)


class OpenAIModel:
    """A `LanguageModel`. The client is built at the first request; one model serves all threads."""

    def __init__(self, *, client_factory: Callable[[], OpenAI], model: str) -> None:
        self._client_factory = client_factory
        self._model = model
        self._client: OpenAI | None = None
        self._lock = threading.Lock()
        self._refused: tuple[Concession, ...] = ()

    @property
    def name(self) -> str:
        """The model's name, as sent."""
        return self._model

    def stream(self, request: ModelRequest, *, cancel: CancelToken) -> Iterator[ModelEvent]:
        """See `LanguageModel.stream`. The client retries what fails before the first event, with backoff."""
        cancel.raise_if_cancelled()
        yield from pump(lambda line: self._converse(request, line=line), cancel=cancel)

    def complete(self, request: ModelRequest, *, cancel: CancelToken) -> ModelResponse:
        """See `LanguageModel.complete`. It streams too: so no answer is too slow for the timeout."""
        for event in self.stream(request, cancel=cancel):
            if isinstance(event, ResponseEnded):
                return event.response
        raise StreamCut("the stream ended without a response")

    def _converse(self, request: ModelRequest, *, line: Line[ModelEvent]) -> None:
        """Send the request, again without what the server refuses, and send on what comes back."""
        client = self._shared_client()
        endpoint = _endpoint(client, model=self._model)
        dropped = self._refused
        while True:
            body = build_body(request, model=self._model, dropped=dropped)
            line.send(RequestSent(body=body, dropped=dropped))
            try:
                stream = _open(client, body)
            except _failures() as error:
                concession = _concession(error, body)
                if concession is None:
                    raise as_model_error(error, endpoint=endpoint) from error
                dropped = (*dropped, concession)
                if concession == "include":
                    self._refused = ("include",)
                continue
            with stream:
                _forward(stream, line=line, endpoint=endpoint)
            return

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
    for event in _read(stream, events, endpoint=endpoint):
        line.send(event)
    line.end()
    for _ in events:
        pass


def _read(stream: Any, events: Iterator[Any], *, endpoint: Endpoint) -> Iterator[ModelEvent]:
    content_type = stream.response.headers.get("content-type", "")
    if "html" in content_type:
        raise BadResponse("the server answered with an HTML page")
    if "json" not in content_type:
        return read_stream(events, endpoint=endpoint)
    try:
        return read_whole(json.loads(stream.response.read()), endpoint=endpoint)
    except _failures() as error:
        raise as_model_error(error, endpoint=endpoint) from error


def _sdk_events(stream: Any, *, endpoint: Endpoint) -> Iterator[Any]:
    """The SDK's events. A connection that breaks after the answer began is a cut, not an unreachable server."""
    try:
        yield from stream
    except _failures() as error:
        failure = as_model_error(error, endpoint=endpoint)
        raise StreamCut(failure.detail) if isinstance(failure, ModelUnreachable) else failure from error


def _failures() -> tuple[type[Exception], ...]:
    """What the SDK lets out: its own errors, the transport's, and those of parsers and bad shapes."""
    import httpx2
    import openai

    return (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, ValueError, TypeError)


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


def _endpoint(client: OpenAI, *, model: str) -> Endpoint:
    timeout = getattr(client.timeout, "read", client.timeout)
    seconds = float(timeout) if isinstance(timeout, int | float) else 0.0
    return Endpoint(model=model, host=client.base_url.host, timeout_seconds=seconds, secret=client.api_key)
