"""How long something took."""

from __future__ import annotations

import time


def ms_since(started: float) -> float:
    """Milliseconds since ``started``, a reading of ``time.perf_counter``."""
    return (time.perf_counter() - started) * 1000
