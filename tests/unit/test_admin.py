"""`python -m memora.admin` looks after the record."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from memora.admin import main
from memora.providers.database import open_database
from memora.settings import load_settings


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MEMORA_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("LC_ALL", "en_US.UTF-8")
    return tmp_path / "data"


def tables(path: Path) -> set[str]:
    with sqlite3.connect(path) as copy:
        return {name for (name,) in copy.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def test_a_backup_is_a_whole_database_taken_while_the_record_is_open(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "backups" / "memora.db"
    database = open_database(load_settings().sqlalchemy_url)
    try:
        assert main(["backup", str(target)]) == 0
    finally:
        database.close()
    assert {"conversations", "turns", "memories"} <= tables(target)
    assert str(target) in capsys.readouterr().out


def test_without_a_record_there_is_nothing_to_back_up(
    tmp_path: Path, data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["backup", str(tmp_path / "copy.db")]) == 2
    assert str(data_folder / "memora.db") in capsys.readouterr().err
    assert not data_folder.exists()


def test_the_record_is_not_backed_up_onto_itself(data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    open_database(load_settings().sqlalchemy_url).close()
    assert main(["backup", str(data_folder / "memora.db")]) == 2
    assert str(data_folder / "memora.db") in capsys.readouterr().err
    assert "turns" in tables(data_folder / "memora.db")


def test_a_wrong_setting_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MEMORA_EMBEDDER", "magic")
    assert main(["backup", "copy.db"]) == 2
    assert "MEMORA_EMBEDDER" in capsys.readouterr().err
