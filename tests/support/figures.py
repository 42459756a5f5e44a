"""What the tests covered, counted: told at the end of the run, also when several processes ran it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

figures: Counter[str] = Counter()
_counters: dict[str, Counter[Any]] = {"figures": figures}


def count(name: str, number: int = 1) -> None:
    """Add ``number`` to the figure ``name`` ("kills", "memories lost" …); 0 makes it told as well."""
    figures[name] += number


def line() -> str:
    """All figures on one line, in the order in which they first came; empty when there are none."""
    return ", ".join(f"{number:,} {name}" for name, number in figures.items())


def counter(name: str) -> Counter[Any]:
    """A further counter, whose keys are strings or tuples of strings, for who tells it otherwise."""
    return _counters.setdefault(name, Counter())


def as_output() -> dict[str, dict[Any, int]]:
    """Everything that this process counted, for the process that tells it."""
    return {name: dict(counted) for name, counted in _counters.items()}


def add_output(output: Mapping[str, Mapping[Any, int]]) -> None:
    """Add what another process counted."""
    for name, counted in output.items():
        into = counter(name)
        for key, number in counted.items():
            into[key] += number
