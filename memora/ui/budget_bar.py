"""The token budget of one request as a picture: what fills it, what is kept back, what is free."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from memora.i18n import Translator
from memora.turn.events import ContextPrepared
from memora.ui.labels import CONTEXT_PART
from memora.ui.numbers import whole


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One stretch of the bar. ``kind`` is its CSS class; ``tokens`` its length."""

    kind: str
    name: str
    tokens: int


def segments(stats: ContextPrepared, _: Translator) -> tuple[Segment, ...]:
    """The stretches of the bar in order: each kind of content, the reserve, what is free."""
    parts = {name: tokens for name, tokens in stats.parts.items() if tokens > 0}
    parts = parts or {"messages": stats.input_tokens}
    used = [
        Segment(kind=f"part-{number % 5}", name=_(CONTEXT_PART.get(name, name)), tokens=tokens)
        for number, (name, tokens) in enumerate(parts.items())
    ]
    free = max(0, stats.max_input_tokens - sum(parts.values()) - stats.reserved_input_tokens)
    return (
        *used,
        Segment(kind="reserved", name=_("reserved for the tool"), tokens=stats.reserved_input_tokens),
        Segment(kind="free", name=_("free"), tokens=free),
    )


def budget_bar(stats: ContextPrepared, _: Translator) -> str:
    """The bar and its legend as HTML; every word in it is escaped."""
    drawn = segments(stats, _)
    total = max(1, sum(segment.tokens for segment in drawn))
    bar = "".join(
        f'<span class="{segment.kind}" style="width:{100 * segment.tokens / total:.2f}%"'
        f' title="{escape(segment.name)}: {segment.tokens}"></span>'
        for segment in drawn
    )
    legend = "".join(
        f'<li><i class="{segment.kind}"></i>{escape(segment.name)} <b>{whole(segment.tokens, _)}</b></li>'
        for segment in drawn
    )
    label = escape(_("Token budget: {total} tokens").format(total=whole(stats.max_input_tokens, _)))
    return (
        f'<div class="memora-budget" role="img" aria-label="{label}"><div class="bar">{bar}</div>'
        f"<ul>{legend}</ul></div>"
    )
