"""Systems judged by different judges, brought to one scale through items that both have judged."""

import math
from dataclasses import replace

import numpy as np
import pytest

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import MeasureComparison, Options

BRIDGED = Options(bridge="v1", permutations=200, resamples=200)


def judged(*, shared: int, seed: int = 1, items: int = 200, gain: float = 6.0) -> list[Judgement]:
    """A by v1, B by the harsher v2; the first ``shared`` items of B by both. Truly B is ``gain`` better."""
    rng = np.random.default_rng(seed)
    item = rng.normal(60, 15, items)
    a, b = item + rng.normal(0, 6, items), item + gain + rng.normal(0, 6, items)
    harsh = b - 15 + rng.normal(0, 3, items)
    rows = [Judgement(f"q{n:03}", "A", "correct", float(a[n]), "read", "v1") for n in range(items)]
    rows += [Judgement(f"q{n:03}", "B", "correct", float(harsh[n]), "read", "v2") for n in range(items)]
    return rows + [Judgement(f"q{n:03}", "B", "correct", float(b[n]), "read", "v1") for n in range(shared)]


def bridged(rows: list[Judgement], options: Options = BRIDGED) -> MeasureComparison:
    return compare(rows, options=options).measures[0]


def test_a_harsher_judge_does_not_make_a_system_worse() -> None:
    found = bridged(judged(shared=60))
    pair = found.pairs[0]
    assert pair.decision == "worse"  # A than B
    assert pair.difference.low < -6 < pair.difference.high
    assert (found.how, found.judges, found.items, found.left_out) == ("bridged", ("v1", "v2"), 200, 0)
    assert [(one.system, one.letters) for one in found.standings] == [("B", "a"), ("A", "b")]
    assert found.power == 1
    assert "drawn at random" in found.notes[0]
    assert pair.wins + pair.ties + pair.losses == 60
    assert math.isnan(pair.d_z)


def test_the_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    held = sum(
        pair.difference.low <= -6 <= pair.difference.high
        for seed in range(150)
        for pair in bridged(judged(shared=50, items=120, seed=seed)).pairs
    )
    assert 0.9 < held / 150 < 1


def test_what_both_judges_judged_for_all_needs_no_bridge() -> None:
    rows = judged(shared=200)
    found = bridged(rows)
    v1_only = compare([row for row in rows if row.judge == "v1"], options=BRIDGED).measures[0]
    assert found.pairs[0].difference.mean == pytest.approx(v1_only.pairs[0].difference.mean)
    assert found.pairs[0].difference.low == pytest.approx(v1_only.pairs[0].difference.low, abs=0.4)
    assert found.pairs[0].difference.n == 200


def test_margins_directions_and_unscored_rows_hold_here_too() -> None:
    rows = [
        replace(row, value=None) if row.item_id == "q150" and row.system == "B" else row for row in judged(shared=60)
    ]
    found = bridged(rows, replace(BRIDGED, margins=(("", 20.0),), lower_is_better=frozenset({"correct"})))
    assert found.pairs[0].decision == "equivalent"
    assert found.pairs[0].wins > found.pairs[0].losses  # less is better
    assert [one.system for one in found.standings] == ["A", "B"]
    coverage = {one.system: one.coverage for one in found.standings}
    assert (coverage["B"].scored, coverage["B"].unscored, coverage["B"].missing) == (199, 1, 0)
    assert (found.items, found.left_out) == (199, 1)


def test_other_measures_are_compared_as_ever() -> None:
    rows = judged(shared=60)
    rows += [replace(row, rubric="recall") for row in rows if row.judge == "v1"]
    first, second = compare(rows, options=BRIDGED).measures
    assert (first.how, second.how) == ("bridged", "exact" if second.permutations == 0 else "monte carlo")
    assert (second.items, second.left_out) == (60, 140)


def test_too_few_shared_items_are_no_bridge() -> None:
    with pytest.raises(UsageError, match=r"both judges have judged 19 items of .*; a bridge takes 20"):
        bridged(judged(shared=19))
    with pytest.raises(UsageError, match="both judges have judged 0 items of A and B"):
        bridged(judged(shared=0))


