"""The arithmetic of the context window: numbers in, numbers out. Turns are never split.

``turn_tokens`` are the tokens of whole turns, oldest first; the last one is the current turn, which always
stays. ``fixed_tokens`` is everything else: system prompt, tools, background, summary and the reserve.
"""

from __future__ import annotations

from collections.abc import Sequence

KEEP_TURNS = 2
"""How many turns before the current one stay verbatim, if the window allows."""

FOLD_TO = 0.7
"""A fold goes down to this share of the budget, so that not every turn has to fold again."""


def turns_to_fold(turn_tokens: Sequence[int], *, fixed_tokens: int, budget: int) -> int:
    """How many of the oldest turns go into the summary; 0 when everything fits.

    The fewest that bring the total down to `FOLD_TO`, but the last `KEEP_TURNS` before the current one stay
    unless the budget itself would be exceeded.
    """
    total = fixed_tokens + sum(turn_tokens)
    if total <= budget:
        return 0
    foldable = len(turn_tokens) - 1
    for number in range(1, foldable + 1):
        total -= turn_tokens[number - 1]
        reached_target = total <= FOLD_TO * budget
        only_kept_turns_left = foldable - number <= KEEP_TURNS
        if reached_target or (only_kept_turns_left and total <= budget):
            return number
    return foldable


def turns_to_leave_out(turn_tokens: Sequence[int], *, fixed_tokens: int, budget: int) -> int:
    """The fewest of the oldest turns to leave out so that the rest fits, the current turn always staying."""
    total = fixed_tokens + sum(turn_tokens)
    number = 0
    while total > budget and number < len(turn_tokens) - 1:
        total -= turn_tokens[number]
        number += 1
    return number
