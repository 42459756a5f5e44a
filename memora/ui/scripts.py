"""The few lines of JavaScript that Streamlit has no words for. All of it is ours: no other text ever gets in."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import streamlit as st

FOLDER = Path(__file__).parent / "assets"


def run_script(name: Literal["follow_answer", "close_sidebar_on_phones"]) -> None:
    """Run a script of the assets folder once, now."""
    # The browser runs a script that it has not got yet: numbered, it is a new one each time.
    number = st.session_state["scripts-run"] = st.session_state.get("scripts-run", 0) + 1
    source = (FOLDER / f"{name}.js").read_text(encoding="utf-8")
    st.html(f"<script>/* {number} */ {source}</script>", unsafe_allow_javascript=True)
