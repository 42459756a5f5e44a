"""The sidebar: a new conversation, and the past ones, the latest first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import groupby

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from memora.i18n import Translator
from memora.turn.ports import Conversation
from memora.ui import conversation as talk
from memora.ui.markdown import as_label
from memora.ui.scripts import run_script
from memora.ui.session import get_app, now, timezone, translate, user_id

_CHOSEN = "conversation-chosen"
SHOWN = 30
"""How many conversations are listed at first, and how many more with each click on "more"."""


def draw_sidebar(chat_page: StreamlitPage, *, is_chat: bool) -> None:
    """Draw it; from another page, choosing a conversation leads to the chat."""
    _ = translate()
    with st.sidebar:
        if st.button(
            _("New conversation"),
            key="new-conversation",
            icon=":material/edit_square:",
            width="stretch",
            on_click=_choose,
            args=(None,),
        ):
            _go_to(chat_page, is_chat=is_chat)
        _draw_undo()
        shown: int = st.session_state.get("conversations-shown", SHOWN)
        found = get_app().turns.conversations(user_id=user_id(), limit=shown + 1)
        with st.container(key="conversations"):
            for title, group in _by_age(found[:shown], _):
                st.caption(title)
                for conversation in group:
                    _draw_entry(conversation, chat_page, is_chat=is_chat)
        if len(found) > shown and st.button(_("More"), key="more-conversations", type="tertiary"):
            st.session_state["conversations-shown"] = shown + SHOWN
            st.rerun()
        if st.session_state.pop(_CHOSEN, False):
            run_script("close_sidebar_on_phones")


def _choose(conversation_id: str | None) -> None:
    talk.show_conversation(conversation_id)
    st.session_state[_CHOSEN] = True


def _draw_entry(conversation: Conversation, chat_page: StreamlitPage, *, is_chat: bool) -> None:
    _ = translate()
    is_open = is_chat and conversation.id == talk.open_id()
    row = f"open-row-{conversation.id}" if is_open else f"row-{conversation.id}"
    with st.container(key=row, horizontal=True, vertical_alignment="center", gap=None, wrap=False):
        if st.button(
            as_label(conversation.title, limit=40) or _("Untitled"),
            key=f"conversation-{conversation.id}",
            type="tertiary",
            width="stretch",
            on_click=_choose,
            args=(conversation.id,),
        ):
            _go_to(chat_page, is_chat=is_chat)
        st.button(
            "",
            key=f"delete-conversation-{conversation.id}",
            icon=":material/delete:",
            help=_("Delete this conversation"),
            type="tertiary",
            on_click=talk.delete,
            args=(conversation,),
        )


def _draw_undo() -> None:
    _ = translate()
    gone = talk.deleted()
    if gone is None:
        return
    with st.container(key="conversation-undo", horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.caption(_("Deleted “{title}”.").format(title=as_label(gone.title, limit=24)))
        st.button(_("Undo"), key="undo-conversation", icon=":material/undo:", type="tertiary", on_click=talk.undelete)


def _go_to(chat_page: StreamlitPage, *, is_chat: bool) -> None:
    if not is_chat:
        opened = talk.open_id()
        st.switch_page(chat_page, query_params={"c": opened} if opened else None)


def _by_age(conversations: Sequence[Conversation], _: Translator) -> Iterator[tuple[str, Iterator[Conversation]]]:
    """Grouped under headings; the order stays."""
    zone = timezone()
    today = now().astimezone(zone).date()

    def heading(conversation: Conversation) -> str:
        return _age(conversation.updated_at.astimezone(zone).date(), today, _)

    return groupby(conversations, heading)


def _age(day: date, today: date, _: Translator) -> str:
    if day >= today:
        return _("Today")
    if day == today - timedelta(days=1):
        return _("Yesterday")
    return _("Last 7 days") if day > today - timedelta(days=7) else _("Earlier")
