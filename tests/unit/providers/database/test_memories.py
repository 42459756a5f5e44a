import dataclasses
from pathlib import Path

import pytest

from memora.errors import NotFound
from memora.memory.values import Category, MemoryQuery, Provenance


def contents(record, user_id="mei", **query) -> list[str]:
    page = record.memories.page(user_id=user_id, query=MemoryQuery(**query))
    return [memory.content for memory in page.memories]


def story(record, memory, user_id="mei") -> list[tuple[str, str, str]]:
    history = record.memories.history(user_id=user_id, memory_id=memory.id)
    return [(entry.action, entry.before, entry.after) for entry in history]


def replaced(record, decide, old, content):
    """The memory that supersedes ``old``."""
    (change,) = record.learn(decide("update", content, target=old))
    return record.memories.get(user_id="mei", memory_id=change.memory_id)


def test_a_memory_comes_back_as_it_was_added(record):
    provenance = Provenance(origin="import", turn_id="t", conversation_id="c", quote="我住在台北")
    memory = record.memory("使用者住在台北", category=Category.PROFILE, importance=5, provenance=provenance)
    assert record.memories.get(user_id="mei", memory_id=memory.id) == memory
    assert memory.is_current
    assert memory.provenance == provenance
    assert memory.valid_from == memory.created_at
    assert story(record, memory) == [("created", "", "使用者住在台北")]


def test_only_current_memories_are_got_as_current(record, decide):
    kept, deleted, old = record.memory("kept"), record.memory("deleted"), record.memory("old")
    new = replaced(record, decide, old, "new")
    record.memories.delete(user_id="mei", memory_ids=[deleted.id], at=record.tick())
    asked = [kept.id, deleted.id, old.id, new.id, "unknown"]
    assert set(record.memories.get_current(user_id="mei", memory_ids=asked)) == {kept.id, new.id}
    assert set(record.memories.revisions(user_id="mei")) == {kept.id, new.id}


def test_pinned_memories_come_most_important_first(record):
    low, high = record.memory("low", importance=1), record.memory("high", importance=5)
    record.memory("not pinned")
    for memory in (low, high):
        record.memories.set_pinned(user_id="mei", memory_id=memory.id, pinned=True, at=record.tick())
    assert [memory.content for memory in record.memories.pinned(user_id="mei")] == ["high", "low"]
    assert story(record, low)[0][0] == "pinned"
    record.memories.set_pinned(user_id="mei", memory_id=low.id, pinned=False, at=record.tick())
    assert [memory.content for memory in record.memories.pinned(user_id="mei")] == ["high"]
    assert story(record, low)[0][0] == "unpinned"


def test_pinning_what_is_pinned_is_no_change(record):
    memory = record.memory("x")
    for _ in range(2):
        record.memories.set_pinned(user_id="mei", memory_id=memory.id, pinned=True, at=record.tick())
    assert [action for action, _, _ in story(record, memory)] == ["pinned", "created"]


def test_the_same_sentence_is_found_whatever_its_case_and_final_stop(record):
    memory = record.memory("I live in Taipei.")
    assert record.memories.find_same(user_id="mei", content="i live in  Taipei") == memory
    assert record.memories.find_same(user_id="mei", content="I live in Tainan") is None
    record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick())
    assert record.memories.find_same(user_id="mei", content="I live in Taipei.") is None


def test_touching_dates_and_counts(record):
    memory, other = record.memory("used"), record.memory("not used")
    for _ in range(2):
        at = record.tick()
        record.memories.touch(user_id="mei", memory_ids=[memory.id, "unknown"], at=at)
    touched = record.memories.get(user_id="mei", memory_id=memory.id)
    assert touched == dataclasses.replace(memory, last_accessed_at=at, access_count=2)
    assert record.memories.get(user_id="mei", memory_id=other.id) == other


