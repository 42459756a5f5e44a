from __future__ import annotations

import httpx2
import pytest

from memora.errors import BadResponse, ModelUnreachable, RouteMissing
from memora.providers.openai import build_client
from memora.providers.openai.failures import endpoint_of
from memora.providers.openai.listing import ModelListing, list_models


def listed(reply: httpx2.Response | Exception) -> ModelListing:
    def answer(request: httpx2.Request) -> httpx2.Response:
        assert (request.method, request.url.path) == ("GET", "/v1/models")
        if isinstance(reply, Exception):
            raise reply
        return reply

    client = build_client(
        api_key=None,
        base_url="http://model.test/v1",
        timeout=5,
        max_retries=2,
        transport=httpx2.MockTransport(answer),
    )
    return list_models(client, endpoint=endpoint_of(client, model=""))


def test_the_names_keep_their_order_and_the_owners_are_told() -> None:
    data = [{"id": "b", "object": "model", "owned_by": "vllm"}, {"id": "a", "object": "model", "owned_by": "vllm"}]
    reply = httpx2.Response(200, json={"object": "list", "data": data})
    assert listed(reply) == ModelListing(names=("b", "a"), owners=frozenset({"vllm"}))


@pytest.mark.parametrize(
    "body", [{"data": [{"id": None}, {"name": "x"}, {"id": ""}]}, {"data": None}, {"models": ["a"]}, {}]
)
def test_what_servers_leave_out_is_passed_over(body: object) -> None:
    assert listed(httpx2.Response(200, json=body)).names == ()


def test_a_server_without_the_list_says_so() -> None:
    with pytest.raises(RouteMissing):
        listed(httpx2.Response(404, text="404 page not found"))


@pytest.mark.parametrize("page", ["<!doctype html><p>Sign in", "not json"])
def test_a_page_is_no_list(page: str) -> None:
    with pytest.raises(BadResponse):
        listed(httpx2.Response(200, headers={"content-type": "text/html"}, text=page))


def test_nobody_there_is_unreachable() -> None:
    with pytest.raises(ModelUnreachable):
        listed(httpx2.ConnectError("refused"))
