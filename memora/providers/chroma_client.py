"""The way to Chroma: its client, opened once, in a folder of this machine or at an address."""

from __future__ import annotations

import logging
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
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


class ChromaClient:
    """Opens Chroma at the first call and keeps it. Safe across threads.

    With ``url`` a server is asked, otherwise the index is embedded in ``folder``. A folder that cannot be
    opened is moved aside (never deleted) and a new one is begun in its place: the index is rebuilt from the
    record. Whatever goes wrong leaves as `IndexUnavailable`, ``unreachable`` or ``broken``.
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
            yield client
        except IndexUnavailable:
            raise
        except Exception as error:  # the boundary: Chroma lets out its own, the transport's and the database's errors
            self._let_go_if_the_folder_is_gone(client)
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

    def _let_go_if_the_folder_is_gone(self, client: Client) -> None:
        """Somebody deleted the folder: the open files answer on, but nothing can be written any more."""
        if not self.is_embedded or _database_of(self._folder).exists():
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
    try:
        return _open_folder(folder)
    except OSError:
        raise  # no room, no permission: the folder itself may be whole
    except Exception as error:
        # A damaged folder makes Chroma say all kinds of things.
        if not (folder.is_file() or _database_of(folder).exists()):
            raise
        aside = _move_aside(folder)
        log.warning("the memory index could not be opened (%s); it was moved to %s", error, aside)
    return _open_folder(folder)


def _open_folder(folder: Path) -> Client:
    import chromadb
    from chromadb.api.shared_system_client import SharedSystemClient

    try:
        return cast("Client", chromadb.PersistentClient(path=folder, settings=_settings()))
    except Exception:
        # Chroma keeps the half-built system by its path, and would hand it out at every later attempt.
        SharedSystemClient._identifier_to_system.pop(str(folder), None)
        raise


def _move_aside(folder: Path) -> Path:
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    return folder.rename(folder.with_name(f"{folder.name}-damaged-{moment}"))


def _database_of(folder: Path) -> Path:
    return folder / "chroma.sqlite3"
