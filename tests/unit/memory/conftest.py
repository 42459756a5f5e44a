import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.memory_fakes import FakeClock, FakeEmbedder, FakeIndex

from memora.memory import Category, LongTermMemory, Memory
from memora.model import Usage
from memora.providers.database import Database, open_database

ME = "mei"


class Remembering:
    """A `LongTermMemory` on a real database, with short ways to fill and to ask it."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.clock = FakeClock()
        self.index = FakeIndex()
        self.embedder = FakeEmbedder()
        self.memory = self.restarted()

    def restarted(self) -> LongTermMemory:
        """Another one on the same record and index, which knows nothing of what happened before."""
        return LongTermMemory(store=self.database.memories, index=self.index, embedder=self.embedder, clock=self.clock)

    def add(self, content: str, *, user_id: str = ME, importance: int = 3) -> Memory:
        self.clock.advance(minutes=1)
        return self.memory.add(user_id=user_id, content=content, category=Category.EXPERIENCE, importance=importance)

    def edit(self, memory: Memory, content: str) -> Memory:
        return self.memory.edit(
            user_id=memory.user_id,
            memory_id=memory.id,
            content=content,
            category=memory.category,
            importance=memory.importance,
        )

    def found(self, query: str, *, user_id: str = ME, k: int = 6) -> list[str]:
        recall = self.memory.search(user_id=user_id, query=query, k=k)
        return [recalled.memory.content for recalled in recall.memories]

    def indexed(self, user_id: str = ME) -> set[str]:
        return set(self.index.entries.get(user_id, {}))

    def turn_to_learn(self, user_id: str = ME) -> str:
        """The id of a finished turn that nothing was learned from yet."""
        at = self.clock()
        conversation = self.database.turns.create_conversation(user_id=user_id, title="", at=at)
        turn = self.database.turns.begin_turn(user_id=user_id, conversation_id=conversation.id, content="Hi", at=at)
        self.database.conversations.finish_turn(
            user_id=user_id,
            turn_id=turn.id,
            reply="Hello",
            state="done",
            response_tokens=2,
            usage=Usage(),
            context_messages=1,
            failure=None,
            learn=True,
        )
        return turn.id


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty database file, migrated once for all tests."""
    path = tmp_path_factory.mktemp("empty") / "memora.db"
    open_database(f"sqlite:///{path}").close()
    return path


@pytest.fixture
def remembering(tmp_path: Path, empty_database: Path) -> Iterator[Remembering]:
    shutil.copy(empty_database, tmp_path / "memora.db")
    database = open_database(f"sqlite:///{tmp_path / 'memora.db'}")
    yield Remembering(database)
    database.close()
