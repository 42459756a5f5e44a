"""Recorded exchanges, played again below the real client: what happened then happens now.

A bug report becomes a test here: its file in tests/cassettes, and one line in `RECORDED`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date

import httpx2
import pytest
from support.cassette_player import CassetteEnded, CassettePlayer

from memora.memory.extraction import extract
from memora.model import CancelToken
from memora.providers.cassette import Exchange, read_cassette
from memora.providers.cassette.cassette import Answer
from memora.providers.openai import OpenAIModel, build_client
from memora.providers.profiles import PROFILES
from memora.settings import APP_FOLDER, ProviderName
from memora.turn import run_model_with_tools
from memora.turn.events import CallFinished, CallNotExecuted

CASSETTES = APP_FOLDER / "tests" / "cassettes"


@dataclass(frozen=True)
class Recorded:
    """How the answer on a cassette ended. ``calls`` says of each call whether it went well, or why it was not run.

    ``provider`` is the kind of server that it was recorded with (`MEMORA_PROVIDER`).
    """

    name: str
    provider: ProviderName = "any"
    state: str = "done"
    failure: str | None = None
    requests: int = 1
    calls: tuple[object, ...] = ()
    text: str = ""


RECORDED = [
    Recorded("demo-call-with-reasoning", requests=2, calls=(True,), text="文文文文文文 1 文文文。"),
    Recorded("server-two-calls", requests=2, calls=(True, "only_one_call_per_turn"), text="文文文文文文 1 文文文。"),
    Recorded("server-include-refused", requests=2, calls=(True,), text="文文文文文文 1 文文文。"),
    Recorded("server-busy", text="Xxxxx! X xx xxx xxxx xxxxx"),
    Recorded("server-cut", state="cut_off", failure="stream_cut", text="Xxxxx! X xx"),
    Recorded("server-html", state="failed", failure="bad_response"),
    Recorded("llmock-call", requests=2, calls=(True,), text="Xxxxx xxx xxxx xxxxx xx xxxx xxxxxxxx."),
    Recorded("llmock-malformed-arguments", requests=2, calls=(False,), text="XXXxxx xxxx xxxxx"),
    Recorded("llmock-malformed-chunk", state="cut_off", failure="bad_response", text="Xxxxx"),
    Recorded("llmock-truncated", state="cut_off", failure="stream_cut", text="Xxxxx"),
    Recorded("llmock-key-refused", state="failed", failure="auth"),
    Recorded("llama-answer", text="Xxxxx"),
]


def played(name):
    exchanges = read_cassette((CASSETTES / f"{name}.jsonl").read_text())
    return exchanges, CassettePlayer(exchanges)


def client(player, *, max_retries=0):
    return build_client(
        api_key=None, base_url="http://model.test/v1", timeout=5, max_retries=max_retries, transport=player
    )


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda recorded: recorded.name)
def test_a_recorded_answer_ends_as_it_did(recorded):
    exchanges, player = played(recorded.name)
    answers = [exchange for exchange in exchanges if exchange.path.endswith("/responses")]
    asked = answers[0].body
    events = []
    reply = run_model_with_tools(
        input_messages=asked["input"],
        instructions=asked["instructions"],
        model=OpenAIModel(
            model=asked["model"],
            client_factory=lambda: client(player, max_retries=2),
            profile=PROFILES[recorded.provider],
        ),
        emit=events.append,
    )
    calls = [event.ok for event in events if isinstance(event, CallFinished)]
    calls += [event.reason for event in events if isinstance(event, CallNotExecuted)]
    failure = reply.failure and reply.failure.code
    assert (reply.state, failure, reply.requests, tuple(calls)) == (
        recorded.state,
        recorded.failure,
        recorded.requests,
        recorded.calls,
    )
    assert reply.text.startswith(recorded.text)
    assert bool(reply.text) == bool(recorded.text)
    assert [exchange for exchange in player.waiting if exchange in answers] == []
    assert [shape(body) for body in player.bodies] == [shape(exchange.body) for exchange in answers]


def shape(body):
    """The fields of a request and the kinds of its items."""
    return {**dict.fromkeys(body), "input": [(item["type"], sorted(item)) for item in body["input"]]}


def test_a_recorded_extraction_is_accepted_again():
    (exchange,), player = played("demo-extraction")
    quoted = json.loads(exchange.body["input"][0]["content"])
    extraction, _ = extract(
        model=OpenAIModel(model="memora-demo", client_factory=lambda: client(player)),
        user_message=quoted["user_message"],
        assistant_reply=quoted["assistant_reply"],
        today=date(2026, 12, 1),
        cancel=CancelToken(),
    )
    assert [candidate.category.value for candidate in extraction.accepted] == ["profile", "preference", "profile"]
    assert [candidate.importance for candidate in extraction.accepted] == [5, 3, 4]
    assert extraction.refused == ()
    assert [update.field for update in extraction.profile] == ["name"]


def test_every_cassette_has_its_test():
    names = {path.stem for path in CASSETTES.glob("*.jsonl")}
    assert names == {recorded.name for recorded in RECORDED} | {"demo-extraction"}


def exchange(method, path, **fields):
    return Exchange(method=method, path=path, **fields)


def answer(body, kind="json", status=200):
    return Answer(status=status, kind=kind, body=body)


def test_exchanges_are_played_in_order_for_their_own_route():
    player = CassettePlayer(
        [
            exchange("POST", "/v1/responses", answer=answer("first")),
            exchange("GET", "/xxxx/v1/models", answer=answer("models")),
            exchange("POST", "/v1/responses", answer=answer("not json", kind="text", status=500)),
        ]
    )
    http = httpx2.Client(transport=player, base_url="http://model.test/api/v1")
    assert http.get("/models").json() == "models"
    assert http.post("/responses", json={"n": 1}).json() == "first"
    second = http.post("/responses", json={"n": 2})
    assert (second.status_code, second.text) == (500, "not json")
    assert player.bodies == (None, {"n": 1}, {"n": 2})


def test_a_request_that_is_not_on_the_cassette_is_named():
    player = CassettePlayer([exchange("GET", "/v1/models", answer=answer("models"))])
    with pytest.raises(CassetteEnded, match="no further POST /responses"):
        httpx2.Client(transport=player).post("http://model.test/v1/responses", json={})


@pytest.mark.parametrize(("ended", "raised"), [("ReadTimeout", httpx2.ReadTimeout), ("Novel", httpx2.ReadError)])
def test_the_errors_of_the_transport_come_again(ended, raised):
    http = httpx2.Client(
        transport=CassettePlayer(
            [
                exchange("GET", "/v1/models", ended=ended),
                exchange("GET", "/v1/models", ended=ended, answer=answer(["data: 1\n\n"], kind="frames")),
            ]
        )
    )
    with pytest.raises(raised):
        http.get("http://model.test/v1/models")
    with http.stream("GET", "http://model.test/v1/models") as response:
        arrivals = response.iter_raw()
        assert next(arrivals) == b"data: 1\n\n"
        with pytest.raises(raised):
            next(arrivals)
