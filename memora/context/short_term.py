"""Short-term memory: one conversation's context window, for one turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal

from memora.context.ports import ConversationStore, StoredMessage
from memora.context.summary import Summarizer, summary_message
from memora.context.tokens import TokenCounter
from memora.context.window import turns_to_fold, turns_to_leave_out
from memora.errors import Failure, MessageTooLong, ModelError
from memora.model import CancelToken, Item, Usage

TOOL_TURN_TOKEN_RESERVE = 1200
"""Input tokens kept free for what request 2 adds: the call, its output, and reasoning between them."""

StoredTurn = tuple[StoredMessage, ...]


@dataclass(frozen=True, kw_only=True)
class Fold:
    """One attempt at folding old messages into the summary; ``failure`` is set when it did not succeed."""

    took_ms: float
    messages: int
    summary: str = ""
    usage: Usage = field(default_factory=Usage)
    failure: Failure | None = None


@dataclass(frozen=True, kw_only=True)
class PreparedContext:
    """What is sent, and its statistics. All sizes are tokens, ``context_messages`` counts messages.

    ``estimated_input_tokens`` is ``input_tokens`` plus the reserve. ``parts`` says what ``input_tokens``
    consist of. ``left_out_messages`` are in neither the window nor the summary, this time.
    """

    input_messages: tuple[Item, ...]
    context_messages: int
    max_input_tokens: int
    input_tokens: int
    reserved_input_tokens: int
    summary_token_usage: Usage
    newly_summarized_count: int
    parts: dict[str, int]
    folds: tuple[Fold, ...] = ()
    left_out_messages: int = 0
    has_background: bool = False

    @property
    def estimated_input_tokens(self) -> int:
        """Input tokens with the reserve."""
        return self.input_tokens + self.reserved_input_tokens


@dataclass(frozen=True)
class _Draft:
    """A window in the making: what would be sent."""

    background: tuple[Item, ...]
    summary: str
    turns: tuple[StoredTurn, ...]


class ShortTermMemory:
    """The context of one turn: `prepare_context` before the answer, `finish_turn` after it.

    The stored messages are never changed; what does not fit any more is folded into the running summary.
    """

    def __init__(
        self,
        *,
        store: ConversationStore,
        counter: TokenCounter,
        summarizer: Summarizer,
        user_id: str,
        conversation_id: str,
        turn_id: str,
        instructions: str,
        tools: Sequence[Item],
        max_input_tokens: int,
        cancel: CancelToken,
    ) -> None:
        self.instructions = instructions
        self._store = store
        self._counter = counter
        self._summarizer = summarizer
        self._user_id = user_id
        self._conversation_id = conversation_id
        self._turn_id = turn_id
        self._tools = tools
        self._max_input_tokens = max_input_tokens
        self._cancel = cancel

    def prepare_context(
        self,
        *,
        background_messages: Sequence[Item] = (),
        reserved_input_tokens: int = TOOL_TURN_TOKEN_RESERVE,
    ) -> PreparedContext:
        """The input of this turn, within the budget: background, summary, and the latest messages.

        Folds the oldest turns into the summary while it is too much. When that fails, they are left out of
        this turn only, and the next turn tries again. Raises `MessageTooLong` when not even the current
        message fits, `Cancelled`, and what the store raises.
        """
        window = self._store.window(user_id=self._user_id, conversation_id=self._conversation_id, turn_id=self._turn_id)
        by_turn = groupby(window.messages, key=lambda message: message.turn_id)
        turns = tuple(tuple(messages) for _, messages in by_turn)
        budget = self._max_input_tokens - reserved_input_tokens
        draft = self._without_extras(_Draft(tuple(background_messages), window.summary, turns), budget)
        folds: list[Fold] = []
        left_out = 0
        while number := turns_to_fold(self._turn_tokens(draft), fixed_tokens=self._fixed(draft), budget=budget):
            self._cancel.raise_if_cancelled()
            fold, folded = self._fold(draft, number)
            folds.append(fold)
            if fold.failure is None:
                draft = self._without_extras(folded, budget)
                continue
            number = turns_to_leave_out(self._turn_tokens(draft), fixed_tokens=self._fixed(draft), budget=budget)
            left_out = sum(map(len, draft.turns[:number]))
            draft = _Draft(draft.background, draft.summary, draft.turns[number:])
            break
        return self._prepared(draft, folds, reserved_input_tokens=reserved_input_tokens, left_out=left_out)

    def finish_turn(
        self,
        *,
        assistant_reply: str,
        context_messages: int,
        response_tokens: int,
        state: Literal["done", "stopped", "cut_off", "failed"] = "done",
        usage: Usage | None = None,
        failure: Failure | None = None,
        learn: bool = True,
    ) -> None:
        """Commit the reply and the end of the turn.

        ``response_tokens`` is the total of all requests of the turn. ``learn`` hands the turn to the write
        path. Function-call items are not given here: they are no messages of the conversation.
        """
        self._store.finish_turn(
            user_id=self._user_id,
            turn_id=self._turn_id,
            reply=assistant_reply,
            state=state,
            response_tokens=response_tokens,
            usage=usage or Usage(),
            context_messages=context_messages,
            failure=failure,
            learn=learn,
        )

    def _fold(self, draft: _Draft, number: int) -> tuple[Fold, _Draft]:
        """Fold the oldest ``number`` turns; the draft comes back as it was when that fails."""
        started = time.perf_counter()
        messages = tuple(message for turn in draft.turns[:number] for message in turn)
        try:
            summary = self._summarizer.fold(draft.summary, messages, cancel=self._cancel)
        except ModelError as error:
            return Fold(took_ms=_ms_since(started), messages=len(messages), failure=error.as_failure()), draft
        self._store.save_summary(
            user_id=self._user_id,
            conversation_id=self._conversation_id,
            summary=summary.text,
            summarized_through=messages[-1].position,
        )
        fold = Fold(took_ms=_ms_since(started), messages=len(messages), summary=summary.text, usage=summary.usage)
        return fold, _Draft(draft.background, summary.text, draft.turns[number:])

    def _without_extras(self, draft: _Draft, budget: int) -> _Draft:
        """The draft without background, and then without summary, if the current message needs their room."""
        alone = _Draft((), "", draft.turns[-1:])
        if self._total(alone) > budget:
            limit = budget - self._fixed(alone)
            raise MessageTooLong(tokens=sum(self._turn_tokens(alone)), limit=max(limit, 0))
        for candidate in (draft, _Draft((), draft.summary, draft.turns)):
            if self._total(_Draft(candidate.background, candidate.summary, alone.turns)) <= budget:
                return candidate
        return _Draft((), "", draft.turns)

    def _prepared(
        self, draft: _Draft, folds: Sequence[Fold], *, reserved_input_tokens: int, left_out: int
    ) -> PreparedContext:
        parts = self._parts(draft)
        messages = tuple(_item(message) for turn in draft.turns for message in turn)
        return PreparedContext(
            input_messages=(*draft.background, *summary_message(draft.summary), *messages),
            context_messages=len(messages),
            max_input_tokens=self._max_input_tokens,
            input_tokens=sum(parts.values()),
            reserved_input_tokens=reserved_input_tokens,
            summary_token_usage=sum((fold.usage for fold in folds), Usage()),
            newly_summarized_count=sum(fold.messages for fold in folds if fold.failure is None),
            parts=parts,
            folds=tuple(folds),
            left_out_messages=left_out,
            has_background=bool(draft.background),
        )

    def _parts(self, draft: _Draft) -> dict[str, int]:
        return {
            "system": self._counter.count(self.instructions),
            "tools": self._counter.count_tools(self._tools),
            "background": self._counter.count_items(draft.background),
            "summary": self._counter.count_items(summary_message(draft.summary)),
            "messages": sum(self._turn_tokens(draft)),
        }

    def _turn_tokens(self, draft: _Draft) -> list[int]:
        return [self._counter.count_items(map(_item, turn)) for turn in draft.turns]

    def _fixed(self, draft: _Draft) -> int:
        parts = self._parts(draft)
        return sum(parts.values()) - parts["messages"]

    def _total(self, draft: _Draft) -> int:
        return sum(self._parts(draft).values())


def _item(message: StoredMessage) -> Item:
    """A message of the history as input: text only, no ids."""
    return {"type": "message", "role": message.role, "content": message.content}


def _ms_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
