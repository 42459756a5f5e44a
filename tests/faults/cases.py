"""Every fault, and what comes of it: the table that the matrix tests and that docs/faults.md shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from memora.turn.ports import TurnState

Place = Literal["1", "2", "summary", "extraction", "reconciliation", "embedding"]
Kind = Literal["connection", "status", "body", "broken stream", "disorder", "content", "call"]
Learned = Literal["at once", "later, by itself", "with the next answer"]

ANSWER: tuple[Place, ...] = ("1", "2")
ASKED: tuple[Place, ...] = ("1", "2", "summary", "extraction", "reconciliation")
EVERYWHERE: tuple[Place, ...] = (*ASKED, "embedding")
NEEDS_HELP = frozenset({"auth", "forbidden", "model_not_found", "route_missing", "quota", "request_rejected"})
"""After these the write path waits for the next answer (or start): somebody has to put something right first."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """A fault (by its name in ``wire_faults.py`` or ``detour.py``) and its effect.

    ``code`` is the failure's, None where the answer comes out whole; ``state`` how the turn ends. ``is_retried``: the
    client asks once more by itself. ``unreadable_code`` is the failure of summary and learning where that is another
    one: what a reader can still use may be no summary and no JSON.
    """

    fault: str
    kind: Kind
    what: str
    code: str | None = None
    state: TurnState = "done"
    is_retried: bool = False
    unreadable_code: str | None = None
    places: tuple[Place, ...] = ASKED

    @property
    def background_code(self) -> str | None:
        """The failure of a summary, of extraction and of reconciliation."""
        return self.unreadable_code or self.code

    @property
    def sentence(self) -> str | None:
        """The key in `SENTENCES` of what is said in the conversation."""
        return "stream_cut_early" if (self.code, self.state) == ("stream_cut", "failed") else self.code

    @property
    def learned(self) -> Learned:
        """When the turn is learned from, if the fault is met in extraction or reconciliation and then goes."""
        if self.background_code is None:
            return "at once"
        return "with the next answer" if self.background_code in NEEDS_HELP else "later, by itself"


def _connection(fault: str, what: str, code: str = "unreachable") -> Case:
    return Case(
        fault=fault, kind="connection", what=what, code=code, state="failed", is_retried=True, places=EVERYWHERE
    )


def _status(fault: str, what: str, code: str, *, is_retried: bool = False) -> Case:
    return Case(
        fault=fault, kind="status", what=what, code=code, state="failed", is_retried=is_retried, places=EVERYWHERE
    )


def _body(fault: str, what: str) -> Case:
    return Case(fault=fault, kind="body", what=what, code="bad_response", state="failed", places=EVERYWHERE)


def _broken(fault: str, what: str, code: str = "stream_cut") -> Case:
    return Case(fault=fault, kind="broken stream", what=what, code=code, state="cut_off")


def _disorder(fault: str, what: str) -> Case:
    return Case(fault=fault, kind="disorder", what=what)


def _content(fault: str, what: str, code: str | None, *, state: TurnState) -> Case:
    return Case(fault=fault, kind="content", what=what, code=code, state=state, unreadable_code="bad_response")


def _call(fault: str, what: str, *, place: Place = "1") -> Case:
    return Case(fault=fault, kind="call", what=what, places=(place,))


CASES = (
    _connection("refused", "nothing listens at the address"),
    _connection("dns", "the host's name is unknown"),
    _connection("tls", "no TLS where it is expected"),
    _connection("connect_timeout", "the connection does not come about", "timeout"),
    _connection("read_timeout", "no answer", "timeout"),
    _connection("reset", "the connection is reset before an answer"),
    _status("400", "400", "request_rejected"),
    _status("401", "401", "auth"),
    _status("401_with_the_key", "401, and the error repeats the key", "auth"),
    _status("403", "403", "forbidden"),
    _status("404_model", "404, the model is unknown", "model_not_found"),
    _status("404_route", "404, the route is unknown", "route_missing"),
    _status("408", "408", "timeout", is_retried=True),
    _status("409", "409", "request_rejected", is_retried=True),
    _status("413", "413", "request_rejected"),
    _status("422", "422", "request_rejected"),
    _status("429", "429", "rate_limited", is_retried=True),
    _status("429_retry_after", "429 with `retry-after`", "rate_limited", is_retried=True),
    _status("429_quota", "429, no credit left", "quota", is_retried=True),
    _status("500", "500", "server_error", is_retried=True),
    _status("502", "502", "server_error", is_retried=True),
    _status("503", "503", "server_error", is_retried=True),
    _status("529", "529", "server_error", is_retried=True),
    _status("502_page", "502 with an HTML page", "server_error", is_retried=True),
    _body("html", "200 with an HTML page"),
    _body("empty_body", "200 with an empty body"),
    _body("invalid_json", "200 with invalid JSON"),
    _broken("ends_early", "the stream ends without `response.completed`"),
    _broken("cut", "the connection is reset in the middle"),
    _broken("ends_in_a_character", "the stream ends inside a UTF-8 character"),
    _broken("reset_in_a_character", "the connection is reset inside a UTF-8 character"),
    _broken("goes_silent", "the stream goes silent in the middle", "timeout"),
    _broken("error_event", "an `error` event in the middle", "server_error"),
    Case(fault="failed", kind="broken stream", what="`response.failed`", code="server_error", state="failed"),
    _disorder("drips", "a few bytes at a time"),
    _disorder("out_of_order", "events out of order"),
    _disorder("unknown_events", "unknown events between the known ones"),
    _disorder("duplicate_events", "every event twice"),
    _disorder("no_usage", "no `usage`"),
    _disorder("null_output", "`output: null` at the end"),
    _disorder("null_items", "`null` for items at the end"),
    Case(
        fault="null_content",
        kind="disorder",
        what="`content: null` in the message",
        unreadable_code="bad_response",
    ),
    _content("incomplete_length", "`incomplete`: `max_output_tokens`", "incomplete_length", state="cut_off"),
    _content("incomplete_filter", "`incomplete`: `content_filter`", "incomplete_filter", state="cut_off"),
    _content("refusal", "a refusal", None, state="done"),
    _content("empty", "no output at all", "empty_answer", state="failed"),
    _call("text_and_call", "text beside the call"),
    _call("two_calls", "two calls: the first is executed"),
    Case(
        fault="call_again",
        kind="call",
        what="a call in request 2: not executed, the result is shown",
        code="call_instead_of_answer",
        state="cut_off",
        places=("2",),
    ),
    _call("unknown_tool", "a call of an unknown function: told to the model"),
    _call("broken_arguments", "arguments that are no JSON: told to the model"),
    Case(
        fault="ends_early_in_arguments",
        kind="call",
        what="the stream ends inside the arguments of a call: nothing is executed",
        code="stream_cut",
        state="failed",
        places=("1",),
    ),
    _call("call_without_a_name", "a call without a name: told to the model"),
    _call("call_without_an_id", "a call without `call_id`: gets one"),
    _call("calls_with_one_id", "two calls with one `call_id`: each gets its own"),
    _call("huge_arguments", "arguments of 1 MB: told to the model"),
)
