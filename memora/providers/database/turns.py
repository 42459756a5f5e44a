"""The record of conversations and turns, as the runner and the pages use it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, Update, delete, func, insert, select, update

from memora.errors import Failure, NotFound
from memora.providers.database.engine import SqliteFile
from memora.providers.database.tables import conversations, messages, turn_events, turns
from memora.providers.database.turn_rows import (
    find_turn,
    message_position,
    new_id,
    require_conversation,
    select_turns,
    turn_of,
)
from memora.providers.database.users import ensure_user
from memora.turn.events import Event, event_from_json, event_to_json
from memora.turn.ports import Conversation, Turn
from memora.turn.trace import TraceDigest

_CAN_REOPEN = ("failed", "cut_off", "stopped", "interrupted")


class SqlTurns:
    """A `memora.turn.ports.TurnStore`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    # Conversations.

    def create_conversation(self, *, user_id: str, title: str, at: datetime) -> Conversation:
        """An empty conversation."""
        created = Conversation(id=new_id(), user_id=user_id, title=title, created_at=at, updated_at=at)
        with self._file.writing() as connection:
            ensure_user(connection, user_id)
            connection.execute(
                insert(conversations).values(id=created.id, user_id=user_id, title=title, created_at=at, updated_at=at)
            )
        return created

    def conversations(self, *, user_id: str, limit: int, offset: int = 0) -> Sequence[Conversation]:
        """Those not deleted, the latest first."""
        query = (
            _select_conversations(user_id)
            .order_by(conversations.c.updated_at.desc(), conversations.c.id)
            .limit(limit)
            .offset(offset)
        )
        with self._file.reading() as connection:
            return tuple(_conversation(row) for row in connection.execute(query))

    def conversation(self, *, user_id: str, conversation_id: str) -> Conversation:
        """Raises `NotFound` (also when deleted)."""
        query = _select_conversations(user_id).where(conversations.c.id == conversation_id)
        with self._file.reading() as connection:
            row = connection.execute(query).first()
        if row is None:
            raise NotFound(kind="conversation")
        return _conversation(row)

    def rename_conversation(self, *, user_id: str, conversation_id: str, title: str) -> None:
        """Raises `NotFound`."""
        with self._file.writing() as connection:
            require_conversation(connection, user_id=user_id, conversation_id=conversation_id)
            connection.execute(_update_conversation(user_id, conversation_id).values(title=title))

    def delete_conversation(self, *, user_id: str, conversation_id: str, at: datetime) -> None:
        """Mark as deleted; `undelete_conversation` brings it back."""
        with self._file.writing() as connection:
            connection.execute(
                _update_conversation(user_id, conversation_id)
                .where(conversations.c.deleted_at.is_(None))
                .values(deleted_at=at)
            )

    def undelete_conversation(self, *, user_id: str, conversation_id: str) -> None:
        """Undo `delete_conversation`."""
        with self._file.writing() as connection:
            connection.execute(_update_conversation(user_id, conversation_id).values(deleted_at=None))

    # Turns.

    def begin_turn(self, *, user_id: str, conversation_id: str, content: str, at: datetime) -> Turn:
        """Commit a new turn, state ``queued``, with the user's message. Raises `NotFound`."""
        turn_id, message_id = new_id(), new_id()
        with self._file.writing() as connection:
            require_conversation(connection, user_id=user_id, conversation_id=conversation_id)
            position = _last_position(connection, conversation_id) + 1
            connection.execute(
                insert(turns).values(
                    id=turn_id,
                    user_id=user_id,
                    conversation_id=conversation_id,
                    position=position,
                    state="queued",
                    created_at=at,
                )
            )
            connection.execute(
                insert(messages).values(
                    id=message_id,
                    user_id=user_id,
                    conversation_id=conversation_id,
                    turn_id=turn_id,
                    role="user",
                    content=content,
                    position=message_position(position, "user"),
                    created_at=at,
                )
            )
            connection.execute(_update_conversation(user_id, conversation_id).values(updated_at=at))
        return Turn(
            id=turn_id,
            user_id=user_id,
            conversation_id=conversation_id,
            position=position,
            state="queued",
            user_message_id=message_id,
            user_message=content,
            created_at=at,
        )

    def turn(self, *, user_id: str, turn_id: str) -> Turn:
        """Raises `NotFound`."""
        with self._file.reading() as connection:
            return find_turn(connection, user_id=user_id, turn_id=turn_id)

    def turns(self, *, user_id: str, conversation_id: str, before: int | None, limit: int) -> Sequence[Turn]:
        """The last ``limit`` turns with a position below ``before``, oldest first."""
        query = select_turns().where(turns.c.conversation_id == conversation_id, turns.c.user_id == user_id)
        if before is not None:
            query = query.where(turns.c.position < before)
        with self._file.reading() as connection:
            rows = connection.execute(query.order_by(turns.c.position.desc()).limit(limit)).all()
        return tuple(turn_of(row) for row in reversed(rows))

    def count_turns(self, *, user_id: str, conversation_id: str) -> int:
        """How many turns the conversation has."""
        query = (
            select(func.count())
            .select_from(turns)
            .where(turns.c.conversation_id == conversation_id, turns.c.user_id == user_id)
        )
        with self._file.reading() as connection:
            return connection.scalars(query).one()

    def mark_running(self, *, user_id: str, turn_id: str) -> None:
        """``queued`` → ``running``."""
        with self._file.writing() as connection:
            connection.execute(_update_turn(user_id, turn_id).where(turns.c.state == "queued").values(state="running"))

    def reopen_turn(self, *, user_id: str, turn_id: str) -> Turn:
        """A failed, cut-off, stopped or interrupted turn becomes ``queued`` again.

        Its reply and its log go, and with them what was to be learned from that reply; what had been
        learned stays. It moves to the end of its conversation: it is answered knowing all that was said since.
        Raises `NotFound`, also for a turn in another state.
        """
        with self._file.writing() as connection:
            reopened = connection.execute(
                _update_turn(user_id, turn_id)
                .where(turns.c.state.in_(_CAN_REOPEN))
                .values(
                    state="queued",
                    finished_at=None,
                    learning="none",
                    learning_attempts=0,
                    response_tokens=0,
                    context_messages=0,
                    usage=None,
                    failure=None,
                    digest=None,
                )
            )
            if not reopened.rowcount:
                raise NotFound(kind="turn")
            connection.execute(
                delete(messages).where(
                    messages.c.turn_id == turn_id, messages.c.user_id == user_id, messages.c.role == "assistant"
                )
            )
            connection.execute(
                delete(turn_events).where(turn_events.c.turn_id == turn_id, turn_events.c.user_id == user_id)
            )
            _move_to_end(connection, user_id=user_id, turn_id=turn_id)
            return find_turn(connection, user_id=user_id, turn_id=turn_id)

    # The log of a turn.

    def append_events(self, *, user_id: str, turn_id: str, events: Sequence[Event]) -> None:
        """Append to the turn's log, in order. `TextArrived` is not to be given. Raises `NotFound`."""
        if not events:
            return
        with self._file.writing() as connection:
            _require_turn(connection, user_id=user_id, turn_id=turn_id)
            last = connection.scalars(
                select(func.coalesce(func.max(turn_events.c.position), 0)).where(turn_events.c.turn_id == turn_id)
            ).one()
            connection.execute(
                insert(turn_events),
                [
                    {"turn_id": turn_id, "position": position, "user_id": user_id, "event": event_to_json(event)}
                    for position, event in enumerate(events, start=last + 1)
                ],
            )

    def events(self, *, user_id: str, turn_id: str) -> Sequence[Event]:
        """The turn's log."""
        query = (
            select(turn_events.c.event)
            .where(turn_events.c.turn_id == turn_id, turn_events.c.user_id == user_id)
            .order_by(turn_events.c.position)
        )
        with self._file.reading() as connection:
            lines = connection.scalars(query).all()
        return tuple(event_from_json(line) for line in lines)

    def save_digest(self, *, user_id: str, turn_id: str, digest: TraceDigest) -> None:
        """Keep what the closed trace panel shows."""
        with self._file.writing() as connection:
            connection.execute(_update_turn(user_id, turn_id).values(digest=digest))

    # The write path of a turn. `memora.providers.database.memories` marks it as done.

    def note_learning_attempt(self, *, user_id: str, turn_id: str) -> int:
        """Count an attempt at the write path; returns its number, from 1. Raises `NotFound`."""
        with self._file.writing() as connection:
            connection.execute(_update_turn(user_id, turn_id).values(learning_attempts=turns.c.learning_attempts + 1))
            return find_turn(connection, user_id=user_id, turn_id=turn_id).learning_attempts

    def give_up_learning(self, *, user_id: str, turn_id: str) -> None:
        """``pending`` → ``failed``."""
        with self._file.writing() as connection:
            connection.execute(
                _update_turn(user_id, turn_id).where(turns.c.learning == "pending").values(learning="failed")
            )

    def turns_to_learn(self) -> Sequence[Turn]:
        """Every finished turn whose write path is ``pending``, oldest first."""
        with self._file.reading() as connection:
            return _found(connection, turns.c.learning == "pending")

    def interrupt_open_turns(self, *, at: datetime) -> Sequence[Turn]:
        """At start: every ``queued`` or ``running`` turn of a process that is gone becomes ``interrupted``."""
        with self._file.writing() as connection:
            open_turns = connection.scalars(select(turns.c.id).where(turns.c.state.in_(("queued", "running")))).all()
            if not open_turns:
                return ()
            connection.execute(
                update(turns)
                .where(turns.c.state.in_(("queued", "running")))
                .values(state="interrupted", finished_at=at, failure=Failure(code="interrupted"))
            )
            return _found(connection, turns.c.id.in_(open_turns))

    def previous_user_messages(self, *, user_id: str, turn_id: str, limit: int) -> Sequence[str]:
        """The user's messages before this turn in its conversation, oldest first. Raises `NotFound`."""
        with self._file.reading() as connection:
            turn = find_turn(connection, user_id=user_id, turn_id=turn_id)
            latest = connection.scalars(
                select(messages.c.content)
                .where(
                    messages.c.conversation_id == turn.conversation_id,
                    messages.c.user_id == user_id,
                    messages.c.role == "user",
                    messages.c.position < message_position(turn.position, "user"),
                )
                .order_by(messages.c.position.desc())
                .limit(limit)
            ).all()
        return tuple(reversed(latest))


