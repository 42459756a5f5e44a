"""What a user has chosen on the settings page; None stands for the installation's setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Language = Literal["zh_TW", "en"]


@dataclass(frozen=True, kw_only=True)
class Preferences:
    """A user's own settings. ``max_input_tokens`` is in tokens."""

    memory_enabled: bool = True
    language: Language | None = None
    model: str | None = None
    max_input_tokens: int | None = None


class PreferenceStore(Protocol):
    """The record of preferences. Writes are durable when they return."""

    def preferences(self, *, user_id: str) -> Preferences:
        """The user's preferences; the defaults where nothing was saved."""
        ...

    def save_preferences(self, *, user_id: str, preferences: Preferences) -> None:
        """Replace them."""
        ...
