"""What the sections of the trace panel are drawn with: a step of the timeline, code, a failure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from memora.errors import Failure
from memora.turn.spans import SpanStatus
from memora.ui.markdown import as_plain
from memora.ui.numbers import whole
from memora.ui.sentences import sentence
from memora.ui.session import translate
from memora.ui.trace_json import cut


@contextmanager
def step(title: str, *facts: str, icon: str, status: SpanStatus, expanded: bool = False) -> Iterator[None]:
    """One step of the timeline. ``facts`` follow the title in small grey letters."""
    marks: dict[SpanStatus, str] = {"running": "spinner", "error": ":material/error:", "ok": icon, "skipped": icon}
    told = " · ".join(fact for fact in facts if fact)
    label = f"**{title}**" + (f" :gray[:small[{told}]]" if told else "")
    with (
        st.expander(label, icon=marks[status], type="step", expanded=expanded or status in ("error", "skipped")),
        st.container(gap="xsmall"),
    ):
        yield


def draw_code(text: str, *, language: str | None = "json") -> None:
    """A text as it is, cut where it is huge."""
    _ = translate()
    shown, missing = cut(text)
    st.code(shown, language=language, wrap_lines=True)
    if missing:
        left_out = _("{n} more characters are in the download.").format(n=whole(missing, _))
        st.caption(left_out)


def draw_failure(failure: Failure) -> None:
    """What went wrong, in words, and the technical line."""
    st.caption(f":red[{as_plain(sentence(failure, translate()))}]")
    if failure.detail:
        st.caption(as_plain(failure.detail))
