from collections.abc import Callable

import pytest
from support.memory_fakes import vector_of

from memora.errors import DatabaseUnavailable, InvalidInput, NotFound
from memora.memory import Category, LongTermMemory, MemoryQuery
from memora.memory.long_term import BATCH
from memora.memory.ports import IndexEntry, IndexUnavailable

ME, YOU = "mei", "yun"
BROKEN = IndexUnavailable("broken", "no such file")


# Recall.


def test_a_memory_is_found_by_its_meaning_in_the_other_language(remembering):
    remembering.add("使用者住在台北。")
    remembering.add("The user has a cat.")
    assert remembering.found("Where do I live?") == ["使用者住在台北。"]
    assert remembering.found("我的貓呢？") == ["The user has a cat."]


def test_what_only_words_find_comes_back_beside_what_vectors_find(remembering):
    remembering.add("使用者住在台北。")
    remembering.add("The user climbed Yushan.")
    assert set(remembering.found("我住哪裡？climbed Yushan?")) == {"使用者住在台北。", "The user climbed Yushan."}


def test_nothing_comes_back_for_a_message_that_has_nothing_to_do_with_what_is_remembered(remembering):
    remembering.add("使用者住在台北。")
    recall = remembering.memory.search(user_id=ME, query="Hello!")
    assert recall.memories == ()
    assert recall.degraded is None


def test_the_steps_of_a_search_are_timed(remembering):
    recall = remembering.memory.search(user_id=ME, query="Where do I live?")
    assert list(recall.timings_ms) == ["embedding", "index", "words", "record", "ranking"]


def test_at_most_k_memories_come_back(remembering):
    for city in ("Taipei", "Tainan", "Taitung"):
        remembering.add(f"The user lived in {city}, no longer live there.")
    assert len(remembering.found("Where did I live?", k=2)) == 2


def test_a_pinned_memory_comes_back_first_even_if_nothing_finds_it(remembering):
    pinned = remembering.add("Always answer in short sentences.")
    remembering.add("使用者住在台北。")
    remembering.memory.set_pinned(user_id=ME, memory_id=pinned.id, pinned=True)
    assert remembering.found("我住在哪裡？") == [pinned.content, "使用者住在台北。"]


def test_a_deleted_memory_does_not_come_back_even_if_the_index_still_has_it(remembering):
    memory = remembering.add("使用者住在台北。")
    remembering.index.failure = BROKEN
    remembering.memory.delete(user_id=ME, memory_ids=[memory.id])
    remembering.index.failure = None
    assert remembering.indexed() == {memory.id}
    assert remembering.found("Where do I live?") == []


def test_touching_counts_and_dates_the_use(remembering):
    memory = remembering.add("使用者住在台北。")
    remembering.clock.advance(days=1)
    remembering.memory.touch(user_id=ME, memory_ids=[memory.id])
    touched = remembering.memory.get(user_id=ME, memory_id=memory.id)
    assert (touched.access_count, touched.last_accessed_at) == (1, remembering.clock())


# Without the index.


@pytest.mark.parametrize("edge", ["index", "embedder"])
def test_without_the_index_words_find_and_the_recall_says_why(remembering, edge):
    remembering.add("使用者住在台北。")
    getattr(remembering, edge).failure = BROKEN
    recall = remembering.memory.search(user_id=ME, query="我住在哪裡？")
    assert [recalled.memory.content for recalled in recall.memories] == ["使用者住在台北。"]
    assert recall.degraded == "broken"
    assert remembering.memory.needs_refresh(user_id=ME)


def test_an_index_that_lost_what_words_find_is_told_and_rebuilt(remembering):
    memory = remembering.add("使用者住在台北。")
    remembering.memory.refresh_index(user_id=ME)
    remembering.index.entries.clear()
    remembering.clock.advance(minutes=2)
    recall = remembering.memory.search(user_id=ME, query="我住在哪裡？")
    assert [recalled.memory.id for recalled in recall.memories] == [memory.id]
    assert recall.degraded == "rebuilding"
    assert remembering.memory.needs_refresh(user_id=ME)
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.memory.search(user_id=ME, query="我住在哪裡？").degraded is None


def test_an_index_that_is_about_to_get_a_new_memory_is_not_in_doubt(remembering):
    remembering.add("使用者住在台北。")
    remembering.memory.refresh_index(user_id=ME)
    remembering.index.entries.clear()
    assert remembering.memory.search(user_id=ME, query="我住在哪裡？").degraded is None
    assert not remembering.memory.needs_refresh(user_id=ME)


def test_an_index_that_holds_what_is_gone_is_tidied_up(remembering):
    remembering.memory.refresh_index(user_id=ME)
    remembering.index.upsert(
        user_id=ME, entries=[IndexEntry(memory_id="gone", revision=1, vector=vector_of("I live here"))]
    )
    assert remembering.found("Where do I live?") == []
    assert remembering.memory.needs_refresh(user_id=ME)
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.indexed() == set()


