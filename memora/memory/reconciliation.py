"""Memory reconciliation: what becomes of each candidate, given what is remembered already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Literal

from pydantic import BaseModel

from memora.memory.long_term import LongTermMemory
from memora.memory.secrets import holds_secret
from memora.memory.sentence import MAX_SENTENCE_CHARS, one_line
from memora.memory.values import Candidate, Memory, MemoryReconciliationDecision
from memora.memory.words import normalize
from memora.model import CancelToken, LanguageModel, ModelRequest, Usage
from memora.prompts import render
from memora.structured import ask, quoting


class _Decision(BaseModel):
    candidate: int
    action: Literal["create", "skip", "update"]
    target: int | None
    content: str
    reason: str


class _Answer(BaseModel):
    decisions: list[_Decision]


@dataclass(frozen=True, kw_only=True)
class _Case:
    """A candidate that a model has to decide on, and the similar memories under the numbers it sees."""

    candidate: Candidate
    similar: Mapping[int, Memory]


def reconcile(
    *,
    model: LanguageModel,
    memory: LongTermMemory,
    user_id: str,
    candidates: Sequence[Candidate],
    cancel: CancelToken,
) -> tuple[tuple[MemoryReconciliationDecision, ...], Usage | None]:
    """One decision for each candidate, in order, and what asking cost (None when no model was asked).

    A sentence that is remembered already is skipped, and one without a similar memory is created, both
    without a model; all others share one request. Raises `ModelError` and `Cancelled`: nothing is stored by
    then, so the caller may begin again.
    """
    decided: dict[int, MemoryReconciliationDecision] = {}
    cases: dict[int, _Case] = {}
    numbers = count(1)
    similar = memory.similar(user_id=user_id, contents=[candidate.content for candidate in candidates])
    for place, candidate in enumerate(candidates):
        if same := memory.find_same(user_id=user_id, content=candidate.content):
            decided[place] = _skip(candidate, same)
        elif similar[place]:
            shown = {next(numbers): known for known in similar[place]}
            cases[place] = _Case(candidate=candidate, similar=shown)
        else:
            decided[place] = MemoryReconciliationDecision(
                action="create", candidate=candidate, content=candidate.content, decided_by="no_similar_memory"
            )
    usage = None
    if cases:
        answers, usage = _ask(model, tuple(cases.values()), cancel=cancel)
        for number, (place, case) in enumerate(cases.items(), start=1):
            decided[place] = _made_safe(answers.get(number), case)
    return tuple(decided[place] for place in range(len(candidates))), usage


def _ask(model: LanguageModel, cases: Sequence[_Case], *, cancel: CancelToken) -> tuple[dict[int, _Decision], Usage]:
    """The model's decisions by candidate number; of several for one candidate the first counts."""
    request = ModelRequest(
        purpose="reconciliation",
        instructions=render("reconciliation"),
        input=quoting({"candidates": [_shown(number, case) for number, case in enumerate(cases, start=1)]}),
    )
    answer = ask(model, request, name="memory_reconciliation", answer_type=_Answer, cancel=cancel)
    return {decision.candidate: decision for decision in reversed(answer.value.decisions)}, answer.usage


def _shown(number: int, case: _Case) -> dict[str, Any]:
    return {
        "number": number,
        "content": case.candidate.content,
        "category": case.candidate.category.value,
        "similar": [
            {"number": number, "content": memory.content, "since": memory.valid_from.date().isoformat()}
            for number, memory in case.similar.items()
        ],
    }


def _made_safe(answer: _Decision | None, case: _Case) -> MemoryReconciliationDecision:
    """The model's decision, or the creation of a candidate that would be lost by following it.

    A target counts only under a number that was shown for this candidate.
    """
    candidate = case.candidate
    target = case.similar.get(answer.target) if answer and answer.target is not None else None
    if answer and answer.action == "create":
        return MemoryReconciliationDecision(
            action="create", candidate=candidate, content=candidate.content, reason=one_line(answer.reason)
        )
    if answer is None or target is None:
        return MemoryReconciliationDecision(
            action="create",
            candidate=candidate,
            content=candidate.content,
            decided_by="fallback",
            reason=one_line(answer.reason) if answer else "",
        )
    return MemoryReconciliationDecision(
        action=answer.action,
        candidate=candidate,
        content=_new_content(answer.content, case=case, target=target) if answer.action == "update" else "",
        target_memory_id=target.id,
        target_content=target.content,
        reason=one_line(answer.reason),
    )


def _new_content(written: str, *, case: _Case, target: Memory) -> str:
    """The sentence the model wrote for an update; the candidate's where that may not be stored or says nothing new."""
    written = one_line(written)
    is_new = 0 < len(written) <= MAX_SENTENCE_CHARS and normalize(written) != normalize(target.content)
    return written if is_new and not holds_secret(written) else case.candidate.content


def _skip(candidate: Candidate, same: Memory) -> MemoryReconciliationDecision:
    return MemoryReconciliationDecision(
        action="skip",
        candidate=candidate,
        target_memory_id=same.id,
        target_content=same.content,
        decided_by="same_sentence",
    )
