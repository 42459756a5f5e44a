"""The write path in the trace panel: candidates, decisions, and what changed."""

from __future__ import annotations

import streamlit as st

from memora.memory.values import MemoryReconciliationDecision, ProfileUpdate
from memora.turn.spans import LearningSpan
from memora.ui import labels
from memora.ui.markdown import as_plain
from memora.ui.numbers import duration
from memora.ui.session import translate
from memora.ui.token_words import usage_line
from memora.ui.trace_step import draw_failure, step


def draw_learning(span: LearningSpan) -> None:
    """What the turn taught, how it was decided, and what that cost."""
    _ = translate()
    kept = [change for change in span.changes if change.action != "skip"]
    told = _.plural("{n} remembered", "{n} remembered", len(kept)).format(n=len(kept)) if kept else _("nothing new")
    facts = [told if span.status == "ok" else "", duration(span.took_ms, _) if span.took_ms else ""]
    has_body = bool(span.accepted or span.refused or span.profile)
    with step(_("Remember"), *facts, icon=":material/bookmark_added:", status=span.status, expanded=has_body):
        if span.failure:
            draw_failure(span.failure)
            if span.will_retry:
                st.caption(_("It is tried again by itself."))
        if span.skipped:
            st.caption(_(labels.LEARNING_SKIPPED.get(span.skipped, span.skipped)))
        _draw_candidates(span)
        for decision in span.decisions:
            _draw_decision(decision)
        for update in span.profile:
            _draw_profile_update(update, was_written=update in span.learned_profile)
        if span.already_done:
            st.caption(_("An earlier attempt had stored this already; nothing was written twice."))
        if span.status == "ok" and not has_body and not span.already_done:
            st.caption(_("Nothing lasting about you in this message."))
        for name, usage in ((_("extraction"), span.extraction_usage), (_("decision"), span.reconciliation_usage)):
            if usage:
                st.caption(f"{name}: {usage_line(usage, _)}")


def _draw_candidates(span: LearningSpan) -> None:
    _ = translate()
    decided = {decision.candidate for decision in span.decisions}
    for candidate in span.accepted:
        if candidate not in decided:
            _draw_finding("gray", _("candidate"), candidate.content)
            st.caption(as_plain(_("from “{quote}”").format(quote=candidate.quote)))
    for refused in span.refused:
        _draw_finding("red", _("refused"), refused.candidate.content)
        st.caption(as_plain(_(labels.REFUSAL[refused.reason])))


def _draw_decision(decision: MemoryReconciliationDecision) -> None:
    _ = translate()
    color = {"create": "green", "skip": "gray", "update": "orange"}[decision.action]
    verdict = f"{decision.action} · {_(labels.DECISION[decision.action])}"
    _draw_finding(color, verdict, decision.content or decision.candidate.content)
    if decision.action == "update" and decision.target_content:
        st.caption(as_plain(_("before: {content}").format(content=decision.target_content)))
    if decision.action == "skip" and decision.target_content:
        st.caption(as_plain(_("known as: {content}").format(content=decision.target_content)))
    candidate = decision.candidate
    why = [
        _("from “{quote}”").format(quote=candidate.quote),
        _(labels.CATEGORY[candidate.category]),
        _("importance {n}").format(n=candidate.importance),
        decision.reason or _(labels.DECIDED_BY[decision.decided_by]),
    ]
    st.caption(as_plain(" · ".join(why)))


def _draw_profile_update(update: ProfileUpdate, *, was_written: bool) -> None:
    """An update that was not written (not yet, or because its field is locked) is a candidate and no more."""
    _ = translate()
    color, badge = ("blue", _("profile")) if was_written else ("gray", _("candidate"))
    told = _("{field}: {value}").format(field=_(labels.PROFILE_FIELD[update.field]), value=update.value)
    _draw_finding(color, badge, told)
    st.caption(as_plain(_("from “{quote}”").format(quote=update.quote)))


def _draw_finding(color: str, badge: str, content: str) -> None:
    st.markdown(f":{color}-badge[{badge}] {as_plain(content)}", anchors=False)
