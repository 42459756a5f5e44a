"""Keeps the index in step with the record, and loads what is slow to load before anyone waits for it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from memora.errors import MemoraError
from memora.memory import LongTermMemory
from memora.memory.ports import IndexUnavailable
from memora.status import IndexState

log = logging.getLogger(__name__)

CHECK_EVERY_SECONDS = 30.0
TRY_AGAIN_SECONDS = 5.0


class IndexUpkeep:
    """One background thread: warms up once, then looks at the users' indexes when told, and now and then.

    The index may be lost, damaged or behind at any time; a user whose index is behind is answered by words
    until it has caught up.
    """

    def __init__(
        self, *, memory: LongTermMemory, warm_ups: Sequence[Callable[[], object]], users: Sequence[str]
    ) -> None:
        self._memory = memory
        self._warm_ups = warm_ups
        self._users = set(users)
        self._state: IndexState = "starting"
        self._detail = ""
        self._progress: tuple[int, int] | None = None
        self._wake = threading.Event()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._work, name="memora-upkeep", daemon=True)

    @property
    def state(self) -> IndexState:
        """How the index is, as of the last look."""
        return self._state

    @property
    def detail(self) -> str:
        """Why the index is unavailable (a code), or nothing."""
        return self._detail

    @property
    def progress(self) -> tuple[int, int] | None:
        """While rebuilding: (memories done, memories to do)."""
        return self._progress

    def start(self) -> None:
        """Begin, in the background."""
        self._thread.start()

    def look_after(self, user_id: str) -> None:
        """Have this user's index compared with the record soon, if that is due."""
        self._users.add(user_id)
        self._wake.set()

    def close(self, *, timeout: float) -> None:
        """End after the batch that is being indexed."""
        self._closed.set()
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join(timeout)

    def _work(self) -> None:
        for warm_up in self._warm_ups:
            if self._closed.is_set():
                return
            self._guarded(warm_up)
        while not self._closed.is_set():
            self._wake.clear()
            for user_id in tuple(self._users):
                if self._memory.needs_refresh(user_id=user_id):
                    self._guarded(lambda user_id=user_id: self._refresh(user_id))  # type: ignore[misc]
            if self._state == "starting":
                self._state = "ready"
            self._wake.wait(TRY_AGAIN_SECONDS if self._state == "unavailable" else CHECK_EVERY_SECONDS)

    def _refresh(self, user_id: str) -> None:
        self._memory.refresh_index(user_id=user_id, on_progress=self._note_progress)
        self._state, self._detail, self._progress = "ready", "", None

    def _note_progress(self, done: int, total: int) -> None:
        self._closed_check()
        self._state, self._progress = "rebuilding", (done, total)

    def _closed_check(self) -> None:
        if self._closed.is_set():
            raise IndexUnavailable("closing")

    def _guarded(self, step: Callable[[], object]) -> None:
        """The worker boundary: what cannot be loaded or indexed now is said, and tried again later."""
        try:
            step()
        except (IndexUnavailable, MemoraError) as error:
            self._unavailable(error.code)
            log.warning("the memory index is unavailable: %s", error.detail or error.code)
        except Exception as error:  # the thread has to outlive whatever a library throws
            self._unavailable("internal")
            log.exception("keeping the index failed: %s", type(error).__name__)

    def _unavailable(self, code: str) -> None:
        self._state, self._detail, self._progress = "unavailable", code, None
