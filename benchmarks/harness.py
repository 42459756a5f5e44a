"""What every benchmark needs: its data, its clock, and tables that can be pasted into a document."""

from __future__ import annotations

import json
import os
import platform
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from unicodedata import east_asian_width

import numpy as np

_COMMITTED = Path(__file__).parent / "data"
_BESIDE_THE_REPOSITORY = Path(__file__).parents[2] / "shared" / "data"


def load_data(name: str) -> Any | None:
    """The JSON file ``name`` from the repository, ``MEMORA_BENCH_DATA`` or a ``shared/data`` beside it.

    None, after a plain word about it, when it is nowhere.
    """
    own = os.environ.get("MEMORA_BENCH_DATA")
    folders = [_COMMITTED, *([Path(own)] if own else []), _BESIDE_THE_REPOSITORY]
    for folder in folders:
        if (folder / name).is_file():
            return json.loads((folder / name).read_text(encoding="utf-8"))
    print(f"\n{name} is not here, so what needs it is left out. See benchmarks/data/README.md.")
    return None


class Clock:
    """Durations in milliseconds, by name."""

    def __init__(self) -> None:
        self.durations: dict[str, list[float]] = {}

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Time the block and add it to the durations of ``name``."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.note(name, (time.perf_counter() - started) * 1000)

    def note(self, name: str, milliseconds: float) -> None:
        """Add a duration that was measured elsewhere."""
        self.durations.setdefault(name, []).append(milliseconds)

    def percentile(self, name: str, percent: float) -> float:
        """A percentile of the durations of ``name``, in milliseconds."""
        return float(np.percentile(self.durations[name], percent))

    def print_table(self, title: str) -> None:
        """One line for each name: how often, and the median, the 95th percentile and the longest."""
        rows = [
            [name, len(taken), *(f"{np.percentile(taken, percent):.1f}" for percent in (50, 95, 100))]
            for name, taken in self.durations.items()
        ]
        print_table(title, ["step", "n", "p50 ms", "p95 ms", "max ms"], rows)


def print_machine() -> None:
    """What the figures were measured on, for whoever reads them later."""
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores"
    print(f"{datetime.now(UTC).date()} · {machine} · Python {platform.python_version()}")


def print_table(title: str, columns: Sequence[object], rows: Sequence[Sequence[object]]) -> None:
    """A Markdown table with aligned columns."""
    lines = [[str(cell) for cell in line] for line in (columns, *rows)]
    widths = [max(_width(line[at]) for line in lines) for at in range(len(columns))]
    lines.insert(1, ["-" * width for width in widths])
    print(f"\n## {title}\n")
    for line in lines:
        cells = (cell + " " * (width - _width(cell)) for cell, width in zip(line, widths, strict=True))
        print("| " + " | ".join(cells) + " |")


def _width(text: str) -> int:
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)
