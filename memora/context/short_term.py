"""Short-term memory: one conversation's context window, for one turn."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Literal

from memora.context.draft import Draft, StoredTurn, draft_of
from memora.context.message import check_message_fits
from memora.context.ports import ConversationStore
from memora.context.prepared import Fold, PreparedContext
from memora.context.summary import Summarizer
from memora.context.tokens import TokenCounter
from memora.elapsed import ms_since
from memora.errors import Failure, ModelError
from memora.model import CancelToken, Item, Usage

TOOL_TURN_TOKEN_RESERVE = 1200
"""Input tokens kept free for what request 2 adds: the call, its output, and reasoning between them."""

MAX_FOLDS = 4
"""Folds before one answer, at most: somebody is waiting for it. What is left is folded in later turns."""


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
        check_message_fits(
            window.messages[-1].content,
            counter=self._counter,
            instructions=self.instructions,
            tools=self._tools,
            max_input_tokens=self._max_input_tokens,
            reserved_input_tokens=reserved_input_tokens,
        )
        fixed = {
            "system": self._counter.count(self.instructions),
            "tools": self._counter.count_tools(self._tools),
        }
        budget = self._max_input_tokens - reserved_input_tokens - sum(fixed.values())
        whole = draft_of(window, background=tuple(background_messages), budget=budget, counter=self._counter)
        folded, folds = self._fold_old_turns(whole.without_extras(), summary=window.summary)
        sent = folded.without_old_turns()
        return PreparedContext(
            input_messages=sent.items,
            context_messages=len(sent.messages),
            max_input_tokens=self._max_input_tokens,
            reserved_input_tokens=reserved_input_tokens,
            parts=fixed | sent.parts,
            folds=folds,
            left_out_messages=len(folded.messages) - len(sent.messages),
            has_background=bool(background_messages) and len(sent.background) == len(background_messages),
        )

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

    def _fold_old_turns(self, draft: Draft, *, summary: str) -> tuple[Draft, tuple[Fold, ...]]:
        """Fold until the draft fits, or the model fails, or it has taken long enough.

        ``summary`` is the stored one: it is built upon even where the draft has no room for it.
        """
        folds: list[Fold] = []
        while len(folds) < MAX_FOLDS and (turns := draft.turns_to_fold(limit=self._summarizer.max_tokens)):
            fold = self._fold(summary, turns)
            folds.append(fold)
            if fold.failure:
                break
            summary = fold.summary
            draft = draft.folded(turns, summary)
        return draft, tuple(folds)

    def _fold(self, summary: str, turns: tuple[StoredTurn, ...]) -> Fold:
        """Fold ``turns`` into ``summary`` and store the new one at once."""
        started = time.perf_counter()
        messages = [message for turn in turns for message in turn]
        try:
            made = self._summarizer.fold(summary, messages, cancel=self._cancel)
        except ModelError as error:
            return Fold(took_ms=ms_since(started), messages=len(messages), failure=error.as_failure())
        self._store.save_summary(
            user_id=self._user_id,
            conversation_id=self._conversation_id,
            summary=made.text,
            summarized_through=messages[-1].position,
        )
        return Fold(took_ms=ms_since(started), messages=len(messages), summary=made.text, usage=made.usage)
