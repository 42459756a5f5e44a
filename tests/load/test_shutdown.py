"""The app as it is served gets SIGTERM in the middle of everything: it ends soon, and the record says what was cut."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

import pytest
from browser.running_app import free_port
from load.children import environment_of
from servers.launch import responses_server
from support.figures import count
from support.waiting import wait_until

from memora.assembly import LOCAL_USER, build_app
from memora.memory import MemoryQuery
from memora.providers.demo.request import read_request
from memora.settings import APP_FOLDER, Settings

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

START_SECONDS = 60.0
END_SECONDS = 15.0
"""Within which the process ends. Nobody who stops a service waits longer."""

RUNNING = [
    *(f"Message {number}. [[slow:60]]" for number in range(6)),
    "A server that never answers. [[fail:timeout]]",
    "A server that fails, and is asked again and again. [[fail:500]]",
]
"""As many as there are workers."""
WAITING = ["The first that waits.", "The second that waits."]
LEARNING = "I live in Taipei. [[slow:60x1@extraction]]"
"""Answered at once, and then learned from for a minute."""


@pytest.fixture(scope="module")
def server():
    with responses_server(words_per_second=2_000.0) as server:
        yield server


@contextmanager
def served(server, folder, messages):
    """The process, listening, and the ids of the turns that it has acknowledged."""
    port = free_port()
    environment = environment_of(
        server, folder, MEMORA_PORT=str(port), MEMORA_MAX_RETRIES="10", STREAMLIT_SERVER_HEADLESS="true"
    )
    command = [sys.executable, "-m", "load.served", *messages]
    with (folder / "log.txt").open("wb") as log:
        process = subprocess.Popen(
            command, env=environment, cwd=APP_FOLDER, stdout=subprocess.PIPE, stderr=log, text=True
        )
    try:
        turn_ids = acknowledged(process.stdout)
        assert turn_ids, (folder / "log.txt").read_text()
        wait_until(lambda: is_listening(port), seconds=START_SECONDS)
        yield process, turn_ids
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def acknowledged(output):
    """The ids in the first line that is not Streamlit's own; none when the process ended before."""
    return next((json.loads(line) for line in output if line.startswith("[")), [])


def is_listening(port):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/_stcore/health", timeout=2) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False


def end(process, folder):
    """Ask the process to end, as a service manager does; it does so in time, in peace, and with the usual code."""
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=END_SECONDS)
    assert process.returncode == 0
    assert "Traceback" not in (folder / "log.txt").read_text()


@pytest.fixture(scope="module")
def aftermath(server, tmp_path_factory):
    """Memora, started again after a SIGTERM in the middle of everything, and the turns that it had acknowledged."""
    folder, messages = tmp_path_factory.mktemp("served"), [LEARNING, *RUNNING, *WAITING]
    with served(server, folder, messages) as (process, turn_ids):
        wait_until(lambda: asked(server) >= {*RUNNING, "extraction"}, seconds=START_SECONDS)
        end(process, folder)
    app = build_app(Settings(data_dir=folder, openai_base_url=server.base_url, openai_api_key="test"))
    try:
        yield app, dict(zip(messages, turn_ids, strict=True))
    finally:
        app.close()


def asked(server):
    """The messages that the model was asked about, and what else it was asked for."""
    requests = [read_request(body) for body in server.requests()]
    return {request.message if request.purpose == "answer" else request.purpose for request in requests}


def told(aftermath, message):
    """The turn of ``message`` in the record, and its trace."""
    app, turn_ids = aftermath
    turn_id = turn_ids[message]
    return app.turns.turn(user_id=LOCAL_USER, turn_id=turn_id), app.runner.trace(user_id=LOCAL_USER, turn_id=turn_id)


@pytest.mark.parametrize("message", RUNNING)
def test_a_turn_that_ran_keeps_what_had_arrived_and_is_known_as_interrupted(aftermath, message):
    turn, trace = told(aftermath, message)
    assert turn.user_message == message
    assert (turn.state, turn.failure.code) == ("cut_off" if turn.reply else "failed", "interrupted")
    assert (trace.state, trace.reply, trace.failure) == (turn.state, turn.reply, turn.failure)
    count("turns ended by SIGTERM")


@pytest.mark.parametrize("message", WAITING)
def test_a_turn_that_waited_is_there_and_known_as_interrupted(aftermath, message):
    turn, trace = told(aftermath, message)
    assert (turn.user_message, turn.reply) == (message, "")
    assert (turn.state, turn.failure.code) == ("interrupted", "interrupted")
    assert trace.state == turn.state
    count("turns ended by SIGTERM")


def test_what_was_being_learned_is_learned_after_the_next_start_and_once(aftermath):
    app, turn_ids = aftermath
    wait_until(lambda: app.turns.turn(user_id=LOCAL_USER, turn_id=turn_ids[LEARNING]).learning == "done")
    memories = app.memory.page(user_id=LOCAL_USER, query=MemoryQuery(status="all")).memories
    assert [memory.content for memory in memories] == ["The user lives in Taipei."]
    assert told(aftermath, LEARNING)[0].state == "done"
    count("turns ended by SIGTERM")
