"""What preparing the context comes to: the input of the turn's requests, and its statistics."""

from __future__ import annotations

from dataclasses import dataclass, field

from memora.errors import Failure
from memora.model import Item, Usage


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

    ``input_messages`` are the items: background, summary, messages. ``parts`` says what ``input_tokens``
    consist of: ``system``, ``tools``, ``background``, ``summary``, ``messages``. ``left_out_messages`` are in
    neither the window nor the summary, this time; ``has_background`` is False when there was none, or no room
    for all of it.
    """

    input_messages: tuple[Item, ...]
    context_messages: int
    max_input_tokens: int
    reserved_input_tokens: int
    parts: dict[str, int]
    folds: tuple[Fold, ...] = ()
    left_out_messages: int = 0
    has_background: bool = False

    @property
    def input_tokens(self) -> int:
        """Everything that request 1 sends."""
        return sum(self.parts.values())

    @property
    def estimated_input_tokens(self) -> int:
        """Input tokens with the reserve."""
        return self.input_tokens + self.reserved_input_tokens

    @property
    def newly_summarized_count(self) -> int:
        """How many messages went into the summary in this turn."""
        return sum(fold.messages for fold in self.folds if fold.failure is None)

    @property
    def summary_token_usage(self) -> Usage:
        """What the summaries of this turn cost."""
        return sum((fold.usage for fold in self.folds), Usage())
