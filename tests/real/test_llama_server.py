"""Memora on a real llama-server with a real model, so small that it cannot do much: what it cannot is reported.

What is asserted is what the server and Memora owe each other: valid requests are taken, turns end well or with a
reason that is told, numbers agree.
"""

from __future__ import annotations

import math
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from conformance import tally
from pydantic import BaseModel
from real.llama_server import CHAT, EMBEDDINGS, MODEL, LlamaServer, llama_server
from support.talking import open_conversation, say, trace_of

from memora.assembly import LOCAL_USER, App
from memora.context import Summarizer, TokenCounter
from memora.context.ports import StoredMessage
from memora.errors import BadResponse, RequestRejected
from memora.memory.extraction import extract
from memora.model import CancelToken, ModelRequest, ModelResponse, RequestSent, ResponseEnded
from memora.providers.embedders import OpenAIEmbedder
from memora.providers.openai import OpenAIModel, build_client
from memora.providers.profiles import PROFILES
from memora.structured import ask, quoting
from memora.tools import TOOLS
from memora.turn import run_model_with_tools
from memora.turn.events import CallFinished, Event, RequestStarted
from memora.turn.spans import CallSpan, RequestSpan

Findings = dict[str, str]
GRAMMAR = Path(__file__).with_name("extraction.gbnf")
CALL = {"type": "function_call", "call_id": "call_1", "name": "count_english_words", "arguments": '{"text": "a b c"}'}
OUTPUT = {"type": "function_call_output", "call_id": "call_1", "output": '{"ok": true, "result": {"word_count": 3}}'}


def model_on(server: LlamaServer) -> OpenAIModel:
    def client() -> Any:
        return build_client(api_key=None, base_url=server.base_url, timeout=120, max_retries=0)

    return OpenAIModel(client_factory=client, model=MODEL, profile=PROFILES["llama_cpp"])


@pytest.fixture(scope="module")
def model(server: LlamaServer) -> OpenAIModel:
    return model_on(server)


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": text}


def answered(model: OpenAIModel, *items: dict[str, Any], **fields: Any) -> tuple[dict[str, Any], ModelResponse]:
    """The body that was sent, valid by the specification, and the response."""
    request = ModelRequest(purpose="answer", instructions="Answer in one short sentence.", input=items, **fields)
    sent, end = {}, None
    for event in model.stream(request, cancel=CancelToken()):
        if isinstance(event, RequestSent):
            sent = event.body
        elif isinstance(event, ResponseEnded):
            end = event.response
    assert end is not None
    assert tally.check(sent, "CreateResponse", kind="bodies") == []
    return sent, end


def test_it_is_recognised(app: App) -> None:
    assert app.list_models() == (MODEL,)
    assert app.status(user_id=LOCAL_USER).provider == "llama.cpp"


def test_a_whole_turn_ends_in_an_answer(app: App, found: Findings) -> None:
    turn = say(app, open_conversation(app), "Use the function count_english_words for: I like green tea.")
    assert turn.state == "done"
    assert turn.reply
    spans = trace_of(app, turn).spans
    assert 1 <= sum(isinstance(span, RequestSpan) for span in spans) <= 2
    assert turn.response_tokens > 0
    calls = [span for span in spans if isinstance(span, CallSpan)]
    found["calls the function when Memora asks"] = f"yes, {calls[0].status}" if calls else "no, it answered by itself"
    learning = trace_of(app, turn).learning
    assert learning is not None
    found["is learned from (extraction with one repair)"] = f"{learning.status}, {len(learning.changes)} changes"


def test_a_function_is_called_run_and_answered_in_two_requests(model: OpenAIModel, found: Findings) -> None:
    events: list[Event] = []
    question = user("Use the function count_english_words to count the words of: I like green tea")
    reply = run_model_with_tools(input_messages=[question], model=model, emit=events.append)
    [finished] = [event for event in events if isinstance(event, CallFinished)]
    assert finished.ok, finished.output
    assert (reply.state, reply.requests) == ("done", 2)
    assert reply.text
    for started in (event for event in events if isinstance(event, RequestStarted)):
        assert tally.check(started.body, "CreateResponse", kind="bodies") == []
    found["the function's output, and the answer"] = f"{finished.output}, “{' '.join(reply.text.split())[:60]}…”"


