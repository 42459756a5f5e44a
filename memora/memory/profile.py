"""The rules of the user profile's fields."""

from __future__ import annotations

from memora.errors import FieldTooLong, InvalidInput
from memora.memory.sentence import one_line
from memora.memory.values import CEFR_LEVELS, ProfileField

MAX_VALUE_CHARS: dict[ProfileField, int] = {
    "name": 60,
    "native_language": 60,
    "english_level": 2,
    "goals": 300,
    "interests": 300,
    "correction_style": 300,
    "explanation_style": 300,
}
"""Small enough for the whole profile to be in every context."""


def validate_profile_value(field: ProfileField, value: str) -> str:
    """``value`` as it is stored: one line; empty clears the field. Raises `InvalidInput`."""
    value = one_line(value)
    if field == "english_level":
        value = value.upper()
        if value and value not in CEFR_LEVELS:
            raise InvalidInput("not a CEFR level", field=field, allowed=", ".join(CEFR_LEVELS))
    limit = MAX_VALUE_CHARS[field]
    if len(value) > limit:
        raise FieldTooLong(f"{len(value)} characters", field=field, limit=limit)
    return value
