"""Power and items against statsmodels 0.15 (TTestPower), whose values stand here."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.power import chance_to_see, items_needed, smallest_effect

SHARED_BY_15 = 1 - 0.05 / 15


@pytest.mark.parametrize(
    ("d_z", "items", "shared"),
    [
        (0.02, 19_625, 35_666),
        (0.05, 3_142, 5_711),
        (0.1, 787, 1_431),
        (0.2, 199, 361),
        (0.5, 34, 62),
        (1.0, 10, 19),
    ],
)
def test_items_needed_are_those_of_statsmodels(d_z: float, items: int, shared: int) -> None:
    assert items_needed(d_z) == items_needed(-d_z) == items
    assert items_needed(d_z, level=SHARED_BY_15) == shared


@pytest.mark.parametrize(
    ("items", "d_z", "level", "power"),
    [
        (5, 0.8, 0.95, 0.280992),
        (20, 0.5, 0.95, 0.564504),
        (10, 0.3, 0.9, 0.227410),
        (3, 1.5, 0.95, 0.316382),
        (2, 2.0, 0.95, 0.175707),
        (100, 0.1, 0.95, 0.167700),
    ],
)
def test_power_is_that_of_statsmodels(items: int, d_z: float, level: float, power: float) -> None:
    assert chance_to_see(d_z, items=items, level=level) == pytest.approx(power, abs=1e-6)


def test_the_smallest_effect_of_the_papers_4719_items() -> None:
    assert smallest_effect(items=4719) == pytest.approx(0.04079, abs=2e-5)
    assert smallest_effect(items=4719, level=SHARED_BY_15) == pytest.approx(0.05500, abs=2e-5)
    assert smallest_effect(items=2) > 1


@settings(max_examples=25, deadline=None)
@given(st.floats(0.25, 6), st.sampled_from([0.9, 0.95, 0.99]), st.sampled_from([0.5, 0.8, 0.95]))
def test_as_many_as_needed_suffice_and_one_fewer_does_not(d_z: float, level: float, power: float) -> None:
    items = items_needed(d_z, level=level, power=power)
    assert items is not None
    assert chance_to_see(d_z, items=items, level=level) >= power - (0.01 if items > 100 else 0)
    assert items == 2 or chance_to_see(d_z, items=items - 1, level=level) < power + (0.01 if items > 100 else 0)


def test_no_number_of_items_shows_what_is_not_there_and_two_show_what_never_varies() -> None:
    assert items_needed(0.0) is None
    assert items_needed(math.inf) == 2
    assert chance_to_see(0.0, items=30) == pytest.approx(0.05)


def test_numbers_out_of_range_are_refused() -> None:
    for call in (
        lambda: items_needed(math.nan),
        lambda: items_needed(0.2, level=1),
        lambda: items_needed(0.2, power=0),
        lambda: chance_to_see(0.2, items=1),
        lambda: chance_to_see(math.inf, items=3),
        lambda: smallest_effect(items=1),
    ):
        with pytest.raises(UsageError):
            call()


def test_where_the_start_is_too_high_fewer_items_are_named() -> None:
    items = items_needed(0.6, level=0.99, power=0.3)
    assert items == 15
    assert chance_to_see(0.6, items=15, level=0.99) >= 0.3 > chance_to_see(0.6, items=14, level=0.99)
