"""Several tabs at once: what is sent, stopped, deleted, edited and forgotten while something else goes on."""

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from load.held_model import EXTRACTION, RECONCILIATION, HeldModel
from support.turns import USER, now, open_desk
from support.waiting import wait_until

from memora.errors import NotFound
from memora.memory import Category, MemoryQuery
from memora.turn.spans import LearningSpan

TABS = 6


@pytest.fixture
def model():
    return HeldModel()


@pytest.fixture
def desk(tmp_path, model):
    desk = open_desk(tmp_path, model=model)
    yield desk
    desk.runner.close(timeout=5)
    desk.database.close()


def send_elsewhere(desk, text):
    """Send in a conversation of its own."""
    other = desk.database.turns.create_conversation(user_id=USER, title="t", at=now())
    return desk.runner.submit(user_id=USER, conversation_id=other.id, text=text)


def state_of(desk, turn):
    return desk.database.turns.turn(user_id=USER, turn_id=turn.id).state


def listed(desk):
    return [conversation.id for conversation in desk.database.turns.conversations(user_id=USER, limit=10)]


def remember(desk, content):
    return desk.memory.add(user_id=USER, content=content, category=Category.PROFILE, importance=3)


def edit(desk, memory, content):
    desk.memory.edit(user_id=USER, memory_id=memory.id, content=content, category=memory.category, importance=3)


def delete(desk, memory):
    desk.memory.delete(user_id=USER, memory_ids=[memory.id])


def remembered(desk, status="current"):
    page = desk.memory.page(user_id=USER, query=MemoryQuery(status=status, limit=50))
    return sorted(memory.content for memory in page.memories)


# Sending.


def test_two_conversations_are_answered_side_by_side(desk, model):
    model.hold("甲", "乙")
    first, second = desk.send("甲"), send_elsewhere(desk, "乙")
    model.wait_for("甲")
    model.wait_for("乙")  # which could not come if it had to wait for the answer to 甲
    assert (state_of(desk, first), state_of(desk, second)) == ("running", "running")
    model.release("乙")
    assert desk.ended(second).reply == "answer to 乙"
    assert state_of(desk, first) == "running"
    model.release("甲")
    assert desk.ended(first).reply == "answer to 甲"


def test_messages_that_several_tabs_send_at_the_same_moment_are_answered_one_after_the_other(desk, model):
    texts = [f"message {number}" for number in range(TABS)]
    model.hold(*texts)
    together = threading.Barrier(TABS)

    def tab(text):
        together.wait()
        return desk.send(text)

    with ThreadPoolExecutor(TABS) as tabs:
        turns = sorted(tabs.map(tab, texts), key=lambda turn: turn.position)
    assert [turn.position for turn in turns] == list(range(1, TABS + 1))
    for number, turn in enumerate(turns, start=1):
        model.wait_for(turn.user_message)
        assert [state_of(desk, waiting) for waiting in turns[number:]] == ["queued"] * (TABS - number)
        model.release(turn.user_message)
        assert desk.ended(turn).reply == f"answer to {turn.user_message}"
    assert model.asked == [turn.user_message for turn in turns]
    last = [request for request in model.requests if request.purpose == "answer"][-1]
    known = [item["content"] for item in last.input if item["content"].startswith("message")]
    assert known == model.asked, "each is asked knowing all that was said before it"


def test_who_was_first_in_the_record_is_answered_first(desk, model, monkeypatch):
    begin_turn, second_is_sent = desk.database.turns.begin_turn, threading.Event()

    def begin_and_dawdle(**arguments):
        turn = begin_turn(**arguments)
        if turn.position == 1:
            second_is_sent.wait(0.5)
        return turn

    monkeypatch.setattr(desk.database.turns, "begin_turn", begin_and_dawdle)
    with ThreadPoolExecutor(2) as tabs:
        first = tabs.submit(desk.send, "甲")
        wait_until(lambda: desk.database.turns.count_turns(user_id=USER, conversation_id=desk.conversation_id) == 1)
        second = tabs.submit(desk.send, "乙")
        second.add_done_callback(lambda _: second_is_sent.set())
        desk.ended(first.result())
        desk.ended(second.result())
    assert model.asked == ["甲", "乙"]


def test_of_two_tabs_that_try_again_at_the_same_moment_one_is_heard(desk, model):
    model.hold("甲")
    turn = desk.send("甲")
    model.wait_for("甲")
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    assert desk.ended(turn).state == "stopped"
    together = threading.Barrier(2)

    def tab(_):
        together.wait()
        try:
            desk.runner.retry(user_id=USER, turn_id=turn.id)
        except NotFound:
            return "too late"
        return "heard"

    with ThreadPoolExecutor(2) as tabs:
        assert sorted(tabs.map(tab, range(2))) == ["heard", "too late"]
    assert desk.ended(turn).reply == "answer to 甲"
    assert model.asked == ["甲", "甲"]


# Stop.


def test_a_turn_that_is_stopped_while_it_waits_ends_at_once_and_never_asks_the_model(desk, model):
    model.hold("甲")
    first, second, third = desk.send("甲"), desk.send("乙"), desk.send("丙")
    model.wait_for("甲")
    desk.runner.stop(user_id=USER, turn_id=second.id)
    ended = desk.ended(second)
    assert (ended.state, ended.reply, state_of(desk, first)) == ("stopped", "", "running")
    assert [type(span) for span in desk.trace(second).spans] == [LearningSpan], (
        "which says that there is nothing to learn"
    )
    model.release("甲")
    assert desk.ended(third).reply == "answer to 丙"
    assert model.asked == ["甲", "丙"]


