from __future__ import annotations

import pytest

from memora.model import ModelRequest, Usage
from memora.turn.estimate import estimate_usage, rough_token_count

REQUEST = ModelRequest(
    purpose="answer",
    instructions="ab",
    input=({"content": "abc"},),
    tools=({"name": "f"},),
    tool_choice="auto",
)
SENT = len("ab") + len('{"content": "abc"}') + len('{"name": "f"}')


def test_everything_that_was_sent_and_received_is_counted() -> None:
    usage = estimate_usage(REQUEST, output=[{"text": "字"}], text="ignored", count_tokens=len)
    assert usage == Usage(input_tokens=SENT, output_tokens=len('{"text": "字"}'), estimated=True)


def test_text_counts_where_no_item_came_whole() -> None:
    assert estimate_usage(REQUEST, output=[], text="four", count_tokens=len).output_tokens == 4


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("a", 1), ("eight ch", 2), ("中文字", 3), ("\ud800", 1)])
def test_the_rough_count_is_a_quarter_of_the_bytes(text: str, tokens: int) -> None:
    assert rough_token_count(text) == tokens
