from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from memora.memory.ports import IndexUnavailable
from memora.providers.embedders import OpenAIEmbedder, openai_embeddings
from memora.providers.openai.client import build_client

KEY = "sk-proj-abcdefghijklmnop"
Answer = Callable[[dict[str, Any]], httpx2.Response]


class Server:
    """The wire: answers each request body with what ``answer`` makes of it, and keeps the bodies."""

    def __init__(self, answer: Answer) -> None:
        self.bodies: list[dict[str, Any]] = []
        self._answer = answer

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        assert request.url.path == "/v1/embeddings"
        self.bodies.append(json.loads(request.content))
        return self._answer(self.bodies[-1])


def embedder(
    answer: Answer, *, model: str = "text-embedding-3-small", dimensions: int | None = None
) -> tuple[OpenAIEmbedder, Server]:
    server = Server(answer)
    client = build_client(
        api_key=KEY,
        base_url="https://models.example/v1",
        timeout=5,
        max_retries=0,
        transport=httpx2.MockTransport(server),
    )
    return OpenAIEmbedder(client_factory=lambda: client, model=model, dimensions=dimensions), server


def by_length(body: dict[str, Any]) -> httpx2.Response:
    """A vector for each text: its length on the first axis, 4 on the second. The last text comes first."""
    data = [
        {"object": "embedding", "index": index, "embedding": [len(text), 4.0, 0.0]}
        for index, text in enumerate(body["input"])
    ]
    return httpx2.Response(200, json={"object": "list", "model": body["model"], "data": data[::-1]})


def answering(status: int = 200, **response: Any) -> Answer:
    return lambda body: httpx2.Response(status, **response)


def test_vectors_come_normalised_in_the_order_of_their_texts() -> None:
    made, server = embedder(by_length)
    assert made.embed_passages(["abc", "abcdefgh"]) == [
        pytest.approx([0.6, 0.8, 0.0]),
        pytest.approx([8 / 80**0.5, 4 / 80**0.5, 0.0]),
    ]
    assert server.bodies == [
        {"input": ["abc", "abcdefgh"], "model": "text-embedding-3-small", "encoding_format": "float"}
    ]


def test_many_passages_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(openai_embeddings, "BATCH", 2)
    made, server = embedder(by_length)
    assert len(made.embed_passages(["a", "b", "c", "d", "e"])) == 5
    assert [body["input"] for body in server.bodies] == [["a", "b"], ["c", "d"], ["e"]]


def test_no_passages_are_no_request() -> None:
    made, server = embedder(by_length)
    assert made.embed_passages([]) == []
    assert server.bodies == []


def test_shorter_vectors_are_asked_for_and_named_in_the_identity() -> None:
    made, server = embedder(by_length, dimensions=3)
    made.embed_query("abc")
    assert server.bodies[0]["dimensions"] == 3
    assert made.dimensions == 3
    assert made.identity == "openai/models.example/text-embedding-3-small/3"


def test_the_identity_names_host_and_model_and_no_key() -> None:
    made, _ = embedder(by_length)
    assert made.identity == "openai/models.example/text-embedding-3-small"


def test_the_length_of_a_known_model_needs_no_request_and_of_another_one_does() -> None:
    known, server = embedder(by_length)
    assert known.dimensions == 1536
    assert server.bodies == []
    unknown, _ = embedder(by_length, model="nomic-embed-text")
    assert unknown.dimensions == 3


def test_texts_that_the_api_refuses_are_made_sendable() -> None:
    made, server = embedder(by_length)
    made.embed_passages(["", "  ", "a\ud800b\0c", "長" * 50_000])
    blank, spaces, odd, long = server.bodies[0]["input"]
    assert (blank, spaces, odd) == (".", ".", "a?b c")
    assert len(long) <= openai_embeddings.MAX_CHARS + 1


def test_the_client_that_came_first_is_kept() -> None:
    made, _ = embedder(by_length)
    assert made.identity == made.identity
    clients = iter([build_client(api_key=KEY, base_url="https://first.example/v1", timeout=5, max_retries=0)])
    pinned = OpenAIEmbedder(client_factory=lambda: next(clients), model="m")
    assert pinned.identity == pinned.identity == "openai/first.example/m"


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (answering(401, json={"error": {"message": f"Incorrect API key provided: {KEY}"}}), "auth"),
        (answering(429, json={"error": {"message": "slow down"}}), "rate_limited"),
        (answering(404, text="<html>not found</html>"), "route_missing"),
        (answering(500, text="oops"), "server_error"),
        (answering(200, text="<html>hello</html>"), "bad_response"),
        (answering(200, json={"data": None}), "bad_response"),
        (answering(200, json={"object": "list", "data": [], "model": "m"}), "bad_response"),
        (answering(200, json={"data": [{"index": 0, "embedding": [0.0, 0.0]}]}), "bad_response"),
        (answering(200, json={"data": [{"index": 0, "embedding": "AAAA"}]}), "bad_response"),
        (answering(200, json={"data": [{"index": 0}]}), "bad_response"),
        (answering(200, content=b'{"data": ['), "bad_response"),
    ],
)
def test_what_goes_wrong_is_reported_without_the_key(answer: Answer, code: str) -> None:
    made, _ = embedder(answer)
    for ask in (lambda: made.embed_query("hi"), lambda: made.embed_passages(["hi"])):
        with pytest.raises(IndexUnavailable) as caught:
            ask()
        assert caught.value.code == code
        assert KEY not in caught.value.detail


def test_a_server_that_is_not_there_is_unreachable() -> None:
    def refuse(body: dict[str, Any]) -> httpx2.Response:
        raise httpx2.ConnectError("refused")

    made, _ = embedder(refuse)
    with pytest.raises(IndexUnavailable) as caught:
        made.embed_query("hi")
    assert caught.value.code == "unreachable"
