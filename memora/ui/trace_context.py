"""The context window in the trace panel: what fills it, what was summarised, and how well it was estimated."""

from __future__ import annotations

import streamlit as st

from memora.i18n import Translator
from memora.turn.events import ContextPrepared
from memora.turn.spans import ContextSpan, SummarySpan
from memora.ui.budget_bar import budget_bar
from memora.ui.markdown import as_plain
from memora.ui.numbers import duration, whole
from memora.ui.session import translate
from memora.ui.token_words import estimate_words, server_words, total_words, usage_line
from memora.ui.trace_step import draw_failure, step


def draw_summary(span: SummarySpan) -> None:
    """The folding of old messages into the summary, or why it failed."""
    _ = translate()
    messages = _.plural("{n} message", "{n} messages", span.messages).format(n=span.messages)
    with step(_("Summary"), messages, duration(span.took_ms, _), icon=":material/compress:", status=span.status):
        if span.failure:
            draw_failure(span.failure)
            st.caption(_("These messages were left out this time; nothing is lost, and the next turn tries again."))
        if span.summary:
            st.markdown(as_plain(span.summary), anchors=False)
        if span.usage:
            st.caption(usage_line(span.usage, _))


def draw_context(span: ContextSpan) -> None:
    """The budget as a bar, what was sent, and how the estimate compares with what the server says."""
    _ = translate()
    stats = span.stats
    filled = "≈ " + _("{used} of {total} tokens").format(
        used=whole(stats.estimated_input_tokens, _), total=whole(stats.max_input_tokens, _)
    )
    facts = (filled, duration(span.took_ms, _))
    with step(_("Context window"), *facts, icon=":material/data_usage:", status=span.status, expanded=True):
        st.html(budget_bar(stats, _))
        st.caption(" · ".join(_context_counts(stats, _)))
        st.caption(estimate_words(stats.calibration, _))
        if told := server_words(span, _):
            st.caption(told)


def _context_counts(stats: ContextPrepared, _: Translator) -> list[str]:
    """What was sent, folded and left out, as far as there is something to count."""
    counts = [
        _.plural("{n} message sent", "{n} messages sent", stats.context_messages).format(n=stats.context_messages)
    ]
    if folded := stats.newly_summarized_count:
        counts.append(_.plural("{n} message summarised", "{n} messages summarised", folded).format(n=folded))
    if left_out := stats.left_out_messages:
        counts.append(_.plural("{n} old message left out", "{n} old messages left out", left_out).format(n=left_out))
    if stats.summary_token_usage.total_tokens:
        counts.append(_("the summary took {tokens}").format(tokens=total_words(stats.summary_token_usage, _)))
    return counts