class TestEditing:
    def test_changes_the_memory_in_place_and_the_history_keeps_what_was_there(self, record):
        memory = record.memory("I live in Taipei")
        at = record.tick()
        edited = record.memories.edit(
            user_id="mei",
            memory_id=memory.id,
            content="I live in Tainan",
            category=Category.PROFILE,
            importance=4,
            at=at,
        )
        assert edited == dataclasses.replace(
            memory,
            content="I live in Tainan",
            category=Category.PROFILE,
            importance=4,
            updated_at=at,
            revision=2,
        )
        assert story(record, memory)[0] == ("edited", "I live in Taipei", "I live in Tainan")
        assert record.found("Tainan") == ["I live in Tainan"]
        assert record.found("Taipei") == []
        assert record.memories.find_same(user_id="mei", content="i live in tainan") == edited

    def test_the_revision_counts_changes_of_the_sentence_only(self, record):
        memory = record.memory("x", importance=2)
        edited = record.memories.edit(
            user_id="mei", memory_id=memory.id, content="x", category=memory.category, importance=5, at=record.tick()
        )
        assert (edited.importance, edited.revision) == (5, 1)

    def test_an_edit_that_changes_nothing_leaves_no_trace(self, record):
        memory = record.memory("x")
        edited = record.memories.edit(
            user_id="mei",
            memory_id=memory.id,
            content="x",
            category=memory.category,
            importance=memory.importance,
            at=record.tick(),
        )
        assert edited == memory
        assert len(story(record, memory)) == 1

    @pytest.mark.parametrize("how", ["deleted", "superseded"])
    def test_only_a_current_memory_can_be_edited_or_pinned(self, record, decide, how):
        memory = record.memory("old")
        if how == "deleted":
            record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick())
        else:
            replaced(record, decide, memory, "new")
        with pytest.raises(NotFound):
            record.memories.edit(
                user_id="mei", memory_id=memory.id, content="y", category="goal", importance=1, at=record.tick()
            )
        with pytest.raises(NotFound):
            record.memories.set_pinned(user_id="mei", memory_id=memory.id, pinned=True, at=record.tick())


class TestDeleting:
    def test_hides_a_memory_until_it_is_brought_back(self, record):
        memory = record.memory("My cat is called Mochi")
        at = record.tick()
        assert record.memories.delete(user_id="mei", memory_ids=[memory.id, "unknown"], at=at) == (memory.id,)
        assert record.memories.get(user_id="mei", memory_id=memory.id).deleted_at == at
        assert contents(record) == []
        assert contents(record, status="deleted") == ["My cat is called Mochi"]
        assert record.found("cat") == []
        assert record.memories.undelete(user_id="mei", memory_ids=[memory.id], at=record.tick()) == (memory.id,)
        assert record.memories.get(user_id="mei", memory_id=memory.id) == memory
        assert record.found("cat") == ["My cat is called Mochi"]
        assert [action for action, _, _ in story(record, memory)] == ["undeleted", "deleted", "created"]

    def test_twice_happens_once(self, record):
        memory = record.memory("x")
        record.memories.delete(user_id="mei", memory_ids=[memory.id, memory.id], at=record.tick())
        assert record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick()) == ()
        record.memories.undelete(user_id="mei", memory_ids=[memory.id], at=record.tick())
        assert record.memories.undelete(user_id="mei", memory_ids=[memory.id], at=record.tick()) == ()
        assert len(story(record, memory)) == 3

    def test_an_old_version_comes_back_as_an_old_version(self, record, decide):
        old = record.memory("I live in Taipei")
        replaced(record, decide, old, "I live in Kaohsiung")
        record.memories.delete(user_id="mei", memory_ids=[old.id], at=record.tick())
        assert contents(record, status="superseded") == []
        record.memories.undelete(user_id="mei", memory_ids=[old.id], at=record.tick())
        assert contents(record, status="superseded") == ["I live in Taipei"]
        assert record.found("Taipei live") == ["I live in Kaohsiung"]


