"""The front page: the open conversation and the message box."""

from __future__ import annotations

import streamlit as st

from memora.ui import conversation
from memora.ui.chat_view import draw_conversation
from memora.ui.frame import framed
from memora.ui.markdown import as_plain
from memora.ui.notices import draw_notices
from memora.ui.scripts import run_script
from memora.ui.sentences import sentence
from memora.ui.session import translate

# What a first visitor can try; the third one shows the memory at work.
SUGGESTIONS = {
    "zh_TW": (
        "請給我一個使用 present perfect 的例句。",
        "請精確計算這句英文有幾個單字：I have studied English for three years.",
        "我叫小美，住在台北，正在準備三月的 IELTS 考試。",
    ),
    "en": (
        "Give me an example sentence in the present perfect.",
        "Count the words exactly: I have studied English for three years.",
        "My name is Mei, I live in Taipei and I am preparing for IELTS in March.",
    ),
}


def draw_chat() -> None:
    """Notices, the conversation or a welcome, and the message box."""
    draw_notices()
    opened = conversation.opened()
    if opened is None:
        draw_welcome()
    else:
        draw_conversation(opened)
        if conversation.was_just_opened() or conversation.was_just_sent():
            run_script("follow_answer")
    draw_input()


def draw_welcome() -> None:
    """An empty conversation: what this is, and three things to try."""
    _ = translate()
    with st.container(key="welcome"):
        st.title(_("What would you like to practise?"), anchor=False)
        st.markdown(
            _("Ask about English in Chinese or in English. Memora remembers what matters and shows how it got there.")
        )
        for number, text in enumerate(SUGGESTIONS[_.language]):
            st.button(
                as_plain(text),
                key=f"suggestion-{number}",
                icon=":material/arrow_outward:",
                icon_position="right",
                width="stretch",
                on_click=conversation.send,
                args=(text,),
            )


def draw_input() -> None:
    """The message box, and above it why the last message was not taken."""
    _ = translate()
    with st.bottom:
        refused = conversation.refused()
        if refused:
            st.warning(as_plain(sentence(refused, _)), icon=":material/edit_note:")
        st.chat_input(
            _("Write in Chinese or English"), key=conversation.INPUT_KEY, on_submit=conversation.send_from_input
        )


framed(draw_chat)
