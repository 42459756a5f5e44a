import sqlite3
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest
from sqlalchemy import event

from memora.errors import DatabaseUnavailable
from memora.providers.database import open_database


def unavailable(url: str) -> dict:
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(url, busy_timeout_ms=50)
    return caught.value.params


def test_the_folder_is_created_and_everything_is_there_after_a_restart(url):
    database = open_database(url)
    created = database.turns.create_conversation(user_id="mei", title="x", at=_now())
    database.close()
    database = open_database(url)
    assert database.turns.conversations(user_id="mei", limit=10) == (created,)
    database.close()


def test_what_is_committed_survives_a_power_cut_and_readers_do_not_wait(database):
    connection = sqlite3.connect(database.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()
    with database._file.reading() as inside:
        assert inside.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert inside.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_threads_write_at_once_and_lose_nothing(record):
    conversations = [record.conversation(f"user {number}") for number in range(4)]

    def ask(number: int) -> None:
        for text in range(10):
            record.asked(conversations[number], str(text), user_id=f"user {number}")
            record.memory(f"memory {text}", user_id=f"user {number}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(4)))
    for number in range(4):
        turns = record.turns.turns(
            user_id=f"user {number}", conversation_id=conversations[number], before=None, limit=100
        )
        assert [turn.position for turn in turns] == list(range(1, 11))
        assert [turn.user_message for turn in turns] == [str(text) for text in range(10)]
        assert len(record.memories.revisions(user_id=f"user {number}")) == 10


def test_questions_to_one_conversation_from_several_threads_each_get_their_own_position(record):
    conversation = record.conversation()
    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda number: record.asked(conversation, str(number)), range(20)))
    assert sorted(turn.position for turn in turns) == list(range(1, 21))


def test_a_database_that_another_process_holds_is_locked_and_then_usable_again(record, database):
    conversation = record.conversation()
    other = sqlite3.connect(database.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseUnavailable) as caught:
        record.asked(conversation)
    assert caught.value.params == {"path": str(database.path), "reason": "locked"}
    assert record.turns.count_turns(user_id="mei", conversation_id=conversation) == 0
    other.close()
    assert record.asked(conversation).position == 1


def test_a_locked_database_cannot_be_opened_for_the_first_time(tmp_path):
    path = tmp_path / "memora.db"
    other = sqlite3.connect(path)
    other.execute("BEGIN EXCLUSIVE")
    assert unavailable(f"sqlite:///{path}") == {"path": str(path), "reason": "locked"}
    other.close()


def test_a_read_only_database_can_be_read_and_says_so_when_written(record, database):
    record.preferences.save_preferences(user_id="mei", preferences=record.preferences.preferences(user_id="mei"))
    read_only = open_database(f"sqlite:///file:{database.path}?mode=ro&uri=true")
    assert read_only.turns.conversations(user_id="mei", limit=1) == ()
    with pytest.raises(DatabaseUnavailable) as caught:
        read_only.turns.create_conversation(user_id="mei", title="x", at=_now())
    assert caught.value.params == {"path": str(database.path), "reason": "read_only"}
    read_only.close()


def test_a_file_in_place_of_the_folder_is_named(tmp_path):
    (tmp_path / "data").write_text("not a folder")
    path = tmp_path / "data" / "memora.db"
    assert unavailable(f"sqlite:///{path}") == {"path": str(path), "reason": "cannot_open"}


def test_a_folder_in_place_of_the_file_is_named(tmp_path):
    assert unavailable(f"sqlite:///{tmp_path}") == {"path": str(tmp_path), "reason": "cannot_open"}


def test_a_file_that_is_no_database_is_left_as_it_is(tmp_path):
    path = tmp_path / "memora.db"
    path.write_text("This is a shopping list. " * 100)
    before = path.read_bytes()
    assert unavailable(f"sqlite:///{path}") == {"path": str(path), "reason": "damaged"}
    assert path.read_bytes() == before


def test_a_damaged_page_is_reported_when_it_is_met(record, database, url):
    for number in range(200):
        record.memory(f"fact number {number}")
    database.close()
    path = Path(database.path)
    damaged = bytearray(path.read_bytes())
    damaged[4096 : len(damaged) // 4096 * 4096] = b"\xff" * (len(damaged) // 4096 * 4096 - 4096)
    path.write_bytes(damaged)
    assert unavailable(url)["reason"] == "damaged"


def test_a_full_disk_loses_nothing_that_was_there(record, database):
    memory = record.memory("kept")
    with database._file.writing() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
    database.close()
    full = open_database(f"sqlite:///{database.path}")
    _limit_pages(full, pages)
    with pytest.raises(DatabaseUnavailable) as caught:
        full.memories.add(
            user_id="mei",
            content="too much " * 5_000,
            category=memory.category,
            importance=3,
            provenance=memory.provenance,
            at=_now(),
        )
    assert caught.value.params["reason"] == "disk_full"
    assert full.memories.revisions(user_id="mei") == {memory.id: 1}
    full.close()


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_database_in_memory_would_forget_and_is_refused(url):
    assert unavailable(url)["reason"] == "not_a_file"


class TestBackup:
    def test_is_a_whole_database_of_the_moment(self, record, database, tmp_path):
        memory = record.memory("kept")
        target = tmp_path / "backups" / "copy.db"
        database.backup(target)
        record.memory("later")
        copy = open_database(f"sqlite:///{target}")
        assert copy.memories.revisions(user_id="mei") == {memory.id: 1}
        copy.close()

    def test_replaces_an_earlier_one(self, record, database, tmp_path):
        target = tmp_path / "copy.db"
        database.backup(target)
        memory = record.memory("later")
        database.backup(target)
        copy = open_database(f"sqlite:///{target}")
        assert copy.memories.revisions(user_id="mei") == {memory.id: 1}
        copy.close()
        assert not target.with_name("copy.db.part").exists()

    def test_never_replaces_the_database_itself(self, record, database):
        with pytest.raises(DatabaseUnavailable):
            database.backup(database.path)
        assert record.conversation()

    def test_that_cannot_be_written_names_the_target(self, database, tmp_path):
        (tmp_path / "file").write_text("")
        target = tmp_path / "file" / "copy.db"
        with pytest.raises(DatabaseUnavailable) as caught:
            database.backup(target)
        assert caught.value.params["path"] == str(target)


def _now():
    return datetime(2026, 3, 1, tzinfo=UTC)


def _limit_pages(database, pages: int) -> None:
    """Have SQLite behave as on a full disk: no connection may make the file longer."""
    event.listen(database._file._engine, "checkout", lambda c, *_: c.execute(f"PRAGMA max_page_count = {pages}"))
