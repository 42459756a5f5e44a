"""Words that say who wrote them, in which conversation, and when: where one turns up, it can be told whose it is."""

from __future__ import annotations

import re
from dataclasses import dataclass

_MARK = re.compile(r"zq(\d{2})(\d{2})(\d{4})")


@dataclass(frozen=True, kw_only=True)
class Mark:
    """The ``number``-th message of a session of a user."""

    user: int
    session: int
    number: int

    def __str__(self) -> str:
        return f"zq{self.user:02}{self.session:02}{self.number:04}"

    @property
    def user_id(self) -> str:
        return user_id(self.user)


def user_id(user: int) -> str:
    return f"user-{user:02}"


def marks_in(text: str) -> set[Mark]:
    """All marks in ``text``."""
    return {
        Mark(user=int(user), session=int(session), number=int(number)) for user, session, number in _MARK.findall(text)
    }


def owners(text: str) -> set[str]:
    """The ids of the users whose marks are in ``text``."""
    return {mark.user_id for mark in marks_in(text)}
