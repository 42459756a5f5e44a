"""A disk that is full, a file that is damaged, locked or gone: a clear error, nothing lost, nothing overwritten."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from crash.conftest import Opened
from crash.ledger import Ledger
from crash.lives import Death, Family, Nursery, wait_until_settled
from crash.nursery import REFUSED
from support.scale import scaled
from support.talking import open_conversation, say
from support.waiting import wait_until

from memora.assembly import LOCAL_USER, App
from memora.errors import DatabaseUnavailable, DataFolderUnusable
from memora.memory import Category
from memora.turn.ports import Turn

ROOM = 60_000
"""Bytes that a file may still grow by, when the disk is to fill up in the middle of a life."""
PAGE = 4096
UNTIL_REFUSED = Death(point="never")


@pytest.fixture(scope="module")
def parents(nursery: Nursery, tmp_path_factory: pytest.TempPathFactory) -> Family:
    family = Family(nursery, tmp_path_factory.mktemp("parents"))
    assert family.live() == 0
    return family


@pytest.fixture
def family(parents: Family, tmp_path: Path) -> Family:
    """Of which one life has come to its end already."""
    return parents.branch(tmp_path)


def database(family: Family) -> Path:
    return family.data_dir / "memora.db"


def index(family: Family) -> Path:
    return family.data_dir / "chroma"


def is_intact(app: App, ledger: Ledger) -> None:
    assert list(ledger.complaints(app)) == []
    wait_until_settled(app)
    assert list(ledger.complaints(app)) == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody waits for a lock for long."""
    monkeypatch.setattr("memora.providers.database.database.open_database.__kwdefaults__", {"busy_timeout_ms": 50})
    monkeypatch.setattr("memora.turn.runner.RECORD_AGAIN_SECONDS", 0.05)


# A full disk.


def test_a_disk_that_fills_up_is_told_with_the_path_and_keeps_what_was_acknowledged(
    family: Family, opened: Opened
) -> None:
    limit = database(family).stat().st_size + ROOM
    assert family.live(UNTIL_REFUSED, file_limit=limit) == REFUSED
    (refused,) = family.ledger.refused
    assert (refused["code"], refused["path"]) == ("database_unavailable", str(database(family)))
    assert refused["reason"] in ("io_error", "disk_full")
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)
    assert family.live() == 0


def test_a_database_without_room_refuses_and_takes_everything_again_once_there_is(
    family: Family, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken: list[str] = []
    with monkeypatch.context() as patch, closing(sqlite3.connect(database(family))) as connection:
        (pages,) = connection.execute("PRAGMA page_count").fetchone()
        limited = ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON", f"max_page_count = {pages + 8}")
        patch.setattr("memora.providers.database.engine._PRAGMAS", limited)
        with opened(family.data_dir) as app, pytest.raises(DatabaseUnavailable) as refused:
            while True:
                content = f"{len(taken)} " + "a long story " * 20
                add(app, content)
                taken.append(content)
    assert (refused.value.params["path"], refused.value.params["reason"]) == (str(database(family)), "disk_full")
    assert taken
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)
        assert [content for content in taken if not app.memory.find_same(user_id=LOCAL_USER, content=content)] == []
        assert add(app, content).content == content.strip()


# A folder that cannot be used.


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """The folder and all in it; lives obey, root's too."""
    everything = [folder, *folder.rglob("*")]
    modes = {path: path.stat().st_mode for path in everything}
    for path in reversed(everything):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield
    for path in everything:
        path.chmod(modes[path])


