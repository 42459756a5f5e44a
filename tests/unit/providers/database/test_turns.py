from datetime import UTC, datetime, timedelta, timezone

import pytest

from memora.errors import Failure, NotFound
from memora.model import Usage
from memora.turn.events import RecallStarted, RequestFinished, TurnStarted
from memora.turn.trace import TraceDigest


def test_the_latest_conversation_comes_first_and_a_new_message_makes_it_the_latest(record):
    first, second = record.conversation(title="one"), record.conversation(title="two")
    assert [c.id for c in record.turns.conversations(user_id="mei", limit=10)] == [second, first]
    record.asked(first)
    assert [c.id for c in record.turns.conversations(user_id="mei", limit=10)] == [first, second]
    assert [c.id for c in record.turns.conversations(user_id="mei", limit=1, offset=1)] == [second]


def test_a_reply_makes_its_conversation_the_latest(record):
    first = record.conversation()
    turn = record.asked(first)
    record.conversation()
    record.finish(turn)
    assert record.turns.conversations(user_id="mei", limit=1)[0].id == first


def test_a_conversation_can_be_renamed(record):
    conversation = record.conversation(title="old")
    record.turns.rename_conversation(user_id="mei", conversation_id=conversation, title="新的")
    assert record.turns.conversation(user_id="mei", conversation_id=conversation).title == "新的"


def test_a_deleted_conversation_is_gone_until_it_is_brought_back(record):
    conversation = record.conversation()
    turn = record.finish(record.asked(conversation))
    record.turns.delete_conversation(user_id="mei", conversation_id=conversation, at=record.tick())
    assert record.turns.conversations(user_id="mei", limit=10) == ()
    with pytest.raises(NotFound):
        record.turns.conversation(user_id="mei", conversation_id=conversation)
    with pytest.raises(NotFound):
        record.asked(conversation)
    record.turns.undelete_conversation(user_id="mei", conversation_id=conversation)
    assert record.turns.turns(user_id="mei", conversation_id=conversation, before=None, limit=10) == (turn,)


def test_moments_come_back_aware_and_in_utc(record):
    at = datetime(2026, 3, 1, 8, 0, 0, 123456, tzinfo=timezone(timedelta(hours=8)))
    created = record.turns.create_conversation(user_id="mei", title="", at=at)
    found = record.turns.conversation(user_id="mei", conversation_id=created.id)
    assert found == created
    assert found.created_at.tzinfo is UTC


def test_a_turn_is_stored_with_its_question(record):
    conversation = record.conversation()
    turn = record.asked(conversation, "哈囉 👋\x00")
    assert record.turns.turn(user_id="mei", turn_id=turn.id) == turn
    assert (turn.state, turn.position, turn.user_message) == ("queued", 1, "哈囉 👋\x00")


def test_turns_come_in_pages_oldest_first(record):
    conversation = record.conversation()
    asked = [record.asked(conversation, str(n)) for n in range(5)]
    last = record.turns.turns(user_id="mei", conversation_id=conversation, before=None, limit=2)
    assert [turn.user_message for turn in last] == ["3", "4"]
    earlier = record.turns.turns(user_id="mei", conversation_id=conversation, before=last[0].position, limit=2)
    assert [turn.user_message for turn in earlier] == ["1", "2"]
    assert record.turns.count_turns(user_id="mei", conversation_id=conversation) == len(asked)


def test_only_a_queued_turn_begins_to_run(record):
    turn = record.asked(record.conversation())
    record.turns.mark_running(user_id="mei", turn_id=turn.id)
    assert record.turns.turn(user_id="mei", turn_id=turn.id).state == "running"
    record.finish(turn)
    record.turns.mark_running(user_id="mei", turn_id=turn.id)
    assert record.turns.turn(user_id="mei", turn_id=turn.id).state == "done"


