"""How long a message takes from its arrival until request 1 leaves, with 1,000 memories, step by step.

The whole app runs, on the demo model (which sits in the same process: no network is involved at all).
"""

from __future__ import annotations

import os
import tempfile
import time

from benchmarks.harness import Clock, load_data, print_machine
from memora.assembly import LOCAL_USER, App, build_app
from memora.memory import Category
from memora.memory.values import Provenance
from memora.settings import load_settings
from memora.turn.events import ContextPrepared, RecallFinished, RequestStarted

MEMORIES = 1_000
TURNS = 40
STEPS = ("save the message", "embedding", "index", "words", "ranking", "context window", "everything else", "in all")


def main() -> None:
    """Print the table."""
    print_machine()
    questions = [question["text"] for question in load_data("zh_en_dev.json")["queries"]][: TURNS + 5]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["MEMORA_DATA_DIR"] = folder
        app = build_app(load_settings())
        try:
            remember(app)
            clock = Clock()
            for name in STEPS:
                clock.durations[name] = []
            for number, question in enumerate(questions):
                steps = ask(app, question)
                if number >= len(questions) - TURNS:  # the first ones warm up what is loaded lazily
                    for name in STEPS:
                        clock.note(name, steps[name])
        finally:
            app.close()
    clock.print_table(f"Message to request 1, {MEMORIES:,} memories")


def remember(app: App) -> None:
    """Fill the record and the index."""
    facts = [fact["text"] for fact in load_data("zh_en_dev.json")["items"]]
    for number in range(MEMORIES):
        app.memory.store.add(
            user_id=LOCAL_USER,
            content=f"{facts[number % len(facts)]} ({number})",
            category=Category.EXPERIENCE,
            importance=3,
            provenance=Provenance(origin="import"),
            at=app.memory.clock(),
        )
    while app.status(user_id=LOCAL_USER).index == "starting":
        time.sleep(0.1)
    app.memory.refresh_index(user_id=LOCAL_USER)


def ask(app: App, question: str) -> dict[str, float]:
    """Send ``question`` in a new conversation; milliseconds of each step until request 1 left."""
    conversation = app.turns.create_conversation(user_id=LOCAL_USER, title="bench", at=app.memory.clock())
    arrived = time.time()
    turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation.id, text=question)
    saved = time.time()
    log = app.runner.log(user_id=LOCAL_USER, turn_id=turn.id)
    while log is not None and not log.closed:
        log.wait(len(log.since(0)), timeout=1.0)
    events = app.turns.events(user_id=LOCAL_USER, turn_id=turn.id)
    recall = next(event for event in events if isinstance(event, RecallFinished))
    context = next(event for event in events if isinstance(event, ContextPrepared))
    left = next(event for event in events if isinstance(event, RequestStarted)).at
    steps = {name: recall.timings_ms.get(name, 0.0) for name in ("embedding", "index", "words", "ranking")}
    steps |= {"save the message": (saved - arrived) * 1000, "context window": context.took_ms}
    steps["in all"] = (left - arrived) * 1000
    steps["everything else"] = steps["in all"] - sum(steps[name] for name in STEPS[:-2])
    return steps


if __name__ == "__main__":
    main()
