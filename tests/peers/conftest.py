"""One llmock for all tests, forgetful between them, and one app that talks to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from peers.llmock_server import Llmock, llmock

from memora.assembly import App, build_app
from memora.settings import Settings


@pytest.fixture(scope="session")
def running_llmock() -> Iterator[Llmock]:
    with llmock() as server:
        yield server


@pytest.fixture
def server(running_llmock: Llmock) -> Llmock:
    running_llmock.reset()
    return running_llmock


@pytest.fixture(scope="module")
def app(running_llmock: Llmock, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    started = build_app(
        Settings(
            MEMORA_DATA_DIR=tmp_path_factory.mktemp("peers") / "data",
            OPENAI_BASE_URL=running_llmock.base_url,
            OPENAI_API_KEY="a-key-for-tests",
            MEMORA_MODEL="gpt-4o-mini",
            MEMORA_EMBEDDER="openai",
            MEMORA_REQUEST_TIMEOUT=2,
            MEMORA_MAX_INPUT_TOKENS=4_000,
        )
    )
    yield started
    started.close()
