"""The record: users, conversations, turns, memories, profiles and preferences.

A migration says what was true when it was written: it imports nothing of Memora.
"""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

_CURRENT = sa.text("superseded_by IS NULL AND deleted_at IS NULL")


def upgrade() -> None:
    """Create everything."""
    _create_users()
    _create_conversations()
    _create_turns()
    _create_memories()


def downgrade() -> None:
    """Drop everything."""
    for table in (
        "memory_words",
        "memory_history",
        "memories",
        "turn_events",
        "messages",
        "turns",
        "conversations",
        "preferences",
        "profile_fields",
        "users",
    ):
        op.drop_table(table)


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_users"),
        sa.UniqueConstraint("id", name="uq_users_id"),
    )
    op.create_table(
        "profile_fields",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String()),
        sa.Column("conversation_id", sa.String()),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "field", name="pk_profile_fields"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_profile_fields_user_id_users"),
    )
    op.create_table(
        "preferences",
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("memory_enabled", sa.Boolean(), nullable=False),
        sa.Column("language", sa.String()),
        sa.Column("model", sa.String()),
        sa.Column("max_input_tokens", sa.Integer()),
        sa.PrimaryKeyConstraint("user_id", name="pk_preferences"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_preferences_user_id_users"),
    )


def _create_conversations() -> None:
    op.create_table(
        "conversations",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", sa.Text(), nullable=False),
        sa.Column("summarized_through", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("deleted_at", sa.DateTime()),
        sa.PrimaryKeyConstraint("id", name="pk_conversations"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_conversations_user_id_users"),
    )
    op.create_index(
        "ix_conversations_listed",
        "conversations",
        ["user_id", "updated_at"],
        sqlite_where=sa.text("deleted_at IS NULL"),
    )


def _create_turns() -> None:
    op.create_table(
        "turns",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("finished_at", sa.DateTime()),
        sa.Column("learning", sa.String(), nullable=False),
        sa.Column("learning_attempts", sa.Integer(), nullable=False),
        sa.Column("response_tokens", sa.Integer(), nullable=False),
        sa.Column("context_messages", sa.Integer(), nullable=False),
        sa.Column("usage", sa.Text()),
        sa.Column("failure", sa.Text()),
        sa.Column("digest", sa.Text()),
        sa.PrimaryKeyConstraint("id", name="pk_turns"),
        sa.UniqueConstraint("conversation_id", "position", name="uq_turns_conversation_id_position"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_turns_user_id_users"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_turns_conversation_id_conversations"
        ),
    )
    op.create_index("ix_turns_open", "turns", ["state"], sqlite_where=sa.text("state IN ('queued', 'running')"))
    op.create_index("ix_turns_to_learn", "turns", ["created_at"], sqlite_where=sa.text("learning = 'pending'"))
    op.create_table(
        "messages",
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("conversation_id", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_messages"),
        sa.UniqueConstraint("conversation_id", "position", name="uq_messages_conversation_id_position"),
        sa.UniqueConstraint("turn_id", "role", name="uq_messages_turn_id_role"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_messages_user_id_users"),
        sa.ForeignKeyConstraint(
            ["conversation_id"], ["conversations.id"], name="fk_messages_conversation_id_conversations"
        ),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_messages_turn_id_turns"),
    )
    op.create_table(
        "turn_events",
        sa.Column("turn_id", sa.String(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("event", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", "position", name="pk_turn_events"),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"], name="fk_turn_events_turn_id_turns"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_turn_events_user_id_users"),
    )


def _create_memories() -> None:
    op.create_table(
        "memories",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("id", sa.String(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("fingerprint", sa.String(), nullable=False),
        sa.Column("category", sa.String(), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("pinned", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(), nullable=False),
        sa.Column("updated_at", sa.DateTime(), nullable=False),
        sa.Column("last_accessed_at", sa.DateTime()),
        sa.Column("access_count", sa.Integer(), nullable=False),
        sa.Column("valid_from", sa.DateTime(), nullable=False),
        sa.Column("superseded_by", sa.String()),
        sa.Column("superseded_at", sa.DateTime()),
        sa.Column("deleted_at", sa.DateTime()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("turn_id", sa.String()),
        sa.Column("conversation_id", sa.String()),
        sa.Column("quote", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("number", name="pk_memories"),
        sa.UniqueConstraint("user_id", "id", name="uq_memories_user_id_id"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_memories_user_id_users"),
        sa.CheckConstraint("importance BETWEEN 1 AND 5", name="ck_memories_importance"),
    )
    for name, column in (
        ("ix_memories_by_update", "updated_at"),
        ("ix_memories_by_last_use", "last_accessed_at"),
        ("ix_memories_by_use", "access_count"),
        ("ix_memories_by_importance", "importance"),
        ("ix_memories_by_category", "category"),
    ):
        op.create_index(name, "memories", ["user_id", column], sqlite_where=_CURRENT)
    op.create_index("ix_memories_by_creation", "memories", ["user_id", "created_at", "superseded_by", "deleted_at"])
    op.create_index("ix_memories_by_sentence", "memories", ["fingerprint", "user_id"], sqlite_where=_CURRENT)
    op.create_index(
        "ix_memories_pinned",
        "memories",
        ["user_id", "importance"],
        sqlite_where=sa.text("pinned = 1 AND superseded_by IS NULL AND deleted_at IS NULL"),
    )
    op.create_index(
        "ix_memories_replaced",
        "memories",
        ["user_id", "superseded_by"],
        sqlite_where=sa.text("superseded_by IS NOT NULL"),
    )
    op.create_table(
        "memory_history",
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("user_id", sa.String(), nullable=False),
        sa.Column("memory_id", sa.String(), nullable=False),
        sa.Column("action", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(), nullable=False),
        sa.Column("origin", sa.String(), nullable=False),
        sa.Column("before", sa.Text(), nullable=False),
        sa.Column("after", sa.Text(), nullable=False),
        sa.Column("turn_id", sa.String()),
        sa.Column("other_memory_id", sa.String()),
        sa.PrimaryKeyConstraint("number", name="pk_memory_history"),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name="fk_memory_history_user_id_users"),
        sa.ForeignKeyConstraint(
            ["user_id", "memory_id"], ["memories.user_id", "memories.id"], name="fk_memory_history_user_id_memories"
        ),
    )
    op.create_index("ix_memory_history_by_memory", "memory_history", ["user_id", "memory_id"])
    op.create_index("ix_memory_history_by_other", "memory_history", ["user_id", "other_memory_id"])
    op.create_table(
        "memory_words",
        sa.Column("user_number", sa.Integer(), nullable=False),
        sa.Column("term", sa.String(), nullable=False),
        sa.Column("memory_number", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("user_number", "term", "memory_number", name="pk_memory_words"),
        sqlite_with_rowid=False,
    )
