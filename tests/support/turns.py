"""A runner on a real database, with a scripted model and no index (memories are found by words)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from support.scripted_model import ScriptedModel, structured
from support.waiting import wait_until

from memora.context import TokenCounter
from memora.memory import LongTermMemory
from memora.memory.ports import IndexUnavailable
from memora.providers.database import Database, open_database
from memora.turn.ports import Turn
from memora.turn.runner import RunnerParts, TurnRunner

USER = "mei"
NOTHING_LEARNED = structured({"memories": [], "profile": []})
COUNTER = TokenCounter()


class NoIndex:
    """An index and an embedder that are not there."""

    identity = "none"
    dimensions = 1
    unrelated_cosine = 0.0
    similar_cosine = 0.0

    def __getattr__(self, name):
        def unavailable(*_, **__):
            raise IndexUnavailable("broken")

        return unavailable


@dataclass
class Desk:
    """What a test works with: the runner, its database, its model, and one conversation."""

    runner: TurnRunner
    database: Database
    model: ScriptedModel
    memory: LongTermMemory
    conversation_id: str

    def send(self, text: str) -> Turn:
        return self.runner.submit(user_id=USER, conversation_id=self.conversation_id, text=text)

    def say(self, text: str) -> Turn:
        return self.ended(self.send(text))

    def ended(self, turn: Turn) -> Turn:
        """The turn when its answer and its write path are over."""
        wait_until(lambda: self.runner.log(user_id=USER, turn_id=turn.id) is None)
        return self.database.turns.turn(user_id=USER, turn_id=turn.id)

    def trace(self, turn: Turn):
        return self.runner.trace(user_id=USER, turn_id=turn.id)


def open_desk(folder, *script, model=None, max_input_tokens=8_000, counting="off", counts=()) -> Desk:
    database = open_database(f"sqlite:///{folder / 'memora.db'}")
    model = model or ScriptedModel(*script, counts=counts)
    memory = LongTermMemory(store=database.memories, index=NoIndex(), embedder=NoIndex(), clock=now)
    runner = TurnRunner(
        RunnerParts(
            turns=database.turns,
            conversations=database.conversations,
            memory=memory,
            profiles=database.profiles,
            preferences=database.preferences,
            counter=COUNTER,
            calibrations=database.calibrations,
            counting=counting,
            model_for=lambda preferred: model,
            look_after=lambda user_id: None,
            max_input_tokens=max_input_tokens,
            now=now,
        ),
        workers=2,
    )
    conversation = database.turns.create_conversation(user_id=USER, title="t", at=now())
    return Desk(runner, database, model, memory, conversation.id)


def now() -> datetime:
    return datetime.now(UTC)
