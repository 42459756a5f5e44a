"""A cassette: exchanges with a server, in a file that people can read.

JSON Lines. The first line is ``{"memora_cassette": 1, "started": …, "openai": …}``, each further line one exchange:

    {"request": {"method": "POST", "path": "/v1/responses", "body": …},
     "response": {"status": 200, "headers": {…}, "frames": ["event: …\\ndata: …\\n\\n", …]},
     "ended": "complete", "took_ms": 812}

A response has ``json``, ``frames`` (of server-sent events, as they were framed) or ``text``, and is null when none
came. ``ended`` is ``complete``, ``left`` (Memora stopped reading) or the name of the transport's error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

VERSION = 1
BEGINNING = b'{"memora_cassette": '
"""What every cassette begins with."""
COMPLETE, LEFT = "complete", "left"

BodyKind = Literal["json", "frames", "text"]
_KINDS: tuple[BodyKind, ...] = ("json", "frames", "text")


class BadCassette(ValueError):
    """The text is no cassette, or one of a version that is not known here."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a server sent: for ``json`` any JSON value, for ``frames`` a list of strings, for ``text`` a string."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: BodyKind
    body: Any


@dataclass(frozen=True, kw_only=True)
class Exchange:
    """A request and what came of it. ``path`` has neither host nor query; no ``answer``: none came."""

    method: str
    path: str
    body: Any = None
    answer: Answer | None = None
    ended: str = COMPLETE
    took_ms: int = 0


def header_line(**facts: str) -> str:
    """The first line of a cassette, with ``facts`` about the recording."""
    return _line({"memora_cassette": VERSION, **facts})


def exchange_line(exchange: Exchange) -> str:
    """``exchange`` as one line."""
    answer = exchange.answer
    return _line(
        {
            "request": {"method": exchange.method, "path": exchange.path, "body": exchange.body},
            "response": answer and {"status": answer.status, "headers": dict(answer.headers), answer.kind: answer.body},
            "ended": exchange.ended,
            "took_ms": exchange.took_ms,
        }
    )


def as_json(value: Any) -> str:
    """JSON on one line, Chinese readable; lone halves of surrogate pairs stay what they were, as escapes."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


def read_cassette(text: str) -> tuple[Exchange, ...]:
    """The exchanges in ``text``, in order. Raises `BadCassette`.

    A last line without its end was cut off by a crash or a full disk, and is left out.
    """
    *whole, _cut = text.split("\n")
    try:
        header, *lines = [json.loads(line) for line in whole if line.strip()] or [None]
        version = header["memora_cassette"]
        if version != VERSION:
            raise BadCassette(f"the cassette is of version {version!r}; this program reads version {VERSION}")
        return tuple(_exchange(fields) for fields in lines)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, BadCassette):
            raise
        raise BadCassette(f"no cassette: {type(error).__name__}: {error}") from error


def _exchange(fields: dict[str, Any]) -> Exchange:
    request, response = fields["request"], fields["response"]
    return Exchange(
        method=request["method"],
        path=request["path"],
        body=request["body"],
        answer=response and _answer(response),
        ended=fields["ended"],
        took_ms=fields["took_ms"],
    )


def _answer(response: dict[str, Any]) -> Answer:
    kind = next(kind for kind in _KINDS if kind in response)
    return Answer(status=response["status"], headers=response["headers"], kind=kind, body=response[kind])


def _line(value: dict[str, Any]) -> str:
    return as_json(value) + "\n"
