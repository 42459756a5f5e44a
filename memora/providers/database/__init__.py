"""The record: SQLite through SQLAlchemy, with Alembic migrations."""

from memora.providers.database.database import Database, open_database

__all__ = ["Database", "open_database"]
