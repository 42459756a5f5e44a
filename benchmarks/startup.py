"""From process start to a page that can be used, and until everything that loads lazily is there.

A real Streamlit server and a real browser; the ratio is to a bare page served the same way in the same run.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from browser.browsers import FLAGS, find_browser
from browser.running_app import free_port
from playwright.sync_api import Browser, sync_playwright

from benchmarks.harness import Clock, print_machine, print_table

APP = Path(__file__).parents[1] / "streamlit_app.py"
BARE = "import streamlit as st\nst.chat_input('Write')\n"
ROUNDS = 3


def main() -> None:
    """Print the table."""
    print_machine()
    clock, memory = Clock(), []
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.py"
        bare.write_text(BARE, encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for number in range(ROUNDS):
            data = Path(folder) / f"data-{number}"
            with clock.measure("bare Streamlit page"), usable(browser, bare, data):
                pass
            started = time.perf_counter()
            with usable(browser, APP, data) as (process, page):
                clock.note("Memora, usable", (time.perf_counter() - started) * 1000)
                page.get_by_test_id("stChatInputTextArea").fill("你好")
                page.keyboard.press("Enter")
                page.locator("[class*=st-key-answer-]").get_by_text("示範模型").wait_for()
                clock.note("Memora, first answer read", (time.perf_counter() - started) * 1000)
                page.wait_for_timeout(3000)
                memory.append(resident_mb(process))
        browser.close()
    clock.print_table("Start")
    ratio = clock.percentile("Memora, usable", 50) / clock.percentile("bare Streamlit page", 50)
    print_table(
        "Start, compared",
        ["what", "figure"],
        [["Memora / bare page, medians", f"{ratio:.2f}"], ["resident MB, warm", f"{max(memory):.0f}"]],
    )


@contextmanager
def usable(browser: Browser, script: Path, data: Path) -> Iterator[tuple[subprocess.Popen[bytes], object]]:
    """A started server and a page of it whose message box is there."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", str(script), "--server.port", str(port)]
    process = subprocess.Popen(
        [*command, "--server.headless", "true"],
        env={**os.environ, "MEMORA_DATA_DIR": str(data)},
        cwd=APP.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    page = browser.new_page(locale="zh-TW")
    try:
        wait_for_server(port)
        page.goto(f"http://127.0.0.1:{port}")
        page.get_by_test_id("stChatInputTextArea").wait_for()
        yield process, page
    finally:
        page.close()
        process.terminate()
        process.wait(20)


def wait_for_server(port: int) -> None:
    """Return as soon as something listens on the port."""
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)


def resident_mb(process: subprocess.Popen[bytes]) -> float:
    """The resident set of the server, in MB (Linux); 0 where the system does not say."""
    status = Path(f"/proc/{process.pid}/status")
    found = re.search(r"VmRSS:\s+(\d+) kB", status.read_text()) if status.exists() else None
    return int(found.group(1)) / 1024 if found else 0.0


if __name__ == "__main__":
    main()
