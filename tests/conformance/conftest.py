"""The corpus is made once for all conformance tests; the run says at its end how much was validated."""

from __future__ import annotations

import pytest
from conformance import tally
from conformance.corpus import Corpus, recorded_corpus


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """What Memora sends on all of its ways to every kind of server."""
    return recorded_corpus(tmp_path_factory.mktemp("conformance") / "data")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how much was validated, by which specification."""
    if lines := tally.lines():
        terminalreporter.section("conformance")
        for line in lines:
            terminalreporter.line(line)
