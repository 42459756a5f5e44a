"""What a crowd has left behind: what it says itself, what the server was sent, and the record, read with plain SQL."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from load.children import environment_of
from load.crowd import Said, Sample
from load.marks import user_id
from servers.launch import ResponsesServer, responses_server
from support.waiting import wait_until

from memora.assembly import App, build_app
from memora.settings import Settings

FINISHING_SECONDS = 120.0
"""How long write paths that failed under load may take to be finished after it."""
WINDING_DOWN_SECONDS = 240.0
"""How long a crowd may take to begin, and to hear its last answers."""
WORDS_PER_SECOND = 2_000.0
MAX_INPUT_TOKENS = 4_000
"""So few that long conversations are summarised."""


@dataclass(frozen=True, kw_only=True)
class Aftermath:
    """See the module. ``exchanges`` is what the server recorded (`ResponsesServer.recorded`)."""

    said: tuple[Said, ...]
    samples: tuple[Sample, ...]
    kept: dict[str, int]
    problems: tuple[str, ...]
    exchanges: tuple[dict[str, Any], ...]
    app: App
    database: Path

    def rows(self, query: str) -> list[sqlite3.Row]:
        with closing(sqlite3.connect(self.database)) as connection:
            connection.row_factory = sqlite3.Row
            return connection.execute(query).fetchall()

    def owned_rows(self) -> Iterator[tuple[str, str]]:
        """For every row that belongs to somebody: the user's id, and all of its text."""
        for (table,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'"):
            columns = [row["name"] for row in self.rows(f"PRAGMA table_info({table})")]
            if "user_id" in columns:
                for row in self.rows(f"SELECT * FROM {table}"):
                    yield row["user_id"], " ".join(map(str, row))


@contextmanager
def crowd_of(folder: Path, *, sessions: int, users: int, seconds: float, seed: str) -> Iterator[Aftermath]:
    """Let a crowd talk; then, with Memora started again, what is left when nothing is to be learned any more."""
    with responses_server(words_per_second=WORDS_PER_SECOND) as server:
        told = _talk(server, folder, sessions=sessions, users=users, seconds=seconds, seed=seed)
        app = build_app(_settings(server, folder))
        try:
            wait_until(
                lambda: not app.turns.turns_to_learn(),
                seconds=FINISHING_SECONDS,
                otherwise="a write path was never finished",
            )
            for user in range(users):
                app.memory.refresh_index(user_id=user_id(user))
            yield Aftermath(
                said=tuple(Said(**said) for said in told["said"]),
                samples=tuple(Sample(**sample) for sample in told["samples"]),
                kept=told["kept"],
                problems=tuple(told["problems"]),
                exchanges=tuple(server.recorded()),
                app=app,
                database=folder / "memora.db",
            )
        finally:
            app.close()


def _settings(server: ResponsesServer, folder: Path) -> Settings:
    return Settings(
        data_dir=folder, openai_base_url=server.base_url, openai_api_key="test", max_input_tokens=MAX_INPUT_TOKENS
    )


def _talk(
    server: ResponsesServer, folder: Path, *, sessions: int, users: int, seconds: float, seed: str
) -> dict[str, Any]:
    told = subprocess.run(
        [sys.executable, "-m", "load.crowd", str(sessions), str(users), str(seconds), seed],
        env=environment_of(server, folder, MEMORA_MAX_INPUT_TOKENS=str(MAX_INPUT_TOKENS)),
        stdout=subprocess.PIPE,
        timeout=seconds + WINDING_DOWN_SECONDS,
        check=True,
    )
    found: dict[str, Any] = json.loads(told.stdout)
    return found
