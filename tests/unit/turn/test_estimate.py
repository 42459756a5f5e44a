from __future__ import annotations

from dataclasses import replace

import pytest

from memora.context.tokens import TOKENS_PER_MESSAGE, TokenCounter
from memora.model import ModelRequest, Usage, rough_token_count
from memora.turn.estimate import estimate_usage

REQUEST = ModelRequest(
    purpose="answer",
    instructions="ab",
    input=({"content": "abc"},),
    tools=({"name": "f"},),
    tool_choice="auto",
)
ESTIMATED = {"input_source": "estimated", "output_source": "estimated"}


def test_everything_that_was_sent_and_received_is_counted() -> None:
    output = [{"type": "message", "content": [{"type": "output_text", "text": "字"}]}, {"type": "x"}]
    usage = estimate_usage(REQUEST, output=output, text="ignored", count_tokens=len)
    sent = len("ab") + len("abc") + TOKENS_PER_MESSAGE + len('{"name": "f"}')
    assert usage == Usage(input_tokens=sent, output_tokens=len("字") + len('{"type": "x"}'), **ESTIMATED)


def test_the_estimate_of_a_request_is_what_the_context_window_says_of_it() -> None:
    counter = TokenCounter()
    message = {"type": "message", "role": "user", "content": "Please count this, 請。"}
    request = replace(REQUEST, input=(message,))
    context = counter.count("ab") + counter.count_tools(request.tools) + counter.count_items(request.input)
    usage = estimate_usage(request, output=(), text="", count_tokens=counter.count)
    assert usage.input_tokens == context


def test_text_counts_where_no_item_came_whole() -> None:
    assert estimate_usage(REQUEST, output=[], text="four", count_tokens=len).output_tokens == 4


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("eight ch", 2), ("中文字", 3), ("\ud800", 1)])
def test_the_rough_count_is_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    assert rough_token_count(text) == tokens
