"""Every body that Memora sends is valid: by the SDK's types, by the OpenAPI document, and by what neither says."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from conformance import rules, tally
from conformance.corpus import COUNT, SCHEMAS, Corpus, conversation, not_streamed
from support.wire import Wire, ended, sse

from memora.settings import ProviderName
from memora.turn.flow import run_model_with_tools

Json = dict[str, Any]


def purposes(bodies: list[Json]) -> set[str]:
    """Which paths ``bodies`` came from."""
    found = set()
    for body in bodies:
        kinds = {item.get("type") for item in body["input"]}
        if "text" in body:
            is_repair = sum(item.get("role") == "user" for item in body["input"]) > 1
            found.add(body["text"]["format"]["name"] + (" repair" if is_repair else ""))
        elif "function_call_output" in kinds:
            found.add("answer 2" + (" with reasoning" if "reasoning" in kinds else ""))
        else:
            found.add("answer 1" if "tools" in body else "summary")
        found.add("include" if "include" in body else "no include")
    return found


def test_every_path_was_walked(corpus: Corpus) -> None:
    assert purposes(corpus.bodies()) == {
        "answer 1",
        "answer 2",
        "answer 2 with reasoning",
        "summary",
        "memory_extraction",
        "memory_extraction repair",
        "memory_reconciliation",
        "connection_check",
        "include",
        "no include",
    }
    assert {path for path, _ in corpus.sent} == set(SCHEMAS)


def test_every_body_is_valid(corpus: Corpus) -> None:
    for path, body in corpus.sent:
        assert tally.check(body, SCHEMAS[path], kind="bodies") == [], body


def test_every_body_is_valid_without_a_stream_too(corpus: Corpus) -> None:
    for body in corpus.bodies():
        assert tally.check(not_streamed(body), "CreateResponse, not streamed", kind="bodies") == []


def test_nothing_of_a_turn_comes_back_in_the_next_but_its_text(corpus: Corpus) -> None:
    firsts = [body for body in corpus.bodies() if purposes([body]) & {"answer 1"}]
    assert len(firsts) > 8
    assert rules.replays(firsts) == []


@pytest.mark.parametrize("provider", get_args(ProviderName))
def test_what_each_kind_of_server_is_sent_is_valid(provider: str, tmp_path: Any) -> None:
    sent = conversation(tmp_path / "data", provider=provider, messages=(COUNT,)).sent
    assert len(sent) > 5
    for path, body in sent:
        assert tally.check(body, SCHEMAS[path], kind="bodies") == [], body


def test_the_whole_output_of_request_1_is_carried_on_in_order() -> None:
    """Reasoning, text beside a call, a second call: in the order in which they came."""
    text = {"type": "output_text", "text": "Let me count.", "annotations": [], "logprobs": []}
    output = [
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
        {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]},
        {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "opaque"},
        *(
            {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": "f", "arguments": "{}"}
            for n in (1, 2)
        ),
    ]
    wire = Wire(sse(ended(*output)), sse(ended()))
    asked = [{"type": "message", "role": "user", "content": COUNT}]
    run_model_with_tools(input_messages=asked, model=wire.model())
    first, second = wire.bodies
    assert rules.carries_on(output, first["input"], second["input"]) == []
    for body in wire.bodies:
        assert tally.check(body, "CreateResponse", kind="bodies") == []
