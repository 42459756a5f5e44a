"""One nursery and one server for all lives of a file, and Memora opened on what they left."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from crash.lives import Family, Nursery
from servers.launch import ResponsesServer, responses_server

from memora.assembly import App, build_app
from memora.settings import APP_FOLDER, load_settings

PYTHON_PATH = os.pathsep.join([str(APP_FOLDER / "tests"), str(APP_FOLDER)])
Opened = Callable[[Path], AbstractContextManager[App]]


@pytest.fixture(scope="module")
def server() -> Iterator[ResponsesServer]:
    with responses_server(words_per_second=2_000) as started:
        yield started


@pytest.fixture(scope="module")
def environment(server: ResponsesServer) -> dict[str, str]:
    """Settings for lives and for who judges them: remote embeddings, because a model takes long to load."""
    return {
        "OPENAI_BASE_URL": server.base_url,
        "OPENAI_API_KEY": "a-key-for-tests",
        "MEMORA_EMBEDDER": "openai",
        "MEMORA_ENV_FILE": os.devnull,
    }


@pytest.fixture(scope="module")
def nursery(environment: dict[str, str]) -> Iterator[Nursery]:
    process = subprocess.Popen(
        [sys.executable, "-m", "crash.nursery"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment, "PYTHONPATH": PYTHON_PATH},
    )
    yield Nursery(process)
    process.stdin.close()
    process.wait(timeout=30)
    process.stdout.close()


@pytest.fixture
def family(nursery: Nursery, tmp_path: Path) -> Family:
    return Family(nursery, tmp_path)


@pytest.fixture
def opened(environment: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Opened:
    """Opens Memora on the folder that a life left, as its next start would."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    @contextmanager
    def open_on(data_dir: Path) -> Iterator[App]:
        monkeypatch.setenv("MEMORA_DATA_DIR", str(data_dir))
        app = build_app(load_settings())
        try:
            yield app
        finally:
            app.close()

    return open_on
