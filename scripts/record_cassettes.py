"""Records tests/cassettes/ again: the demo model, the server of the tests, llmock and a real llama-server.

    PYTHONPATH=tests:. python -m scripts.record_cassettes [NAME…]

Needs what `make test` and `make test-real` install. Without names all are recorded.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from peers.llmock_server import llmock
from real.llama_server import CHAT, MODEL, llama_server
from servers.launch import responses_server

from memora.memory.extraction import extract
from memora.model import CancelToken
from memora.providers.cassette import CassetteRecorder
from memora.providers.demo import DemoTransport, TriggerFaults
from memora.providers.openai import OpenAIModel, build_client
from memora.settings import APP_FOLDER, DEMO_MODEL
from memora.turn import run_model_with_tools

CASSETTES = APP_FOLDER / "tests" / "cassettes"
SENTENCE = "I don't know the answer."
QUESTION = f"請數一數：{SENTENCE}"
CALL = {"type": "reply", "tool_calls": [{"name": "count_english_words", "arguments": {"text": SENTENCE}}]}
REPLY = {"type": "reply", "text": "There are five words in this sentence."}
DEMO = {
    "demo-call-with-reasoning": f"{QUESTION} [[with:reasoning]]",
    "demo-extraction": "我叫小美，我喜歡喝咖啡。I live in Taipei.",
}
SERVER = {
    "server-cut": "Hello! [[fail:cut]]",
    "server-include-refused": f"{QUESTION} [[fail:include]]",
    "server-busy": "Hello! [[fail:503x1]]",
    "server-html": "Hello! [[fail:html]]",
    "server-two-calls": f"{QUESTION} [[bad:two_calls]]",
}
LLMOCK: dict[str, tuple[dict[str, Any], ...]] = {
    "llmock-call": (CALL, REPLY),
    "llmock-malformed-arguments": ({"type": "tool_fault", "kind": "malformed_arguments"}, REPLY),
    "llmock-malformed-chunk": (REPLY, {"type": "stream_fault", "after_chunks": 5, "kind": "malformed"}),
    "llmock-truncated": (REPLY, {"type": "stream_fault", "after_chunks": 5, "kind": "truncate"}),
    "llmock-key-refused": ({"type": "fail", "status": 401},),
}
LLAMA = {"llama-answer": "Say hello."}


@dataclass(frozen=True)
class Studio:
    """Where a cassette is recorded: what is said to the server at an address, or to the demo model without one."""

    base_url: str | None
    model: str

    def record(self, name: str, text: str) -> None:
        """Say ``text``, and keep what was exchanged as ``name``."""
        with _recorder() as recorder:
            model = OpenAIModel(model=self.model, client_factory=lambda: self._client(recorder))
            if name.endswith("extraction"):
                extract(
                    model=model, user_message=text, assistant_reply="好的。", today=date.today(), cancel=CancelToken()
                )
            else:
                message = {"type": "message", "role": "user", "content": text}
                run_model_with_tools(input_messages=[message], model=model, instructions="Answer briefly.")
            recorder.stop()
            (CASSETTES / f"{name}.jsonl").write_text(recorder.text(), encoding="utf-8")
        print(name)  # noqa: T201 - this is a program

    def _client(self, recorder: CassetteRecorder) -> Any:
        return build_client(
            api_key="a-key-for-tests",
            base_url=self.base_url,
            timeout=120,
            max_retries=2,
            transport=None if self.base_url else DemoTransport(faults=TriggerFaults(), words_per_second=10_000),
            recorder=recorder,
        )


@contextmanager
def _recorder() -> Iterator[CassetteRecorder]:
    with tempfile.TemporaryDirectory() as folder:
        recorder = CassetteRecorder(Path(folder), now=lambda: datetime.now(UTC))
        recorder.start()
        yield recorder
        recorder.close()


def main(names: list[str]) -> None:
    """Record the cassettes of these ``names``; all of them when there are none."""

    def wanted(scenarios: dict[str, Any]) -> dict[str, Any]:
        return {name: scenario for name, scenario in scenarios.items() if not names or name in names}

    CASSETTES.mkdir(exist_ok=True)
    for name, text in wanted(DEMO).items():
        Studio(None, DEMO_MODEL).record(name, text)
    if scenarios := wanted(SERVER):
        with responses_server() as server:
            for name, text in scenarios.items():
                Studio(server.base_url, DEMO_MODEL).record(name, text)
    if scenarios := wanted(LLMOCK):
        with llmock() as mock:
            for name, script in scenarios.items():
                mock.reset()
                mock.script(*script)
                Studio(mock.base_url, "gpt-4o-mini").record(name, QUESTION)
    if scenarios := wanted(LLAMA):
        with tempfile.TemporaryDirectory() as folder, llama_server(Path(folder) / "log", *CHAT) as llama:
            for name, text in scenarios.items():
                Studio(llama.base_url, MODEL).record(name, text)


if __name__ == "__main__":
    main(sys.argv[1:])
