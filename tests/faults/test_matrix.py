"""Every fault at every place: how the turn ends, what is said, what is kept, what is learned later.

The short run meets every fault at one place, in turn; the full run meets each at all of its places.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from faults.cases import CASES, Case, Place
from faults.world import FACT_COUNT, PATIENCE_SECONDS, Seen, World, calls, world
from servers.wire_faults import KEY
from support.figures import count
from support.scale import scaled
from support.waiting import wait_until

from memora.admin import back_up
from memora.ui.sentences import RETRY_HELPS
from memora.ui.trace_json import trace_as_json

Meeting = tuple[Case, Place]


def meetings() -> list[Meeting]:
    everywhere = [(case, place) for case in CASES for place in case.places]
    once = [(case, case.places[number % len(case.places)]) for number, case in enumerate(CASES)]
    return scaled(short=once, full=everywhere)


def named(parameter: Any) -> str:
    return parameter.fault if isinstance(parameter, Case) else parameter


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("faults") / "data"


@pytest.fixture(scope="module")
def logged() -> Iterator[StringIO]:
    """Everything that is logged meanwhile, by whomever, down to the least important."""
    written = StringIO()
    handler = logging.StreamHandler(written)
    root = logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    yield written
    root.setLevel(level)
    root.removeHandler(handler)


@pytest.fixture(scope="module")
def here(folder: Path, logged: StringIO) -> Iterator[World]:
    with world(folder) as made:
        yield made


@pytest.mark.parametrize(("case", "place"), meetings(), ids=named)
def test_a_fault_has_the_effect_that_the_table_says(here: World, case: Case, place: Place) -> None:
    seen = here.meet(case, place)
    count("faults met, each at one of its places")
    match place:
        case "1" | "2":
            answered(here, case, seen)
        case "summary":
            went_on_without_a_summary(case, seen)
        case "extraction" | "reconciliation":
            learned_once(here, case, place, seen)
        case _:
            recalled_by_words(here, case, seen)
    assert seen.turn.user_message
    assert here.turn(seen).user_message == seen.turn.user_message


def answered(here: World, case: Case, seen: Seen) -> None:
    assert (seen.turn.state, seen.failure and seen.failure.code) == (case.state, case.code)
    assert seen.requests == (2 if case.is_retried else 1)
    assert bool(seen.turn.reply) == (case.state != "failed")
    if case.state != "done":
        assert case.state == "cut_off" or case.code in RETRY_HELPS  # Try again is offered
        again = here.try_again(seen)
        assert (again.state, again.id, again.user_message) == ("done", seen.turn.id, seen.turn.user_message)
        assert again.reply
    outputs = [call for call in calls(seen.trace) if call.output]
    assert len({call.call_id for call in outputs}) == len(outputs)


def went_on_without_a_summary(case: Case, seen: Seen) -> None:
    assert (seen.turn.state, seen.failure and seen.failure.code) == ("done", case.background_code)
    assert seen.requests == (2 if case.is_retried else 1)


def learned_once(here: World, case: Case, place: Place, seen: Seen) -> None:
    assert seen.turn.state == "done"
    assert (seen.failure and seen.failure.code) == case.background_code
    expected = FACT_COUNT if place == "extraction" else 2
    match case.learned:
        case "at once":
            assert seen.turn.learning == "done"
        case "later, by itself":
            wait_until(lambda: here.turn(seen).learning == "done", seconds=PATIENCE_SECONDS)
        case _:
            assert here.turn(seen).learning == "pending"
            assert len(here.memories(seen)) < expected
            here.say_again(seen)
            wait_until(lambda: here.turn(seen).learning == "done", seconds=PATIENCE_SECONDS)
    assert len(set(here.memories(seen))) == len(here.memories(seen)) == expected


def recalled_by_words(here: World, case: Case, seen: Seen) -> None:
    assert (seen.turn.state, seen.failure and seen.failure.code) == ("done", case.code)
    assert len(here.memories(seen)) == FACT_COUNT
    wait_until(lambda: here.is_indexed(seen), seconds=PATIENCE_SECONDS)


def test_the_key_is_found_nowhere_afterwards(
    here: World, folder: Path, logged: StringIO, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not in a log, the database, a trace, a recording, a backup. (On the pages: tests/browser/test_faults.py.)"""
    here.app.cassettes.start()
    with_key = next(case for case in CASES if case.fault == "401_with_the_key")
    seen = here.meet(with_key, "1")
    here.app.cassettes.stop()
    assert seen.failure is not None
    assert "Incorrect API key" in seen.failure.detail
    assert KEY not in trace_as_json(seen.trace)
    assert "Incorrect API key" in here.app.cassettes.text()
    monkeypatch.setenv("MEMORA_DATA_DIR", str(folder))
    back_up(tmp_path / "backup.db")
    assert logged.getvalue()
    assert KEY not in logged.getvalue()
    files = [path for path in (*folder.rglob("*"), *tmp_path.rglob("*")) if path.is_file()]
    assert {path.name for path in files} > {"memora.db", "backup.db"}
    assert [path for path in files if KEY.encode() in path.read_bytes()] == []
