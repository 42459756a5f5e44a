import sqlite3
import subprocess
import sys

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from memora.errors import DatabaseUnavailable
from memora.providers.database import open_database
from memora.providers.database.migrate import HEAD, MIGRATIONS
from memora.providers.database.tables import metadata


@pytest.fixture
def migrated_url(url):
    open_database(url).close()
    return url


def schema(database_url: str) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(database_url.removeprefix("sqlite:///"))
    rows = connection.execute("SELECT type, name, tbl_name FROM sqlite_master ORDER BY type, name").fetchall()
    connection.close()
    return rows


def indexes(database_url: str) -> dict[str, str]:
    """Name → definition, the white space and quotes of which do not matter."""
    connection = sqlite3.connect(database_url.removeprefix("sqlite:///"))
    rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    found = {name: " ".join(sql.replace('"', "").split()) for name, sql in rows}
    connection.close()
    return found


def test_migrations_and_tables_agree(migrated_url):
    engine = create_engine(migrated_url)
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    engine.dispose()


def test_migrations_and_tables_agree_on_what_alembic_does_not_compare(migrated_url, tmp_path):
    from_tables = f"sqlite:///{tmp_path / 'tables.db'}"
    engine = create_engine(from_tables)
    metadata.create_all(engine)
    engine.dispose()
    assert indexes(migrated_url) == indexes(from_tables)
    expected = [row for row in schema(migrated_url) if "alembic_version" not in row]
    assert schema(from_tables) == expected


def test_head_is_the_newest_migration():
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    assert ScriptDirectory.from_config(config).get_current_head() == HEAD


def test_opening_again_changes_nothing(migrated_url):
    before = schema(migrated_url)
    open_database(migrated_url).close()
    assert schema(migrated_url) == before


def test_alembic_is_not_loaded_for_a_database_that_is_up_to_date(migrated_url):
    code = (
        "import sys; from memora.providers.database import open_database;"
        f"open_database({migrated_url!r}).close(); sys.exit('alembic' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_migration_that_breaks_off_leaves_nothing_behind(url, tmp_path):
    (tmp_path / "data").mkdir()
    connection = sqlite3.connect(tmp_path / "data" / "memora.db")
    connection.execute("CREATE TABLE turns (id)")
    connection.close()
    before = schema(url)
    with pytest.raises(DatabaseUnavailable):
        open_database(url)
    assert schema(url) == before


def test_a_database_of_a_later_version_is_left_alone(migrated_url):
    connection = sqlite3.connect(migrated_url.removeprefix("sqlite:///"))
    connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.commit()
    connection.close()
    with pytest.raises(DatabaseUnavailable) as caught:
        open_database(migrated_url)
    assert caught.value.params["reason"] == "newer_version"


def test_a_path_with_a_percent_sign_is_fine(tmp_path):
    database = open_database(f"sqlite:///{tmp_path / '100% 記憶' / 'memora.db'}")
    assert database.path.exists()
    database.close()
