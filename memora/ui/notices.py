"""What the pages say about the app's own state, and errors in words."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from memora.errors import Failure, MemoraError
from memora.i18n import Translator
from memora.status import AppStatus
from memora.ui.markdown import as_plain
from memora.ui.numbers import whole
from memora.ui.sentences import sentence
from memora.ui.session import get_app, translate, user_id

log = logging.getLogger(__name__)

INDEX_LOOK_SECONDS = 2.0
"""How often the page looks whether the index is ready."""


@contextmanager
def told_in_words() -> Iterator[None]:
    """Draw whatever goes wrong inside as a sentence: it costs its own place and no other."""
    try:
        yield
    except MemoraError as error:
        _draw_error(error.as_failure())
    except Exception as error:
        log.exception("drawing failed")
        _draw_error(Failure(code="internal", detail=type(error).__name__))


def _draw_error(failure: Failure) -> None:
    st.error(as_plain(sentence(failure, translate())), icon=":material/error:")


def draw_notices() -> None:
    """Demo model, recorder and index, where there is something to say."""
    # In a container of their own: when one goes, what follows stays where it is and is not shown twice for a moment.
    with st.container():
        if get_app().status(user_id=user_id()).is_demo:
            _draw_demo_notice()
        if get_app().cassettes.is_on:
            _draw_recording_notice()
        draw_index_notice()


def draw_index_notice() -> None:
    """The state of the memory index while it is not simply ready; it goes by itself when it is."""
    if get_app().status(user_id=user_id()).index != "ready":
        st.fragment(_draw_index_notice, run_every=INDEX_LOOK_SECONDS)()


def _draw_index_notice() -> None:
    told = index_notice(get_app().status(user_id=user_id()), translate())
    if not told:
        st.rerun()
    with st.container(key="index-notice"):
        st.caption(f":material/info: {told}")


def _draw_demo_notice() -> None:
    _ = translate()
    with st.container(key="demo-notice", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(
            ":material/science: " + _("**Demo model.** The answers are scripted, not written by a language model.")
        )
        st.page_link("pages/settings.py", label=_("Connect a real model"), icon=":material/cable:")


def _draw_recording_notice() -> None:
    """So that nobody forgets it."""
    _ = translate()
    with st.container(key="recording-notice", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.markdown(":material/fiber_manual_record: " + _("Recording for a bug report."))
        st.page_link("pages/settings.py", label=_("Stop or look at it"), icon=":material/tune:")


def index_notice(status: AppStatus, _: Translator) -> str:
    """What is worth knowing about the memory index; empty when it is ready."""
    match status.index:
        case "ready":
            return ""
        case "starting":
            return _("Memory search is starting. Until it is ready, memories are found by their words.")
        case "rebuilding" if status.index_progress:
            done, total = status.index_progress
            return _("The memory index is being rebuilt: {done} of {total}.").format(
                done=whole(done, _), total=whole(total, _)
            )
        case "rebuilding":
            return _("The memory index is being rebuilt.")
        case _:
            return _(
                "The memory index cannot be used at the moment. Memories are found by their words, "
                "and the index is rebuilt from the record."
            )
