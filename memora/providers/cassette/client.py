"""The HTTP client below the SDK, with a recorder that listens when it is switched on.

It is the client and not a transport that is listened at: a client that is given a transport no longer asks the
environment for proxies.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import httpx2

from memora.providers.cassette.cassette import COMPLETE, LEFT
from memora.providers.cassette.recorder import MAX_BYTES, CassetteRecorder
from memora.providers.cassette.take import Take


class RecordedClient(httpx2.Client):
    """A client with the SDK's defaults. While ``recorder`` is on, it hears every exchange, and each retry as one.

    Bytes are passed on as they come, and nothing that the recorder does can hold up or break an exchange.
    """

    def __init__(self, *, recorder: CassetteRecorder, **options: Any) -> None:
        from openai import DEFAULT_CONNECTION_LIMITS

        super().__init__(limits=DEFAULT_CONNECTION_LIMITS, follow_redirects=True, **options)
        self._recorder = recorder

    def send(self, request: httpx2.Request, *, stream: bool = False, **options: Any) -> httpx2.Response:
        """See `httpx2.Client.send`."""
        if not self._recorder.is_on:
            return super().send(request, stream=stream, **options)
        started = time.perf_counter()
        try:
            response = super().send(request, stream=True, **options)
        except httpx2.TransportError as error:
            self._recorder.keep(_take(request, None, [], ended=type(error).__name__, started=started))
            raise
        if response.is_closed:  # it came in one piece, from a transport in this process
            self._recorder.keep(_take(request, response, [response.content], ended=COMPLETE, started=started))
            return response
        response.stream = _HeardStream(response, request=request, recorder=self._recorder, started=started)
        if not stream:
            response.read()
        return response


class _HeardStream(httpx2.SyncByteStream):
    """The bytes of ``response``, which the recorder gets together when they have ended, one way or the other."""

    def __init__(
        self, response: httpx2.Response, *, request: httpx2.Request, recorder: CassetteRecorder, started: float
    ) -> None:
        self._stream: Any = response.stream
        self._response = response
        self._request = request
        self._recorder = recorder
        self._started = started
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_told = False

    def __iter__(self) -> Iterator[bytes]:
        try:
            for chunk in self._stream:
                self._hear(chunk)
                yield chunk
        except httpx2.TransportError as error:
            self._tell(type(error).__name__)
            raise
        self._tell(COMPLETE)

    def close(self) -> None:
        self._tell(LEFT)
        self._stream.close()

    @property
    def elapsed(self) -> timedelta | None:
        """See `httpx2.Response.elapsed`, which asks for it here."""
        elapsed: timedelta | None = self._stream.elapsed
        return elapsed

    def _hear(self, chunk: bytes) -> None:
        self._size += len(chunk)
        if self._size <= MAX_BYTES:
            self._chunks.append(chunk)

    def _tell(self, ended: str) -> None:
        if not self._is_told:
            self._is_told = True
            self._recorder.keep(_take(self._request, self._response, self._chunks, ended=ended, started=self._started))


def _take(
    request: httpx2.Request, response: httpx2.Response | None, chunks: list[bytes], *, ended: str, started: float
) -> Take:
    return Take(
        method=request.method,
        path=request.url.path,
        request=request.read(),
        secret=request.headers.get("authorization", "").removeprefix("Bearer "),
        status=response.status_code if response else None,
        headers=tuple(response.headers.items()) if response else (),
        chunks=tuple(chunks),
        ended=ended,
        took_ms=round((time.perf_counter() - started) * 1000),
    )
