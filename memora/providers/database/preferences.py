"""The record of preferences."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import select
from sqlalchemy.dialects.sqlite import insert

from memora.preferences import Preferences
from memora.providers.database.engine import SqliteFile
from memora.providers.database.tables import preferences as table
from memora.providers.database.users import ensure_user


class SqlPreferences:
    """A `memora.preferences.PreferenceStore`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def preferences(self, *, user_id: str) -> Preferences:
        """The user's preferences; the defaults where nothing was saved."""
        columns = [column for column in table.c if column is not table.c.user_id]
        with self._file.reading() as connection:
            row = connection.execute(select(*columns).where(table.c.user_id == user_id)).mappings().first()
        return Preferences(**row) if row else Preferences()

    def save_preferences(self, *, user_id: str, preferences: Preferences) -> None:
        """Replace them."""
        values = asdict(preferences)
        with self._file.writing() as connection:
            ensure_user(connection, user_id)
            connection.execute(
                insert(table)
                .values(user_id=user_id, **values)
                .on_conflict_do_update(index_elements=[table.c.user_id], set_=values)
            )
