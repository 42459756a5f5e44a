"""Traces and wire values as JSON that a person can read: indented, Chinese as Chinese, cut when huge."""

from __future__ import annotations

import dataclasses
import json
from datetime import datetime
from typing import Any

from memora.turn.trace import Trace

SHOWN_CHARS = 20_000
"""How much of one value is drawn; the download has all of it."""


def trace_as_json(trace: Trace) -> str:
    """The whole trace, for raw view and download."""
    return indented(dataclasses.asdict(trace))


def indented(value: Any) -> str:
    """``value`` as indented JSON; what JSON does not know is written as text."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=_as_text)


def readable(text: str) -> str:
    """A JSON string, indented; any other text as it is."""
    try:
        return indented(json.loads(text))
    except (json.JSONDecodeError, RecursionError):
        return text


def cut(text: str, *, limit: int = SHOWN_CHARS) -> tuple[str, int]:
    """The first ``limit`` characters of ``text``, and how many are missing."""
    return text[:limit], max(0, len(text) - limit)


def _as_text(value: Any) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)
