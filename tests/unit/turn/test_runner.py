import threading

import pytest
from support.scripted_model import function_call, message, response, structured
from support.turns import NOTHING_LEARNED, USER, now, open_desk
from support.waiting import wait_until

from memora.errors import (
    AuthenticationFailed,
    BlankMessage,
    Cancelled,
    DatabaseUnavailable,
    MessageTooLong,
    ModelUnreachable,
    NotFound,
    RateLimited,
)
from memora.memory import MemoryQuery
from memora.model import TextDelta
from memora.preferences import Preferences
from memora.turn import learner
from memora.turn.spans import LearningSpan
from memora.turn.trace import fold


@pytest.fixture
def desk_of(tmp_path):
    desks = []

    def make(*script, **options):
        desks.append(open_desk(tmp_path, *script, **options))
        return desks[-1]

    yield make
    for desk in desks:
        desk.runner.close(timeout=2)
        desk.database.close()


def slowly(*texts, gate):
    """A step that sends ``texts`` and then waits for ``gate`` or Stop."""

    def step(request, cancel):
        def events():
            for text in texts:
                yield TextDelta(text=text)
            cancel.on_cancel(gate.set)
            gate.wait(10)
            yield Cancelled() if cancel.cancelled else response()

        return events()

    return step


def learned(content="使用者住在台北。", quote="住在台北"):
    memory = {"content": content, "category": "profile", "importance": 4, "quote": quote}
    return structured({"memories": [memory], "profile": []})


def memories(desk):
    return desk.memory.page(user_id=USER, query=MemoryQuery(status="all", limit=50)).memories


def test_a_message_is_stored_before_anything_else_happens(desk_of):
    gate = threading.Event()
    desk = desk_of(slowly("a", gate=gate), NOTHING_LEARNED)
    turn = desk.send("你好")
    assert desk.database.turns.turn(user_id=USER, turn_id=turn.id).user_message == "你好"
    gate.set()


def test_the_reply_is_in_the_record_when_its_end_is_told(desk_of):
    desk = desk_of("答案", NOTHING_LEARNED)
    turn = desk.say("問題")
    assert (turn.state, turn.reply) == ("done", "答案")
    assert turn.digest.requests == 1
    assert turn.response_tokens == 110


def test_the_tokens_of_both_requests_are_summed_up(desk_of):
    call = response(function_call("count_english_words", {"text": "a b c"}))
    turn = (desk := desk_of(call, "三個", NOTHING_LEARNED)).say("請計算：a b c")
    assert turn.response_tokens == 220
    assert desk.trace(turn).calls[0].output.startswith('{"ok": true, "result": {"word_count": 3')


def test_the_items_of_a_call_never_enter_the_conversation(desk_of):
    call = response(function_call("count_english_words", {"text": "a b c"}))
    desk = desk_of(call, "三個", NOTHING_LEARNED, "好", NOTHING_LEARNED)
    desk.say("請計算：a b c")
    desk.say("謝謝")
    sent = desk.model.requests[3].input
    assert [(item["role"], item["content"]) for item in sent] == [
        ("user", "請計算：a b c"),
        ("assistant", "三個"),
        ("user", "謝謝"),
    ]


def test_only_the_message_and_the_final_reply_are_learned_from(desk_of):
    call = response(function_call("count_english_words", {"text": "a b c"}))
    desk = desk_of(call, "三個", NOTHING_LEARNED)
    desk.say("請計算：a b c")
    (extraction,) = [request for request in desk.model.requests if request.purpose == "extraction"]
    told = extraction.input[0]["content"]
    assert "請計算：a b c" in told
    assert "三個" in told
    assert "word_count" not in told


def test_a_blank_message_is_refused_and_nothing_is_stored(desk_of):
    desk = desk_of()
    with pytest.raises(BlankMessage):
        desk.send(" \n\u200b ")
    assert desk.database.turns.count_turns(user_id=USER, conversation_id=desk.conversation_id) == 0


def test_a_message_that_cannot_fit_is_refused_with_its_limit_and_nothing_is_stored(desk_of):
    desk = desk_of(max_input_tokens=4_000)
    with pytest.raises(MessageTooLong) as refused:
        desk.send("字詞 " * 5_000)
    assert refused.value.params["tokens"] > refused.value.params["limit"] > 1_000
    assert desk.database.turns.count_turns(user_id=USER, conversation_id=desk.conversation_id) == 0