def test_a_data_folder_that_became_read_only_is_named_and_left_alone(family: Family, opened: Opened) -> None:
    before = contents(family.data_dir)
    with read_only(family.data_dir):
        assert family.live() == REFUSED
    (refused,) = family.ledger.refused
    assert (refused["what"], refused["code"]) == ("start", "data_folder_unusable")
    assert refused["path"] == str(family.data_dir)
    assert contents(family.data_dir) == before
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_a_database_that_became_read_only_is_named_and_left_alone(family: Family, opened: Opened) -> None:
    before = database(family).read_bytes()
    database(family).chmod(0o444)
    assert family.live() == REFUSED
    (refused,) = family.ledger.refused
    assert refused["code"] == "database_unavailable"
    assert (refused["path"], refused["reason"]) == (str(database(family)), "read_only")
    assert database(family).read_bytes() == before
    database(family).chmod(0o644)
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_an_index_that_became_read_only_does_not_stop_anything_and_is_kept(family: Family, opened: Opened) -> None:
    with read_only(index(family)):
        assert family.live() == 0
    assert set_aside(family) == []
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_a_file_in_place_of_the_folder_is_named_and_left_alone(opened: Opened, tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("a shopping list")
    with pytest.raises(DataFolderUnusable) as refused, opened(file):
        pass
    assert refused.value.params["path"] == str(file)
    assert file.read_text() == "a shopping list"


# A damaged record.


@pytest.mark.parametrize("place", ["the header", "everything but the header"])
def test_a_damaged_database_is_named_and_left_as_it_is_and_a_copy_brings_all_back(
    family: Family, opened: Opened, tmp_path: Path, place: str
) -> None:
    path = database(family)
    shutil.copy(path, tmp_path / "copy.db")
    damaged = damage(path, slice(0, PAGE) if place == "the header" else slice(PAGE, None))
    with pytest.raises(DatabaseUnavailable) as refused, opened(family.data_dir):
        pass
    assert (refused.value.params["path"], refused.value.params["reason"]) == (str(path), "damaged")
    assert path.read_bytes() == damaged
    shutil.copy(tmp_path / "copy.db", path)
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_a_damaged_page_is_told_when_it_is_met_and_what_lies_elsewhere_stays_usable(
    family: Family, opened: Opened, tmp_path: Path
) -> None:
    path = database(family)
    shutil.copy(path, tmp_path / "copy.db")
    damage(path, page_of(path, "memories"))
    with opened(family.data_dir) as app:
        with pytest.raises(DatabaseUnavailable) as refused:
            add(app, "something new")
        assert (refused.value.params["path"], refused.value.params["reason"]) == (str(path), "damaged")
        turn = say(app, open_conversation(app), "How many words are in 'one two three'?")
        assert (turn.state, bool(turn.reply)) == ("done", True)
    shutil.copy(tmp_path / "copy.db", path)
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


# A database that another process holds.


@pytest.fixture
def held(family: Family) -> Iterator[Callable[[], sqlite3.Connection]]:
    """Takes the database for another process; released by closing what it returns."""
    connections: list[sqlite3.Connection] = []

    def hold() -> sqlite3.Connection:
        connections.append(sqlite3.connect(database(family)))
        connections[-1].execute("BEGIN IMMEDIATE")
        return connections[-1]

    yield hold
    for connection in connections:
        connection.close()


@pytest.mark.usefixtures("impatient")
def test_a_database_that_another_process_holds_is_told_and_what_was_typed_is_not_lost(
    family: Family, opened: Opened, held: Callable[[], sqlite3.Connection]
) -> None:
    with opened(family.data_dir) as app:
        conversation_id = open_conversation(app)
        assert say(app, conversation_id, "Hello.").state == "done"
        other = held()
        with pytest.raises(DatabaseUnavailable) as refused:
            app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text="Are you there?")
        assert (refused.value.params["path"], refused.value.params["reason"]) == (str(database(family)), "locked")
        other.close()
        assert say(app, conversation_id, "Are you there?").state == "done"
        assert [turn.user_message for turn in turns(app, conversation_id)] == ["Hello.", "Are you there?"]


@pytest.mark.usefixtures("impatient")
def test_an_answer_that_could_not_be_recorded_keeps_its_text_and_ends_once_the_record_can_be_written(
    family: Family, opened: Opened, held: Callable[[], sqlite3.Connection]
) -> None:
    with opened(family.data_dir) as app:
        conversation_id = open_conversation(app)
        turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text="Hello. [[slow:1]]")
        wait_until(lambda: app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).live_text != "", seconds=30.0)
        other = held()
        wait_until(lambda: app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).failure is not None, seconds=30.0)
        arrived = app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).reply
        assert turns(app, conversation_id)[0].state == "running"
        other.close()
        wait_until(lambda: app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is None, seconds=30.0)
        (ended,) = turns(app, conversation_id)
        assert (ended.user_message, ended.state, ended.reply) == ("Hello. [[slow:1]]", "cut_off", arrived)
        assert (ended.failure.code, ended.failure.params["path"]) == ("database_unavailable", str(database(family)))
        app.runner.retry(user_id=LOCAL_USER, turn_id=turn.id)
        wait_until(lambda: turns(app, conversation_id)[0].state == "done", seconds=30.0)


