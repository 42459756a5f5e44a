"""A whole app on the fault server, which meets one fault at one place and then none: and what was seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from faults.cases import Case, Place
from faults.detour import ADDRESSES, Detour, DetourTransport, dead_addresses, place_of
from servers.launch import ResponsesServer, responses_server
from servers.wire_faults import KEY
from support.talking import ended

from memora import upkeep
from memora.assembly import App, build_app
from memora.errors import Failure
from memora.memory import MemoryQuery
from memora.providers import connection
from memora.settings import Settings
from memora.turn import learner
from memora.turn.ports import Turn
from memora.turn.spans import CallSpan, RecallSpan, SummarySpan
from memora.turn.trace import Trace

TIMEOUT_SECONDS, PATIENCE_SECONDS = 0.4, 10.0
COUNT = "請精確計算這句英文有幾個單字：I have studied English for three years."
EXAMPLE = "請給我一個現在完成式的例句。"
FACTS, FACT_COUNT = "我叫小美，住在台北，正在準備三月的 IELTS 考試。", 3
LIVES, MOVED = "我住在台北。", "我搬到台南了。"
LONG = "An example, please. " + "This sentence makes the conversation long. " * 160


@dataclass(frozen=True, kw_only=True)
class Seen:
    """What came of a message whose turn met a fault, and what is there when the fault has gone.

    ``requests`` counts those that met the fault; ``failure`` is what the trace says of the place.
    """

    turn: Turn
    trace: Trace
    requests: int
    failure: Failure | None
    user_id: str


class World:
    """See the module. Every message is said by a user of its own, in a new conversation."""

    def __init__(self, app: App, server: ResponsesServer, detour: Detour) -> None:
        self.app = app
        self._server = server
        self._detour = detour
        self._numbers = count(1)

    def meet(self, case: Case, place: Place) -> Seen:
        """Say what makes Memora ask for ``place``, which fails as ``case`` says; then the fault goes."""
        user_id = f"user-{next(self._numbers)}"
        conversation_id = self._conversation(user_id, place)
        before, text = self._script(case, place)
        for earlier in before:
            self._say(user_id, conversation_id, earlier)
        with self._fault(case, place):
            turn = self._say(user_id, conversation_id, text)
            requests = self._requests(place)
        trace = self.app.runner.trace(user_id=user_id, turn_id=turn.id)
        return Seen(turn=turn, trace=trace, requests=requests, failure=_failure(trace, place), user_id=user_id)

    def turn(self, seen: Seen) -> Turn:
        """The turn as it is now."""
        return self.app.turns.turn(user_id=seen.user_id, turn_id=seen.turn.id)

    def try_again(self, seen: Seen) -> Turn:
        """Press Try again; the turn when its new answer is there."""
        self.app.runner.retry(user_id=seen.user_id, turn_id=seen.turn.id)
        return ended(self.app, seen.turn.id, user_id=seen.user_id, seconds=PATIENCE_SECONDS)

    def say_again(self, seen: Seen) -> Turn:
        """A further message of the same user, from which nothing is to be learned."""
        return self._say(seen.user_id, seen.turn.conversation_id, COUNT)

    def memories(self, seen: Seen) -> list[str]:
        """What is remembered of the user."""
        page = self.app.memory.page(user_id=seen.user_id, query=MemoryQuery(status="all", limit=100))
        return [memory.content for memory in page.memories]

    def is_indexed(self, seen: Seen) -> bool:
        """Whether the index agrees with the record."""
        return not self.app.memory.needs_refresh(user_id=seen.user_id)

    def _conversation(self, user_id: str, place: Place) -> str:
        preferences = self.app.preferences.preferences(user_id=user_id)
        learns = place not in ("1", "2", "summary")
        self.app.preferences.save_preferences(user_id=user_id, preferences=replace(preferences, memory_enabled=learns))
        return self.app.turns.create_conversation(user_id=user_id, title="t", at=self.app.memory.clock()).id

    def _script(self, case: Case, place: Place) -> tuple[tuple[str, ...], str]:
        """The messages before, and the one that meets the fault."""
        match place:
            case "1":
                return (), COUNT if case.kind == "call" else EXAMPLE
            case "2":
                return (), COUNT
            case "summary":
                return (LONG, LONG), LONG
            case "reconciliation":
                return (LIVES,), MOVED
            case _:
                return (), FACTS

    @contextmanager
    def _fault(self, case: Case, place: Place) -> Iterator[None]:
        self._server.reset()
        if case.fault in ADDRESSES:
            self._detour.lead(place, case.fault)
        else:
            self._server.break_at(place, case.fault)
        yield
        self._detour.end()
        self._server.mend()

    def _requests(self, place: Place) -> int:
        if self._detour.taken:
            return len(self._detour.taken)
        return sum(place_of(request["path"], request["body"]) == place for request in self._server.recorded())

    def _say(self, user_id: str, conversation_id: str, text: str) -> Turn:
        turn = self.app.runner.submit(user_id=user_id, conversation_id=conversation_id, text=text)
        return ended(self.app, turn.id, user_id=user_id, seconds=PATIENCE_SECONDS)


def _failure(trace: Trace, place: Place) -> Failure | None:
    """What the trace says went wrong at ``place``."""
    match place:
        case "1" | "2":
            return trace.failure
        case "summary":
            [span] = [span for span in trace.spans if isinstance(span, SummarySpan)]
            return span.failure
        case "embedding":
            [recall] = [span for span in trace.spans if isinstance(span, RecallSpan)]
            return recall.failure or (Failure(code=recall.degraded) if recall.degraded else None)
        case _:
            assert trace.learning is not None
            return trace.learning.failure


def calls(trace: Trace) -> list[CallSpan]:
    return [span for span in trace.spans if isinstance(span, CallSpan)]


def settings(folder: Path, server: ResponsesServer) -> Settings:
    return Settings(
        MEMORA_DATA_DIR=folder,
        OPENAI_BASE_URL=server.base_url,
        OPENAI_API_KEY=KEY,
        MEMORA_EMBEDDER="openai",
        MEMORA_MAX_INPUT_TOKENS=4_000,
        MEMORA_MAX_RETRIES=1,
    )


@contextmanager
def world(folder: Path) -> Iterator[World]:
    """A world that keeps its data in ``folder``; the waits between attempts are short in it."""
    with (
        responses_server(words_per_second=100_000, hang=20.0) as server,
        dead_addresses(served_port=server.port) as addresses,
        pytest.MonkeyPatch.context() as patched,
    ):
        detour = Detour(addresses)
        client = partial(_client, connection.build_client, detour)
        patched.setattr(connection, "build_client", client)
        patched.setattr(learner, "RETRY_SECONDS", (0.2,) * 4)
        patched.setattr(upkeep, "TRY_AGAIN_SECONDS", 0.2)
        patched.setattr(upkeep, "CHECK_EVERY_SECONDS", 0.2)
        app = build_app(settings(folder, server))
        try:
            yield World(app, server, detour)
        finally:
            app.close()


def _client(build: Callable[..., object], detour: Detour, **options: object) -> object:
    return build(**{**options, "transport": DetourTransport(detour), "timeout": TIMEOUT_SECONDS})
