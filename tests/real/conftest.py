"""A real server, one app on it, and a report of what its small model could and could not do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from real.llama_server import CHAT, MODEL, LlamaServer, install, llama_server

from memora.assembly import App, build_app
from memora.settings import Settings

findings: dict[str, str] = {}
"""What was seen, by capability; told at the end of the run. Nothing here is a pass or a failure."""


@pytest.fixture(scope="session", autouse=True)
def _short_answers() -> Iterator[None]:
    """A model this small repeats itself without end; Memora's own limits leave room for minutes of that."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("memora.structured.MAX_OUTPUT_TOKENS", 200)
        patched.setattr("memora.context.summary.MAX_OUTPUT_TOKENS", 200)
        yield


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LlamaServer]:
    install()
    with llama_server(tmp_path_factory.mktemp("llama") / "server.log", *CHAT) as running:
        yield running


@pytest.fixture(scope="session")
def app(server: LlamaServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[App]:
    started = build_app(
        Settings(
            MEMORA_DATA_DIR=tmp_path_factory.mktemp("real") / "data",
            OPENAI_BASE_URL=server.base_url,
            MEMORA_MODEL=MODEL,
            MEMORA_MAX_INPUT_TOKENS=5_000,
            MEMORA_REQUEST_TIMEOUT=120,
            MEMORA_COUNT_TOKENS="on",
        )
    )
    yield started
    started.close()


@pytest.fixture
def found() -> dict[str, str]:
    return findings


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell what the model did."""
    if findings:
        terminalreporter.section("what SmolLM2-135M on llama-server did")
        for capability, seen in findings.items():
            terminalreporter.line(f"{capability}: {seen}")
