"""Short-term memory's surroundings, in memory: a conversation's record, and values to fill it with."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from memora.context.ports import Role, StoredMessage, StoredWindow
from memora.errors import NotFound
from memora.memory.values import Category, Memory, ProfileField, ProfileValue, Provenance, RecalledMemory

SOME_TIME = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class FakeConversations:
    """A `ConversationStore` that holds one conversation of ``user-1``: ``conversation-1``."""

    def __init__(self, *messages: StoredMessage, summary: str = "", summarized_through: int = 0) -> None:
        self.messages = list(messages)
        self.summary = summary
        self.summarized_through = summarized_through
        self.finished: list[dict[str, Any]] = []

    def window(self, *, user_id: str, conversation_id: str, turn_id: str) -> StoredWindow:
        self._check(user_id=user_id, conversation_id=conversation_id)
        later = [message for message in self.messages if message.position > self.summarized_through]
        if not later or later[-1].turn_id != turn_id:
            raise NotFound(kind="turn")
        return StoredWindow(summary=self.summary, summarized_through=self.summarized_through, messages=tuple(later))

    def save_summary(self, *, user_id: str, conversation_id: str, summary: str, summarized_through: int) -> None:
        self._check(user_id=user_id, conversation_id=conversation_id)
        self.summary, self.summarized_through = summary, summarized_through

    def finish_turn(self, **fields: Any) -> None:
        self.finished.append(fields)

    def _check(self, *, user_id: str, conversation_id: str) -> None:
        if (user_id, conversation_id) != ("user-1", "conversation-1"):
            raise NotFound(kind="conversation")


def stored(position: int, role: Role, content: str, *, turn: int) -> StoredMessage:
    """A message of the history."""
    return StoredMessage(
        id=f"message-{position}", turn_id=f"turn-{turn}", role=role, content=content, position=position
    )


def dialogue(*exchanges: tuple[str, str], asked: str) -> list[StoredMessage]:
    """Finished turns (question, reply), and the question of the current one."""
    messages: list[StoredMessage] = []
    for turn, (question, reply) in enumerate(exchanges, start=1):
        messages.append(stored(2 * turn - 1, "user", question, turn=turn))
        messages.append(stored(2 * turn, "assistant", reply, turn=turn))
    turn = len(exchanges) + 1
    return [*messages, stored(2 * turn - 1, "user", asked, turn=turn)]


def recalled(content: str, *, memory_id: str = "memory-1", category: Category = Category.GOAL) -> RecalledMemory:
    """A memory that a search brought."""
    memory = Memory(
        id=memory_id,
        user_id="user-1",
        content=content,
        category=category,
        importance=3,
        created_at=SOME_TIME,
        updated_at=SOME_TIME,
        valid_from=SOME_TIME,
        provenance=Provenance(origin="extraction"),
    )
    return RecalledMemory(memory=memory, score=0.9)


def profile(**fields: str) -> dict[ProfileField, ProfileValue]:
    """A profile with these fields."""
    return {
        name: ProfileValue(field=name, value=value, updated_at=SOME_TIME, provenance=Provenance(origin="user"))
        for name, value in fields.items()
    }
