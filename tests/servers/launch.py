"""Starting the loopback server for a test, and talking to its controls."""

import json
import subprocess
import sys
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVER = Path(__file__).with_name("responses_server.py")


@dataclass(frozen=True)
class ResponsesServer:
    """A running server. ``base_url`` is what the SDK wants."""

    port: int
    pid: int

    @property
    def base_url(self):
        return f"http://127.0.0.1:{self.port}/v1"

    def requests(self, path="/v1/responses"):
        """The bodies that came to ``path`` so far, oldest first."""
        return [request["body"] for request in self._control("/_requests") if request["path"] == path]

    def recorded(self):
        """Everything that came: path, whether a key came along, body, and the output of what was answered."""
        return self._control("/_requests")

    def fail_next(self, *faults):
        """Let the next requests fail, one fault each: ``fail:500``, ``fail:cut@extraction`` …"""
        self._control("/_fail", {"next": faults})

    def break_at(self, place, fault, *, times=None):
        """Let requests of ``place`` meet ``fault`` (see ``wire_faults.py``) until the next reset."""
        self._control("/_break", {"fault": fault, "place": place, "times": times})

    def say_next(self, *lines):
        """Let the next answers be exactly this: a text, or ``{"name": …, "arguments": …}`` for a call."""
        self._control("/_say", {"next": lines})

    def mend(self):
        """End what `break_at` began."""
        self.break_at("", "none")

    def reset(self):
        """Forget requests and faults."""
        self._control("/_reset", {})

    def _control(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", data=data, timeout=10) as answer:
            return json.load(answer)


@contextmanager
def responses_server(*, words_per_second=2_000.0, hang=30.0):
    """Run the server in its own process as long as the block lasts."""
    command = [sys.executable, SERVER, "--words-per-second", str(words_per_second), "--hang", str(hang)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield ResponsesServer(port=json.loads(process.stdout.readline())["port"], pid=process.pid)
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stdout.close()
