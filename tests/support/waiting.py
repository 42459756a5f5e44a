"""Waiting for what other threads and processes do."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_until(condition: Callable[[], bool], *, seconds: float = 20.0, otherwise: str = "it never happened") -> None:
    """Return as soon as ``condition`` holds. After ``seconds`` the test has failed, and ``otherwise`` says why."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, otherwise
        time.sleep(0.005)
