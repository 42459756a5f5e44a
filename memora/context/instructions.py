"""The system prompt of an answer."""

from __future__ import annotations

from datetime import date

from memora.prompts import render


def system_prompt(*, today: date) -> str:
    """The tutor's role, the language to answer in, and the tool guidelines."""
    return render("system", today=today.isoformat())