class TestPurging:
    def test_removes_record_words_and_history_from_the_file(self, record, decide, database):
        old = record.memory("I live in Taipei")
        new = replaced(record, decide, old, "The secret hideout is Xizhou")
        restored = record.memories.restore(user_id="mei", memory_id=old.id, at=record.tick())
        record.memories.delete(user_id="mei", memory_ids=[new.id], at=record.tick())
        record.memories.purge(user_id="mei", memory_ids=[new.id])
        with pytest.raises(NotFound):
            record.memories.get(user_id="mei", memory_id=new.id)
        assert record.memories.history(user_id="mei", memory_id=new.id) == ()
        assert restored.is_current
        assert story(record, old) == [
            ("restored", "", "I live in Taipei"),
            ("superseded", "I live in Taipei", ""),
            ("created", "", "I live in Taipei"),
        ]
        database.close()
        assert b"hideout" not in Path(database.path).read_bytes()
        assert b"xizhou" not in Path(database.path).read_bytes().lower()

    def test_spares_what_is_not_deleted(self, record):
        memory = record.memory("x")
        record.memories.purge(user_id="mei", memory_ids=[memory.id])
        assert record.memories.get(user_id="mei", memory_id=memory.id) == memory

    def test_of_the_new_version_leaves_the_old_one_superseded_and_restorable(self, record, decide):
        old = record.memory("I live in Taipei")
        new = replaced(record, decide, old, "I live in Kaohsiung")
        record.memories.delete(user_id="mei", memory_ids=[new.id], at=record.tick())
        record.memories.purge(user_id="mei", memory_ids=[new.id])
        assert contents(record) == []
        assert record.memories.restore(user_id="mei", memory_id=old.id, at=record.tick()).is_current
        assert record.found("Taipei") == ["I live in Taipei"]


class TestRestoring:
    def test_makes_the_old_version_current_and_supersedes_the_new_one(self, record, decide):
        old = record.memory("I live in Taipei")
        new = replaced(record, decide, old, "I live in Kaohsiung")
        at = record.tick()
        restored = record.memories.restore(user_id="mei", memory_id=old.id, at=at)
        assert restored.is_current
        assert (restored.id, restored.created_at, restored.valid_from) == (old.id, old.created_at, at)
        superseded = record.memories.get(user_id="mei", memory_id=new.id)
        assert (superseded.superseded_by, superseded.superseded_at) == (old.id, at)
        assert contents(record) == ["I live in Taipei"]
        assert record.found("live") == ["I live in Taipei"]
        assert story(record, old) == [
            ("restored", "I live in Kaohsiung", "I live in Taipei"),
            ("superseded", "I live in Kaohsiung", "I live in Taipei"),
            ("created", "", "I live in Kaohsiung"),
            ("superseded", "I live in Taipei", "I live in Kaohsiung"),
            ("created", "", "I live in Taipei"),
        ]

    def test_reaches_over_versions_in_between(self, record, decide):
        first = record.memory("I live in Taipei")
        second = replaced(record, decide, first, "I live in Tainan")
        third = replaced(record, decide, second, "I live in Kaohsiung")
        record.memories.restore(user_id="mei", memory_id=first.id, at=record.tick())
        assert contents(record) == ["I live in Taipei"]
        record.memories.restore(user_id="mei", memory_id=second.id, at=record.tick())
        assert contents(record) == ["I live in Tainan"]
        assert len(contents(record, status="superseded")) == 2
        assert {entry.memory_id for entry in record.memories.history(user_id="mei", memory_id=second.id)} == {
            first.id,
            second.id,
            third.id,
        }

    def test_over_a_deleted_version_keeps_that_from_becoming_current_again(self, record, decide):
        old = record.memory("I live in Taipei")
        new = replaced(record, decide, old, "I live in Kaohsiung")
        record.memories.delete(user_id="mei", memory_ids=[new.id], at=record.tick())
        record.memories.restore(user_id="mei", memory_id=old.id, at=record.tick())
        record.memories.undelete(user_id="mei", memory_ids=[new.id], at=record.tick())
        assert contents(record) == ["I live in Taipei"]

    def test_what_is_current_stays_as_it_is(self, record):
        memory = record.memory("x")
        assert record.memories.restore(user_id="mei", memory_id=memory.id, at=record.tick()) == memory
        assert len(story(record, memory)) == 1

    def test_a_deleted_memory_is_not_to_be_restored(self, record):
        memory = record.memory("x")
        record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick())
        with pytest.raises(NotFound):
            record.memories.restore(user_id="mei", memory_id=memory.id, at=record.tick())


