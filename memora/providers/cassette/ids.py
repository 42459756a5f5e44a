"""Ids numbered anew, so that they still agree and say nothing of whose they were."""

from __future__ import annotations

import re

_PREFIX = r"(?:resp|msg|fc|call|rs|req|chatcmpl|toolu|ws|mcp|tool)"
_ID = re.compile(rf"({_PREFIX})[_-]")
_ID_IN_SENTENCE = re.compile(rf"\b{_PREFIX}[_-](?=[\w-]*\d)[\w-]{{4,}}")


class Ids:
    """Ids numbered anew over a whole cassette: ``resp_8f3…`` is ``resp_1`` wherever it stands."""

    def __init__(self, *, first: int = 1) -> None:
        self._first = first
        self._known: dict[str, str] = {}

    def short(self, long: str) -> str:
        """The new id for ``long``; it keeps a prefix that the API writes."""
        if not long:
            return long
        if long not in self._known:
            prefix = _ID.match(long)
            self._known[long] = f"{prefix[1] if prefix else 'id'}_{self._first + len(self._known)}"
        return self._known[long]

    def in_sentence(self, sentence: str) -> str:
        """``sentence`` with its ids as they are elsewhere."""
        return _ID_IN_SENTENCE.sub(lambda found: self.short(found.group()), sentence)
