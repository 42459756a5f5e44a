"""The process is killed at the named points of one turn and of its write path: what the next start makes of it."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from crash.conftest import Opened
from crash.lives import BY_ITSELF, SIGKILLED, Death, Family, wait_until_settled
from support.figures import count
from support.waiting import wait_until

from memora.assembly import LOCAL_USER, App
from memora.memory import Memory, MemoryQuery
from memora.turn.ports import Turn

MESSAGE = "我叫小美，住在台北，正在準備三月的 IELTS 考試。"

IN_THE_ANSWER = (
    "after:SqlTurns.begin_turn",
    "after:turn_started",
    "after:recall_finished",
    "before:request_started",
    "after:request_started",
    "after:request_finished",
    "before:SqlConversations.finish_turn",
)
AFTER_THE_ANSWER = (
    "after:SqlConversations.finish_turn",
    "before:turn_finished",
    "after:turn_finished",
    "after:learning_started",
    "after:candidates_extracted",
    "before:SqlMemories.commit_learning",
    "after:SqlMemories.commit_learning",
    "after:ChromaIndex.upsert",
    "after:learning_finished",
)


def be_killed(family: Family, point: str) -> None:
    assert family.live(Death(point=point), saying=MESSAGE) == SIGKILLED
    count("kills")


@pytest.mark.slow
@pytest.mark.parametrize("point", IN_THE_ANSWER)
def test_an_answer_that_was_killed_is_shown_as_interrupted_with_its_question_kept(
    family: Family, opened: Opened, point: str
) -> None:
    be_killed(family, point)
    with opened(family.data_dir) as app:
        turn = only_turn(app)
        assert (turn.user_message, turn.state, turn.learning) == (MESSAGE, "interrupted", "none")
        trace = app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id)
        assert (trace.state, trace.failure.code) == ("interrupted", "interrupted")
        assert memories(app) == ()


@pytest.mark.slow
@pytest.mark.parametrize("point", ["after:request_started", "after:request_finished"])
def test_an_interrupted_answer_can_be_had_again(family: Family, opened: Opened, point: str) -> None:
    be_killed(family, point)
    with opened(family.data_dir) as app:
        app.runner.retry(user_id=LOCAL_USER, turn_id=only_turn(app).id)
        wait_until(lambda: only_turn(app).learning == "done", seconds=60.0)
        assert only_turn(app).state == "done"
        assert len(memories(app)) == 3


@pytest.mark.slow
@pytest.mark.parametrize("point", AFTER_THE_ANSWER)
def test_a_write_path_that_was_killed_is_finished_exactly_once(family: Family, opened: Opened, point: str) -> None:
    be_killed(family, point)
    with opened(family.data_dir) as app:
        wait_until_settled(app)
        turn = only_turn(app)
        assert (turn.state, turn.learning, turn.digest.state) == ("done", "done", "done")
        assert turn.reply
        assert app.runner.trace(user_id=LOCAL_USER, turn_id=turn.id).reply == turn.reply
        stored = memories(app)
        assert len(stored) == 3
        assert len({memory.content for memory in stored}) == 3
        for memory in stored:
            history = app.memory.history(user_id=LOCAL_USER, memory_id=memory.id)
            assert [entry.action for entry in history] == ["created"]
            assert memory.provenance.turn_id == turn.id
            assert memory.provenance.quote in MESSAGE


@pytest.mark.slow
def test_a_turn_that_was_not_killed_leaves_nothing_to_finish(family: Family, opened: Opened) -> None:
    assert family.live(BY_ITSELF, saying=MESSAGE) == 0
    with opened(family.data_dir) as app:
        turn = only_turn(app)
        assert (turn.state, turn.learning, turn.learning_attempts) == ("done", "done", 1)
        assert len(memories(app)) == 3


def only_turn(app: App) -> Turn:
    (conversation,) = app.turns.conversations(user_id=LOCAL_USER, limit=10)
    (turn,) = app.turns.turns(user_id=LOCAL_USER, conversation_id=conversation.id, before=None, limit=10)
    return turn


def memories(app: App) -> Sequence[Memory]:
    return app.memory.page(user_id=LOCAL_USER, query=MemoryQuery(status="all", limit=100)).memories
