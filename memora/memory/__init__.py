"""Long-term memory: recall, extraction, reconciliation, and the user profile."""

from memora.memory.extraction import extract
from memora.memory.long_term import LongTermMemory
from memora.memory.ports import ProfileStore
from memora.memory.profile import validate_profile_value
from memora.memory.reconciliation import reconcile
from memora.memory.storing import store_accepted_memories
from memora.memory.values import (
    Candidate,
    Category,
    Extraction,
    Memory,
    MemoryChange,
    MemoryQuery,
    MemoryReconciliationDecision,
    ProfileField,
    ProfileUpdate,
    ProfileValue,
    Recall,
    RecalledMemory,
)

__all__ = [
    "Candidate",
    "Category",
    "Extraction",
    "LongTermMemory",
    "Memory",
    "MemoryChange",
    "MemoryQuery",
    "MemoryReconciliationDecision",
    "ProfileField",
    "ProfileStore",
    "ProfileUpdate",
    "ProfileValue",
    "Recall",
    "RecalledMemory",
    "extract",
    "reconcile",
    "store_accepted_memories",
    "validate_profile_value",
]
