"""Addresses where no server answers, and a transport that leads the requests of one place there.

What fails is the real network below the real client; only the address is another one.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2

from memora.providers.demo.request import read_request

ADDRESSES = ("refused", "dns", "tls", "connect_timeout")


@dataclass
class Detour:
    """Where the requests of ``place`` go instead, while it is set; ``taken`` counts them."""

    addresses: dict[str, httpx2.URL]
    place: str = ""
    fault: str = ""
    taken: list[str] = field(default_factory=list)

    def lead(self, place: str, fault: str) -> None:
        """From now on the requests of ``place`` meet the address ``fault``."""
        self.place, self.fault = place, fault

    def end(self) -> None:
        """No request is led astray any more."""
        self.fault = ""
        self.taken.clear()

    def address_for(self, request: httpx2.Request) -> httpx2.URL | None:
        """Where ``request`` goes; None: where it wants to."""
        if not self.fault or _place(request) != self.place:
            return None
        self.taken.append(self.fault)
        address = self.addresses[self.fault]
        return request.url.copy_with(scheme=address.scheme, host=address.host, port=address.port)


class DetourTransport(httpx2.HTTPTransport):
    """The real transport, with some requests led astray by ``detour``."""

    def __init__(self, detour: Detour) -> None:
        super().__init__()
        self._detour = detour

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        if address := self._detour.address_for(request):
            request.url = address
        return super().handle_request(request)


@contextmanager
def dead_addresses(*, served_port: int) -> Iterator[dict[str, httpx2.URL]]:
    """One address for each of `ADDRESSES`. ``served_port`` speaks HTTP without TLS."""
    with socket.socket() as closed, socket.socket() as full:
        closed.bind(("127.0.0.1", 0))  # bound, and nobody listens
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        waiting = [_half_open(full) for _ in range(4)]  # the queue of connections is full: further ones wait
        yield {
            "refused": httpx2.URL(f"http://127.0.0.1:{closed.getsockname()[1]}"),
            "dns": httpx2.URL("http://no-such-host.invalid"),
            "tls": httpx2.URL(f"https://127.0.0.1:{served_port}"),
            "connect_timeout": httpx2.URL(f"http://127.0.0.1:{full.getsockname()[1]}"),
        }
        for connection in waiting:
            connection.close()


def _half_open(listener: socket.socket) -> socket.socket:
    connection = socket.socket()
    connection.setblocking(False)
    connection.connect_ex(listener.getsockname())
    return connection


def _place(request: httpx2.Request) -> str:
    return place_of(request.url.path, json.loads(request.read() or b"{}"))


def place_of(path: str, body: dict[str, Any]) -> str:
    """Which request of Memora's this is, by the names of the fault server; empty for others."""
    if path.endswith("/embeddings"):
        return "embedding"
    if not path.endswith("/responses"):
        return ""
    asked = read_request(body)
    return str(asked.number) if asked.purpose == "answer" else asked.purpose