def test_stop_keeps_what_has_arrived(desk_of):
    desk = desk_of(slowly("第一", "部分", gate=threading.Event()), NOTHING_LEARNED)
    turn = desk.send("說很長")
    log = desk.runner.log(user_id=USER, turn_id=turn.id)
    wait_until(lambda: [e.text for e in log.since(0) if e.type == "text_arrived"] == ["第一", "部分"])
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    turn = desk.ended(turn)
    assert (turn.state, turn.reply) == ("stopped", "第一部分")


def test_turns_of_one_conversation_wait_for_each_other(desk_of):
    gate = threading.Event()
    desk = desk_of(slowly("一", gate=gate), "二", NOTHING_LEARNED, NOTHING_LEARNED)
    first, second = desk.send("甲"), desk.send("乙")
    wait_until(lambda: len(desk.model.requests) == 1)
    assert desk.database.turns.turn(user_id=USER, turn_id=second.id).state == "queued"
    gate.set()
    desk.ended(first)
    desk.ended(second)
    answers = [request for request in desk.model.requests if request.purpose == "answer"]
    assert answers[1].input[-1]["content"] == "乙"


def test_a_failed_turn_keeps_its_message_and_can_be_tried_again(desk_of):
    desk = desk_of(ModelUnreachable(host="h"), "現在好了", NOTHING_LEARNED)
    turn = desk.say("問題")
    assert (turn.state, turn.failure.code, turn.reply) == ("failed", "unreachable", "")
    assert desk.trace(turn).requests[0].failure.code == "unreachable"
    desk.runner.retry(user_id=USER, turn_id=turn.id)
    turn = desk.ended(turn)
    assert (turn.state, turn.user_message, turn.reply) == ("done", "問題", "現在好了")
    assert len(desk.trace(turn).requests) == 1


def test_a_failed_turn_is_not_part_of_the_next_ones_context(desk_of):
    desk = desk_of(ModelUnreachable(host="h"), "好", NOTHING_LEARNED)
    desk.say("沒有答案的")
    desk.say("下一個")
    assert [item["content"] for item in desk.model.requests[1].input] == ["下一個"]


def test_an_error_that_nobody_foresaw_ends_the_turn_and_says_so(desk_of):
    desk = desk_of(ZeroDivisionError())
    turn = desk.say("問題")
    assert (turn.state, turn.failure.code) == ("failed", "internal")


def test_a_live_trace_and_the_stored_one_tell_the_same(desk_of):
    call = response(function_call("count_english_words", {"text": "a"}))
    desk = desk_of(call, "一個", NOTHING_LEARNED)
    turn = desk.send("請計算：a")
    log = desk.runner.log(user_id=USER, turn_id=turn.id)
    turn = desk.ended(turn)
    live = fold(event for event in log.since(0) if event.type != "text_arrived")
    assert live == desk.trace(turn)


def test_what_was_learned_is_recalled_in_another_conversation_and_touched(desk_of):
    desk = desk_of("收到", learned(), "台北", NOTHING_LEARNED)
    desk.say("我住在台北。")
    desk.conversation_id = desk.database.turns.create_conversation(user_id=USER, title="u", at=now()).id
    turn = desk.say("台北好玩嗎？")
    recall = desk.trace(turn).recall
    assert [recalled.memory.content for recalled in recall.memories] == ["使用者住在台北。"]
    assert recall.degraded == "broken"
    assert recall.touched == (recall.memories[0].memory.id,)
    assert memories(desk)[0].access_count == 1


def test_memory_switched_off_neither_recalls_nor_learns(desk_of):
    desk = desk_of("收到", learned(), "好")
    desk.say("我住在台北。")
    desk.database.preferences.save_preferences(user_id=USER, preferences=Preferences(memory_enabled=False))
    turn = desk.say("台北好玩嗎？")
    trace = desk.trace(turn)
    assert trace.recall.memories == ()
    assert (trace.recall.memory_enabled, trace.learning.skipped) == (False, "memory_off")
    assert [item["content"] for item in desk.model.requests[2].input][-1] == "台北好玩嗎？"
    assert len(desk.model.requests) == 3


