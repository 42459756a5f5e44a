"""The conversation: a window of its turns, each drawn by a fragment of its own."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import streamlit as st

from memora.errors import Failure, NotFound
from memora.i18n import Translator
from memora.turn.events import FINAL_STATES
from memora.turn.ports import Conversation, Turn
from memora.turn.spans import CallSpan, RecallSpan, SummarySpan
from memora.turn.trace import Trace
from memora.ui.callbacks import told
from memora.ui.live import LiveTurn, live_turn, pace
from memora.ui.markdown import as_markdown, as_plain
from memora.ui.notices import told_in_words
from memora.ui.sentences import RETRY_HELPS, sentence
from memora.ui.session import get_app, translate, user_id
from memora.ui.trace_panel import draw_trace, trace_label

WINDOW = 20
"""How many turns are drawn at first, and how many more with each click on "earlier"."""

_FAILURE_OF_STATE = {"stopped": "stopped", "cut_off": "stream_cut", "interrupted": "interrupted", "failed": "internal"}


def draw_conversation(conversation: Conversation) -> None:
    """The latest turns of ``conversation``, and a way to the earlier ones."""
    app, _ = get_app(), translate()
    window_key = f"window-{conversation.id}"
    window: int = st.session_state.get(window_key, WINDOW)
    turns = app.turns.turns(user_id=user_id(), conversation_id=conversation.id, before=None, limit=window + 1)
    if len(turns) > window:
        turns = turns[-window:]
        with st.container(key="earlier", horizontal_alignment="center"):
            if st.button(_("Show earlier messages"), icon=":material/history:", type="tertiary", key="show-earlier"):
                st.session_state[window_key] = window + WINDOW
                st.rerun()
    for turn in turns:
        # Wrapped here, not decorated: how often a turn is drawn again depends on the turn.
        every = pace(turn, app.runner.log(user_id=user_id(), turn_id=turn.id))
        # In a container of its own: a turn grows and shrinks, and what follows it stays where it is.
        with st.container(key=f"turn-{turn.id}"):
            st.fragment(_draw_turn, run_every=every)(turn, every)


def _draw_turn(drawn: Turn, every: float | None) -> None:
    """One turn. ``drawn`` is as of the last whole run; while it goes on (``every``), it is read again."""
    app = get_app()
    with told_in_words():
        turn, live, log = drawn, None, None
        if every is not None:
            log = app.runner.log(user_id=user_id(), turn_id=drawn.id)
            live = live_turn(drawn, log)
            turn = app.turns.turn(user_id=user_id(), turn_id=drawn.id)
        _draw_question(turn)
        answer = _draw_answer(turn, live)
        _draw_ending(turn, live)
        _draw_panel(turn, live)
        if live and turn.state not in FINAL_STATES and live.trace.state not in FINAL_STATES:
            _draw_stop(turn, live)
            live.follow(lambda trace: _show_text(answer, trace))
        if pace(turn, log) != every:
            st.rerun()


def _draw_question(turn: Turn) -> None:
    with st.container(key=f"message-{turn.user_message_id}"), st.chat_message("user"):
        st.markdown(as_plain(turn.user_message), anchors=False)


def _draw_answer(turn: Turn, live: LiveTurn | None) -> st.delta_generator.DeltaGenerator:
    """The answer's text; returns the element, so that arriving text can replace it without a flicker."""
    message_key = f"message-{turn.reply_message_id or 'reply-' + turn.id}"
    with st.container(key=message_key), st.chat_message("assistant"), st.container(key=f"answer-{turn.id}"):
        if turn.state in FINAL_STATES:
            return st.markdown(_answer(turn.reply), anchors=False)
        trace = live.trace if live else Trace()
        return st.markdown(_arriving(trace, translate()), anchors=False)


def _show_text(answer: st.delta_generator.DeltaGenerator, trace: Trace) -> None:
    answer.markdown(_arriving(trace, translate()), anchors=False)


def _arriving(trace: Trace, _: Translator) -> str:
    """The text so far, or what is being done until there is some."""
    if trace.live_text or trace.state in FINAL_STATES:
        return _answer(trace.live_text)
    return f":shimmer[{activity(trace, _)}]"


def _answer(text: str) -> str:
    return as_markdown(text, image_hosts=get_app().settings.image_hosts)


def activity(trace: Trace, _: Translator) -> str:
    """What a turn without text is doing right now, in a few words."""
    match trace.spans:
        case _ if trace.state == "queued":
            return _("Waiting …")
        case [*_rest, RecallSpan(status="running")]:
            return _("Looking through your memories …")
        case [*_rest, CallSpan(status="running", name=name)]:
            return _("Using {tool} …").format(tool=as_plain(name))
        case [*_rest, RecallSpan() | SummarySpan()]:
            return _("Going through the conversation …")
        case _:
            return _("Thinking …")


def _draw_ending(turn: Turn, live: LiveTurn | None) -> None:
    """How the turn ended, where it did not simply end, and Try again where that helps.

    When the record is out of reach the live turn knows before its row does.
    """
    failure = turn.failure or (live.trace.failure if live else None)
    if failure is None and turn.state in _FAILURE_OF_STATE:
        failure = Failure(code=_FAILURE_OF_STATE[turn.state])
    if failure is None:
        return
    _ = translate()
    if failure.code == "stream_cut" and not turn.reply:
        failure = replace(failure, code="stream_cut_early")
    told = as_plain(sentence(failure, _))
    with st.container(key=f"ending-{turn.id}", gap="xsmall"):
        if turn.state == "failed":
            st.warning(told, icon=":material/error:")
        else:
            st.caption(f":material/info: {told}")
        can_retry = turn.state in _FAILURE_OF_STATE and (turn.state != "failed" or failure.code in RETRY_HELPS)
        if can_retry and st.button(_("Try again"), key=f"retry-{turn.id}", icon=":material/refresh:"):
            _retry(turn)


def _retry(turn: Turn) -> None:
    # Another tab may have been quicker: the whole run that follows shows what it did.
    with suppress(NotFound):
        get_app().runner.retry(user_id=user_id(), turn_id=turn.id)
    st.rerun()


def _draw_panel(turn: Turn, live: LiveTurn | None) -> None:
    """The trace: only its label while closed, read from the record when opened."""
    key, opened_key = f"trace-{turn.id}", f"trace-opened-{turn.id}"
    # To Streamlit an expander with another label is another expander: without this it would close when the turn ends.
    st.session_state[key] = st.session_state.get(opened_key, False)
    panel = st.expander(
        trace_label(turn.digest, turn.state, translate()),
        key=key,
        type="compact",
        on_change=_remember_opened,
        args=(key, opened_key),
    )
    if panel.open:
        with panel:
            trace = live.trace if live else get_app().runner.trace(user_id=user_id(), turn_id=turn.id)
            draw_trace(trace, turn_id=turn.id)


def _remember_opened(key: str, opened_key: str) -> None:
    st.session_state[opened_key] = st.session_state[key]


def _draw_stop(turn: Turn, live: LiveTurn) -> None:
    _ = translate()
    is_running = live.trace.state == "running"
    st.button(
        _("Stop"),
        key="stop" if is_running else f"stop-{turn.id}",
        icon=":material/stop_circle:",
        shortcut="Esc" if is_running else None,
        on_click=_stop,
        args=(turn,),
    )


@told
def _stop(turn: Turn) -> None:
    get_app().runner.stop(user_id=user_id(), turn_id=turn.id)
