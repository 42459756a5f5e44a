"""``python -m memora.admin``: what the person who runs the app does besides running it.

::

    python -m memora.admin backup TARGET    copy the record to TARGET, also while the app is running
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from memora.errors import NothingToBackUp, OperatorError
from memora.i18n import terminal_language, translator
from memora.providers.database import open_database
from memora.providers.database.engine import file_of
from memora.settings import load_settings
from memora.ui.sentences import sentence

FAILED = 2
"""The exit code when nothing was done."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what the command line asks for; returns the exit code."""
    options = _parse(arguments)
    _ = translator(terminal_language(os.environ))
    try:
        back_up(options.target)
    except OperatorError as error:
        print(sentence(error.as_failure(), _), file=sys.stderr)  # noqa: T201
        return FAILED
    print(_("Backed up to {path}.").format(path=options.target))  # noqa: T201
    return 0


def back_up(target: Path) -> None:
    """Copy the record to ``target``, complete and consistent, replacing an earlier copy there.

    Raises `InvalidSetting`, `NothingToBackUp` or `DatabaseUnavailable`.
    """
    url = load_settings().sqlalchemy_url
    path = file_of(url)
    if not path.exists():
        raise NothingToBackUp(path=str(path))
    database = open_database(url)
    try:
        database.backup(target)
    finally:
        database.close()


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m memora.admin", description="Look after Memora's record.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    backup = commands.add_parser("backup", help="copy the record, also while the app is running")
    backup.add_argument("target", metavar="TARGET", type=Path, help="the file to write; an earlier copy is replaced")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
