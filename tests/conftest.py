"""No test sees the settings of whoever runs it: a key in the environment or in .env must not reach a test."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import settings
from support import figures
from support.scale import scaled

_FOR_TESTS = ("MEMORA_BROWSER", "MEMORA_OPENAPI_DOCUMENT", "MEMORA_TEST_SCALE")


# A short run is the same every time: what passes on one machine passes on another. The full run looks for new cases.
settings.register_profile("short", derandomize=True)
settings.register_profile("full")
settings.load_profile(scaled(short="short", full="full"))


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
