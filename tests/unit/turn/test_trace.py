from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from memora.errors import Failure
from memora.memory.values import Candidate, Category, MemoryChange, ProfileUpdate
from memora.model import Usage
from memora.turn import events as ev
from memora.turn.spans import CallSpan, ContextSpan, LearningSpan, RecallSpan, RequestSpan, ServerCount, SummarySpan
from memora.turn.trace import fold

CALL = {"type": "function_call", "name": "count_english_words", "call_id": "c1", "arguments": '{"text": "a b"}'}

TURN = (
    ev.TurnStarted(at=1.0, user_message="數一數", model="m"),
    ev.RecallStarted(at=1.0, query="數一數"),
    ev.RecallFinished(at=1.1, took_ms=100.0),
    ev.ContextPrepared(
        at=1.2,
        took_ms=50.0,
        max_input_tokens=1000,
        input_tokens=100,
        reserved_input_tokens=200,
        estimated_input_tokens=300,
        context_messages=1,
        newly_summarized_count=0,
        summary_token_usage=Usage(),
    ),
    ev.RequestStarted(at=1.3, number=1, body={"input": []}),
    ev.TextArrived(at=1.4, number=1, text="beside"),
    ev.CallArriving(at=1.5, number=1, name="count_english_words", call_id="c1"),
    ev.RequestFinished(
        at=1.6, number=1, took_ms=300.0, first_token_ms=100.0, status="completed", output=(CALL,), text="beside"
    ),
    ev.CallStarted(at=1.6, call_id="c1", name="count_english_words", arguments='{"text": "a b"}'),
    ev.CallFinished(at=1.7, call_id="c1", took_ms=1.0, ok=True, output='{"ok": true}'),
    ev.RequestStarted(at=1.7, number=2, body={"input": []}),
    ev.TextArrived(at=1.8, number=2, text="兩"),
    ev.TextArrived(at=1.8, number=2, text="個"),
    ev.RequestFinished(at=1.9, number=2, took_ms=200.0, first_token_ms=50.0, status="completed", text="兩個"),
    ev.TurnFinished(
        at=2.0,
        took_ms=1000.0,
        state="done",
        reply="兩個",
        response_tokens=30,
        usage=Usage(input_tokens=20, output_tokens=10),
    ),
    ev.LearningStarted(at=2.0),
    ev.CandidatesExtracted(
        at=2.1,
        took_ms=5.0,
        accepted=(Candidate(content="x", category=Category.GOAL, importance=3, quote="數"),),
    ),
    ev.DecisionsMade(at=2.2, took_ms=5.0),
    ev.LearningFinished(at=2.3, took_ms=300.0, changes=(MemoryChange(action="create", memory_id="1", content="x"),)),
)


def test_a_turn_with_a_call_is_told_as_its_spans_in_order():
    kinds = [type(span) for span in fold(TURN).spans]
    assert kinds == [RecallSpan, ContextSpan, RequestSpan, CallSpan, RequestSpan, LearningSpan]


def test_the_text_beside_a_call_is_kept_with_its_request_and_is_not_the_live_answer():
    trace = fold(TURN)
    assert trace.requests[0].text == "beside"
    assert trace.live_text == "兩個"


def test_a_call_is_joined_by_its_call_id_from_announcement_to_output():
    (call,) = fold(TURN).calls
    assert (call.arguments, call.output, call.status) == ('{"text": "a b"}', '{"ok": true}', "ok")


def test_the_digest_sums_the_turn_up():
    digest = fold(TURN).digest()
    assert (digest.tools, digest.requests, digest.total_tokens) == (("count_english_words",), 2, 30)
    assert (digest.remembered, digest.has_error, digest.state) == (1, False, "done")


def test_a_stored_trace_equals_the_live_one_but_for_the_streamed_text():
    stored = [ev.event_from_json(ev.event_to_json(event)) for event in TURN if not isinstance(event, ev.TextArrived)]
    assert replace(fold(stored), live_text="兩個") == fold(TURN)


def test_a_request_that_starts_again_replaces_its_first_attempt():
    again = ev.RequestStarted(at=1.35, number=1, body={"input": []}, dropped=("include",))
    (request,) = fold([*TURN[:5], again]).requests
    assert request.dropped == ("include",)


def test_what_still_ran_when_the_turn_ended_is_shown_as_an_error():
    cut = ev.TurnFinished(
        at=2.0,
        took_ms=1.0,
        state="failed",
        reply="",
        response_tokens=0,
        usage=Usage(),
        failure=Failure(code="unreachable"),
    )
    trace = fold([*TURN[:5], cut])
    assert trace.requests[0].status == "error"
    assert trace.digest().has_error


