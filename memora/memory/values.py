"""What a memory is: values without behaviour. Stores give them identity, services move them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Literal


class Category(StrEnum):
    """What a memory is about."""

    PROFILE = "profile"
    PREFERENCE = "preference"
    GOAL = "goal"
    EXPERIENCE = "experience"
    KNOWLEDGE = "knowledge"
    DIFFICULTY = "difficulty"


Origin = Literal["extraction", "user", "import"]
"""Who wrote a version of a memory."""


@dataclass(frozen=True, kw_only=True)
class Provenance:
    """Where a memory came from: the turn, and the user's own words (empty when added by hand)."""

    origin: Origin
    turn_id: str | None = None
    conversation_id: str | None = None
    quote: str = ""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One self-contained sentence about a user, as the record holds it.

    Times are aware, in UTC. ``importance`` is 1–5. ``superseded_by`` names the newer version and
    ``deleted_at`` the moment of deletion; a memory with neither is *current*. ``revision`` counts the
    changes of ``content``: the index compares it.
    """

    id: str
    user_id: str
    content: str
    category: Category
    importance: int
    created_at: datetime
    updated_at: datetime
    provenance: Provenance
    last_accessed_at: datetime | None = None
    access_count: int = 0
    pinned: bool = False
    valid_from: datetime
    superseded_by: str | None = None
    superseded_at: datetime | None = None
    deleted_at: datetime | None = None
    revision: int = 1

    @property
    def is_current(self) -> bool:
        """Neither superseded nor deleted."""
        return self.superseded_by is None and self.deleted_at is None


HistoryAction = Literal["created", "edited", "superseded", "restored", "deleted", "undeleted", "pinned", "unpinned"]


@dataclass(frozen=True, kw_only=True)
class HistoryEntry:
    """One change of one memory. ``before``/``after`` are contents; empty where there is none."""

    memory_id: str
    action: HistoryAction
    at: datetime
    origin: Origin
    before: str = ""
    after: str = ""
    turn_id: str | None = None
    other_memory_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class ScorePart:
    """One addend of a recall score: ``name`` is ``vector``, ``words``, ``recency``, ``importance`` or ``pinned``."""

    name: str
    value: float
    weight: float


@dataclass(frozen=True, kw_only=True)
class RecalledMemory:
    """A memory that came back for a query, with its score in parts (``score`` is their weighted sum)."""

    memory: Memory
    score: float
    parts: tuple[ScorePart, ...] = ()
    matched_words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A fact that extraction proposes, with a verbatim quote from the user's message."""

    content: str
    category: Category
    importance: int
    quote: str


RefusalReason = Literal["quote_not_found", "not_lasting", "secret", "malformed", "duplicate"]


@dataclass(frozen=True, kw_only=True)
class RefusedCandidate:
    """A candidate that the application did not accept. A secret is masked in ``candidate``."""

    candidate: Candidate
    reason: RefusalReason


ProfileField = Literal[
    "name", "native_language", "english_level", "goals", "interests", "correction_style", "explanation_style"
]
PROFILE_FIELDS: tuple[ProfileField, ...] = (
    "name",
    "native_language",
    "english_level",
    "goals",
    "interests",
    "correction_style",
    "explanation_style",
)
CEFR_LEVELS = ("A1", "A2", "B1", "B2", "C1", "C2")


@dataclass(frozen=True, kw_only=True)
class ProfileValue:
    """One field of a user's profile and where it came from."""

    field: ProfileField
    value: str
    updated_at: datetime
    provenance: Provenance
    locked: bool = False


@dataclass(frozen=True, kw_only=True)
class ProfileUpdate:
    """A profile field that extraction learned, with the words that support it."""

    field: ProfileField
    value: str
    quote: str


@dataclass(frozen=True, kw_only=True)
class Extraction:
    """What extraction made of one turn."""

    accepted: tuple[Candidate, ...] = ()
    refused: tuple[RefusedCandidate, ...] = ()
    profile: tuple[ProfileUpdate, ...] = ()


DecisionAction = Literal["create", "skip", "update"]
DecisionSource = Literal["no_similar_memory", "same_sentence", "model", "fallback"]


@dataclass(frozen=True, kw_only=True)
class MemoryReconciliationDecision:
    """What becomes of one candidate.

    ``update`` and ``skip`` name the memory they refer to; ``content`` is the sentence to store for
    ``create`` and ``update``. ``decided_by`` says whether a model was asked; ``reason`` is its sentence.
    """

    action: DecisionAction
    candidate: Candidate
    content: str = ""
    target_memory_id: str | None = None
    target_content: str = ""
    decided_by: DecisionSource = "model"
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class MemoryChange:
    """What the write path changed in the record."""

    action: DecisionAction
    memory_id: str
    content: str
    previous_memory_id: str | None = None
    previous_content: str = ""


MemoryStatus = Literal["current", "superseded", "deleted", "all"]
MemoryOrder = Literal["newest", "updated", "last_used", "most_used", "importance"]


@dataclass(frozen=True, kw_only=True)
class MemoryQuery:
    """What the memories page asks of the record: filters, order and a page of it."""

    status: MemoryStatus = "current"
    categories: tuple[Category, ...] = ()
    pinned_only: bool = False
    text: str = ""
    sort: MemoryOrder = "newest"
    offset: int = 0
    limit: int = 20


@dataclass(frozen=True, kw_only=True)
class MemoryPage:
    """A page of memories; ``total`` counts all that match."""

    memories: tuple[Memory, ...] = ()
    total: int = 0


@dataclass(frozen=True, kw_only=True)
class Recall:
    """The result of a search. ``degraded`` is a code when the index could not be asked (words only)."""

    query: str
    memories: tuple[RecalledMemory, ...] = ()
    degraded: str | None = None
    timings_ms: dict[str, float] = field(default_factory=dict)
