"""The rules of the user profile's fields."""

from __future__ import annotations

from memora.errors import InvalidInput
from memora.memory.values import CEFR_LEVELS, ProfileField

MAX_FIELD_CHARS: dict[ProfileField, int] = {
    "name": 60,
    "native_language": 60,
    "english_level": 2,
    "goals": 300,
    "interests": 300,
    "correction_style": 300,
    "explanation_style": 300,
}


def validate_profile_value(field: ProfileField, value: str) -> str:
    """``value`` as it is stored: folded to one line. Empty clears the field. Raises `InvalidInput`."""
    value = " ".join(value.split())
    if field == "english_level":
        value = value.upper()
        if value and value not in CEFR_LEVELS:
            raise InvalidInput(f"{field} must be a CEFR level", field=field, allowed=", ".join(CEFR_LEVELS))
    limit = MAX_FIELD_CHARS[field]
    if len(value) > limit:
        raise InvalidInput(f"{field} is too long", field=field, allowed=f"≤ {limit}")
    return value
