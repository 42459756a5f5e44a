"""A scripted server below the real OpenAI client: one reply per HTTP request, in this process."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

import httpx2

from memora.providers.openai import OpenAIModel, build_client

Json: TypeAlias = dict[str, Any]
Chunk: TypeAlias = bytes | Exception | Callable[[], None]
Reply: TypeAlias = httpx2.Response | Exception | Callable[[], httpx2.Response]


class ScriptedStream(httpx2.SyncByteStream):
    """A body in chunks; an exception among them breaks the connection, a callable is run in between."""

    def __init__(self, chunks: Iterable[Chunk]) -> None:
        self.chunks = chunks
        self.closed = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self.chunks:
            if isinstance(chunk, Exception):
                raise chunk
            if callable(chunk):
                chunk()
                continue
            yield chunk

    def close(self) -> None:
        self.closed = True


def event(kind: str, **fields: Any) -> bytes:
    """One server-sent event as OpenAI writes them."""
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def delta(text: str) -> bytes:
    return event("response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=text)


def item_done(item: Json, **fields: Any) -> bytes:
    return event("response.output_item.done", item=item, **fields)


USAGE: Json = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 20},
    "output_tokens": 10,
    "output_tokens_details": {"reasoning_tokens": 4},
    "total_tokens": 110,
}


def whole(*output: Json, **fields: Any) -> Json:
    """A response object."""
    response = {"id": "resp_1", "object": "response", "model": "test-model", "status": "completed", "usage": USAGE}
    return {**response, "output": list(output), **fields}


def ended(*output: Json, kind: str = "response.completed", **fields: Any) -> bytes:
    """The terminal event with the whole response."""
    return event(kind, response=whole(*output, status=kind.removeprefix("response."), **{**fields}))


def sse(*chunks: Chunk, content_type: str = "text/event-stream; charset=utf-8") -> httpx2.Response:
    """A streamed reply."""
    return httpx2.Response(200, headers={"content-type": content_type}, stream=ScriptedStream(chunks))


def refused(status: int, headers: dict[str, str] | None = None, **error: Any) -> httpx2.Response:
    """An error reply in OpenAI's shape."""
    return httpx2.Response(status, headers=headers, json={"error": error})


class Wire(httpx2.BaseTransport):
    """The transport. ``bodies`` holds what was posted, ``headers`` with which headers."""

    def __init__(self, *replies: Reply) -> None:
        self.bodies: list[Json] = []
        self.headers: list[httpx2.Headers] = []
        self._replies = list(replies)

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.bodies.append(json.loads(request.read()))
        self.headers.append(request.headers)
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply() if callable(reply) else reply

    def model(self, *, api_key: str | None = "sk-test-secret", max_retries: int = 0) -> OpenAIModel:
        """A model whose client has this wire instead of a network."""
        return OpenAIModel(
            model="test-model",
            client_factory=lambda: build_client(
                api_key=api_key,
                base_url="http://model.test/v1",
                timeout=5,
                max_retries=max_retries,
                transport=self,
            ),
        )
