"""Jobs for later, however many, on one thread."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from itertools import count


class Later:
    """Calls jobs when their time has come, one after the other: they are to be short. Safe across threads.

    The thread begins with the first job and ends with `close`.
    """

    def __init__(self, *, name: str) -> None:
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = count()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def call(self, job: Callable[[], None], *, seconds: float) -> None:
        """Call ``job`` in ``seconds``, on the thread of this object. Ignored after `close`."""
        with self._changed:
            if self._closed:
                return
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._numbers), job))
            if self._thread.ident is None:
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Forget what is still to come."""
        with self._changed:
            self._closed = True
            self._due.clear()
            self._changed.notify()

    def _work(self) -> None:
        while not self._closed:
            self._call_next()

    def _call_next(self) -> None:
        """Call the job that is due, or wait until there may be one, or until `close`."""
        with self._changed:
            if self._closed:
                return
            wait = self._due[0][0] - time.monotonic() if self._due else None
            if wait is None or wait > 0:
                self._changed.wait(wait)
                return
            _, _, job = heapq.heappop(self._due)
        job()
