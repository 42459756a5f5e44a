"""The way to Chroma: its client, opened once, in a folder of this machine or at an address."""

from __future__ import annotations

import logging
import re
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from memora.memory.ports import IndexUnavailable

if TYPE_CHECKING:
    from chromadb.api.client import Client
    from chromadb.config import Settings

log = logging.getLogger(__name__)

OPENING_PATIENCE_SECONDS = 3.0
"""How long a call waits for another thread that is opening the client."""
RETRY_AFTER_SECONDS = 10.0
"""After a failed opening nobody tries again for so long."""
CONNECT_TIMEOUT_SECONDS = 3.0
ANSWER_TIMEOUT_SECONDS = 10.0

_OF_THE_DISK = (
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
)
_OF_THE_FILE = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


class ChromaClient:
    """Opens Chroma at the first call and keeps it. Safe across threads.

    With ``url`` a server is asked, otherwise the index is embedded in ``folder``. A folder that is damaged is moved
    aside (never deleted), also when that shows only under way, and a new one is begun in its place: the index is
    rebuilt from the record. Whatever goes wrong leaves as `IndexUnavailable`, ``unreachable`` or ``broken``.
    """

    def __init__(self, *, folder: Path, url: str | None) -> None:
        self._folder = folder
        self._url = url
        self._lock = threading.Lock()
        self._client: Client | None = None
        self._retry_at = 0.0
        self._last_error = ""

    @property
    def is_embedded(self) -> bool:
        """Whether the index lives in this process."""
        return self._url is None

    @contextmanager
    def use(self) -> Iterator[Client]:
        """The client, for the calls inside the block. Raises `IndexUnavailable`."""
        client = self._opened()
        try:
            with _panics_as_errors():
                yield client
        except IndexUnavailable:
            raise
        except Exception as error:  # the boundary: Chroma lets out its own, the transport's and the database's errors
            self._let_go_if_the_folder_is_lost(client)
            raise self._unavailable(error) from error

    def close(self) -> None:
        """Let go of the folder or the connection; the next call opens it again."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _opened(self) -> Client:
        if self._client is not None:
            return self._client
        if not self._lock.acquire(timeout=OPENING_PATIENCE_SECONDS):
            raise IndexUnavailable("starting")
        try:
            if self._client is None:
                self._client = self._open()
            return self._client
        finally:
            self._lock.release()

    def _open(self) -> Client:
        if time.monotonic() < self._retry_at:
            raise IndexUnavailable(self._code, self._last_error)
        try:
            return _connect(self._url) if self._url else _open_or_begin(self._folder)
        except Exception as error:  # the same boundary
            self._retry_at = time.monotonic() + RETRY_AFTER_SECONDS
            unavailable = self._unavailable(error)
            self._last_error = unavailable.detail
            raise unavailable from error

    def _let_go_if_the_folder_is_lost(self, client: Client) -> None:
        """Deleted: the open files answer on, but nothing can be written any more. Damaged: to be begun anew."""
        database = _database_of(self._folder)
        if not self.is_embedded or (database.exists() and not _is_damaged(database)):
            return
        with self._lock:
            if self._client is client:
                self._client = None
                client.close()

    def _unavailable(self, error: Exception) -> IndexUnavailable:
        return IndexUnavailable(self._code, f"{type(error).__name__}: {error}")

    @property
    def _code(self) -> str:
        return "broken" if self.is_embedded else "unreachable"


def _settings() -> Settings:
    from chromadb.config import Settings

    return Settings(anonymized_telemetry=False)


def _connect(url: str) -> Client:
    import chromadb
    import httpx

    parts = urlsplit(url)
    is_tls = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if is_tls else 80)
    # Chroma's HTTP client waits for ever, and asks a first time while it is being built.
    socket.create_connection((host, port), timeout=CONNECT_TIMEOUT_SECONDS).close()
    client = cast("Client", chromadb.HttpClient(host=host, port=port, ssl=is_tls, settings=_settings()))
    server: Any = client
    server._server._session.timeout = httpx.Timeout(ANSWER_TIMEOUT_SECONDS, connect=CONNECT_TIMEOUT_SECONDS)
    return client


def _open_or_begin(folder: Path) -> Client:
    folder.parent.mkdir(parents=True, exist_ok=True)
    database = _database_of(folder)
    if folder.is_file() or _is_damaged(database):
        _set_aside(folder, "it is damaged")
    try:
        return _open_folder(folder)
    except OSError:
        raise  # no room, no permission: the folder itself may be whole
    except Exception as error:  # of another version, it may be: Chroma says all kinds of things
        if _is_of_the_disk(error) or not database.exists():
            raise
        _set_aside(folder, f"it could not be opened: {error}")
    return _open_folder(folder)


def _open_folder(folder: Path) -> Client:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        with _panics_as_errors():
            return cast("Client", chromadb.PersistentClient(path=folder, settings=_settings()))
    except Exception:
        # Chroma keeps the half-built system by its path, and would hand it out at every later attempt.
        SharedSystemClient._identifier_to_system.pop(str(folder), None)
        raise


@contextmanager
def _panics_as_errors() -> Iterator[None]:
    """Chroma's core is written in Rust: what it throws when it panics is no `Exception`, and would end a thread."""
    try:
        yield
    except BaseException as error:
        if type(error).__name__ != "PanicException":
            raise
        raise RuntimeError(f"Chroma panicked: {error}") from error


def _is_damaged(database: Path) -> bool:
    """Whether SQLite finds a page of the file that is not as it should be.

    Chroma finds it only when it comes to that page, and then panics, fails for ever, or fails at every write. Only
    read, and never mended: a file in use or left by a killed process may have a journal, which belongs to Chroma.
    """
    try:
        with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.Error as error:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in _OF_THE_FILE
    return bool(verdict != "ok")


def _is_of_the_disk(error: Exception) -> bool:
    """Whether it was not the file's fault: SQLite's result code stands in Chroma's message."""
    code = re.search(r"\(code: (\d+)\)", str(error))
    return code is not None and int(code[1]) & 0xFF in _OF_THE_DISK


def _set_aside(folder: Path, why: str) -> None:
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    aside = folder.rename(folder.with_name(f"{folder.name}-damaged-{moment}"))
    log.warning("the memory index was moved to %s, and a new one is begun: %s", aside, why)


def _database_of(folder: Path) -> Path:
    return folder / "chroma.sqlite3"
