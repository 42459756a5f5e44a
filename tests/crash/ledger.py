"""What lives have announced and acknowledged, and whether a record that they left keeps it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memora.assembly import LOCAL_USER, App
from memora.memory import Memory, MemoryQuery

RUNNING = ("queued", "running")


@dataclass
class Expected:
    """A memory made by hand: what it may say and whether it may be deleted; two answers while a call is under way."""

    contents: set[str]
    deleted: set[bool] = field(default_factory=lambda: {False})
    pinned: set[bool] = field(default_factory=lambda: {False})


class Ledger:
    """Read from the files that lives write into."""

    def __init__(self) -> None:
        self.memories: dict[str, Expected] = {}
        self.begun: set[str] = set()
        self.messages: dict[str, str] = {}
        self.maybe_messages: dict[str, str] = {}
        self.acknowledged = 0

    def read(self, path: Path) -> None:
        """Add what one life has told; its last line may be cut off."""
        for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
            told = json.loads(line)
            self._note(told, is_done=told["state"] == "done")

    def _note(self, told: dict[str, str], *, is_done: bool) -> None:
        self.acknowledged += is_done
        match told["what"]:
            case "say":
                known = self.messages if is_done else self.maybe_messages
                known[told["conversation_id"]] = told["text"]
            case "add" if is_done:
                self.memories[told["id"]] = Expected({told["content"]})
            case "add":
                self.begun.add(told["content"])
            case "edit":
                self._change(self.memories[told["id"]].contents, told["content"], is_done=is_done)
            case "pin":
                self._change(self.memories[told["id"]].pinned, True, is_done=is_done)
            case "delete" | "undelete" as what:
                self._change(self.memories[told["id"]].deleted, what == "delete", is_done=is_done)

    def _change(self, possible: set, value: object, *, is_done: bool) -> None:
        if is_done:
            possible.clear()
        possible.add(value)

    def complaints(self, app: App) -> Iterator[str]:
        """What is lost, doubled or half done in the record that ``app`` has opened."""
        stored = {memory.id: memory for memory in all_memories(app)}
        yield from self._about_memories(stored)
        yield from _about_contents(app, stored)
        yield from self._about_messages(app)

    def _about_memories(self, stored: dict[str, Memory]) -> Iterator[str]:
        for memory_id, expected in self.memories.items():
            memory = stored.get(memory_id)
            if memory is None:
                yield f"lost: memory {expected.contents}"
            elif memory.content not in expected.contents:
                yield f"lost: {memory.content!r} should say one of {expected.contents}"
            elif (memory.deleted_at is not None) not in expected.deleted:
                yield f"lost: {memory.content!r} was deleted {memory.deleted_at}"
            elif memory.pinned not in expected.pinned:
                yield f"lost: the pin of {memory.content!r}"

    def _about_messages(self, app: App) -> Iterator[str]:
        for conversation_id, text in {**self.maybe_messages, **self.messages}.items():
            turns = app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation_id, before=None, limit=10)
            if conversation_id in self.messages and not turns:
                yield f"lost: message {text!r}"
            if len(turns) > 1:
                yield f"doubled: message {text!r}, {len(turns)} times"
            for turn in turns:
                if turn.user_message != text:
                    yield f"lost: message {text!r} reads {turn.user_message!r}"
                if turn.state in RUNNING:
                    yield f"stuck: {text!r} is {turn.state}"
                trace = app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
                if (trace.state, trace.reply) != (turn.state, turn.reply):
                    yield f"half done: the trace of {text!r} is {trace.state}, its turn {turn.state}"


def all_memories(app: App) -> tuple[Memory, ...]:
    """Every memory, whatever its status."""
    found: list[Memory] = []
    while page := app.memory.page(
        user_id=LOCAL_USER, query=MemoryQuery(status="all", limit=500, offset=len(found))
    ).memories:
        found += page
    return tuple(found)


def _about_contents(app: App, stored: dict[str, Memory]) -> Iterator[str]:
    """Nothing twice, nothing without its history."""
    current = Counter(memory.content for memory in stored.values() if memory.is_current)
    yield from (f"doubled: memory {content!r}, {times} times" for content, times in current.items() if times > 1)
    for memory in stored.values():
        actions = [entry.action for entry in app.memory.history(user_id=LOCAL_USER, memory_id=memory.id)]
        if "created" not in actions:
            yield f"lost: the history of {memory.content!r} is {actions}"
