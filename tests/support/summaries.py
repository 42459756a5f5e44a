"""Summaries under watch: a model that makes them or fails, and a record that says no word was left out of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import cycle
from typing import Any

from hypothesis import strategies as st
from support.scripted_model import ScriptedModel, Step, message, refusal, response

from memora.context.ports import ConversationStore, StoredWindow
from memora.errors import RateLimited, StreamCut
from memora.model import ModelRequest

outcomes: st.SearchStrategy[list[Step]] = st.lists(
    st.sampled_from(
        [
            "Short.",
            "It went on and on. " * 60,
            "\x00",
            RateLimited(),
            StreamCut(),
            response(refusal("No.")),
            response(message("cut o"), status="incomplete"),
        ]
    ),
    min_size=1,
    max_size=3,
)
"""What comes of the requests for a summary, again and again in this order."""


class Summarist(ScriptedModel):
    """A model with an endless script of `outcomes`."""

    def __init__(self, script: Sequence[Step]) -> None:
        super().__init__()
        self._endless = cycle(script)

    def _next_step(self, request: ModelRequest) -> Step:
        self.requests.append(request)
        return next(self._endless)


class WatchedConversations:
    """A `ConversationStore` before another. A summary is only saved if the model was told all that it covers."""

    def __init__(self, store: ConversationStore, model: Summarist) -> None:
        self._store = store
        self._model = model
        self._told = 0
        self._window = StoredWindow(summary="", summarized_through=0, messages=())
        self.summarized_through = 0

    def window(self, **which: str) -> StoredWindow:
        self._window = self._store.window(**which)
        assert self._window.summarized_through >= self.summarized_through, "the summary went back"
        self.summarized_through = self._window.summarized_through
        self._told = len(self._model.requests)
        return self._window

    def save_summary(self, *, summarized_through: int, **fields: Any) -> None:
        asked = [json.loads(request.input[0]["content"])["messages"] for request in self._model.requests[self._told :]]
        told = "".join(said["content"] for messages in asked for said in messages)
        assert told == "".join(
            stored.content
            for stored in self._window.messages
            if self.summarized_through < stored.position <= summarized_through
        )
        assert summarized_through > self.summarized_through
        self._store.save_summary(summarized_through=summarized_through, **fields)
        self.summarized_through = summarized_through
        self._told = len(self._model.requests)

    def finish_turn(self, **fields: Any) -> None:
        self._store.finish_turn(**fields)
