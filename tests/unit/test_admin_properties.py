"""A backup is the only export there is, and putting it in the record's place the only import: it says the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.anything import readable_text
from support.figures import count
from support.scale import scaled
from support.values import values_of

from memora.memory.values import Category, MemoryQuery, Provenance
from memora.model import Usage
from memora.providers.database import Database, open_database
from memora.turn.events import CallFinished, Event, RequestFinished

pytestmark = pytest.mark.timeout(600)
users = st.sampled_from(["mei", "小華"])
AT = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    """One record for all examples: it grows, and every backup is of all of it."""
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('record') / 'memora.db'}")
    yield database
    database.close()


def written(path: Path) -> list[str]:
    """The whole database as SQL."""
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def told(database: Database, user_id: str) -> list[Any]:
    """What the app reads of a user's record."""
    turns, memories = database.turns, database.memories
    conversations = turns.conversations(user_id=user_id, limit=1_000)
    all_turns = [
        turn
        for each in conversations
        for turn in turns.turns(user_id=user_id, conversation_id=each.id, before=None, limit=1_000)
    ]
    page = memories.page(user_id=user_id, query=MemoryQuery(status="all", limit=1_000))
    return [
        conversations,
        all_turns,
        [turns.events(user_id=user_id, turn_id=turn.id) for turn in all_turns],
        page,
        [memories.history(user_id=user_id, memory_id=memory.id) for memory in page.memories],
        [memories.find_words(user_id=user_id, text=memory.content, limit=5) for memory in page.memories[:3]],
        database.profiles.profile(user_id=user_id),
        database.preferences.preferences(user_id=user_id),
    ]


@settings(max_examples=scaled(short=8, full=40), deadline=None)
@given(
    user_id=users,
    said=st.lists(readable_text.filter(bool), min_size=2, max_size=4),
    log=st.lists(values_of(RequestFinished) | values_of(CallFinished), max_size=2),
)
def test_a_backup_put_in_the_place_of_the_record_says_the_same(
    user_id: str, said: list[str], log: list[Event], database: Database
) -> None:
    fill(database, user_id, said, log)
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy.db"
        database.backup(copy)
        assert written(copy) == written(database.path)
        restored = open_database(f"sqlite:///{copy}")
        try:
            for known in ("mei", "小華"):
                assert told(restored, known) == told(database, known)
        finally:
            restored.close()
    count("backups compared")


def fill(database: Database, user_id: str, said: list[str], log: list[Event]) -> None:
    """A turn with its log, and a memory that was edited and one that was deleted."""
    question, *rest = said
    conversation = database.turns.create_conversation(user_id=user_id, title=question, at=AT)
    turn = database.turns.begin_turn(user_id=user_id, conversation_id=conversation.id, content=question, at=AT)
    database.turns.append_events(user_id=user_id, turn_id=turn.id, events=log)
    database.conversations.finish_turn(
        user_id=user_id,
        turn_id=turn.id,
        reply=rest[0],
        state="done",
        response_tokens=1,
        usage=Usage(input_tokens=1),
        context_messages=1,
        failure=None,
        learn=False,
    )
    kept, gone = (
        database.memories.add(
            user_id=user_id,
            content=text,
            category=Category.GOAL,
            importance=3,
            provenance=Provenance(origin="user", turn_id=turn.id, quote=question),
            at=AT,
        )
        for text in (rest[0], rest[-1])
    )
    database.memories.edit(
        user_id=user_id, memory_id=kept.id, content=question, category=Category.PROFILE, importance=5, at=AT
    )
    database.memories.delete(user_id=user_id, memory_ids=[gone.id], at=AT)
