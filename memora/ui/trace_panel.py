"""The trace panel: one turn as a timeline. Draws a `Trace`, and cannot tell a live one from a stored one."""

from __future__ import annotations

from typing import assert_never

import streamlit as st

from memora.i18n import Translator, mark
from memora.memory.values import RecalledMemory
from memora.turn.events import FINAL_STATES, TurnState
from memora.turn.spans import (
    CallSpan,
    ContextSpan,
    LearningSpan,
    RecallSpan,
    RequestSpan,
    SummarySpan,
)
from memora.turn.trace import Trace, TraceDigest
from memora.ui import labels
from memora.ui.markdown import as_name, as_plain
from memora.ui.numbers import duration
from memora.ui.sentences import degraded_sentence
from memora.ui.session import translate
from memora.ui.token_words import about, usage_line
from memora.ui.trace_context import draw_context, draw_summary
from memora.ui.trace_json import readable, trace_as_json
from memora.ui.trace_learning import draw_learning
from memora.ui.trace_request import draw_request
from memora.ui.trace_step import draw_code, draw_failure, step

MATCHED_WORDS_SHOWN = 8

_STATE = {
    "queued": mark("waiting"),
    "running": mark("answering"),
    "done": mark("done"),
    "stopped": mark("stopped"),
    "cut_off": mark("cut off"),
    "failed": mark("failed"),
    "interrupted": mark("interrupted"),
}


def trace_label(digest: TraceDigest, state: TurnState, _: Translator) -> str:
    """The closed panel in one line; while the turn runs, only that it does."""
    parts = [_("Trace")] if state == "done" else [_("Trace"), _(_STATE[state])]
    if state not in FINAL_STATES:
        return " · ".join(parts)
    if digest.recalled:
        parts.append(
            _.plural("{n} memory recalled", "{n} memories recalled", digest.recalled).format(n=digest.recalled)
        )
    parts += map(as_name, digest.tools)
    if digest.requests:
        parts.append(_.plural("{n} request", "{n} requests", digest.requests).format(n=digest.requests))
    if digest.total_tokens:
        parts.append(about(digest.total_tokens, source=digest.source, _=_))
    if digest.took_ms is not None:
        parts.append(duration(digest.took_ms, _))
    if digest.remembered:
        parts.append(_.plural("{n} remembered", "{n} remembered", digest.remembered).format(n=digest.remembered))
    return " · ".join(parts)


def draw_trace(trace: Trace, *, turn_id: str) -> None:
    """The whole timeline with its sums, raw JSON and download."""
    calls_drawn = 0
    for span in trace.spans:
        if isinstance(span, CallSpan):
            _draw_call(span, key=_call_key(span.call_id, turn_id=turn_id, number=calls_drawn))
            calls_drawn += 1
        else:
            _draw_span(span)
    _draw_sums(trace, turn_id=turn_id)


def _draw_span(span: RecallSpan | SummarySpan | ContextSpan | RequestSpan | LearningSpan) -> None:
    match span:
        case RecallSpan():
            _draw_recall(span)
        case SummarySpan():
            draw_summary(span)
        case ContextSpan():
            draw_context(span)
        case RequestSpan():
            draw_request(span)
        case LearningSpan():
            draw_learning(span)
        case _:
            assert_never(span)


# Recall


def _draw_recall(span: RecallSpan) -> None:
    _ = translate()
    count = len(span.memories)
    facts = [
        _.plural("{n} memory", "{n} memories", count).format(n=count) if span.status == "ok" else "",
        duration(span.took_ms, _),
    ]
    with step(_("Recall"), *facts, icon=":material/manage_search:", status=span.status, expanded=count > 0):
        if span.failure:
            draw_failure(span.failure)
        if not span.memory_enabled:
            st.caption(_("Memory is switched off in the settings."))
        if span.degraded:
            st.caption(as_plain(degraded_sentence(span.degraded, _)))
        for recalled in span.memories:
            _draw_recalled(recalled, was_used=recalled.memory.id in span.touched)
        if span.status == "ok" and span.memory_enabled and not span.memories:
            st.caption(_("Nothing that is remembered fits this message."))
        if span.profile_fields:
            told = _.plural("{n} profile field", "{n} profile fields", span.profile_fields).format(
                n=span.profile_fields
            )
            st.caption(_("From the profile: {fields}.").format(fields=told))
        if span.touch_failure:
            st.caption(_("The memories could not be marked as used; the answer went on without that."))
        if span.timings_ms:
            steps = " · ".join(
                f"{_(labels.RECALL_STEP.get(name, name))} {duration(took, _)}" for name, took in span.timings_ms.items()
            )
            st.caption(as_plain(steps))


def _draw_recalled(recalled: RecalledMemory, *, was_used: bool) -> None:
    _ = translate()
    memory = recalled.memory
    score = f":blue-badge[{recalled.score:.2f}]"
    st.markdown(f"{score} {as_plain(memory.content)}", anchors=False)
    parts = sorted((part for part in recalled.parts if part.value), key=lambda part: -part.value * part.weight)
    why = [f"{_(labels.SCORE_PART.get(part.name, part.name))} {part.value:.2f} × {part.weight:g}" for part in parts]
    if recalled.matched_words:
        words = _(", ").join(recalled.matched_words[:MATCHED_WORDS_SHOWN])
        why.append(_("matched words: {words}").format(words=words))
    why.append(_("used in the answer's context") if was_used else _("not put into the context"))
    st.caption(as_plain(" · ".join([_(labels.CATEGORY[memory.category]), *why])))


# The function call


def _draw_call(span: CallSpan, *, key: str) -> None:
    _ = translate()
    result = {"ok": _("ok"), "error": _("error"), "running": _("running"), "skipped": _("not executed")}[span.status]
    facts = (as_name(span.name), result, duration(span.took_ms, _) if span.took_ms is not None else "")
    with (
        step("function_call", *facts, icon=":material/function:", status=span.status, expanded=True),
        st.container(key=key, gap="xsmall"),
    ):
        st.caption(f"call_id {as_name(span.call_id)}")
        if span.not_executed:
            st.caption(_(labels.NOT_EXECUTED.get(span.not_executed, labels.NOT_EXECUTED["only_one_call_per_turn"])))
        st.caption("arguments")
        draw_code(readable(span.arguments) if span.arguments else "…")
        if span.output:
            st.caption("function_call_output")
            draw_code(readable(span.output))


def _call_key(call_id: str, *, turn_id: str, number: int) -> str:
    """``function-call-<call id>``, made unique where a server uses an id twice on the page."""
    owners: dict[str, tuple[str, int]] = st.session_state.setdefault("function-call-owners", {})
    owner = owners.setdefault(call_id, (turn_id, number))
    plain = f"function-call-{call_id}"
    return plain if owner == (turn_id, number) else f"{plain}-{turn_id}-{number}"


# Sums, raw view, download


def _draw_sums(trace: Trace, *, turn_id: str) -> None:
    _ = translate()
    if trace.took_ms is None:
        return
    facts = [_("Whole answer"), usage_line(trace.usage, _), duration(trace.took_ms, _)]
    st.caption(" · ".join(facts))
    text = trace_as_json(trace)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.download_button(
            _("Download trace"),
            text,
            file_name=f"memora-trace-{turn_id}.json",
            mime="application/json",
            key=f"trace-download-{turn_id}",
            on_click="ignore",
            icon=":material/download:",
            type="tertiary",
        )
    with st.expander(_("Raw JSON of the whole turn"), type="compact"):
        draw_code(text)
