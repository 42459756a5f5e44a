"""No test sees the settings of whoever runs it: a key in the environment or in .env must not reach a test."""

from __future__ import annotations

import os
from typing import Any

import pytest
from support import figures

_FOR_TESTS = ("MEMORA_BROWSER", "MEMORA_OPENAPI_DOCUMENT", "MEMORA_TEST_SCALE")


def pytest_configure() -> None:
    for name in [name for name in os.environ if name.startswith(("MEMORA_", "OPENAI_")) and name not in _FOR_TESTS]:
        del os.environ[name]
    os.environ["MEMORA_ENV_FILE"] = os.devnull
    os.environ["STREAMLIT_SECRETS_FILES"] = "no-such-file.toml"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what the long tests covered."""
    if line := figures.line():
        terminalreporter.section("covered")
        terminalreporter.line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In one of several processes: hand over what was covered."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["figures"] = figures.as_output()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """One of several processes has ended."""
    figures.add_output(getattr(node, "workeroutput", {}).get("figures", {}))
