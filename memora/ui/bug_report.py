"""The bug report: a switch for the recorder, what it has kept, and what may be done with it."""

from __future__ import annotations

import json

import streamlit as st

from memora.i18n import Translator, mark
from memora.providers.cassette import Reason, RecordingState
from memora.ui.callbacks import told
from memora.ui.markdown import as_plain
from memora.ui.notices import told_in_words
from memora.ui.numbers import full_moment, whole
from memora.ui.session import get_app, now, timezone, translate
from memora.ui.trace_step import draw_code

SWITCH_KEY = "bug-report-record"
_REASONS: dict[Reason, str] = {
    "": mark("The recording has failed."),
    "disk": mark("The recording has failed: the disk does not take it. Check the free space, then switch it on again."),
    "too_much": mark("The recording has ended: more was exchanged than could be masked in time. Switch it on again."),
    "unmaskable": mark("The recording has ended: something came that could not be masked, and was not kept."),
}


def draw_bug_report() -> None:
    """The whole group of the settings page."""
    _ = translate()
    state = get_app().cassettes.state
    st.subheader(_("Bug report"), anchor=False)
    with st.container(key="bug-report"):
        st.session_state[SWITCH_KEY] = state.phase == "recording"
        st.toggle(
            _("Record exchanges for a bug report"),
            key=SWITCH_KEY,
            on_change=_switch,
            disabled=state.phase == "full",
        )
        st.caption(
            _(
                "Keeps on this computer what Memora and the server send each other. **Removed** before it is written: "
                "keys, addresses, and every letter and digit that you or the model have written, memories included "
                "(“Hi Mei” becomes “Xx Xxx”). **Kept**: lengths, numbers and times, the names of models and tools, "
                "Memora’s own instructions, and the server’s error messages without what they repeat of yours."
            )
        )
        if said := told_state(state, _):
            st.markdown(said)
        if state.path:
            _draw_actions()
            _draw_preview()
        elif get_app().cassettes.can_restore:
            _draw_undo()


def told_state(state: RecordingState, _: Translator) -> str:
    """One line about the recorder; empty where there is nothing to say."""
    kept = _.plural("{n} exchange, {kilobytes} kB", "{n} exchanges, {kilobytes} kB", state.exchanges).format(
        n=whole(state.exchanges, _), kilobytes=whole(-(-state.size // 1_000), _)
    )
    match state.phase:
        case "recording" if state.since:
            since = full_moment(state.since, _, zone=timezone())
            return ":material/fiber_manual_record: " + _("Recording since {since}: {kept}.").format(
                since=since, kept=kept
            )
        case "full":
            return ":material/info: " + _("The recording is full ({kept}). Download it, then delete it.").format(
                kept=kept
            )
        case "failed":
            detail = f" ({as_plain(state.detail)})" if state.detail else ""
            return ":material/error: " + _(_REASONS[state.reason]) + detail
        case _:
            return _("Recorded: {kept}.").format(kept=kept) if state.path else ""


def _draw_preview() -> None:
    _ = translate()
    first = None
    with told_in_words():
        first = get_app().cassettes.first_exchange()
    if first is None:
        return
    with st.expander(_("Look at the first exchange before you send it"), type="compact"):
        draw_code(json.dumps(first, ensure_ascii=False, indent=2))


def _draw_actions() -> None:
    _ = translate()
    with st.container(horizontal=True, gap="small"):
        st.download_button(
            _("Download the recording"),
            get_app().cassettes.text,
            file_name=f"memora-bug-report-{now().astimezone(timezone()):%Y-%m-%d}.jsonl",
            mime="application/jsonl",
            key="bug-report-download",
            on_click="ignore",
            icon=":material/download:",
        )
        st.button(
            _("Delete the recording"),
            key="bug-report-delete",
            icon=":material/delete:",
            type="tertiary",
            on_click=_delete,
        )


def _draw_undo() -> None:
    _ = translate()
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(":material/delete: " + _("The recording is deleted."))
        st.button(_("Undo"), key="bug-report-undo", icon=":material/undo:", type="tertiary", on_click=_restore)


@told
def _switch() -> None:
    if st.session_state[SWITCH_KEY]:
        get_app().cassettes.start()
    else:
        get_app().cassettes.stop()


@told
def _delete() -> None:
    get_app().cassettes.delete()


@told
def _restore() -> None:
    get_app().cassettes.restore()
