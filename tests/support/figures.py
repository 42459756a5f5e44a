"""What the long tests covered, counted: told at the end of the run."""

from __future__ import annotations

from collections import Counter

figures: Counter[str] = Counter()


def count(name: str, number: int = 1) -> None:
    """Add ``number`` to the figure ``name`` ("kills", "memories lost" …); 0 makes it told as well."""
    figures[name] += number


def line() -> str:
    """All figures on one line, in the order in which they first came; empty when there are none."""
    return ", ".join(f"{number:,} {name}" for name, number in figures.items())