def test_an_answer_asked_for_again_the_moment_it_ended_can_be_stopped(desk, model, monkeypatch):
    append, retried = desk.database.turns.append_events, []

    def append_and_retry(*, turn_id, events, **arguments):
        append(turn_id=turn_id, events=events, **arguments)
        if not retried and any(event.type == "turn_finished" for event in events):
            retried.append(turn_id)
            model.hold("甲")
            desk.runner.retry(user_id=USER, turn_id=turn_id)

    monkeypatch.setattr(desk.database.turns, "append_events", append_and_retry)
    model.hold("甲")
    turn = desk.send("甲")
    model.wait_for("甲")
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    wait_until(lambda: model.asked == ["甲", "甲"])
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    assert desk.ended(turn).state == "stopped"


# Deleting a conversation.


def test_a_conversation_deleted_while_it_answers_stays_away_and_comes_back_whole(desk, model, caplog):
    model.hold("我住在台北。")
    first, second = desk.send("我住在台北。"), desk.send("乙")
    model.wait_for("我住在台北。")
    desk.database.turns.delete_conversation(user_id=USER, conversation_id=desk.conversation_id, at=now())
    model.release("我住在台北。")
    assert [desk.ended(turn).state for turn in (first, second)] == ["done", "done"]
    assert listed(desk) == []
    with pytest.raises(NotFound):
        desk.send("丙")
    assert remembered(desk) == ["我住在台北。"], "a memory outlives the conversation that it came from"
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []
    desk.database.turns.undelete_conversation(user_id=USER, conversation_id=desk.conversation_id)
    turns = desk.database.turns.turns(user_id=USER, conversation_id=desk.conversation_id, before=None, limit=10)
    assert [turn.reply for turn in turns] == ["answer to 我住在台北。", "answer to 乙"]


# A memory that reconciliation holds.


@pytest.fixture
def known(desk):
    return remember(desk, "我住在台北。")


@pytest.fixture
def reconciling(desk, model, known):
    """A turn whose reconciliation has been shown ``known`` and waits for the model's decision: to replace it."""
    model.decision = ("update", 1, "我從台北搬到高雄。")
    model.hold(RECONCILIATION)
    turn = desk.send("我住在高雄。")
    model.wait_for(RECONCILIATION)
    return turn


def test_what_nobody_touches_meanwhile_is_replaced(desk, model, reconciling):
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk) == ["我從台北搬到高雄。"]


def test_an_edit_made_meanwhile_stays_and_the_new_fact_stands_beside_it(desk, model, known, reconciling):
    edit(desk, known, "我住在台北的萬華。")
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk) == ["我住在台北的萬華。", "我住在高雄。"]
    assert remembered(desk, "superseded") == []


def test_an_edit_that_says_the_new_fact_itself_leaves_nothing_to_store(desk, model, known, reconciling):
    edit(desk, known, "我住在高雄。")
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk, "all") == ["我住在高雄。"]


def test_a_memory_deleted_meanwhile_stays_deleted_also_what_the_model_would_have_kept_of_it(
    desk, model, known, reconciling
):
    delete(desk, known)
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk) == ["我住在高雄。"]
    assert remembered(desk, "deleted") == ["我住在台北。"]


def test_a_memory_deleted_while_it_is_found_to_say_the_same_stays_deleted(desk, model, known, reconciling):
    model.decision = ("skip", 1, "")
    delete(desk, known)
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk) == []


def test_a_memory_that_was_deleted_and_brought_back_meanwhile_is_replaced(desk, model, known, reconciling):
    delete(desk, known)
    desk.memory.undelete(user_id=USER, memory_ids=[known.id])
    model.release(RECONCILIATION)
    desk.ended(reconciling)
    assert remembered(desk) == ["我從台北搬到高雄。"]


def test_a_fact_told_in_two_conversations_at_once_is_remembered_once(desk, model):
    model.hold(EXTRACTION)
    turns = [send_elsewhere(desk, "我養了一隻貓。") for _ in range(2)]
    model.wait_for(EXTRACTION)
    model.release(EXTRACTION)
    for turn in turns:
        assert desk.ended(turn).learning == "done"
    assert remembered(desk, "all") == ["我養了一隻貓。"]


# Forgetting everything.


@pytest.mark.parametrize("held", ["我住在高雄。", EXTRACTION, RECONCILIATION])
def test_what_was_said_before_everything_was_forgotten_is_not_learned_after_it(desk, model, known, held):
    model.decision = ("update", 1, "我從台北搬到高雄。")
    model.hold(held)
    turn = desk.send("我住在高雄。")
    model.wait_for(held)
    desk.memory.forget_all(user_id=USER)
    model.release(held)
    assert desk.ended(turn).learning == "done"
    assert remembered(desk, "all") == []


def test_what_is_said_after_everything_was_forgotten_is_learned(desk, model, known):
    model.hold(EXTRACTION)
    desk.send("我住在高雄。")
    model.wait_for(EXTRACTION)
    desk.memory.forget_all(user_id=USER)
    model.release(EXTRACTION)
    assert desk.say("我養了一隻貓。").learning == "done"
    assert remembered(desk, "all") == ["我養了一隻貓。"]
