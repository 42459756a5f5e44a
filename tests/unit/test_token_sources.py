import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memora.model import TokenSource, Usage

SOURCES: tuple[TokenSource, ...] = ("reported", "counted", "estimated")
STORED = TypeAdapter(Usage)
COUNTS = st.integers(0, 1_000)
USAGES = st.builds(
    Usage,
    input_tokens=COUNTS,
    cached_tokens=COUNTS,
    output_tokens=COUNTS,
    reasoning_tokens=COUNTS,
    input_source=st.sampled_from(SOURCES),
    output_source=st.sampled_from(SOURCES),
)


@given(USAGES, USAGES)
def test_a_sum_is_no_better_than_its_weakest_part(left: Usage, right: Usage) -> None:
    total = left + right
    assert SOURCES.index(total.source) == max(SOURCES.index(left.source), SOURCES.index(right.source))
    assert total.total_tokens == left.total_tokens + right.total_tokens


@given(USAGES)
def test_usage_is_the_same_after_it_was_stored(usage: Usage) -> None:
    assert STORED.validate_json(STORED.dump_json(usage)) == usage


@pytest.mark.parametrize(("estimated", "source"), [("true", "estimated"), ("false", "reported")])
def test_usage_of_older_records_keeps_what_it_said_of_itself(estimated: str, source: TokenSource) -> None:
    old = '{"input_tokens":7,"cached_tokens":1,"output_tokens":2,"reasoning_tokens":0,"estimated":%s}'
    assert STORED.validate_json(old % estimated) == Usage(
        input_tokens=7, cached_tokens=1, output_tokens=2, input_source=source, output_source=source
    )
