"""What a server says of the size of a turn's input: told, and learned from."""

import threading

import pytest
from support.scripted_model import function_call, message, response
from support.turns import COUNTER, NOTHING_LEARNED, USER, open_desk
from support.waiting import wait_until

from memora.context import Calibration
from memora.errors import Cancelled, DatabaseUnavailable, MessageTooLong, ModelTimedOut
from memora.model import TextDelta, Usage
from memora.preferences import Preferences
from memora.turn.events import InputTokensCounted, LearningStarted, TurnFinished
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


def known(desk):
    return desk.database.calibrations.calibration(model=desk.model.name, host=desk.model.host)


def reporting(ratio):
    """An answer whose reported input tokens are ``ratio`` times our own, uncorrected count."""

    def step(request, cancel):
        ours = COUNTER.count(request.instructions) + COUNTER.count_tools(request.tools)
        ours += COUNTER.count_items(request.input)
        return response(message("好"), usage=Usage(input_tokens=round(ratio * ours), output_tokens=1))

    return step


def silent(text="好"):
    return response(message(text), usage=None)


def events(desk, turn):
    return desk.database.turns.events(user_id=USER, turn_id=turn.id)


def test_what_a_server_reports_is_compared_with_the_estimate_and_learned(desk_of):
    desk = desk_of(reporting(1.5), NOTHING_LEARNED)
    context = desk.trace(desk.say("你好")).context
    assert (context.server.tokens, context.server.source) == (round(1.5 * context.stats.input_tokens), "reported")
    assert context.server.difference == context.server.tokens - context.stats.input_tokens
    assert known(desk) == Calibration(
        estimated_tokens=context.stats.input_tokens, server_tokens=context.server.tokens, answers=1
    )


def test_after_a_few_answers_the_estimate_is_what_the_server_will_report(desk_of):
    desk = desk_of(*[reporting(1.5), NOTHING_LEARNED] * 4)
    first, *_, last = [desk.trace(desk.say(f"問題 {number}")).context for number in range(4)]
    assert first.server.difference > 0.4 * first.stats.input_tokens
    assert last.stats.calibration.factor == pytest.approx(1.5, rel=0.01)
    assert abs(last.server.difference) < 0.01 * last.stats.input_tokens


@pytest.mark.parametrize(("ratio", "folded"), [(1.0, [0, 0, 0, 0, 0]), (2.5, [0, 0, 0, 0, 4])])
def test_fewer_messages_fit_once_a_server_is_known_to_count_more(desk_of, ratio, folded):
    answers, summary = [reporting(ratio), NOTHING_LEARNED], ["A summary."] if any(folded) else []
    desk = desk_of(*answers * 4, *summary, *answers, max_input_tokens=5_000)
    traces = [desk.trace(desk.say("a question of some words " * 40)) for _ in folded]
    assert [trace.context.stats.newly_summarized_count for trace in traces] == folded
    assert all(trace.context.server.tokens <= 5_000 for trace in traces)


def test_a_message_that_only_fits_by_our_own_count_is_refused_once_the_server_is_known(desk_of):
    desk = desk_of(max_input_tokens=8_000)
    text = "word " * 4_000
    for _ in range(3):
        desk.database.calibrations.learn_tokens(
            model=desk.model.name, host=desk.model.host, estimated_tokens=1_000, server_tokens=2_000
        )
    with pytest.raises(MessageTooLong):
        desk.send(text)


def test_a_number_that_makes_no_sense_is_shown_and_not_learned_from(desk_of):
    desk = desk_of(reporting(0.01), NOTHING_LEARNED)
    trace = desk.trace(desk.say("你好"))
    assert trace.context.server.difference < 0
    assert known(desk).answers == 0


def test_only_request_1_is_compared_with_the_estimate(desk_of):
    call = response(function_call("count_english_words", {"text": "a b"}), usage=None)
    desk = desk_of(call, reporting(2), NOTHING_LEARNED)
    trace = desk.trace(desk.say("請計算：a b"))
    assert trace.context.server is None
    assert (trace.usage.input_source, trace.requests[1].usage.input_source) == ("estimated", "reported")
    assert known(desk).answers == 0


def test_a_comparison_that_cannot_be_stored_harms_nothing(desk_of, monkeypatch):
    desk = desk_of(reporting(1), NOTHING_LEARNED)

    def fail(**_):
        raise DatabaseUnavailable("no", path="p", reason="locked")

    monkeypatch.setattr(desk.database.calibrations, "learn_tokens", fail)
    turn = desk.say("你好")
    assert (turn.state, turn.reply, turn.learning) == ("done", "好", "done")


# Asking a server that has said nothing.


def test_a_silent_server_is_asked_after_the_answer_and_its_count_takes_the_estimates_place(desk_of):
    desk = desk_of(silent(), NOTHING_LEARNED, counting="on", counts=[700])
    turn = desk.say("你好")
    told = events(desk, turn)
    kinds = [type(event) for event in told]
    assert kinds.index(TurnFinished) < kinds.index(InputTokensCounted) < kinds.index(LearningStarted)
    trace = desk.trace(turn)
    (request,) = trace.requests
    assert desk.model.counted == [request.body]
    assert (request.usage.input_tokens, request.usage.input_source) == (700, "counted")
    assert request.usage.output_source == "estimated"
    assert trace.usage == request.usage
    assert (trace.context.server.tokens, trace.context.server.source) == (700, "counted")
    assert turn.digest.total_tokens == trace.usage.total_tokens
    assert known(desk).answers == 1


