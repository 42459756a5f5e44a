"""One life of a process that remembers, edits, deletes, undoes and answers, and is killed somewhere in the middle.

Whatever is to be done is announced (``begun``) before it is asked for and acknowledged (``done``) when the call has
returned: what was acknowledged must outlive the process, what was only begun may.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from crash.fate import Fate

from memora.assembly import LOCAL_USER, App, build_app
from memora.errors import MemoraError
from memora.memory import Category, MemoryQuery
from memora.settings import load_settings

CITIES = ("台北", "台中", "台南", "高雄", "花蓮")
ROUNDS = 10
"""How often a life that is to be killed does everything at the most: it is killed before."""
ANSWER_SECONDS = 30.0


class Announcements:
    """What a life is about to do, has done and was refused, a JSON object a line."""

    def __init__(self, output: TextIO) -> None:
        self._output = output

    @contextmanager
    def of(self, what: str, **facts: str) -> Iterator[dict[str, str]]:
        """Announce, and acknowledge or complain; what the call returned may be added to the facts."""
        self._tell("begun", what, facts)
        try:
            yield facts
        except MemoraError as error:
            self._tell("refused", what, {**facts, "code": error.code, **error.params})
            raise
        self._tell("done", what, facts)

    def _tell(self, state: str, what: str, facts: dict[str, str]) -> None:
        self._output.write(json.dumps({"state": state, "what": what, **facts}) + "\n")
        self._output.flush()


class Life:
    """See the module. ``number`` makes what is said and remembered different from what others say and remember."""

    def __init__(self, app: App, *, number: int, announcements: Announcements) -> None:
        self._app = app
        self._number = number
        self._announce = announcements

    def live(self) -> None:
        """Do everything once."""
        conversation_id = self._say(f"我住在{CITIES[self._number % len(CITIES)]}。")
        cat = self._add(f"第 {self._number} 隻貓叫做咪咪。")
        self._edit(cat, f"第 {self._number} 隻貓叫做黑皮。")
        self._pin(cat)
        self._delete(cat)
        self._undelete(cat)
        self._delete(self._add(f"第 {self._number} 件小事。"))
        self._rename_conversation(conversation_id, f"第 {self._number} 個話題")
        self._delete_conversation(conversation_id)
        self._undelete_conversation(conversation_id)
        self._delete_conversation(self._say(f"我搬到{CITIES[(self._number + 1) % len(CITIES)]}了。"))
        self._restore_what_was_superseded()

    def say_only(self, text: str) -> None:
        """Say this, and have it answered and learned from."""
        self._say(text)

    def _say(self, text: str) -> str:
        conversation_id = self._create_conversation()
        with self._announce.of("say", text=text, id=conversation_id):
            turn = self._app.runner.submit(user_id=LOCAL_USER, conversation_id=conversation_id, text=text)
        deadline = time.monotonic() + ANSWER_SECONDS
        while self._app.runner.log(user_id=LOCAL_USER, turn_id=turn.id) is not None and time.monotonic() < deadline:
            time.sleep(0.01)
        return conversation_id

    def _add(self, content: str) -> str:
        with self._announce.of("add", content=content) as facts:
            memory = self._app.memory.add(
                user_id=LOCAL_USER, content=content, category=Category.EXPERIENCE, importance=2
            )
            facts["id"] = memory.id
        return memory.id

    def _edit(self, memory_id: str, content: str) -> None:
        with self._announce.of("edit", id=memory_id, content=content):
            self._app.memory.edit(
                user_id=LOCAL_USER, memory_id=memory_id, content=content, category=Category.EXPERIENCE, importance=3
            )

    def _pin(self, memory_id: str) -> None:
        with self._announce.of("pin", id=memory_id):
            self._app.memory.set_pinned(user_id=LOCAL_USER, memory_id=memory_id, pinned=True)

    def _delete(self, memory_id: str) -> None:
        with self._announce.of("delete", id=memory_id):
            self._app.memory.delete(user_id=LOCAL_USER, memory_ids=[memory_id])

    def _undelete(self, memory_id: str) -> None:
        with self._announce.of("undelete", id=memory_id):
            self._app.memory.undelete(user_id=LOCAL_USER, memory_ids=[memory_id])

    def _restore_what_was_superseded(self) -> None:
        superseded = self._app.memory.page(user_id=LOCAL_USER, query=MemoryQuery(status="superseded", limit=1))
        for memory in superseded.memories:
            with self._announce.of("restore", id=memory.id):
                self._app.memory.restore(user_id=LOCAL_USER, memory_id=memory.id)

    def _create_conversation(self) -> str:
        with self._announce.of("create conversation", title="new") as facts:
            conversation = self._app.turns.create_conversation(
                user_id=LOCAL_USER, title=facts["title"], at=self._app.memory.clock()
            )
            facts["id"] = conversation.id
        return conversation.id

    def _rename_conversation(self, conversation_id: str, title: str) -> None:
        with self._announce.of("rename conversation", id=conversation_id, title=title):
            self._app.turns.rename_conversation(user_id=LOCAL_USER, conversation_id=conversation_id, title=title)

    def _delete_conversation(self, conversation_id: str) -> None:
        with self._announce.of("delete conversation", id=conversation_id):
            self._app.turns.delete_conversation(
                user_id=LOCAL_USER, conversation_id=conversation_id, at=self._app.memory.clock()
            )

    def _undelete_conversation(self, conversation_id: str) -> None:
        with self._announce.of("undelete conversation", id=conversation_id):
            self._app.turns.undelete_conversation(user_id=LOCAL_USER, conversation_id=conversation_id)


def live(*, fate: Fate, number: int, rounds: int, saying: str, output: TextIO) -> None:
    """Open Memora on the folder of the environment, live, and close it, if it comes to that.

    With ``saying`` it says this and no more. Raises `MemoraError` when something was refused.
    """
    fate.be_sealed()
    announcements = Announcements(output)
    with announcements.of("start"):
        app = build_app(load_settings())
    if saying:
        Life(app, number=number, announcements=announcements).say_only(saying)
        rounds = 0
    for round_ in range(rounds):
        Life(app, number=number * ROUNDS + round_, announcements=announcements).live()
    app.close()
