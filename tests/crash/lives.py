"""Letting lives begin and end from a test."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crash.ledger import Ledger
from crash.life import ROUNDS
from support.waiting import wait_until

from memora.assembly import LOCAL_USER, App

SETTLE_SECONDS = 60.0
SIGKILLED = -signal.SIGKILL


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

    def let_live(self, death: Death, **order: str | int | None) -> int:
        """Let one life begin, with an ``order`` for it, and end as ``death`` says; its exit code."""
        self._write({"point": death.point, "times": death.times, **order})
        child = self._read()
        if death.after_seconds is not None:
            time.sleep(death.after_seconds)
            os.kill(child, signal.SIGKILL)
        code: int = self._read()
        return code

    def _write(self, order: dict[str, object]) -> None:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _read(self) -> Any:
        return json.loads(self._process.stdout.readline())


class Family:
    """The lives on one data folder, and the ledger of what they told."""

    def __init__(self, nursery: Nursery, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.ledger = Ledger()
        self._nursery = nursery
        self._folder = folder
        self._count = 0

    def branch(self, folder: Path) -> Family:
        """The same data and the same past, in another folder."""
        other = Family(self._nursery, folder)
        shutil.copytree(self.data_dir, other.data_dir)
        other.ledger, other._count = deepcopy(self.ledger), self._count
        return other

    def live(self, death: Death = BY_ITSELF, *, saying: str = "", file_limit: int | None = None) -> int:
        """Let the next life begin and end; its exit code.

        ``saying``: this, instead of everything that a life does. No file may outgrow ``file_limit`` bytes.
        """
        told = self._folder / f"life-{self._count}.jsonl"
        code = self._nursery.let_live(
            death,
            number=self._count,
            rounds=1 if death == BY_ITSELF else ROUNDS,
            saying=saying,
            file_limit=file_limit,
            data_dir=str(self.data_dir),
            output=str(told),
        )
        self._count += 1
        self.ledger.read(told)
        return code


def wait_until_settled(app: App) -> None:
    """Until the write paths that were left are finished and the index agrees with the record."""
    wait_until(lambda: is_settled(app), seconds=SETTLE_SECONDS, otherwise="it never settled")


def is_settled(app: App) -> bool:
    if app.turns.turns_to_learn() or app.memory.needs_refresh(user_id=LOCAL_USER):
        return False
    return app.memory.index.revisions(user_id=LOCAL_USER) == app.memory.store.revisions(user_id=LOCAL_USER)
