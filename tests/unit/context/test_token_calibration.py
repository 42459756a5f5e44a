import pytest
from hypothesis import given
from hypothesis import strategies as st

from memora.context.calibration import MIN_ANSWERS, PLAUSIBLE, Calibration

SIZES = st.integers(200, 100_000)
RATIOS = st.floats(0.51, 2.99)


def after(*pairs: tuple[int, int]) -> Calibration:
    """What is known after answers whose inputs were (estimated, counted by the server)."""
    calibration = Calibration()
    for estimated, counted in pairs:
        calibration = calibration.learned(estimated_tokens=estimated, server_tokens=counted)
    return calibration


def test_nothing_is_corrected_before_enough_answers_have_come() -> None:
    assert [after(*[(1_000, 1_200)] * n).corrected(500) for n in (0, 1, MIN_ANSWERS - 1)] == [500, 500, 500]


@given(st.lists(SIZES, min_size=MIN_ANSWERS, max_size=40), RATIOS, SIZES)
def test_a_server_that_always_counts_by_the_same_ratio_is_met_within_a_percent(
    sizes: list[int], ratio: float, asked: int
) -> None:
    learned = after(*[(size, round(size * ratio)) for size in sizes])
    assert learned.corrected(asked) == pytest.approx(asked * max(1.0, ratio), rel=0.01, abs=1)


@given(st.lists(st.tuples(st.integers(-10, 100_000), st.integers(-10, 300_000)), max_size=60))
def test_whatever_servers_report_the_correction_stays_within_its_bounds(pairs: list[tuple[int, int]]) -> None:
    assert 1.0 <= after(*pairs).factor <= PLAUSIBLE[1] + 1e-9


@given(st.integers(0, 1_000_000), st.lists(st.tuples(SIZES, SIZES), max_size=20))
def test_a_correction_can_be_taken_back(tokens: int, pairs: list[tuple[int, int]]) -> None:
    calibration = after(*pairs)
    assert abs(calibration.uncorrected(calibration.corrected(tokens)) - tokens) <= 1


@pytest.mark.parametrize("counted", [0, -1, 499, 3_001, 1_000_000])
def test_a_count_that_makes_no_sense_is_not_learned_from(counted: int) -> None:
    known = after((1_000, 1_100), (1_000, 1_100))
    assert known.learned(estimated_tokens=1_000, server_tokens=counted) == known


def test_an_estimate_of_nothing_is_not_learned_from() -> None:
    assert after((0, 100)) == Calibration()


def test_it_follows_a_server_that_has_changed() -> None:
    calibration = after(*[(1_000, 1_000)] * 100, *[(1_000, 2_000)] * 60)
    assert calibration.factor == pytest.approx(2, rel=0.05)


def test_long_inputs_weigh_more_than_short_ones() -> None:
    assert after((100, 200), (100, 200), (10_000, 10_000)).factor < 1.05
