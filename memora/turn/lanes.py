"""Background work in lanes: jobs of one lane run in order, lanes run side by side on a few threads."""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import deque
from collections.abc import Callable

Job = Callable[[], None]
log = logging.getLogger(__name__)


class Lanes:
    """A bounded pool of daemon threads; ``submit`` never blocks.

    A lane is any string (a conversation, a user). A lane holds at most one thread, and after each job it
    queues again behind the others, so a busy lane cannot starve the rest.
    """

    def __init__(self, *, workers: int, name: str) -> None:
        self._waiting: dict[str, deque[Job]] = {}
        self._ready: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"{name}-{number}", daemon=True) for number in range(workers)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, lane: str, job: Job) -> None:
        """Run ``job`` after everything submitted to ``lane`` before it. Ignored after `close`."""
        with self._lock:
            if self._closed:
                return
            jobs = self._waiting.get(lane)
            if jobs is None:
                self._waiting[lane] = deque([job])
                self._ready.put(lane)
            else:
                jobs.append(job)

    def withdraw(self, lane: str, job: Job) -> bool:
        """Take back a job that was submitted to ``lane``; False when it has begun already."""
        with self._lock:
            jobs = self._waiting.get(lane)
            if not jobs or job not in jobs:
                return False
            jobs.remove(job)
            return True

    def close(self, *, timeout: float) -> None:
        """Forget what waits and give what runs ``timeout`` seconds in all to end."""
        with self._lock:
            self._closed = True
            self._waiting.clear()
        for _ in self._threads:
            self._ready.put(None)
        deadline = time.monotonic() + timeout
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def _work(self) -> None:
        while (lane := self._ready.get()) is not None:
            self._run_next(lane)

    def _run_next(self, lane: str) -> None:
        """Run the lane's next job. In a frame of its own: a thread that waits holds on to nothing of its last job."""
        with self._lock:
            jobs = self._waiting.get(lane)
            job = jobs.popleft() if jobs else None
        if job is not None:
            _run(job)
        with self._lock:
            if self._waiting.get(lane):
                self._ready.put(lane)
            else:
                self._waiting.pop(lane, None)


def _run(job: Job) -> None:
    """The worker boundary: a job that fails must not take its thread along."""
    try:
        job()
    except Exception:
        log.exception("a background job failed")
