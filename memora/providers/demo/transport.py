"""The demo model as an HTTP transport: everything above the wire is the same as with a real model."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator

import httpx2

from memora.providers.demo.faults import FaultPlan
from memora.providers.demo.service import (
    WORDS_PER_SECOND,
    Answered,
    DemoService,
    Outcome,
    Streamed,
    Unanswered,
    api_error,
    models,
)
from memora.settings import DEMO_MODEL


class DemoTransport(httpx2.BaseTransport):
    """Answers ``POST …/responses`` (streaming or not), ``POST …/responses/input_tokens`` and ``GET …/models``.

    All of it in this process, safe across threads.
    Answers stream at ``words_per_second``, everything else at once. ``faults`` makes requests fail, for tests.
    """

    def __init__(self, *, faults: FaultPlan | None = None, words_per_second: float = WORDS_PER_SECOND) -> None:
        self._service = DemoService(faults=faults, words_per_second=words_per_second)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer one request. Raises the errors of a network only when ``faults`` want it so."""
        return _deliver(self._outcome(request), request)

    def _outcome(self, request: httpx2.Request) -> Outcome:
        path = request.url.path
        if request.method == "GET" and path.endswith("/models"):
            return models(DEMO_MODEL)
        if request.method != "POST" or not path.endswith(("/responses", "/responses/input_tokens")):
            return api_error(404, f"Unknown request URL: {request.method} {path}.", code="unknown_url")
        try:
            body = json.loads(request.read())
        except ValueError:
            body = None
        if not isinstance(body, dict):
            return api_error(400, "We could not parse the JSON body of your request.")
        return self._service.respond(body) if path.endswith("/responses") else self._service.count(body)


class _PacedStream(httpx2.SyncByteStream):
    """Bytes that arrive one frame at a time. Closing, from any thread, ends it at once."""

    def __init__(self, frames: Iterator[tuple[float, str]], *, cut: bool) -> None:
        self._frames = frames
        self._cut = cut
        self._closed = threading.Event()

    def __iter__(self) -> Iterator[bytes]:
        for pause, frame in self._frames:
            if self._closed.wait(pause) if pause else self._closed.is_set():
                return
            yield frame.encode()
        if self._cut:
            raise httpx2.RemoteProtocolError("peer closed connection without sending complete message body")

    def close(self) -> None:
        self._closed.set()


def _deliver(outcome: Outcome, request: httpx2.Request) -> httpx2.Response:
    match outcome:
        case Answered():
            headers = {"content-type": outcome.content_type, **outcome.headers}
            if not outcome.delay:
                return httpx2.Response(outcome.status, headers=headers, content=outcome.content.encode())
            late = _PacedStream(iter([(outcome.delay, outcome.content)]), cut=False)
            return httpx2.Response(outcome.status, headers=headers, stream=late)
        case Streamed():
            stream = _PacedStream(outcome.frames, cut=outcome.cut)
            return httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)
        case Unanswered("refused"):
            raise httpx2.ConnectError("connection refused", request=request)
        case Unanswered():
            raise httpx2.ReadTimeout("timed out", request=request)
