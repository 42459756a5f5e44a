from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from memora.errors import NotFound
from memora.memory.values import Category, MemoryChange, MemoryQuery, ProfileUpdate, Provenance


def current(record, user_id="mei") -> list[str]:
    page = record.memories.page(user_id=user_id, query=MemoryQuery())
    return [memory.content for memory in page.memories]


def test_a_created_memory_knows_its_turn_and_the_words_that_support_it(record, decide):
    turn = record.to_learn()
    at = record.tick()
    learned = record.memories.commit_learning(
        user_id="mei",
        turn_id=turn.id,
        decisions=[decide("create", "使用者住在台北", importance=4, quote="住在台北")],
        profile=[],
        at=at,
    )
    (change,) = learned.changes
    memory = record.memories.get(user_id="mei", memory_id=change.memory_id)
    assert change == MemoryChange(action="create", memory_id=memory.id, content="使用者住在台北")
    assert memory.provenance == Provenance(
        origin="extraction", turn_id=turn.id, conversation_id=turn.conversation_id, quote="住在台北"
    )
    assert (memory.category, memory.importance, memory.created_at) == (Category.PROFILE, 4, at)
    (entry,) = record.memories.history(user_id="mei", memory_id=memory.id)
    assert (entry.action, entry.origin, entry.turn_id) == ("created", "extraction", turn.id)
    assert record.turns.turn(user_id="mei", turn_id=turn.id).learning == "done"


def test_the_provenance_outlives_the_conversation(record, decide):
    (change,) = record.learn(decide("create", "x"))
    provenance = record.memories.get(user_id="mei", memory_id=change.memory_id).provenance
    record.turns.delete_conversation(user_id="mei", conversation_id=provenance.conversation_id, at=record.tick())
    assert record.memories.get(user_id="mei", memory_id=change.memory_id).provenance == provenance
    assert record.turns.turn(user_id="mei", turn_id=provenance.turn_id)


def test_an_update_supersedes_and_the_history_shows_both(record, decide):
    old = record.memory("我住在台北", importance=5)
    record.memories.set_pinned(user_id="mei", memory_id=old.id, pinned=True, at=record.tick())
    (change,) = record.learn(decide("update", "我住在高雄", target=old, importance=2))
    new = record.memories.get(user_id="mei", memory_id=change.memory_id)
    assert change == MemoryChange(
        action="update",
        memory_id=new.id,
        content="我住在高雄",
        previous_memory_id=old.id,
        previous_content="我住在台北",
    )
    assert new.is_current
    assert (new.pinned, new.importance) == (True, 5)
    superseded = record.memories.get(user_id="mei", memory_id=old.id)
    assert (superseded.superseded_by, superseded.superseded_at) == (new.id, new.valid_from)
    history = record.memories.history(user_id="mei", memory_id=new.id)
    assert [(entry.action, entry.after) for entry in history][:2] == [
        ("created", "我住在高雄"),
        ("superseded", "我住在高雄"),
    ]
    assert {entry.memory_id for entry in history} == {old.id, new.id}
    assert record.found("我住在哪裡") == ["我住在高雄"]


def test_an_update_of_what_is_no_longer_current_becomes_a_create(record, decide):
    old = record.memory("我住在台北")
    record.memories.delete(user_id="mei", memory_ids=[old.id], at=record.tick())
    (change,) = record.learn(decide("update", "我住在高雄", target=old))
    assert (change.action, change.previous_memory_id) == ("create", None)
    assert current(record) == ["我住在高雄"]


def test_an_update_of_what_somebody_has_edited_meanwhile_becomes_a_create_of_what_was_said(record, decide):
    old = record.memory("我住在台北")
    record.memories.edit(
        user_id="mei", memory_id=old.id, content="我住在台中", category=old.category, importance=3, at=record.tick()
    )
    decision = replace(decide("update", "我住在高雄", target=old), content="我從台北搬到高雄")
    (change,) = record.learn(decision)
    assert (change.action, change.content) == ("create", "我住在高雄")
    assert current(record) == ["我住在高雄", "我住在台中"]


def test_what_was_said_is_not_learned_any_more_when_nothing_is_to_be_remembered_of_it(record, decide):
    learnable, others = record.to_learn(), record.to_learn(user_id="you")
    record.memories.learn_no_more(user_id="mei")
    learn = {"profile": [], "at": record.tick(), "decisions": [decide("create", "x")]}
    assert record.memories.commit_learning(user_id="mei", turn_id=learnable.id, **learn) is None
    assert record.memories.commit_learning(user_id="you", turn_id=others.id, **learn) is not None


def test_two_updates_of_the_same_memory_in_one_turn_lose_neither(record, decide):
    old = record.memory("我住在台北")
    changes = record.learn(decide("update", "我住在高雄", target=old), decide("update", "我住在高雄左營", target=old))
    assert [change.action for change in changes] == ["update", "create"]
    assert current(record) == ["我住在高雄左營", "我住在高雄"]


