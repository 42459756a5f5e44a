"""The open conversation: the one in the address, and what is done to it from the page."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import streamlit as st

from memora.errors import Failure, MemoraError, NotFound
from memora.turn.ports import Conversation
from memora.ui.callbacks import told
from memora.ui.session import get_app, now, user_id

_PARAM = "c"
_OPEN = "open-conversation"
_REFUSED = "refused-message"
_DELETED = "deleted-conversation"
_SENT = "message-sent"
_DRAWN = "conversation-drawn"
TITLE_CHARS = 30
INPUT_KEY = "chat_input"


@dataclass(frozen=True)
class Refused:
    """A message that was not taken, and why; it belongs to the conversation that it was written in."""

    failure: Failure
    text: str
    conversation_id: str | None


@dataclass(frozen=True)
class Deleted:
    """A conversation that can still be brought back with one click."""

    id: str
    title: str


def open_id() -> str | None:
    """The id of the open conversation; None for a new one."""
    return st.session_state.get(_OPEN)


def settle_open(*, came_from_elsewhere: bool) -> None:
    """Agree with the address bar on which conversation is open.

    The address wins; coming back from another page (which clears it) keeps what was open. One that does not
    exist any more gives way to a new one.
    """
    asked = st.query_params.get(_PARAM)
    if asked or not came_from_elsewhere:
        st.session_state[_OPEN] = asked
    show_conversation(open_id() if opened() else None)


def opened() -> Conversation | None:
    """The open conversation; None for a new one."""
    conversation_id = open_id()
    if conversation_id is None:
        return None
    try:
        return get_app().turns.conversation(user_id=user_id(), conversation_id=conversation_id)
    except NotFound:
        return None


def show_conversation(conversation_id: str | None) -> None:
    """Open a conversation, or with None a new one, and put it into the address."""
    st.session_state[_OPEN] = conversation_id
    if conversation_id is None:
        st.query_params.pop(_PARAM, None)
    elif st.query_params.get(_PARAM) != conversation_id:
        st.query_params[_PARAM] = conversation_id


def send(text: str) -> None:
    """Submit a message; the first one creates its conversation. A refused text goes back into the box."""
    app = get_app()
    st.session_state.pop(_REFUSED, None)
    st.session_state.pop(_DELETED, None)
    conversation_id = open_id()
    created: str | None = None
    try:
        if conversation_id is None:
            created = app.turns.create_conversation(user_id=user_id(), title=title_of(text), at=now()).id
        app.runner.submit(user_id=user_id(), conversation_id=conversation_id or created or "", text=text)
    except MemoraError as error:
        st.session_state[_REFUSED] = Refused(error.as_failure(), text, conversation_id)
        st.session_state[INPUT_KEY] = text
        if created:
            _discard(created)
        return
    if created:
        show_conversation(created)
    st.session_state[_SENT] = True


def _discard(conversation_id: str) -> None:
    """Take back a conversation whose first message was refused; if even that fails, it stays, empty."""
    with suppress(MemoraError):
        get_app().turns.delete_conversation(user_id=user_id(), conversation_id=conversation_id, at=now())


def send_from_input() -> None:
    """The message box's callback."""
    send(st.session_state[INPUT_KEY] or "")


def was_just_opened() -> bool:
    """Whether another conversation was drawn before this one: then the page begins at its end."""
    drawn = st.session_state.get(_DRAWN)
    st.session_state[_DRAWN] = open_id()
    return drawn != open_id()


def was_just_sent() -> bool:
    """Whether a message was sent since this was asked last: then the page scrolls to it."""
    return bool(st.session_state.pop(_SENT, False))


def refused() -> Failure | None:
    """Why the last message of the open conversation was not taken, if it was not.

    Its text is put back into the box, where Streamlit has forgotten it because another page was drawn.
    """
    held: Refused | None = st.session_state.get(_REFUSED)
    if held is None or held.conversation_id != open_id():
        return None
    st.session_state.setdefault(INPUT_KEY, held.text)
    return held.failure


@told
def delete(conversation: Conversation) -> None:
    """Delete a conversation, remembering it for undo."""
    get_app().turns.delete_conversation(user_id=user_id(), conversation_id=conversation.id, at=now())
    st.session_state[_DELETED] = Deleted(conversation.id, conversation.title)
    if open_id() == conversation.id:
        show_conversation(None)


def deleted() -> Deleted | None:
    """The conversation that undo would bring back."""
    return st.session_state.get(_DELETED)


@told
def undelete() -> None:
    """Bring the last deleted conversation back and open it."""
    gone: Deleted | None = st.session_state.pop(_DELETED, None)
    if gone:
        get_app().turns.undelete_conversation(user_id=user_id(), conversation_id=gone.id)
        show_conversation(gone.id)


def title_of(text: str) -> str:
    """The first line of a message, cut to the length of a title."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 1].rstrip() + "…"
