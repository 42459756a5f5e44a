"""The loopback server: the demo model's answers over real HTTP, and real failures."""

import base64
import math
import os
import struct
import urllib.error
import urllib.request

import openai
import pytest

from tests.servers.launch import responses_server

TOOL = {
    "type": "function",
    "name": "count_english_words",
    "parameters": {"type": "object", "properties": {"text": {"type": "string"}}},
    "strict": True,
}


@pytest.fixture(scope="module")
def running():
    with responses_server() as server:
        yield server


@pytest.fixture
def server(running):
    running.reset()
    return running


@pytest.fixture
def client(server):
    with openai.OpenAI(api_key="some-key", base_url=server.base_url, max_retries=0, timeout=10) as client:
        yield client


def answer(client, message, **arguments):
    return client.responses.create(model="any-model", input=message, tools=[TOOL], tool_choice="auto", **arguments)


def test_it_runs_in_a_process_of_its_own(running):
    assert running.pid != os.getpid()


def test_a_stream_arrives_over_http(client):
    *_, last = answer(client, "你好", stream=True)
    assert last.type == "response.completed"
    assert last.response.model == "any-model"
    assert "示範模型" in last.response.output_text


def test_a_whole_response_arrives_over_http(client):
    (call,) = answer(client, "請計算：I don't know the answer.").output
    assert call.arguments == '{"text": "I don\'t know the answer."}'


def test_requests_are_recorded_without_the_key(server, client):
    answer(client, "你好")
    (request,) = server.recorded()
    assert (request["path"], request["authorization"]) == ("/v1/responses", True)
    assert server.requests() == [request["body"]]
    assert request["body"]["input"] == "你好"
    assert "some-key" not in str(request)


@pytest.mark.parametrize("key", ["wrong-key", ""])
def test_a_wrong_or_missing_key_is_refused(server, key):
    headers = {"authorization": f"Bearer {key}"} if key else {}
    request = urllib.request.Request(f"{server.base_url}/models", headers=headers)
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(request, timeout=10)
    assert refused.value.code == 401


def test_the_models_are_listed(client):
    assert [model.id for model in client.models.list()] == ["memora-demo"]


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ("500", openai.InternalServerError),
        ("429", openai.RateLimitError),
        ("route", openai.NotFoundError),
        ("refused", openai.APIConnectionError),
    ],
)
def test_faults_are_triggered_by_the_message(client, fault, error):
    with pytest.raises(error):
        answer(client, f"你好 [[fail:{fault}]]")


def test_a_rate_limit_says_when_to_come_back(client):
    with pytest.raises(openai.RateLimitError) as refused:
        answer(client, "你好 [[fail:429]]")
    assert refused.value.response.headers["retry-after"] == "1"


def test_nothing_comes_until_the_client_gives_up(server):
    with (
        openai.OpenAI(api_key="k", base_url=server.base_url, max_retries=0, timeout=0.2) as client,
        pytest.raises(openai.APITimeoutError),
    ):
        answer(client, "你好 [[fail:timeout]]")


def test_a_cut_connection_breaks_after_some_text(client):
    arrived = []
    stream = answer(client, "你好 [[fail:cut]]", stream=True)
    with pytest.raises(openai.APIConnectionError):
        while True:
            arrived.append(next(stream).type)
    assert "response.output_text.delta" in arrived
    assert "response.completed" not in arrived


def test_a_web_page_comes_instead_of_an_answer(client):
    assert answer(client, "你好 [[fail:html]]").startswith("<!doctype html>")


def test_scripted_faults_happen_once_each_and_in_order(server, client):
    server.fail_next("fail:503", "fail:429")
    with pytest.raises(openai.InternalServerError):
        answer(client, "你好")
    with pytest.raises(openai.RateLimitError):
        answer(client, "你好")
    assert answer(client, "你好").status == "completed"


def test_a_scripted_fault_waits_for_the_request_it_names(server, client):
    server.fail_next("fail:500@extraction")
    assert answer(client, "你好").status == "completed"
    output_format = {"type": "json_schema", "name": "memory_extraction", "schema": {"type": "object"}, "strict": True}
    with pytest.raises(openai.InternalServerError):
        client.responses.create(model="m", input="{}", text={"format": output_format})


def test_reset_forgets_requests_and_scripted_faults(server, client):
    server.fail_next("fail:500")
    server.reset()
    assert answer(client, "你好").status == "completed"
    server.reset()
    assert server.recorded() == []


def embed(client, *texts, **arguments):
    answered = client.embeddings.create(model="text-embedding-3-small", input=list(texts), **arguments)
    return [entry.embedding for entry in answered.data]


def cosine(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def test_embeddings_are_normalised_and_the_same_every_time(client):
    (vector,) = embed(client, "使用者住在台北。")
    assert len(vector) == 1536
    assert math.hypot(*vector) == pytest.approx(1)
    assert embed(client, "使用者住在台北。") == [vector]


def test_texts_that_share_bigrams_are_nearer(client):
    taipei, kaohsiung, other = embed(client, "使用者住在台北。", "使用者住在高雄。", "hello world")
    assert cosine(taipei, kaohsiung) > cosine(taipei, other)


def test_embeddings_come_in_the_asked_dimensions_and_encodings(server, client):
    (floats,) = embed(client, "hi there", dimensions=64, encoding_format="float")
    (packed,) = embed(client, "hi there", dimensions=64, encoding_format="base64")
    assert len(floats) == 64
    assert struct.unpack("<64f", base64.b64decode(packed)) == pytest.approx(floats)
    assert len(server.requests("/v1/embeddings")) == 2


def test_input_tokens_are_counted_as_they_are_reported(client):
    counted = client.responses.input_tokens.count(model="any-model", input="你好", tools=[TOOL], tool_choice="auto")
    assert counted.input_tokens == answer(client, "你好").usage.input_tokens
