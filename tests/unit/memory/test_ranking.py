from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from memora.memory.ranking import Found, Weights, rank, say_the_same
from memora.memory.values import Category, Memory, Provenance, RecalledMemory

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def memory(content: str, **fields) -> Memory:
    given = {
        "id": content,
        "user_id": "mei",
        "content": content,
        "category": Category.EXPERIENCE,
        "importance": 3,
        "created_at": NOW,
        "updated_at": NOW,
        "valid_from": NOW,
        "provenance": Provenance(origin="user"),
    }
    return Memory(**{**given, **fields})


def found(content: str, cosine: float | None = 0.5, coverage: float = 0.0, words: tuple[str, ...] = (), **fields):
    return Found(
        memory=memory(content, **fields),
        cosine=cosine,
        coverage=coverage,
        words=words or (("word",) if coverage else ()),
    )


def ranked(*items: Found, limit: int = 6) -> tuple[RecalledMemory, ...]:
    return rank(items, unrelated_cosine=0.3, now=NOW, limit=limit)


def contents(*items: Found, limit: int = 6) -> list[str]:
    return [recalled.memory.content for recalled in ranked(*items, limit=limit)]


def parts(recalled: RecalledMemory) -> dict[str, float]:
    return {part.name: part.value for part in recalled.parts}


def test_the_nearest_comes_first_and_no_more_than_the_limit_come_back():
    assert contents(found("near", 0.5), found("nearest", 0.7), found("far", 0.4), limit=2) == ["nearest", "near"]


def test_a_score_is_the_weighted_sum_of_its_parts():
    (recalled,) = ranked(found("one", 0.5, coverage=0.8, pinned=True))
    assert recalled.score == pytest.approx(sum(part.value * part.weight for part in recalled.parts))
    assert parts(recalled).keys() == {"vector", "words", "recency", "importance", "pinned"}


def test_shared_words_lift_a_memory_above_one_that_is_about_as_near():
    assert contents(found("near", 0.50), found("with words", 0.45, coverage=0.9)) == ["with words", "near"]


def test_shared_words_do_not_lift_a_memory_above_one_that_is_much_nearer():
    assert contents(found("nearest", 0.7), found("with words", 0.4, coverage=1.0)) == ["nearest", "with words"]


def test_what_is_no_nearer_than_unrelated_texts_does_not_come_back():
    assert contents(found("unrelated", 0.29), found("a little related", 0.31)) == ["a little related"]


def test_enough_shared_words_bring_back_what_is_not_near():
    assert contents(found("words", 0.1, coverage=0.7), found("few words", 0.1, coverage=0.4)) == ["words"]


def test_a_single_character_is_not_a_word_that_counts_for_itself():
    assert contents(found("我的發音不好。", 0.1, coverage=1.0, words=("好",))) == []


def test_where_no_vector_was_asked_words_alone_decide():
    items = (found("many", None, coverage=0.8), found("some", None, coverage=0.4), found("few", None, coverage=0.1))
    assert contents(*items) == ["many", "some"]
    assert "vector" not in parts(ranked(*items)[0])


@pytest.mark.parametrize(
    "better",
    [
        {"importance": 5},
        {"updated_at": NOW - timedelta(days=59)},
        {"last_accessed_at": NOW},
    ],
    ids=["important", "newer", "used"],
)
def test_of_two_that_are_as_near_the_more_important_and_the_more_recent_wins(better):
    old = {"updated_at": NOW - timedelta(days=60)}
    assert contents(found("a", **old), found("b", **{**old, **better}))[0] == "b"


def test_recency_is_halved_with_every_half_life():
    month_old = found("one", updated_at=NOW - Weights().half_life)
    assert parts(ranked(month_old)[0])["recency"] == pytest.approx(0.5)


def test_a_clock_that_was_set_back_makes_nothing_more_recent_than_now():
    assert parts(ranked(found("one", updated_at=NOW + timedelta(days=3)))[0])["recency"] == 1.0


@pytest.mark.parametrize("gone", [{"superseded_by": "another"}, {"deleted_at": NOW}])
def test_superseded_and_deleted_memories_never_come_back(gone):
    assert contents(found("gone", 0.9, pinned=True, **gone)) == []


def test_pinned_memories_come_first_whatever_the_query():
    assert contents(found("near", 0.9), found("pinned", 0.0, pinned=True)) == ["pinned", "near"]


def test_pinned_memories_leave_half_of_the_places_to_what_fits():
    pinned = [found(f"pinned {number}", 0.1 * number, pinned=True) for number in range(5)]
    fitting = [found(f"fitting {number}", 0.5) for number in range(2)]
    assert contents(*pinned, *fitting, limit=4) == ["pinned 4", "pinned 3", "fitting 0", "fitting 1"]


def test_pinned_memories_take_the_places_that_nothing_else_fills():
    pinned = [found(f"pinned {number}", 0.1 * number, pinned=True) for number in range(5)]
    assert len(contents(*pinned, limit=4)) == 4


def test_memories_that_say_the_same_come_back_once_the_best_of_them():
    assert contents(found("I like tea.", 0.5), found("I really like tea!", 0.6)) == ["I really like tea!"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("I like tea.", "i like tea"),
        ("The user likes hiking.", "I really like hiking!"),
        ("使用者喜歡爬山。", "我很喜歡爬山"),
        ("我住在台北", "我住在台北。"),
        ("ＩＥＬＴＳ 考試", "IELTS 考試"),
    ],
)
def test_wording_makes_no_difference(one, other):
    assert say_the_same(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("使用者喜歡爬山。", "使用者不喜歡爬山。"),
        ("I like tea.", "I don't like tea."),
        ("使用者的目標是在明年三月以前考到多益 850 分。", "使用者的目標是在明年三月以前考到多益 685 分。"),
        ("我的姐姐住在台北的市中心", "我的妹妹住在台北的市中心"),
        ("I moved from Taipei to Tainan.", "I moved from Tainan to Taipei."),
        ("！！", "？？"),
    ],
)
def test_a_number_a_negation_a_person_or_the_order_makes_a_difference(one, other):
    assert not say_the_same(one, other)


def test_ranking_does_not_change_what_it_is_given():
    items = [found("b", 0.4), found("a", 0.6)]
    before = [replace(item) for item in items]
    ranked(*items)
    assert items == before
