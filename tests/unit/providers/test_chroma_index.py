from __future__ import annotations

import contextlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from memora.memory.ports import IndexEntry, IndexUnavailable
from memora.providers import chroma_index
from memora.providers.chroma_client import ChromaClient
from memora.providers.chroma_index import ChromaIndex

USER = "mei"


def entry(memory_id: str, *vector: float, revision: int = 1) -> IndexEntry:
    return IndexEntry(memory_id=memory_id, revision=revision, vector=vector)


EAST, NORTH, NORTH_EAST = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.6, 0.8, 0.0)


@pytest.fixture
def opened() -> Iterator[list[ChromaIndex]]:
    indexes: list[ChromaIndex] = []
    yield indexes
    for index in indexes:
        index.close()


@pytest.fixture
def index(tmp_path: Path, opened: list[ChromaIndex]) -> ChromaIndex:
    return start(tmp_path, opened)


def start(
    data_dir: Path, opened: list[ChromaIndex], *, embedder: str = "test/3", url: str | None = None
) -> ChromaIndex:
    index = ChromaIndex(data_dir=data_dir, chroma_url=url, embedder=embedder)
    opened.append(index)
    return index


def fill(index: ChromaIndex, *, count: int = 3) -> None:
    """With enough entries for Chroma to write its graph to the disk, when ``count`` is above its threshold."""
    entries = [entry(f"m{number}", 1.0, number / count, 0.0) for number in range(count)]
    index.upsert(user_id=USER, entries=entries)


def test_building_an_index_touches_no_disk(tmp_path: Path) -> None:
    ChromaIndex(data_dir=tmp_path / "data", chroma_url=None, embedder="test/3")
    assert list(tmp_path.iterdir()) == []


def test_the_nearest_come_first_with_their_cosine(index: ChromaIndex) -> None:
    index.upsert(user_id=USER, entries=[entry("east", *EAST), entry("north", *NORTH), entry("both", *NORTH_EAST)])
    found = index.search(user_id=USER, vector=NORTH, limit=2)
    assert [memory_id for memory_id, _ in found] == ["north", "both"]
    assert [cosine for _, cosine in found] == pytest.approx([1.0, 0.8], abs=1e-5)


def test_an_empty_index_finds_nothing(index: ChromaIndex) -> None:
    assert index.search(user_id=USER, vector=EAST, limit=5) == ()
    assert index.revisions(user_id=USER) == {}


def test_an_index_emptied_again_finds_nothing(index: ChromaIndex) -> None:
    fill(index)
    index.remove(user_id=USER, memory_ids=["m0", "m1", "m2", "never-there"])
    assert index.search(user_id=USER, vector=EAST, limit=5) == ()


def test_removing_from_an_empty_index_is_nothing(index: ChromaIndex) -> None:
    index.remove(user_id=USER, memory_ids=["m0"])
    index.remove(user_id=USER, memory_ids=[])
    index.forget_user(user_id=USER)
    assert index.revisions(user_id=USER) == {}


def test_an_entry_is_replaced_with_its_revision(index: ChromaIndex) -> None:
    index.upsert(user_id=USER, entries=[entry("m", *EAST)])
    index.upsert(user_id=USER, entries=[entry("m", *EAST, revision=2), entry("m", *NORTH, revision=3)])
    assert index.revisions(user_id=USER) == {"m": 3}
    assert index.search(user_id=USER, vector=NORTH, limit=1) == (("m", pytest.approx(1.0, abs=1e-5)),)


def test_more_entries_than_a_batch_arrive(index: ChromaIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chroma_index, "BATCH", 7)
    fill(index, count=20)
    assert len(index.revisions(user_id=USER)) == 20
    index.remove(user_id=USER, memory_ids=[f"m{number}" for number in range(19)])
    assert index.revisions(user_id=USER) == {"m19": 1}


def test_users_do_not_see_each_other(index: ChromaIndex) -> None:
    index.upsert(user_id="mei", entries=[entry("mine", *EAST)])
    index.upsert(user_id="an/other ‘user’", entries=[entry("theirs", *EAST)])
    assert [memory_id for memory_id, _ in index.search(user_id="mei", vector=EAST, limit=9)] == ["mine"]
    index.remove(user_id="mei", memory_ids=["theirs"])
    index.forget_user(user_id="mei")
    assert index.revisions(user_id="mei") == {}
    assert index.revisions(user_id="an/other ‘user’") == {"theirs": 1}


