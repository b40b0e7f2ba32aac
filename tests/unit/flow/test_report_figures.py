"""What figures are made of: axes, who counts, and what stands beneath them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from groundwire.core.types import Judgement
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.joins import Joined
from groundwire.flow import report_figures
from groundwire.flow.report_figures import _side_by_side, correlations, judged_again, span_of, variance_figure
from groundwire.flow.report_views import report_words

WORDS = report_words("en")


def table(name: str, values: np.ndarray) -> Joined:
    systems = tuple("abcdef"[: values.shape[1]])
    return Joined(name, "j", systems, tuple(f"q{i}" for i in range(len(values))), values, (), ())


@pytest.mark.parametrize(
    ("low", "high", "span"),
    [(0, 1, (0, 1)), (0.2, 0.9, (0, 1)), (5, 88, (0, 100)), (1, 5, (1, 5)), (-3, 4, (-3, 4)), (7, 7, (7, 8)),
     (0, 400, (0, 400))],
)  # fmt: skip
def test_the_axis_is_the_scale_or_the_span_of_the_values(low: float, high: float, span: tuple[float, float]) -> None:
    assert span_of(table("m", np.array([[low, high]], dtype=float))) == span


def test_correlations_are_those_of_scipy_over_answers_with_all_values() -> None:
    rng = np.random.default_rng(0)
    one = rng.integers(0, 20, (40, 2)).astype(float)
    other = one + rng.integers(0, 20, (40, 2))
    figure = correlations([table("one", one), table("other", other[:35])], Options(resamples=20), words=WORDS)

    assert figure is not None
    expected = spearmanr(one[:35].ravel(), other[:35].ravel()).statistic
    assert f"one × other {expected:.2f}" in figure.svg
    assert "70 answers" in figure.note
    assert "10 left out" in figure.note
    assert "bootstrap interval" in figure.note


def test_measures_of_the_same_answers_are_set_side_by_side_as_others_are() -> None:
    rng = np.random.default_rng(1)
    tables = [table(name, rng.integers(0, 20, (30, 3)).astype(float)) for name in ("one", "other", "third")]
    short = replace(tables[2], items=tables[2].items[::-1], values=tables[2].values[::-1])  # the same, not in order
    (every, both, columns), (all_of_them, rest, others) = (
        _side_by_side(held) for held in (tables, [*tables[:2], short])
    )
    assert every == all_of_them == 90
    assert both[:2] == [("a", "q0"), ("a", "q1")]
    for name in ("one", "other", "third"):
        assert dict(zip(both, columns[name], strict=True)) == dict(zip(rest, others[name], strict=True))


def test_many_answers_are_correlated_without_intervals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_figures, "MOST_CORRELATED", 10)
    values = np.arange(40.0).reshape(20, 2)
    figure = correlations([table("one", values), table("other", values)], Options(), words=WORDS)
    assert figure is not None
    assert "Above 10 answers no intervals are drawn." in figure.note
    assert "…" not in figure.svg


def test_one_measure_or_hardly_any_common_answer_is_no_matrix() -> None:
    values = np.arange(8.0).reshape(4, 2)
    assert correlations([table("one", values)], Options(), words=WORDS) is None
    assert correlations([table("one", values), table("other", values[:1])], Options(), words=WORDS) is None


def test_a_measure_that_does_not_vary_correlates_with_nothing() -> None:
    figure = correlations([table("one", np.ones((4, 2))), table("other", np.arange(8.0).reshape(4, 2))], Options(),
                          words=WORDS)  # fmt: skip
    assert figure is not None
    assert ">–<" in figure.svg


def judged(values: list[list[float | None]], judges: tuple[str, ...] = ("j",)) -> list[Judgement]:
    return [
        Judgement(f"q{place}", "a", "f1", value, "read" if value is not None else "unreadable", judges[n % len(judges)])
        for place, row in enumerate(values) for n, value in enumerate(row)
    ]  # fmt: skip


def test_variance_is_split_where_answers_were_judged_again() -> None:
    again = judged([[10, 12], [50, 51], [90, 88], [None, 40]])
    others = [replace(one, rubric="recall", value=1.0) for one in again]
    figure = variance_figure("f1", [*again, *others], words=WORDS)

    assert judged_again(again) == {"f1"}
    assert figure is not None
    assert "3 answers judged in full by 1 judges, 2 times each; 1 with a gap left out" in figure.note
    assert "answer 99.9%" in figure.svg


def test_two_judges_make_a_part_of_their_own_and_gaps_everywhere_no_figure() -> None:
    figure = variance_figure("f1", judged([[10, 20], [50, 60], [90, 99]], ("one", "two")), words=WORDS)
    assert figure is not None
    assert "answer × judge, and repeat" in figure.svg
    assert variance_figure("f1", judged([[10, 20], [50, None]]), words=WORDS) is None
    assert variance_figure("none", [], words=WORDS) is None
    assert judged_again(judged([[10], [20]])) == frozenset()


def test_the_curve_has_few_sizes_where_items_are_many() -> None:
    assert report_figures._sizes(20) == ()
    assert report_figures._sizes(120) == (25, 50, 100)
    assert report_figures._sizes(4719) == (25, 100, 400, 1600)
