"""Callbacks that may fail: what they raise is kept, and told at the top of the page that follows."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec

import streamlit as st

from memora.errors import Failure, MemoraError
from memora.ui.markdown import as_plain
from memora.ui.sentences import sentence
from memora.ui.session import translate

P = ParamSpec("P")
log = logging.getLogger(__name__)
_FAILURE = "callback-failure"


def told(callback: Callable[P, None]) -> Callable[P, None]:
    """``callback``, with whatever it raises kept for `draw_failure`."""

    @wraps(callback)
    def safely(*args: P.args, **kwargs: P.kwargs) -> None:
        try:
            callback(*args, **kwargs)
        except MemoraError as error:
            st.session_state[_FAILURE] = error.as_failure()
        except Exception as error:
            log.exception("a click failed")
            st.session_state[_FAILURE] = Failure(code="internal", detail=type(error).__name__)

    return safely


def draw_failure() -> None:
    """Why the last click came to nothing, once."""
    failure: Failure | None = st.session_state.pop(_FAILURE, None)
    if failure:
        st.error(as_plain(sentence(failure, translate())), icon=":material/error:")
