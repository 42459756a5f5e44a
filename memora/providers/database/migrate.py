"""Brings a database to the schema that this version of Memora works with. Runs at every start."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, text

from memora.errors import DatabaseUnavailable
from memora.providers.database.engine import SqliteFile

HEAD = "0002"
"""The newest revision in ``migrations/versions``; kept here so that Alembic need not be loaded to know it."""

MIGRATIONS = Path(__file__).parent / "migrations"


def migrate(file: SqliteFile) -> None:
    """Upgrade to `HEAD`, in one transaction; quick when nothing is to be done.

    Raises `DatabaseUnavailable`, with reason ``newer_version`` when a later Memora has written the database.
    """
    with file.reading() as connection:
        stored = stored_revision(connection)
    if stored == HEAD:
        return
    with file.writing() as connection:
        _upgrade(connection, path=str(file.path))


def stored_revision(connection: Connection) -> str | None:
    """The revision that the database says it has; None for one without tables."""
    if connection.scalar(text("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'")) is None:
        return None
    revision: str | None = connection.scalar(text("SELECT version_num FROM alembic_version"))
    return revision


def _upgrade(connection: Connection, *, path: str) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        command.upgrade(config, "head")
    except CommandError as error:
        raise DatabaseUnavailable(str(error), path=path, reason="newer_version") from error
