"""Summaries by rules: the beginnings of what the user said, one after the other."""

from __future__ import annotations

import re
from memora.providers.demo.language import language_of
from memora.providers.demo.request import DemoRequest, embedded_json

MAX_SUMMARY_CHARACTERS = 1_200
MAX_CLAUSE_CHARACTERS = 60

_CLAUSE_END = re.compile(r"[。！？!?\n；;]|\.(?=\s|$)")


def summarize(request: DemoRequest) -> str:
    """The previous summary's lines and one line for each user message, the oldest left out when it grows too long."""
    asked = embedded_json(request.message)
    asked = asked if isinstance(asked, dict) else {}
    lines = [line.strip() for line in str(asked.get("summary") or "").splitlines() if line.strip()]
    spoken = [message for message in asked.get("messages") or () if message.get("role") == "user"]
    lines += [line for message in spoken if (line := _line(str(message.get("content") or "")))]
    while len(lines) > 1 and sum(len(line) + 1 for line in lines) > MAX_SUMMARY_CHARACTERS:
        lines.pop(0)
    return "\n".join(lines)


def _line(message: str) -> str:
    clause = _CLAUSE_END.split(message.strip(), maxsplit=1)[0].strip()[:MAX_CLAUSE_CHARACTERS]
    lead = "使用者說：" if language_of(clause) == "zh" else "The user said: "
    return f"- {lead}{clause}" if clause else ""