def test_a_skip_changes_nothing_and_is_told(record, decide):
    memory = record.memory("我住在台北")
    (change,) = record.learn(decide("skip", "住在台北", target=memory))
    assert change == MemoryChange(action="skip", memory_id=memory.id, content="我住在台北")
    assert current(record) == ["我住在台北"]


@pytest.mark.parametrize("action", ["create", "update"])
def test_a_sentence_that_is_current_is_not_stored_again(record, decide, action):
    memory = record.memory("我住在台北")
    (change,) = record.learn(decide(action, "我住在台北。", target=memory))
    assert change == MemoryChange(action="skip", memory_id=memory.id, content="我住在台北")
    assert current(record) == ["我住在台北"]


def test_a_sentence_that_comes_twice_in_one_turn_is_stored_once(record, decide):
    changes = record.learn(decide("create", "I have a cat"), decide("create", "I have a cat."))
    assert [change.action for change in changes] == ["create", "skip"]
    assert changes[0].memory_id == changes[1].memory_id


def test_a_turn_is_learned_from_once(record, decide):
    turn = record.to_learn()
    learn = {"user_id": "mei", "turn_id": turn.id, "profile": [], "at": record.tick()}
    assert record.memories.commit_learning(**learn, decisions=[decide("create", "one")]) is not None
    assert record.memories.commit_learning(**learn, decisions=[decide("create", "two")]) is None
    assert current(record) == ["one"]


def test_two_workers_that_learn_from_the_same_turn_store_it_once(record, decide):
    turn = record.to_learn()
    at = record.tick()

    def learn(number: int):
        return record.memories.commit_learning(
            user_id="mei", turn_id=turn.id, decisions=[decide("create", f"fact {number}")], profile=[], at=at
        )

    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(learn, range(4)))
    assert sum(result is not None for result in results) == 1
    assert len(current(record)) == 1


def test_a_turn_that_is_not_to_be_learned_from_teaches_nothing(record, decide):
    turn = record.finish(record.asked(record.conversation()))
    decisions = [decide("create", "x")]
    assert (
        record.memories.commit_learning(
            user_id="mei", turn_id=turn.id, decisions=decisions, profile=[], at=record.tick()
        )
        is None
    )
    assert current(record) == []


def test_what_cannot_be_stored_whole_is_not_stored_at_all(record, decide):
    turn = record.to_learn()
    decisions = [decide("create", "good"), decide("create", "bad", importance=9)]
    with pytest.raises(Exception, match="CHECK"):
        record.memories.commit_learning(
            user_id="mei",
            turn_id=turn.id,
            decisions=decisions,
            profile=[ProfileUpdate(field="name", value="Mei", quote="I am Mei")],
            at=record.tick(),
        )
    assert current(record) == []
    assert record.found("good") == []
    assert record.profiles.profile(user_id="mei") == {}
    assert record.turns.turn(user_id="mei", turn_id=turn.id).learning == "pending"


def test_the_profile_learns_with_provenance(record):
    update = ProfileUpdate(field="name", value="小美", quote="我叫小美")
    assert record.learned(profile=[update]).profile == (update,)
    value = record.profiles.profile(user_id="mei")["name"]
    assert value.value == "小美"
    assert (value.provenance.origin, value.provenance.quote) == ("extraction", "我叫小美")
    assert record.turns.turn(user_id="mei", turn_id=value.provenance.turn_id)


def test_a_locked_field_does_not_learn(record):
    record.profiles.set_profile(user_id="mei", field="name", value="Mei", at=record.tick())
    record.profiles.lock_profile(user_id="mei", field="name", locked=True, at=record.tick())
    before = record.profiles.profile(user_id="mei")
    update = ProfileUpdate(field="name", value="小美", quote="我叫小美")
    assert record.learned(profile=[update]).profile == ()
    assert record.profiles.profile(user_id="mei") == before


def test_only_the_profile_fields_that_changed_are_told(record):
    known = ProfileUpdate(field="name", value="小美", quote="我叫小美")
    new = ProfileUpdate(field="interests", value="貓", quote="我喜歡貓")
    record.learned(profile=[known])
    assert record.learned(profile=[known, new]).profile == (new,)


def test_another_users_turn_and_memories_are_out_of_reach(record, decide):
    turn, memory = record.to_learn("mei"), record.memory("我住在台北")
    with pytest.raises(NotFound):
        record.memories.commit_learning(
            user_id="lin", turn_id=turn.id, decisions=[decide("create", "x")], profile=[], at=record.tick()
        )
    (change,) = record.learn(decide("update", "我住在高雄", target=memory), user_id="lin")
    assert change.action == "create"
    assert current(record) == ["我住在台北"]
    assert current(record, "lin") == ["我住在高雄"]
    (same,) = record.learn(decide("create", "我住在台北"), user_id="lin")
    assert same.action == "create"
