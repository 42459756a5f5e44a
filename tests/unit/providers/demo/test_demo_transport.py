"""The demo model beneath the real OpenAI client."""

import json
import threading

import httpx2
import openai
import pytest

from memora.providers.demo import DemoTransport, TriggerFaults
from memora.settings import DEMO_MODEL
from memora.tools import TOOLS, execute_tool_call

SENTENCE = "I have studied English for three years."
COUNT = f"請精確計算這句英文有幾個單字：{SENTENCE}"
TOOL_ARGUMENTS = {"tools": TOOLS, "tool_choice": "auto", "parallel_tool_calls": False}


def client_over(transport):
    return openai.OpenAI(api_key="none", http_client=httpx2.Client(transport=transport), max_retries=0)


@pytest.fixture
def client():
    with client_over(DemoTransport(words_per_second=10_000)) as client:
        yield client


@pytest.fixture
def faulty():
    transport = DemoTransport(faults=TriggerFaults(), words_per_second=10_000)
    with client_over(transport) as client:
        yield client


def answer(client, message, **arguments):
    return client.responses.create(model=DEMO_MODEL, input=message, **{**TOOL_ARGUMENTS, **arguments})


def events(client, message, **arguments):
    return answer(client, message, stream=True, **arguments)


def test_a_message_is_answered(client):
    response = answer(client, "你好")
    assert response.status == "completed"
    assert response.model == DEMO_MODEL
    assert "示範模型" in response.output_text
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_the_deltas_of_a_stream_are_the_text_of_its_response(client):
    arrived = list(events(client, "請給我一個使用 present perfect 的例句。"))
    deltas = [event.delta for event in arrived if event.type == "response.output_text.delta"]
    assert len(deltas) > 10
    assert arrived[-1].type == "response.completed"
    assert "".join(deltas) == arrived[-1].response.output_text


def test_events_arrive_before_the_stream_has_ended():
    with client_over(DemoTransport(words_per_second=0.001)) as client, events(client, "你好") as stream:
        assert next(iter(stream)).type == "response.created"


def test_closing_from_another_thread_ends_a_waiting_stream_at_once():
    with client_over(DemoTransport(words_per_second=0.001)) as client:
        stream = events(client, "你好")
        closer = threading.Timer(0.05, stream.close)
        closer.start()
        seen = [event.type for event in stream]
        closer.join()
    assert "response.completed" not in seen


def test_the_two_request_flow_counts_through_the_tool(client):
    first = answer(client, COUNT)
    (call,) = first.output
    assert (call.type, call.name) == ("function_call", "count_english_words")
    assert SENTENCE in call.arguments
    carried = call.to_dict(mode="json")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": execute_tool_call(carried)}
    second = answer(client, [{"role": "user", "content": COUNT}, carried, output], tool_choice="none")
    assert "7" in second.output_text


def test_a_call_streams_its_arguments(client):
    arrived = list(events(client, COUNT))
    deltas = [event.delta for event in arrived if event.type == "response.function_call_arguments.delta"]
    assert "".join(deltas) == arrived[-1].response.output[0].arguments


def test_the_list_of_models_names_the_demo_model(client):
    assert [model.id for model in client.models.list()] == [DEMO_MODEL]


def test_other_routes_do_not_exist(client):
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model=DEMO_MODEL, messages=[])


def test_a_body_that_is_no_json_is_refused():
    with httpx2.Client(transport=DemoTransport(), base_url="http://demo/v1") as http:
        assert http.post("/responses", content=b"{").status_code == 400
        assert http.post("/responses", content=b"[]").status_code == 400


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"message": []}, "Missing required parameter: 'input'"),
        ({"max_output_tokens": 8}, "max_output_tokens"),
        ({"tools": []}, "Tool choice"),
        (
            {"message": [{"type": "function_call", "call_id": "c", "name": "n", "arguments": "{}"}]},
            "No tool output found",
        ),
        ({"message": [{"type": "function_call_output", "call_id": "c", "output": ""}]}, "No tool call found"),
        ({"message": [{"role": "user", "content": "hi", "status": None}]}, "input[0].status"),
        ({"message": [{"role": "user", "content": "hi", "parsed_arguments": {}}]}, "Unknown parameter"),
    ],
)
def test_what_the_real_api_refuses_is_refused(client, wrong, complaint):
    with pytest.raises(openai.BadRequestError) as refused:
        answer(client, **{"message": "hi", **wrong})
    assert complaint in str(refused.value)