def test_a_write_path_that_fails_is_tried_again_by_itself(desk_of, monkeypatch):
    monkeypatch.setattr(learner, "RETRY_SECONDS", (0.01, 0.01))
    desk = desk_of("收到", RateLimited(), learned())
    turn = desk.send("我住在台北。")
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=turn.id).learning == "done")
    turn = desk.ended(turn)
    (learning,) = [span for span in desk.trace(turn).spans if isinstance(span, LearningSpan)]
    assert (learning.attempt, learning.status, turn.learning_attempts) == (2, "ok", 2)
    assert len(memories(desk)) == 1


def test_write_paths_that_wait_for_their_next_attempt_wait_on_one_thread(desk_of, monkeypatch):
    monkeypatch.setattr(learner, "RETRY_SECONDS", (600.0,) * 4)
    desk = desk_of(*["收到", RateLimited()] * 10)
    before = threading.active_count()
    for number in range(10):
        assert desk.say(f"我住在台北 {number} 號。").learning == "pending"
    assert threading.active_count() == before + 1


def test_a_write_path_that_keeps_failing_is_given_up_and_says_so(desk_of, monkeypatch):
    monkeypatch.setattr(learner, "RETRY_SECONDS", (0.01,))
    desk = desk_of("收到", RateLimited(), RateLimited())
    turn = desk.send("我住在台北。")
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=turn.id).learning == "failed")
    learning = desk.trace(desk.ended(turn)).learning
    assert (learning.failure.code, learning.will_retry) == ("rate_limited", False)


def test_the_next_answer_does_not_wait_for_a_write_path(desk_of):
    gate = threading.Event()

    def slow_extraction(request, cancel):
        gate.wait(10)
        return NOTHING_LEARNED

    desk = desk_of("一", slow_extraction, "二", NOTHING_LEARNED)
    desk.send("甲")
    wait_until(lambda: len(desk.model.requests) == 2)
    second = desk.send("乙")
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=second.id).state == "done")
    assert not gate.is_set()
    gate.set()
    desk.ended(second)


def test_another_user_can_neither_see_nor_stop_nor_retry_a_turn(desk_of):
    desk = desk_of("好", NOTHING_LEARNED)
    turn = desk.say("秘密")
    for call in (desk.runner.trace, desk.runner.log, desk.runner.stop, desk.runner.retry):
        with pytest.raises(NotFound):
            call(user_id="someone else", turn_id=turn.id)


def test_closing_keeps_what_a_running_answer_has_and_calls_it_interrupted(desk_of):
    desk = desk_of(slowly("開頭", gate=threading.Event()))
    turn = desk.send("說很長")
    log = desk.runner.log(user_id=USER, turn_id=turn.id)
    wait_until(lambda: any(event.type == "text_arrived" for event in log.since(0)))
    desk.runner.close(timeout=5)
    turn = desk.database.turns.turn(user_id=USER, turn_id=turn.id)
    assert (turn.state, turn.reply, turn.failure.code) == ("cut_off", "開頭", "interrupted")


def test_an_answer_asked_for_again_is_not_disturbed_by_the_old_ones_write_path(desk_of):
    extracting, gate = threading.Event(), threading.Event()

    def slow_extraction(request, cancel):
        extracting.set()
        gate.wait(10)
        return learned()

    first_words = slowly("第一次", gate=threading.Event())
    second = slowly("第二次", gate=threading.Event())
    desk = desk_of(first_words, slow_extraction, second, learned())
    turn = desk.send("我住在台北。")
    log = desk.runner.log(user_id=USER, turn_id=turn.id)
    wait_until(lambda: any(event.type == "text_arrived" for event in log.since(0)))
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    assert extracting.wait(10)
    desk.runner.retry(user_id=USER, turn_id=turn.id)
    again = desk.runner.log(user_id=USER, turn_id=turn.id)
    wait_until(lambda: any(event.type == "text_arrived" for event in again.since(0)))
    gate.set()
    wait_until(lambda: log.closed)
    assert desk.runner.log(user_id=USER, turn_id=turn.id) is again
    assert not any(event.type.startswith(("learning", "candidates")) for event in again.since(0))
    desk.runner.stop(user_id=USER, turn_id=turn.id)
    desk.ended(turn)
    assert len(memories(desk)) == 1


