from memora.i18n import translator
from memora.model import Usage
from memora.turn.events import ContextPrepared
from memora.ui.budget_bar import budget_bar, segments

_ = translator("en")


def prepared(**changes):
    values = {
        "at": 0.0,
        "took_ms": 1.0,
        "max_input_tokens": 10_000,
        "input_tokens": 3_000,
        "reserved_input_tokens": 1_200,
        "estimated_input_tokens": 4_200,
        "context_messages": 3,
        "newly_summarized_count": 0,
        "summary_token_usage": Usage(),
        "parts": {"system": 1_000, "messages": 2_000, "summary": 0},
    }
    return ContextPrepared(**(values | changes))


def test_the_stretches_fill_the_budget():
    drawn = segments(prepared(), _)
    assert sum(segment.tokens for segment in drawn) == 10_000
    assert [segment.kind for segment in drawn] == ["part-0", "part-1", "reserved", "free"]


def test_a_context_over_budget_leaves_nothing_free():
    assert segments(prepared(parts={"messages": 20_000}), _)[-1].tokens == 0


def test_without_parts_the_input_is_one_stretch():
    assert segments(prepared(parts={}), _)[0].tokens == 3_000


def test_the_picture_says_its_numbers_in_words():
    html = budget_bar(prepared(), _)
    assert 'aria-label="Token budget: 10,000 tokens"' in html
    assert "5,800" in html


def test_names_are_escaped():
    assert "<b>x" not in budget_bar(prepared(parts={"<b>x": 5}), _)
