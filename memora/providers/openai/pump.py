"""Blocking network work in a thread of its own, so that Stop never waits for the network.

The reader takes what the worker sends from a queue, and Stop is one more thing in that queue: wherever the
worker is (connecting, backing off, reading), the reader is free at once. The worker is told to hang up: an
open response is shut at the socket, and a retry that is still to come is not sent.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Generator
from contextvars import ContextVar
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from memora.errors import Cancelled
from memora.model import CancelToken

T = TypeVar("T")

DRAIN_SECONDS = 0.03
"""How long the end of a stream may take after its last event, for the connection to be used again."""


@dataclass(frozen=True)
class _End:
    error: BaseException | None = None


class Line(Generic[T]):
    """The worker's end: it sends what it has, and learns when nobody listens any more."""

    def __init__(self) -> None:
        self.hung_up = CancelToken()
        self.arrivals: SimpleQueue[T | _End] = SimpleQueue()
        self.hung_up.on_cancel(lambda: self.arrivals.put(_End(Cancelled())))

    def send(self, thing: T) -> None:
        """Hand ``thing`` to the reader. Raises `Cancelled` when there is none any more."""
        self.hung_up.raise_if_cancelled()
        self.arrivals.put(thing)

    def end(self, error: BaseException | None = None) -> None:
        """Let the reader go; what the worker still does after this is only tidying."""
        self.arrivals.put(_End(error))

    def watch(self, response: Any) -> None:
        """Shut the socket of ``response`` (of httpx2) on hanging up, so that a blocked read returns."""
        self.hung_up.on_cancel(lambda: _shut(response))


_current: ContextVar[Line[Any] | None] = ContextVar("current_line", default=None)


def pump(work: Callable[[Line[T]], None], *, cancel: CancelToken) -> Generator[T, None, None]:
    """What ``work`` sends, as it comes. Raises what ``work`` raises, and `Cancelled` soon after ``cancel``."""
    line: Line[T] = Line()

    def run() -> None:
        _current.set(line)
        try:
            work(line)
        except BaseException as error:  # noqa: BLE001 - the worker's boundary: the reader gets it, whatever it is
            line.end(error)
        else:
            line.end()

    worker = threading.Thread(target=run, name="model-request", daemon=True)
    cancel.on_cancel(line.hung_up.cancel)
    worker.start()
    try:
        while True:
            arrived = line.arrivals.get()
            if not isinstance(arrived, _End):
                yield arrived
                continue
            if arrived.error:
                raise arrived.error
            worker.join(DRAIN_SECONDS)
            return
    finally:
        line.hung_up.cancel()


def stop_if_hung_up(request: object) -> None:
    """A request hook for httpx2: no further attempt leaves once nobody waits for it."""
    line = _current.get()
    if line is not None:
        line.hung_up.raise_if_cancelled()


def _shut(response: Any) -> None:
    network = response.extensions.get("network_stream")
    if response.is_closed or network is None:
        return
    connection = network.get_extra_info("socket")
    if connection is not None:
        try:
            connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # closed by the other side in this very moment
