"""`python -m memora` says what is wrong before anything starts, in the language of the terminal."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memora.__main__ import (
    check_data_folder,
    check_port,
    streamlit_command,
)
from memora.errors import DataFolderUnusable, PortInUse
from memora.settings import APP_FOLDER, Settings

CHINESE = {"LC_ALL": "zh_TW.UTF-8"}
ENGLISH = {"LC_ALL": "en_US.UTF-8"}


@pytest.fixture
def port_in_use() -> Iterator[int]:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def launch(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    plain = {name: value for name, value in os.environ.items() if not name.startswith(("MEMORA_", "OPENAI_", "LC_"))}
    return subprocess.run(
        [sys.executable, "-m", "memora", *arguments],
        cwd=APP_FOLDER,
        env={**plain, **environment},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60,
        check=False,
    )


def test_a_port_in_use_is_named_and_another_one_offered(tmp_path: Path, port_in_use: int) -> None:
    finished = launch(MEMORA_PORT=str(port_in_use), MEMORA_DATA_DIR=str(tmp_path), **ENGLISH)
    assert finished.returncode == 2
    assert f"Port {port_in_use} is already in use" in finished.stderr
    assert f"--port {port_in_use + 1}" in finished.stderr
    assert "Traceback" not in finished.stderr


def test_the_port_on_the_command_line_beats_the_environment(tmp_path: Path, port_in_use: int) -> None:
    finished = launch("--port", str(port_in_use), MEMORA_PORT="1", MEMORA_DATA_DIR=str(tmp_path), **CHINESE)
    assert finished.returncode == 2
    assert str(port_in_use) in finished.stderr
    assert "連接埠" in finished.stderr


@pytest.mark.parametrize(("environment", "expected"), [(ENGLISH, "wrong value"), (CHINESE, "設定")])
def test_a_wrong_setting_is_named_with_what_is_allowed(environment: dict[str, str], expected: str) -> None:
    finished = launch(MEMORA_MAX_INPUT_TOKENS="plenty", **environment)
    assert finished.returncode == 2
    assert expected in finished.stderr
    assert "MEMORA_MAX_INPUT_TOKENS" in finished.stderr
    assert "1000000" in finished.stderr


def test_memoras_own_language_setting_beats_the_terminals(port_in_use: int, tmp_path: Path) -> None:
    finished = launch(
        MEMORA_LANGUAGE="zh_TW", MEMORA_PORT=str(port_in_use), MEMORA_DATA_DIR=str(tmp_path), LC_ALL="C.UTF-8"
    )
    assert "連接埠" in finished.stderr


def test_a_port_that_is_no_number_is_a_wrong_setting() -> None:
    finished = launch("--port", "eighty", **ENGLISH)
    assert finished.returncode == 2
    assert "MEMORA_PORT" in finished.stderr


def test_a_data_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    folder = tmp_path / "file" / "data"
    finished = launch(MEMORA_DATA_DIR=str(folder), **ENGLISH)
    assert finished.returncode == 2
    assert str(folder) in finished.stderr


def test_a_data_folder_that_is_a_file_is_unusable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DataFolderUnusable) as caught:
        check_data_folder(tmp_path / "file")
    assert caught.value.params == {"path": str(tmp_path / "file")}


def test_a_good_data_folder_is_made_and_left_empty(tmp_path: Path) -> None:
    check_data_folder(tmp_path / "a" / "b")
    assert list((tmp_path / "a" / "b").iterdir()) == []


def test_a_free_port_passes(port_in_use: int) -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        free = server.getsockname()[1]
    check_port(free)
    with pytest.raises(PortInUse):
        check_port(port_in_use)


def test_the_highest_port_offers_one_that_exists() -> None:
    with socket.socket() as server:
        server.bind(("127.0.0.1", 65535))
        server.listen()
        with pytest.raises(PortInUse) as caught:
            check_port(65535)
    assert caught.value.params == {"port": "65535", "other": "8501"}


def test_the_app_is_served_on_the_loopback_address_only() -> None:
    command = streamlit_command(Settings(MEMORA_PORT=8600))
    assert "--server.address=127.0.0.1" in command
    assert "--server.port=8600" in command
