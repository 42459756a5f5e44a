"""The recorder at the real client, over real HTTP and over transports in this process."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime

import httpx2
import pytest
from support.wire import ScriptedStream, delta, ended, refused, sse

from memora.model import CancelToken
from memora.providers.cassette import CassetteRecorder, read_cassette
from memora.providers.cassette.client import RecordedClient
from memora.providers.openai import OpenAIModel, build_client
from memora.turn import run_model_with_tools

QUESTION = {"type": "message", "role": "user", "content": "hello"}


@pytest.fixture
def recorder(tmp_path):
    recorder = CassetteRecorder(tmp_path / "cassettes", now=lambda: datetime(2026, 12, 1, tzinfo=UTC))
    yield recorder
    recorder.close()


def recorded(recorder):
    recorder.stop()
    return read_cassette(recorder.text())


def client(recorder, reply):
    return RecordedClient(recorder=recorder, transport=httpx2.MockTransport(reply))


def ask(recorder, *replies, max_retries=0):
    waiting = list(replies)

    def reply(request):
        following = waiting.pop(0)
        if isinstance(following, Exception):
            raise following
        return following

    model = OpenAIModel(
        model="test-model",
        client_factory=lambda: build_client(
            api_key="sk-test-secret",
            base_url="http://model.test/v1",
            timeout=5,
            max_retries=max_retries,
            transport=httpx2.MockTransport(reply),
            recorder=recorder,
        ),
    )
    return run_model_with_tools(input_messages=[QUESTION], model=model, tools=())


def test_an_exchange_is_kept_whole_and_its_key_and_host_are_not(recorder):
    recorder.start()
    assert ask(recorder, sse(delta("hi"), ended())).text == "hi"
    (exchange,) = recorded(recorder)
    assert (exchange.method, exchange.path, exchange.ended) == ("POST", "/v1/responses", "complete")
    assert exchange.body["input"] == [{**QUESTION, "content": "xxxxx"}]
    assert [json.loads(frame.split("data: ")[1])["type"] for frame in exchange.answer.body] == [
        "response.output_text.delta",
        "response.completed",
    ]
    assert "secret" not in recorder.text()
    assert "model.test" not in recorder.text()


@pytest.mark.parametrize(
    "content_type", ["text/plain", "Text/Event-Stream", "application/octet-stream", "text/html", ""]
)
@pytest.mark.parametrize("begin", [b"", b"\xef\xbb\xbf", b"\n\n", b": hello\n\n"])
def test_a_stream_is_masked_as_one_whatever_its_type_says(recorder, content_type, begin):
    recorder.start()
    with client(recorder, lambda _: sse(begin, delta("Dear Wilhelmina"), ended(), content_type=content_type)) as asking:
        asking.post("http://model.test/v1/responses", json={"input": "hello"})
    (exchange,) = recorded(recorder)
    assert exchange.answer.kind == "frames"
    assert "Wilhelmina" not in recorder.text()


@pytest.mark.parametrize("text", ["Dear Wilhelmina", ")]}',{Wilhelmina", '\ufeff{"id": "Wilhelmina'])
def test_an_answer_that_is_no_json_is_private(recorder, text):
    recorder.start()
    with client(recorder, lambda _: httpx2.Response(200, text=text)) as asking:
        asking.post("http://model.test/v1/responses", json={"input": "hello"})
    recorded(recorder)
    assert "Wilhelmina" not in recorder.text()


def test_nothing_is_kept_while_it_is_off(recorder):
    assert ask(recorder, sse(delta("hi"), ended())).text == "hi"
    assert (recorder.state.phase, recorder.text()) == ("off", "")


def test_every_retry_is_an_exchange_of_its_own(recorder):
    recorder.start()
    retried = refused(503, {"retry-after-ms": "1"}, message="busy")
    assert ask(recorder, httpx2.ConnectError("no"), retried, sse(delta("hi"), ended()), max_retries=2).state == "done"
    first, second, third = recorded(recorder)
    assert (first.answer, first.ended) == (None, "ConnectError")
    assert (second.answer.status, second.answer.body) == (503, {"error": {"message": "busy"}})
    assert third.answer.status == 200


def test_a_stream_that_breaks_off_says_how(recorder):
    recorder.start()
    reply = ask(recorder, sse(delta("hi"), httpx2.ReadError("reset")))
    assert (reply.state, reply.text) == ("cut_off", "hi")
    (exchange,) = recorded(recorder)
    assert (len(exchange.answer.body), exchange.ended) == (1, "ReadError")


def test_an_answer_that_is_left_in_the_middle_says_so(recorder):
    recorder.start()
    http = client(recorder, lambda request: sse(b"data: 1\n\n", b"data: 2\n\n"))
    with http.stream("GET", "http://model.test/v1/responses") as response:
        assert next(response.iter_raw()) == b"data: 1\n\n"
    (exchange,) = recorded(recorder)
    assert (exchange.answer.body, exchange.ended) == (["data: 1\n\n"], "left")


def test_bytes_are_passed_on_as_they_come(recorder):
    recorder.start()
    passed = []
    chunks = [b"data: 1\n\n", lambda: passed.append("waited for"), b"data: 2\n\n"]
    http = client(recorder, lambda request: sse(*chunks))
    with http.stream("GET", "http://model.test/v1/responses") as response:
        arrivals = response.iter_raw()
        assert next(arrivals) == b"data: 1\n\n"
        assert passed == []
        assert [*arrivals] == [b"data: 2\n\n"]


def test_a_compressed_body_is_kept_readable_even_if_it_breaks_off(recorder):
    recorder.start()
    whole = gzip.compress(b'{"object": "list", "data": []}')
    headers = {"content-encoding": "gzip", "content-type": "application/json"}
    http = client(recorder, lambda request: httpx2.Response(200, headers=headers, stream=ScriptedStream([whole])))
    assert http.get("http://model.test/v1/models").json() == {"object": "list", "data": []}
    broken = [whole[:-12], httpx2.ReadError("reset")]
    http = client(recorder, lambda request: httpx2.Response(200, headers=headers, stream=ScriptedStream(broken)))
    with pytest.raises(httpx2.ReadError):
        http.get("http://model.test/v1/models")
    first, second = recorded(recorder)
    assert (first.answer.kind, first.answer.body) == ("json", {"object": "list", "data": []})
    assert (second.answer.kind, second.ended) == ("text", "ReadError")


def test_a_response_is_as_it_is_without_a_recorder(recorder):
    recorder.start()
    body = {"stream": ScriptedStream([b'{"a": 1}'])}, {"json": {"a": 1}}
    replies = [httpx2.Response(201, headers={"x": "y"}, **part) for part in body]
    http = client(recorder, lambda request: replies.pop(0))
    streamed = http.get("http://model.test/a")
    assert streamed.elapsed.total_seconds() >= 0
    for response in (streamed, http.get("http://model.test/b")):
        assert (response.status_code, response.headers["x"], response.json()) == (201, "y", {"a": 1})


def test_stop_is_not_held_up(recorder):
    recorder.start()
    cancel = CancelToken()
    model = OpenAIModel(
        model="m",
        client_factory=lambda: build_client(
            api_key=None,
            base_url="http://model.test/v1",
            timeout=5,
            max_retries=0,
            transport=httpx2.MockTransport(lambda request: sse(delta("hi"), cancel.cancel, delta("ho"), ended())),
            recorder=recorder,
        ),
    )
    reply = run_model_with_tools(input_messages=[QUESTION], model=model, tools=(), cancel=cancel)
    assert (reply.state, reply.text) == ("stopped", "hi")


def test_the_proxies_of_the_environment_are_still_asked_for(recorder, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.test:3128")
    proxied = RecordedClient(recorder=recorder)._transport_for_url(httpx2.URL("http://model.test/v1"))
    assert proxied._pool._proxy_url.host == b"proxy.test"
