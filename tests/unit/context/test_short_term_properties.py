"""The context window of any conversation in any budget. It holds messages only: calls live in one turn's requests."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pytest
from hypothesis import HealthCheck, event, example, given, settings
from hypothesis import strategies as st
from support.anything import any_text, readable_text
from support.context_fakes import FakeConversations, dialogue, profile, recalled
from support.figures import count
from support.scale import scaled
from support.scripted_model import Step
from support.summaries import Summarist, WatchedConversations, outcomes

from memora.context import (
    ShortTermMemory,
    Summarizer,
    TokenCounter,
    background_messages,
    build_background,
    clean_message,
)
from memora.context.calibration import MIN_ANSWERS, Calibration
from memora.context.ports import StoredMessage
from memora.context.prepared import PreparedContext
from memora.errors import MessageTooLong
from memora.model import CancelToken, Item
from memora.providers.database import Database, open_database
from memora.tools import TOOLS
from memora.turn.ports import Turn

pytestmark = pytest.mark.timeout(600)
COUNTER = TokenCounter()
INSTRUCTIONS = "You are a tutor."
FIXED = COUNTER.count(INSTRUCTIONS) + COUNTER.count_tools(TOOLS)

said = st.builds(
    lambda text, times: clean_message(text * times) or "?",
    readable_text | st.sampled_from(["a word ", "例句。"]),
    st.integers(1, 12),
)
COUNTS_HALF = Calibration(estimated_tokens=100, server_tokens=50, answers=MIN_ANSWERS)
calibrations = st.builds(
    Calibration, estimated_tokens=st.just(100.0), server_tokens=st.floats(50, 300), answers=st.integers(0, MIN_ANSWERS)
)


def items_of(messages: Iterable[StoredMessage]) -> list[Item]:
    return [{"type": "message", "role": stored.role, "content": stored.content} for stored in messages]


@dataclass(frozen=True)
class Desk:
    """What a context window is made with: a counter, the tokens of the whole window, and those kept free."""

    counter: TokenCounter
    window: int
    reserved: int = 0

    def size(self, items: Iterable[Item]) -> int:
        """What a request with ``items`` comes to, by the app's own counter, with the reserve."""
        fixed = self.counter.count(INSTRUCTIONS) + self.counter.count_tools(TOOLS)
        return fixed + self.counter.count_items(items) + self.reserved

    def memory(
        self, store: WatchedConversations, model: Summarist, *, conversation_id: str, turn_id: str
    ) -> ShortTermMemory:
        return ShortTermMemory(
            store=store,
            counter=self.counter,
            summarizer=Summarizer(model=model, counter=self.counter, max_tokens=max(1, self.window // 2)),
            user_id="user-1",
            conversation_id=conversation_id,
            turn_id=turn_id,
            instructions=INSTRUCTIONS,
            tools=TOOLS,
            max_input_tokens=self.window,
            cancel=CancelToken(),
        )


desks = st.builds(
    Desk,
    counter=calibrations.map(COUNTER.calibrated),
    window=(st.integers(100, 800) | st.integers(-FIXED - 10, 800)).map(lambda room: FIXED + room),
    reserved=st.just(0) | st.integers(0, 300),
)


@st.composite
def records(draw: st.DrawFn) -> FakeConversations:
    """A conversation, perhaps with a summary of its beginning, and a question."""
    exchanges = draw(st.lists(st.tuples(said, said), max_size=8))
    covered = draw(st.integers(0, len(exchanges)))
    summary = draw(any_text.filter(bool)) if covered else ""
    return FakeConversations(*dialogue(*exchanges, asked=draw(said)), summary=summary, summarized_through=2 * covered)


backgrounds = st.builds(
    lambda name, known: background_messages(profile=profile(name=name), memories=list(map(recalled, known))),
    any_text,
    st.lists(any_text, max_size=6),
)


@settings(max_examples=scaled(short=60, full=1000), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(record=records(), desk=desks, script=outcomes, background=backgrounds)
@example(
    record=FakeConversations(*dialogue(asked="a")),
    desk=Desk(counter=COUNTER.calibrated(COUNTS_HALF), window=0),
    script=[],
    background=(),
)
def test_any_window_keeps_its_budget_its_order_and_the_newest_message_or_is_refused_untouched(
    record: FakeConversations, desk: Desk, script: list[Step], background: tuple[Item, ...]
) -> None:
    model, covered = Summarist(script), record.summarized_through
    memory = desk.memory(
        WatchedConversations(record, model),
        model,
        conversation_id="conversation-1",
        turn_id=record.messages[-1].turn_id,
    )
    count("context windows")
    if desk.size(items_of(record.messages[-1:])) > desk.window:
        event("refused")
        with pytest.raises(MessageTooLong):
            memory.prepare_context(background_messages=background, reserved_input_tokens=desk.reserved)
        assert (record.summarized_through, model.requests) == (covered, [])
        return
    context = memory.prepare_context(background_messages=background, reserved_input_tokens=desk.reserved)
    event(f"folds: {len(context.folds)}")
    assert context.estimated_input_tokens == desk.size(context.input_messages) <= desk.window
    check_order(context, record, background=background)


def check_order(context: PreparedContext, record: FakeConversations, *, background: tuple[Item, ...]) -> None:
    """The beginning of the background, the summary, and the latest turns, each of them whole."""
    unfolded = [stored for stored in record.messages if stored.position > record.summarized_through]
    sent = unfolded[context.left_out_messages :]
    assert len(sent) == context.context_messages
    assert len(sent) % 2 == 1
    before = context.input_messages[: len(context.input_messages) - len(sent)]
    assert list(context.input_messages[len(before) :]) == items_of(sent)
    quoted = before[:-1] if context.parts["summary"] else before
    assert quoted == background[: len(quoted)]
    assert context.has_background == (quoted == background and background != ())


@settings(max_examples=scaled(short=60, full=1000), deadline=None)
@given(known=st.lists(any_text, max_size=8), name=any_text, limit=st.integers(0, 600))
def test_a_background_keeps_its_limit_but_for_the_profile_and_keeps_the_best_memories(
    known: list[str], name: str, limit: int
) -> None:
    memories = [recalled(text, memory_id=f"memory-{rank}") for rank, text in enumerate(known)]
    background = build_background(
        profile=profile(name=name), memories=memories, count_tokens=COUNTER.count, max_tokens=limit
    )
    kept = len(background.memory_ids)
    assert background.memory_ids == tuple(f"memory-{rank}" for rank in range(kept))
    assert background.messages == background_messages(profile=profile(name=name), memories=memories[:kept])
    assert not kept or sum(COUNTER.count(item["content"]) for item in background.messages) <= limit


@dataclass(frozen=True)
class Asked:
    """A question and how its turn ends; without a ``reply`` it ended before a word came."""

    question: str
    state: Literal["done", "cut_off", "stopped", "failed"]
    reply: str


@dataclass(frozen=True)
class AskedAgain:
    """One of the turns that may be answered again is."""

    which: int


steps = st.lists(
    st.one_of(
        st.builds(Asked, question=said, state=st.sampled_from(["done", "cut_off", "stopped"]), reply=said),
        st.builds(Asked, question=said, state=st.sampled_from(["stopped", "failed"]), reply=st.just("")),
        st.builds(AskedAgain, which=st.integers(0, 9)),
    ),
    min_size=1,
    max_size=14,
)


class Talk:
    """One conversation in a real record, and what has to be remembered of it."""

    def __init__(self, database: Database, script: list[Step], *, desk: Desk) -> None:
        self._turns = database.turns
        self._desk = desk
        self._model = Summarist(script)
        self._store = WatchedConversations(database.conversations, self._model)
        self._conversation = self._turns.create_conversation(user_id="user-1", title="t", at=now()).id
        self._replied: list[str] = []
        self._open: list[str] = []

    def take(self, step: Asked | AskedAgain) -> None:
        """Do what ``step`` says, with everything that has to hold while it is done."""
        if isinstance(step, Asked):
            turn = self._turns.begin_turn(
                user_id="user-1", conversation_id=self._conversation, content=step.question, at=now()
            )
            self._answer(turn, step)
        elif self._open:
            turn_id = self._open.pop(step.which % len(self._open))
            self._replied = [replied for replied in self._replied if replied != turn_id]
            turn = self._turns.reopen_turn(user_id="user-1", turn_id=turn_id)
            self._answer(turn, Asked(question=turn.user_message, state="done", reply="again"))

    def _answer(self, turn: Turn, asked: Asked) -> None:
        memory = self._desk.memory(self._store, self._model, conversation_id=self._conversation, turn_id=turn.id)
        try:
            context = memory.prepare_context(reserved_input_tokens=0)
        except MessageTooLong:
            asked = Asked(question=asked.question, state="failed", reply="")
        else:
            assert context.estimated_input_tokens <= self._desk.window
            self._check_nothing_is_missing(context, turn)
        memory.finish_turn(assistant_reply=asked.reply, context_messages=1, response_tokens=1, state=asked.state)
        if asked.reply:
            self._replied.append(turn.id)
        if asked.state != "done":
            self._open.append(turn.id)
        count("turns of growing conversations")

    def _check_nothing_is_missing(self, context: PreparedContext, current: Turn) -> None:
        """What the summary does not cover is in the window, in its order, or left out of it for now."""
        replied = [self._turns.turn(user_id="user-1", turn_id=turn_id) for turn_id in self._replied]
        assert replied == sorted(replied, key=lambda turn: turn.position)
        expected = [
            text
            for turn in replied
            if 2 * turn.position > self._store.summarized_through
            for text in (turn.user_message, turn.reply)
        ]
        sent = context.input_messages[len(context.input_messages) - context.context_messages :]
        assert [item["content"] for item in sent] == [*expected, current.user_message][context.left_out_messages :]


@pytest.fixture(scope="module")
def empty_record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("record") / "memora.db"
    open_database(f"sqlite:///{path}").close()
    return path


@contextmanager
def copied(record: Path) -> Iterator[Database]:
    """A database of its own for every example."""
    with TemporaryDirectory() as folder:
        shutil.copy(record, folder)
        database = open_database(f"sqlite:///{folder}/{record.name}")
        try:
            yield database
        finally:
            database.close()


@settings(max_examples=scaled(short=15, full=200), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(steps=steps, script=outcomes, room=st.integers(100, 600))
def test_a_conversation_that_grows_loses_no_message_and_its_summary_never_goes_back(
    steps: list[Asked | AskedAgain], script: list[Step], room: int, empty_record: Path
) -> None:
    with copied(empty_record) as database:
        talk = Talk(database, script, desk=Desk(counter=COUNTER, window=FIXED + room))
        for step in steps:
            talk.take(step)


def now() -> datetime:
    return datetime.now(UTC)
