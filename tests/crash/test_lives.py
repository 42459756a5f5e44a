"""Life after life on one data folder, each killed without warning: nothing acknowledged is lost or there twice.

In the short run thirty lives end, each at another named point or at a random moment; in the full run 240.
"""

from __future__ import annotations

import random

import pytest
from crash.conftest import Opened
from crash.fate import IN_A_TRANSACTION, POINTS
from crash.ledger import Ledger
from crash.lives import SIGKILLED, Death, Family, wait_until_settled
from support.figures import count
from support.scale import scaled

from memora.assembly import App

KILLS = scaled(short=30, full=240)
LIVES_PER_FOLDER = 10
LONGEST_SECONDS = 1.5
TRANSACTIONS = 40
"""About as many as a life makes while it does everything once."""


def deaths() -> list[Death]:
    """Half of them at points, in an order that the seed makes, so that the full run comes to each at least once."""
    dice = random.Random(2026)
    points: list[str] = []
    found = []
    for number in range(KILLS):
        match number % 4:
            case 0 | 2:
                points = points or dice.sample(POINTS, len(POINTS))
                found.append(Death(point=points.pop()))
            case 1:
                found.append(Death(point=IN_A_TRANSACTION, times=dice.randint(1, TRANSACTIONS)))
            case _:
                found.append(Death(after_seconds=dice.uniform(0.0, LONGEST_SECONDS)))
    return found


DEATHS = deaths()
FOLDERS = [DEATHS[start : start + LIVES_PER_FOLDER] for start in range(0, len(DEATHS), LIVES_PER_FOLDER)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("folder", range(len(FOLDERS)))
def test_what_was_acknowledged_outlives_every_death(family: Family, opened: Opened, folder: int) -> None:
    """Every second life finds a folder in order; the other one what a killed life left."""
    died: list[Death] = []
    for death in FOLDERS[folder]:
        assert family.live(death) == SIGKILLED, death
        count("kills")
        died.append(death)
        if len(died) % 2 == 0:
            with opened(family.data_dir) as app:
                nothing_is_lost(app, family.ledger, died)
    count("acknowledgements that outlived their process", family.ledger.acknowledged)


def nothing_is_lost(app: App, ledger: Ledger, died: list[Death]) -> None:
    """Neither at the start nor after everything that was left has been finished."""
    at_once = list(ledger.complaints(app))
    wait_until_settled(app)
    complaints = at_once + list(ledger.complaints(app))
    for kind in ("lost", "doubled"):
        count(f"acknowledgements {kind}", sum(complaint.startswith(kind) for complaint in complaints))
    assert complaints == [], died[-2:]
