"""Asking a server how many input tokens a request has, without having it answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from memora.providers.openai.failures import NO_SUCH_ROUTE, as_model_error, endpoint_of, report_of, sdk_failures
from memora.providers.openai.stream import token_count

if TYPE_CHECKING:
    from openai import OpenAI

COUNTING_TIMEOUT_SECONDS = 5.0
"""Nobody waits for the number itself, but what is learned from the turn does."""

_COUNTED = ("model", "instructions", "input", "tools", "tool_choice", "parallel_tool_calls", "text")
"""What of a body the route takes. It refuses the rest: ``include``, ``store``, ``stream``, ``max_output_tokens``."""


def count_input_tokens(client: OpenAI, body: Mapping[str, Any], *, model: str) -> int | None:
    """Ask ``POST /responses/input_tokens`` about ``body``, once.

    None where the server has no such route, or answers something else on it. Raises `ModelError`.
    """
    quick = client.with_options(timeout=COUNTING_TIMEOUT_SECONDS, max_retries=0)
    counted = {name: body[name] for name in _COUNTED if name in body}
    try:
        # Through `extra_body`, as answers are: walking a long input costs the SDK hundreds of milliseconds.
        answer = quick.responses.input_tokens.count(extra_body=counted)
    except sdk_failures() as error:
        if report_of(error).status in NO_SUCH_ROUTE:
            return None
        raise as_model_error(error, endpoint=endpoint_of(quick, model=model)) from error
    return token_count(getattr(answer, "input_tokens", None)) or None
