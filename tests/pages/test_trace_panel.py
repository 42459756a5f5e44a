"""The trace panel on traces that the demo model does not produce."""

import json

import pytest
from streamlit.testing.v1 import AppTest

from memora.context import Calibration
from memora.errors import Failure
from memora.i18n import translator
from memora.memory.values import (
    Candidate,
    Category,
    MemoryChange,
    MemoryReconciliationDecision,
    ProfileUpdate,
    RefusedCandidate,
)
from memora.model import Usage
from memora.turn import events as ev
from memora.turn.events import event_from_json, event_to_json
from memora.turn.trace import fold
from memora.ui.token_words import usage_line
from memora.ui.trace_panel import trace_label
from tests.pages.conftest import texts

_ = translator("en")
CALL = '{"text": "一二三 one"}'


def draw(trace):
    # AppTest runs the source of this function alone.
    from memora.ui.trace_panel import draw_trace  # noqa: PLC0415

    draw_trace(trace, turn_id="t1")


def drawn(*events):
    page = AppTest.from_function(draw, args=(fold(events),), default_timeout=30).run()
    assert not page.exception
    return page


def request(number, **changes):
    values = {"at": 2.0, "number": number, "took_ms": 900.0, "first_token_ms": 100.0, "status": "completed"}
    return [
        ev.RequestStarted(at=1.0, number=number, body={"model": "m", "input": [{"role": "user", "content": "嗨"}]}),
        ev.RequestFinished(**(values | changes)),
    ]


def end(**changes):
    values = {"at": 9.0, "took_ms": 1200.0, "state": "done", "reply": "ok", "response_tokens": 0, "usage": Usage()}
    return ev.TurnFinished(**(values | changes))


def test_a_failed_request_says_what_happened_and_the_technical_line():
    page = drawn(*request(1, status="failed", failure=Failure(code="auth", detail="401 invalid_api_key")), end())
    assert "OPENAI\\_API\\_KEY" in texts(page) or "OPENAI_API_KEY" in texts(page)
    assert "401 invalid_api_key" in texts(page)


def test_a_call_that_was_not_executed_says_why():
    page = drawn(
        ev.CallNotExecuted(
            at=1.0, number=1, call_id="c2", name="f", arguments=CALL, reason="only_one_call_per_turn", output="{}"
        )
    )
    assert "only one function call per turn" in texts(page)


def test_a_call_id_that_comes_twice_does_not_break_the_page():
    calls = [
        ev.CallNotExecuted(at=1.0, number=n, call_id="same", name="f", arguments=CALL, reason="response_incomplete")
        for n in (1, 2)
    ]
    assert texts(drawn(*calls)).count("call_id `same`") == 2


def test_arguments_that_are_no_json_are_shown_as_they_came():
    page = drawn(ev.CallStarted(at=1.0, call_id="c", name="f", arguments="{broken"))
    assert "{broken" in [code.value for code in page.code]


def test_chinese_is_never_escaped():
    page = drawn(ev.CallStarted(at=1.0, call_id="c", name="f", arguments=CALL), *request(1), end())
    assert any("一二三" in code.value for code in page.code)
    assert not any("\\u" in code.value for code in page.code)


def test_arguments_that_escape_chinese_are_shown_in_chinese():
    page = drawn(ev.CallStarted(at=1.0, call_id="c", name="f", arguments=r'{"text": "\u4e00"}'))
    assert json.loads(page.code[0].value) == {"text": "一"}
    assert "一" in page.code[0].value


def test_a_huge_value_is_cut_with_a_note():
    page = drawn(ev.CallFinished(at=1.0, call_id="c", took_ms=1.0, ok=True, output="x" * 30_000))
    assert "10,000 more characters are in the download." in texts(page)


def test_dropped_parameters_are_named():
    started = ev.RequestStarted(at=1.0, number=1, body={}, dropped=("include",))
    assert "the server refuses or ignores it: include" in texts(drawn(started))


def test_the_summary_and_what_it_cost():
    usage = Usage(input_tokens=100, output_tokens=20)
    page = drawn(ev.SummaryMade(at=1.0, took_ms=5.0, folded_messages=4, summary="他要考 IELTS", usage=usage))
    assert "他要考 IELTS" in texts(page)
    assert "120 tokens" in texts(page)


def test_a_failed_summary_says_that_nothing_is_lost():
    failure = Failure(code="timeout", params={"host": "h", "seconds": 60.0})
    page = drawn(ev.SummaryFailed(at=1.0, took_ms=5.0, left_out_messages=4, failure=failure))
    assert "nothing is lost" in texts(page)