def _select_conversations(user_id: str) -> Any:
    return select(conversations).where(conversations.c.user_id == user_id, conversations.c.deleted_at.is_(None))


def _conversation(row: Row[Any]) -> Conversation:
    return Conversation(
        id=row.id, user_id=row.user_id, title=row.title, created_at=row.created_at, updated_at=row.updated_at
    )


def _update_conversation(user_id: str, conversation_id: str) -> Update:
    return update(conversations).where(conversations.c.id == conversation_id, conversations.c.user_id == user_id)


def _update_turn(user_id: str, turn_id: str) -> Update:
    return update(turns).where(turns.c.id == turn_id, turns.c.user_id == user_id)


def _last_position(connection: Connection, conversation_id: str) -> int:
    """The position of a conversation's latest turn; 0 when it has none."""
    latest = select(func.coalesce(func.max(turns.c.position), 0)).where(turns.c.conversation_id == conversation_id)
    return int(connection.scalars(latest).one())


def _move_to_end(connection: Connection, *, user_id: str, turn_id: str) -> None:
    turn = find_turn(connection, user_id=user_id, turn_id=turn_id)
    last = _last_position(connection, turn.conversation_id)
    if turn.position == last:
        return
    connection.execute(_update_turn(user_id, turn_id).values(position=last + 1))
    connection.execute(
        update(messages)
        .where(messages.c.turn_id == turn_id, messages.c.user_id == user_id, messages.c.role == "user")
        .values(position=message_position(last + 1, "user"))
    )


def _require_turn(connection: Connection, *, user_id: str, turn_id: str) -> None:
    query = select(turns.c.id).where(turns.c.id == turn_id, turns.c.user_id == user_id)
    if connection.scalar(query) is None:
        raise NotFound(kind="turn")


def _found(connection: Connection, condition: ColumnElement[bool]) -> Sequence[Turn]:
    query = select_turns().where(condition).order_by(turns.c.created_at, turns.c.position)
    return tuple(turn_of(row) for row in connection.execute(query))
