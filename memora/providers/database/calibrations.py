"""The record of how well token estimates fit."""

from __future__ import annotations

from dataclasses import asdict

from sqlalchemy import Connection, select
from sqlalchemy.dialects.sqlite import insert

from memora.context.calibration import Calibration
from memora.providers.database.engine import SqliteFile
from memora.providers.database.tables import token_calibrations as table


class SqlCalibrations:
    """A `memora.context.ports.CalibrationStore`."""

    def __init__(self, file: SqliteFile) -> None:
        self._file = file

    def calibration(self, *, model: str, host: str) -> Calibration:
        """What is known so far; an empty calibration where nothing is."""
        with self._file.reading() as connection:
            return _find(connection, model=model, host=host)

    def learn_tokens(self, *, model: str, host: str, estimated_tokens: int, server_tokens: int) -> None:
        """Keep `Calibration.learned` of these two numbers."""
        with self._file.writing() as connection:
            known = _find(connection, model=model, host=host)
            values = asdict(known.learned(estimated_tokens=estimated_tokens, server_tokens=server_tokens))
            connection.execute(
                insert(table)
                .values(model=model, host=host, **values)
                .on_conflict_do_update(index_elements=[table.c.model, table.c.host], set_=values)
            )


def _find(connection: Connection, *, model: str, host: str) -> Calibration:
    query = select(table.c.estimated_tokens, table.c.server_tokens, table.c.answers)
    row = connection.execute(query.where(table.c.model == model, table.c.host == host)).mappings().first()
    return Calibration(**row) if row else Calibration()
