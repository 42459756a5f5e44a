"""The real app as a process of its own, on a free port and with a data folder of its own."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path

from memora.settings import APP_FOLDER

START_SECONDS = 60.0
END_SECONDS = 20.0


class RunningApp:
    """Started with `start`, ended with `stop` (as by Ctrl-C) or `kill` (as by a power cut). Keeps its port."""

    def __init__(self, *, data_dir: Path, environment: Mapping[str, str] | None = None) -> None:
        self.data_dir = data_dir
        self.port = free_port()
        self.log_path = data_dir.with_suffix(".log")
        self._environment = {
            **os.environ,
            "MEMORA_DATA_DIR": str(data_dir),
            "MEMORA_PORT": str(self.port),
            "MEMORA_TEST_SEAM": "1",
            "MEMORA_MAX_RETRIES": "0",
            "STREAMLIT_SERVER_HEADLESS": "true",
            **(environment or {}),
        }
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What the process has printed so far."""
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def start(self) -> None:
        """Start the app and wait until it answers. Raises `RuntimeError` with its log where it does not."""
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "memora"],
                cwd=APP_FOLDER,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._is_healthy():
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the app did not start:\n{self.log}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End it as its terminal would, and wait for it."""
        self._end(signal.SIGINT)

    def kill(self) -> None:
        """End it in the middle of whatever it does."""
        self._end(signal.SIGKILL)

    def restart(self) -> None:
        self.stop()
        self.start()

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        self._process.send_signal(how)
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise RuntimeError(f"the app did not end within {END_SECONDS:.0f} s:\n{self.log}") from None
        finally:
            self._process = None

    def _is_healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                return answer.status == 200
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            return False


def free_port() -> int:
    """A loopback port that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
