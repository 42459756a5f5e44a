import json
from datetime import UTC, datetime

from memora.memory.values import Category, Memory, Provenance, RecalledMemory
from memora.turn.spans import RecallSpan
from memora.turn.trace import Trace
from memora.ui.trace_json import cut, readable, trace_as_json


def test_a_trace_is_written_whole_with_chinese_as_chinese():
    at = datetime(2026, 3, 5, tzinfo=UTC)
    memory = Memory(
        id="m1",
        user_id="local",
        content="住在台北",
        category=Category.PROFILE,
        importance=3,
        created_at=at,
        updated_at=at,
        valid_from=at,
        provenance=Provenance(origin="user"),
    )
    trace = Trace(spans=(RecallSpan(started_at=0.0, memories=(RecalledMemory(memory=memory, score=0.5),)),))
    text = trace_as_json(trace)
    assert "住在台北" in text
    stored = json.loads(text)["spans"][0]["memories"][0]["memory"]
    assert stored["category"] == "profile"
    assert stored["created_at"] == at.isoformat()


def test_json_strings_are_indented_and_other_text_stays():
    assert readable('{"a": "中"}') == '{\n  "a": "中"\n}'
    assert readable("{broken") == "{broken"


def test_a_long_value_is_cut_and_says_by_how_much():
    assert cut("abcdef", limit=4) == ("abcd", 2)
    assert cut("abc", limit=4) == ("abc", 0)
