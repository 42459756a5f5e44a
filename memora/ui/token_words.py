"""Numbers of tokens in words; each says who counted: the server with its answer, the server when asked, or we."""

from __future__ import annotations

from memora.context.calibration import Calibration, is_plausible
from memora.i18n import Translator, mark
from memora.model import TokenSource, Usage
from memora.turn.spans import ContextSpan
from memora.ui.numbers import percentage, signed, whole

_SOURCE: dict[TokenSource, str] = {
    "reported": mark("reported by the server"),
    "counted": mark("counted by the server"),
    "estimated": mark("estimated here"),
}


def total_words(usage: Usage, _: Translator) -> str:
    """The total, with a sign before it where it is an estimate."""
    return about(usage.total_tokens, source=usage.source, _=_)


def about(tokens: int, *, source: TokenSource, _: Translator) -> str:
    """A number of tokens from a ``source``."""
    sign = "≈ " if source == "estimated" else ""
    return sign + _("{n} tokens").format(n=whole(tokens, _))


def usage_line(usage: Usage, _: Translator) -> str:
    """All that is known of a usage."""
    parts = [
        _("input {n}").format(n=whole(usage.input_tokens, _)),
        _("cached {n}").format(n=whole(usage.cached_tokens, _)),
        _("output {n}").format(n=whole(usage.output_tokens, _)),
        _("reasoning {n}").format(n=whole(usage.reasoning_tokens, _)),
    ]
    told = f"{total_words(usage, _)} ({' / '.join(parts)})"
    if usage.input_source == usage.output_source:
        return _("{tokens}, {source}").format(tokens=told, source=_(_SOURCE[usage.input_source]))
    return _("{tokens}, input {input_source}, output {output_source}").format(
        tokens=told, input_source=_(_SOURCE[usage.input_source]), output_source=_(_SOURCE[usage.output_source])
    )


def estimate_words(calibration: Calibration, _: Translator) -> str:
    """How the numbers of a context window came about."""
    if not calibration.is_in_effect:
        return _("estimated here (tiktoken)")
    return _.plural(
        "estimated here (tiktoken, ×{factor} after {n} answer)",
        "estimated here (tiktoken, ×{factor} after {n} answers)",
        calibration.answers,
    ).format(factor=f"{calibration.factor:.2f}", n=calibration.answers)


def server_words(span: ContextSpan, _: Translator) -> str:
    """What the server said of the same input, and how far off the estimate was; empty until it has said it."""
    if span.server is None:
        return ""
    estimated = span.stats.input_tokens
    told = _("{n} tokens were sent ({source}); the estimate was {estimated}, the difference is {difference}").format(
        n=whole(span.server.tokens, _),
        source=_(_SOURCE[span.server.source]),
        estimated=whole(estimated, _),
        difference=signed(span.server.difference, _),
    )
    if estimated and span.server.difference:
        told = f"{told} ({percentage(span.server.difference / estimated, _)})"
    uncorrected = span.stats.calibration.uncorrected(estimated)
    if is_plausible(estimated_tokens=uncorrected, server_tokens=span.server.tokens):
        return told
    return _("{told}: too far off to learn from").format(told=told)
