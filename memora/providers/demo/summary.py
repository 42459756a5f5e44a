"""Summaries by rules: the beginnings of what the user said, one after the other."""

from __future__ import annotations

import re

from memora.providers.demo.language import count_words, language_of
from memora.providers.demo.request import DemoRequest, records

USUAL_LENGTH = 250
"""English words and Chinese characters of a summary, unless the instructions say how many."""
MAX_CLAUSE_CHARACTERS = 60

_LENGTH = re.compile(r"[Aa]t most (\d+) words")
_CLAUSE_END = re.compile(r"[。！？!?\n；;]|\.(?=\s|$)")


def summarize(request: DemoRequest) -> str:
    """The previous summary's lines and one line for each user message, the oldest left out when it grows too long."""
    asked = request.data
    lines = [line.strip() for line in str(asked.get("summary") or "").splitlines() if line.strip()]
    spoken = [message for message in records(asked.get("messages")) if message.get("role") == "user"]
    lines += [line for message in spoken if (line := _line(str(message.get("content") or "")))]
    asked_length = _LENGTH.search(request.instructions)
    return _newest(lines, int(asked_length[1]) if asked_length else USUAL_LENGTH) or "-"


def _newest(lines: list[str], length: int) -> str:
    """The last lines that are not longer than ``length`` together; the last one anyway."""
    kept: list[str] = []
    for line in reversed(lines):
        length -= count_words(line)
        if kept and length < 0:
            break
        kept.insert(0, line)
    return "\n".join(kept)


def _line(message: str) -> str:
    clause = _CLAUSE_END.split(message.strip(), maxsplit=1)[0].strip()[:MAX_CLAUSE_CHARACTERS]
    lead = "使用者說：" if language_of(clause) == "zh" else "The user said: "
    return f"- {lead}{clause}" if clause else ""
