import pytest

from memora.errors import InvalidInput
from memora.memory.profile import MAX_VALUE_CHARS, validate_profile_value


def test_a_profile_value_is_folded_to_one_line():
    assert validate_profile_value("goals", " IELTS 7.0\n in March ") == "IELTS 7.0 in March"


def test_an_empty_profile_value_is_allowed_because_it_clears_the_field():
    assert validate_profile_value("english_level", " ") == ""


def test_a_level_is_one_of_the_six_in_capitals():
    assert validate_profile_value("english_level", "b2") == "B2"
    with pytest.raises(InvalidInput) as refused:
        validate_profile_value("english_level", "B3")
    assert refused.value.params == {"field": "english_level", "allowed": "A1, A2, B1, B2, C1, C2"}


@pytest.mark.parametrize("field", [field for field in MAX_VALUE_CHARS if field != "english_level"])
def test_a_profile_value_that_is_too_long_is_refused(field):
    with pytest.raises(InvalidInput):
        validate_profile_value(field, "x" * (MAX_VALUE_CHARS[field] + 1))
