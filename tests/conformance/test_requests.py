"""Every body that Memora sends is valid: by the SDK's types, by the OpenAPI document, and by what neither says."""

from __future__ import annotations

from typing import Any, get_args

import pytest
from conformance import rules, sdk_types, tally
from conformance.corpus import COUNT, SCHEMAS, Corpus, Sent
from conformance.exchanges import not_streamed
from support.wire import Wire, ended, sse

from memora.settings import ProviderName
from memora.turn.flow import run_model_with_tools

Json = dict[str, Any]


def without_reasoning(output: list[Json]) -> list[Json]:
    """What of an output is sent when its reasoning was refused: a call's id may refer to that, so it goes too."""
    rest = [item for item in output if item["type"] != "reasoning"]
    return [
        {name: value for name, value in item.items() if (name, item["type"]) != ("id", "function_call")}
        for item in rest
    ]


def purposes(sent: Sent) -> set[str]:
    """Which path ``sent`` came from."""
    if sent.path != "/v1/responses":
        return {sent.path}
    found = {"include" if "include" in sent.body else "no include"}
    kinds = {item["type"] for item in sent.items}
    if "text" in sent.body:
        is_repair = sum(item.get("role") == "user" for item in sent.items) > 1
        found.add(sent.body["text"]["format"]["name"] + (" repair" if is_repair else ""))
    elif sent.is_second:
        found.add("answer 2" + (" with reasoning" if "reasoning" in kinds else ""))
        found.add("tools offered again" if "tools" in sent.body else "no tools in request 2")
    else:
        found.add("answer 1" if sent.is_first else "summary")
    return found


def test_every_path_was_walked(corpus: Corpus) -> None:
    assert set().union(*map(purposes, corpus.sent)) == {
        "answer 1",
        "answer 2",
        "answer 2 with reasoning",
        "tools offered again",
        "no tools in request 2",
        "summary",
        "memory_extraction",
        "memory_extraction repair",
        "memory_reconciliation",
        "connection_check",
        "include",
        "no include",
        "/v1/responses/input_tokens",
        "/v1/embeddings",
    }


@pytest.mark.parametrize("provider", get_args(ProviderName))
def test_every_body_to_each_kind_of_server_is_valid(corpus: Corpus, provider: ProviderName) -> None:
    assert {sent.path for sent in corpus.to(provider)} >= set(SCHEMAS) - {"/v1/responses/input_tokens"}
    for sent in corpus.to(provider):
        assert tally.check(sent.body, SCHEMAS[sent.path], kind="bodies") == [], sent.body


def test_every_body_would_be_valid_without_a_stream_too(corpus: Corpus) -> None:
    for body in corpus.bodies():
        found = tally.complaints(not_streamed(body), sdk_types.NOT_STREAMED)
        assert not any(found.values()), found


def test_the_whole_output_of_request_1_is_carried_on_in_order(corpus: Corpus) -> None:
    answers = list(corpus.answers())
    assert len(answers) > 10
    for first, seconds in answers:
        assert rules.carries_on(first.body, first.output, seconds[0].body) == []
        for again in seconds[1:]:
            assert rules.carries_on(first.body, without_reasoning(first.output), again.body) == []
    assert any(seconds[1:] for _, seconds in answers)


def test_the_output_is_carried_on_in_order_even_where_reasoning_text_and_calls_alternate() -> None:
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
    assert rules.carries_on(first, output, second) == []
    for body in wire.bodies:
        assert tally.check(body, "CreateResponse", kind="bodies") == []


def test_nothing_of_a_turn_comes_back_in_the_next_but_its_text(corpus: Corpus) -> None:
    firsts = [sent.body for sent in corpus.sent if sent.is_first]
    assert len(firsts) > 8
    assert rules.replays(firsts) == []
