"""A disk that is full, a file that is damaged, locked or gone: a clear error, nothing lost, nothing overwritten."""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from crash.conftest import Opened
from crash.ledger import Ledger
from crash.lives import BY_ITSELF, Nursery, wait_until_settled
from support.talking import open_conversation, say

from memora.assembly import LOCAL_USER, App
from memora.errors import DatabaseUnavailable, DataFolderUnusable

ROOM = 60_000
"""Bytes that the database may still grow by, when the disk is to fill up in the middle of a life."""


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def lived(nursery: Nursery, data_dir: Path, tmp_path: Path) -> Callable[..., Ledger]:
    """Lets lives end by themselves; the ledger of all of them."""
    ledger = Ledger()
    numbers = iter(range(100))

    def live(*, file_limit: int | None = None) -> Ledger:
        number = next(numbers)
        told = tmp_path / f"life-{number}.jsonl"
        nursery.let_live(BY_ITSELF, data_dir=data_dir, number=number, output=told, file_limit=file_limit)
        ledger.read(told)
        return ledger

    return live


def database(data_dir: Path) -> Path:
    return data_dir / "memora.db"


def is_intact(app: App, ledger: Ledger) -> None:
    assert list(ledger.complaints(app)) == []
    wait_until_settled(app)
    assert list(ledger.complaints(app)) == []


def test_a_full_disk_stops_a_life_in_the_middle_and_keeps_what_was_acknowledged(
    lived: Callable[..., Ledger], opened: Opened, data_dir: Path
) -> None:
    before = lived().acknowledged
    limit = database(data_dir).stat().st_size + ROOM
    acknowledged = lived(file_limit=limit).acknowledged - before
    assert 0 <= acknowledged < before  # it came to an end before its time
    with opened(data_dir) as app:
        is_intact(app, lived())


def test_a_file_in_place_of_the_folder_is_named_and_left_alone(opened: Opened, data_dir: Path) -> None:
    data_dir.write_text("a shopping list")
    with pytest.raises((DataFolderUnusable, DatabaseUnavailable)) as refused, opened(data_dir):
        pass
    assert str(data_dir) in str(refused.value.params["path"])
    assert data_dir.read_text() == "a shopping list"


@pytest.mark.parametrize("place", [0, 4096 * 3])
def test_a_damaged_database_is_named_and_left_as_it_is_and_a_copy_brings_all_back(
    lived: Callable[..., Ledger], opened: Opened, data_dir: Path, tmp_path: Path, place: int
) -> None:
    ledger = lived()
    path = database(data_dir)
    shutil.copy(path, tmp_path / "copy.db")
    damaged = bytearray(path.read_bytes())
    damaged[place:] = b"\xff" * (len(damaged) - place)
    path.write_bytes(damaged)
    with pytest.raises(DatabaseUnavailable) as refused, opened(data_dir):
        pass
    assert (refused.value.params["path"], refused.value.params["reason"]) == (str(path), "damaged")
    assert path.read_bytes() == damaged
    shutil.copy(tmp_path / "copy.db", path)
    with opened(data_dir) as app:
        is_intact(app, ledger)


@pytest.fixture
def held(data_dir: Path) -> Iterator[Callable[[], sqlite3.Connection]]:
    """Takes the database for another process; released by closing what it returns."""
    connections: list[sqlite3.Connection] = []

    def hold() -> sqlite3.Connection:
        connections.append(sqlite3.connect(database(data_dir)))
        connections[-1].execute("BEGIN IMMEDIATE")
        return connections[-1]

    yield hold
    for connection in connections:
        connection.close()


def test_a_database_that_another_process_holds_is_told_and_what_was_typed_is_not_lost(
    opened: Opened, data_dir: Path, held: Callable[[], sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memora.providers.database.database.open_database.__kwdefaults__", {"busy_timeout_ms": 50})
    with opened(data_dir) as app:
        conversation_id = open_conversation(app)
        assert say(app, conversation_id, "Hello.").state == "done"
        other = held()
        with pytest.raises(DatabaseUnavailable) as refused:
            app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text="Are you there?")
        assert (refused.value.params["path"], refused.value.params["reason"]) == (str(database(data_dir)), "locked")
        other.close()
        assert say(app, conversation_id, "Are you there?").state == "done"
        assert len(messages(app, conversation_id)) == 2


def test_a_lock_in_the_middle_of_an_answer_loses_neither_message_nor_later_answers(
    opened: Opened, data_dir: Path, held: Callable[[], sqlite3.Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memora.providers.database.database.open_database.__kwdefaults__", {"busy_timeout_ms": 50})
    with opened(data_dir) as app:
        conversation_id = open_conversation(app)
        turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text="Hello. [[slow:1]]")
        wait_until(lambda: app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).reply != "")
        other = held()
        wait_until(lambda: app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is None)
        other.close()
        assert say(app, conversation_id, "Once more.").state == "done"
        assert messages(app, conversation_id)[0] == "Hello. [[slow:1]]"
    with opened(data_dir) as app:
        states = [turn.state for turn in turns(app, conversation_id)]
        assert "running" not in states
        assert states[-1] == "done"


def test_an_index_that_is_deleted_or_older_than_the_record_is_brought_up_to_it(
    lived: Callable[..., Ledger], opened: Opened, data_dir: Path, tmp_path: Path
) -> None:
    lived()
    shutil.copytree(data_dir / "chroma", tmp_path / "older")
    ledger = lived()
    for change in (lambda: shutil.copytree(tmp_path / "older", data_dir / "chroma"), lambda: None):
        shutil.rmtree(data_dir / "chroma")
        change()
        with opened(data_dir) as app:
            is_intact(app, ledger)


def test_an_index_that_is_deleted_while_memora_runs_does_not_stop_the_conversation(
    lived: Callable[..., Ledger], opened: Opened, data_dir: Path
) -> None:
    ledger = lived()
    with opened(data_dir) as app:
        wait_until_settled(app)
        shutil.rmtree(data_dir / "chroma")
        assert say(app, open_conversation(app), "我住在哪裡？").state == "done"
    with opened(data_dir) as app:
        is_intact(app, ledger)


def turns(app: App, conversation_id: str):
    return app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation_id, before=None, limit=10)


def messages(app: App, conversation_id: str) -> list[str]:
    return [turn.user_message for turn in turns(app, conversation_id)]


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.01)
