import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memora.errors import Failure
from memora.memory.ports import Learned
from memora.memory.values import Candidate, Category, Memory, MemoryReconciliationDecision, Provenance
from memora.model import Usage
from memora.providers.database import Database, open_database
from memora.turn.ports import Turn

START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)


class Record:
    """A database with short ways to fill it. Every call of `tick` is a minute later."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.turns = database.turns
        self.conversations = database.conversations
        self.memories = database.memories
        self.profiles = database.profiles
        self.preferences = database.preferences
        self.calibrations = database.calibrations
        self._now = START

    def tick(self) -> datetime:
        self._now += timedelta(minutes=1)
        return self._now

    def conversation(self, user_id: str = "mei", title: str = "Words") -> str:
        return self.turns.create_conversation(user_id=user_id, title=title, at=self.tick()).id

    def asked(self, conversation_id: str, content: str = "Hello", user_id: str = "mei") -> Turn:
        return self.turns.begin_turn(user_id=user_id, conversation_id=conversation_id, content=content, at=self.tick())

    def finish(
        self, turn: Turn, reply: str = "Hi", *, state: str = "done", learn: bool = False, failure: Failure | None = None
    ) -> Turn:
        self.conversations.finish_turn(
            user_id=turn.user_id,
            turn_id=turn.id,
            reply=reply,
            state=state,
            response_tokens=7,
            usage=Usage(input_tokens=5, output_tokens=2),
            context_messages=1,
            failure=failure,
            learn=learn,
        )
        return self.turns.turn(user_id=turn.user_id, turn_id=turn.id)

    def to_learn(self, user_id: str = "mei") -> Turn:
        return self.finish(self.asked(self.conversation(user_id), user_id=user_id), learn=True)

    def memory(self, content: str, user_id: str = "mei", **fields) -> Memory:
        given = {
            "category": Category.EXPERIENCE,
            "importance": 3,
            "provenance": Provenance(origin="user"),
            "at": self.tick(),
        }
        return self.memories.add(user_id=user_id, content=content, **{**given, **fields})

    def learn(self, *decisions: MemoryReconciliationDecision, user_id: str = "mei"):
        """The changes that the decisions brought about."""
        return self.learned(*decisions, user_id=user_id).changes

    def learned(self, *decisions: MemoryReconciliationDecision, user_id: str = "mei", profile=()) -> Learned:
        return self.memories.commit_learning(
            user_id=user_id,
            turn_id=self.to_learn(user_id).id,
            decisions=decisions,
            profile=profile,
            at=self.tick(),
        )

    def found(self, text: str, user_id: str = "mei") -> list[str]:
        hits = self.memories.find_words(user_id=user_id, text=text, limit=10)
        known = self.memories.get_current(user_id=user_id, memory_ids=[hit.memory_id for hit in hits])
        return [known[hit.memory_id].content for hit in hits]


def decide(
    action: str, content: str, *, target: Memory | None = None, importance: int = 3, quote: str = "quoted"
) -> MemoryReconciliationDecision:
    return MemoryReconciliationDecision(
        action=action,
        candidate=Candidate(content=content, category=Category.PROFILE, importance=importance, quote=quote),
        content="" if action == "skip" else content,
        target_memory_id=target.id if target else None,
        target_content=target.content if target else "",
    )


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'data' / 'memora.db'}"


@pytest.fixture(scope="session")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database, migrated once for all tests."""
    path = tmp_path_factory.mktemp("migrated") / "memora.db"
    open_database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def database(url: str, tmp_path: Path, migrated: Path) -> Iterator[Database]:
    (tmp_path / "data").mkdir()
    shutil.copy(migrated, tmp_path / "data" / "memora.db")
    database = open_database(url, busy_timeout_ms=200)
    yield database
    database.close()


@pytest.fixture
def record(database: Database) -> Record:
    return Record(database)


@pytest.fixture(name="decide")
def decide_fixture():
    return decide
