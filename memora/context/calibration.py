"""How a server's count of a request's input compares with our own, and what follows for the next estimates."""

from __future__ import annotations

from dataclasses import dataclass

MIN_ANSWERS = 3
"""Answers before a calibration takes effect: one odd count must not change what the next request holds."""

MEMORY = 20
"""How many answers count, more or less: each further one takes the weight of all earlier ones down by a 20th.

Long enough to even out single requests; and after a server has changed (another model under the same name,
another chat template), a few dozen answers put it right.
"""

PLAUSIBLE = (0.5, 3.0)
"""Server's count by ours. Tokenizers differ by less, also for Chinese; beyond, something else was counted.

As no other ratio is learned from, no correction can leave the upper bound.
"""


@dataclass(frozen=True, kw_only=True)
class Calibration:
    """What is known of one model at one server.

    ``estimated_tokens`` and ``server_tokens`` are sums over the same inputs, later ones weighing more: so long
    inputs, where it matters, count for more than short ones. ``answers`` is how many were learned from.
    """

    estimated_tokens: float = 0.0
    server_tokens: float = 0.0
    answers: int = 0

    @property
    def is_in_effect(self) -> bool:
        """Whether enough is known to correct an estimate."""
        return self.answers >= MIN_ANSWERS

    @property
    def factor(self) -> float:
        """What our estimates are multiplied with; 1 until enough is known.

        Never below 1: an estimate that is too high wastes a little room, one that is too low overfills the server's
        window, for good, because a request that is refused reports no count. A server may leave out what it had cached.
        """
        return max(1.0, self.server_tokens / self.estimated_tokens) if self.is_in_effect else 1.0

    def corrected(self, tokens: int) -> int:
        """Our estimate, as the server would count."""
        return round(tokens * self.factor)

    def uncorrected(self, tokens: int) -> int:
        """The estimate that became ``tokens``, give or take what rounding took."""
        return round(tokens / self.factor)

    def learned(self, *, estimated_tokens: int, server_tokens: int) -> Calibration:
        """After one more answer; the same where its count is nonsense.

        ``estimated_tokens`` is the uncorrected estimate of an input, ``server_tokens`` the server's count.
        """
        if not is_plausible(estimated_tokens=estimated_tokens, server_tokens=server_tokens):
            return self
        kept = 1 - 1 / MEMORY
        return Calibration(
            estimated_tokens=kept * self.estimated_tokens + estimated_tokens,
            server_tokens=kept * self.server_tokens + server_tokens,
            answers=self.answers + 1,
        )


def is_plausible(*, estimated_tokens: int, server_tokens: int) -> bool:
    """Whether the two numbers can be counts of the same input."""
    lowest, highest = PLAUSIBLE
    return estimated_tokens > 0 and lowest * estimated_tokens <= server_tokens <= highest * estimated_tokens
