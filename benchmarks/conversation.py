"""What one run of the chat page costs in a short and in a long conversation, as Streamlit runs it (no browser)."""

from __future__ import annotations

import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from streamlit.testing.v1 import AppTest

from benchmarks.harness import Clock, print_machine, print_table
from memora.assembly import LOCAL_USER
from memora.model import Usage
from memora.providers.database import Database, open_database
from memora.ui.session import get_app

PAGE = Path(__file__).parents[1] / "streamlit_app.py"
TURNS = (10, 20, 250, 500)
ROUNDS = 15
NOW = datetime(2026, 9, 1, tzinfo=UTC)


def main() -> None:
    """Print the table."""
    print_machine()
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEMORA_DATA_DIR"] = folder
        database = open_database(f"sqlite:///{folder}/memora.db")
        ids = {turns: conversation_of(database, turns=turns) for turns in TURNS}
        database.close()
        app = get_app()
        try:
            for turns in TURNS:
                page = AppTest.from_file(str(PAGE), default_timeout=60)
                page.query_params["c"] = ids[turns]
                page.run()  # the first run imports what the page needs
                for _ in range(ROUNDS):
                    with clock.measure(f"{turns * 2} messages"):
                        page.run()
        finally:
            app.close()
    clock.print_table("One run of the chat page")
    few, many = (clock.percentile(f"{turns * 2} messages", 50) for turns in (20, 500))
    print_table("Compared", ["what", "figure"], [["1,000 messages / 40 messages, medians", f"{many / few:.2f}"]])


def conversation_of(database: Database, *, turns: int) -> str:
    """A conversation with that many finished turns; returns its id."""
    conversation = database.turns.create_conversation(user_id=LOCAL_USER, title="bench", at=NOW)
    for number in range(turns):
        turn = database.turns.begin_turn(
            user_id=LOCAL_USER, conversation_id=conversation.id, content=f"問題 {number}", at=NOW
        )
        database.conversations.finish_turn(
            user_id=LOCAL_USER,
            turn_id=turn.id,
            reply=f"**回答 {number}**：一個句子，and some English.",
            state="done",
            response_tokens=10,
            usage=Usage(),
            context_messages=1,
            failure=None,
            learn=False,
        )
    return conversation.id


if __name__ == "__main__":
    main()
