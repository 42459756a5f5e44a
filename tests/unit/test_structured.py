import json
from enum import StrEnum
from typing import Literal

import pytest
from pydantic import BaseModel
from support.scripted_model import ScriptedModel, message, refusal, response, structured

from memora.errors import BadResponse, Cancelled, Failure, ServerFailed
from memora.model import CancelToken, ModelRequest, Usage
from memora.structured import MAX_OUTPUT_TOKENS, MAX_REPEATED_CHARS, ask, quoting, strict_schema


class Color(StrEnum):
    RED = "red"
    BLUE = "blue"


class Part(BaseModel):
    title: str
    color: Color
    amount: int | None = None


class Answer(BaseModel):
    parts: list[Part]
    kind: Literal["one", "two"] = "one"


GOOD = {"parts": [{"title": "a", "color": "red", "amount": 1}], "kind": "two"}
GOOD_TEXT = json.dumps(GOOD)
REQUEST = ModelRequest(purpose="extraction", instructions="Do it.", input=quoting({"text": "你好"}))


def asked(*script, request: ModelRequest = REQUEST):
    model = ScriptedModel(*script)
    return ask(model, request, name="answer", answer_type=Answer, cancel=CancelToken()), model


def test_a_valid_answer_takes_one_request():
    answer, model = asked(structured(GOOD))
    assert answer.value == Answer.model_validate(GOOD)
    assert len(model.requests) == 1


def test_the_request_carries_the_strict_schema_and_a_limit():
    _, model = asked(structured(GOOD))
    assert model.requests[0].output_schema.name == "answer"
    assert model.requests[0].output_schema.schema == strict_schema(Answer)
    assert model.requests[0].max_output_tokens == MAX_OUTPUT_TOKENS


def test_the_strict_schema_requires_everything_and_allows_nothing_else():
    schema = strict_schema(Answer)
    part = schema["$defs"]["Part"]
    assert (schema["required"], schema["additionalProperties"]) == (["parts", "kind"], False)
    assert (part["required"], part["additionalProperties"]) == (["title", "color", "amount"], False)
    assert schema["$defs"]["Color"]["enum"] == ["red", "blue"]
    assert part["properties"]["amount"] == {"anyOf": [{"type": "integer"}, {"type": "null"}]}
    assert part["properties"]["title"] == {"type": "string"}
    assert "default" not in json.dumps(schema)


def test_input_is_quoted_as_json_that_keeps_its_characters():
    (item,) = quoting({"text": "你好"})
    assert item == {"type": "message", "role": "user", "content": '{"text": "你好"}'}


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD_TEXT}\n```",
        f"```\n{GOOD_TEXT}\n```",
        f"Here you are: {GOOD_TEXT} I hope this helps.",
        f"<think>The form is {{parts: …}}, so</think>{GOOD_TEXT}",
        f'{{"note": "first"}}\n{GOOD_TEXT}',
        json.dumps({**GOOD, "extra": 1}),
        json.dumps(GOOD, indent=2),
    ],
)
def test_what_servers_write_around_an_object_does_no_harm(text):
    answer, model = asked(text)
    assert answer.value.kind == "two"
    assert len(model.requests) == 1


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "I cannot do that.",
        "[]",
        '{"parts": [{"title": "a", "color": "green", "amount": 1}], "kind": "two"}',
        GOOD_TEXT[:-10],
        '{"a":' * 5_000,
        response(message(GOOD_TEXT), status="incomplete", incomplete_reason="max_output_tokens"),
        response(refusal("No.")),
    ],
    ids=["empty", "prose", "list", "invalid", "cut off", "nested", "incomplete", "refusal"],
)
def test_a_wrong_answer_is_asked_for_once_more(wrong):
    answer, model = asked(wrong, structured(GOOD))
    assert answer.value.kind == "two"
    assert len(model.requests) == 2


def test_the_second_request_shows_the_wrong_answer_and_says_what_is_wrong():
    _, model = asked('{"parts": [{"title": "a", "color": "secret"}]}', structured(GOOD))
    original, wrong, problem = model.requests[1].input
    assert original == REQUEST.input[0]
    assert (wrong["role"], wrong["content"]) == ("assistant", '{"parts": [{"title": "a", "color": "secret"}]}')
    assert "parts.0.color: Input should be 'red' or 'blue'" in problem["content"]
    assert model.requests[1].output_schema == model.requests[0].output_schema


def test_an_empty_answer_is_not_shown_again_and_a_long_one_not_whole():
    _, model = asked("", structured(GOOD))
    assert [item["role"] for item in model.requests[1].input] == ["user", "user"]
    _, model = asked("x" * 10_000, structured(GOOD))
    assert len(model.requests[1].input[1]["content"]) == MAX_REPEATED_CHARS


def test_two_wrong_answers_are_a_bad_response_that_does_not_repeat_the_users_words():
    wrong = '{"parts": [{"title": "a", "color": "my secret"}], "kind": "two"}'
    with pytest.raises(BadResponse) as failed:
        asked(wrong, wrong)
    assert "parts.0.color" in failed.value.detail
    assert "my secret" not in failed.value.detail


def test_a_failed_response_is_not_asked_for_again():
    failed = response(status="failed", failure=Failure(code="server_error", detail="overloaded"))
    with pytest.raises(ServerFailed, match="overloaded"):
        asked(failed)


def test_a_cancelled_request_ends_it():
    with pytest.raises(Cancelled):
        asked(Cancelled())


def test_usage_is_the_sum_of_both_requests():
    answer, _ = asked(
        structured({}, usage=Usage(input_tokens=10, output_tokens=1)),
        structured(GOOD, usage=Usage(input_tokens=20, output_tokens=2)),
    )
    assert answer.usage == Usage(input_tokens=30, output_tokens=3)


def test_a_server_that_reports_no_usage_gets_an_estimate():
    answer, _ = asked(structured(GOOD, usage=None))
    assert answer.usage.source == "estimated"
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0
