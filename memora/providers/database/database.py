"""The database as a whole: opened once per process, shared by its threads."""

from __future__ import annotations

from pathlib import Path

from memora.errors import DatabaseUnavailable
from memora.providers.database.calibrations import SqlCalibrations
from memora.providers.database.conversations import SqlConversations
from memora.providers.database.engine import SqliteFile
from memora.providers.database.memories import SqlMemories
from memora.providers.database.migrate import migrate
from memora.providers.database.preferences import SqlPreferences
from memora.providers.database.profiles import SqlProfiles
from memora.providers.database.turns import SqlTurns


class Database:
    """The stores of one database file. Open it with `open_database`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file
        self.conversations = SqlConversations(file)
        self.turns = SqlTurns(file)
        self.memories = SqlMemories(file)
        self.profiles = SqlProfiles(file)
        self.preferences = SqlPreferences(file)
        self.calibrations = SqlCalibrations(file)

    @property
    def path(self) -> Path:
        """The file."""
        return self._file.path

    def backup(self, target: Path) -> None:
        """Write a copy that is complete and consistent, while the database goes on being used.

        An earlier copy at ``target`` is replaced when the new one is whole. Raises `DatabaseUnavailable`.
        """
        self._file.backup(target)

    def close(self) -> None:
        """Close the file; the stores are not to be used any more."""
        self._file.close()


def open_database(url: str, *, busy_timeout_ms: int = 5_000) -> Database:
    """Open the database at a ``sqlite:///`` address, create it (and its folder) if need be, and migrate it.

    ``busy_timeout_ms``: how long a statement waits for another process that holds the database. Raises
    `DatabaseUnavailable`.
    """
    file = SqliteFile(url, busy_timeout_ms=busy_timeout_ms)
    try:
        file.path.parent.mkdir(parents=True, exist_ok=True)
        migrate(file)
    except OSError as error:
        raise DatabaseUnavailable(str(error), path=str(file.path), reason="cannot_open") from error
    except DatabaseUnavailable:
        file.close()
        raise
    return Database(file)
