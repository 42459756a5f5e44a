"""The process is killed at every named point of a turn and of its write path; then Memora starts again."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from memora.assembly import LOCAL_USER, build_app
from memora.memory import MemoryQuery
from memora.settings import load_settings

CHILD = Path(__file__).with_name("child.py")
MESSAGE = "我叫小美，住在台北，正在準備三月的 IELTS 考試。"
SIGKILLED = -9

IN_THE_ANSWER = (
    "after:turn_started",
    "after:recall_finished",
    "before:request_started",
    "after:request_started",
    "after:request_finished",
)
AFTER_THE_ANSWER = (
    "before:turn_finished",
    "after:turn_finished",
    "after:learning_started",
    "after:candidates_extracted",
    "before:commit",
    "after:commit",
    "after:learning_finished",
)


def run_child(data_dir, point):
    return subprocess.run(
        [sys.executable, CHILD, data_dir, point, MESSAGE], capture_output=True, text=True, timeout=60, check=False
    )


@pytest.fixture
def restart(tmp_path, monkeypatch):
    """Opens Memora again on the folder that the killed process left."""
    monkeypatch.setenv("MEMORA_DATA_DIR", str(tmp_path))
    opened = []

    def start():
        opened.append(build_app(load_settings()))
        return opened[-1]

    yield start
    for app in opened:
        app.close()


def only_turn(app):
    (conversation,) = app.turns.conversations(user_id=LOCAL_USER, limit=10)
    (turn,) = app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation.id, before=None, limit=10)
    return turn


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it never happened"
        time.sleep(0.02)


def memories(app):
    return app.memory.page(user_id=LOCAL_USER, query=MemoryQuery(status="all", limit=100)).memories


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_THE_ANSWER)
def test_an_answer_that_was_killed_is_shown_as_interrupted_with_its_question_kept(tmp_path, restart, point):
    child = run_child(tmp_path, point)
    assert child.returncode == SIGKILLED, child.stderr
    app = restart()
    turn = only_turn(app)
    assert (turn.user_message, turn.state, turn.learning) == (MESSAGE, "interrupted", "none")
    trace = app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
    assert (trace.state, trace.failure.code) == ("interrupted", "interrupted")
    assert memories(app) == ()


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_THE_ANSWER[3:5])
def test_an_interrupted_answer_can_be_had_again(tmp_path, restart, point):
    assert run_child(tmp_path, point).returncode == SIGKILLED
    app = restart()
    app.runner.retry(user_id=LOCAL_USER, turn_id=only_turn(app).id)
    wait_until(lambda: only_turn(app).learning == "done")
    assert only_turn(app).state == "done"
    assert len(memories(app)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("point", AFTER_THE_ANSWER)
def test_a_write_path_that_was_killed_is_finished_exactly_once(tmp_path, restart, point):
    child = run_child(tmp_path, point)
    assert child.returncode == SIGKILLED, child.stderr
    app = restart()
    wait_until(lambda: only_turn(app).learning == "done")
    turn = only_turn(app)
    assert (turn.state, turn.digest.state) == ("done", "done")
    assert turn.reply
    assert app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).reply == turn.reply
    stored = memories(app)
    assert len(stored) == 3
    assert len({memory.content for memory in stored}) == 3
    for memory in stored:
        history = app.memory.history(user_id=LOCAL_USER, memory_id=memory.id)
        assert [entry.action for entry in history] == ["created"]
        assert memory.provenance.turn_id == turn.id
        assert memory.provenance.quote in MESSAGE
    wait_until(lambda: not app.memory.needs_refresh(user_id=LOCAL_USER))
    wait_until(lambda: len(app.memory.index.revisions(user_id=LOCAL_USER)) == 3)


@pytest.mark.slow
def test_a_turn_that_was_not_killed_leaves_nothing_to_finish(tmp_path, restart):
    child = run_child(tmp_path, "never")
    assert child.returncode == 0, child.stderr
    app = restart()
    turn = only_turn(app)
    assert (turn.state, turn.learning, turn.learning_attempts) == ("done", "done", 1)
    assert len(memories(app)) == 3
