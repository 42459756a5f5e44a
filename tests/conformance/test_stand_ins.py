"""What stands in for the API does not lie: the demo model and the test server answer by the same specifications."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
from conformance import tally
from conformance.corpus import COUNT, RESPONSES, Corpus
from conformance.exchanges import asking, events_of, not_streamed, post
from servers.launch import responses_server

from memora.providers.demo import DemoTransport, TriggerFaults
from memora.settings import DEMO_MODEL

Json = dict[str, Any]
TRIGGERS = (
    "",
    "[[with:reasoning]]",
    "[[with:text]]",
    "[[bad:two_calls]]",
    "[[bad:arguments]]",
    "[[bad:unknown_tool]]",
    "[[no:usage]]",
    "[[fail:failed]]",
    "[[fail:incomplete]]",
    "[[fail:refusal]]",
    "[[fail:empty]]",
)
ERRORS = ("400", "401", "403", "404", "429", "500", "503", "quota", "model")


@pytest.fixture(scope="module", params=["demo model", "test server"])
def client(request: pytest.FixtureRequest) -> Iterator[httpx2.Client]:
    """A plain HTTP client on one of the two."""
    if request.param == "demo model":
        transport = DemoTransport(faults=TriggerFaults(), words_per_second=100_000)
        with httpx2.Client(base_url="http://demo.test/v1", transport=transport) as in_process:
            yield in_process
    else:
        with responses_server(words_per_second=100_000) as server, httpx2.Client(base_url=server.base_url) as over_http:
            yield over_http


def bodies(corpus: Corpus) -> list[Json]:
    """What Memora sent, without what asks for a fault, and what makes the stand-ins answer in every way they can."""
    healthy = re.sub(
        r"\[\[fail:[^\]]*\]\]", "", json.dumps([sent.body for sent in corpus.to("openai") if sent.path == RESPONSES])
    )
    return [*json.loads(healthy), *(asking(f"{COUNT} {trigger}") for trigger in TRIGGERS)]


def test_every_stream_is_valid_and_its_events_make_up_what_they_end_with(client: httpx2.Client, corpus: Corpus) -> None:
    for body in bodies(corpus):
        events = events_of(post(client, "/responses", body))
        assert tally.check_stream(events) == [], events


def test_every_whole_response_is_valid(client: httpx2.Client, corpus: Corpus) -> None:
    for body in bodies(corpus):
        response = post(client, "/responses", not_streamed(body)).json()
        assert tally.check(response, "Response", kind="responses") == [], response


def test_an_error_in_the_middle_is_an_event_of_the_specification(client: httpx2.Client) -> None:
    events = events_of(post(client, "/responses", asking("An example, please. [[fail:error]]")))
    assert events[-1]["type"] == "error"
    assert tally.check_stream(events) == []


@pytest.mark.parametrize("name", ERRORS)
def test_every_error_is_written_as_the_api_writes_it(client: httpx2.Client, name: str) -> None:
    response = post(client, "/responses", asking(f"Hello. [[fail:{name}]]"))
    assert response.status_code >= 400
    assert set(response.json()) == {"error"}
    assert tally.check(response.json(), "ErrorResponse", kind="responses") == []


def test_the_list_of_models_and_the_count_of_tokens_are_valid(client: httpx2.Client) -> None:
    models = client.get("/models", headers={"authorization": "Bearer sk-test"}).json()
    assert [model["id"] for model in models["data"]] == [DEMO_MODEL]
    assert tally.check(models["data"][0], "Model", kind="responses") == []
    assert tally.check(models, "ListModelsResponse", kind="responses") == []
    body = {name: value for name, value in asking(COUNT).items() if name not in ("store", "stream")}
    counted = post(client, "/responses/input_tokens", body).json()
    assert tally.check(counted, "TokenCountsResource", kind="responses") == []


def test_the_embeddings_of_the_test_server_are_valid(corpus: Corpus) -> None:
    with responses_server() as server, httpx2.Client(base_url=server.base_url) as over_http:
        for body in corpus.bodies("/v1/embeddings"):
            answer = post(over_http, "/embeddings", body).json()
            assert tally.check(answer, "CreateEmbeddingResponse", kind="responses") == []
