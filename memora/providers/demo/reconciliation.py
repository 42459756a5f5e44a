"""Reconciliation by rules: what becomes of each candidate, given the similar memories."""

from __future__ import annotations

from typing import Any

from memora.providers.demo.facts import Fact, fact_in
from memora.providers.demo.request import DemoRequest, records
from memora.providers.demo.rules import SLOTS, Slot

_OPPOSITES: dict[Slot, Slot] = {"like": "dislike", "dislike": "like"}


def reconcile(request: DemoRequest) -> dict[str, Any]:
    """The ``memory_reconciliation`` object for the candidates in the request."""
    candidates = records(request.data.get("candidates"))
    return {"decisions": [_decide(candidate) for candidate in candidates]}


def _decide(candidate: dict[str, Any]) -> dict[str, Any]:
    content = str(candidate.get("content") or "")
    action, target, reason = "create", None, "No similar memory speaks of this."
    for memory in records(candidate.get("similar")):
        if verdict := _compare(content, str(memory.get("content") or "")):
            action, reason = verdict
            target = memory.get("number")
            break
    return {
        "candidate": candidate.get("number"),
        "action": action,
        "target": target,
        "content": content,
        "reason": reason,
    }


def _compare(content: str, known: str) -> tuple[str, str] | None:
    """Action and reason when ``known`` speaks of the same thing as ``content``; None when it does not."""
    new, old = fact_in(content), fact_in(known)
    if new is None or old is None:
        return ("skip", "The memory says the same.") if content == known else None
    if new.slot == old.slot and new.meaning <= old.meaning:
        return "skip", "The memory says the same."
    if _replaces(new, old):
        return "update", "The newer statement replaces the memory."
    return None


def _replaces(new: Fact, old: Fact) -> bool:
    """Whether ``new`` takes the place of ``old``: a single value changed, a value grew, or a liking turned."""
    if new.slot == old.slot:
        return SLOTS[new.slot].single or new.meaning > old.meaning
    return _OPPOSITES.get(new.slot) == old.slot and new.meaning == old.meaning