@pytest.fixture
def learned():
    fact = Candidate(content="住在高雄", category=Category.PROFILE, importance=4, quote="搬到高雄")
    secret = Candidate(content="密碼是 ••••", category=Category.PROFILE, importance=1, quote="密碼")
    decision = MemoryReconciliationDecision(
        action="update", candidate=fact, content="住在高雄", target_memory_id="m1", target_content="住在台北"
    )
    return [
        ev.LearningStarted(at=1.0),
        ev.CandidatesExtracted(
            at=2.0,
            took_ms=1.0,
            accepted=(fact,),
            refused=(RefusedCandidate(candidate=secret, reason="secret"),),
            profile=(ProfileUpdate(field="name", value="小美", quote="我叫小美"),),
            usage=Usage(input_tokens=10, output_tokens=5, output_source="estimated"),
        ),
        ev.DecisionsMade(at=3.0, took_ms=1.0, decisions=(decision,)),
        ev.LearningFinished(
            at=4.0, took_ms=3.0, changes=(MemoryChange(action="update", memory_id="m2", content="住在高雄"),)
        ),
    ]


def test_the_write_path_shows_candidates_decisions_and_what_was_refused(learned):
    shown = texts(drawn(*learned))
    for words in ("住在高雄", "before: 住在台北", "from “搬到高雄”", "looks like a secret", "Name: 小美", "estimated"):
        assert words in shown


def test_a_candidate_without_a_decision_yet_is_a_candidate(learned):
    assert "candidate" in texts(drawn(*learned[:2]))


def test_a_stored_trace_looks_like_the_live_one(learned):
    events = [*request(1), end(), *learned]
    stored = [event_from_json(event_to_json(event)) for event in events]
    assert texts(drawn(*events)) == texts(drawn(*stored))


def test_the_raw_view_holds_the_whole_turn():
    page = drawn(*request(1), end())
    whole = json.loads(page.code[-1].value)
    assert whole["state"] == "done"
    assert whole["spans"][0]["body"]["input"][0]["content"] == "嗨"


def test_the_label_sums_the_turn_up():
    usage = Usage(input_tokens=1000, output_tokens=50, output_source="estimated")
    call = [
        ev.CallStarted(at=1.0, call_id="c", name="count_english_words", arguments=CALL),
        ev.CallFinished(at=1.0, call_id="c", took_ms=1.0, ok=True, output="{}"),
    ]
    told = trace_label(fold([*request(1), *call, end(usage=usage)]).digest(), "done", _)
    assert told == "Trace · `count_english_words` · 1 request · ≈ 1,050 tokens · 1.2 s"


def test_the_label_of_a_running_turn_says_only_that():
    assert trace_label(fold([]).digest(), "running", _) == "Trace · answering"


def window(**changes):
    values = {"max_input_tokens": 8000, "input_tokens": 1000, "reserved_input_tokens": 1200, "context_messages": 1}
    values |= {"at": 0.5, "took_ms": 1.0, "estimated_input_tokens": 2200, "newly_summarized_count": 0}
    return ev.ContextPrepared(**(values | {"summary_token_usage": Usage(), "parts": {"messages": 1000}} | changes))


SILENT = Usage(input_tokens=1000, output_tokens=50, input_source="estimated", output_source="estimated")


def test_each_number_says_whether_it_was_reported_counted_or_estimated():
    reported = texts(drawn(window(), *request(1, usage=Usage(input_tokens=1070, output_tokens=50))))
    assert "reasoning 0), reported by the server" in reported
    estimated = texts(drawn(window(), *request(1, usage=SILENT)))
    assert "≈ 1,050 tokens" in estimated
    assert "reasoning 0), estimated here" in estimated
    count = ev.InputTokensCounted(at=9.5, took_ms=1.0, number=1, input_tokens=1070)
    counted = texts(drawn(window(), *request(1, usage=SILENT), end(usage=SILENT), count))
    assert "input counted by the server, output estimated here" in counted


def test_the_context_window_shows_how_far_off_its_estimate_was():
    shown = texts(drawn(window(), *request(1, usage=Usage(input_tokens=1070, output_tokens=50))))
    assert "estimated here (tiktoken)" in shown
    assert "1,070 tokens were sent (reported by the server)" in shown
    assert "the estimate was 1,000, the difference is +70 (+7.0%)" in shown
    assert "too far off" not in shown


def test_a_corrected_estimate_says_by_how_much_and_from_how_many_answers():
    known = Calibration(estimated_tokens=1000.0, server_tokens=1070.0, answers=12)
    assert "estimated here (tiktoken, ×1.07 after 12 answers)" in texts(drawn(window(calibration=known)))


def test_a_report_that_makes_no_sense_is_shown_and_said_to_be_one():
    shown = texts(drawn(window(), *request(1, usage=Usage(input_tokens=10, output_tokens=5))))
    assert "-990 (-99.0%): too far off to learn from" in shown


def test_the_raw_view_names_the_source_of_every_number():
    page = drawn(window(), *request(1, usage=Usage(input_tokens=1070, output_tokens=50)), end())
    spans = json.loads(page.code[-1].value)["spans"]
    assert spans[0]["server"] == {"tokens": 1070, "source": "reported", "difference": 70}
    assert spans[1]["usage"]["input_source"] == "reported"


def test_an_estimate_is_called_one():
    assert "estimated here" in usage_line(Usage(input_tokens=3, input_source="estimated"), _)
    assert "estimated" not in usage_line(Usage(input_tokens=3), _)
