from datetime import date

from memora.context import TOOL_TURN_TOKEN_RESERVE, TokenCounter, system_prompt
from memora.settings import Settings
from memora.tools import TOOLS


def test_the_system_prompt_says_the_date() -> None:
    assert "2026-03-01" in system_prompt(today=date(2026, 3, 1))


def test_the_system_prompt_has_the_tool_guidelines() -> None:
    prompt = system_prompt(today=date(2026, 3, 1))
    assert "Never claim that a tool ran" in prompt
    assert "more reliable than guessing" in prompt


def test_the_smallest_window_that_may_be_set_has_room_for_a_message() -> None:
    (smallest,) = (rule.ge for rule in Settings.model_fields["max_input_tokens"].metadata if hasattr(rule, "ge"))
    counter = TokenCounter()
    taken = counter.count(system_prompt(today=date(2026, 3, 1))) + counter.count_tools(TOOLS)
    assert smallest - TOOL_TURN_TOKEN_RESERVE - taken >= 200
