"""The tables of the record.

Everything that belongs to a person carries their ``user_id``, and every statement names it; only
`token_calibrations` belongs to nobody. What is only
deleted for show has ``deleted_at``; memories outlive the conversations that they came from, so their
provenance is no foreign key.
"""

from __future__ import annotations

from sqlalchemy import (
    Boolean,
    CheckConstraint,
    Column,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from memora.errors import Failure
from memora.model import Usage
from memora.providers.database.types import UtcDateTime, ValueAsJson
from memora.turn.trace import TraceDigest

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _owner() -> Column[str]:
    return Column("user_id", String, ForeignKey("users.id"), nullable=False)


users = Table(
    "users",
    metadata,
    # The short form of an id, for the word index.
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False, unique=True),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", String, primary_key=True),
    _owner(),
    Column("title", Text, nullable=False),
    Column("summary", Text, nullable=False, default=""),
    Column("summarized_through", Integer, nullable=False, default=0),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("deleted_at", UtcDateTime),
)
Index(
    "ix_conversations_listed",
    conversations.c.user_id,
    conversations.c.updated_at,
    sqlite_where=text("deleted_at IS NULL"),
)

turns = Table(
    "turns",
    metadata,
    Column("id", String, primary_key=True),
    _owner(),
    Column("conversation_id", String, ForeignKey("conversations.id"), nullable=False),
    Column("position", Integer, nullable=False),
    Column("state", String, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("finished_at", UtcDateTime),
    Column("learning", String, nullable=False, default="none"),
    Column("learning_attempts", Integer, nullable=False, default=0),
    Column("response_tokens", Integer, nullable=False, default=0),
    Column("context_messages", Integer, nullable=False, default=0),
    Column("usage", ValueAsJson(Usage)),
    Column("failure", ValueAsJson(Failure)),
    Column("digest", ValueAsJson(TraceDigest)),
    UniqueConstraint("conversation_id", "position"),
)
Index("ix_turns_open", turns.c.state, sqlite_where=text("state IN ('queued', 'running')"))
Index("ix_turns_to_learn", turns.c.created_at, sqlite_where=text("learning = 'pending'"))

messages = Table(
    "messages",
    metadata,
    Column("id", String, primary_key=True),
    _owner(),
    Column("conversation_id", String, ForeignKey("conversations.id"), nullable=False),
    Column("turn_id", String, ForeignKey("turns.id"), nullable=False),
    Column("role", String, nullable=False),
    Column("content", Text, nullable=False),
    Column("position", Integer, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    UniqueConstraint("conversation_id", "position"),
    UniqueConstraint("turn_id", "role"),
)

turn_events = Table(
    "turn_events",
    metadata,
    Column("turn_id", String, ForeignKey("turns.id"), primary_key=True),
    Column("position", Integer, primary_key=True),
    _owner(),
    Column("event", Text, nullable=False),
)

memories = Table(
    "memories",
    metadata,
    # The short form of an id, for the word index; it also settles the order of equal moments.
    Column("number", Integer, primary_key=True),
    Column("id", String, nullable=False),
    _owner(),
    Column("content", Text, nullable=False),
    # The same for two sentences that are the same after `memora.memory.words.normalize`.
    Column("fingerprint", String, nullable=False),
    Column("category", String, nullable=False),
    Column("importance", Integer, nullable=False),
    Column("pinned", Boolean, nullable=False, default=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("last_accessed_at", UtcDateTime),
    Column("access_count", Integer, nullable=False, default=0),
    Column("valid_from", UtcDateTime, nullable=False),
    # No foreign key: a version that replaced another may be purged, and the other stays superseded.
    Column("superseded_by", String),
    Column("superseded_at", UtcDateTime),
    Column("deleted_at", UtcDateTime),
    Column("revision", Integer, nullable=False, default=1),
    Column("origin", String, nullable=False),
    Column("turn_id", String),
    Column("conversation_id", String),
    Column("quote", Text, nullable=False, default=""),
    # The user belongs to the key: SQLite would take another index that begins with the user over one of bare
    # ids, and read all of the user's memories to find a few.
    UniqueConstraint("user_id", "id"),
    CheckConstraint("importance BETWEEN 1 AND 5", name="importance"),
)
_CURRENT = text("superseded_by IS NULL AND deleted_at IS NULL")
# For pages of any status, and (without a look at the table) for counting what is current.
Index(
    "ix_memories_by_creation",
    memories.c.user_id,
    memories.c.created_at,
    memories.c.superseded_by,
    memories.c.deleted_at,
)
Index("ix_memories_by_update", memories.c.user_id, memories.c.updated_at, sqlite_where=_CURRENT)
Index("ix_memories_by_last_use", memories.c.user_id, memories.c.last_accessed_at, sqlite_where=_CURRENT)
Index("ix_memories_by_use", memories.c.user_id, memories.c.access_count, sqlite_where=_CURRENT)
Index("ix_memories_by_importance", memories.c.user_id, memories.c.importance, sqlite_where=_CURRENT)
Index("ix_memories_by_category", memories.c.user_id, memories.c.category, sqlite_where=_CURRENT)
# The user comes second here: SQLite likes to walk an index that begins with the user, and in the order of
# the fingerprints it would read the table at random.
Index("ix_memories_by_sentence", memories.c.fingerprint, memories.c.user_id, sqlite_where=_CURRENT)
Index(
    "ix_memories_pinned",
    memories.c.user_id,
    memories.c.importance,
    sqlite_where=text("pinned = 1 AND superseded_by IS NULL AND deleted_at IS NULL"),
)
Index(
    "ix_memories_replaced",
    memories.c.user_id,
    memories.c.superseded_by,
    sqlite_where=text("superseded_by IS NOT NULL"),
)

memory_history = Table(
    "memory_history",
    metadata,
    Column("number", Integer, primary_key=True),
    _owner(),
    Column("memory_id", String, nullable=False),
    Column("action", String, nullable=False),
    Column("at", UtcDateTime, nullable=False),
    Column("origin", String, nullable=False),
    Column("before", Text, nullable=False, default=""),
    Column("after", Text, nullable=False, default=""),
    Column("turn_id", String),
    Column("other_memory_id", String),
    ForeignKeyConstraint(["user_id", "memory_id"], ["memories.user_id", "memories.id"]),
)
Index("ix_memory_history_by_memory", memory_history.c.user_id, memory_history.c.memory_id)
Index("ix_memory_history_by_other", memory_history.c.user_id, memory_history.c.other_memory_id)

# The word index: which current memories of a user contain a term (`memora.memory.words.terms`). Keyed by
# the user first: frequencies are per user, and no other user's words can be met. It is derived from
# `memories` and has no foreign keys: checking them would need an index as large as the table.
memory_words = Table(
    "memory_words",
    metadata,
    Column("user_number", Integer, primary_key=True),
    Column("term", String, primary_key=True),
    Column("memory_number", Integer, primary_key=True),
    sqlite_with_rowid=False,
)

profile_fields = Table(
    "profile_fields",
    metadata,
    Column("user_id", String, ForeignKey("users.id"), primary_key=True),
    Column("field", String, primary_key=True),
    Column("value", Text, nullable=False),
    Column("locked", Boolean, nullable=False, default=False),
    Column("updated_at", UtcDateTime, nullable=False),
    Column("origin", String, nullable=False),
    Column("turn_id", String),
    Column("conversation_id", String),
    Column("quote", Text, nullable=False, default=""),
)

preferences = Table(
    "preferences",
    metadata,
    Column("user_id", String, ForeignKey("users.id"), primary_key=True),
    Column("memory_enabled", Boolean, nullable=False),
    Column("language", String),
    Column("model", String),
    Column("max_input_tokens", Integer),
)

token_calibrations = Table(
    "token_calibrations",
    metadata,
    Column("model", String, primary_key=True),
    # Empty for OpenAI's own address.
    Column("host", String, primary_key=True),
    Column("estimated_tokens", Float, nullable=False),
    Column("server_tokens", Float, nullable=False),
    Column("answers", Integer, nullable=False),
)
