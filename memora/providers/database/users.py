"""Users, as far as the record knows them: an id, and a number that stands for it in the word index."""

from __future__ import annotations

from sqlalchemy import Connection, ScalarSelect, select
from sqlalchemy.dialects.sqlite import insert

from memora.providers.database.tables import users


def ensure_user(connection: Connection, user_id: str) -> None:
    """Know the user from now on."""
    connection.execute(insert(users).values(id=user_id).on_conflict_do_nothing())


def number_of(user_id: str) -> ScalarSelect[int]:
    """The user's number, as a part of a statement; null for a user who never wrote anything."""
    return select(users.c.number).where(users.c.id == user_id).scalar_subquery()
