"""How much the long tests do: a shortened round in ``make test``, all of it in ``make test-full``."""

from __future__ import annotations

import os
from typing import TypeVar

T = TypeVar("T")


def scaled(*, short: T, full: T) -> T:
    """``full`` in the full run, otherwise ``short``."""
    return full if os.environ.get("MEMORA_TEST_SCALE") == "full" else short
