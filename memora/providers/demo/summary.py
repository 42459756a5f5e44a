"""Summaries by rules: the beginnings of what the user said, one after the other."""

from __future__ import annotations

import re

from memora.providers.demo.language import language_of
from memora.providers.demo.request import DemoRequest, embedded_object, records

MAX_SUMMARY_CHARACTERS = 1_200
MAX_CLAUSE_CHARACTERS = 60

_CLAUSE_END = re.compile(r"[。！？!?\n；;]|\.(?=\s|$)")


def summarize(request: DemoRequest) -> str:
    """The previous summary's lines and one line for each user message, the oldest left out when it grows too long."""
    asked = embedded_object(request.message)
    lines = [line.strip() for line in str(asked.get("summary") or "").splitlines() if line.strip()]
    spoken = [message for message in records(asked.get("messages")) if message.get("role") == "user"]
    lines += [line for message in spoken if (line := _line(str(message.get("content") or "")))]
    summary = "\n".join(lines)
    if len(summary) <= MAX_SUMMARY_CHARACTERS:
        return summary
    return summary[-MAX_SUMMARY_CHARACTERS:].partition("\n")[2] or summary[:MAX_SUMMARY_CHARACTERS]


def _line(message: str) -> str:
    clause = _CLAUSE_END.split(message.strip(), maxsplit=1)[0].strip()[:MAX_CLAUSE_CHARACTERS]
    lead = "使用者說：" if language_of(clause) == "zh" else "The user said: "
    return f"- {lead}{clause}" if clause else ""
