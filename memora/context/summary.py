"""Folding old messages into the running summary, through the model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memora.context.message import clean_message
from memora.context.ports import StoredMessage
from memora.context.quoted import quoted_json
from memora.context.tokens import TokenCounter
from memora.errors import BadResponse
from memora.model import CancelToken, Item, LanguageModel, ModelRequest, ModelResponse, Usage
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
        self.max_tokens = max_tokens
        self._model = model
        self._counter = counter

    def fold(self, summary: str, messages: Sequence[StoredMessage], *, cancel: CancelToken) -> Summary:
        """The summary that covers ``summary`` and ``messages``; more than `max_tokens` take several requests.

        Raises `Cancelled`, and `ModelError` when a request fails or its answer is empty or incomplete.
        """
        usage = Usage()
        for batch in self._batches(messages):
            step = self._ask(summary, batch, cancel=cancel)
            summary, usage = step.text, usage + step.usage
        return Summary(text=summary, usage=usage)

    def _ask(self, summary: str, messages: list[Item], *, cancel: CancelToken) -> Summary:
        content = quoted_json({"summary": summary, "messages": messages})
        request = ModelRequest(
            purpose="summary",
            # In a small window the summary is short too: it must leave room for the conversation.
            instructions=render("summary", max_words=min(MAX_SUMMARY_WORDS, self.max_tokens // 8)),
            input=({"type": "message", "role": "user", "content": content},),
            max_output_tokens=MAX_OUTPUT_TOKENS,
        )
        response = self._model.complete(request, cancel=cancel)
        text = _text_of(response)
        counted = Usage(
            input_tokens=self._counter.count(request.instructions) + self._counter.count(content),
            output_tokens=self._counter.count(text),
            input_source="estimated",
            output_source="estimated",
        )
        return Summary(text=text, usage=response.usage or counted)

    def _batches(self, messages: Sequence[StoredMessage]) -> Iterator[list[Item]]:
        """The messages as the model reads them, in lists that one request holds; a longer message is cut up."""
        batch: list[Item] = []
        room = self.max_tokens
        for message in messages:
            for piece in self._pieces(message.content):
                tokens = self._counter.count(piece)
                if batch and tokens > room:
                    yield batch
                    batch, room = [], self.max_tokens
                batch.append({"role": message.role, "content": piece})
                room -= tokens
        if batch:
            yield batch

    def _pieces(self, text: str) -> Iterator[str]:
        if len(text) < 2 or self._counter.count(text) <= self.max_tokens:
            yield text
            return
        middle = len(text) // 2
        yield from self._pieces(text[:middle])
        yield from self._pieces(text[middle:])


def _text_of(response: ModelResponse) -> str:
    """The text of a completed response. Raises `ServerFailed` and `BadResponse`."""
    response.raise_if_failed()
    if response.status == "incomplete":
        raise BadResponse(f"the summary is incomplete: {response.incomplete_reason}")
    text = clean_message(response.text)
    if not text:
        raise BadResponse("the summary is empty")
    return text
