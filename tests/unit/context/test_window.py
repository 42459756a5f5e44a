from hypothesis import given
from hypothesis import strategies as st

from memora.context.window import turns_to_fold, turns_to_leave_out, turns_within

TURNS = st.lists(st.integers(1, 500), min_size=1, max_size=40)
OTHER = st.integers(0, 2_000)
BUDGET = st.integers(0, 8_000)


def test_nothing_is_folded_while_everything_fits() -> None:
    assert turns_to_fold(turn_tokens=[100, 100, 100], other_tokens=700, budget=1_000) == 0


def test_a_fold_goes_below_the_budget_so_that_the_next_turns_need_none() -> None:
    assert turns_to_fold(turn_tokens=[100] * 11, other_tokens=0, budget=1_000, fold_to=0.7) == 4


def test_a_fold_spares_the_turns_to_keep() -> None:
    assert turns_to_fold(turn_tokens=[10, 10, 300, 300, 300], other_tokens=90, budget=1_000, keep_turns=2) == 2


def test_the_turns_to_keep_go_too_when_the_budget_demands_it() -> None:
    assert turns_to_fold(turn_tokens=[10, 900, 900, 300], other_tokens=0, budget=1_000, keep_turns=2) == 3


def test_no_more_turns_are_left_out_than_necessary() -> None:
    assert turns_to_leave_out(turn_tokens=[100] * 11, other_tokens=0, budget=1_000) == 1


def test_turns_for_one_request_stop_before_the_limit() -> None:
    assert turns_within(turn_tokens=[40, 40, 40], limit=100) == 2
    assert turns_within(turn_tokens=[400, 40], limit=100) == 1
    assert turns_within(turn_tokens=[], limit=100) == 0


@given(TURNS, OTHER, BUDGET, st.integers(0, 5), st.floats(0.1, 1.0))
def test_the_current_turn_always_stays(turns: list[int], other: int, budget: int, keep: int, fold_to: float) -> None:
    folded = turns_to_fold(turn_tokens=turns, other_tokens=other, budget=budget, keep_turns=keep, fold_to=fold_to)
    assert 0 <= folded < len(turns)


@given(TURNS, OTHER, BUDGET)
def test_what_is_left_fits_whenever_it_can(turns: list[int], other: int, budget: int) -> None:
    for rule in (turns_to_fold, turns_to_leave_out):
        count = rule(turn_tokens=turns, other_tokens=other, budget=budget)
        only_the_current_turn_is_left = count == len(turns) - 1
        assert other + sum(turns[count:]) <= budget or only_the_current_turn_is_left


@given(TURNS, OTHER, BUDGET)
def test_leaving_out_one_turn_less_would_not_fit(turns: list[int], other: int, budget: int) -> None:
    count = turns_to_leave_out(turn_tokens=turns, other_tokens=other, budget=budget)
    assert count == 0 or other + sum(turns[count - 1 :]) > budget


@given(TURNS, OTHER, BUDGET)
def test_folding_is_never_less_than_leaving_out(turns: list[int], other: int, budget: int) -> None:
    at_least = turns_to_leave_out(turn_tokens=turns, other_tokens=other, budget=budget)
    folded = turns_to_fold(turn_tokens=turns, other_tokens=other, budget=budget)
    assert folded >= at_least
    assert (folded == 0) == (at_least == 0)


@given(TURNS, st.integers(1, 2_000))
def test_turns_within_a_limit_make_progress_and_stay_within_it(turns: list[int], limit: int) -> None:
    count = turns_within(turn_tokens=turns, limit=limit)
    assert 1 <= count <= len(turns)
    assert count == 1 or sum(turns[:count]) <= limit
