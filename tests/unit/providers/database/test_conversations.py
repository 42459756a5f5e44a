import pytest

from memora.errors import Failure, NotFound
from memora.model import Usage


def window(record, turn, user_id="mei"):
    return record.conversations.window(user_id=user_id, conversation_id=turn.conversation_id, turn_id=turn.id)


def said(record, turn) -> list[str]:
    return [message.content for message in window(record, turn).messages]


def test_the_window_is_the_conversation_up_to_the_question(record):
    conversation = record.conversation()
    record.finish(record.asked(conversation, "one"), "1")
    turn = record.asked(conversation, "two")
    found = window(record, turn)
    assert [(m.role, m.content) for m in found.messages] == [("user", "one"), ("assistant", "1"), ("user", "two")]
    assert [m.position for m in found.messages] == sorted({m.position for m in found.messages})
    assert found.messages[-1].id == turn.user_message_id
    assert (found.summary, found.summarized_through) == ("", 0)


def test_what_the_summary_covers_is_not_loaded(record):
    conversation = record.conversation()
    record.finish(record.asked(conversation, "one"), "1")
    record.finish(record.asked(conversation, "two"), "2")
    turn = record.asked(conversation, "three")
    covered = window(record, turn).messages[1].position
    record.conversations.save_summary(
        user_id="mei", conversation_id=conversation, summary="They said one.", summarized_through=covered
    )
    found = window(record, turn)
    assert (found.summary, found.summarized_through) == ("They said one.", covered)
    assert said(record, turn) == ["two", "2", "three"]
    assert record.turns.count_turns(user_id="mei", conversation_id=conversation) == 3


@pytest.mark.parametrize(("state", "kept"), [("done", True), ("stopped", True), ("cut_off", True), ("failed", False)])
def test_a_turn_with_a_reply_stays_unless_it_failed(record, state, kept):
    conversation = record.conversation()
    record.finish(record.asked(conversation, "one"), "1", state=state)
    assert said(record, record.asked(conversation, "two")) == (["one", "1", "two"] if kept else ["two"])


@pytest.mark.parametrize("state", ["stopped", "cut_off", "failed"])
def test_a_turn_without_a_reply_is_left_out(record, state):
    conversation = record.conversation()
    record.finish(record.asked(conversation, "one"), "", state=state)
    assert said(record, record.asked(conversation, "two")) == ["two"]


def test_an_interrupted_turn_and_one_that_still_waits_are_left_out(record):
    conversation = record.conversation()
    record.asked(conversation, "one")
    record.turns.interrupt_open_turns(at=record.tick())
    record.asked(conversation, "two")
    assert said(record, record.asked(conversation, "three")) == ["three"]


def test_a_turn_answered_again_later_moves_to_the_end_and_sees_what_was_said_since(record):
    conversation = record.conversation()
    record.finish(record.asked(conversation, "one"), "1")
    failed = record.asked(conversation, "two")
    record.finish(failed, "", state="failed")
    record.finish(record.asked(conversation, "three"), "3")
    record.turns.reopen_turn(user_id="mei", turn_id=failed.id)
    assert said(record, failed) == ["one", "1", "three", "3", "two"]
    record.finish(failed, "2")
    assert said(record, record.asked(conversation, "four")) == ["one", "1", "three", "3", "two", "2", "four"]


def test_a_turn_answered_again_after_it_was_summarised_past_still_has_its_question(record):
    conversation = record.conversation()
    failed = record.asked(conversation, "one")
    record.finish(failed, "", state="failed")
    record.finish(record.asked(conversation, "two"), "2")
    record.conversations.save_summary(user_id="mei", conversation_id=conversation, summary="Two.", summarized_through=4)
    record.turns.reopen_turn(user_id="mei", turn_id=failed.id)
    assert said(record, failed) == ["one"]


def test_the_window_of_another_conversation_does_not_exist(record):
    turn = record.asked(record.conversation())
    with pytest.raises(NotFound):
        record.conversations.window(user_id="mei", conversation_id=record.conversation(), turn_id=turn.id)


def test_finishing_stores_the_reply_and_how_the_turn_went(record):
    failure = Failure(code="stream_cut", detail="closed")
    turn = record.finish(record.asked(record.conversation()), "half", state="cut_off", learn=True, failure=failure)
    assert (turn.state, turn.reply, turn.response_tokens, turn.failure) == ("cut_off", "half", 7, failure)
    assert turn.reply_message_id
    assert turn.finished_at
    assert turn.learning == "pending"


def test_finishing_again_changes_nothing(record):
    turn = record.finish(record.asked(record.conversation()), "first")
    assert record.finish(turn, "second", state="failed", learn=True) == turn


def test_an_empty_reply_is_no_message_and_teaches_nothing(record):
    turn = record.finish(record.asked(record.conversation()), "", state="stopped", learn=True)
    assert (turn.reply, turn.reply_message_id, turn.learning) == ("", None, "none")


def test_without_leave_to_learn_a_turn_is_not_to_be_learned_from(record):
    assert record.finish(record.asked(record.conversation())).learning == "none"


def test_another_user_sees_no_window_and_changes_nothing(record):
    turn = record.asked(record.conversation())
    with pytest.raises(NotFound):
        window(record, turn, user_id="lin")
    with pytest.raises(NotFound):
        record.conversations.save_summary(
            user_id="lin", conversation_id=turn.conversation_id, summary="theirs", summarized_through=1
        )
    with pytest.raises(NotFound):
        record.conversations.finish_turn(
            user_id="lin",
            turn_id=turn.id,
            reply="theirs",
            state="done",
            response_tokens=0,
            usage=Usage(),
            context_messages=0,
            failure=None,
            learn=False,
        )
    assert window(record, turn).summary == ""
    assert record.turns.turn(user_id="mei", turn_id=turn.id) == turn
