"""``python -m memora``: checks what can be checked before the app starts, then hands over to Streamlit."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from memora.errors import DataFolderUnusable, OperatorError, PortInUse, PortNotAllowed
from memora.i18n import terminal_language, translator
from memora.settings import APP_FOLDER, DEFAULT_PORT, Settings, load_settings
from memora.ui.sentences import sentence

LOOPBACK = "127.0.0.1"
BAD_START = 2
"""The exit code when the person who runs the app has to change something first."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Start Memora; returns an exit code only where the app did not start (or, on Windows, after it ended)."""
    options = _parse(arguments)
    if options.port is not None:
        os.environ["MEMORA_PORT"] = options.port
    try:
        settings = load_settings()
        check_data_folder(settings.data_dir)
        check_port(settings.port)
    except OperatorError as error:
        print(sentence(error.as_failure(), translator(terminal_language(os.environ))), file=sys.stderr)  # noqa: T201
        return BAD_START
    return _hand_over(streamlit_command(settings))


def check_data_folder(folder: Path) -> None:
    """Create the data folder if need be and try to write there. Raises `DataFolderUnusable`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise DataFolderUnusable(str(error), path=str(folder)) from None


def check_port(port: int) -> None:
    """Try to listen on the loopback address. Raises `PortInUse` or `PortNotAllowed`."""
    with socket.socket() as probe:
        if os.name == "posix":
            # As the server does it: connections of an app that just ended don't count as in use.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except PermissionError:
            raise PortNotAllowed(port=str(port)) from None
        except OSError:
            other = port + 1 if port < 65535 else DEFAULT_PORT
            raise PortInUse(port=str(port), other=str(other)) from None


def streamlit_command(settings: Settings) -> list[str]:
    """The command that serves the app, on the loopback address only."""
    app = str(APP_FOLDER / "streamlit_app.py")
    bound_to = [f"--server.address={LOOPBACK}", f"--server.port={settings.port}"]
    return [sys.executable, "-m", "streamlit", "run", app, *bound_to]


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m memora", description="Start Memora on this machine.")
    parser.add_argument("--port", metavar="N", help="the port to listen on, instead of MEMORA_PORT (8501)")
    return parser.parse_args(arguments)


def _hand_over(command: list[str]) -> int:
    if os.name == "posix":
        os.execv(command[0], command)  # noqa: S606 (no shell is meant)
    return subprocess.run(command, check=False).returncode  # noqa: S603 (the command is our own)


if __name__ == "__main__":
    sys.exit(main())
