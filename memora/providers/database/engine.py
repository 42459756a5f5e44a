"""One SQLite file: short transactions, and every way in which it can fail as `DatabaseUnavailable`."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, create_engine, event, make_url
from sqlalchemy.exc import DatabaseError, IntegrityError, ProgrammingError

from memora.errors import DatabaseUnavailable

# synchronous and fullfsync: what was committed survives a power cut. secure_delete: what was purged is
# overwritten in the file.
_PRAGMAS = (
    "journal_mode = WAL",
    "synchronous = FULL",
    "fullfsync = ON",
    "foreign_keys = ON",
    "secure_delete = ON",
)
_REASONS = {
    sqlite3.SQLITE_PERM: "no_permission",
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_READONLY: "read_only",
    sqlite3.SQLITE_IOERR: "io_error",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_CANTOPEN: "cannot_open",
    sqlite3.SQLITE_NOTADB: "damaged",
}


class SqliteFile:
    """Hands out connections in transactions; safe to share between threads.

    Errors leave `reading` and `writing` as `DatabaseUnavailable`, with the ``path`` and a ``reason``
    (``locked``, ``disk_full``, ``read_only``, ``damaged``, ``cannot_open``, …); nothing is half written then.
    """

    def __init__(self, url: str, *, busy_timeout_ms: int) -> None:
        self.path = file_of(url)
        self._engine = create_engine(
            url, connect_args={"isolation_level": None}, pool_size=8, max_overflow=64, hide_parameters=True
        )
        event.listen(self._engine, "connect", lambda connection, _: _prepare(connection, busy_timeout_ms))
        # The driver is kept from opening transactions by itself: it would begin them as readers.
        event.listen(self._engine, "begin", _begin)
        self._writers = self._engine.execution_options(memora_writes=True)
        self._turn_to_write = threading.Lock()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """A snapshot to read from."""
        with self._failures(), self._engine.connect() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """A transaction that is the only writer from its first statement on; committed at the end.

        The threads of this process queue for it, which is fairer and quicker than SQLite's own waiting.
        """
        with self._failures(), self._turn_to_write, self._writers.begin() as connection:
            yield connection

    def backup(self, target: Path) -> None:
        """Copy the database to ``target`` while it is in use. Raises `DatabaseUnavailable`, naming the target."""
        unfinished = target.with_name(target.name + ".part")
        try:
            if target.exists() and target.samefile(self.path):
                raise DatabaseUnavailable("a backup needs another file", path=str(target), reason="in_use")
            target.parent.mkdir(parents=True, exist_ok=True)
            unfinished.unlink(missing_ok=True)
            with self.reading() as connection:
                _copy(connection.connection.driver_connection, unfinished)
            unfinished.replace(target)
        except (OSError, sqlite3.Error) as error:
            raise DatabaseUnavailable(str(error), path=str(target), reason="cannot_write") from error

    def close(self) -> None:
        """Close the connections that are not in use; the last one tidies up the write-ahead log."""
        self._engine.dispose()

    @contextmanager
    def _failures(self) -> Iterator[None]:
        try:
            yield
        except (IntegrityError, ProgrammingError):
            raise
        except DatabaseError as error:
            code = getattr(error.orig, "sqlite_errorcode", 0) & 0xFF
            raise DatabaseUnavailable(
                f"{self.path}: {error.orig}", path=str(self.path), reason=_REASONS.get(code, "failed")
            ) from error


def file_of(url: str) -> Path:
    """The file that a ``sqlite:///`` address names. Raises `DatabaseUnavailable` when it names none."""
    name = make_url(url).database or ""
    path = Path(name.removeprefix("file:"))
    if not path.name or ":memory:" in name:
        raise DatabaseUnavailable("the database has to be a file", path=name, reason="not_a_file")
    return path.absolute()


def _prepare(connection: Any, busy_timeout_ms: int) -> None:
    connection.execute(f"PRAGMA busy_timeout = {busy_timeout_ms:d}")
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    writes = connection.get_execution_options().get("memora_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _copy(source: Any, target: Path) -> None:
    copy = sqlite3.connect(target)
    try:
        source.backup(copy)
    finally:
        copy.close()
