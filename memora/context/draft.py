"""A draft of the context window: what would be sent, what it costs, and what it can do without."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from memora.context.ports import StoredMessage, StoredWindow
from memora.context.summary import summary_message
from memora.context.tokens import TokenCounter
from memora.context.window import turns_to_fold, turns_to_leave_out, turns_within
from memora.model import Item

StoredTurn = tuple[StoredMessage, ...]
"""All messages that share a turn id; they stay or go together."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """The part of a request's input that can change: background, summary, turns, the current one last.

    ``budget`` are the tokens that it may take.
    """

    background: tuple[Item, ...]
    summary: str
    turns: tuple[StoredTurn, ...]
    budget: int
    counter: TokenCounter

    @property
    def messages(self) -> tuple[StoredMessage, ...]:
        """The messages of the conversation."""
        return tuple(message for turn in self.turns for message in turn)

    @property
    def items(self) -> tuple[Item, ...]:
        """What is sent, in order."""
        return (*self.background, *summary_message(self.summary), *map(_item, self.messages))

    @property
    def parts(self) -> dict[str, int]:
        """The tokens of each kind of content."""
        return {
            "background": self.counter.count_items(self.background),
            "summary": self.counter.count_items(summary_message(self.summary)),
            "messages": sum(self._turn_tokens),
        }

    def turns_to_fold(self, *, limit: int) -> tuple[StoredTurn, ...]:
        """The oldest turns, if they have to be folded: as many as needed, but about ``limit`` tokens at once."""
        turn_tokens = self._turn_tokens
        count = turns_to_fold(turn_tokens=turn_tokens, other_tokens=self._other_tokens, budget=self.budget)
        return self.turns[: turns_within(turn_tokens=turn_tokens[:count], limit=limit)]

    def folded(self, turns: tuple[StoredTurn, ...], summary: str) -> Draft:
        """The draft after its oldest ``turns`` went into ``summary``."""
        return replace(self, turns=self.turns[len(turns) :], summary=summary).without_extras()

    def without_extras(self) -> Draft:
        """The draft, lighter if the current turn by itself needs the room.

        The background goes first, its last message before the others, and then the summary.
        """
        for lighter in self._ever_lighter():
            if lighter._other_tokens + lighter._turn_tokens[-1] <= self.budget:
                return lighter
        return replace(self, background=(), summary="")

    def without_old_turns(self) -> Draft:
        """The draft with as few of the oldest turns left out as makes it fit."""
        count = turns_to_leave_out(turn_tokens=self._turn_tokens, other_tokens=self._other_tokens, budget=self.budget)
        return replace(self, turns=self.turns[count:]) if count else self

    def _ever_lighter(self) -> Iterator[Draft]:
        yield self
        for count in reversed(range(len(self.background))):
            yield replace(self, background=self.background[:count])

    @cached_property
    def _turn_tokens(self) -> list[int]:
        return [self.counter.count_items(map(_item, turn)) for turn in self.turns]

    @cached_property
    def _other_tokens(self) -> int:
        return self.counter.count_items((*self.background, *summary_message(self.summary)))


def draft_of(window: StoredWindow, *, background: tuple[Item, ...], budget: int, counter: TokenCounter) -> Draft:
    """The draft that has everything in it."""
    by_turn = groupby(window.messages, key=lambda message: message.turn_id)
    turns = tuple(tuple(messages) for _, messages in by_turn)
    return Draft(background=background, summary=window.summary, turns=turns, budget=budget, counter=counter)


def _item(message: StoredMessage) -> Item:
    """A message of the history as input: text only, no ids."""
    return {"type": "message", "role": message.role, "content": message.content}
