"""What the runner and the pages need from the record of turns and conversations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, Protocol

from memora.errors import Failure
from memora.turn.events import Event, TurnState
from memora.turn.trace import TraceDigest

LearningState = Literal["none", "pending", "done", "failed"]


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """A conversation in the sidebar. Times are aware, in UTC."""

    id: str
    user_id: str
    title: str
    created_at: datetime
    updated_at: datetime


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One user message through its reply, as stored."""

    id: str
    user_id: str
    conversation_id: str
    position: int
    state: TurnState
    user_message_id: str
    user_message: str
    reply_message_id: str | None = None
    reply: str = ""
    created_at: datetime
    finished_at: datetime | None = None
    learning: LearningState = "none"
    learning_attempts: int = 0
    response_tokens: int = 0
    failure: Failure | None = None
    digest: TraceDigest = field(default_factory=TraceDigest)


class TurnStore(Protocol):
    """The record of conversations and turns. Writes are durable when they return."""

    def create_conversation(self, *, user_id: str, title: str, at: datetime) -> Conversation:
        """An empty conversation."""
        ...

    def conversations(self, *, user_id: str, limit: int, offset: int = 0) -> Sequence[Conversation]:
        """Those not deleted, the latest first."""
        ...

    def conversation(self, *, user_id: str, conversation_id: str) -> Conversation:
        """Raises `NotFound` (also when deleted)."""
        ...

    def rename_conversation(self, *, user_id: str, conversation_id: str, title: str) -> None:
        """Raises `NotFound`."""
        ...

    def delete_conversation(self, *, user_id: str, conversation_id: str, at: datetime) -> None:
        """Mark as deleted; `undelete_conversation` brings it back."""
        ...

    def undelete_conversation(self, *, user_id: str, conversation_id: str) -> None:
        """Undo `delete_conversation`."""
        ...

    def begin_turn(self, *, user_id: str, conversation_id: str, content: str, at: datetime) -> Turn:
        """Commit a new turn, state ``queued``, with the user's message. Raises `NotFound`."""
        ...

    def turn(self, *, user_id: str, turn_id: str) -> Turn:
        """Raises `NotFound`."""
        ...

    def turns(self, *, user_id: str, conversation_id: str, before: int | None, limit: int) -> Sequence[Turn]:
        """The last ``limit`` turns with a position below ``before``, oldest first."""
        ...

    def count_turns(self, *, user_id: str, conversation_id: str) -> int:
        """How many turns the conversation has."""
        ...

    def mark_running(self, *, user_id: str, turn_id: str) -> None:
        """``queued`` → ``running``."""
        ...

    def reopen_turn(self, *, user_id: str, turn_id: str) -> Turn:
        """A failed, cut-off, stopped or interrupted turn becomes ``queued`` again.

        Its reply and its log go, and it moves to the end of its conversation. Raises `NotFound`, also for a turn in
        another state.
        """
        ...

    def append_events(self, *, user_id: str, turn_id: str, events: Sequence[Event]) -> None:
        """Append to the turn's log, in order. `TextArrived` is not to be given."""
        ...

    def events(self, *, user_id: str, turn_id: str) -> Sequence[Event]:
        """The turn's log."""
        ...

    def save_digest(self, *, user_id: str, turn_id: str, digest: TraceDigest) -> None:
        """Keep what the closed trace panel shows."""
        ...

    def note_learning_attempt(self, *, user_id: str, turn_id: str) -> int:
        """Count an attempt at the write path; returns its number, from 1."""
        ...

    def give_up_learning(self, *, user_id: str, turn_id: str) -> None:
        """``pending`` → ``failed``."""
        ...

    def interrupt_open_turns(self, *, at: datetime) -> Sequence[Turn]:
        """At start: every ``queued`` or ``running`` turn of a process that is gone becomes ``interrupted``."""
        ...

    def turns_to_learn(self) -> Sequence[Turn]:
        """Every finished turn whose write path is ``pending``, oldest first."""
        ...

    def previous_user_messages(self, *, user_id: str, turn_id: str, limit: int) -> Sequence[str]:
        """The user's messages before this turn in its conversation, oldest first."""
        ...