WRITES: dict[str, Callable[[LongTermMemory, str], object]] = {
    "add": lambda memory, memory_id: memory.add(
        user_id=ME, content="I like tea.", category=Category.PREFERENCE, importance=3
    ),
    "edit": lambda memory, memory_id: memory.edit(
        user_id=ME, memory_id=memory_id, content="I moved.", category=Category.PROFILE, importance=3
    ),
    "delete": lambda memory, memory_id: memory.delete(user_id=ME, memory_ids=[memory_id]),
    "forget_all": lambda memory, memory_id: memory.forget_all(user_id=ME),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_a_write_stands_although_the_index_fails_and_the_index_catches_up_later(remembering, write):
    memory = remembering.add("使用者住在台北。")
    remembering.memory.refresh_index(user_id=ME)
    remembering.index.failure = BROKEN
    write(remembering.memory, memory.id)
    assert remembering.memory.needs_refresh(user_id=ME)

    remembering.index.failure = None
    remembering.memory.refresh_index(user_id=ME)
    held = {entry.memory_id: entry.revision for entry in remembering.index.entries.get(ME, {}).values()}
    assert held == remembering.memory.store.revisions(user_id=ME)
    assert not remembering.memory.needs_refresh(user_id=ME)


def test_a_record_that_cannot_be_read_again_after_a_write_does_not_undo_the_write(remembering, monkeypatch):
    def locked(**_):
        raise DatabaseUnavailable(path="memora.db")

    monkeypatch.setattr(remembering.memory.store, "get_current", locked)
    memory = remembering.add("使用者住在台北。")
    assert remembering.memory.get(user_id=ME, memory_id=memory.id) == memory
    assert remembering.memory.needs_refresh(user_id=ME)


# Writing by hand.


def test_an_edited_memory_is_found_by_its_new_words_only(remembering):
    memory = remembering.add("The user has a cat.")
    remembering.edit(memory, "The user has a dog.")
    assert remembering.found("Do I have a dog?") == ["The user has a dog."]
    assert remembering.found("cat") == []


@pytest.mark.parametrize("content", ["", "  ", "x" * 501])
def test_a_blank_or_overlong_sentence_is_not_remembered(remembering, content):
    with pytest.raises(InvalidInput):
        remembering.add(content)
    assert remembering.memory.page(user_id=ME, query=MemoryQuery(status="all")).total == 0


@pytest.mark.parametrize("importance", [0, 6])
def test_importance_is_from_one_to_five(remembering, importance):
    with pytest.raises(InvalidInput):
        remembering.add("I like tea.", importance=importance)


def test_a_deleted_memory_is_found_again_when_deletion_is_undone(remembering):
    memory = remembering.add("使用者住在台北。")
    assert remembering.memory.delete(user_id=ME, memory_ids=[memory.id]) == (memory.id,)
    assert remembering.found("Where do I live?") == []
    assert remembering.indexed() == set()
    assert remembering.memory.undelete(user_id=ME, memory_ids=[memory.id]) == (memory.id,)
    assert remembering.found("Where do I live?") == ["使用者住在台北。"]


def test_forgetting_everything_leaves_nothing_of_this_user_and_all_of_others(remembering):
    kept = remembering.add("The user has a cat.", user_id=YOU)
    memory = remembering.add("The user has a cat.")
    remembering.add("The user has a dog.")
    remembering.memory.delete(user_id=ME, memory_ids=[memory.id])
    assert remembering.memory.forget_all(user_id=ME) == 2
    assert remembering.memory.page(user_id=ME, query=MemoryQuery(status="all")).total == 0
    assert remembering.memory.history(user_id=ME, memory_id=memory.id) == ()
    assert remembering.indexed() == set()
    assert remembering.found("cat", user_id=YOU) == [kept.content]


# Users.


def test_another_users_memory_never_comes_back_even_if_the_index_returns_it(remembering):
    theirs = remembering.add("使用者住在台北。", user_id=YOU)
    remembering.index.entries[ME] = remembering.index.entries[YOU]
    assert remembering.found("Where do I live?") == []
    assert remembering.memory.similar(user_id=ME, contents=["The user lives in Tainan."]) == [[]]
    assert remembering.found("Where do I live?", user_id=YOU) == [theirs.content]


def test_another_users_memory_can_be_neither_read_nor_changed(remembering):
    theirs = remembering.add("使用者住在台北。", user_id=YOU)
    memory = remembering.memory
    for act in (
        lambda: memory.get(user_id=ME, memory_id=theirs.id),
        lambda: memory.set_pinned(user_id=ME, memory_id=theirs.id, pinned=True),
        lambda: memory.restore(user_id=ME, memory_id=theirs.id),
        lambda: memory.edit(user_id=ME, memory_id=theirs.id, content="x", category=Category.PROFILE, importance=1),
    ):
        with pytest.raises(NotFound):
            act()
    memory.touch(user_id=ME, memory_ids=[theirs.id])
    assert memory.delete(user_id=ME, memory_ids=[theirs.id]) == ()
    assert memory.get(user_id=YOU, memory_id=theirs.id) == theirs
    assert remembering.indexed(YOU) == {theirs.id}


# Similar memories, for reconciliation.


def test_what_may_speak_of_the_same_fact_is_similar_whatever_its_language(remembering):
    home = remembering.add("使用者住在台北。")
    remembering.add("The user has a cat.")
    remembering.memory.refresh_index(user_id=ME)
    similar = remembering.memory.similar(user_id=ME, contents=["The user lives in Kaohsiung.", "I like tea."])
    assert similar == [[home], []]


def test_what_shares_most_of_its_words_is_similar_whatever_its_vector(remembering):
    known = remembering.add("The user climbed Yushan in winter.")
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.memory.similar(user_id=ME, contents=["The user climbed Yushan."]) == [[known]]


def test_without_the_index_fewer_shared_words_make_a_memory_similar(remembering):
    home = remembering.add("使用者住在台北。")
    remembering.add("The user has a dog.")
    remembering.index.failure = BROKEN
    assert remembering.memory.similar(user_id=ME, contents=["使用者住在高雄。"]) == [[home]]


def test_an_index_in_doubt_is_helped_out_by_words_and_what_it_finds_still_counts(remembering):
    home = remembering.add("使用者住在台北。")
    remembering.index.entries.clear()
    cat = remembering.add("The user has a cat.")
    assert remembering.memory.needs_refresh(user_id=ME)
    contents = ["使用者搬到高雄。", "使用者養了一隻貓。"]
    assert remembering.memory.similar(user_id=ME, contents=contents) == [[home], [cat, home]]


def test_with_an_index_in_order_few_shared_words_make_nothing_similar(remembering):
    remembering.add("使用者住在台北。")
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.memory.similar(user_id=ME, contents=["使用者養了一隻貓。"]) == [[]]


def test_at_most_k_similar_memories_are_shown(remembering):
    for city in ("Taipei", "Tainan", "Taitung"):
        remembering.add(f"The user used to live in {city}.")
    assert [len(found) for found in remembering.memory.similar(user_id=ME, contents=["I live here"], k=2)] == [2]


# The index.


def test_an_index_that_was_never_compared_with_the_record_needs_it(remembering):
    assert remembering.memory.needs_refresh(user_id=ME)
    remembering.memory.refresh_index(user_id=ME)
    assert not remembering.memory.needs_refresh(user_id=ME)
    assert remembering.memory.needs_refresh(user_id=YOU)


def test_a_lost_index_is_rebuilt_from_the_record_with_progress(remembering):
    for number in range(BATCH + 1):
        remembering.add(f"The user read book {number}.")
    remembering.index.entries.clear()
    progress = []
    remembering.restarted().refresh_index(user_id=ME, on_progress=lambda done, total: progress.append((done, total)))
    assert len(remembering.indexed()) == BATCH + 1
    assert progress == [(0, BATCH + 1), (BATCH, BATCH + 1)]


def test_only_what_differs_is_embedded_again(remembering):
    remembering.add("The user has a cat.")
    changed = remembering.add("The user has a dog.")
    remembering.index.failure = BROKEN
    remembering.edit(changed, "The user has two dogs.")
    remembering.index.failure = None
    remembering.embedder.passages.clear()
    remembering.memory.refresh_index(user_id=ME)
    assert remembering.embedder.passages == ["The user has two dogs."]


def test_an_index_that_fails_while_it_is_rebuilt_still_needs_it(remembering):
    remembering.index.failure = BROKEN
    remembering.add("The user has a cat.")
    with pytest.raises(IndexUnavailable):
        remembering.memory.refresh_index(user_id=ME)
    assert remembering.memory.needs_refresh(user_id=ME)


def test_doubt_that_comes_up_during_a_refresh_is_not_settled_by_it(remembering):
    remembering.add("The user has a cat.")
    remembering.index.entries.clear()

    def fail_elsewhere(done, total):
        remembering.index.failure = BROKEN
        remembering.found("cat")
        remembering.index.failure = None

    remembering.memory.refresh_index(user_id=ME, on_progress=fail_elsewhere)
    assert remembering.memory.needs_refresh(user_id=ME)


def test_a_sentence_that_changes_while_it_is_embedded_is_not_indexed_under_its_old_words(remembering):
    memory = remembering.add("The user has a cat.")
    embed = remembering.embedder.embed_passages

    def embed_slowly(texts):
        remembering.embedder.embed_passages = embed
        vectors = embed(texts)
        remembering.edit(memory, "The user has a dog.")
        return vectors

    remembering.index.entries.clear()
    remembering.embedder.embed_passages = embed_slowly
    remembering.memory.refresh_index(user_id=ME)
    entry = remembering.index.entries[ME][memory.id]
    assert (entry.revision, entry.vector) == (2, vector_of("dog"))
