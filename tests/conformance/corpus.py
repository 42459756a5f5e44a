"""Everything that Memora sends on all of its ways, recorded by a real HTTP server.

The real app is connected to the server as to each kind of server in turn, and talks: answer 1 and 2, summary,
extraction, reconciliation, the repair of a structured answer, the connection check, embeddings and token counts.
Titles are the first words of a conversation; no model is asked for them. Memora streams every answer, so there is
no other kind of body.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from servers.launch import ResponsesServer, responses_server
from support.talking import open_conversation, say

from memora.assembly import LOCAL_USER, App, build_app
from memora.model import CancelToken
from memora.settings import ProviderName, Settings

Json = dict[str, Any]

RESPONSES = "/v1/responses"
SCHEMAS = {
    RESPONSES: "CreateResponse",
    "/v1/responses/input_tokens": "TokenCountsBody",
    "/v1/embeddings": "CreateEmbeddingRequest",
}
"""The routes that Memora posts to, and the document's name for what they take."""

COUNT = "請精確計算這句英文有幾個單字：I have studied English for three years."
LONG = "An example, please. " + "This sentence makes the conversation long. " * 60

EVERYWHERE = (
    f"{COUNT} [[with:reasoning]]",
    "我叫小美，住在台北，正在準備三月的 IELTS 考試。[[fail:garbledx1@extraction]]",
)
"""What every kind of server hears."""
ODD_ANSWERS = (
    COUNT,
    f"{COUNT} [[with:reasoning]][[with:text]]",
    f"{COUNT} [[with:reasoning]][[bad:two_calls]]",
    f"{COUNT} [[bad:arguments]]",
    f"{COUNT} [[bad:unknown_tool]]",
    f"{COUNT} [[no:usage]]",
    f"{COUNT} [[fail:500@2]]",
    "An example, please. [[fail:cut]]",
    "An example, please. [[fail:refusal]]",
    "我搬到台南了。",
    "👩‍🏫 Zalgo h̷e̸llo, family 👨‍👩‍👧, bidi \u202eabc, a line\u2028and \ufeff more",
    LONG,
    LONG,
    LONG,
)
GIVING_UP = (
    "An example, please. [[fail:include]]",
    f"{COUNT} [[with:reasoning]][[fail:reasoning@2]]",
    f"{COUNT} [[bad:call_again]]",
    COUNT,
)
"""Encrypted reasoning is refused, then the reasoning that is sent back; then ``tool_choice: none`` is ignored."""


@dataclass(frozen=True)
class Sent:
    """One request: to which kind of server, where, what, and the ``output`` of its answer (none where it failed)."""

    provider: ProviderName
    path: str
    body: Json
    output: list[Json]

    @property
    def is_second(self) -> bool:
        """Whether it carries a call back."""
        return any(item["type"] == "function_call_output" for item in self.items)

    @property
    def is_first(self) -> bool:
        """Whether it is the first request of an answer."""
        return self.path == RESPONSES and "tools" in self.body and not self.is_second

    @property
    def items(self) -> list[Json]:
        """The items of its input; none where texts are embedded."""
        return [item for item in self.body["input"] if isinstance(item, dict)]


@dataclass(frozen=True)
class Corpus:
    """Everything that was sent, in order."""

    sent: tuple[Sent, ...]

    def to(self, provider: ProviderName) -> list[Sent]:
        """What one kind of server was sent."""
        return [sent for sent in self.sent if sent.provider == provider]

    def bodies(self, path: str = RESPONSES) -> list[Json]:
        """The bodies that went to ``path``."""
        return [sent.body for sent in self.sent if sent.path == path]

    def answers(self) -> Iterator[tuple[Sent, list[Sent]]]:
        """The first request of each answer that called a function, and its second, which a refusal repeats."""
        first: Sent | None = None
        seconds: list[Sent] = []
        for sent in self.sent:
            if sent.is_first:
                if first and seconds:
                    yield first, seconds
                first, seconds = sent, []
            elif sent.is_second and sent.path == RESPONSES:
                seconds.append(sent)
        if first and seconds:
            yield first, seconds


def recorded_corpus(folder: Path) -> Corpus:
    """What Memora sends to every kind of server, from an app in ``folder``."""
    with responses_server(words_per_second=100_000) as server:
        app = build_app(
            Settings(
                MEMORA_DATA_DIR=folder,
                OPENAI_BASE_URL=server.base_url,
                OPENAI_API_KEY="sk-test",
                MEMORA_EMBEDDER="openai",
                MEMORA_COUNT_TOKENS="on",
                MEMORA_MAX_INPUT_TOKENS=4_000,
                MEMORA_MAX_RETRIES=0,
            )
        )
        try:
            return Corpus(tuple(sent for provider in get_args(ProviderName) for sent in _walk(app, server, provider)))
        finally:
            app.close()


def _walk(app: App, server: ResponsesServer, provider: ProviderName) -> Iterator[Sent]:
    server.reset()
    app.connect(base_url=server.base_url, api_key="sk-test", provider=provider)
    conversation_id = open_conversation(app)
    extra = {"openai": ODD_ANSWERS, "any": GIVING_UP}
    for message in (*EVERYWHERE, *extra.get(provider, ())):
        say(app, conversation_id, message)
    for step in app.check_connection(user_id=LOCAL_USER, cancel=CancelToken()):
        assert step.state != "failed", step
    for request in server.recorded():
        yield Sent(provider, request["path"], request["body"], request["output"])
