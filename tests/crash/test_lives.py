"""Life after life on one data folder, each killed without warning: nothing acknowledged is lost or there twice.

In the short run thirty lives end, each at another named point or at a random moment; in the full run two hundred.
"""

from __future__ import annotations

import random
import signal
from pathlib import Path

import pytest
from crash.conftest import Opened
from crash.ledger import Ledger
from crash.life import INDEXED, STORED
from crash.lives import Death, Nursery, wait_until_settled
from support.figures import count
from support.scale import scaled

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


DEATHS = deaths()
FOLDERS = [DEATHS[start : start + LIVES_PER_FOLDER] for start in range(0, len(DEATHS), LIVES_PER_FOLDER)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", range(len(FOLDERS)))
def test_what_was_acknowledged_outlives_every_death(
    tmp_path: Path, nursery: Nursery, opened: Opened, folder: int
) -> None:
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
