"""What a reader should know about something that is remembered. Nothing is refused because of it."""

from __future__ import annotations

import streamlit as st

from memora.i18n import mark
from memora.memory.instructions import reads_like_an_instruction
from memora.memory.secrets import holds_secret
from memora.ui.session import translate

_CAUTIONS = (
    (
        reads_like_an_instruction,
        mark("reads like an instruction"),
        mark(
            "This sentence seems to be written for a model to obey. It is quoted to the model as something that was "
            "said, not as an instruction. Delete it if you do not know where it came from."
        ),
    ),
    (
        holds_secret,
        mark("looks like a secret"),
        mark(
            "This looks like a password, a key, or the number of a card or an identity document. Memora never learns "
            "such things by itself. What is remembered is sent to the model: delete it if it should not be."
        ),
    ),
)


def draw_cautions(text: str) -> None:
    """A badge for each caution about ``text``, with what it means."""
    _ = translate()
    for applies, name, meaning in _CAUTIONS:
        if applies(text):
            st.markdown(f":orange-badge[:material/shield: {_(name)}]", anchors=False, help=_(meaning))
