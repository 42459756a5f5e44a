"""Fifty people talk at once while one message in twenty goes wrong: nothing is lost, mixed up, or there twice.

Every message holds a word that says who wrote it, in which session and when. Whatever was stored or sent can so be
traced to its writer.
"""

from __future__ import annotations

import inspect
import json
from collections import Counter

import pytest
from load.aftermath import crowd_of
from load.crowd import CURABLE, HEALED, LASTING, words_of
from load.marks import marks_in, owners, user_id
from support.figures import count
from support.scale import scaled

from memora.memory import MemoryQuery
from memora.providers.demo.request import message_text, read_request
from memora.turn.events import FINAL_STATES
from memora.turn.learner import Learner
from memora.turn.runner import TurnRunner
from memora.turn.tally import TokenTally

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

SESSIONS, USERS = 50, 10
SECONDS = scaled(short=30.0, full=300.0)
SEED = "memora"

KB_PER_TURN = 32
"""What may stay resident of a turn. Measured over 1,100 turns: 27 kB, one half of it holes in the heap, the other what
is kept on purpose (the index's vectors) or up to a limit (counted texts, pages and statements of the database)."""
KB_TO_BEGIN_WITH = 24_000
"""What may still come after a third of the time whatever the number of turns: the caches of the database's connections
(2 MB each, and one for each worker)."""
FILES_PER_CONNECTION, FILES_PER_REQUEST, OTHER_FILES = 3, 2, 30
"""A connection holds the database, its log and the log's index; a request its socket and an old one that may be used
again; the others are the standard ones, Chroma's and the lock of the data folder."""


def workers_of(kind: type) -> int:
    return inspect.signature(kind).parameters["workers"].default


WORKERS = workers_of(TurnRunner) + workers_of(Learner) + workers_of(TokenTally)


@pytest.fixture(scope="module")
def crowd(tmp_path_factory):
    folder = tmp_path_factory.mktemp("crowd")
    with crowd_of(folder, sessions=SESSIONS, users=USERS, seconds=SECONDS, seed=SEED) as aftermath:
        count("turns under load", len(aftermath.said))
        count("faults under load", sum(bool(said.fault) for said in aftermath.said))
        yield aftermath


@pytest.fixture(scope="module")
def turns(crowd):
    """Every turn in the record, by its id."""
    found = {}
    for said in crowd.said:
        found[said.turn_id] = crowd.app.turns.turn(user_id=said.mark.user_id, turn_id=said.turn_id)
    return found


@pytest.fixture(scope="module")
def memories(crowd):
    """All memories of every user, whatever their status."""
    query = MemoryQuery(status="all", limit=100_000)
    return {user_id(user): crowd.app.memory.page(user_id=user_id(user), query=query).memories for user in range(USERS)}


def test_everybody_was_answered_and_nothing_was_logged_as_an_error(crowd):
    assert crowd.problems == ()
    assert {said.session for said in crowd.said} == set(range(SESSIONS))


# Nothing is lost.


def test_every_message_that_was_acknowledged_is_there_and_its_turn_has_ended(crowd, turns):
    lost = [said for said in crowd.said if turns[said.turn_id].user_message != said.text]
    open_turns = [said for said in crowd.said if turns[said.turn_id].state not in FINAL_STATES]
    count("messages lost", len(lost) + len(open_turns))
    assert (lost, open_turns) == ([], [])


def test_what_can_be_healed_was_answered_in_the_end(crowd, turns):
    unanswered = {
        (said.fault, turns[said.turn_id].state)
        for said in crowd.said
        if not said.stopped and said.fault in ("", *HEALED, *CURABLE) and turns[said.turn_id].state != "done"
    }
    assert unanswered == set()


def test_every_answer_belongs_to_its_question(crowd, turns):
    answered = [
        said for said in crowd.said if turns[said.turn_id].state == "done" and said.fault not in LASTING
    ]  # a refusal is an answer, too
    strayed = [(said.text, turns[said.turn_id].reply) for said in answered if not fits(said, turns[said.turn_id].reply)]
    assert strayed == []
    assert len(answered) > len(crowd.said) / 2


def fits(said, reply) -> bool:
    """Whether ``reply`` answers this message, told by what only it contains."""
    match said.kind:
        case "like" | "home":
            return marks_in(reply) == {said.mark}
        case "count":
            return f" {words_of(said.mark)} words" in reply
        case "recall":
            return owners(reply) <= {said.mark.user_id}


def test_everything_that_was_told_is_remembered_whatever_went_wrong_with_learning_it(crowd, turns, memories):
    told = {said.mark for said in crowd.said if said.kind in ("like", "home") and turns[said.turn_id].reply}
    remembered = {mark for kept in memories.values() for memory in kept for mark in marks_in(memory.content)}
    count("memories lost", len(told - remembered))
    assert told - remembered == set()
    assert [said.text for said in crowd.said if turns[said.turn_id].learning not in ("none", "done")] == []


