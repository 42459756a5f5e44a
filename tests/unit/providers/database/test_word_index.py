import pytest

from memora.providers.database import word_index


def coverage(record, text: str, user_id: str = "mei") -> dict[str, float]:
    hits = record.memories.find_words(user_id=user_id, text=text, limit=10)
    return {record.memories.get(user_id=user_id, memory_id=hit.memory_id).content: hit.coverage for hit in hits}


def test_the_memory_that_covers_most_comes_first(record):
    for content in ("She likes tea", "She likes black tea", "He plays the piano"):
        record.memory(content)
    assert record.found("black tea") == ["She likes black tea", "She likes tea"]


def test_a_rare_word_weighs_more_than_a_common_one(record):
    for number in range(8):
        record.memory(f"Likes tea number {number}")
    record.memory("Plays the piano")
    assert record.found("piano or tea")[0] == "Plays the piano"


def test_a_memory_with_every_word_covers_all_of_the_question(record):
    record.memory("正在準備三月的 IELTS 考試")
    record.memory("喜歡喝茶")
    (hit,) = record.memories.find_words(user_id="mei", text="我在準備什麼考試？", limit=5)
    assert hit.coverage == pytest.approx(1.0)
    assert hit.words == ("在準", "準備", "考試")


def test_words_that_no_memory_has_lower_the_coverage_but_not_below_half(record):
    record.memory("Has a cat")
    record.memory("Likes tea")
    whole, partly = coverage(record, "cat"), coverage(record, "cat veterinarian vaccination appointment tomorrow")
    assert whole["Has a cat"] == pytest.approx(1.0)
    assert partly["Has a cat"] == pytest.approx(0.5)


def test_frequencies_are_those_of_the_user_alone(record):
    record.memory("Likes tea")
    record.memory("Likes coffee")
    before = coverage(record, "tea coffee")
    for number in range(10):
        record.memory(f"tea {number}", user_id="lin")
    assert coverage(record, "tea coffee") == before


def test_only_as_many_as_asked_for_come_back(record):
    for number in range(5):
        record.memory(f"tea {number}")
    assert len(record.memories.find_words(user_id="mei", text="tea", limit=2)) == 2


@pytest.mark.parametrize("text", ["", "?!", "什麼", "unheard", "user memory_words'; --"])
def test_nothing_is_found_where_nothing_is_shared(record, text):
    record.memory("Likes tea")
    assert record.memories.find_words(user_id="mei", text=text, limit=5) == ()
    assert record.memories.find_words(user_id="nobody", text=text, limit=5) == ()


def test_common_words_still_count_for_what_rarer_words_found(record, monkeypatch):
    monkeypatch.setattr(word_index, "MAX_POSTINGS", 3)
    for number in range(6):
        record.memory(f"tea {number}")
    record.memory("tea and piano")
    record.memory("a piano")
    assert record.found("piano tea") == ["tea and piano", "a piano"]


def test_a_memory_without_words_can_be_stored_and_deleted(record):
    memory = record.memory("😀")
    assert record.memories.delete(user_id="mei", memory_ids=[memory.id], at=record.tick()) == (memory.id,)


def test_a_very_long_question_is_answered(record):
    record.memory("住在台北")
    text = "台北" + "".join(chr(0x4E00 + number) for number in range(5_000))
    assert record.found(text) == ["住在台北"]
