"""Memory reconciliation: what becomes of each candidate, given what is remembered already."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from memora.memory.long_term import LongTermMemory
from memora.memory.values import Candidate, Memory, MemoryReconciliationDecision
from memora.memory.words import normalize
from memora.model import CancelToken, LanguageModel, Usage
from memora.prompts import render
from memora.structured import ask, quoting


class _Decision(BaseModel):
    model_config = ConfigDict(extra="forbid")
    candidate: int
    action: Literal["create", "skip", "update"]
    target: int | None
    content: str
    reason: str


class _Decisions(BaseModel):
    model_config = ConfigDict(extra="forbid")
    decisions: list[_Decision]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A candidate and the similar memories under the small numbers that the model sees, from 1."""

    candidate: Candidate
    similar: dict[int, Memory]


def reconcile(
    *,
    model: LanguageModel,
    memory: LongTermMemory,
    user_id: str,
    candidates: Sequence[Candidate],
    cancel: CancelToken,
) -> tuple[tuple[MemoryReconciliationDecision, ...], Usage | None]:
    """One decision for each candidate, in order, and what asking cost (None when no model was asked).

    A sentence that is remembered already is skipped and one without a similar memory is created, both
    without a model; all others share one request. Raises `ModelError`; nothing is lost then, the caller
    tries again.
    """
    decided: dict[int, MemoryReconciliationDecision] = {}
    cases: dict[int, _Case] = {}
    similar = memory.similar(user_id=user_id, contents=[candidate.content for candidate in candidates])
    shown = 0
    for place, (candidate, memories) in enumerate(zip(candidates, similar, strict=True)):
        same = memory.find_same(user_id=user_id, content=candidate.content)
        if same:
            decided[place] = _skip_same(candidate, same)
        elif not memories:
            decided[place] = MemoryReconciliationDecision(
                action="create", candidate=candidate, content=candidate.content, decided_by="no_similar_memory"
            )
        else:
            cases[place] = _Case(candidate=candidate, similar=dict(enumerate(memories, start=shown + 1)))
            shown += len(memories)
    if not cases:
        return tuple(decided[place] for place in range(len(candidates))), None
    answers, usage = _ask(model, tuple(cases.values()), cancel=cancel)
    for number, (place, case) in enumerate(cases.items(), start=1):
        decided[place] = _decision(case, answers.get(number))
    return tuple(decided[place] for place in range(len(candidates))), usage


def _skip_same(candidate: Candidate, same: Memory) -> MemoryReconciliationDecision:
    return MemoryReconciliationDecision(
        action="skip",
        candidate=candidate,
        target_memory_id=same.id,
        target_content=same.content,
        decided_by="same_sentence",
    )


def _ask(model: LanguageModel, cases: Sequence[_Case], *, cancel: CancelToken) -> tuple[dict[int, _Decision], Usage]:
    """The model's answers by candidate number; of several for one candidate, the first."""
    answer = ask(
        model,
        purpose="reconciliation",
        instructions=render("reconciliation"),
        input=quoting({"candidates": [_shown(number, case) for number, case in enumerate(cases, start=1)]}),
        name="memory_reconciliation",
        answer_type=_Decisions,
        cancel=cancel,
    )
    answers: dict[int, _Decision] = {}
    for decision in answer.value.decisions:
        answers.setdefault(decision.candidate, decision)
    return answers, answer.usage


def _shown(number: int, case: _Case) -> dict[str, Any]:
    return {
        "number": number,
        "content": case.candidate.content,
        "category": case.candidate.category.value,
        "similar": [
            {"number": small, "content": memory.content, "since": memory.valid_from.date().isoformat()}
            for small, memory in case.similar.items()
        ],
    }


def _decision(case: _Case, answer: _Decision | None) -> MemoryReconciliationDecision:
    """The answer, made safe: what names no memory that was shown for it creates rather than loses."""
    target = case.similar.get(answer.target) if answer and answer.target is not None else None
    if answer is None or (answer.action != "create" and target is None):
        return MemoryReconciliationDecision(
            action="create",
            candidate=case.candidate,
            content=case.candidate.content,
            decided_by="fallback",
            reason=answer.reason if answer else "",
        )
    if answer.action == "create" or target is None:
        return MemoryReconciliationDecision(
            action="create", candidate=case.candidate, content=case.candidate.content, reason=answer.reason
        )
    return MemoryReconciliationDecision(
        action=answer.action,
        candidate=case.candidate,
        content=_new_content(case.candidate, answer.content, target) if answer.action == "update" else "",
        target_memory_id=target.id,
        target_content=target.content,
        reason=answer.reason,
    )


def _new_content(candidate: Candidate, written: str, target: Memory) -> str:
    """The model's merged sentence; the candidate's where that is empty or writes the old one back."""
    written = " ".join(written.split())
    return written if written and normalize(written) != normalize(target.content) else candidate.content