def test_the_log_comes_back_as_it_was_written(record):
    turn = record.asked(record.conversation())
    first = [TurnStarted(at=1.0, user_message="哈囉", model="m"), RecallStarted(at=2.0, query="哈囉")]
    then = [
        RequestFinished(
            at=3.0,
            number=1,
            took_ms=4.5,
            first_token_ms=None,
            status="completed",
            output=({"type": "message", "content": []},),
            usage=Usage(input_tokens=1),
        )
    ]
    record.turns.append_events(user_id="mei", turn_id=turn.id, events=first)
    record.turns.append_events(user_id="mei", turn_id=turn.id, events=[])
    record.turns.append_events(user_id="mei", turn_id=turn.id, events=then)
    assert record.turns.events(user_id="mei", turn_id=turn.id) == (*first, *then)


def test_the_digest_stays_with_the_turn(record):
    turn = record.asked(record.conversation())
    digest = TraceDigest(state="done", tools=("count_english_words",), requests=2, total_tokens=9, took_ms=1.5)
    record.turns.save_digest(user_id="mei", turn_id=turn.id, digest=digest)
    assert record.turns.turn(user_id="mei", turn_id=turn.id).digest == digest


@pytest.mark.parametrize("state", ["failed", "cut_off", "stopped"])
def test_a_turn_that_did_not_end_well_can_be_opened_again_without_its_reply_and_log(record, state):
    turn = record.asked(record.conversation())
    record.turns.append_events(user_id="mei", turn_id=turn.id, events=[RecallStarted(at=1.0, query="q")])
    record.turns.save_digest(user_id="mei", turn_id=turn.id, digest=TraceDigest(requests=1))
    record.finish(turn, "half of", state=state, failure=Failure(code="timeout", params={"seconds": 3}))
    reopened = record.turns.reopen_turn(user_id="mei", turn_id=turn.id)
    assert reopened == turn
    assert record.turns.events(user_id="mei", turn_id=turn.id) == ()
    assert record.finish(turn, "All of it").reply == "All of it"


def test_a_reopened_turn_is_no_longer_to_be_learned_from(record):
    turn = record.finish(record.asked(record.conversation()), "half", state="stopped", learn=True)
    record.turns.note_learning_attempt(user_id="mei", turn_id=turn.id)
    reopened = record.turns.reopen_turn(user_id="mei", turn_id=turn.id)
    assert (reopened.learning, reopened.learning_attempts) == ("none", 0)
    assert record.turns.turns_to_learn() == ()


def test_a_turn_that_is_open_or_done_cannot_be_opened_again(record):
    turn = record.asked(record.conversation())
    with pytest.raises(NotFound):
        record.turns.reopen_turn(user_id="mei", turn_id=turn.id)
    record.finish(turn)
    with pytest.raises(NotFound):
        record.turns.reopen_turn(user_id="mei", turn_id=turn.id)


def test_open_turns_of_a_process_that_is_gone_become_interrupted(record):
    done, running, queued = (record.asked(record.conversation()) for _ in range(3))
    record.finish(done)
    record.turns.mark_running(user_id="mei", turn_id=running.id)
    at = record.tick()
    interrupted = record.turns.interrupt_open_turns(at=at)
    assert [turn.id for turn in interrupted] == [running.id, queued.id]
    assert {turn.state for turn in interrupted} == {"interrupted"}
    assert all(turn.failure == Failure(code="interrupted") for turn in interrupted)
    assert {turn.finished_at for turn in interrupted} == {at}
    assert record.turns.interrupt_open_turns(at=at) == ()
    assert record.turns.reopen_turn(user_id="mei", turn_id=running.id).state == "queued"


def test_pending_write_paths_of_all_users_wait_oldest_first(record):
    first, second = record.to_learn("mei"), record.to_learn("lin")
    record.finish(record.asked(record.conversation()))
    assert [turn.id for turn in record.turns.turns_to_learn()] == [first.id, second.id]