def test_another_embedder_has_an_index_of_its_own(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    fill(start(tmp_path, opened))
    other = start(tmp_path, opened, embedder="test/2")
    assert other.revisions(user_id=USER) == {}
    other.upsert(user_id=USER, entries=[entry("m", 1.0, 0.0)])
    assert other.search(user_id=USER, vector=(1.0, 0.0), limit=1) == (("m", pytest.approx(1.0, abs=1e-5)),)


def test_forgetting_a_user_reaches_what_another_embedder_left(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    before = start(tmp_path, opened)
    fill(before)
    start(tmp_path, opened, embedder="test/2").forget_user(user_id=USER)
    assert before.revisions(user_id=USER) == {}


def test_a_vector_of_the_wrong_length_is_reported(index: ChromaIndex) -> None:
    fill(index)
    with pytest.raises(IndexUnavailable) as caught:
        index.search(user_id=USER, vector=(1.0, 0.0), limit=1)
    assert caught.value.code == "broken"


def test_vectors_without_direction_find_nothing_wrong(index: ChromaIndex) -> None:
    fill(index)
    assert index.search(user_id=USER, vector=(float("nan"),) * 3, limit=3) == ()


def test_entries_are_there_after_a_restart(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    index = start(tmp_path, opened)
    fill(index)
    index.close()
    assert start(tmp_path, opened).revisions(user_id=USER) == {"m0": 1, "m1": 1, "m2": 1}


def test_a_folder_deleted_between_two_starts_is_an_empty_index(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    index = start(tmp_path, opened)
    fill(index)
    index.close()
    shutil.rmtree(tmp_path / "chroma")
    again = start(tmp_path, opened)
    assert again.revisions(user_id=USER) == {}
    fill(again)
    assert len(again.search(user_id=USER, vector=EAST, limit=9)) == 3


def test_a_folder_deleted_under_way_is_reported_and_then_begun_anew(index: ChromaIndex, tmp_path: Path) -> None:
    fill(index)
    shutil.rmtree(tmp_path / "chroma")
    with pytest.raises(IndexUnavailable) as caught:
        fill(index)
    assert caught.value.code == "broken"
    assert index.revisions(user_id=USER) == {}
    fill(index)
    assert len(index.search(user_id=USER, vector=EAST, limit=9)) == 3


@pytest.mark.parametrize("damage", [b"no database at all" * 500, b""], ids=["garbage", "empty"])
def test_a_damaged_database_is_moved_aside_and_the_index_begun_anew(
    damage: bytes, tmp_path: Path, opened: list[ChromaIndex]
) -> None:
    index = start(tmp_path, opened)
    fill(index)
    index.close()
    (tmp_path / "chroma" / "chroma.sqlite3").write_bytes(damage)
    again = start(tmp_path, opened)
    assert again.revisions(user_id=USER) == {}
    fill(again)
    assert len(again.search(user_id=USER, vector=EAST, limit=9)) == 3
    if damage:
        [aside] = tmp_path.glob("chroma-damaged-*")
        assert (aside / "chroma.sqlite3").read_bytes() == damage


@pytest.mark.parametrize("table", ["migrations", "collections", "segments", "embeddings_queue"])
def test_a_page_that_chroma_would_come_to_later_is_found_damaged_at_the_start(
    table: str, tmp_path: Path, opened: list[ChromaIndex]
) -> None:
    index = start(tmp_path, opened)
    fill(index)
    index.close()
    damage(tmp_path / "chroma" / "chroma.sqlite3", table)
    again = start(tmp_path, opened)
    assert again.revisions(user_id=USER) == {}
    fill(again)
    assert len(again.search(user_id=USER, vector=EAST, limit=9)) == 3
    assert len(list(tmp_path.glob("chroma-damaged-*"))) == 1


def test_a_database_found_damaged_under_way_is_reported_and_then_begun_anew(index: ChromaIndex, tmp_path: Path) -> None:
    fill(index)
    assert len(index.revisions(user_id=USER)) == 3
    damage(tmp_path / "chroma" / "chroma.sqlite3", "embeddings_queue")
    # Chroma itself may go on for a while with what it has read.
    with pytest.raises(IndexUnavailable) as caught:
        index.upsert(user_id=USER, entries=[entry("of another length", 1.0)])
    assert caught.value.code == "broken"
    fill(index)
    assert len(index.search(user_id=USER, vector=EAST, limit=9)) == 3
    assert len(list(tmp_path.glob("chroma-damaged-*"))) == 1


def damage(database: Path, table: str) -> None:
    """Overwrite the first page of a table."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        (size,) = connection.execute("PRAGMA page_size").fetchone()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", [table]).fetchone()
    with database.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)


class PanicException(BaseException):
    """As Python's binding of Rust throws it."""


def test_a_panic_of_chromas_core_is_an_error_and_ends_no_thread(tmp_path: Path) -> None:
    client = ChromaClient(folder=tmp_path / "chroma", url=None)
    with pytest.raises(IndexUnavailable) as caught, client.use():
        raise PanicException("called `unwrap()` on an `Err` value")
    assert caught.value.code == "broken"
    client.close()


def test_a_file_in_place_of_the_folder_is_moved_aside(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    (tmp_path / "chroma").write_text("not a folder")
    fill(start(tmp_path, opened))
    [aside] = tmp_path.glob("chroma-damaged-*")
    assert aside.read_text() == "not a folder"


def test_a_folder_that_cannot_be_made_is_reported(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    (tmp_path / "data").write_text("a file")
    with pytest.raises(IndexUnavailable) as caught:
        start(tmp_path / "data", opened).warm()
    assert caught.value.code == "broken"


def test_a_folder_that_could_not_be_made_is_made_once_it_can(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    (tmp_path / "chroma").symlink_to(tmp_path / "nowhere" / "at-all")
    with pytest.raises(IndexUnavailable):
        start(tmp_path, opened).warm()
    (tmp_path / "chroma").unlink()
    index = start(tmp_path, opened)
    fill(index)
    assert len(index.search(user_id=USER, vector=EAST, limit=9)) == 3


@pytest.mark.parametrize("lost", ["index_metadata.pickle", "data_level0.bin", "header.bin"])
def test_a_collection_with_damaged_vectors_is_begun_anew(lost: str, tmp_path: Path, opened: list[ChromaIndex]) -> None:
    index = start(tmp_path, opened)
    fill(index, count=1_001)
    index.close()
    [file] = (tmp_path / "chroma").rglob(lost)
    file.unlink()
    again = start(tmp_path, opened)
    assert again.revisions(user_id=USER) == {}
    fill(again)
    assert len(again.search(user_id=USER, vector=EAST, limit=9)) == 3


def test_many_threads_use_one_index(index: ChromaIndex) -> None:
    def work(name: str) -> None:
        for number in range(5):
            index.upsert(user_id=USER, entries=[entry(f"{name}{number}", *EAST)])
            index.search(user_id=USER, vector=EAST, limit=3)
            index.revisions(user_id=USER)

    with ThreadPoolExecutor(max_workers=4) as threads:
        list(threads.map(work, "abcd"))
    assert len(index.revisions(user_id=USER)) == 20


def test_a_server_that_is_not_there_is_unreachable(tmp_path: Path, opened: list[ChromaIndex]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    index = start(tmp_path, opened, url=f"http://127.0.0.1:{port}")
    for _ in range(2):
        with pytest.raises(IndexUnavailable) as caught:
            index.search(user_id=USER, vector=EAST, limit=1)
        assert caught.value.code == "unreachable"
    assert list(tmp_path.iterdir()) == []


@pytest.fixture
def server_url(tmp_path: Path) -> Iterator[str]:
    """A real Chroma server in a process of its own."""
    with socket.create_server(("127.0.0.1", 0)) as reserved:
        port = reserved.getsockname()[1]
    run = ["run", "--path", str(tmp_path / "server"), "--host", "127.0.0.1", "--port", str(port)]
    program = f"import sys; from chromadb.cli.cli import app; sys.argv[1:] = {run!r}; app()"
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        for _ in range(300):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
        server.kill()


def test_a_server_holds_the_index_as_well(server_url: str, tmp_path: Path, opened: list[ChromaIndex]) -> None:
    index = start(tmp_path / "data", opened, url=server_url)
    assert index.search(user_id=USER, vector=EAST, limit=3) == ()
    fill(index)
    index.remove(user_id=USER, memory_ids=["m1"])
    assert index.revisions(user_id=USER) == {"m0": 1, "m2": 1}
    assert index.search(user_id=USER, vector=EAST, limit=1) == (("m0", pytest.approx(1.0, abs=1e-5)),)
    index.forget_user(user_id=USER)
    assert index.revisions(user_id=USER) == {}
    assert not (tmp_path / "data").exists()