def test_one_judge_judges_an_item_once() -> None:
    rows = judged(shared=60)
    with pytest.raises(UsageError, match="'v1' has two values of item 'q000' of system 'A'"):
        bridged([*rows, rows[0]])


def doubled(rows: list[Judgement]) -> list[Judgement]:
    """Every item four times over: the copies say no more than the first."""
    return [replace(row, item_id=f"{row.item_id}/{copy}") for row in rows for copy in range(4)]


def test_items_of_a_cluster_say_no_more_than_one() -> None:
    rows = judged(shared=60)
    copied = doubled(rows)
    alone, blind = bridged(rows), bridged(copied)
    once, four = (
        compare(found, clusters={row.item_id: row.item_id.split("/")[0] for row in found}, options=BRIDGED).measures[0]
        for found in (rows, copied)
    )
    plain, one, same = (measure.pairs[0].difference for measure in (alone, once, four))
    assert (same.mean, same.low, same.high) == pytest.approx((one.mean, one.low, one.high))
    assert four.pairs[0].p == pytest.approx(once.pairs[0].p)
    assert one.mean == pytest.approx(plain.mean, abs=(plain.high - plain.low) / 4)  # another weight of the judge
    assert one.high - one.low == pytest.approx(plain.high - plain.low, rel=0.1)
    assert blind.pairs[0].difference.high - blind.pairs[0].difference.low < 0.6 * (same.high - same.low)
    assert (four.items, four.clusters, once.clusters, alone.clusters) == (800, 200, 200, 200)


def test_clusters_hold_the_truth_where_items_alone_do_not() -> None:
    """Eight items a document, whose truth moves with the document; 120 draws, half of the documents judged by both."""
    held = {"clusters": 0, "items": 0}
    for seed in range(120):
        rng = np.random.default_rng(seed)
        document = np.repeat(np.arange(60), 8)
        gain = 6 + rng.normal(0, 5, 60)[document] + rng.normal(0, 2, 480)
        slip = rng.normal(0, 5, 60)[document] - 15
        a = rng.normal(60, 10, 480)
        names = [f"q{n:03}" for n in range(480)]
        rows = [Judgement(name, "A", "m", float(v), "read", "v1") for name, v in zip(names, a, strict=True)]
        rows += [Judgement(names[n], "B", "m", float(a[n] + gain[n] + slip[n]), "read", "v2") for n in range(480)]
        rows += [Judgement(names[n], "B", "m", float(a[n] + gain[n]), "read", "v1") for n in range(240)]
        groups = {name: int(document[n]) for n, name in enumerate(names)}
        for kind, clusters in (("clusters", groups), ("items", None)):
            pair = compare(rows, clusters=clusters, options=BRIDGED).measures[0].pairs[0]
            held[kind] += pair.difference.low <= -6 <= pair.difference.high
    assert held["clusters"] / 120 > 0.95 - 3 * math.sqrt(0.95 * 0.05 / 120)
    assert held["items"] / 120 < 0.7


def test_clusters_that_do_not_fit_are_refused() -> None:
    rows = judged(shared=60)
    few = {row.item_id: int(row.item_id[1:]) % 7 for row in rows}
    with pytest.raises(UsageError, match="both judges have judged 7 clusters of A and B; a bridge takes 20"):
        compare(rows, clusters=few, options=BRIDGED)
    with pytest.raises(UsageError, match="1 items have no cluster: q000"):
        compare(rows, clusters={row.item_id: 1 for row in rows if row.item_id != "q000"}, options=BRIDGED)


def test_a_bridge_of_all_items_has_clusters_too() -> None:
    rows = judged(shared=200)
    pairs = {row.item_id: int(row.item_id[1:]) // 2 for row in rows}
    found = compare(rows, clusters=pairs, options=BRIDGED).measures[0]
    assert (found.clusters, found.pairs[0].difference.n) == (100, 200)
    assert found.pairs[0].difference.mean == pytest.approx(bridged(rows).pairs[0].difference.mean)
