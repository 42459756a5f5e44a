"""A model that holds its answers back until a test lets them go, whatever the order in which requests come."""

from __future__ import annotations

import threading
from typing import Any

from support.scripted_model import Played, ScriptedModel, structured
from support.turns import NOTHING_LEARNED
from support.waiting import wait_until

from memora.errors import Cancelled
from memora.model import CancelToken, ModelRequest
from memora.providers.demo.request import embedded_object

REQUESTS = 100
"""More than any test asks for."""
HELD_SECONDS = 30.0

EXTRACTION, RECONCILIATION = "extraction", "reconciliation"


class HeldModel(ScriptedModel):
    """Answers ``answer to MESSAGE``; a message that begins with 我 is a fact, and is learned as it stands.

    A request goes by its message, or is `EXTRACTION` or `RECONCILIATION`; one that is named in `hold` waits until
    `release`. What reconciliation decides is ``decision``: an action, the number of its target, and a sentence.
    """

    def __init__(self) -> None:
        super().__init__(*[self._step] * REQUESTS)
        self.decision: tuple[str, int | None, str] = ("create", None, "")
        self._came: list[str] = []
        self._gates: dict[str, threading.Event] = {}

    @property
    def asked(self) -> list[str]:
        """The messages that were to be answered so far, in the order in which they came."""
        return [name for name in self._came if name not in (EXTRACTION, RECONCILIATION)]

    def hold(self, *names: str) -> None:
        """Let requests of these names wait."""
        self._gates |= {name: threading.Event() for name in names}

    def release(self, name: str) -> None:
        """Let the request go on, also one that has not come yet."""
        self._gates[name].set()

    def wait_for(self, name: str) -> None:
        """Return when a request of this name has come."""
        wait_until(lambda: name in self._came)

    def _step(self, request: ModelRequest, cancel: CancelToken) -> Played:
        name = request.purpose if request.purpose != "answer" else str(request.input[-1]["content"])
        self._came.append(name)
        if gate := self._gates.get(name):
            cancel.on_cancel(gate.set)
            assert gate.wait(HELD_SECONDS), f"{name} was never released"
            if cancel.cancelled:
                return Cancelled()
        match name:
            case "extraction":
                return _extracted(request)
            case "reconciliation":
                action, target, content = self.decision
                decided = {"candidate": 1, "action": action, "target": target, "content": content, "reason": ""}
                return structured({"decisions": [decided]})
            case message:
                return f"answer to {message}"


def _extracted(request: ModelRequest) -> Any:
    message = embedded_object(str(request.input[-1]["content"]))["user_message"]
    if not message.startswith("我"):
        return NOTHING_LEARNED
    fact = {"content": message, "category": "profile", "importance": 3, "quote": message}
    return structured({"memories": [fact], "profile": []})
