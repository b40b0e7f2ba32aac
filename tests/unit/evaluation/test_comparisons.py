"""The words of p, and that equivalence comes before a difference."""

import math

import pytest

from groundwire.core.types import Interval
from groundwire.evaluation.comparisons import Options, PairComparison, decided, p_in_words


@pytest.mark.parametrize(
    ("p", "words"), [(1.0, "p = 1.000"), (0.0499, "p = .050"), (0.004, "p = .004"), (0.0001, "p < .001")]
)
def test_p_is_never_printed_as_0(p: float, words: str) -> None:
    assert p_in_words(p) == words


@pytest.mark.parametrize(
    ("more", "words"),
    [(None, ""), (1, "; about 1 more item would decide"), (1234, "; about 1,234 more items would decide")],
)
def test_an_undecided_pair_says_how_many_more(more: int | None, words: str) -> None:
    gap = Interval(mean=0.75, low=-0.5, high=2.0, n=20, unscored=0, level=0.95, seed=0)
    pair = PairComparison(
        measure="m", one="A", other="B", decision="undecided", difference=gap, p=0.304, tail=math.nan, d_z=0.4,
        d_av=0.4, tukey=0.5, margin=None, more=more, wins=10, ties=5, losses=5, at_equal_length=None,
    )  # fmt: skip
    assert pair.words == f"undecided between A and B: +0.75 [-0.5, 2], p = .304, 20 items{words}"


@pytest.mark.parametrize(
    ("gain", "p", "margin", "decision"),
    [
        (0.5, 0.001, None, "better"),
        (-0.5, 0.001, None, "worse"),
        (0.5, 0.001, 2.0, "equivalent"),
        (0.5, 0.001, 0.9, "better"),
        (0.5, 0.05, None, "undecided"),
    ],
)
def test_decisions(gain: float, p: float, margin: float | None, decision: str) -> None:
    assert decided(gain, p, inner=(gain - 0.4, gain + 0.4), margin=margin, level=0.95) == decision


def test_a_measure_has_its_own_margin_or_that_of_all() -> None:
    options = Options(margins=(("", 2.0), ("recall", 1.0)))
    assert (options.margin_of("recall"), options.margin_of("density")) == (1.0, 2.0)
    assert Options().margin_of("recall") is None
