"""Failing on demand, for tests: faults are named in the user's message, such as ``[[fail:500]]``.

A trigger is ``[[KIND:NAME]]``, ``[[KIND:NAMExN]]`` (only the first N times) or ``[[KIND:NAME@WHERE]]``. WHERE is
``1`` or ``2`` (the first or second request of an answer), ``summary``, ``extraction`` or ``reconciliation``; without
it the fault is for every request of the answer. A request other than an answer finds its triggers in its own input
and, but for extraction, in the message that was answered last (so a summary fails in the turn *after* the one that
asked for it).

==================  =============================================================================================
``fail:STATUS``     an HTTP error (400–599) as the API writes it
``fail:quota``      429 whose code says that no credit is left
``fail:model``      404, the model is unknown
``fail:route``      404 from a server without this route
``fail:include``    400 while the body asks for encrypted reasoning, as from models that do not reason
``fail:reasoning``  400 while the body carries encrypted reasoning back, as when its key is gone
``fail:refused``    no connection
``fail:timeout``    no answer within the client's timeout
``fail:html``       status 200 and a web page
``fail:cut``        the connection breaks in the middle of the stream (without a stream: no connection; so the next two)
``fail:end``        the stream ends in the middle, quietly
``fail:error``      an ``error`` event in the middle of the stream
``fail:failed``     a response that ends as failed
``fail:incomplete`` a response that runs out of output tokens in the middle
``fail:refusal``    the model declines
``fail:garbled``    text that is not the JSON that was asked for
``fail:empty``      a completed response without output
``slow:SECONDS``    the stream takes that long, evenly
``bad:arguments``   a call whose arguments are no JSON; ``not_object``, ``extra``, ``missing``, ``ill_typed``,
                    ``too_long`` (2,001 characters) likewise
``bad:unknown_tool``  a call of a function that nobody offered
``bad:two_calls``   two calls at once
``bad:call_again``  a call in the second request
``with:text``       text beside the call
``with:reasoning``  an encrypted reasoning item before everything else
``no:usage``        no token counts
==================  =============================================================================================
"""

from __future__ import annotations

import json
import re
import threading
from collections import Counter
from dataclasses import dataclass
from typing import Any, Protocol

from memora.providers.demo.request import DemoRequest, read_request

_TRIGGER = re.compile(r"\[\[(fail|slow|bad|with|no):([a-z0-9_.]+?)(?:x(\d+))?(?:@([a-z0-9]+))?\]\]")


@dataclass(frozen=True, kw_only=True)
class Fault:
    """Something to go wrong. ``times`` bounds how often (None: always), ``where`` says in which request."""

    kind: str
    name: str
    times: int | None = None
    where: str = ""

    def concerns(self, request: DemoRequest) -> bool:
        """Whether ``request`` is one that this fault is for."""
        if request.purpose == "answer":
            return self.where in ("", str(request.number))
        return self.where == request.purpose


def parse_faults(text: str) -> tuple[Fault, ...]:
    """The triggers in ``text``, in order."""
    return tuple(
        Fault(kind=kind, name=name, times=int(times) if times else None, where=where)
        for kind, name, times, where in _TRIGGER.findall(text)
    )


def without_triggers(body: dict[str, Any]) -> dict[str, Any]:
    """The body as it would be had nobody written a trigger."""
    written = json.dumps(body, ensure_ascii=False)
    cleaned: dict[str, Any] = json.loads(_TRIGGER.sub("", written))
    return cleaned


class FaultPlan(Protocol):
    """Decides what goes wrong with each request. Safe across threads."""

    def faults_for(self, body: dict[str, Any]) -> tuple[Fault, ...]:
        """What goes wrong with this request; asked once per attempt."""
        ...


class NoFaults:
    """Nothing goes wrong."""

    def faults_for(self, body: dict[str, Any]) -> tuple[Fault, ...]:
        """Nothing."""
        return ()


class TriggerFaults:
    """What the user's message asks for goes wrong."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._answered = ""
        self._seen: Counter[tuple[str, Fault]] = Counter()

    def faults_for(self, body: dict[str, Any]) -> tuple[Fault, ...]:
        """The faults whose triggers concern this request and have not been used up."""
        request = read_request(body)
        with self._lock:
            if request.purpose == "answer":
                self._answered = message = text = request.message
            else:
                # Extraction says itself which message it is about: others may have been answered since.
                message = str(request.data.get("user_message") or self._answered)
                text = "\n".join([*request.texts, message])
            faults = [fault for fault in dict.fromkeys(parse_faults(text)) if fault.concerns(request)]
            return tuple(fault for fault in faults if self._is_left(fault, message))

    def _is_left(self, fault: Fault, message: str) -> bool:
        self._seen[message, fault] += 1
        return fault.times is None or self._seen[message, fault] <= fault.times
