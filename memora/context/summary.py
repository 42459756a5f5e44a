"""Folding old messages into the running summary, through the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memora.context.ports import StoredMessage
from memora.context.quoted import quoted_json
from memora.context.tokens import TokenCounter
from memora.errors import BadResponse, ServerFailed
from memora.model import CancelToken, Item, LanguageModel, ModelRequest, Usage
from memora.prompts import render

MAX_SUMMARY_WORDS = 250
MAX_OUTPUT_TOKENS = 1_500
"""Room for the summary and for the reasoning before it."""


@dataclass(frozen=True, kw_only=True)
class Summary:
    """A new running summary, and what it cost."""

    text: str
    usage: Usage


def summary_message(summary: str) -> tuple[Item, ...]:
    """The input message that quotes the running summary; none if there is none."""
    if not summary:
        return ()
    content = render("running_summary", json=quoted_json({"summary": summary}))
    return ({"type": "message", "role": "user", "content": content},)


class Summarizer:
    """Asks a model for a new running summary. ``max_tokens`` bounds the messages of one request."""

    def __init__(self, *, model: LanguageModel, counter: TokenCounter, max_tokens: int) -> None:
        self._model = model
        self._counter = counter
        self._max_tokens = max_tokens

    def fold(self, summary: str, messages: Sequence[StoredMessage], *, cancel: CancelToken) -> Summary:
        """The summary that covers ``summary`` and ``messages``. Raises `ModelError` or `Cancelled`."""
        usage = Usage()
        for batch in self._batches(messages):
            step = self._ask(summary, batch, cancel=cancel)
            summary, usage = step.text, usage + step.usage
        return Summary(text=summary, usage=usage)

    def _batches(self, messages: Sequence[StoredMessage]) -> Iterator[Sequence[StoredMessage]]:
        batch: list[StoredMessage] = []
        tokens = 0
        for message in messages:
            size = self._counter.count(message.content)
            if batch and tokens + size > self._max_tokens:
                yield batch
                batch, tokens = [], 0
            batch.append(message)
            tokens += size
        if batch:
            yield batch

    def _ask(self, summary: str, messages: Sequence[StoredMessage], *, cancel: CancelToken) -> Summary:
        quoted = {
            "summary": summary,
            "messages": [{"role": message.role, "content": message.content} for message in messages],
        }
        content = quoted_json(quoted)
        request = ModelRequest(
            purpose="summary",
            instructions=render("summary", max_words=MAX_SUMMARY_WORDS),
            input=({"type": "message", "role": "user", "content": content},),
            max_output_tokens=MAX_OUTPUT_TOKENS,
        )
        response = self._model.complete(request, cancel=cancel)
        if response.status == "failed":
            raise ServerFailed("the summary failed")
        text = response.text.strip()
        if response.status != "completed" or not text:
            raise BadResponse("the summary came incomplete or empty")
        counted = Usage(
            input_tokens=self._counter.count(request.instructions) + self._counter.count(content),
            output_tokens=self._counter.count(text),
            estimated=True,
        )
        return Summary(text=text, usage=response.usage or counted)
