"""Memory extraction: what one turn teaches about its user, and what of it the application accepts."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from datetime import date
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from memora.errors import InvalidInput
from memora.memory.profile import validate_profile_value
from memora.memory.secrets import holds_secret, mask_secrets
from memora.memory.values import (
    Candidate,
    Category,
    Extraction,
    ProfileField,
    ProfileUpdate,
    RefusalReason,
    RefusedCandidate,
)
from memora.memory.words import normalize
from memora.model import CancelToken, LanguageModel, Usage
from memora.prompts import render
from memora.structured import ask, quoting

MAX_CONTENT_CHARS = 500


class _Proposal(BaseModel):
    model_config = ConfigDict(extra="forbid")
    content: str
    category: Category
    importance: Annotated[int, Field(ge=1, le=5)]
    quote: str


class _ProfileProposal(BaseModel):
    model_config = ConfigDict(extra="forbid")
    field: ProfileField
    value: str
    quote: str


class _Proposals(BaseModel):
    model_config = ConfigDict(extra="forbid")
    memories: list[_Proposal]
    profile: list[_ProfileProposal]


def extract(
    *, model: LanguageModel, user_message: str, assistant_reply: str, today: date, cancel: CancelToken
) -> tuple[Extraction, Usage]:
    """Ask ``model`` what the user said about themselves, and accept what the user really said.

    The reply is shown for understanding only; a quote has to stand in the user's own message. Raises
    `ModelError`, also when the answer is no valid one twice.
    """
    answer = ask(
        model,
        purpose="extraction",
        instructions=render("extraction", today=today.isoformat()),
        input=quoting({"user_message": user_message, "assistant_reply": assistant_reply}),
        name="memory_extraction",
        answer_type=_Proposals,
        cancel=cancel,
    )
    return accept(answer.value, user_message=user_message), answer.usage


def accept(proposals: _Proposals, *, user_message: str) -> Extraction:
    """What of ``proposals`` may be remembered, and what not and why."""
    accepted: list[Candidate] = []
    refused: list[RefusedCandidate] = []
    for proposal in proposals.memories:
        candidate = Candidate(
            content=" ".join(proposal.content.split()),
            category=proposal.category,
            importance=proposal.importance,
            quote=proposal.quote.strip(),
        )
        reason = _refusal(candidate, user_message=user_message, accepted=accepted)
        if reason:
            refused.append(RefusedCandidate(candidate=_masked(candidate), reason=reason))
        else:
            accepted.append(candidate)
    profile = [
        update
        for proposal in proposals.profile
        if (update := _profile_update(proposal, user_message=user_message)) is not None
    ]
    return Extraction(accepted=tuple(accepted), refused=tuple(refused), profile=tuple(profile))


def _refusal(candidate: Candidate, *, user_message: str, accepted: Sequence[Candidate]) -> RefusalReason | None:
    if holds_secret(candidate.content) or holds_secret(candidate.quote):
        return "secret"
    if not candidate.content or len(candidate.content) > MAX_CONTENT_CHARS:
        return "malformed"
    if not is_quoted(candidate.quote, user_message):
        return "quote_not_found"
    if candidate.content.endswith(("?", "？")):
        return "not_lasting"
    if any(normalize(candidate.content) == normalize(other.content) for other in accepted):
        return "duplicate"
    return None


def is_quoted(quote: str, text: str) -> bool:
    """Whether ``quote`` stands in ``text`` word for word; only white space and Unicode composition may differ."""
    folded = _folded(quote)
    return bool(folded) and folded in _folded(text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _masked(candidate: Candidate) -> Candidate:
    return Candidate(
        content=mask_secrets(candidate.content),
        category=candidate.category,
        importance=candidate.importance,
        quote=mask_secrets(candidate.quote),
    )


def _profile_update(proposal: _ProfileProposal, *, user_message: str) -> ProfileUpdate | None:
    """The update, or None where it is not quoted, holds a secret, or breaks the field's rules."""
    if holds_secret(proposal.value) or not is_quoted(proposal.quote, user_message):
        return None
    try:
        value = validate_profile_value(proposal.field, proposal.value)
    except InvalidInput:
        return None
    return ProfileUpdate(field=proposal.field, value=value, quote=proposal.quote.strip()) if value else None
