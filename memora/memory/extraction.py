"""Memory extraction: what one turn teaches about its user, and what of it the application accepts."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import date

from pydantic import BaseModel

from memora.errors import InvalidInput
from memora.memory.profile import validate_profile_value
from memora.memory.secrets import find_secrets, holds_secret, mask_secrets
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
from memora.memory.words import normalize, query_terms
from memora.model import CancelToken, LanguageModel, ModelRequest, Usage
from memora.prompts import render
from memora.structured import ask, quoting

_QUESTION = re.compile(r"[?？]\W*$|嗎\W*$")
_LATIN = "[0-9A-Za-zÀ-ɏ]"
_HAN = re.compile("[\u3400-\u9fff]")
_SUBJECT = re.compile(r"使用者|\bthe user(?:'s)?\b", re.IGNORECASE)
"""What every sentence about a user begins with: it says nothing of what is known about them."""
_GLUE = frozenset("是在有了要會能想很不也都和跟就還又一個把被對從到於與及為著過之")
"""Characters that two Chinese sentences share by chance."""
_COMPARABLE = {("Chinese", "Chinese"), ("Chinese", "mixed"), ("Latin", "Latin")}
"""Scripts of quote and sentence that must have something in common: neither can be a translation of the other."""
_ROOT = 4
"""So many letters two English words share when they are of one family: teach and teacher."""


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
    secrets = find_secrets(user_message)
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
        if reason := _refusal(candidate, user_message=user_message, secrets=secrets, accepted=accepted):
            refused.append(_refused(candidate, reason, secrets=secrets))
        else:
            accepted.append(candidate)
    for entry in answer.profile:
        update = ProfileUpdate(field=entry.field, value=one_line(entry.value), quote=one_line(entry.quote))
        if reason := _profile_refusal(update, user_message=user_message, secrets=secrets, known=profile):
            refused.append(_refused(_as_candidate(update), reason, secrets=secrets))
        else:
            profile[update.field] = replace(update, value=validate_profile_value(update.field, update.value))
    return Extraction(accepted=tuple(accepted), refused=tuple(refused), profile=tuple(profile.values()))


def _refusal(
    candidate: Candidate, *, user_message: str, secrets: Collection[str], accepted: Sequence[Candidate]
) -> RefusalReason | None:
    if holds_secret(candidate.content, known=secrets) or holds_secret(candidate.quote, known=secrets):
        return "secret"
    if not 0 < len(candidate.content) <= MAX_SENTENCE_CHARS or not 1 <= candidate.importance <= 5:
        return "malformed"
    if not is_quoted(candidate.quote, user_message):
        return "quote_not_found"
    if _QUESTION.search(candidate.content) or not _may_follow(candidate.content, candidate.quote):
        return "not_lasting"
    if any(normalize(candidate.content) == normalize(other.content) for other in accepted):
        return "duplicate"
    return None


def _profile_refusal(
    update: ProfileUpdate,
    *,
    user_message: str,
    secrets: Collection[str],
    known: dict[ProfileField, ProfileUpdate],
) -> RefusalReason | None:
    """Why a profile entry is refused; of several for one field the first counts."""
    if holds_secret(update.value, known=secrets) or holds_secret(update.quote, known=secrets):
        return "secret"
    try:
        if not validate_profile_value(update.field, update.value):
            return "malformed"
    except InvalidInput:
        return "malformed"
    if not is_quoted(update.quote, user_message):
        return "quote_not_found"
    if not _may_follow(update.value, update.quote):
        return "not_lasting"
    return "duplicate" if update.field in known else None


def is_quoted(quote: str, text: str) -> bool:
    """Whether ``quote`` says something, and stands in ``text`` word for word.

    Only white space and Unicode composition may differ. A single character, function words, and a part of a
    word in Latin letters or of a number say nothing.
    """
    if not any(len(term) > 1 for term in query_terms(quote)):
        return False
    words = re.escape(_folded(quote))
    # Not \b: Chinese has no spaces, and a quote may begin or end between two characters.
    whole = rf"(?:(?<!{_LATIN})|(?!{_LATIN})){words}(?:(?!{_LATIN})|(?<!{_LATIN}))"
    return re.search(whole, _folded(text)) is not None


def _may_follow(content: str, quote: str) -> bool:
    """False for a sentence that has nothing in common with its quote although both are in the same script."""
    said = _SUBJECT.sub(" ", content)
    if (_script(quote), _script(said)) not in _COMPARABLE:
        return True
    meanings = _meanings(said)  # none for a name such as Will
    return not meanings or not meanings.isdisjoint(_meanings(quote))


def _script(text: str) -> str:
    """``Chinese``, ``Latin``, ``mixed`` of these two, or ``other``.

    Simplified characters count as another script: they may share none with their traditional forms.
    """
    letters = {unicodedata.name(char, "").partition(" ")[0] for char in text if char.isalpha()}
    chinese = "".join(_HAN.findall(text))
    is_traditional = chinese.encode("big5", errors="ignore").decode("big5") == chinese
    if not letters or not letters <= {"CJK", "LATIN"} or not is_traditional:
        return "other"
    return "mixed" if len(letters) == 2 else "Chinese" if chinese else "Latin"


def _meanings(text: str) -> set[str]:
    """The roots of its words, and its Chinese characters one by one: 養貓 and 有一隻貓 share no pair."""
    asked = query_terms(text)
    return {*_HAN.findall(" ".join(asked)), *(term[:_ROOT] for term in asked if not _HAN.search(term))} - _GLUE


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _as_candidate(update: ProfileUpdate) -> Candidate:
    """A profile entry in the shape in which refusals are told."""
    content = f"{update.field}: {update.value}"
    return Candidate(content=content, category=Category.PROFILE, importance=3, quote=update.quote)


def _refused(candidate: Candidate, reason: RefusalReason, *, secrets: Collection[str]) -> RefusedCandidate:
    masked = replace(
        candidate,
        content=mask_secrets(candidate.content, known=secrets),
        quote=mask_secrets(candidate.quote, known=secrets),
    )
    return RefusedCandidate(candidate=masked, reason=reason)