def test_triggers_are_plain_text_without_a_fault_plan(client):
    assert answer(client, "你好 [[fail:500]]").status == "completed"


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("500", openai.InternalServerError),
        ("401", openai.AuthenticationError),
        ("403", openai.PermissionDeniedError),
        ("429", openai.RateLimitError),
        ("quota", openai.RateLimitError),
        ("model", openai.NotFoundError),
        ("route", openai.NotFoundError),
        ("refused", openai.APIConnectionError),
        ("timeout", openai.APITimeoutError),
    ],
)
def test_a_request_fails_as_asked_every_time(faulty, fault, error):
    for _ in range(2):
        with pytest.raises(error):
            answer(faulty, f"你好 [[fail:{fault}]]")
    assert answer(faulty, "你好").status == "completed"


def test_no_credit_is_told_by_the_code(faulty):
    with pytest.raises(openai.RateLimitError) as refused:
        answer(faulty, "你好 [[fail:quota]]")
    assert refused.value.code == "insufficient_quota"


def test_a_fault_with_a_number_is_used_up(faulty):
    message = "你好 [[fail:500x2]]"
    for _ in range(2):
        with pytest.raises(openai.InternalServerError):
            answer(faulty, message)
    assert answer(faulty, message).status == "completed"


def test_a_web_page_comes_instead_of_an_answer(faulty):
    assert answer(faulty, "你好 [[fail:html]]").startswith("<!doctype html>")


def text_of(arrived):
    return "".join(event.delta for event in arrived if event.type == "response.output_text.delta")


def test_a_cut_stream_breaks_after_half_of_its_text(faulty):
    arrived = []
    stream = events(faulty, "你好 [[fail:cut]]")
    with pytest.raises(openai.APIConnectionError):
        while True:
            arrived.append(next(stream))
    assert 10 < len(text_of(arrived)) < len(answer(faulty, "你好").output_text)


def test_a_stream_may_end_quietly_without_a_terminal_event(faulty):
    arrived = list(events(faulty, "你好 [[fail:end]]"))
    assert text_of(arrived)
    assert arrived[-1].type == "response.output_text.delta"


def test_a_stream_may_hold_an_error_event(faulty):
    assert list(events(faulty, "你好 [[fail:error]]"))[-1].type == "error"


@pytest.mark.parametrize("fault", ["failed", "incomplete"])
def test_a_response_ends_badly_as_asked(faulty, fault):
    assert answer(faulty, f"你好 [[fail:{fault}]]").status == fault
    assert list(events(faulty, f"你好 [[fail:{fault}]]"))[-1].type == f"response.{fault}"


def test_the_model_refuses_as_asked(faulty):
    arrived = list(events(faulty, "你好 [[fail:refusal]]"))
    refused = "".join(event.delta for event in arrived if event.type == "response.refusal.delta")
    assert refused == arrived[-1].response.output[0].content[0].refusal


def test_an_answer_is_empty_as_asked(faulty):
    assert answer(faulty, "你好 [[fail:empty]]").output == []


def test_text_comes_where_json_was_asked_for(faulty):
    output_format = {"type": "json_schema", "name": "memory_extraction", "schema": {"type": "object"}, "strict": True}
    turn = json.dumps({"user_message": "我住在台北。[[fail:garbledx1@extraction]]", "assistant_reply": ""})
    request = {"model": DEMO_MODEL, "input": turn, "text": {"format": output_format}}
    with pytest.raises(json.JSONDecodeError):
        json.loads(faulty.responses.create(**request).output_text)
    assert json.loads(faulty.responses.create(**request).output_text)["memories"]