# A damaged, deleted or older index.


DAMAGES: dict[str, Callable[[Path], object]] = {
    "its header": lambda folder: damage(folder / "chroma.sqlite3", slice(0, PAGE)),
    "its middle": lambda folder: damage(folder / "chroma.sqlite3", slice(PAGE * 8, PAGE * 40)),
    "a page of the queue": lambda folder: damage_table(folder / "chroma.sqlite3", "embeddings_queue"),
    "a page of the collections": lambda folder: damage_table(folder / "chroma.sqlite3", "collections"),
    "cut short": lambda folder: (folder / "chroma.sqlite3").write_bytes(
        (folder / "chroma.sqlite3").read_bytes()[: PAGE * 10]
    ),
    "emptied": lambda folder: (folder / "chroma.sqlite3").write_bytes(b""),
    "a file in its place": lambda folder: (shutil.rmtree(folder), folder.write_text("a shopping list")),
}


@pytest.mark.parametrize("damaged", scaled(short=("its middle", "emptied", "a file in its place"), full=tuple(DAMAGES)))
def test_a_damaged_index_is_set_aside_and_made_anew_from_the_record_while_the_chat_goes_on(
    family: Family, opened: Opened, damaged: str
) -> None:
    DAMAGES[damaged](index(family))
    with opened(family.data_dir) as app:
        assert say(app, open_conversation(app), "我住在哪裡？").state == "done"
        is_intact(app, family.ledger)
        assert add(app, "something new").content == "something new"
        is_intact(app, family.ledger)
    assert len(set_aside(family)) == (damaged != "emptied")  # of which nothing is left to be kept


def test_an_index_that_is_damaged_while_memora_runs_stops_nothing_and_is_made_anew(
    family: Family, opened: Opened
) -> None:
    with opened(family.data_dir) as app:
        wait_until_settled(app)
        damage(index(family) / "chroma.sqlite3", slice(PAGE, None))
        assert say(app, open_conversation(app), "我住在哪裡？").state == "done"
        assert add(app, "something new").content == "something new"
        assert say(app, open_conversation(app), "我住在哪裡？").state == "done"
        is_intact(app, family.ledger)
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_an_index_that_is_deleted_or_older_than_the_record_is_brought_up_to_it(
    family: Family, opened: Opened, tmp_path: Path
) -> None:
    shutil.copytree(index(family), tmp_path / "older")
    family.live()
    shutil.rmtree(index(family))
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)
    shutil.rmtree(index(family))
    shutil.copytree(tmp_path / "older", index(family))
    with opened(family.data_dir) as app:
        is_intact(app, family.ledger)


def test_an_index_that_is_deleted_while_memora_runs_does_not_stop_the_conversation(
    family: Family, opened: Opened
) -> None:
    with opened(family.data_dir) as app:
        wait_until_settled(app)
        shutil.rmtree(index(family))
        assert say(app, open_conversation(app), "我住在哪裡？").state == "done"
        is_intact(app, family.ledger)


def damage(path: Path, where: slice) -> bytes:
    """Overwrite a part of the file; what it holds now."""
    content = bytearray(path.read_bytes())
    content[where] = b"\xff" * len(content[where])
    path.write_bytes(content)
    return bytes(content)


def damage_table(path: Path, table: str) -> None:
    damage(path, page_of(path, table))


def page_of(path: Path, table: str) -> slice:
    """Where the first page of the table's rows lies in the file."""
    with closing(sqlite3.connect(path)) as connection:
        (number,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    return slice((number - 1) * PAGE, number * PAGE)


def set_aside(family: Family) -> list[Path]:
    return list(family.data_dir.glob("chroma-damaged-*"))


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def add(app: App, content: str):
    return app.memory.add(user_id=LOCAL_USER, content=content, category=Category.EXPERIENCE, importance=2)


def turns(app: App, conversation_id: str) -> list[Turn]:
    return list(app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation_id, before=None, limit=10))
