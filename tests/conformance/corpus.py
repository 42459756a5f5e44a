"""Every path on which Memora sends something, walked by the real app against a real HTTP server, and what went out.

The requests that Memora sends: answer 1 and 2, summary, extraction, reconciliation, the repair of a structured
answer, the connection check, embeddings and token counts. Titles are the first words of a conversation; no model
is asked for them. All answers are streamed; `not_streamed` makes the other kind of body from them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from servers.launch import ResponsesServer, responses_server
from support.talking import open_conversation, say

from memora.assembly import LOCAL_USER, App, build_app
from memora.model import CancelToken
from memora.settings import Settings

Json = dict[str, Any]
SCHEMAS = {
    "/v1/responses": "CreateResponse",
    "/v1/responses/input_tokens": "TokenCountsBody",
    "/v1/embeddings": "CreateEmbeddingRequest",
}
COUNT = "請精確計算這句英文有幾個單字：I have studied English for three years."
CONVERSATION = (
    "我叫小美，住在台北，正在準備三月的 IELTS 考試。",
    COUNT,
    f"{COUNT} [[with:reasoning]]",
    f"{COUNT} [[with:reasoning]][[with:text]]",
    f"{COUNT} [[bad:two_calls]]",
    f"{COUNT} [[bad:arguments]]",
    f"{COUNT} [[no:usage]]",
    "我搬到台南了。[[fail:garbledx1@extraction]]",
    "👩‍🏫 Zalgo h̷e̸llo, family 👨‍👩‍👧, bidi \u202eabc, NUL-free\u2028line",
)
"""One message for each path of the answer, and for what follows it."""


@dataclass
class Corpus:
    """What went out: (path, body) in order. ``turns`` are the first requests of one conversation's turns."""

    sent: list[tuple[str, Json]] = field(default_factory=list)

    def bodies(self, path: str = "/v1/responses") -> list[Json]:
        return [body for where, body in self.sent if where == path]


def conversation(folder: Any, *, provider: str = "auto", messages: tuple[str, ...] = CONVERSATION) -> Corpus:
    """What Memora sends in a conversation of ``messages``, from an app of its own."""
    with responses_server() as server:
        app = build_app(
            Settings(
                MEMORA_DATA_DIR=folder,
                OPENAI_BASE_URL=server.base_url,
                OPENAI_API_KEY="sk-test",
                MEMORA_PROVIDER=provider,
                MEMORA_EMBEDDER="openai",
                MEMORA_COUNT_TOKENS="on",
                MEMORA_MAX_INPUT_TOKENS=4_000,
                MEMORA_MAX_RETRIES=0,
            )
        )
        try:
            _talk(app, server, messages)
        finally:
            app.close()
        return Corpus([(request["path"], request["body"]) for request in server.recorded()])


def _talk(app: App, server: ResponsesServer, messages: tuple[str, ...]) -> None:
    conversation_id = open_conversation(app)
    server.fail_next("fail:include")
    for message in messages:
        say(app, conversation_id, message)
    for _ in range(3):
        say(app, conversation_id, "An example, please. " + "This sentence makes the conversation long. " * 60)
    for step in app.check_connection(user_id=LOCAL_USER, cancel=CancelToken()):
        assert step.state != "failed", step


def not_streamed(body: Json) -> Json:
    """The same request without a stream."""
    return {name: value for name, value in body.items() if name != "stream"}
