"""A server on loopback that speaks the Responses API over real HTTP, with the demo model's answers.

    python tests/servers/responses_server.py [--port 0] [--words-per-second 50] [--hang 30]

prints ``{"port": …}`` on its first line. Faults are triggers in the user's message (`memora.providers.demo.faults`)
or scripted through ``POST /_fail``; here they are real: connections are reset, nothing answers, pages are HTML.

=====================  ==================================================================================
``POST /v1/responses``   streaming and not; ``POST /v1/responses/input_tokens`` counts what it would report
``POST /v1/embeddings``  deterministic vectors of hashed bigrams (see ``embeddings.py``)
``GET /v1/models``       the model's name
``GET /_requests``       every request to ``/v1`` so far: path, whether a key came along, body, and the output of
                       its stream when that completed
``POST /_fail``          ``{"next": ["fail:500", "fail:cut@extraction", …]}``: one after the other, whatever is asked
``POST /_break``         ``{"fault": "429", "place": "extraction", "times": null}``: requests of that place (the first
                       ``times`` ones) gets a fault of ``wire_faults.py``. Places: see `PLACES`
``POST /_say``           ``{"next": ["any text", …]}``: the next answers say exactly that, one after the other; an
                       object ``{"name": …, "arguments": …}`` is a function call
``POST /_reset``         forget requests, faults and what triggers have been used up
=====================  ==================================================================================

Everything under ``/v1`` wants ``Authorization: Bearer KEY``; any key but ``wrong-key``.
"""

import argparse
import json
import socket
import struct
import sys
import threading
import time
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from embeddings import embedding_response
from wire_faults import FAULTS, Cut, embedding_answer, frame

from memora.providers.demo.faults import Fault, TriggerFaults, parse_faults
from memora.providers.demo.reply import FunctionCall, Reply, Text
from memora.providers.demo.request import read_request
from memora.providers.demo.service import Answered, DemoService, Streamed, Unanswered, api_error, models
from memora.providers.demo.wire import response_events
from memora.settings import DEMO_MODEL

PLACES = ("1", "2", "summary", "extraction", "reconciliation", "embedding")
"""The requests of an answer, and what else Memora asks for."""

WRONG_KEY = "wrong-key"
TRIGGER = "_trigger"
"""The key of a body under which a standing fault's trigger goes to the demo model."""
COMPLETED = "event: response.completed\ndata: "
RESET_ON_CLOSE = struct.pack("ii", 1, 0)


class Breakage:
    """The one fault of `FAULTS` that stands at one place, for as many requests as it has ``times`` left."""

    def __init__(self):
        self._lock = threading.Lock()
        self.mend()

    def mend(self):
        self.stand("none", "")

    def stand(self, fault, place, times=None):
        with self._lock:
            self._fault, self._place, self._left = fault, place, times

    def take(self, place):
        """The name of the fault that a request of ``place`` meets."""
        with self._lock:
            if place != self._place or self._left == 0:
                return "none"
            if self._left:
                self._left -= 1
            return self._fault


class Lines:
    """What the next answers are to say, word for word."""

    def __init__(self):
        self._lock = threading.Lock()
        self._next = []

    def learn(self, lines):
        with self._lock:
            self._next += lines

    def forget(self):
        with self._lock:
            self._next.clear()

    def reply(self):
        """The next reply; None when nothing is to be said."""
        with self._lock:
            line = self._next.pop(0) if self._next else None
        match line:
            case None:
                return None
            case str():
                return Reply(parts=(Text(line),))
            case _:
                return Reply(parts=(FunctionCall(line["name"], line["arguments"]),))


class ScriptedFaults:
    """Scripted faults first, each for one request; otherwise what the message's triggers say."""

    def __init__(self):
        self._lock = threading.Lock()
        self.reset()

    def reset(self):
        with self._lock:
            self._next: list[Fault] = []
            self._triggers = TriggerFaults()

    def script(self, written):
        with self._lock:
            self._next += [fault for text in written for fault in parse_faults(f"[[{text}]]")]

    def faults_for(self, body):
        if trigger := body.get(TRIGGER):
            return parse_faults(f"[[{trigger}]]")
        request = read_request(body)
        with self._lock:
            for fault in self._next:
                if fault.concerns(request) or not fault.where:
                    self._next.remove(fault)
                    return (fault,)
            triggers = self._triggers
        return triggers.faults_for(body)


