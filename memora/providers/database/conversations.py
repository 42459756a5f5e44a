"""The record of conversations, as short-term memory uses it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Literal

from sqlalchemy import exists, insert, or_, select, update

from memora.context.ports import StoredMessage, StoredWindow
from memora.errors import Failure, NotFound
from memora.model import Usage
from memora.providers.database.engine import SqliteFile
from memora.providers.database.tables import conversations, messages, turns
from memora.providers.database.turn_rows import find_turn, message_position, new_id

_WITH_A_REPLY = ("done", "stopped", "cut_off")
_replies = messages.alias("replies")


def _now() -> datetime:
    return datetime.now(UTC)


class SqlConversations:
    """A `memora.context.ports.ConversationStore`. ``now`` dates the replies."""

    def __init__(self, file: SqliteFile, *, now: Callable[[], datetime] = _now) -> None:
        self._file = file
        self._now = now

    def window(self, *, user_id: str, conversation_id: str, turn_id: str) -> StoredWindow:
        """The window that the turn ``turn_id`` starts from. Raises `NotFound`.

        What was said after that turn (it may be answered again, later) is no part of it.
        """
        with self._file.reading() as connection:
            turn = find_turn(connection, user_id=user_id, turn_id=turn_id)
            conversation = connection.execute(
                select(conversations.c.summary, conversations.c.summarized_through).where(
                    conversations.c.id == conversation_id,
                    conversations.c.id == turn.conversation_id,
                    conversations.c.user_id == user_id,
                )
            ).first()
            if conversation is None:
                raise NotFound(kind="conversation")
            asked_at = message_position(turn.position, "user")
            rows = connection.execute(
                select(messages.c.id, messages.c.turn_id, messages.c.role, messages.c.content, messages.c.position)
                .join(turns, turns.c.id == messages.c.turn_id)
                .where(
                    messages.c.conversation_id == conversation_id,
                    messages.c.user_id == user_id,
                    or_(
                        messages.c.position == asked_at,
                        (messages.c.position > conversation.summarized_through)
                        & (messages.c.position < asked_at)
                        & turns.c.state.in_(_WITH_A_REPLY)
                        & exists().where(_replies.c.turn_id == turns.c.id, _replies.c.role == "assistant"),
                    ),
                )
                .order_by(messages.c.position)
            ).mappings()
            return StoredWindow(
                summary=conversation.summary,
                summarized_through=conversation.summarized_through,
                messages=tuple(StoredMessage(**row) for row in rows),
            )

    def save_summary(self, *, user_id: str, conversation_id: str, summary: str, summarized_through: int) -> None:
        """Replace the running summary. The messages stay stored. Raises `NotFound`."""
        with self._file.writing() as connection:
            saved = connection.execute(
                update(conversations)
                .where(conversations.c.id == conversation_id, conversations.c.user_id == user_id)
                .values(summary=summary, summarized_through=summarized_through)
            )
            if not saved.rowcount:
                raise NotFound(kind="conversation")

    def finish_turn(
        self,
        *,
        user_id: str,
        turn_id: str,
        reply: str,
        state: Literal["done", "stopped", "cut_off", "failed"],
        response_tokens: int,
        usage: Usage,
        context_messages: int,
        failure: Failure | None,
        learn: bool,
    ) -> None:
        """Commit the reply (no message when it is empty), the turn's end and whether it is to be learned from.

        Idempotent: finishing a finished turn changes nothing. Raises `NotFound`.
        """
        at = self._now()
        with self._file.writing() as connection:
            turn = find_turn(connection, user_id=user_id, turn_id=turn_id)
            if turn.state not in ("queued", "running"):
                return
            connection.execute(
                update(turns)
                .where(turns.c.id == turn_id, turns.c.user_id == user_id)
                .values(
                    state=state,
                    finished_at=at,
                    learning="pending" if learn and reply and turn.learning == "none" else turn.learning,
                    response_tokens=response_tokens,
                    usage=usage,
                    context_messages=context_messages,
                    failure=failure,
                )
            )
            if reply:
                connection.execute(
                    insert(messages).values(
                        id=new_id(),
                        user_id=user_id,
                        conversation_id=turn.conversation_id,
                        turn_id=turn_id,
                        role="assistant",
                        content=reply,
                        position=message_position(turn.position, "assistant"),
                        created_at=at,
                    )
                )
            connection.execute(
                update(conversations)
                .where(conversations.c.id == turn.conversation_id, conversations.c.user_id == user_id)
                .values(updated_at=at)
            )
