"""What short-term memory needs from outside: the stored conversation, and how well its estimates fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from memora.context.calibration import Calibration
from memora.errors import Failure
from memora.model import Usage

Role = Literal["user", "assistant"]


@dataclass(frozen=True, kw_only=True)
class StoredMessage:
    """A message of the history. ``position`` grows within its conversation; ``turn_id`` joins question and reply."""

    id: str
    turn_id: str
    role: Role
    content: str
    position: int


@dataclass(frozen=True, kw_only=True)
class StoredWindow:
    """The part of a conversation that the context starts from.

    ``summary`` covers every message up to ``summarized_through`` (0: none); ``messages`` are the later
    ones, oldest first, the last of them the user's message of the current turn. Turns that came to no
    reply (failed, interrupted) are left out, except the current one.
    """

    summary: str
    summarized_through: int
    messages: tuple[StoredMessage, ...]


class ConversationStore(Protocol):
    """The record of conversations, as short-term memory uses it. Writes are durable when they return."""

    def window(self, *, user_id: str, conversation_id: str, turn_id: str) -> StoredWindow:
        """The window that the turn ``turn_id`` starts from. Raises `NotFound`."""
        ...

    def save_summary(self, *, user_id: str, conversation_id: str, summary: str, summarized_through: int) -> None:
        """Replace the running summary. The messages stay stored."""
        ...

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

        Idempotent: finishing a finished turn changes nothing.
        """
        ...


class CalibrationStore(Protocol):
    """The record of how well token estimates fit, by model and host. Nothing in it belongs to a user."""

    def calibration(self, *, model: str, host: str) -> Calibration:
        """What is known so far; an empty calibration where nothing is. ``host`` is `LanguageModel.host`."""
        ...

    def learn_tokens(self, *, model: str, host: str, estimated_tokens: int, server_tokens: int) -> None:
        """Keep `Calibration.learned` of these two numbers; safe against other threads that do the same."""
        ...
