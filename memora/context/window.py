"""The arithmetic of the context window: which of the oldest turns have to go. Pure: numbers in, a number out.

Only whole turns go, the oldest first, and the last one, the current turn, always stays. ``turn_tokens`` are the
tokens of each turn, oldest first; ``other_tokens`` those of everything else that shares the budget.
"""

from __future__ import annotations

from collections.abc import Sequence

KEEP_TURNS = 2
"""How many turns before the current one stay word for word, as long as they fit."""

FOLD_TO = 0.7
"""A fold goes down to this share of the budget, so that the next turns need no fold of their own."""


def turns_to_fold(
    *,
    turn_tokens: Sequence[int],
    other_tokens: int,
    budget: int,
    keep_turns: int = KEEP_TURNS,
    fold_to: float = FOLD_TO,
) -> int:
    """How many turns to fold into the summary: none while everything fits into ``budget``.

    Otherwise as many as ``budget`` demands, and further, down to ``fold_to`` of it, as long as ``keep_turns``
    turns before the current one are left.
    """
    must_go = turns_to_leave_out(turn_tokens=turn_tokens, other_tokens=other_tokens, budget=budget)
    if not must_go:
        return 0
    may_go = len(turn_tokens) - 1 - keep_turns
    return max(must_go, _oldest_to_go(turn_tokens, room=int(budget * fold_to) - other_tokens, at_most=may_go))


def turns_to_leave_out(*, turn_tokens: Sequence[int], other_tokens: int, budget: int) -> int:
    """The fewest turns to leave out so that the rest fits into ``budget``."""
    return _oldest_to_go(turn_tokens, room=budget - other_tokens, at_most=len(turn_tokens) - 1)


def turns_within(*, turn_tokens: Sequence[int], limit: int) -> int:
    """How many turns come to ``limit`` tokens together; the oldest one counts however long it is."""
    total = 0
    for count, tokens in enumerate(turn_tokens):
        total += tokens
        if count and total > limit:
            return count
    return len(turn_tokens)


def _oldest_to_go(turn_tokens: Sequence[int], *, room: int, at_most: int) -> int:
    """The smallest count after which the rest fits into ``room``; ``at_most`` if none does."""
    left = sum(turn_tokens)
    for count in range(at_most):
        if left <= room:
            return count
        left -= turn_tokens[count]
    return max(0, at_most)
