"""Life after life on one data folder, each killed without warning: nothing acknowledged is lost or there twice.

In the short run thirty lives end, each at another named point or at a random moment; in the full run two hundred.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from crash.ledger import Ledger
from crash.life import INDEXED, STORED
from servers.launch import ResponsesServer, responses_server
from support.figures import count
from support.scale import scaled

from memora.assembly import LOCAL_USER, App, build_app
from memora.settings import load_settings

NURSERY = Path(__file__).with_name("nursery.py")
EVENTS = (
    "turn_started",
    "recall_finished",
    "context_prepared",
    "request_started",
    "request_finished",
    "turn_finished",
    "learning_started",
    "candidates_extracted",
    "decisions_made",
    "learning_finished",
)
POINTS = tuple(
    f"{when}:{name}"
    for name in (*EVENTS, *(f"store.{name}" for name in STORED), *(f"index.{name}" for name in INDEXED))
    for when in ("before", "after")
)
KILLS = scaled(short=30, full=220)
LIVES_PER_FOLDER = 10
SETTLE_SECONDS = 30.0


@dataclass(frozen=True)
class Death:
    """How a life ends: at a ``point``, the ``times``-th time; or, without one, ``after_seconds``."""

    point: str = ""
    times: int = 1
    after_seconds: float = 0.0


def deaths() -> list[Death]:
    """Two of three at points, in an order that the seed makes, so that the full run comes to each several times."""
    dice = random.Random(2026)
    points: list[str] = []
    found = []
    for number in range(KILLS):
        if number % 3 == 2:
            found.append(Death(after_seconds=dice.uniform(0.0, 0.9)))
            continue
        points = points or dice.sample(POINTS, len(POINTS))
        found.append(Death(point=points.pop(), times=dice.choice((1, 1, 2))))
    return found


class Nursery:
    """The process that forks lives."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        assert self._read() == "ready"

    def let_live(self, death: Death, *, data_dir: Path, number: int, output: Path) -> int:
        """Let one life begin and end as ``death`` says; its exit code."""
        order = {"point": death.point, "times": death.times, "number": number}
        self._write({**order, "data_dir": str(data_dir), "output": str(output)})
        child = self._read()
        if not death.point:
            wait_for_first_line(output)
            time.sleep(death.after_seconds)
            os.kill(child, signal.SIGKILL)
        return self._read()

    def _write(self, order: dict[str, object]) -> None:
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()

    def _read(self):
        return json.loads(self._process.stdout.readline())


def wait_for_first_line(path: Path) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while not (path.exists() and path.stat().st_size) and time.monotonic() < deadline:
        time.sleep(0.005)


@pytest.fixture(scope="module")
def server() -> Iterator[ResponsesServer]:
    with responses_server(words_per_second=2_000) as started:
        yield started


@pytest.fixture(scope="module")
def environment(server: ResponsesServer) -> dict[str, str]:
    """Settings for lives and for who judges them: remote embeddings, because a model takes long to load."""
    return {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "a-key-for-tests",
        "MEMORA_EMBEDDER": "openai",
        "MEMORA_ENV_FILE": os.devnull,
    }


@pytest.fixture(scope="module")
def nursery(environment: dict[str, str]) -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, NURSERY],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    yield Nursery(process)
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


@pytest.fixture
def opened(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch):
    """Opens Memora on the folder that a life left, as its next start would."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    @contextmanager
    def open_on(data_dir: Path) -> Iterator[App]:
        monkeypatch.setenv("MEMORA_DATA_DIR", str(data_dir))
        app = build_app(load_settings())
        try:
            yield app
        finally:
            app.close()

    return open_on


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


DEATHS = deaths()
FOLDERS = [DEATHS[start : start + LIVES_PER_FOLDER] for start in range(0, len(DEATHS), LIVES_PER_FOLDER)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", range(len(FOLDERS)))
def test_what_was_acknowledged_outlives_every_death(tmp_path: Path, nursery: Nursery, opened, folder: int) -> None:
    count("acknowledgements lost", 0)
    count("doubled", 0)
    ledger = Ledger()
    data_dir = tmp_path / "data"
    for number, death in enumerate(FOLDERS[folder]):
        told = tmp_path / f"life-{number}.jsonl"
        code = nursery.let_live(death, data_dir=data_dir, number=number, output=told)
        assert code in (0, -signal.SIGKILL), f"{death} ended with {code}"
        count("kills", code != 0)
        ledger.read(told)
        with opened(data_dir) as app:
            complaints = list(ledger.complaints(app))
            count("acknowledgements lost", sum(complaint.startswith("lost") for complaint in complaints))
            count("doubled", sum(complaint.startswith("doubled") for complaint in complaints))
            assert complaints == [], death
            wait_until_settled(app)
            assert list(ledger.complaints(app)) == [], death
    count("acknowledgements that outlived their process", ledger.acknowledged)