# Nothing is crossed.


def test_nothing_that_one_user_wrote_is_stored_for_another(crowd):
    crossed = [(owner, text) for owner, text in crowd.owned_rows() if not owners(text) <= {owner}]
    count("crossed", len(crossed))
    assert crossed == []


def test_nothing_that_one_user_wrote_is_sent_with_the_words_of_another(crowd):
    crossed = [exchange for exchange in crowd.exchanges if len(owners(json.dumps(exchange))) > 1]
    count("crossed", len(crossed))
    assert crossed == []
    assert any(len(marks_in(json.dumps(exchange["body"]))) > 1 for exchange in crowd.exchanges)


def test_no_message_of_one_conversation_enters_the_window_of_another(crowd):
    answers = [exchange["body"] for exchange in crowd.exchanges if read_request(exchange["body"]).purpose == "answer"]
    strayed = []
    for body in answers:
        said = [
            message_text(item)
            for item in body["input"]
            if item.get("role") == "user" and "<background" not in str(item)
        ]
        if len({(mark.user, mark.session) for text in said for mark in marks_in(text)}) > 1:
            strayed.append(said)
    count("crossed", len(strayed))
    assert strayed == []


def test_a_trace_tells_of_its_own_user_only(crowd):
    for said in crowd.said[:: max(1, len(crowd.said) // 100)]:
        trace = crowd.app.runner.trace(user_id=said.mark.user_id, turn_id=said.turn_id)
        assert owners(str(trace)) == {said.mark.user_id}
        assert trace.user_message == said.text


# Nothing is doubled.


def test_every_message_and_every_answer_is_stored_once(crowd):
    stored = Counter((row["turn_id"], row["role"]) for row in crowd.rows("SELECT turn_id, role FROM messages"))
    written = Counter(
        mark
        for row in crowd.rows("SELECT content FROM messages WHERE role = 'user'")
        for mark in marks_in(row["content"])
    )
    doubled = [key for key, times in (stored + Counter(written)).items() if times > 1]
    count("doubled", len(doubled))
    assert doubled == []
    assert set(written) == {said.mark for said in crowd.said}


def test_nothing_is_remembered_twice(crowd, memories):
    # Who asks for another answer says it again, and something else may have been told in between.
    said_again = {said.mark for said in crowd.said if said.retried}
    doubled = []
    for kept in memories.values():
        ever = Counter(memory.content for memory in kept if not marks_in(memory.content) & said_again)
        now = Counter(memory.content for memory in kept if memory.is_current)
        doubled += [content for content, times in (ever | now).items() if times > 1]
    count("doubled", len(doubled))
    assert doubled == []


def test_the_model_was_asked_once_for_what_went_well(crowd):
    asked = Counter(
        mark
        for exchange in crowd.exchanges
        if (request := read_request(exchange["body"])).purpose == "answer" and request.number == 1
        for mark in marks_in(request.message)
    )
    wrong = {said.text: asked[said.mark] for said in crowd.said if said.is_plain and asked[said.mark] != 1}
    count("doubled", len(wrong))
    assert wrong == {}


# Nothing piles up.


def test_nothing_of_a_turn_stays_in_memory_when_it_is_over(crowd):
    assert crowd.kept == {"LiveLogs": 1}


def test_memory_grows_by_no_more_than_what_is_kept_of_a_turn(crowd):
    early, late = crowd.samples[len(crowd.samples) // 3], crowd.samples[-1]
    grown = late.rss_kb - early.rss_kb
    assert grown < KB_TO_BEGIN_WITH + KB_PER_TURN * (late.turns - early.turns), (early, late)


def test_threads_are_bounded_by_the_number_of_workers_whatever_the_number_of_sessions(crowd):
    # The main thread, upkeep, and what waits for its time; each worker may have a request, and one that winds down.
    assert max(sample.threads for sample in crowd.samples) <= 3 + 3 * WORKERS


def test_open_files_are_bounded_and_do_not_grow_with_the_turns(crowd):
    third = len(crowd.samples) // 3
    early, late = (max(sample.files for sample in part) for part in (crowd.samples[:third], crowd.samples[third:]))
    assert late <= early + FILES_PER_CONNECTION * WORKERS
    assert late <= FILES_PER_CONNECTION * (SESSIONS + WORKERS) + FILES_PER_REQUEST * WORKERS + OTHER_FILES


def test_the_index_holds_what_the_record_holds(crowd):
    for user in range(USERS):
        held = crowd.app.memory.index.revisions(user_id=user_id(user))
        assert held == crowd.app.memory.store.revisions(user_id=user_id(user))
        assert held
