"""Several judges: a broken one does not turn the value, and shows."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.jury import jurors, jury, jury_agreement, turns

QUICK = Options(permutations=200, resamples=200)


def rows(judge: str, values: list[float | None], system: str = "a") -> list[Judgement]:
    return [
        Judgement(str(n), system, "r", value, "abstained" if value is None else "read", judge,
                  "it declined" if value is None else "", (("answerable", 1.0),) if value is None else ())
        for n, value in enumerate(values)
    ]  # fmt: skip


@given(st.lists(st.floats(0, 100), min_size=3, max_size=3), st.floats(0, 100), st.sampled_from(["median", "trimmed"]))
def test_one_broken_juror_of_three_stays_between_the_two_others(votes: list[float], broken: float, how: str) -> None:
    sound = sorted(votes[:2])
    judged = [rows("one", [votes[0]]), rows("two", [votes[1]]), rows("three", [broken])]

    (found,) = jury(judged, voting=how)  # type: ignore[arg-type]

    assert found.value is not None
    assert sound[0] - 1e-5 <= found.value <= sound[1] + 1e-5


def test_the_mean_is_turned_where_the_median_is_not() -> None:
    judged = [rows("one", [80]), rows("two", [82]), rows("three", [0])]

    assert jury(judged, voting="mean")[0].value == pytest.approx(54)
    assert jury(judged)[0].value == 80
    assert jury(judged[:2], voting="trimmed")[0].value == 81


def test_every_vote_is_kept_with_mean_and_spread() -> None:
    (found,) = jury([rows("one", [80]), rows("two", [60])])

    assert dict(found.parts) == {"juror_1": 80, "juror_2": 60, "mean": 70, "spread": 10}
    assert found.judge.startswith("jury of 2/median/")
    assert found.outcome == "read"


def test_too_few_votes_are_no_value_with_the_reason_of_the_silent() -> None:
    judged = [rows("one", [80, None]), rows("two", [None, None]), rows("three", [90, 70])]
    first, second = jury(judged)

    assert (first.value, first.outcome) == (85, "recovered")
    assert "1 of 3 jurors have no value" in first.reason
    assert (second.value, second.outcome) == (None, "abstained")
    assert "1 of 3 jurors have a value, and 2 are needed: it declined" in second.reason
    assert dict(second.parts)["answerable"] == 1
    assert jury(judged, least=1)[1].value == 70


def test_an_item_that_only_one_juror_has_is_unreadable() -> None:
    judged = [rows("one", [80, 70]), rows("two", [60])]
    last = jury(judged)[1]

    assert (last.value, last.outcome, last.reason) == (
        None,
        "unreadable",
        "1 of 2 jurors have a value, and 2 are needed",
    )


def test_the_fingerprint_of_a_jury_names_who_sits_in_it_and_how_it_votes() -> None:
    judged = [rows("one", [80]), rows("two", [60])]
    others = [rows("one", [80]), rows("three", [60])]

    assert len({jury(judged)[0].judge, jury(others)[0].judge, jury(judged, least=1)[0].judge}) == 3


@pytest.mark.parametrize(
    ("judged", "what"),
    [
        ([rows("one", [1])], "no jury"),
        ([rows("one", [1]), rows("one", [1])], "one fingerprint"),
        ([rows("one", [1]) * 2, rows("two", [1])], "twice"),
        ([[*rows("one", [1]), *rows("other", [1], "b")], rows("two", [1])], "juror of several"),
    ],
)
def test_a_jury_that_is_none_is_refused(judged: list[list[Judgement]], what: str) -> None:
    with pytest.raises(UsageError, match=what):
        jury(judged)


@pytest.mark.parametrize("least", [0, 3])
def test_a_number_of_votes_that_cannot_be_is_refused(least: int) -> None:
    with pytest.raises(UsageError, match="ask for 1 to 2"):
        jury([rows("one", [1]), rows("two", [1])], least=least)


def test_a_broken_juror_shows_beside_the_others() -> None:
    values = [float(value) for value in np.random.default_rng(0).integers(20, 90, 40)]
    judged = [rows("one", [*values]), rows("two", [value + 2 for value in values])]
    judged += [rows("three", [value - 1 for value in values]), rows("broken", [95.0] * 40)]
    found = {one.judge: one for one in jurors(judged)}

    assert abs(found["one"].bias) < abs(found["broken"].bias)
    assert found["broken"].apart > 3 * found["two"].apart
    assert found["broken"].n == 40
    agreement = dict(jury_agreement(judged))["r"].value
    assert dict(jury_agreement(judged[:2]))["r"].value > 0.9 > agreement


def test_a_juror_without_values_has_no_mean() -> None:
    silent = jurors([rows("one", [1.0, 2.0]), rows("silent", [None, None])])[1]
    absent = jurors([rows("one", [1.0]), []])[1]

    assert (silent.n, silent.unscored) == (0, 2)
    assert math.isnan(silent.mean)
    assert math.isnan(silent.bias)
    assert absent.judge == ""


def test_a_verdict_that_hangs_on_one_juror_is_named() -> None:
    rng = np.random.default_rng(1)
    base = rng.uniform(40, 60, 60)

    def by(name: str, gain: float) -> list[Judgement]:
        noise = np.random.default_rng(len(name)).normal(0, 1, 60)
        return [*rows(name, list(base)), *rows(name, list(base + gain + noise), "b")]

    judged = [by("fond", 10), by("even", 0), by("sturdy", 9)]
    found = turns(judged, options=QUICK)

    assert {(turn.before, turn.after) for turn in found if turn.left_out == "even"} == set()
    lone = turns([by("fond", 10), by("even", 0)], voting="mean", options=QUICK)
    assert [(turn.left_out, turn.before != turn.after) for turn in lone] == [("fond", True)]
    assert turns([by("fond", 10), by("sturdy", 9)], options=QUICK) == ()
