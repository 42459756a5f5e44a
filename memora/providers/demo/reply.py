"""What the demo model says, before it takes the shape of the Responses API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Text:
    """A message to the reader."""

    text: str


@dataclass(frozen=True)
class Refusal:
    """A message that declines."""

    text: str


@dataclass(frozen=True)
class FunctionCall:
    """A wish to have a function run. ``arguments`` is a string of JSON, or of what a test wants instead."""

    name: str
    arguments: str


@dataclass(frozen=True)
class Reasoning:
    """Hidden thought, as it travels when nothing is stored: encrypted. Only faults put it into a reply."""

    encrypted_content: str


Part = Text | Refusal | FunctionCall | Reasoning


@dataclass(frozen=True, kw_only=True)
class Reply:
    """The parts of one response, in order, and how it ends."""

    parts: tuple[Part, ...]
    status: Literal["completed", "incomplete", "failed"] = "completed"
    reports_usage: bool = True


def say(text: str) -> Reply:
    """A reply of one message."""
    return Reply(parts=(Text(text),))
