from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Iterator

import httpx2
import pytest

from memora.errors import Cancelled, ModelUnreachable
from memora.model import CancelToken, ModelRequest, RequestSent, TextDelta
from memora.providers.openai import OpenAIModel, build_client
from memora.providers.openai.client import CONNECT_TIMEOUT_SECONDS

REQUEST = ModelRequest(purpose="answer", instructions="", input=())
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
DELTA = b'data: {"type": "response.output_text.delta", "delta": "Sev"}\n\n'


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


def model_at(listener: socket.socket) -> OpenAIModel:
    base_url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    return OpenAIModel(
        client_factory=lambda: build_client(api_key=None, base_url=base_url, timeout=60, max_retries=0),
        model="test-model",
    )


def test_timeouts_and_retries_are_those_that_were_asked_for() -> None:
    client = build_client(api_key="sk-mine", base_url="http://model.test/v1", timeout=120, max_retries=5)
    assert client.timeout == httpx2.Timeout(120, connect=CONNECT_TIMEOUT_SECONDS)
    assert client.max_retries == 5
    short = build_client(api_key="sk-mine", base_url="http://model.test/v1", timeout=3, max_retries=0)
    assert short.timeout == httpx2.Timeout(3)


def test_no_address_is_openais_own_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://elsewhere.test/v1")
    client = build_client(api_key="sk-mine", base_url=None, timeout=3, max_retries=0)
    assert client.base_url == "https://api.openai.com/v1/"


def test_a_client_never_meets_an_httpx_that_another_thread_is_still_loading(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "httpx", raising=False)
    build_client(api_key="sk-mine", base_url=None, timeout=3, max_retries=0)
    assert sys.modules["httpx"].Timeout


def test_stop_closes_the_connection_of_a_server_that_has_gone_silent(listener: socket.socket) -> None:
    seen: list[bytes] = []

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            request = b""
            while not request.endswith(b"}"):
                request += connection.recv(65536)
            connection.sendall(HEAD + DELTA)
            seen.append(connection.recv(1))

    server = threading.Thread(target=serve, daemon=True)
    server.start()
    cancel = CancelToken()
    with pytest.raises(Cancelled):
        for event in model_at(listener).stream(REQUEST, cancel=cancel):
            if isinstance(event, TextDelta):
                cancel.cancel()
    server.join(10)
    assert seen == [b""]


def test_a_port_where_nobody_listens_is_unreachable(listener: socket.socket) -> None:
    model = model_at(listener)
    listener.close()
    events = model.stream(REQUEST, cancel=CancelToken())
    assert isinstance(next(events), RequestSent)
    with pytest.raises(ModelUnreachable) as raised:
        next(events)
    assert raised.value.params == {"host": "127.0.0.1"}