def test_the_second_request_is_taken_and_answered(model: OpenAIModel, found: Findings) -> None:
    items = (user("How many words: a b c?"), CALL, OUTPUT)
    _, response = answered(model, *items, tools=TOOLS, tool_choice="none", max_output_tokens=100)
    assert response.status == "completed"
    found["uses the function's result"] = "yes" if "3" in response.text or "three" in response.text else "no"
    found["calls again although tool_choice is none"] = "yes" if response.function_calls else "no"


def test_tokens_counted_in_advance_are_the_ones_reported_afterwards(model: OpenAIModel) -> None:
    body, response = answered(model, user("Say hello."), max_output_tokens=16)
    assert response.usage
    assert model.count_input_tokens(body, cancel=CancelToken()) == response.usage.input_tokens


def test_a_structured_answer_is_validated_and_asked_for_once_more(model: OpenAIModel, found: Findings) -> None:
    class Colour(BaseModel):
        colour: str

    request = ModelRequest(
        purpose="extraction", instructions="Which colour?", input=quoting({"sentence": "The sky is blue."})
    )
    try:
        answer = ask(model, request, name="colour", answer_type=Colour, cancel=CancelToken())
    except BadResponse as error:
        found["writes JSON that was asked for"] = f"no, not at the second try either ({error.detail[:80]})"
    else:
        assert answer.value.colour
        found["writes JSON that was asked for"] = f"yes, at try {answer.requests}"


def test_what_it_extracts_is_checked_against_the_message(tmp_path: Path, found: Findings) -> None:
    """A grammar keeps the model to the form; what it writes into it is its own."""
    with llama_server(tmp_path / "server.log", *CHAT, "--grammar-file", str(GRAMMAR)) as server:
        extraction, usage = extract(
            model=model_on(server),
            user_message="My name is Mei and I live in Taipei.",
            assistant_reply="Nice to meet you.",
            today=date(2026, 1, 1),
            cancel=CancelToken(),
        )
    assert usage is not None
    assert usage.output_source == "reported"
    assert len(extraction.accepted) + len(extraction.refused) == 1
    told = [f"refused “{refused.candidate.content}”: {refused.reason}" for refused in extraction.refused]
    found["extracts, kept to the form"] = ", ".join(told or [f"accepted “{extraction.accepted[0].content}”"])


def test_old_messages_are_summarised(model: OpenAIModel, found: Findings) -> None:
    summarizer = Summarizer(model=model, counter=TokenCounter(), max_tokens=2_000)
    messages = [
        StoredMessage(id=f"m{position}", turn_id="t", position=position, role=role, content=content)
        for position, (role, content) in enumerate([("user", "I live in Taipei."), ("assistant", "Taipei is lovely.")])
    ]
    made = summarizer.fold("", messages, cancel=CancelToken())
    assert made.text.strip()
    found["names what was told in its summary"] = "yes" if "Taipei" in made.text else "no"


def test_more_than_its_context_is_told_as_that(model: OpenAIModel) -> None:
    with pytest.raises(RequestRejected) as refused:
        answered(model, user("word " * 9_000))
    assert refused.value.params["reason"] == "context_length"


def test_the_test_of_the_connection_finds_nothing_that_fails(app: App, found: Findings) -> None:
    steps = list(app.check_connection(user_id=LOCAL_USER, cancel=CancelToken()))
    assert [step.name for step in steps if step.state == "failed"] == []
    found["Test connection"] = ", ".join(f"{step.name}: {step.note or step.state}" for step in steps)


def test_its_embeddings_work_like_any_others(tmp_path: Path) -> None:
    with llama_server(tmp_path / "server.log", *EMBEDDINGS) as server:
        client = build_client(api_key=None, base_url=server.base_url, timeout=60, max_retries=0)
        embedder = OpenAIEmbedder(client_factory=lambda: client, model=MODEL)
        vectors = embedder.embed_passages(["I like green tea.", "The train leaves at nine."])
        query = embedder.embed_query("I like green tea.")
        assert embedder.dimensions == len(query) == 576
    assert math.isclose(math.hypot(*query), 1.0, rel_tol=1e-6)
    near, far = (sum(a * b for a, b in zip(query, vector, strict=True)) for vector in vectors)
    assert near > far
