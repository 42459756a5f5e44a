"""The recorder: what a user switches on to keep exchanges for a bug report."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Literal

from memora import __version__
from memora.providers.cassette.cassette import exchange_line, header_line
from memora.providers.cassette.ids import Ids
from memora.providers.cassette.masking import masked_exchange
from memora.providers.cassette.shelf import Shelf, append, mend
from memora.providers.cassette.take import Take

log = logging.getLogger(__name__)

MAX_EXCHANGES = 200
MAX_BYTES = 5_000_000
MAX_WAITING = 50
"""How many exchanges may wait for the disk before the recording is given up."""

Phase = Literal["off", "recording", "full", "failed"]
Reason = Literal["", "disk", "too_much", "unmaskable"]
"""Why a recording failed: the disk does not take it, it cannot keep up, or something could not be masked."""
_NUMBER = re.compile(rb"[a-z]_(\d{1,6})\b")


@dataclass(frozen=True, kw_only=True)
class RecordingState:
    """What is going on. ``path`` is the recording that is there, also while the recorder is off.

    ``size`` is in bytes, ``since`` when the recorder was switched on, ``reason`` why the recording has failed, and
    ``detail`` what the system says of it, in its own words.
    """

    phase: Phase = "off"
    path: Path | None = None
    exchanges: int = 0
    size: int = 0
    since: datetime | None = None
    reason: Reason = ""
    detail: str = ""


class CassetteRecorder:
    """Keeps exchanges, masked, in one file in ``folder`` until that is deleted. Safe across threads.

    Switched off and on again, it goes on in the same file. One thread masks and writes, so that no exchange waits
    for it; what goes wrong ends the recording and nothing else.
    """

    def __init__(self, folder: Path, *, now: Callable[[], datetime]) -> None:
        self._shelf = Shelf(folder)
        self._now = now
        self._lock = threading.RLock()
        self._takes: SimpleQueue[Take | None] | None = None
        self._writer: threading.Thread | None = None
        self._state = RecordingState()
        try:
            self._shelf.empty_bin()
            if path := self._shelf.current:
                self._state = _found(path, mend(path))
        except OSError as error:
            self._end("failed", reason="disk", detail=_detail(error))

    @property
    def is_on(self) -> bool:
        """Whether exchanges are wanted right now."""
        return self._takes is not None

    @property
    def state(self) -> RecordingState:
        """What is going on at this moment."""
        return self._state

    def start(self) -> None:
        """Begin a recording, or go on with the one that is there; `state` says whether that was possible.

        What was deleted before cannot be restored any more.
        """
        with self._lock:
            if self._takes or (self._writer and self._writer.is_alive()):
                return
            try:
                self._shelf.empty_bin()
                path = self._shelf.current or self._shelf.new(at=self._now(), header=self._header())
                content = mend(path)
            except OSError as error:
                self._end("failed", reason="disk", detail=_detail(error))
                return
            self._state = _found(path, content)
            if self._state.phase != "full":
                self._state = replace(self._state, phase="recording", since=self._now())
                self._takes = SimpleQueue()
                ids = Ids(first=1 + max(map(int, _NUMBER.findall(content)), default=0))
                self._writer = threading.Thread(
                    target=self._write, args=(path, self._takes, ids), name="cassette-writer", daemon=True
                )
                self._writer.start()

    def stop(self, *, timeout: float = 5.0) -> None:
        """Write what is still waiting, for ``timeout`` seconds at most, and keep no more."""
        with self._lock:
            takes, self._takes = self._takes, None
            if takes:
                self._state = replace(self._state, phase="off")
        if takes and self._writer:
            takes.put(None)
            self._writer.join(timeout)

    def keep(self, take: Take) -> None:
        """Take an exchange in, to be masked and written soon. Never raises and never waits."""
        takes = self._takes
        if takes is None:
            return
        takes.put(take)
        if takes.qsize() > MAX_WAITING:
            self._end("failed", reason="too_much")
            takes.put(None)

    def text(self) -> str:
        """The recording as it is now, empty when there is none. Raises `OSError`."""
        path = self._state.path
        content = path.read_text(encoding="utf-8") if path else ""
        return content[: content.rfind("\n") + 1]

    def first_exchange(self) -> dict[str, Any] | None:
        """The first exchange as it stands in the file; None before there is one. Raises `OSError`."""
        path = self._state.path
        if path is None or not self._state.exchanges:
            return None
        with path.open(encoding="utf-8") as lines:
            first = next(islice(lines, 1, None), None)
        return json.loads(first) if first else None

    @property
    def can_restore(self) -> bool:
        """Whether a recording was deleted that can be brought back."""
        return not self._state.path and self._shelf.has_deleted

    def delete(self) -> None:
        """Stop, and delete the recording. It can be restored until the next one begins or Memora ends."""
        self.stop()
        with self._lock:
            self._shelf.delete_current()
            self._state = RecordingState()

    def restore(self) -> None:
        """Bring the recording back that was deleted last."""
        with self._lock:
            if self.can_restore:
                self._shelf.restore()
            if path := self._shelf.current:
                self._state = _found(path, mend(path))

    def close(self) -> None:
        """Stop, and delete for good what was deleted."""
        self.stop()
        with suppress(OSError):
            self._shelf.empty_bin()

    def _header(self) -> str:
        return header_line(
            started=self._now().isoformat(timespec="seconds"), memora=__version__, openai=version("openai")
        )

    def _write(self, path: Path, takes: SimpleQueue[Take | None], ids: Ids) -> None:
        try:
            while (take := takes.get()) is not None:
                masked = masked_exchange(take.exchange(), ids=ids, secret=take.secret)
                if not self._append(path, exchange_line(masked).encode()):
                    return
        except OSError as error:
            self._end("failed", reason="disk", detail=_detail(error), path=path)
        except Exception as error:  # noqa: BLE001 - the worker's boundary
            # Only the kind of error is told: its words may hold what was to be masked.
            log.error("recording failed: %s", type(error).__name__)
            self._end("failed", reason="unmaskable", detail=type(error).__name__, path=path)

    def _append(self, path: Path, line: bytes) -> bool:
        """Write ``line`` if there is room for it; if not, the recording is full."""
        state = self._state
        if state.exchanges >= MAX_EXCHANGES or state.size + len(line) > MAX_BYTES:
            self._end("full", path=path)
            return False
        append(path, line)
        with self._lock:
            state = self._state
            if state.path == path:
                self._state = replace(state, exchanges=state.exchanges + 1, size=state.size + len(line))
        return True

    def _end(
        self, phase: Literal["full", "failed"], *, reason: Reason = "", detail: str = "", path: Path | None = None
    ) -> None:
        """The recording (at ``path``, if it is still that one) has come to an end by itself."""
        with self._lock:
            if path and self._state.path != path:
                return  # it was deleted meanwhile
            self._takes = None
            self._state = replace(self._state, phase=phase, reason=reason, detail=detail)


def _found(path: Path, content: bytes) -> RecordingState:
    """The state of a recording that is there, while nothing is added to it."""
    exchanges, size = max(content.count(b"\n") - 1, 0), len(content)
    is_full = exchanges >= MAX_EXCHANGES or size >= MAX_BYTES
    return RecordingState(phase="full" if is_full else "off", path=path, exchanges=exchanges, size=size)


def _detail(error: OSError) -> str:
    return error.strerror or type(error).__name__
