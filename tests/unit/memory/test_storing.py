from memora.memory import Category, MemoryChange, MemoryQuery, MemoryReconciliationDecision, store_accepted_memories
from memora.memory.ports import IndexUnavailable, Learned
from memora.memory.values import Candidate, ProfileUpdate

ME = "mei"


def decision(action, content, *, target=None):
    return MemoryReconciliationDecision(
        action=action,
        candidate=Candidate(content=content, category=Category.PROFILE, importance=4, quote="quoted"),
        content="" if action == "skip" else content,
        target_memory_id=target.id if target else None,
        target_content=target.content if target else "",
    )


def store(remembering, turn_id, *decisions, profile=()):
    return store_accepted_memories(
        memory=remembering.memory,
        user_id=ME,
        turn_id=turn_id,
        decisions=decisions,
        profile=profile,
        at=remembering.clock(),
    )


def test_a_created_memory_is_found_at_once_and_keeps_where_it_came_from(remembering):
    turn_id = remembering.turn_to_learn()
    (change,) = store(remembering, turn_id, decision("create", "使用者住在台北。")).changes
    assert remembering.found("Where do I live?") == ["使用者住在台北。"]
    provenance = remembering.memory.get(user_id=ME, memory_id=change.memory_id).provenance
    assert (provenance.origin, provenance.turn_id, provenance.quote) == ("extraction", turn_id, "quoted")


def test_an_update_supersedes_and_only_the_new_sentence_comes_back(remembering):
    old = remembering.add("使用者住在台北。")
    turn_id = remembering.turn_to_learn()
    (change,) = store(remembering, turn_id, decision("update", "使用者住在高雄。", target=old)).changes
    assert (change.previous_memory_id, change.previous_content) == (old.id, old.content)
    assert remembering.found("我住在哪裡？") == ["使用者住在高雄。"]
    assert remembering.indexed() == {change.memory_id}
    assert remembering.memory.get(user_id=ME, memory_id=old.id).superseded_by == change.memory_id


def test_a_superseded_version_that_is_brought_back_takes_the_place_of_the_newer_one(remembering):
    old = remembering.add("使用者住在台北。")
    store(remembering, remembering.turn_to_learn(), decision("update", "使用者住在高雄。", target=old))
    restored = remembering.memory.restore(user_id=ME, memory_id=old.id)
    assert restored.is_current
    assert remembering.found("我住在哪裡？") == ["使用者住在台北。"]
    assert remembering.indexed() == {old.id}


def test_a_skip_changes_nothing(remembering):
    known = remembering.add("使用者住在台北。")
    learned = store(remembering, remembering.turn_to_learn(), decision("skip", "使用者住台北。", target=known))
    assert learned.changes == (MemoryChange(action="skip", memory_id=known.id, content=known.content),)
    assert remembering.memory.page(user_id=ME, query=MemoryQuery(status="all")).total == 1


def test_a_turn_is_learned_from_once(remembering):
    turn_id = remembering.turn_to_learn()
    assert store(remembering, turn_id, decision("create", "使用者住在台北。"))
    assert store(remembering, turn_id, decision("create", "使用者有一隻貓。")) is None
    assert remembering.found("貓") == []


def test_the_profile_is_learned_with_the_memories(remembering):
    update = ProfileUpdate(field="name", value="小美", quote="我叫小美")
    assert store(remembering, remembering.turn_to_learn(), profile=(update,)) == Learned(profile=(update,))
    assert remembering.database.profiles.profile(user_id=ME)["name"].value == "小美"


def test_what_is_stored_stands_although_the_index_fails(remembering):
    remembering.index.failure = IndexUnavailable("broken")
    learned = store(remembering, remembering.turn_to_learn(), decision("create", "使用者住在台北。"))
    assert [change.action for change in learned.changes] == ["create"]
    remembering.index.failure = None
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.found("Where do I live?") == ["使用者住在台北。"]