def test_usage_is_missing_as_asked(faulty):
    assert answer(faulty, "你好 [[no:usage]]").usage is None


def test_encrypted_reasoning_is_refused_only_while_it_is_asked_for(faulty):
    with pytest.raises(openai.BadRequestError) as refused:
        answer(faulty, "你好 [[fail:include]]", include=["reasoning.encrypted_content"])
    assert refused.value.param == "include"
    assert answer(faulty, "你好 [[fail:include]]").status == "completed"


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("arguments", "error"),
        ("not_object", "arguments must be an object"),
        ("extra", "error"),
        ("missing", "error"),
        ("ill_typed", "error"),
        ("too_long", "text is too long"),
        ("unknown_tool", "unknown tool"),
    ],
)
def test_bad_calls_come_as_asked_and_the_mind_tells_what_came_of_them(faulty, fault, told):
    message = f"請計算：I don't know. [[bad:{fault}]]"
    (call,) = answer(faulty, message).output
    carried = call.to_dict(mode="json")
    result = execute_tool_call(carried)
    assert '"ok": false' in result
    assert told in result
    output = {"type": "function_call_output", "call_id": call.call_id, "output": result}
    told_again = answer(faulty, [{"role": "user", "content": message}, carried, output], tool_choice="none").output_text
    assert "工具沒有算出結果" in told_again


def test_two_calls_come_at_once_as_asked(faulty):
    output = answer(faulty, "請計算：I don't know. [[bad:two_calls]]").output
    assert [item.type for item in output] == ["function_call", "function_call"]


def test_text_and_reasoning_come_beside_a_call_as_asked(faulty):
    output = answer(faulty, "請計算：I don't know. [[with:text]] [[with:reasoning]]").output
    assert [item.type for item in output] == ["reasoning", "message", "function_call"]


def test_a_call_comes_in_the_second_request_as_asked(faulty):
    message = "請計算：I don't know. [[bad:call_again]]"
    (call,) = answer(faulty, message).output
    assert "I don't know." in call.arguments
    carried = call.to_dict(mode="json")
    output = {"type": "function_call_output", "call_id": call.call_id, "output": "{}"}
    (again,) = answer(faulty, [{"role": "user", "content": message}, carried, output], tool_choice="none").output
    assert again.type == "function_call"


def test_the_mind_does_not_see_the_triggers(faulty):
    (call,) = answer(faulty, "請計算：I don't know. [[no:usage]]").output
    assert call.arguments == '{"text": "I don\'t know."}'


@pytest.mark.parametrize("message", ["你好", COUNT, "Say [[slow:0]] hello."])
def test_counting_a_request_gives_what_its_answer_reports(faulty, message):
    asked = {"model": DEMO_MODEL, "instructions": "Be kind.", "input": message, **TOOL_ARGUMENTS}
    counted = faulty.responses.input_tokens.count(**asked)
    assert counted.object == "response.input_tokens"
    assert counted.input_tokens == faulty.responses.create(**asked).usage.input_tokens


def test_counting_does_not_use_a_fault_up(faulty):
    message = "你好 [[fail:500x1]]"
    faulty.responses.input_tokens.count(model=DEMO_MODEL, input=message)
    with pytest.raises(openai.InternalServerError):
        answer(faulty, message)


@pytest.mark.parametrize("name", ["include", "store", "stream", "max_output_tokens"])
def test_counting_refuses_what_only_answers_take(client, name):
    with pytest.raises(openai.BadRequestError, match=f"Unknown parameter: '{name}'"):
        client.responses.input_tokens.count(model=DEMO_MODEL, input="a", extra_body={name: True})
