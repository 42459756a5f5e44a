"""Letting lives begin and end from a test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memora.assembly import LOCAL_USER, App

SETTLE_SECONDS = 30.0


@dataclass(frozen=True)
class Death:
    """How a life ends: at a ``point``, the ``times``-th time; or ``after_seconds``; or, with neither, by itself."""

    point: str = ""
    times: int = 1
    after_seconds: float | None = None


BY_ITSELF = Death()


class Nursery:
    """The process that forks lives."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._read() == "ready"

    def let_live(
        self, death: Death, *, data_dir: Path, number: int, output: Path, file_limit: int | None = None
    ) -> int:
        """Let one life begin and end as ``death`` says; its exit code. No file may outgrow ``file_limit`` bytes."""
        order = {"point": death.point, "times": death.times, "number": number, "file_limit": file_limit}
        self._write({**order, "data_dir": str(data_dir), "output": str(output)})
        child = self._read()
        if death.after_seconds is not None:
            _wait_for_first_line(output)
            time.sleep(death.after_seconds)
            os.kill(child, signal.SIGKILL)
        return self._read()

    def _write(self, order: dict[str, object]) -> None:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _read(self) -> Any:
        return json.loads(self._process.stdout.readline())


def _wait_for_first_line(path: Path) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.005)


def wait_until_settled(app: App) -> None:
    """Until the write paths that were left are finished and the index agrees with the record."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while not is_settled(app):
        assert time.monotonic() < deadline, "it never settled"
        time.sleep(0.01)


def is_settled(app: App) -> bool:
    if app.turns.turns_to_learn() or app.memory.needs_refresh(user_id=LOCAL_USER):
        return False
    return app.memory.index.revisions(user_id=LOCAL_USER) == app.memory.store.revisions(user_id=LOCAL_USER)
