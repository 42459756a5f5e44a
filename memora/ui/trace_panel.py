"""The trace panel: one turn as a timeline. Draws a `Trace`, and cannot tell a live one from a stored one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import assert_never

import streamlit as st

from memora.errors import Failure
from memora.i18n import Translator, mark
from memora.memory.values import MemoryReconciliationDecision, ProfileUpdate, RecalledMemory
from memora.model import Item, Usage
from memora.turn.events import FINAL_STATES, ContextPrepared, TurnState
from memora.turn.trace import (
    CallSpan,
    ContextSpan,
    LearningSpan,
    RecallSpan,
    RequestSpan,
    SpanStatus,
    SummarySpan,
    Trace,
    TraceDigest,
)
from memora.ui import labels
from memora.ui.budget_bar import budget_bar
from memora.ui.markdown import as_plain
from memora.ui.numbers import duration, whole
from memora.ui.sentences import degraded_sentence, sentence
from memora.ui.session import translate
from memora.ui.trace_json import cut, indented, readable, trace_as_json

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
    parts += [f"`{name}`" for name in digest.tools]
    if digest.requests:
        parts.append(_.plural("{n} request", "{n} requests", digest.requests).format(n=digest.requests))
    if digest.total_tokens:
        about = "≈ " if digest.estimated else ""
        parts.append(about + _("{n} tokens").format(n=whole(digest.total_tokens, _)))
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
            _draw_summary(span)
        case ContextSpan():
            _draw_context(span)
        case RequestSpan():
            _draw_request(span)
        case LearningSpan():
            _draw_learning(span)
        case _:
            assert_never(span)


@contextmanager
def _step(title: str, *facts: str, icon: str, status: SpanStatus, expanded: bool = False) -> Iterator[None]:
    """One step of the timeline. ``facts`` follow the title in small grey letters."""
    marks: dict[SpanStatus, str] = {"running": "spinner", "error": ":material/error:", "ok": icon, "skipped": icon}
    told = " · ".join(fact for fact in facts if fact)
    label = f"**{title}**" + (f" :gray[:small[{told}]]" if told else "")
    with (
        st.expander(label, icon=marks[status], type="step", expanded=expanded or status in ("error", "skipped")),
        st.container(gap="xsmall"),
    ):
        yield


# Recall


def _draw_recall(span: RecallSpan) -> None:
    _ = translate()
    count = len(span.memories)
    facts = [
        _.plural("{n} memory", "{n} memories", count).format(n=count) if span.status == "ok" else "",
        duration(span.took_ms, _),
    ]
    with _step(_("Recall"), *facts, icon=":material/manage_search:", status=span.status, expanded=count > 0):
        if span.failure:
            _draw_failure(span.failure)
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


# Context


def _draw_summary(span: SummarySpan) -> None:
    _ = translate()
    messages = _.plural("{n} message", "{n} messages", span.messages).format(n=span.messages)
    with _step(_("Summary"), messages, duration(span.took_ms, _), icon=":material/compress:", status=span.status):
        if span.failure:
            _draw_failure(span.failure)
            st.caption(_("These messages were left out this time; nothing is lost, and the next turn tries again."))
        if span.summary:
            st.markdown(as_plain(span.summary), anchors=False)
        if span.usage:
            st.caption(usage_line(span.usage, _))


def _draw_context(span: ContextSpan) -> None:
    _ = translate()
    stats = span.stats
    filled = _("{used} of {total} tokens").format(
        used=whole(stats.estimated_input_tokens, _), total=whole(stats.max_input_tokens, _)
    )
    facts = (filled, duration(span.took_ms, _))
    with _step(_("Context window"), *facts, icon=":material/data_usage:", status=span.status, expanded=True):
        st.html(budget_bar(stats, _))
        st.caption(" · ".join(_context_counts(stats, _)))


def _context_counts(stats: ContextPrepared, _: Translator) -> list[str]:
    """What was sent, folded and left out, as far as there is something to count."""
    counts = [
        _.plural("{n} message sent", "{n} messages sent", stats.context_messages).format(n=stats.context_messages)
    ]
    if folded := stats.newly_summarized_count:
        counts.append(_.plural("{n} message summarised", "{n} messages summarised", folded).format(n=folded))
    if left_out := stats.left_out_messages:
        counts.append(_.plural("{n} old message left out", "{n} old messages left out", left_out).format(n=left_out))
    if spent := stats.summary_token_usage.total_tokens:
        counts.append(_("the summary took {n} tokens").format(n=whole(spent, _)))
    return counts


# Requests


def _draw_request(span: RequestSpan) -> None:
    _ = translate()
    tokens = _("{n} tokens").format(n=whole(span.usage.total_tokens, _)) if span.usage else ""
    title = _("Request {number}").format(number=span.number)
    with _step(title, tokens, duration(span.took_ms, _), icon=":material/send:", status=span.status):
        if span.failure:
            _draw_failure(span.failure)
        _draw_request_facts(span)
        sent, came_back, raw = st.tabs([_("Sent"), _("Came back"), _("Raw JSON")])
        with sent:
            _draw_body(span)
        with came_back:
            _draw_items(span.output)
            if span.text and not span.output:
                st.markdown(as_plain(cut(span.text)[0]), anchors=False)
        with raw:
            _draw_code(indented({"request": span.body, "output": list(span.output)}))


def _draw_request_facts(span: RequestSpan) -> None:
    _ = translate()
    model = span.model or str(span.body.get("model", ""))
    facts = [f"`{model}`"] if model else []
    if span.usage:
        facts.append(usage_line(span.usage, _))
    if span.first_token_ms is not None:
        facts.append(_("first words after {time}").format(time=duration(span.first_token_ms, _)))
    if span.response_status and span.response_status != "completed":
        facts.append(_("status: {status}").format(status=span.response_status))
    if span.dropped:
        facts.append(_("left out, because the server refuses it: {names}").format(names=", ".join(span.dropped)))
    if facts:
        st.caption(" · ".join(facts))


def _draw_body(span: RequestSpan) -> None:
    _ = translate()
    if span.number > 1:
        st.caption(_("The input of request 1, and in addition:"))
    _draw_items(tuple(item for item in span.body.get("input") or () if isinstance(item, dict)))
    instructions = span.body.get("instructions")
    if instructions and span.number == 1:
        st.caption(_("System prompt"))
        _draw_code(str(instructions), language=None)


def _draw_items(items: tuple[Item, ...]) -> None:
    """Items one under the other: who or what, and the text of it."""
    for item in items:
        kind = item.get("role") or item.get("type") or "item"
        st.caption(f"`{kind}`")
        _draw_code(_item_text(item), language=None)


def _item_text(item: Item) -> str:
    match item.get("type", "message"):
        case "message":
            content = item.get("content")
            if isinstance(content, str):
                return content
            parts = (part for part in content or () if isinstance(part, dict))
            return "\n".join(str(part.get("text") or part.get("refusal") or "") for part in parts)
        case "function_call":
            return f"{item.get('name')}({item.get('arguments')})\ncall_id: {item.get('call_id')}"
        case "function_call_output":
            return f"{item.get('output')}\ncall_id: {item.get('call_id')}"
        case _:
            return indented(item)


# The function call


def _draw_call(span: CallSpan, *, key: str) -> None:
    _ = translate()
    result = {"ok": _("ok"), "error": _("error"), "running": _("running"), "skipped": _("not executed")}[span.status]
    facts = (f"`{span.name}`", result, duration(span.took_ms, _) if span.took_ms is not None else "")
    with (
        _step("function_call", *facts, icon=":material/function:", status=span.status, expanded=True),
        st.container(key=key, gap="xsmall"),
    ):
        st.caption(f"call_id `{span.call_id}`")
        if span.not_executed:
            st.caption(_(labels.NOT_EXECUTED.get(span.not_executed, labels.NOT_EXECUTED["only_one_call_per_turn"])))
        st.caption("arguments")
        _draw_code(readable(span.arguments) if span.arguments else "…")
        if span.output:
            st.caption("function_call_output")
            _draw_code(readable(span.output))


def _call_key(call_id: str, *, turn_id: str, number: int) -> str:
    """``function-call-<call id>``, made unique where a server uses an id twice on the page."""
    owners: dict[str, tuple[str, int]] = st.session_state.setdefault("function-call-owners", {})
    owner = owners.setdefault(call_id, (turn_id, number))
    plain = f"function-call-{call_id}"
    return plain if owner == (turn_id, number) else f"{plain}-{turn_id}-{number}"


# The write path


def _draw_learning(span: LearningSpan) -> None:
    _ = translate()
    kept = [change for change in span.changes if change.action != "skip"]
    told = _.plural("{n} remembered", "{n} remembered", len(kept)).format(n=len(kept)) if kept else _("nothing new")
    facts = [told if span.status == "ok" else "", duration(span.took_ms, _) if span.took_ms else ""]
    has_body = bool(span.accepted or span.refused or span.profile)
    with _step(_("Remember"), *facts, icon=":material/bookmark_added:", status=span.status, expanded=has_body):
        if span.failure:
            _draw_failure(span.failure)
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
        _draw_code(text)


def usage_line(usage: Usage, _: Translator) -> str:
    """Tokens in words; an estimate is called one."""
    parts = [
        _("input {n}").format(n=whole(usage.input_tokens, _)),
        _("cached {n}").format(n=whole(usage.cached_tokens, _)),
        _("output {n}").format(n=whole(usage.output_tokens, _)),
        _("reasoning {n}").format(n=whole(usage.reasoning_tokens, _)),
    ]
    total = _("{n} tokens").format(n=whole(usage.total_tokens, _))
    told = f"{total} ({' / '.join(parts)})"
    return _("{tokens}, estimated").format(tokens=told) if usage.estimated else told


def _draw_code(text: str, *, language: str | None = "json") -> None:
    _ = translate()
    shown, missing = cut(text)
    st.code(shown, language=language, wrap_lines=True)
    if missing:
        left_out = _("{n} more characters are in the download.").format(n=whole(missing, _))
        st.caption(left_out)


def _draw_failure(failure: Failure) -> None:
    st.caption(f":red[{as_plain(sentence(failure, translate()))}]")
    if failure.detail:
        st.caption(as_plain(failure.detail))
