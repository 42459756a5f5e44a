import sqlite3
import subprocess
import sys

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from memora.context import Calibration
from memora.errors import DatabaseUnavailable
from memora.providers.database import open_database
from memora.providers.database.migrate import HEAD, MIGRATIONS
from memora.providers.database.tables import metadata
from memora.turn.trace import fold


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


OLD_USAGE = '{"input_tokens":90,"cached_tokens":0,"output_tokens":10,"reasoning_tokens":0,"estimated":true}'
OLD_DIGEST = '{"state":"done","tools":[],"requests":1,"total_tokens":100,"estimated":true,"took_ms":5.0}'
OLD_EVENTS = (
    '{"type":"context_prepared","at":1.0,"took_ms":2.0,"max_input_tokens":8000,"input_tokens":90,'
    '"reserved_input_tokens":1200,"estimated_input_tokens":1290,"context_messages":1,"newly_summarized_count":0,'
    '"summary_token_usage":{"input_tokens":0,"cached_tokens":0,"output_tokens":0,"reasoning_tokens":0,'
    '"estimated":false},"parts":{"messages":90},"left_out_messages":0}',
    '{"type":"turn_finished","at":2.0,"took_ms":5.0,"state":"done","reply":"Hi","response_tokens":100,'
    f'"usage":{OLD_USAGE},"failure":null}}',
)
AT = "2026-03-01 08:00:00.000000"


@pytest.fixture
def url_of_the_first_version(url, tmp_path):
    """A database as the first version of Memora left it, with one turn in it."""
    (tmp_path / "data").mkdir()
    engine = create_engine(url)
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")
        execute = connection.exec_driver_sql
        execute("INSERT INTO users (number, id) VALUES (1, 'mei')")
        execute(f"INSERT INTO conversations VALUES ('c1', 'mei', 'Words', '', 0, '{AT}', '{AT}', NULL)")
        execute(
            "INSERT INTO turns VALUES ('t1', 'mei', 'c1', 1, 'done', ?, ?, 'done', 1, 100, 1, ?, NULL, ?)",
            (AT, AT, OLD_USAGE, OLD_DIGEST),
        )
        for number, role in enumerate(("user", "assistant"), start=1):
            execute("INSERT INTO messages VALUES (?, 'mei', 'c1', 't1', ?, 'Hi', ?, ?)", (role, role, number, AT))
        for position, event in enumerate(OLD_EVENTS, start=1):
            execute("INSERT INTO turn_events VALUES ('t1', ?, 'mei', ?)", (position, event))
    engine.dispose()
    return url


def test_a_database_of_the_first_version_keeps_its_turns_and_can_learn_how_to_estimate(url_of_the_first_version):
    database = open_database(url_of_the_first_version)
    assert database.turns.turn(user_id="mei", turn_id="t1").digest.source == "estimated"
    trace = fold(database.turns.events(user_id="mei", turn_id="t1"))
    assert (trace.usage.total_tokens, trace.usage.input_source, trace.usage.output_source) == (
        100,
        "estimated",
        "estimated",
    )
    assert trace.context.stats.summary_token_usage.source == "reported"
    assert trace.context.stats.calibration == Calibration()
    database.calibrations.learn_tokens(model="m", host="h", estimated_tokens=100, server_tokens=110)
    assert database.calibrations.calibration(model="m", host="h").answers == 1
    database.close()


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
