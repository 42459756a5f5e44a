import pytest

from memora.errors import InvalidInput
from memora.memory.sentence import MAX_SENTENCE_CHARS, clean_sentence, one_line


def test_a_sentence_is_one_line_of_what_can_be_stored():
    assert one_line("  I live\n\tin\u3000Taipei\x00\ud83d. ") == "I live in Taipei."


def test_composed_and_decomposed_characters_are_stored_alike():
    assert one_line("cafe\u0301") == "café"


@pytest.mark.parametrize("text", ["", " \n ", "\x00", "x" * (MAX_SENTENCE_CHARS + 1)])
def test_an_empty_or_overlong_sentence_is_refused(text):
    with pytest.raises(InvalidInput) as refused:
        clean_sentence(text)
    assert refused.value.params["field"] == "content"


def test_a_sentence_may_be_as_long_as_the_limit():
    assert len(clean_sentence("字" * MAX_SENTENCE_CHARS)) == MAX_SENTENCE_CHARS
