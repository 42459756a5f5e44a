from __future__ import annotations

import numpy as np
import pytest

from memora.providers.embedders.calibration import Correction, Rows, load_corrections, measure
from memora.providers.embedders.encoders import EncoderName, load_encoder


@pytest.mark.slow
@pytest.mark.parametrize("name", ["e5", "use"])
def test_the_kept_corrections_are_what_the_models_yield(name: EncoderName) -> None:
    encoder, kept = load_encoder(name), load_corrections(name)
    for encode, correction in ((encoder.queries, kept.query), (encoder.passages, kept.passage)):
        measured = measure(encode)
        # Another processor rounds a little differently.
        np.testing.assert_allclose(correction.common, measured.common, atol=1e-3)
        assert correction.language @ measured.language > 0.999


def correction(common: list[float], language: list[float]) -> Correction:
    return Correction(common=row(common), language=row(language))


def row(numbers: list[float]) -> Rows:
    return np.array(numbers, dtype=np.float32)


def test_nothing_is_left_of_the_language_and_the_length_is_one() -> None:
    rows = correction([0, 0, 0], [0, 0, 1])(np.array([[3, 4, 7]], dtype=np.float32), common_share=1.0)
    np.testing.assert_allclose(rows, [[0.6, 0.8, 0.0]], atol=1e-6)


def test_the_common_part_goes_as_far_as_it_is_told() -> None:
    take_out = correction([2, 0, 0], [0, 0, 1])
    rows = np.array([[2, 1, 0]], dtype=np.float32)
    np.testing.assert_allclose(take_out(rows, common_share=1.0), [[0, 1, 0]], atol=1e-6)
    np.testing.assert_allclose(take_out(rows, common_share=0.5), [[2**-0.5, 2**-0.5, 0]], atol=1e-6)


def test_a_vector_that_is_all_language_becomes_zero_and_not_nan() -> None:
    rows = correction([0, 0, 0], [0, 0, 1])(np.array([[0, 0, 5]], dtype=np.float32), common_share=0.0)
    assert rows.tolist() == [[0, 0, 0]]
