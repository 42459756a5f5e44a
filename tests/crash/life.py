"""One life of a process that remembers, edits, deletes, undoes and answers, and is killed somewhere in the middle.

Whatever is to be done is announced (``begin …``) before it is asked for and acknowledged (``done …``) when the call has
returned: what was acknowledged must outlive the process, what was only begun may.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from memora.assembly import LOCAL_USER, App, build_app
from memora.memory import Category
from memora.settings import load_settings
from memora.turn.recorder import TurnRecorder

CITIES = ("台北", "台中", "台南", "高雄", "花蓮")
ANSWER_SECONDS = 30.0

STORED = ("add", "edit", "set_pinned", "delete", "undelete", "touch", "commit_learning")
"""The calls of the record of memories that are points."""
INDEXED = ("upsert", "remove")
"""Those of the index."""


def die() -> None:
    """End at once, as by a power cut."""
    os.kill(os.getpid(), signal.SIGKILL)


class Fate:
    """The point at which this life ends: ``before:`` or ``after:`` a name, the ``turn``-th time that it is reached."""

    def __init__(self, point: str, *, times: int = 1) -> None:
        self._point = point
        self._left = times

    def reach(self, point: str) -> None:
        """Die here if it is the point, and the time."""
        if point == self._point:
            self._left -= 1
            if self._left <= 0:
                die()

    def around(self, owner: Any, name: str, label: str) -> None:
        """Make the method ``name`` of ``owner`` two points."""
        call = getattr(owner, name)

        def reached(*arguments: Any, **named: Any) -> Any:
            self.reach(f"before:{label}")
            result = call(*arguments, **named)
            self.reach(f"after:{label}")
            return result

        setattr(owner, name, reached)

    def around_events(self) -> None:
        """Make the recording of each kind of event two points."""
        record = TurnRecorder.__call__

        def recorded(recorder: TurnRecorder, event: Any) -> None:
            self.reach(f"before:{event.type}")
            record(recorder, event)
            self.reach(f"after:{event.type}")

        TurnRecorder.__call__ = recorded  # type: ignore[method-assign]


class Life:
    """See the module. ``number`` makes what is said and remembered in this life different from the others'."""

    def __init__(self, app: App, *, number: int, output: TextIO) -> None:
        self._app = app
        self._number = number
        self._output = output

    def live(self) -> None:
        """Do everything once."""
        self._say(f"我住在{CITIES[self._number % len(CITIES)]}。")
        cat = self._add(f"第 {self._number} 隻貓叫做咪咪。")
        self._edit(cat, f"第 {self._number} 隻貓叫做黑皮。")
        self._pin(cat)
        self._delete(cat)
        self._undelete(cat)
        self._delete(self._add(f"第 {self._number} 件小事。"))
        self._say(f"我搬到{CITIES[(self._number + 1) % len(CITIES)]}了。")

    def _say(self, text: str) -> None:
        conversation = self._app.turns.create_conversation(user_id=LOCAL_USER, title="t", at=self._app.memory.clock())
        with self._told("say", text=text, conversation_id=conversation.id):
            turn = self._app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation.id, text=text)
        deadline = time.monotonic() + ANSWER_SECONDS
        while self._app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is not None and time.monotonic() < deadline:
            time.sleep(0.003)

    def _add(self, content: str) -> str:
        with self._told("add", content=content) as told:
            memory = self._app.memory.add(
                user_id=LOCAL_USER, content=content, category=Category.EXPERIENCE, importance=2
            )
            told["id"] = memory.id
        return memory.id

    def _edit(self, memory_id: str, content: str) -> None:
        with self._told("edit", id=memory_id, content=content):
            self._app.memory.edit(
                user_id=LOCAL_USER, memory_id=memory_id, content=content, category=Category.EXPERIENCE, importance=3
            )

    def _pin(self, memory_id: str) -> None:
        with self._told("pin", id=memory_id):
            self._app.memory.set_pinned(user_id=LOCAL_USER, memory_id=memory_id, pinned=True)

    def _delete(self, memory_id: str) -> None:
        with self._told("delete", id=memory_id):
            self._app.memory.delete(user_id=LOCAL_USER, memory_ids=[memory_id])

    def _undelete(self, memory_id: str) -> None:
        with self._told("undelete", id=memory_id):
            self._app.memory.undelete(user_id=LOCAL_USER, memory_ids=[memory_id])

    @contextmanager
    def _told(self, what: str, **facts: str) -> Iterator[dict[str, str]]:
        """Announce and acknowledge; what the call returned may be added to the facts."""
        self._tell("begin", what, facts)
        yield facts
        self._tell("done", what, facts)

    def _tell(self, state: str, what: str, facts: dict[str, str]) -> None:
        self._output.write(json.dumps({"state": state, "what": what, **facts}) + "\n")
        self._output.flush()


def live(*, point: str, times: int, number: int, output: TextIO) -> None:
    """Open Memora on the folder of the environment, live, and close it, if it comes to that."""
    fate = Fate(point, times=times)
    fate.around_events()
    app = build_app(load_settings())
    for name in STORED:
        fate.around(app.memory.store, name, f"store.{name}")
    for name in INDEXED:
        fate.around(app.memory.index, name, f"index.{name}")
    Life(app, number=number, output=output).live()
    app.close()
