"""Finds the browser that the tests drive; run as a program, it installs one where it may."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMMANDS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
MAC_APPS = ("Chromium", "Google Chrome", "Microsoft Edge")
DEBIAN_PACKAGES = ("chromium", "fonts-noto-cjk")
"""The fonts are what the screenshots show Chinese with."""

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
"""What a headless Chromium is started with: as root, without a display, and without calls home."""

NO_BROWSER = """\
The browser tests need Chromium or Chrome, and none was found.
Install it (Debian: sudo apt install chromium fonts-noto-cjk; macOS: brew install --cask google-chrome),
or say where one is: make test MEMORA_BROWSER=/path/to/chrome"""


def find_browser() -> str | None:
    """The path of a browser: the one named in MEMORA_BROWSER, or the first that is installed."""
    if named := os.environ.get("MEMORA_BROWSER"):
        return shutil.which(named)
    found = next(filter(None, map(shutil.which, COMMANDS)), None)
    if found or sys.platform != "darwin":
        return found
    apps = (Path("/Applications") / f"{app}.app/Contents/MacOS/{app}" for app in MAC_APPS)
    return next((str(app) for app in apps if app.exists()), None)


def install_browser() -> None:
    """Install one with the system's packages, where that needs no password; otherwise do nothing."""
    as_root = _as_root()
    if shutil.which("apt-get") is None or as_root is None:
        return
    print(f"Installing {' and '.join(DEBIAN_PACKAGES)} for the browser tests.", flush=True)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for step in (("update",), ("install", "-y", "--no-install-recommends", *DEBIAN_PACKAGES)):
        subprocess.run([*as_root, "apt-get", "-qq", *step], env=environment, stdout=subprocess.DEVNULL, check=False)


def _as_root() -> Sequence[str] | None:
    """What to put before a command to run it as root; None where that is not to be had without a password."""
    if os.geteuid() == 0:
        return ()
    asks_no_password = shutil.which("sudo") and subprocess.run(["sudo", "-n", "true"], capture_output=True, check=False)
    return ("sudo", "-n") if asks_no_password and asks_no_password.returncode == 0 else None


def main() -> int:
    """Make sure there is a browser; says what to do where there is none."""
    if find_browser() is None and not os.environ.get("MEMORA_BROWSER"):
        install_browser()
    if find_browser() is None:
        print(NO_BROWSER, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
