"""Pictures of Test connection: what it says of a server, of a closed port, and of a server without the route."""

from __future__ import annotations

import json
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from browser.reader import Reader
from browser.running_app import RunningApp, free_port
from peers.llmock_server import llmock
from playwright.sync_api import Browser, expect
from real.llama_server import CHAT, MODEL, is_installed, llama_server

from memora.turn.connection_check import STEPS


def take_all(browser: Browser, folder: Path) -> None:
    """Write ``connection-*.png`` into ``folder``; that of llama-server where `make test-real` has built it."""
    if is_installed():
        with tempfile.TemporaryDirectory() as logs, llama_server(Path(logs) / "log", *CHAT) as server:
            take(browser, folder / "connection-llama-server.png", base_url=server.base_url, model=MODEL)
    else:
        print("connection-llama-server.png stays as it is: llama-server is not built (make test-real)")  # noqa: T201
    with llmock() as server:
        take(browser, folder / "connection-llmock.png", base_url=server.base_url, model="gpt-4o-mini")
    with without_the_route() as base_url:
        take(browser, folder / "connection-no-route.png", base_url=base_url, model="chat-only")
    closed = f"http://127.0.0.1:{free_port()}/v1"
    take(browser, folder / "connection-closed-port.png", base_url=closed, model="gpt-6-luna")


def take(browser: Browser, path: Path, *, base_url: str, model: str) -> None:
    """Start the app on a server, test the connection on the settings page, and write the picture of it."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {"OPENAI_BASE_URL": base_url, "MEMORA_MODEL": model}
        app = RunningApp(data_dir=Path(folder) / "data", environment=environment)
        app.start()
        try:
            page = browser.new_page(locale="en-US", viewport={"width": 1000, "height": 900}, device_scale_factor=1.5)
            reader = Reader(page, app.url)
            reader.open("/settings")
            reader.key("connection-test").get_by_role("button").click()
            steps = reader.key("connection-check").get_by_test_id("stMarkdown")
            expect(steps).to_have_count(len(STEPS), timeout=120_000)
            reader.wait_until_drawn()
            page.get_by_test_id("stExpander").filter(has=reader.key("connection-check")).screenshot(path=path)
            page.close()
        finally:
            app.stop()


@contextmanager
def without_the_route() -> Iterator[str]:
    """A server that knows chat completions and a list of models, and nothing else."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _ChatOnly)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()


class _ChatOnly(BaseHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        """The list of models."""
        self._answer(200, json.dumps({"object": "list", "data": [{"id": "chat-only", "object": "model"}]}))

    def do_POST(self) -> None:
        """There is no such route."""
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self._answer(404, "404 page not found")

    def _answer(self, status: int, text: str) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text.encode())