def test_the_answer_is_in_the_record_while_a_slow_server_still_counts(desk_of):
    gate = threading.Event()

    def slowly(body, cancel):
        assert gate.wait(10)
        return 700

    desk = desk_of(silent("甲"), silent("乙"), NOTHING_LEARNED, NOTHING_LEARNED, counting="on", counts=[slowly, 710])
    first, second = desk.send("一"), desk.send("二")
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=second.id).state == "done")
    assert desk.database.turns.turn(user_id=USER, turn_id=first.id).reply == "甲"
    assert InputTokensCounted not in map(type, events(desk, first))
    gate.set()
    assert desk.trace(desk.ended(first)).usage.input_tokens == 700


def test_a_server_that_reported_is_not_asked(desk_of):
    desk = desk_of(reporting(1), NOTHING_LEARNED, counting="on")
    desk.say("你好")
    assert desk.model.counted == []


def test_nobody_is_asked_while_counting_is_off(desk_of):
    desk = desk_of(silent(), NOTHING_LEARNED)
    trace = desk.trace(desk.say("你好"))
    assert desk.model.counted == []
    assert (trace.usage.source, trace.context.server) == ("estimated", None)
    assert known(desk).answers == 0


@pytest.mark.parametrize("answer", [None, ModelTimedOut(host="h", seconds=5.0)], ids=["no route", "an error"])
def test_without_a_count_the_estimate_stays_and_the_turn_is_learned_from(desk_of, answer):
    desk = desk_of(silent(), NOTHING_LEARNED, counting="on", counts=[answer])
    turn = desk.say("你好")
    assert (turn.state, turn.learning) == ("done", "done")
    assert desk.trace(turn).usage.source == "estimated"
    assert InputTokensCounted not in map(type, events(desk, turn))


def test_a_turn_that_is_not_learned_from_is_counted_too(desk_of):
    desk = desk_of(silent(), counting="on", counts=[700])
    desk.database.preferences.save_preferences(user_id=USER, preferences=Preferences(memory_enabled=False))
    assert desk.trace(desk.say("你好")).usage.input_source == "counted"


def begun(*, then):
    """An answer that breaks off after its first words."""
    return [TextDelta(text="半"), then]


def test_an_answer_that_was_stopped_is_counted_and_can_be_answered_again(desk_of):
    desk = desk_of(begun(then=Cancelled()), NOTHING_LEARNED, reporting(1), NOTHING_LEARNED, counting="on", counts=[700])
    turn = desk.say("你好")
    assert (turn.state, desk.trace(turn).usage.input_source) == ("stopped", "counted")
    desk.runner.retry(user_id=USER, turn_id=turn.id)
    turn = desk.ended(turn)
    assert (turn.reply, desk.trace(turn).usage.input_source) == ("好", "reported")


def test_a_count_that_comes_after_the_turn_is_answered_again_is_dropped(desk_of):
    asked, gate = threading.Event(), threading.Event()

    def late(body, cancel):
        asked.set()
        assert gate.wait(10)
        return 700

    script = [begun(then=Cancelled()), reporting(1), NOTHING_LEARNED]
    desk = desk_of(*script, counting="on", counts=[late])
    turn = desk.send("你好")
    assert asked.wait(10)
    desk.runner.retry(user_id=USER, turn_id=turn.id)
    wait_until(lambda: desk.database.turns.turn(user_id=USER, turn_id=turn.id).state == "done")
    gate.set()
    turn = desk.ended(turn)
    assert InputTokensCounted not in map(type, events(desk, turn))
    assert turn.learning == "done"


def test_a_count_that_the_end_of_the_process_cuts_off_costs_only_that_number(tmp_path):
    asked = threading.Event()

    def never(body, cancel):
        asked.set()
        assert cancel.wait(10)
        raise Cancelled

    desk = open_desk(tmp_path, silent(), counting="on", counts=[never])
    turn = desk.send("你好")
    assert asked.wait(10)
    desk.runner.close(timeout=5)
    assert desk.database.turns.turn(user_id=USER, turn_id=turn.id).learning == "pending"
    desk.database.close()
    again = open_desk(tmp_path, NOTHING_LEARNED)
    again.runner.recover()
    wait_until(lambda: again.database.turns.turn(user_id=USER, turn_id=turn.id).learning == "done")
    assert again.database.turns.turn(user_id=USER, turn_id=turn.id).reply == "好"
    assert fold(events(again, turn)).usage.source == "estimated"
    again.runner.close(timeout=2)
    again.database.close()


def test_a_settled_turn_leaves_nothing_behind_in_the_process(desk_of):
    desk = desk_of(silent(), NOTHING_LEARNED, counting="on", counts=[700])
    desk.say("你好")
    assert desk.runner._tally._questions == {}