def test_attempts_are_counted_and_giving_up_ends_them(record):
    turn = record.to_learn()
    assert record.turns.note_learning_attempt(user_id="mei", turn_id=turn.id) == 1
    assert record.turns.note_learning_attempt(user_id="mei", turn_id=turn.id) == 2
    record.turns.give_up_learning(user_id="mei", turn_id=turn.id)
    assert record.turns.turn(user_id="mei", turn_id=turn.id).learning == "failed"
    assert record.turns.turns_to_learn() == ()


def test_the_messages_before_a_turn_are_the_last_ones_of_its_conversation(record):
    conversation = record.conversation()
    turns = [record.finish(record.asked(conversation, text)) for text in ("one", "two", "three", "four")]
    record.asked(record.conversation(), "elsewhere")
    before = record.turns.previous_user_messages(user_id="mei", turn_id=turns[3].id, limit=2)
    assert before == ("two", "three")
    assert record.turns.previous_user_messages(user_id="mei", turn_id=turns[0].id, limit=2) == ()


class TestAnotherUser:
    def test_sees_no_conversation(self, record):
        conversation = record.conversation()
        assert record.turns.conversations(user_id="lin", limit=10) == ()
        with pytest.raises(NotFound):
            record.turns.conversation(user_id="lin", conversation_id=conversation)

    def test_changes_no_conversation(self, record):
        conversation = record.conversation(title="mine")
        with pytest.raises(NotFound):
            record.turns.rename_conversation(user_id="lin", conversation_id=conversation, title="yours")
        with pytest.raises(NotFound):
            record.asked(conversation, user_id="lin")
        record.turns.delete_conversation(user_id="lin", conversation_id=conversation, at=record.tick())
        assert record.turns.conversation(user_id="mei", conversation_id=conversation).title == "mine"
        record.turns.delete_conversation(user_id="mei", conversation_id=conversation, at=record.tick())
        record.turns.undelete_conversation(user_id="lin", conversation_id=conversation)
        assert record.turns.conversations(user_id="mei", limit=10) == ()

    def test_sees_no_turn(self, record):
        turn = record.asked(record.conversation())
        record.turns.append_events(user_id="mei", turn_id=turn.id, events=[RecallStarted(at=1.0, query="q")])
        with pytest.raises(NotFound):
            record.turns.turn(user_id="lin", turn_id=turn.id)
        with pytest.raises(NotFound):
            record.turns.previous_user_messages(user_id="lin", turn_id=turn.id, limit=1)
        asked = {"user_id": "lin", "conversation_id": turn.conversation_id}
        assert record.turns.turns(**asked, before=None, limit=10) == ()
        assert record.turns.count_turns(**asked) == 0
        assert record.turns.events(user_id="lin", turn_id=turn.id) == ()

    def test_changes_no_turn(self, record):
        turn = record.asked(record.conversation())
        record.turns.mark_running(user_id="lin", turn_id=turn.id)
        record.turns.save_digest(user_id="lin", turn_id=turn.id, digest=TraceDigest(requests=5))
        with pytest.raises(NotFound):
            record.turns.append_events(user_id="lin", turn_id=turn.id, events=[RecallStarted(at=1.0, query="q")])
        assert record.turns.turn(user_id="mei", turn_id=turn.id) == turn
        assert record.turns.events(user_id="mei", turn_id=turn.id) == ()

    def test_changes_no_write_path_and_reopens_nothing(self, record):
        turn = record.finish(record.asked(record.conversation()), "half", state="stopped", learn=True)
        record.turns.give_up_learning(user_id="lin", turn_id=turn.id)
        with pytest.raises(NotFound):
            record.turns.note_learning_attempt(user_id="lin", turn_id=turn.id)
        with pytest.raises(NotFound):
            record.turns.reopen_turn(user_id="lin", turn_id=turn.id)
        assert record.turns.turn(user_id="mei", turn_id=turn.id) == turn