def test_a_reply_that_was_committed_is_never_told_as_failed(desk_of, monkeypatch):
    desk = desk_of("答案", NOTHING_LEARNED)
    append, failures = desk.database.turns.append_events, []

    def append_but_once(**arguments):
        if not failures and any(event.type == "turn_finished" for event in arguments["events"]):
            failures.append(1)
            raise DatabaseUnavailable(path="x", reason="locked")
        append(**arguments)

    monkeypatch.setattr(desk.database.turns, "append_events", append_but_once)
    turn = desk.say("問題")
    assert failures
    trace = desk.trace(turn)
    assert (turn.state, turn.digest.state, trace.state, trace.reply) == ("done", "done", "done", "答案")


def test_what_could_not_be_stored_at_once_is_stored_with_the_next_batch(desk_of, monkeypatch):
    desk = desk_of("答案", NOTHING_LEARNED)
    append, failures = desk.database.turns.append_events, []

    def append_but_once(**arguments):
        if not failures:
            failures.append(1)
            raise DatabaseUnavailable(path="x", reason="locked")
        append(**arguments)

    monkeypatch.setattr(desk.database.turns, "append_events", append_but_once)
    turn = desk.say("問題")
    kinds = [event.type for event in desk.database.turns.events(user_id=USER, turn_id=turn.id)]
    assert kinds[:3] == ["turn_started", "recall_started", "recall_finished"]


def test_a_write_path_whose_failure_cannot_even_be_noted_is_tried_again(desk_of, monkeypatch):
    monkeypatch.setattr(learner, "RETRY_SECONDS", (0.01, 0.01))
    desk = desk_of("收到", learned(), learned())
    commit, failures = desk.database.memories.commit_learning, []

    def commit_but_once(**arguments):
        if not failures:
            failures.append(1)
            raise DatabaseUnavailable(path="x", reason="locked")
        return commit(**arguments)

    monkeypatch.setattr(desk.database.memories, "commit_learning", commit_but_once)
    turn = desk.send("我住在台北。")
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=turn.id).learning == "done")
    assert len(memories(desk)) == 1


def test_memory_switched_off_while_it_learns_stores_nothing(desk_of):
    extracting, gate = threading.Event(), threading.Event()

    def slow_extraction(request, cancel):
        extracting.set()
        gate.wait(10)
        return learned()

    desk = desk_of("收到", slow_extraction)
    turn = desk.send("我住在台北。")
    assert extracting.wait(10)
    desk.database.preferences.save_preferences(user_id=USER, preferences=Preferences(memory_enabled=False))
    gate.set()
    turn = desk.ended(turn)
    assert memories(desk) == ()
    assert desk.trace(turn).learning.skipped == "memory_off"
    assert turn.learning != "pending"


def test_a_rejected_key_waits_for_the_next_start_and_is_not_sent_again(desk_of, monkeypatch):
    monkeypatch.setattr(learner, "RETRY_SECONDS", (0.01, 0.01))
    desk = desk_of("收到", AuthenticationFailed())
    turn = desk.say("我住在台北。")
    assert turn.learning == "pending"
    learning = desk.trace(turn).learning
    assert (learning.failure.code, learning.will_retry) == ("auth", True)
    assert len(desk.model.requests) == 2


def test_text_beside_a_call_is_kept_when_the_second_request_fails(desk_of):
    call = response(message("讓我算一下。"), function_call("count_english_words", {"text": "a"}))
    desk = desk_of(call, ModelUnreachable(host="h"), NOTHING_LEARNED)
    turn = desk.say("請計算：a")
    assert (turn.state, turn.reply, turn.failure.code) == ("cut_off", "讓我算一下。", "unreachable")


def test_an_old_turn_answered_again_moves_to_the_end_of_its_conversation(desk_of):
    desk = desk_of(ModelUnreachable(host="h"), "二", NOTHING_LEARNED, "一", NOTHING_LEARNED, "三", NOTHING_LEARNED)
    first, _ = desk.say("甲"), desk.say("乙")
    desk.runner.retry(user_id=USER, turn_id=first.id)
    desk.ended(first)
    desk.say("丙")
    answers = [request for request in desk.model.requests if request.purpose == "answer"]
    assert [item["content"] for item in answers[-1].input] == ["乙", "二", "甲", "一", "丙"]


def test_a_finished_write_path_leaves_nothing_behind_in_the_process(desk_of):
    desk = desk_of("一", NOTHING_LEARNED, "二", NOTHING_LEARNED)
    for text in ("甲", "乙"):
        desk.say(text)
    wait_until(lambda: desk.runner._learner._cancels == {})
    assert desk.runner._answering == {}