@dataclass
class State:
    """What the handlers share."""

    faults: ScriptedFaults
    breakage: Breakage
    lines: Lines
    service: DemoService
    requests: list
    hang: float


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and first events must not wait for each other's acknowledgement.
    disable_nagle_algorithm = True

    def log_message(self, *_):
        """Stay quiet: stdout and stderr belong to the tests."""

    def do_GET(self):
        match self.path:
            case "/_requests":
                self._answer_json(self.server.state.requests)
            case "/v1/models":
                self._deliver(self._refusal_of_key() or models(DEMO_MODEL))
            case _:
                self._deliver(api_error(404, f"Unknown request URL: GET {self.path}."))

    def do_POST(self):
        try:
            body = json.loads(self.rfile.read(int(self.headers.get("content-length") or 0)) or b"{}")
        except ValueError:
            self._deliver(api_error(400, "We could not parse the JSON body of your request."))
        else:
            self._post(body)

    def _post(self, body):
        state = self.server.state
        match self.path:
            case "/_reset":
                state.faults.reset()
                state.breakage.mend()
                state.lines.forget()
                state.requests.clear()
                self._answer_json({})
            case "/_say":
                state.lines.learn(body["next"])
                self._answer_json({})
            case "/_break":
                state.breakage.stand(**body)
                self._answer_json({})
            case "/_fail":
                state.faults.script(body["next"])
                self._answer_json({})
            case "/v1/responses":
                self._record(body)
                self._deliver(self._refusal_of_key() or self._response(body))
            case "/v1/responses/input_tokens":
                self._record(body)
                self._deliver(self._refusal_of_key() or state.service.count(body))
            case "/v1/embeddings":
                self._record(body)
                self._deliver(self._refusal_of_key() or self._embeddings(body))
            case _:
                self._deliver(api_error(404, f"Unknown request URL: POST {self.path}."))

    def _response(self, body):
        request = read_request(body)
        place = str(request.number) if request.purpose == "answer" else request.purpose
        if request.purpose == "answer" and (reply := self.server.state.lines.reply()):
            return Streamed(frames=iter([(0.0, frame(event)) for event in response_events(reply, body)]))
        fault = FAULTS[self.server.state.breakage.take(place)]
        return fault.edit(self.server.state.service.respond(body | ({TRIGGER: fault.trigger} if fault.trigger else {})))

    def _embeddings(self, body):
        good = _json(embedding_response(body))
        return embedding_answer(self.server.state.breakage.take("embedding"), body, good)

    def _record(self, body):
        has_key = "authorization" in self.headers
        self.exchange = {"path": self.path, "authorization": has_key, "body": body, "output": []}
        self.server.state.requests.append(self.exchange)

    def _refusal_of_key(self):
        scheme, _, key = (self.headers.get("authorization") or "").partition(" ")
        if scheme == "Bearer" and key and key != WRONG_KEY:
            return None
        return api_error(401, "Incorrect API key provided.", code="invalid_api_key")

    def _answer_json(self, value):
        self._deliver(_json(value))

    def _deliver(self, outcome):
        try:
            match outcome:
                case Answered():
                    self._send_whole(outcome)
                case Streamed():
                    self._send_stream(outcome)
                case Cut():
                    self._send_pieces(outcome)
                case Unanswered("timeout"):
                    self._wait_for_the_client_to_leave()
                case Unanswered():
                    self._reset_connection()
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _send_whole(self, outcome):
        time.sleep(outcome.delay)
        content = outcome.content.encode()
        self.send_response(outcome.status)
        for name, value in {"content-type": outcome.content_type, **outcome.headers}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def _begin_stream(self):
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()

    def _send_chunk(self, data):
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _send_stream(self, outcome):
        self._begin_stream()
        for pause, written in outcome.frames:
            if pause:
                time.sleep(pause)
            if written.startswith(COMPLETED):
                self.exchange["output"] = json.loads(written.removeprefix(COMPLETED))["response"]["output"]
            self._send_chunk(written.encode())
        if outcome.cut:
            self._reset_connection()
        else:
            self._send_chunk(b"")

    def _send_pieces(self, cut):
        self._begin_stream()
        for piece in cut.pieces:
            time.sleep(cut.pause)
            self._send_chunk(piece)
        match cut.ending:
            case "silence":
                self._wait_for_the_client_to_leave()
            case "reset":
                self._reset_connection()
            case _:
                self._send_chunk(b"")

    def _reset_connection(self):
        """Close so that the client sees a reset, not an orderly end."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        # The handler's file holds the socket open: both have to go.
        self.rfile.close()
        self.connection.close()

    def _wait_for_the_client_to_leave(self):
        self.close_connection = True
        self.connection.settimeout(self.server.state.hang)
        try:
            self.connection.recv(1)
        except TimeoutError:
            return


class Server(ThreadingHTTPServer):
    """One thread a connection; clients that leave in the middle are no news."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def _json(value):
    return Answered(status=200, content=json.dumps(value, ensure_ascii=False), headers={})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--words-per-second", type=float, default=50.0)
    parser.add_argument("--hang", type=float, default=30.0, help="seconds that a timeout fault waits at most")
    arguments = parser.parse_args()
    faults = ScriptedFaults()
    service = DemoService(faults=faults, words_per_second=arguments.words_per_second)
    server = Server(("127.0.0.1", arguments.port), Handler)
    server.state = State(
        faults=faults, breakage=Breakage(), lines=Lines(), service=service, requests=[], hang=arguments.hang
    )
    print(json.dumps({"port": server.server_port}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
