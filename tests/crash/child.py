"""A process that answers one message and kills itself, without warning, at a named point.

Usage: ``python child.py DATA_DIR POINT MESSAGE``. A point is ``before:`` or ``after:`` and the name of an event,
or of ``commit`` (the transaction that stores what was learned), or ``never``.
"""

import os
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from memora.assembly import LOCAL_USER, build_app
from memora.settings import load_settings
from memora.turn.recorder import TurnRecorder


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def record_until(point):
    record = TurnRecorder.__call__

    def recorded(self, event):
        if point == f"before:{event.type}":
            die()
        record(self, event)
        if point == f"after:{event.type}":
            die()

    TurnRecorder.__call__ = recorded


def commit_until(point, store):
    commit = store.commit_learning

    def committed(**arguments):
        if point == "before:commit":
            die()
        changes = commit(**arguments)
        if point == "after:commit":
            die()
        return changes

    store.commit_learning = committed


def main(data_dir, point, message):
    os.environ["MEMORA_DATA_DIR"] = data_dir
    record_until(point)
    app = build_app(load_settings())
    commit_until(point, app.memory.store)
    conversation = app.turns.create_conversation(user_id=LOCAL_USER, title="t", at=app.memory.clock())
    turn = app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation.id, text=message)
    print("accepted", turn.id, flush=True)
    while app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is not None:
        time.sleep(0.02)
    app.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
