"""What was heard of an exchange, as bytes, and the exchange that it is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from memora.providers.cassette.cassette import Answer, Exchange
from memora.providers.cassette.frames import split_frames

_FRAMED = re.compile(r"\s*(?:event|data|id|retry)?:[^/]")
"""How a stream of events begins, whatever its type says."""


@dataclass(frozen=True, kw_only=True)
class Take:
    """An exchange as it was heard. ``chunks`` are the body's bytes as they came, still compressed if they were.

    Without a ``status`` no answer came. ``secret`` is the key that was sent; it appears in no ``repr``.
    """

    method: str
    path: str
    request: bytes = field(repr=False)
    secret: str = field(repr=False)
    status: int | None
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[bytes, ...] = field(repr=False)
    ended: str
    took_ms: int

    def exchange(self) -> Exchange:
        """The exchange, with everything that is private still in it."""
        return Exchange(
            method=self.method,
            path=self.path,
            body=_json_or_text(self.request.decode("utf-8", "replace")) if self.request else None,
            answer=None if self.status is None else self._answer(self.status),
            ended=self.ended,
            took_ms=self.took_ms,
        )

    def _answer(self, status: int) -> Answer:
        headers = {name.lower(): value for name, value in self.headers}
        text = self._decompressed().decode("utf-8", "replace").removeprefix("\ufeff")
        if "event-stream" in headers.get("content-type", "").lower() or _FRAMED.match(text):
            return Answer(status=status, headers=headers, kind="frames", body=split_frames(text))
        value = _json_or_text(text)
        return Answer(status=status, headers=headers, kind="text" if value is text else "json", body=value)

    def _decompressed(self) -> bytes:
        """The body's bytes without their compression; of a body that broke off, as far as it can be read."""
        import httpx2

        stream = httpx2.ByteStream(b"".join(self.chunks))
        parts: list[bytes] = []
        try:
            for part in httpx2.Response(200, headers=self.headers, stream=stream).iter_bytes():
                parts.append(part)
        except httpx2.DecodingError:
            return b"".join(parts)
        return b"".join(parts)


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
