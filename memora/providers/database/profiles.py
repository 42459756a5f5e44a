"""The record of user profiles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import Connection, Row, delete, select, update
from sqlalchemy.dialects.sqlite import insert

from memora.errors import NotFound
from memora.memory.values import ProfileField, ProfileUpdate, ProfileValue, Provenance
from memora.providers.database.engine import SqliteFile
from memora.providers.database.tables import profile_fields as table
from memora.providers.database.users import ensure_user


class SqlProfiles:
    """A `memora.memory.ports.ProfileStore`. A field is a row while it has a value; clearing it unlocks it."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def profile(self, *, user_id: str) -> Mapping[ProfileField, ProfileValue]:
        """The fields that have a value."""
        with self._file.reading() as connection:
            rows = connection.execute(select(table).where(table.c.user_id == user_id)).all()
        return {row.field: _value(row) for row in rows}

    def set_profile(self, *, user_id: str, field: ProfileField, value: str, at: datetime) -> None:
        """The user's own entry; an empty value clears the field."""
        with self._file.writing() as connection:
            if value:
                _put(connection, user_id, field, value, provenance=Provenance(origin="user"), at=at)
            else:
                connection.execute(delete(table).where(table.c.user_id == user_id, table.c.field == field))

    def lock_profile(self, *, user_id: str, field: ProfileField, locked: bool, at: datetime) -> None:
        """Lock a field against learning, or unlock it. Raises `NotFound` for a field without a value."""
        with self._file.writing() as connection:
            result = connection.execute(
                update(table).where(table.c.user_id == user_id, table.c.field == field).values(locked=locked)
            )
            if not result.rowcount:
                raise NotFound(kind="profile_field")


def learn_profile(
    connection: Connection,
    *,
    user_id: str,
    conversation_id: str,
    turn_id: str,
    updates: Sequence[ProfileUpdate],
    at: datetime,
) -> tuple[ProfileUpdate, ...]:
    """Store what a turn taught about the profile; locked fields stay as they are. Returns what changed a field."""
    written: list[ProfileUpdate] = []
    for learned in updates:
        provenance = Provenance(
            origin="extraction", turn_id=turn_id, conversation_id=conversation_id, quote=learned.quote
        )
        if _put(connection, user_id, learned.field, learned.value, provenance=provenance, at=at):
            written.append(learned)
    return tuple(written)


def _put(
    connection: Connection, user_id: str, field: ProfileField, value: str, *, provenance: Provenance, at: datetime
) -> bool:
    """Write a field unless it is locked against this origin or has the value; whether it was written."""
    ensure_user(connection, user_id)
    values = {
        "value": value,
        "updated_at": at,
        "origin": provenance.origin,
        "turn_id": provenance.turn_id,
        "conversation_id": provenance.conversation_id,
        "quote": provenance.quote,
    }
    changed = table.c.value != value
    may_change = changed if provenance.origin == "user" else changed & ~table.c.locked
    written = connection.execute(
        insert(table)
        .values(user_id=user_id, field=field, locked=False, **values)
        .on_conflict_do_update(index_elements=[table.c.user_id, table.c.field], set_=values, where=may_change)
        .returning(table.c.field)
    )
    return written.first() is not None


def _value(row: Row[tuple[object, ...]]) -> ProfileValue:
    return ProfileValue(
        field=row.field,
        value=row.value,
        updated_at=row.updated_at,
        provenance=Provenance(
            origin=row.origin, turn_id=row.turn_id, conversation_id=row.conversation_id, quote=row.quote
        ),
        locked=row.locked,
    )
