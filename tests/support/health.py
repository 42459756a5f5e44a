"""Waiting for a server of one's own that says under ``/health`` when it is ready."""

from __future__ import annotations

import subprocess
import time
import urllib.error
import urllib.request


def wait_until_healthy(port: int, process: subprocess.Popen[bytes], *, seconds: float) -> bool:
    """Whether the server of ``process`` answers within ``seconds``; False as soon as the process has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and process.poll() is None:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                return True
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)
    return False
