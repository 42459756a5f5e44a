import json

import pytest
from support.waiting import wait_until

from memora.errors import DatabaseUnavailable
from memora.providers.database.conversations import SqlConversations
from memora.turn import runner
from memora.ui.conversation import title_of
from tests.pages.conftest import SECONDS, texts

COUNT = "請精確計算這句英文有幾個單字：I have studied English for three years."


def test_the_front_page_welcomes_and_says_that_it_is_a_demo(page):
    assert not page.exception
    assert "What would you like to practise?" in texts(page)
    assert "Demo model" in texts(page)


def test_a_whole_turn_with_a_tool(say, page):
    turn = say(COUNT)
    assert turn.state == "done"
    assert "7" in turn.reply
    assert turn.reply in texts(page)
    assert "count_english_words" in turn.digest.tools
    assert not page.exception


def test_an_opened_trace_shows_the_call_and_the_sums(say, page, app):
    turn = say(COUNT)
    page.session_state[f"trace-opened-{turn.id}"] = True
    page.run()
    assert not page.exception
    assert "function_call_output" in texts(page)
    code = [element.value for element in page.code]
    (output,) = [text for text in code if text.startswith('{\n  "ok"')]
    assert json.loads(output)["result"]["word_count"] == 7
    assert f"{turn.response_tokens:,} tokens" in texts(page)


def test_a_closed_trace_reads_no_events(say, page, app, monkeypatch):
    say(COUNT)
    monkeypatch.setattr(app.runner, "trace", lambda **_: pytest.fail("a closed trace was read"))
    page.run()
    assert not page.exception


def test_the_first_message_creates_the_conversation_and_names_it(say, page, app, user):
    assert app.turns.conversations(user_id=user, limit=5) == ()
    say("請給我一個使用 present perfect 的例句。\n謝謝")
    (conversation,) = app.turns.conversations(user_id=user, limit=5)
    assert conversation.title == "請給我一個使用 present perfect 的例句。"
    assert page.query_params["c"] == conversation.id


def test_a_suggestion_sends_itself(page, app, user):
    page.button(key="suggestion-0").click().run()
    assert len(app.turns.conversations(user_id=user, limit=5)) == 1


@pytest.mark.parametrize("text", ["   ", "\n\t "])
def test_a_blank_message_is_refused_and_leaves_nothing_behind(page, app, text, user):
    page.chat_input(key="chat_input").set_value(text).run()
    assert "There is nothing in this message yet" in texts(page)
    assert app.turns.conversations(user_id=user, limit=5) == ()


def test_a_message_that_is_too_long_is_refused_and_stays_in_the_box(page, app, user):
    text = "long " * 40_000
    page.chat_input(key="chat_input").set_value(text).run()
    assert "This message is too long" in texts(page)
    assert page.chat_input(key="chat_input").proto.value == text
    assert app.turns.conversations(user_id=user, limit=5) == ()


def test_the_refusal_goes_with_the_next_message(page, say):
    page.chat_input(key="chat_input").set_value("  ").run()
    say("hello")
    assert "There is nothing in this message yet" not in texts(page)


def test_a_conversation_can_be_left_and_opened_again(say, page, app):
    turn = say(COUNT)
    page.button(key="new-conversation").click().run()
    assert turn.reply not in texts(page)
    page.button(key=f"conversation-{turn.conversation_id}").click().run()
    assert turn.reply in texts(page)


def test_a_deleted_conversation_comes_back_with_undo(say, page, app, user):
    turn = say("hello")
    page.button(key=f"delete-conversation-{turn.conversation_id}").click().run()
    assert app.turns.conversations(user_id=user, limit=5) == ()
    assert "Deleted “hello”." in texts(page)
    page.button(key="undo-conversation").click().run()
    assert turn.reply in texts(page)


def test_an_address_of_a_conversation_that_is_gone_opens_a_new_one(page):
    page.query_params["c"] = "never-was"
    page.run()
    assert not page.exception
    assert "What would you like to practise?" in texts(page)
    assert "c" not in page.query_params


def test_what_is_typed_is_shown_as_typed(say, page):
    say("<b>**hello**</b> ![x](https://example.com/x.png)")
    assert r"\<b\>\*\*hello\*\*\</b\> \!\[x\](https://example.com/x.png)" in texts(page)


def test_only_a_window_of_a_long_conversation_is_drawn(page, app, user):
    at = app.memory.clock()
    conversation = app.turns.create_conversation(user_id=user, title="long", at=at)
    for number in range(25):
        turn = app.turns.begin_turn(user_id=user, conversation_id=conversation.id, content=f"message {number}.", at=at)
        app.turns.mark_running(user_id=user, turn_id=turn.id)
    app.turns.interrupt_open_turns(at=at)
    page.query_params["c"] = conversation.id
    page.run()
    assert "message 4." not in texts(page)
    assert "message 24." in texts(page)
    page.button(key="show-earlier").click().run()
    assert "message 0." in texts(page)


def test_an_interrupted_turn_says_so_and_can_be_tried_again(page, app, user):
    at = app.memory.clock()
    conversation = app.turns.create_conversation(user_id=user, title="cut", at=at)
    turn = app.turns.begin_turn(user_id=user, conversation_id=conversation.id, content="hello", at=at)
    app.turns.interrupt_open_turns(at=at)
    page.query_params["c"] = conversation.id
    page.run()
    assert "Memora was closed in the middle of this answer" in texts(page)
    page.button(key=f"retry-{turn.id}").click().run()
    assert app.turns.turn(user_id=user, turn_id=turn.id).state != "interrupted"


def test_an_answer_that_cannot_be_recorded_says_so_at_once_and_can_be_tried_again_afterwards(
    page, app, user, monkeypatch
):
    def refuse(*_, **__):
        raise DatabaseUnavailable(path="/data/memora.db", reason="disk_full")

    monkeypatch.setattr(runner, "RECORD_AGAIN_SECONDS", 0.05)
    conversation = app.turns.create_conversation(user_id=user, title="full", at=app.memory.clock())
    with monkeypatch.context() as full:
        full.setattr(SqlConversations, "finish_turn", refuse)
        turn = app.runner.submit(user_id=user, conversation_id=conversation.id, text="hello")
        wait_until(lambda: app.runner.trace(user_id=user, turn_id=turn.id).failure, seconds=SECONDS)
        page.query_params["c"] = conversation.id
        page.run()
        assert "/data/memora.db cannot be used at the moment" in texts(page)
        assert "stop" not in [button.key for button in page.button]
    wait_until(lambda: app.turns.turn(user_id=user, turn_id=turn.id).state == "cut_off", seconds=SECONDS)
    page.run()
    assert app.turns.turn(user_id=user, turn_id=turn.id).reply in texts(page)
    page.button(key=f"retry-{turn.id}").click().run()
    wait_until(lambda: app.turns.turn(user_id=user, turn_id=turn.id).state == "done", seconds=SECONDS)


@pytest.mark.parametrize(
    ("text", "title"),
    [("hello", "hello"), ("\n  first\nsecond", "first"), ("x" * 40, "x" * 29 + "…"), ("", "")],
)
def test_a_title_is_the_first_line_cut_short(text, title):
    assert title_of(text) == title
