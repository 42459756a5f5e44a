"""How turns and their messages lie in the tables; what `turns` and `conversations` share."""

from __future__ import annotations

import uuid
from typing import Any, Literal

from sqlalchemy import Connection, Row, Select, select

from memora.errors import NotFound
from memora.providers.database.tables import conversations, messages, turns
from memora.turn.ports import Turn
from memora.turn.trace import TraceDigest

_questions = messages.alias("questions")
_replies = messages.alias("replies")


def new_id() -> str:
    """An id for a new record."""
    return uuid.uuid4().hex


def select_turns() -> Select[Any]:
    """Turns with their question and, where there is one, their reply."""
    return (
        select(
            turns,
            _questions.c.id.label("user_message_id"),
            _questions.c.content.label("user_message"),
            _replies.c.id.label("reply_message_id"),
            _replies.c.content.label("reply"),
        )
        .join(_questions, (_questions.c.turn_id == turns.c.id) & (_questions.c.role == "user"))
        .outerjoin(_replies, (_replies.c.turn_id == turns.c.id) & (_replies.c.role == "assistant"))
    )


def turn_of(row: Row[Any]) -> Turn:
    """The turn in a row of `select_turns`."""
    return Turn(
        id=row.id,
        user_id=row.user_id,
        conversation_id=row.conversation_id,
        position=row.position,
        state=row.state,
        user_message_id=row.user_message_id,
        user_message=row.user_message,
        reply_message_id=row.reply_message_id,
        reply=row.reply or "",
        created_at=row.created_at,
        finished_at=row.finished_at,
        learning=row.learning,
        learning_attempts=row.learning_attempts,
        response_tokens=row.response_tokens,
        failure=row.failure,
        digest=row.digest or TraceDigest(),
    )


def find_turn(connection: Connection, *, user_id: str, turn_id: str) -> Turn:
    """The user's turn. Raises `NotFound`."""
    row = connection.execute(select_turns().where(turns.c.id == turn_id, turns.c.user_id == user_id)).first()
    if row is None:
        raise NotFound(kind="turn")
    return turn_of(row)


def require_conversation(connection: Connection, *, user_id: str, conversation_id: str) -> None:
    """Raises `NotFound` unless the conversation is the user's and not deleted."""
    found = connection.scalar(
        select(conversations.c.id).where(
            conversations.c.id == conversation_id,
            conversations.c.user_id == user_id,
            conversations.c.deleted_at.is_(None),
        )
    )
    if found is None:
        raise NotFound(kind="conversation")


def message_position(turn_position: int, role: Literal["user", "assistant"]) -> int:
    """Where a turn's message stands in its conversation, from 1: a reply that comes late still follows its question."""
    return 2 * turn_position - (1 if role == "user" else 0)
