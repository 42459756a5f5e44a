"""The folder of recordings: one file at a time, its owner's alone, and one deleted file that can be brought back."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

from memora.providers.cassette.cassette import BEGINNING

_DELETED = ".deleted"


class Shelf:
    """The recording in ``folder``. What touches the disk raises `OSError`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def current(self) -> Path | None:
        """The file of the recording, the latest where somebody has put several; nothing but recordings counts."""
        return max(filter(_is_recording, self._folder.glob("*.jsonl")), default=None)

    def new(self, *, at: datetime, header: str) -> Path:
        """A new file that begins with ``header`` and that only its owner may read."""
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._folder / f"{at:%Y%m%d-%H%M%S}.jsonl"
        begun = path.with_suffix(".begun")
        begun.unlink(missing_ok=True)
        os.close(os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        append(begun, header.encode())
        return begun.rename(path)

    @property
    def has_deleted(self) -> bool:
        """Whether there is something to `restore`."""
        return bool(self._bin())

    def delete_current(self) -> None:
        """Put the recording away, and whatever was put away before it out of reach."""
        self.empty_bin()
        if path := self.current:
            path.rename(path.with_suffix(path.suffix + _DELETED))

    def restore(self) -> None:
        """Bring back what was put away last."""
        for path in self._bin():
            path.rename(path.with_suffix(""))

    def empty_bin(self) -> None:
        """Delete for good what was put away."""
        for path in self._bin():
            path.unlink(missing_ok=True)

    def _bin(self) -> list[Path]:
        return sorted(self._folder.glob(f"*{_DELETED}"))


def mend(path: Path) -> bytes:
    """Take away a last line that was cut off; returns what is there."""
    content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(path, len(whole))
    return whole


def append(path: Path, line: bytes) -> None:
    """Write ``line`` at the end of ``path``, to the disk; where only a part of it fits, nothing.

    What has been deleted meanwhile is not made again.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
    try:
        size = os.fstat(descriptor).st_size
        try:
            while line:
                line = line[os.write(descriptor, line) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)


def _is_recording(path: Path) -> bool:
    """Whether this is a file that a recorder has begun: nothing else is read, mended or added to."""
    if path.is_symlink() or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(BEGINNING)) == BEGINNING
