from __future__ import annotations

import json
from typing import Any

import httpx2
import openai
import pytest

from memora import errors
from memora.providers.openai.failures import MAX_DETAIL_CHARS, Endpoint, Report, as_model_error, reported_error

SECRET = "a-very-secret-key"
ENDPOINT = Endpoint(model="some-model", host="model.test", timeout_seconds=60.0, secrets=(SECRET,))


@pytest.mark.parametrize(
    ("report", "kind", "params"),
    [
        ({"status": 401, "code": "invalid_api_key"}, errors.AuthenticationFailed, {}),
        ({"status": 403}, errors.PermissionRefused, {}),
        ({"status": 402}, errors.QuotaExhausted, {}),
        ({"status": 429, "code": "insufficient_quota"}, errors.QuotaExhausted, {}),
        ({"status": 429, "type": "insufficient_quota"}, errors.QuotaExhausted, {}),
        ({"status": 429, "message": "Insufficient Balance"}, errors.QuotaExhausted, {}),
        ({"status": 429, "code": "rate_limit_exceeded"}, errors.RateLimited, {}),
        ({"status": 429}, errors.RateLimited, {}),
        ({"code": "rate_limit_exceeded"}, errors.RateLimited, {}),
        ({"status": 404, "code": "model_not_found"}, errors.ModelNotFound, {"model": "some-model"}),
        ({"status": 400, "param": "model"}, errors.ModelNotFound, {"model": "some-model"}),
        ({"status": 403, "code": "model_not_found"}, errors.ModelNotFound, {"model": "some-model"}),
        ({"status": 404, "message": "model 'x' not found, try pulling it"}, errors.ModelNotFound, None),
        ({"status": 404, "message": "404 page not found"}, errors.RouteMissing, {"host": "model.test"}),
        ({"status": 404, "message": "<html>our business model</html>"}, errors.RouteMissing, None),
        ({"status": 405}, errors.RouteMissing, None),
        ({"status": 408}, errors.ModelTimedOut, {"host": "model.test", "seconds": 60.0}),
        (
            {"status": 400, "code": "context_length_exceeded"},
            errors.RequestRejected,
            {"status": 400, "reason": "context_length"},
        ),
        (
            {"status": 400, "message": "the request exceeds the available context size"},
            errors.RequestRejected,
            {"status": 400, "reason": "context_length"},
        ),
        ({"code": "context_length_exceeded"}, errors.RequestRejected, {"status": None, "reason": "context_length"}),
        ({"status": 422}, errors.RequestRejected, {"status": 422, "reason": ""}),
        ({"code": "invalid_prompt"}, errors.RequestRejected, {"status": None, "reason": ""}),
        ({"status": 500}, errors.ServerFailed, {"status": 500}),
        ({"status": 503, "message": "model context window is being rebuilt"}, errors.ServerFailed, {"status": 503}),
        ({"code": "server_error"}, errors.ServerFailed, {"status": None}),
        ({}, errors.ServerFailed, {"status": None}),
        ({"status": 304}, errors.BadResponse, {}),
    ],
)
def test_what_a_server_reports_becomes_one_of_our_errors(
    report: dict[str, Any], kind: type[errors.ModelError], params: dict[str, Any] | None
) -> None:
    error = reported_error(Report(**{"message": "", **report}), endpoint=ENDPOINT)
    assert type(error) is kind
    if params is not None:
        assert error.params == params


REQUEST = httpx2.Request("POST", "http://model.test/v1/responses")


def connection_error(cause: Exception) -> openai.APIConnectionError:
    error = openai.APIConnectionError(request=REQUEST)
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (openai.APITimeoutError(request=REQUEST), errors.ModelTimedOut),
        (connection_error(httpx2.ConnectError("refused")), errors.ModelUnreachable),
        (connection_error(httpx2.DecodingError("bad gzip")), errors.BadResponse),
        (connection_error(httpx2.LocalProtocolError("Illegal header value")), errors.AuthenticationFailed),
        (httpx2.ReadError("reset"), errors.ModelUnreachable),
        (httpx2.ReadTimeout("slow"), errors.ModelTimedOut),
        (json.JSONDecodeError("no", "x", 0), errors.BadResponse),
        (TypeError("'NoneType' object is not iterable"), errors.BadResponse),
        (UnicodeEncodeError("ascii", "字", 0, 1, "no"), errors.AuthenticationFailed),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"), errors.RequestRejected),
    ],
)
def test_what_sdk_transport_and_parsers_raise_becomes_one_of_our_errors(
    error: Exception, kind: type[errors.ModelError]
) -> None:
    assert type(as_model_error(error, endpoint=ENDPOINT)) is kind


def test_no_key_gets_into_a_detail() -> None:
    message = f"Incorrect API key: {SECRET}, sk-proj-abc_DEF*****123, header Bearer other.key"
    failure = reported_error(Report(message=message, status=401), endpoint=ENDPOINT).as_failure()
    assert failure.detail == "HTTP 401: Incorrect API key: [key], [key], header Bearer [key]"
    refused = connection_error(httpx2.LocalProtocolError(f"Illegal header value b'Bearer {SECRET}\\n'"))
    assert SECRET not in as_model_error(refused, endpoint=ENDPOINT).detail


def test_a_detail_is_one_line_of_bounded_length_and_no_page() -> None:
    long = reported_error(Report(message="a\n" * 1000, status=500), endpoint=ENDPOINT)
    assert len(long.detail) == MAX_DETAIL_CHARS
    assert "\n" not in long.detail
    page = reported_error(Report(message="<!DOCTYPE html><html>…", status=502), endpoint=ENDPOINT)
    assert page.detail == "HTTP 502: an HTML page"
