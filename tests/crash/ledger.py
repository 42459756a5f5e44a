"""What lives have announced and acknowledged, and whether a record that they left keeps it."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from memora.assembly import LOCAL_USER, App
from memora.memory import Memory, MemoryQuery
from memora.turn.ports import Turn

RUNNING = ("queued", "running")

Possible = dict[str, set[Any]]
"""Field → what it may hold: one value, or two from the moment that a change is begun until it is done."""

CHANGES: Mapping[str, tuple[str, Any]] = {
    "edit": ("content", None),
    "pin": ("pinned", True),
    "delete": ("is_deleted", True),
    "undelete": ("is_deleted", False),
    "rename conversation": ("title", None),
    "delete conversation": ("is_deleted", True),
    "undelete conversation": ("is_deleted", False),
}
"""What is done → the field that it changes, and to what: None says that the announcement tells it."""
ENTRIES = {"edit": "edited", "pin": "pinned", "delete": "deleted", "undelete": "undeleted", "restore": "restored"}
"""What is done to a memory → the entry in its history that it leaves."""


class Ledger:
    """Read from the files that lives write into."""

    def __init__(self) -> None:
        self.acknowledged = 0
        self.refused: list[dict[str, Any]] = []
        self._memories: dict[str, Possible] = {}
        self._conversations: dict[str, Possible] = {}
        self._messages: dict[str, str] = {}
        self._taken: set[str] = set()
        self._entries: dict[str, Counter[tuple[str, str]]] = {"begun": Counter(), "done": Counter()}

    def read(self, path: Path) -> None:
        """Add what one life has told; its last line may be cut off."""
        written = path.read_text(encoding="utf-8") if path.exists() else ""
        for line in written.split("\n")[:-1]:
            told = json.loads(line)
            if told["state"] == "refused":
                self.refused.append(told)
            else:
                self._note(told["what"], told)

    def _note(self, what: str, told: dict[str, Any]) -> None:
        is_done = told["state"] == "done"
        self.acknowledged += is_done
        if what == "say":
            self._messages[told["id"]] = told["text"]
            if is_done:
                self._taken.add(told["id"])
        elif what == "create conversation" and is_done:
            self._conversations[told["id"]] = {"title": {told["title"]}, "is_deleted": {False}}
        elif what == "add" and is_done:
            self._memories[told["id"]] = {"content": {told["content"]}, "pinned": {False}, "is_deleted": {False}}
        elif what in CHANGES:
            field, value = CHANGES[what]
            possible = {**self._memories, **self._conversations}[told["id"]][field]
            if is_done:
                possible.clear()
            possible.add(told[field] if value is None else value)
        if what in ENTRIES:
            self._entries[told["state"]][told["id"], ENTRIES[what]] += 1

    def complaints(self, app: App) -> Iterator[str]:
        """What is lost, doubled or half done in the record that ``app`` has opened."""
        stored = {memory.id: memory for memory in all_memories(app)}
        yield from _about_the_file(app.settings.data_dir / "memora.db")
        yield from self._about_memories(stored)
        yield from _about_contents(stored)
        yield from self._about_history(app, stored)
        yield from self._about_conversations(app)
        yield from self._about_messages(app)

    def _about_memories(self, stored: Mapping[str, Memory]) -> Iterator[str]:
        for memory_id, possible in self._memories.items():
            if memory := stored.get(memory_id):
                fields = {
                    "content": memory.content,
                    "pinned": memory.pinned,
                    "is_deleted": memory.deleted_at is not None,
                }
                yield from _about_fields(f"memory {memory.content!r}", fields, possible)
            else:
                yield f"lost: memory {possible['content']}"

    def _about_history(self, app: App, stored: Mapping[str, Memory]) -> Iterator[str]:
        for memory in stored.values():
            history = app.memory.history(user_id=LOCAL_USER, memory_id=memory.id)
            actions = Counter(entry.action for entry in history if entry.memory_id == memory.id)
            if actions["created"] != 1:
                yield f"lost: the history of {memory.content!r} is {dict(actions)}"
            for action in ENTRIES.values():
                if actions[action] < self._entries["done"][memory.id, action]:
                    yield f"lost: {memory.content!r} was {action} {actions[action]} times"
                if actions[action] > self._entries["begun"][memory.id, action]:
                    yield f"doubled: {memory.content!r} was {action} {actions[action]} times"

    def _about_conversations(self, app: App) -> Iterator[str]:
        titles = {found.id: found.title for found in app.turns.conversations(user_id=LOCAL_USER, limit=10_000)}
        for conversation_id, possible in self._conversations.items():
            fields = {"is_deleted": conversation_id not in titles}
            if conversation_id in titles:
                fields["title"] = titles[conversation_id]
            yield from _about_fields(f"conversation {conversation_id}", fields, possible)

    def _about_messages(self, app: App) -> Iterator[str]:
        for conversation_id, text in self._messages.items():
            turns = app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation_id, before=None, limit=10)
            if conversation_id in self._taken and not turns:
                yield f"lost: message {text!r}"
            if len(turns) > 1:
                yield f"doubled: message {text!r}, {len(turns)} times"
            for turn in turns:
                yield from _about_turn(app, turn, text)


def all_memories(app: App) -> tuple[Memory, ...]:
    """Every memory, whatever its status."""
    found: list[Memory] = []
    while page := app.memory.page(
        user_id=LOCAL_USER, query=MemoryQuery(status="all", limit=500, offset=len(found))
    ).memories:
        found += page
    return tuple(found)


def _about_fields(name: str, fields: Mapping[str, Any], possible: Possible) -> Iterator[str]:
    for field, value in fields.items():
        if value not in possible[field]:
            yield f"lost: {field} of {name} is {value!r} and should be one of {possible[field]}"


def _about_contents(stored: Mapping[str, Memory]) -> Iterator[str]:
    current = Counter(memory.content for memory in stored.values() if memory.is_current)
    yield from (f"doubled: memory {content!r}, {times} times" for content, times in current.items() if times > 1)


def _about_turn(app: App, turn: Turn, text: str) -> Iterator[str]:
    if turn.user_message != text:
        yield f"lost: message {text!r} reads {turn.user_message!r}"
    if turn.state in RUNNING:
        yield f"stuck: {text!r} is {turn.state}"
    if turn.state == "done" and not turn.reply:
        yield f"lost: the reply to {text!r}"
    if turn.learning == "failed":
        yield f"lost: what {text!r} teaches"
    trace = app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
    if (trace.state, trace.reply) != (turn.state, turn.reply):
        yield f"half done: the trace of {text!r} is {trace.state}, its turn {turn.state}"


def _about_the_file(path: Path) -> Iterator[str]:
    """Whether SQLite finds every page and every reference whole."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        (verdict,) = connection.execute("PRAGMA integrity_check").fetchone()
        dangling = connection.execute("PRAGMA foreign_key_check").fetchall()
    if verdict != "ok" or dangling:
        yield f"half done: the file is {verdict}, dangling {dangling}"
