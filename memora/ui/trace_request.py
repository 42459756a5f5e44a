"""One request in the trace panel: what was sent, what came back, and both as JSON."""

from __future__ import annotations

import streamlit as st

from memora.model import Item
from memora.turn.spans import RequestSpan
from memora.ui.markdown import as_name, as_plain
from memora.ui.numbers import duration
from memora.ui.session import translate
from memora.ui.token_words import total_words, usage_line
from memora.ui.trace_json import cut, indented
from memora.ui.trace_step import draw_code, draw_failure, step


def draw_request(span: RequestSpan) -> None:
    """The request with its facts, its items, and its JSON."""
    _ = translate()
    tokens = total_words(span.usage, _) if span.usage else ""
    title = _("Request {number}").format(number=span.number)
    with step(title, tokens, duration(span.took_ms, _), icon=":material/send:", status=span.status):
        if span.failure:
            draw_failure(span.failure)
        _draw_request_facts(span)
        sent, came_back, raw = st.tabs([_("Sent"), _("Came back"), _("Raw JSON")])
        with sent:
            _draw_body(span)
        with came_back:
            _draw_items(span.output)
            if span.text and not span.output:
                st.markdown(as_plain(cut(span.text)[0]), anchors=False)
        with raw:
            draw_code(indented({"request": span.body, "output": list(span.output)}))


def _draw_request_facts(span: RequestSpan) -> None:
    _ = translate()
    model = span.model or str(span.body.get("model", ""))
    facts = [as_name(model)] if model else []
    if span.usage:
        facts.append(usage_line(span.usage, _))
    if span.first_token_ms is not None:
        facts.append(_("first words after {time}").format(time=duration(span.first_token_ms, _)))
    if span.response_status and span.response_status != "completed":
        facts.append(_("status: {status}").format(status=as_name(span.response_status)))
    if span.dropped:
        facts.append(
            _("left out, because the server refuses or ignores it: {names}").format(names=", ".join(span.dropped))
        )
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
        draw_code(str(instructions), language=None)


def _draw_items(items: tuple[Item, ...]) -> None:
    """Items one under the other: who or what, and the text of it."""
    for item in items:
        kind = item.get("role") or item.get("type") or "item"
        st.caption(as_name(str(kind)))
        draw_code(_item_text(item), language=None)


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
