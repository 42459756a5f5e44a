"""Memory extraction: what one turn teaches about its user, and what of it the application accepts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from pydantic import BaseModel

from memora.errors import InvalidInput
from memora.memory.profile import validate_profile_value
from memora.memory.secrets import holds_secret, mask_secrets
from memora.memory.sentence import MAX_SENTENCE_CHARS, one_line
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
from memora.model import CancelToken, LanguageModel, ModelRequest, Usage
from memora.prompts import render
from memora.structured import ask, quoting

_QUESTION = re.compile(r"[?？]\W*$|嗎\W*$")


class _Fact(BaseModel):
    content: str
    category: Category
    importance: int
    quote: str


class _ProfileEntry(BaseModel):
    field: ProfileField
    value: str
    quote: str


class _Answer(BaseModel):
    memories: list[_Fact]
    profile: list[_ProfileEntry]


def extract(
    *, model: LanguageModel, user_message: str, assistant_reply: str, today: date, cancel: CancelToken
) -> tuple[Extraction, Usage | None]:
    """What ``user_message`` says about its writer, as far as the application accepts it, and what asking cost.

    The reply is shown for understanding only: every quote has to stand in the user's own message. Nothing is
    asked about a blank message. Raises `ModelError` and `Cancelled`.
    """
    if not user_message.strip():
        return Extraction(), None
    request = ModelRequest(
        purpose="extraction",
        instructions=render("extraction", today=f"{today:%Y-%m-%d (%A)}"),
        input=quoting({"user_message": user_message, "assistant_reply": assistant_reply}),
    )
    answer = ask(model, request, name="memory_extraction", answer_type=_Answer, cancel=cancel)
    return _accept(answer.value, user_message=user_message), answer.usage


def _accept(answer: _Answer, *, user_message: str) -> Extraction:
    accepted: list[Candidate] = []
    refused: list[RefusedCandidate] = []
    profile: dict[ProfileField, ProfileUpdate] = {}
    for fact in answer.memories:
        candidate = Candidate(
            content=one_line(fact.content),
            category=fact.category,
            importance=fact.importance,
            quote=one_line(fact.quote),
        )
        if reason := _refusal(candidate, user_message=user_message, accepted=accepted):
            refused.append(_refused(candidate, reason))
        else:
            accepted.append(candidate)
    for entry in answer.profile:
        update = ProfileUpdate(field=entry.field, value=one_line(entry.value), quote=one_line(entry.quote))
        if reason := _profile_refusal(update, user_message=user_message, known=profile):
            refused.append(_refused(_as_candidate(update), reason))
        else:
            profile[update.field] = replace(update, value=validate_profile_value(update.field, update.value))
    return Extraction(accepted=tuple(accepted), refused=tuple(refused), profile=tuple(profile.values()))


def _refusal(candidate: Candidate, *, user_message: str, accepted: Sequence[Candidate]) -> RefusalReason | None:
    if holds_secret(candidate.content) or holds_secret(candidate.quote):
        return "secret"
    if not 0 < len(candidate.content) <= MAX_SENTENCE_CHARS or not 1 <= candidate.importance <= 5:
        return "malformed"
    if not is_quoted(candidate.quote, user_message):
        return "quote_not_found"
    if _QUESTION.search(candidate.content):
        return "not_lasting"
    if any(normalize(candidate.content) == normalize(other.content) for other in accepted):
        return "duplicate"
    return None


def _profile_refusal(
    update: ProfileUpdate, *, user_message: str, known: dict[ProfileField, ProfileUpdate]
) -> RefusalReason | None:
    """Why a profile entry is refused; of several for one field the first counts."""
    if holds_secret(update.value) or holds_secret(update.quote):
        return "secret"
    try:
        if not validate_profile_value(update.field, update.value):
            return "malformed"
    except InvalidInput:
        return "malformed"
    if not is_quoted(update.quote, user_message):
        return "quote_not_found"
    return "duplicate" if update.field in known else None


def is_quoted(quote: str, text: str) -> bool:
    """Whether ``quote`` stands in ``text`` word for word; only white space and Unicode composition may differ."""
    folded = _folded(quote)
    return bool(folded) and folded in _folded(text)


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _as_candidate(update: ProfileUpdate) -> Candidate:
    """A profile entry in the shape in which refusals are told."""
    content = f"{update.field}: {update.value}"
    return Candidate(content=content, category=Category.PROFILE, importance=3, quote=update.quote)


def _refused(candidate: Candidate, reason: RefusalReason) -> RefusedCandidate:
    masked = replace(candidate, content=mask_secrets(candidate.content), quote=mask_secrets(candidate.quote))
    return RefusedCandidate(candidate=masked, reason=reason)