class TestPages:
    def test_count_all_that_match_and_show_some(self, record):
        for number in range(5):
            record.memory(f"fact {number}")
        page = record.memories.page(user_id="mei", query=MemoryQuery(offset=1, limit=2))
        assert [memory.content for memory in page.memories] == ["fact 3", "fact 2"]
        assert page.total == 5

    def test_filter_by_status(self, record, decide):
        old, gone = record.memory("old"), record.memory("gone")
        replaced(record, decide, old, "new")
        record.memories.delete(user_id="mei", memory_ids=[gone.id], at=record.tick())
        assert contents(record) == ["new"]
        assert contents(record, status="superseded") == ["old"]
        assert contents(record, status="deleted") == ["gone"]
        assert contents(record, status="all") == ["new", "gone", "old"]

    def test_filter_by_category_and_pin(self, record):
        record.memory("goal", category=Category.GOAL)
        pinned = record.memory("preference", category=Category.PREFERENCE)
        record.memory("knowledge", category=Category.KNOWLEDGE)
        record.memories.set_pinned(user_id="mei", memory_id=pinned.id, pinned=True, at=record.tick())
        chosen = (Category.GOAL, Category.PREFERENCE)
        assert contents(record, categories=chosen) == ["preference", "goal"]
        assert contents(record, pinned_only=True) == ["preference"]
        assert contents(record, pinned_only=True, categories=(Category.GOAL,)) == []

    @pytest.mark.parametrize(
        ("text", "expected"),
        [("100%", ["爬了 100% 的山"]), ("_", ["file_name"]), ("\\", ["a\\b"]), ("的山", ["爬了 100% 的山"])],
    )
    def test_filter_by_a_piece_of_text_taken_literally(self, record, text, expected):
        for content in ("爬了 100% 的山", "1000 people", "file_name", "a\\b"):
            record.memory(content)
        assert contents(record, text=text) == expected

    def test_sort(self, record):
        first, second = record.memory("first", importance=5), record.memory("second", importance=1)
        third = record.memory("third", importance=3)
        record.memories.touch(user_id="mei", memory_ids=[first.id], at=record.tick())
        record.memories.touch(user_id="mei", memory_ids=[first.id], at=record.tick())
        record.memories.touch(user_id="mei", memory_ids=[third.id], at=record.tick())
        record.memories.edit(
            user_id="mei",
            memory_id=second.id,
            content="second",
            category=Category.GOAL,
            importance=1,
            at=record.tick(),
        )
        assert contents(record, sort="newest") == ["third", "second", "first"]
        assert contents(record, sort="updated") == ["second", "third", "first"]
        assert contents(record, sort="last_used") == ["third", "first", "second"]
        assert contents(record, sort="most_used") == ["first", "third", "second"]
        assert contents(record, sort="importance") == ["first", "third", "second"]


class TestAnotherUser:
    @pytest.fixture
    def memory(self, record):
        return record.memory("我住在台北")

    def test_sees_no_memory(self, record, memory):
        with pytest.raises(NotFound):
            record.memories.get(user_id="lin", memory_id=memory.id)
        assert record.memories.get_current(user_id="lin", memory_ids=[memory.id]) == {}
        assert record.memories.history(user_id="lin", memory_id=memory.id) == ()
        assert record.memories.find_same(user_id="lin", content="我住在台北") is None
        assert record.memories.revisions(user_id="lin") == {}
        assert contents(record, user_id="lin", status="all") == []
        record.memories.set_pinned(user_id="mei", memory_id=memory.id, pinned=True, at=record.tick())
        assert record.memories.pinned(user_id="lin") == ()

    def test_finds_nothing_by_words(self, record, memory):
        record.memory("我住在高雄", user_id="lin")
        assert record.found("台北", user_id="lin") == []
        assert record.found("住在", user_id="lin") == ["我住在高雄"]

    def test_changes_nothing(self, record, memory):
        theirs = {"user_id": "lin", "memory_id": memory.id}
        with pytest.raises(NotFound):
            record.memories.edit(**theirs, content="x", category=Category.GOAL, importance=1, at=record.tick())
        with pytest.raises(NotFound):
            record.memories.set_pinned(**theirs, pinned=True, at=record.tick())
        with pytest.raises(NotFound):
            record.memories.restore(**theirs, at=record.tick())
        record.memories.touch(user_id="lin", memory_ids=[memory.id], at=record.tick())
        assert record.memories.delete(user_id="lin", memory_ids=[memory.id], at=record.tick()) == ()
        assert record.memories.get(user_id="mei", memory_id=memory.id) == memory

    def test_neither_brings_back_nor_purges_what_was_deleted(self, record, memory):
        record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick())
        assert record.memories.undelete(user_id="lin", memory_ids=[memory.id], at=record.tick()) == ()
        record.memories.purge(user_id="lin", memory_ids=[memory.id])
        assert contents(record, status="deleted") == ["我住在台北"]
