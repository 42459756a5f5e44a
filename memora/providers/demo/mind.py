"""The demo model's mind: a request body goes in, a reply comes out. Pure, and the same every time."""

from __future__ import annotations

import json
from typing import Any, assert_never

from memora.providers.demo.answers import answer
from memora.providers.demo.colours import named_colour
from memora.providers.demo.extraction import extract
from memora.providers.demo.reconciliation import reconcile
from memora.providers.demo.reply import Reply, say
from memora.providers.demo.request import read_request
from memora.providers.demo.summary import summarize


def think(body: dict[str, Any]) -> Reply:
    """The reply to a request of the Responses API."""
    request = read_request(body)
    match request.purpose:
        case "answer" | "title":
            return answer(request)
        case "summary":
            return say(summarize(request))
        case "extraction":
            return say(json.dumps(extract(request), ensure_ascii=False))
        case "reconciliation":
            return say(json.dumps(reconcile(request), ensure_ascii=False))
        case "check":
            return say(json.dumps({"colour": named_colour(str(request.data.get("sentence")))}))
        case _:
            assert_never(request.purpose)
