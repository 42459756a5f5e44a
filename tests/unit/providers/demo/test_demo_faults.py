"""Which requests a trigger concerns."""

import json

import pytest

from memora.providers.demo.faults import Fault, TriggerFaults, parse_faults, without_triggers

TOOL = {"type": "function", "name": "count_english_words"}


def asked(message):
    return {"input": [{"role": "user", "content": message}], "tools": [TOOL]}


def answered(message):
    output = {"type": "function_call_output", "call_id": "c", "output": "{}"}
    return {"input": [{"role": "user", "content": message}, output], "tools": [TOOL]}


def extraction(message):
    turn = json.dumps({"user_message": message, "assistant_reply": "ok"})
    return {"input": turn, "text": {"format": {"type": "json_schema", "name": "memory_extraction"}}}


def reconciliation():
    return {"input": "{}", "text": {"format": {"type": "json_schema", "name": "memory_reconciliation"}}}


def summary():
    return {"input": "{}", "instructions": "Keep the summary."}


def names(faults):
    return [fault.name for fault in faults]


def test_a_trigger_is_read_with_its_number_and_place():
    assert parse_faults("a [[fail:500x2@extraction]] b [[slow:1.5]]") == (
        Fault(kind="fail", name="500", times=2, where="extraction"),
        Fault(kind="slow", name="1.5"),
    )


@pytest.mark.parametrize("text", ["[[fail]]", "[fail:500]", "[[explode:now]]", "[[fail:]]"])
def test_other_brackets_are_no_triggers(text):
    assert parse_faults(text) == ()


def test_a_trigger_concerns_both_requests_of_its_answer_and_no_other_request():
    plan = TriggerFaults()
    assert names(plan.faults_for(asked("hi [[fail:500]]"))) == ["500"]
    assert names(plan.faults_for(answered("hi [[fail:500]]"))) == ["500"]
    assert plan.faults_for(extraction("hi [[fail:500]]")) == ()


def test_a_trigger_of_an_earlier_message_is_over():
    history = asked("hi [[fail:500]]")
    history["input"].append({"role": "user", "content": "again"})
    assert TriggerFaults().faults_for(history) == ()


def test_a_trigger_can_name_the_second_request():
    plan = TriggerFaults()
    assert plan.faults_for(asked("hi [[fail:500@2]]")) == ()
    assert names(plan.faults_for(answered("hi [[fail:500@2]]"))) == ["500"]


def test_a_trigger_can_name_the_extraction():
    plan = TriggerFaults()
    assert plan.faults_for(asked("hi [[fail:500@extraction]]")) == ()
    assert names(plan.faults_for(extraction("hi [[fail:500@extraction]]"))) == ["500"]


@pytest.mark.parametrize(("where", "request_body"), [("reconciliation", reconciliation()), ("summary", summary())])
def test_requests_that_do_not_show_the_message_follow_the_last_answer(where, request_body):
    plan = TriggerFaults()
    plan.faults_for(asked(f"hi [[fail:500@{where}]]"))
    assert names(plan.faults_for(request_body)) == ["500"]
    plan.faults_for(asked("hello"))
    assert plan.faults_for(request_body) == ()


def test_a_counted_trigger_counts_for_its_own_message():
    plan = TriggerFaults()
    assert [names(plan.faults_for(asked("a [[fail:500x1]]"))) for _ in range(2)] == [["500"], []]
    assert names(plan.faults_for(asked("b [[fail:500x1]]"))) == ["500"]


def test_triggers_are_cut_out_wherever_they_stand():
    body = without_triggers(extraction("我搬到高雄了。[[fail:500@reconciliation]]"))
    assert json.loads(body["input"])["user_message"] == "我搬到高雄了。"
