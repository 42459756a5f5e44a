"""Column types: moments that are always aware, and small values kept as JSON."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from pydantic import TypeAdapter
from sqlalchemy import DateTime, Dialect, Text, TypeDecorator


class UtcDateTime(TypeDecorator[datetime]):
    """An aware moment, stored in UTC. A naive one is a mistake of the caller: ``ValueError``."""

    impl = DateTime
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Into UTC, without the zone that SQLite cannot keep."""
        if value is None:
            return None
        if value.tzinfo is None:
            raise ValueError("a moment needs a time zone")
        return value.astimezone(UTC).replace(tzinfo=None)

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        """Aware again."""
        return None if value is None else value.replace(tzinfo=UTC)


class ValueAsJson(TypeDecorator[Any]):
    """A frozen dataclass, stored as JSON. Fields that a later version left out are ignored."""

    impl = Text
    cache_ok = True

    def __init__(self, value_type: type) -> None:
        super().__init__()
        self.value_type = value_type
        self._adapter: TypeAdapter[Any] = TypeAdapter(value_type)

    def process_bind_param(self, value: Any, dialect: Dialect) -> str | None:
        """The value as JSON."""
        return None if value is None else self._adapter.dump_json(value).decode()

    def process_result_value(self, value: Any, dialect: Dialect) -> Any:
        """The value again."""
        return None if value is None else self._adapter.validate_json(value)
