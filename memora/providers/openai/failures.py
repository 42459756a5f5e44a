"""From what the SDK, the transport and the servers say to Memora's errors. No key gets into a detail."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from memora.errors import (
    AuthenticationFailed,
    BadResponse,
    ModelError,
    ModelNotFound,
    ModelTimedOut,
    ModelUnreachable,
    PermissionRefused,
    QuotaExhausted,
    RateLimited,
    RequestRejected,
    RouteMissing,
    ServerFailed,
)
from memora.providers.openai.items import well_formed

if TYPE_CHECKING:
    from openai import OpenAI

MAX_DETAIL_CHARS = 400
NO_SUCH_ROUTE = (404, 405, 501)
"""What servers answer on a route that they do not have."""

_QUOTA = re.compile(r"insufficient_quota|billing|insufficient[ _]balance|credit balance", re.IGNORECASE)
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|context (?:length|window|size)|maximum context", re.IGNORECASE
)
_KEY = re.compile(r"\b(?:sk|pk|rk)-[\w*.-]{4,}|(?<=Bearer )\S+")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Who was asked, for the sentences that say so. ``secrets`` are what must not appear in any: keys, passwords."""

    model: str
    host: str
    timeout_seconds: float
    secrets: tuple[str, ...]


def endpoint_of(client: OpenAI, *, model: str) -> Endpoint:
    """The endpoint that ``client`` asks for ``model``."""
    timeout = getattr(client.timeout, "read", client.timeout)
    seconds = float(timeout) if isinstance(timeout, int | float) else 0.0
    secrets = tuple(secret for secret in (client.api_key, client.base_url.password) if secret)
    return Endpoint(model=model, host=client.base_url.host, timeout_seconds=seconds, secrets=secrets)


def sdk_failures() -> tuple[type[Exception], ...]:
    """What the SDK lets out: its own errors, the transport's, and those of parsers and bad shapes."""
    import httpx2
    import openai

    return (
        openai.OpenAIError,
        httpx2.HTTPError,
        httpx2.StreamError,
        httpx2.InvalidURL,
        ValueError,
        TypeError,
        RecursionError,
    )


@dataclass(frozen=True, kw_only=True)
class Report:
    """An error as a server words it. ``status`` is None inside a stream."""

    message: str
    code: str = ""
    type: str = ""
    param: str = ""
    status: int | None = None

    @classmethod
    def of(cls, body: object, *, status: int | None = None, fallback: str = "") -> Report:
        """Read ``body``: an error object, a bare sentence, or whatever else a server puts there."""
        fields = body if isinstance(body, Mapping) else {"message": body if isinstance(body, str) else ""}
        return cls(
            message=str(fields.get("message") or fields.get("detail") or fallback),
            code=str(fields.get("code") or ""),
            type=str(fields.get("type") or ""),
            param=str(fields.get("param") or ""),
            status=status,
        )


def report_of(error: Exception) -> Report:
    """What the server said in an exception of the SDK; mostly empty where no server spoke."""
    return Report.of(
        getattr(error, "body", None),
        status=getattr(error, "status_code", None),
        fallback=str(error),
    )


def as_model_error(error: Exception, *, endpoint: Endpoint) -> ModelError:
    """The `ModelError` that ``error`` (of the SDK, of httpx2, of a parser) amounts to."""
    import httpx2
    import openai

    cause = error.__cause__ or error
    detail = _tidy(f"{type(cause).__name__}: {cause}", endpoint=endpoint)
    match error:
        case openai.APITimeoutError() | httpx2.TimeoutException():
            return ModelTimedOut(detail, host=endpoint.host, seconds=endpoint.timeout_seconds)
        case openai.APIConnectionError(__cause__=httpx2.LocalProtocolError()) | UnicodeEncodeError(encoding="ascii"):
            return AuthenticationFailed("the key holds characters that cannot be sent in a header")
        case openai.APIConnectionError(__cause__=httpx2.DecodingError()):
            return BadResponse(detail)
        case openai.APIConnectionError() | httpx2.TransportError():
            return ModelUnreachable(detail, host=endpoint.host)
        case openai.APIResponseValidationError():
            return BadResponse(detail)
        case openai.APIError():
            return reported_error(report_of(error), endpoint=endpoint)
        case UnicodeEncodeError():
            return RequestRejected(detail, status=None, reason="invalid_text")
        case _:
            return BadResponse(detail)


def reported_error(report: Report, *, endpoint: Endpoint) -> ModelError:
    """The `ModelError` for what a server reported, by its code first and by its status second."""
    detail = _detail(report, endpoint=endpoint)
    status = report.status
    words = f"{report.code} {report.type} {report.message}"
    if status == 402 or _QUOTA.search(f"{report.code} {report.type}") or (status == 429 and _QUOTA.search(words)):
        return QuotaExhausted(detail)
    if report.code == "model_not_found" or (status in (400, 404) and _names_model(report)):
        return ModelNotFound(detail, model=endpoint.model)
    if _CONTEXT.search(words) and (status is None or 400 <= status < 500) and status != 429:
        return RequestRejected(detail, status=status, reason="context_length")
    if status == 429 or "rate_limit" in report.code:
        return RateLimited(detail)
    match status:
        case 401:
            return AuthenticationFailed(detail)
        case 403:
            return PermissionRefused(detail)
        case 404 | 405:
            return RouteMissing(detail, host=endpoint.host)
        case 408:
            return ModelTimedOut(detail, host=endpoint.host, seconds=endpoint.timeout_seconds)
        case int() if status < 400:
            return BadResponse(detail)
        case int() if status < 500:
            return RequestRejected(detail, status=status, reason="")
        case None if report.code == "invalid_prompt" or report.type == "invalid_request_error":
            return RequestRejected(detail, status=None, reason="")
        case _:
            return ServerFailed(detail, status=status)


def _names_model(report: Report) -> bool:
    """Whether it is the model that was not found, and not the route."""
    if report.param == "model":
        return True
    return report.status == 404 and "model" in report.message.lower() and not _is_page(report.message)


def _is_page(message: str) -> bool:
    return message.lstrip().startswith("<")


def _detail(report: Report, *, endpoint: Endpoint) -> str:
    said = "an HTML page" if _is_page(report.message) else report.message
    status = f"HTTP {report.status}" if report.status else ""
    label = " ".join(part for part in (status, report.code or report.type) if part)
    return _tidy(f"{label}: {said}" if label else said, endpoint=endpoint)


def _tidy(text: str, *, endpoint: Endpoint) -> str:
    """``text`` on one line, without keys, cut to a length that a panel can show."""
    text = well_formed(text)
    for secret in endpoint.secrets:
        text = re.sub(re.escape(secret), "[key]", text, flags=re.IGNORECASE)
    hidden = _KEY.sub("[key]", text)
    line = " ".join(hidden.split())
    return line if len(line) <= MAX_DETAIL_CHARS else line[: MAX_DETAIL_CHARS - 1] + "…"
