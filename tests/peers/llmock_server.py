"""llmock (PyPI) as a process of its own: an OpenAI-compatible server that nobody here wrote, with faults on demand."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from browser.running_app import free_port
from support.health import wait_until_healthy

from memora.settings import APP_FOLDER

PROGRAM = APP_FOLDER / ".peers" / "llmock" / "bin" / "llmock"
START_SECONDS = 30.0
Json = dict[str, Any]


@dataclass(frozen=True)
class Llmock:
    """A running server and its controls."""

    port: int

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def script(self, *behaviours: Json) -> None:
        """What the next requests for an answer meet: replies, failures, broken streams."""
        self._control("/_llmock/scenario", {"behaviors": [_for_answers(behaviour) for behaviour in behaviours]})

    def requests(self, path: str = "/v1/responses") -> list[Json]:
        """Every request to ``path`` since the last reset, with its raw ``body``."""
        answer = self._control("/_llmock/requests")
        return [request for request in answer["requests"] if request["path"] == path]

    def failings(self) -> list[Json]:
        """What its verdict on the client calls a failure: a retry too soon, a cut stream taken for a whole one."""
        verdict = self._control("/_llmock/verdict")
        return [finding for finding in verdict["findings"] if finding["severity"] == "error"]

    def reset(self) -> None:
        self._control("/_llmock/reset", {})

    def _control(self, path: str, body: Json | None = None) -> Any:
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            return json.load(answer)


def _for_answers(behaviour: Json) -> Json:
    """``behaviour``, but not for embeddings or models; a broken call waits for a request that offers tools."""
    match = {"path": "/v1/responses", **({"tools": True} if behaviour["type"] == "tool_fault" else {})}
    return {**behaviour, "match": match | behaviour.get("match", {})}


@contextmanager
def llmock() -> Iterator[Llmock]:
    """Run the server as long as the block lasts. Raises `RuntimeError` where it is not installed or does not start."""
    if not PROGRAM.exists():
        raise RuntimeError("llmock is not installed: `make test` does it")
    port = free_port()
    process = subprocess.Popen(
        [PROGRAM, "serve", "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        if not wait_until_healthy(port, process, seconds=START_SECONDS):
            raise RuntimeError("llmock did not start")
        yield Llmock(port)
    finally:
        process.terminate()
        process.wait(timeout=10)
