"""Test connection on the page: each step in plain words, as it comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import streamlit as st

from memora.i18n import Translator, mark
from memora.model import CancelToken
from memora.turn.connection_check import Step, StepName, StepState
from memora.ui.markdown import as_plain
from memora.ui.sentences import sentence
from memora.ui.session import get_app, translate, user_id

_STEPS = "connection-steps"

_ICONS: dict[StepState, str] = {
    "ok": ":green[:material/check_circle:]",
    "partly": ":orange[:material/info:]",
    "failed": ":red[:material/error:]",
    "skipped": ":gray[:material/remove:]",
}

_TITLES: dict[StepName, str] = {
    "reach": mark("Server"),
    "model": mark("Model"),
    "answer": mark("Answer"),
    "stream": mark("Streaming"),
    "call": mark("Function call"),
    "result": mark("Second request"),
    "one_call": mark("Only one call"),
    "usage": mark("Tokens reported"),
    "structured": mark("Structured output"),
    "count": mark("Tokens counted on request"),
}

_WORDS: dict[tuple[StepName, str], str] = {
    ("reach", ""): mark("The server answers. Models in its list: {count}."),
    ("reach", "no_model_list"): mark(
        "The server answers, but it has no list of models. Type the model's name yourself."
    ),
    ("model", ""): mark("“{model}” is there."),
    ("model", "model_not_listed"): mark("“{model}” is not in the server's list. It has, for example: {some}."),
    ("answer", ""): mark("The model answers through the Responses API."),
    ("stream", ""): mark("Answers appear word by word."),
    ("stream", "in_one_piece"): mark("Answers come in one piece, not word by word."),
    ("call", ""): mark("The model asked for the function, with arguments that fit."),
    ("call", "no_call"): mark("The model answered without the function. Memora works, but counting is guessed."),
    ("call", "bad_call"): mark("The model asked for the function in a way that does not fit. It was told so: {output}"),
    ("result", ""): mark("The answer uses the function's result."),
    ("result", "result_unused"): mark("The model answers, but does not use the function's result."),
    ("result", "no_second_answer"): mark("There is no whole answer after the function call. {reason}"),
    ("one_call", ""): mark("After the result, the model calls nothing more."),
    ("one_call", "no_tools_offered"): mark(
        "This server would let the model call again, so Memora offers no function in the second request."
    ),
    ("one_call", "calls_again"): mark(
        "The model called again although it may not. From now on Memora offers no function in the second request."
    ),
    ("usage", ""): mark("The server reports the tokens of each request."),
    ("usage", "no_usage"): mark(
        "The server does not report tokens. Memora counts them itself and marks them as estimates."
    ),
    ("structured", ""): mark("Answers follow a given form at once; memories can be learned."),
    ("structured", "structured_at_second_try"): mark(
        "Answers follow a given form at the second try. Learning takes longer."
    ),
    ("structured", "not_structured"): mark(
        "Answers do not follow a given form. Chatting works, but little can be learned from it."
    ),
    ("structured", "not_found_out"): mark("This could not be found out: {reason}"),
    ("count", "not_found_out"): mark("This could not be found out: {reason}"),
    ("count", ""): mark("The server counts the tokens of a request exactly when it is asked to."),
    ("count", "no_count"): mark("The server has no route that counts tokens. Memora estimates them."),
}

_SKIPPED = mark("not tested")


def draw_check(*, run: bool) -> None:
    """The steps of the last check; with ``run`` a new one, each step as it comes. Leaving the page ends it."""
    if run:
        _run_check()
    elif steps := st.session_state.get(_STEPS):
        with _frame(steps):
            for step in steps:
                _draw_step(step)


def forget_check() -> None:
    """The connection has changed: what was found does not hold any more."""
    st.session_state.pop(_STEPS, None)


def _run_check() -> None:
    _ = translate()
    cancel, steps = CancelToken(), []
    frame = st.status(_("Testing the connection…"), expanded=True)
    try:
        with frame, st.container(key="connection-check", gap="xsmall"):
            for step in get_app().check_connection(user_id=user_id(), cancel=cancel):
                _draw_step(step)
                steps.append(step)
    finally:
        cancel.cancel()
    frame.update(label=verdict(steps, _), state=_state(steps), expanded=True)
    st.session_state[_STEPS] = steps


@contextmanager
def _frame(steps: list[Step]) -> Iterator[None]:
    frame = st.status(verdict(steps, translate()), expanded=True, state=_state(steps))
    with frame, st.container(key="connection-check", gap="xsmall"):
        yield


def _state(steps: list[Step]) -> Literal["error", "complete"]:
    return "error" if any(step.state == "failed" for step in steps) else "complete"


def _draw_step(step: Step) -> None:
    st.markdown(step_line(step, translate()), anchors=False)


def step_line(step: Step, _: Translator) -> str:
    """One step as a line of Markdown: icon, title, sentence."""
    return f"{_ICONS[step.state]} **{_(_TITLES[step.name])}** · {as_plain(_told(step, _))}"


def verdict(steps: list[Step], _: Translator) -> str:
    """What the steps come to."""
    states = {step.state for step in steps}
    if "failed" in states:
        return _("Memora cannot chat over this connection.")
    if "partly" in states:
        return _("Memora works with this server; what is different is marked.")
    return _("Everything works.")


def _told(step: Step, _: Translator) -> str:
    if step.state == "skipped":
        return _(_SKIPPED)
    reason = sentence(step.failure, _) if step.failure else ""
    if step.state == "failed":
        return reason
    params = defaultdict(lambda: "?", {name: str(value) for name, value in step.params.items()}, reason=reason)
    return _(_WORDS[step.name, step.note]).format_map(params).strip()
