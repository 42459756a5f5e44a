"""The fold of events: valid at every moment, the same live, stored and read again.

Events come once: a batch is appended in one transaction. So nothing here says that a doubled event folds to nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from itertools import accumulate, pairwise
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter
from support.figures import count
from support.scale import scaled
from support.values import values_of

from memora.providers.database import Database, open_database
from memora.turn import events as ev
from memora.turn.spans import LearningSpan, RecallSpan
from memora.turn.trace import Trace, TraceDigest, advance, fold

pytestmark = pytest.mark.timeout(600)
EXAMPLES = settings(max_examples=scaled(short=30, full=300), deadline=None)
KINDS: tuple[type, ...] = get_args(get_args(ev.Event)[0])


def _of_one_turn(event: ev.Event, number: int, call_id: str) -> ev.Event:
    """``event`` about one of few requests and calls, so that events are about the same one."""
    known = {"number": number, "call_id": call_id}
    return replace(event, **{part.name: known[part.name] for part in fields(event) if part.name in known})


logs: st.SearchStrategy[list[ev.Event]] = st.lists(
    st.builds(
        _of_one_turn, st.one_of([values_of(kind) for kind in KINDS]), st.integers(1, 2), st.sampled_from(["a", "b"])
    ),
    max_size=10,
)
"""Events in any order, also in those that never come about."""


def stored(log: Sequence[ev.Event]) -> list[ev.Event]:
    """What the record keeps of ``log``, written and read again."""
    return [ev.event_from_json(ev.event_to_json(event)) for event in log if not isinstance(event, ev.TextArrived)]


def check_valid(trace: Trace) -> None:
    """What the panel and the tally rely on."""
    numbers = [request.number for request in trace.requests]
    assert len(set(numbers)) == len(numbers)
    for kind in (RecallSpan, LearningSpan):
        assert len([span for span in trace.spans if isinstance(span, kind)]) <= 1
    digest = trace.digest()
    assert digest.requests == len(numbers)
    assert len(digest.tools) <= len(trace.calls)
    assert TypeAdapter(TraceDigest).validate_json(TypeAdapter(TraceDigest).dump_json(digest)) == digest


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_an_event_of_every_kind_is_one_line_and_reads_as_it_was_written(kind: type) -> None:
    @settings(max_examples=scaled(short=8, full=150), deadline=None)
    @given(event=values_of(kind))
    def check(event: ev.Event) -> None:
        line = ev.event_to_json(event)
        assert "\n" not in line
        assert ev.event_from_json(line) == event
        count("events written and read")

    check()


@EXAMPLES
@given(log=logs)
def test_every_prefix_of_any_log_is_a_valid_trace_and_no_span_ever_goes(log: list[ev.Event]) -> None:
    traces = list(accumulate(log, advance, initial=Trace()))
    assert traces == [fold(log[:length]) for length in range(len(log) + 1)]
    for trace in traces:
        check_valid(trace)
    for earlier, later in pairwise(traces):
        assert [type(span) for span in later.spans[: len(earlier.spans)]] == [type(span) for span in earlier.spans]


@EXAMPLES
@given(log=logs)
def test_a_trace_read_again_equals_the_live_one_but_for_the_streamed_text(log: list[ev.Event]) -> None:
    assert fold(stored(log)) == replace(fold(log), live_text="")
    assert fold(stored(stored(log))) == fold(stored(log))


@EXAMPLES
@given(log=logs, end=values_of(ev.TurnFinished))
def test_nothing_goes_on_running_when_the_turn_has_ended(log: list[ev.Event], end: ev.TurnFinished) -> None:
    trace = fold([*log, end])
    assert (trace.state, trace.reply, trace.usage) == (end.state, end.reply, end.usage)
    assert "running" not in [span.status for span in trace.spans]


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    database = open_database(f"sqlite:///{tmp_path_factory.mktemp('record') / 'memora.db'}")
    yield database
    database.close()


@settings(max_examples=scaled(short=10, full=150), deadline=None)
@given(batches=st.lists(logs, max_size=3))
def test_a_log_comes_out_of_the_record_as_it_went_in_batch_by_batch(
    batches: list[list[ev.Event]], database: Database
) -> None:
    turns, at = database.turns, datetime.now(UTC)
    conversation = turns.create_conversation(user_id="mei", title="t", at=at)
    turn = turns.begin_turn(user_id="mei", conversation_id=conversation.id, content="?", at=at)
    log = [event for batch in batches for event in batch if not isinstance(event, ev.TextArrived)]
    for batch in batches:
        kept = [event for event in batch if not isinstance(event, ev.TextArrived)]
        turns.append_events(user_id="mei", turn_id=turn.id, events=kept)
    turns.save_digest(user_id="mei", turn_id=turn.id, digest=fold(log).digest())
    assert list(turns.events(user_id="mei", turn_id=turn.id)) == log
    assert turns.turn(user_id="mei", turn_id=turn.id).digest == fold(log).digest()
