"""The grid of values."""

import numpy as np
import pytest

from groundwire.evaluation.steps import settled, step_of


@pytest.mark.parametrize(
    ("values", "step", "fits"),
    [
        ([1.0, 3.0], 1, True),
        ([0.1, 0.3], 0.1, True),
        ([-5.0, 12.5], 0.5, True),
        ([259 / 3, 80.0], 1 / 3, True),
        ([0.000001, 1.0], 1e-6, True),
        ([0.0, np.pi], np.pi / 2**20, False),
        ([2.0, 2.0], 1, True),
    ],
)
def test_the_largest_step_that_all_values_are_multiples_of(values: list[float], step: float, fits: bool) -> None:
    assert step_of(np.array(values)) == (pytest.approx(step), fits)


def test_what_rounding_left_of_equal_values_is_0() -> None:
    found = settled(np.array([7e-15, -7e-15, 1e-9, 0.0]), largest=80)
    assert found.tolist() == [0, 0, 1e-9, 0]
    assert settled(np.array([7e-15]), largest=1e-3).tolist() == [7e-15]