def test_a_failed_summary_is_a_span_of_its_own():
    failed = ev.SummaryFailed(at=1.1, took_ms=3.0, left_out_messages=4, failure=Failure(code="timeout"))
    spans = fold([*TURN[:3], failed]).spans
    assert isinstance(spans[-1], SummarySpan)
    assert (spans[-1].status, spans[-1].messages) == ("error", 4)


def test_a_call_that_was_not_executed_says_why():
    refused = ev.CallNotExecuted(
        at=1.65, number=1, call_id="c2", name="n", arguments="{}", reason="only_one_call_per_turn", output="{}"
    )
    trace = fold([*TURN[:10], refused])
    assert [call.not_executed for call in trace.calls] == ["", "only_one_call_per_turn"]
    assert trace.digest().tools == ("count_english_words",)


def test_only_profile_fields_that_were_written_count_as_learned():
    proposed = (ProfileUpdate(field="name", value="小華", quote="我叫小華"),)
    extracted = ev.CandidatesExtracted(at=2.1, took_ms=5.0, profile=proposed)
    locked = ev.LearningFinished(at=2.3, took_ms=1.0)
    written = ev.LearningFinished(at=2.3, took_ms=1.0, profile=proposed)
    assert fold([*TURN[:16], extracted, locked]).learning.learned_profile == ()
    assert fold([*TURN[:16], extracted, written]).learning.learned_profile == proposed


def test_a_second_attempt_at_learning_replaces_the_first():
    failed = ev.LearningFailed(at=3.0, took_ms=1.0, failure=Failure(code="timeout"), will_retry=True)
    trace = fold([*TURN[:15], failed, ev.LearningStarted(at=4.0, attempt=2)])
    assert trace.learning.attempt == 2
    assert trace.learning.failure is None


def finished(number, usage):
    values = {"at": 1.6, "took_ms": 1.0, "first_token_ms": 1.0, "status": "completed"}
    return ev.RequestFinished(number=number, usage=usage, **values)


def counted(tokens, number=1):
    return ev.InputTokensCounted(at=2.0, took_ms=5.0, number=number, input_tokens=tokens)


ESTIMATE = Usage(input_tokens=110, output_tokens=5, input_source="estimated", output_source="estimated")


def test_what_the_server_reports_of_request_1_is_said_of_the_context_window_too():
    context = fold([*TURN[:5], finished(1, Usage(input_tokens=120)), finished(2, Usage(input_tokens=500))]).context
    assert context.server == ServerCount(tokens=120, source="reported", difference=20)


def test_an_estimate_is_nothing_that_the_server_said():
    assert fold([*TURN[:5], finished(1, ESTIMATE)]).context.server is None


def test_a_count_takes_the_place_of_an_estimate_in_the_request_the_window_and_the_sum():
    second = Usage(input_tokens=200, output_tokens=20)
    trace = fold([*TURN[:5], finished(1, ESTIMATE), TURN[10], finished(2, second), TURN[14], counted(130)])
    assert trace.requests[0].usage == replace(ESTIMATE, input_tokens=130, input_source="counted")
    assert trace.context.server == ServerCount(tokens=130, source="counted", difference=30)
    assert trace.usage == trace.requests[0].usage + second
    assert trace.response_tokens == 355
    assert trace.digest().source == "estimated"


def test_a_count_never_takes_the_place_of_what_was_reported():
    reported = [*TURN[:5], finished(1, Usage(input_tokens=120)), TURN[14]]
    assert fold([*reported, counted(130)]) == fold(reported)


def test_events_of_the_first_version_still_say_which_numbers_were_estimates():
    line = (
        '{"type":"request_finished","at":1.6,"number":1,"took_ms":1.0,"first_token_ms":null,"status":"completed",'
        '"usage":{"input_tokens":9,"cached_tokens":0,"output_tokens":1,"reasoning_tokens":0,"estimated":true}}'
    )
    assert ev.event_from_json(line).usage.source == "estimated"
    assert ev.event_from_json(line.replace("true", "false")).usage.source == "reported"


@given(st.lists(st.sampled_from([*TURN, finished(1, ESTIMATE), counted(130)]), max_size=25))
def test_any_order_of_events_folds_without_an_error(events):
    trace = fold(events)
    assert len(trace.spans) <= len(events)
