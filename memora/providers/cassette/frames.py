"""The frames of a stream of server-sent events, as text, with their framing."""

from __future__ import annotations

import re
from collections.abc import Callable

_FRAME = re.compile(r".*?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_DATA = re.compile(r"data:[ ]?")


def split_frames(text: str) -> list[str]:
    """``text`` cut after each blank line; joined, the frames are ``text``."""
    return [frame for frame in _FRAME.findall(text) if frame]


def payload_of(frame: str) -> str | None:
    """What the ``data`` lines of ``frame`` say together; None when there are none."""
    said = [_DATA.sub("", line, count=1) for line in _lines(frame) if line.startswith("data:")]
    return "\n".join(line.rstrip("\r\n") for line in said) if said else None


def rewritten(frame: str, *, payload: str | None, line: Callable[[str], str]) -> str:
    """``frame`` with ``payload`` as its data, on one line; the other lines go through ``line``, without their ends."""
    kept: list[str] = []
    for whole in _lines(frame):
        content = whole.rstrip("\r\n")
        end = whole[len(content) :]
        if not content.startswith("data:"):
            kept.append(line(content) + end)
        elif payload is not None:
            start = _DATA.match(content)
            kept.append((start.group() if start else "") + payload + end)
            payload = None
    return "".join(kept)


def _lines(frame: str) -> list[str]:
    """The lines with their ends; unlike `str.splitlines`, a line ends where the standard says so."""
    return re.findall(r"[^\r\n]*(?:\r\n|\n|\r)|[^\r\n]+\Z", frame)
