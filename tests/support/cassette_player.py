"""The player: a cassette in the place of the network, below the real OpenAI client."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import httpx2

from memora.providers.cassette.cassette import COMPLETE, LEFT, Answer, Exchange


class CassetteEnded(LookupError):
    """A request that the cassette has no answer for."""


class CassettePlayer(httpx2.BaseTransport):
    """Answers each request with the next exchange of its method and route. Safe across threads.

    The address before the route does not matter, nor does the body. Raises `CassetteEnded` for a request that is not
    on the cassette, and the transport's own error where an exchange ended with one.
    """

    def __init__(self, exchanges: Sequence[Exchange]) -> None:
        self._waiting = list(exchanges)
        self._bodies: list[Any] = []
        self._lock = threading.Lock()

    @property
    def waiting(self) -> tuple[Exchange, ...]:
        """What has not been played yet."""
        return tuple(self._waiting)

    @property
    def bodies(self) -> tuple[Any, ...]:
        """The bodies that were posted, in order; None for a request without one."""
        return tuple(self._bodies)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Play the next exchange for ``request``."""
        content = request.read()
        exchange = self._next(request.method, request.url.path)
        with self._lock:
            self._bodies.append(json.loads(content) if content else None)
        if exchange.answer is None:
            raise _error(exchange.ended)
        return _response(exchange.answer, ended=exchange.ended)

    def _next(self, method: str, path: str) -> Exchange:
        with self._lock:
            for place, exchange in enumerate(self._waiting):
                if (exchange.method, _route(exchange.path)) == (method, _route(path)):
                    return self._waiting.pop(place)
        raise CassetteEnded(f"the cassette has no further {method} {_route(path)}")


class _Played(httpx2.SyncByteStream):
    """The pieces of a body, and the error that they ended with."""

    def __init__(self, pieces: Sequence[str], *, ended: str) -> None:
        self._pieces = pieces
        self._ended = ended

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            yield piece.encode()
        if self._ended not in (COMPLETE, LEFT):
            raise _error(self._ended)


def _response(answer: Answer, *, ended: str) -> httpx2.Response:
    match answer.kind:
        case "json":
            pieces = [json.dumps(answer.body, ensure_ascii=False)]
        case "frames":
            pieces = answer.body
        case "text":
            pieces = [answer.body]
    return httpx2.Response(answer.status, headers=answer.headers, stream=_Played(pieces, ended=ended))


def _error(name: str) -> httpx2.TransportError:
    """The transport's error of that name; names of other versions are read errors."""
    kind = getattr(httpx2, name, None)
    if isinstance(kind, type) and issubclass(kind, httpx2.TransportError):
        return kind(f"as recorded: {name}")
    return httpx2.ReadError(f"as recorded: {name}")


def _route(path: str) -> str:
    """The part of ``path`` that names what is asked for, without the address that leads there."""
    *_, route = path.rstrip("/").rpartition("/v1")
    return route
