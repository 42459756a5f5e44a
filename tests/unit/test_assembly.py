import shutil
import time

import pytest

from memora.assembly import LOCAL_USER, build_app
from memora.errors import DatabaseUnavailable, DataFolderInUse, DataFolderUnusable
from memora.memory import Category
from memora.settings import Settings


@pytest.fixture
def start(tmp_path):
    """Starts Memora on a data folder; every started one is closed at the end."""
    apps = []

    def start_app(folder=tmp_path / "data", **environment):
        apps.append(build_app(Settings(MEMORA_DATA_DIR=folder, **environment)))
        return apps[-1]

    yield start_app
    for app in apps:
        app.close()


def wait_for(app, state):
    deadline = time.monotonic() + 60
    while app.status(user_id=LOCAL_USER).index != state:
        assert time.monotonic() < deadline, app.status(user_id=LOCAL_USER)
        time.sleep(0.02)


def remember(app, content):
    return app.memory.add(user_id=LOCAL_USER, content=content, category=Category.PROFILE, importance=3)


def recalled(app, query):
    found = app.memory.search(user_id=LOCAL_USER, query=query)
    return [item.memory.content for item in found.memories], found.degraded


def test_a_folder_that_cannot_be_made_is_named(tmp_path, start):
    (tmp_path / "file").write_text("")
    with pytest.raises(DataFolderUnusable) as refused:
        start(tmp_path / "file" / "data")
    assert refused.value.params["path"] == str(tmp_path / "file" / "data")


def test_a_folder_is_used_by_one_process_at_a_time(tmp_path, start):
    app = start()
    with pytest.raises(DataFolderInUse) as refused:
        start()
    assert refused.value.params["path"] == str(tmp_path / "data")
    app.close()
    start()


def test_a_failed_start_lets_go_of_the_folder(tmp_path, start):
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "memora.db").write_bytes(b"this is no database at all, and long enough to be read as one" * 20)
    with pytest.raises(DatabaseUnavailable):
        start()
    (folder / "memora.db").unlink()
    start()


@pytest.mark.slow
def test_an_index_that_was_deleted_between_two_starts_is_rebuilt_from_the_record(tmp_path, start):
    app = start()
    wait_for(app, "ready")
    remember(app, "使用者住在高雄。")
    app.close()
    shutil.rmtree(tmp_path / "data" / "chroma")
    app = start()
    wait_for(app, "ready")
    assert recalled(app, "Where do I live?") == (["使用者住在高雄。"], None)


@pytest.mark.slow
def test_a_damaged_index_is_set_aside_and_rebuilt_and_nothing_is_deleted(tmp_path, start):
    app = start()
    wait_for(app, "ready")
    remember(app, "使用者住在高雄。")
    app.close()
    chroma = tmp_path / "data" / "chroma"
    for file in chroma.rglob("*.sqlite3"):
        file.write_bytes(b"garbage" * 1000)
    app = start()
    wait_for(app, "ready")
    assert recalled(app, "Where do I live?") == (["使用者住在高雄。"], None)
    assert [path.name for path in (tmp_path / "data").iterdir() if "damaged" in path.name]


@pytest.mark.slow
def test_what_was_written_while_the_index_was_starting_is_indexed_later(start):
    app = start()
    remember(app, "使用者住在高雄。")
    wait_for(app, "ready")
    deadline = time.monotonic() + 60
    while len(app.memory.index.revisions(user_id=LOCAL_USER)) != 1:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_the_app_says_which_model_answers(start):
    status = start(OPENAI_BASE_URL="http://localhost:9/v1", MEMORA_MODEL="qwen3").status(user_id=LOCAL_USER)
    assert (status.is_demo, status.model, status.endpoint) == (False, "qwen3", "localhost:9")
