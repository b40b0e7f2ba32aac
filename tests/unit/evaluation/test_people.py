"""People's labels: agreement between them and with themselves, beside a judge, and means from both together."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats as scipy_stats

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.labels import powered_difference, powered_mean
from groundwire.evaluation.people import judge_agreement, people_values, rater_agreement
from groundwire.evaluation.rater_agreement import cohen, krippendorff
from groundwire.evaluation.sheets import Label

RUBRIC = "scorerag_accuracy"


def label(
    item: str, value: float | None, *, annotator: int = 1, systems: tuple[str, ...] = ("a",), repeat: bool = False,
    rubric: str = RUBRIC,
) -> Label:  # fmt: skip
    outcome = "abstained" if value is None else "read"
    return Label(
        item, systems, rubric, value, outcome, "", annotator, f"s{annotator}-{item}-{repeat}", repeat, "at random"
    )


def judged(item: str, value: float | None, *, system: str = "a", rubric: str = RUBRIC, judge: str = "j") -> Judgement:
    return Judgement(item, system, rubric, value, "unreadable" if value is None else "read", judge)


def two_people(n: int = 40, *, noise: float = 0.3) -> list[Label]:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 5, n)
    other = np.where(rng.uniform(size=n) < noise, rng.integers(0, 5, n), levels)
    found = []
    for number, (one, two) in enumerate(zip(levels.tolist(), other.tolist(), strict=True)):
        found += [label(f"t{number}", one * 25.0), label(f"t{number}", two * 25.0, annotator=2)]
    return found


def test_agreement_between_people_is_krippendorffs_and_cohens() -> None:
    labels = two_people()
    (found,) = rater_agreement(labels, seed=3)

    one, other = ([each.value for each in labels if each.annotator == who] for who in (1, 2))
    assert found.between == krippendorff(list(zip(one, other, strict=True)), scale="ordinal", seed=3)
    ((first, second, kappa),) = found.kappas
    assert (first, second, kappa.n, kappa.seed) == (1, 2, 40, 3)
    assert kappa.mean == cohen(one, other, weights="quadratic")
    assert kappa.low < kappa.mean < kappa.high
    assert (found.labels, found.unscored, found.itself) == (80, 0, ())


def test_an_interval_of_kappa_holds_the_true_value_about_as_often_as_it_says() -> None:
    truth = cohen(*_columns(two_people(20_000)), weights="quadratic")
    held = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        levels = rng.integers(0, 5, 40)
        other = np.where(rng.uniform(size=40) < 0.3, rng.integers(0, 5, 40), levels)
        labels = [label(f"t{n}", value * 25.0) for n, value in enumerate(levels.tolist())]
        labels += [label(f"t{n}", value * 25.0, annotator=2) for n, value in enumerate(other.tolist())]
        interval = rater_agreement(labels)[0].kappas[0][2]
        held += interval.low <= truth <= interval.high

    assert held >= 16


def _columns(labels: list[Label]) -> tuple[list[float | None], list[float | None]]:
    return [each.value for each in labels if each.annotator == 1], [
        each.value for each in labels if each.annotator == 2
    ]


def test_an_open_answer_is_counted_and_takes_no_part() -> None:
    labels = [*two_people(10), label("x", None), label("x", 100, annotator=2)]
    (found,) = rater_agreement(labels)

    assert (found.labels, found.unscored) == (21, 1)
    assert (found.between.units, found.between.left_out) == (10, 1)
    assert (found.kappas[0][2].n, found.kappas[0][2].unscored) == (10, 1)


def test_people_who_never_meet_have_no_kappa() -> None:
    (found,) = rater_agreement([label("x", 50), label("y", 50, annotator=2)])

    assert math.isnan(found.kappas[0][2].mean)
    assert found.kappas[0][2].n == 0


def test_a_fine_scale_has_no_kappa_and_a_preference_is_nominal() -> None:
    fine = [label(f"t{n}", float(n * 7 % 100), annotator=who) for n in range(12) for who in (1, 2)]
    sides = [
        label(f"t{n}", (0.0, 50.0, 100.0)[n % 3], annotator=who, systems=("a", "b"), rubric="preference")
        for n in range(9)
        for who in (1, 2)
    ]
    first, second = rater_agreement([*fine, *sides])

    assert (first.scale, first.kappas) == ("interval", ())
    assert (second.scale, second.kappas[0][2].mean) == ("nominal", 1)


def test_a_person_is_held_against_their_second_answers() -> None:
    labels = [label(f"t{n}", 50) for n in range(4)]
    labels += [label(f"t{n}", value, repeat=True) for n, value in enumerate((50, 75, None, 50))]
    ((own,),) = (found.itself for found in rater_agreement(labels))

    assert (own.same.mean, own.same.n, own.same.unscored) == (pytest.approx(2 / 3), 3, 1)
    assert own.apart.mean == pytest.approx(25 / 3)


def test_people_say_the_mean_of_first_answers() -> None:
    labels = [label("x", 50), label("x", 100, annotator=2), label("x", 0, repeat=True), label("y", None)]

    assert people_values(labels, RUBRIC) == {("x", ("a",)): 75, ("y", ("a",)): None}


def test_a_judge_is_correlated_with_people_as_scipy_does() -> None:
    rng = np.random.default_rng(1)
    people = rng.uniform(0, 100, 60)
    judge = people + rng.normal(0, 30, 60)
    labels = [label(f"t{n}", value) for n, value in enumerate(people.tolist())]
    rows = [judged(f"t{n}", value) for n, value in enumerate(judge.tolist())]
    (found,) = judge_agreement([*labels, label("open", None)], [*rows, judged("open", 3)], seed=2)

    oracles = (scipy_stats.pearsonr, scipy_stats.spearmanr, scipy_stats.kendalltau)
    assert [one.value for one in found.correlations] == pytest.approx([each(people, judge)[0] for each in oracles])
    assert [(one.n, one.unscored, one.seed) for one in found.correlations] == [(60, 1, 2)] * 3
    assert all(one.low < one.value < one.high for one in found.correlations)


def test_systems_of_one_item_are_drawn_together() -> None:
    labels = [label(f"t{n}", float(n % 5), systems=(system,)) for n in range(20) for system in "ab"]
    rows = [judged(f"t{n}", float(n % 7), system=system) for n in range(20) for system in "ab"]

    assert judge_agreement(labels, rows)[0].correlations[0].clusters == 20


def many(n: int = 200, labelled: int = 40) -> tuple[list[Label], list[Judgement]]:
    rng = np.random.default_rng(4)
    labels, rows = [], []
    for number in range(n):
        for system, lift in (("a", 0.0), ("b", 10.0)):
            value = float(np.clip(rng.normal(50 + lift, 15), 0, 100))
            rows.append(judged(f"t{number}", min(100.0, value + 12), system=system))
            if number < labelled:
                labels.append(label(f"t{number}", value, systems=(system,)))
    return labels, rows


def test_means_and_differences_lean_on_the_judge_and_are_corrected_by_people() -> None:
    labels, rows = many()
    (found,) = judge_agreement(labels, rows)

    values = {(row.item_id, row.system): row.value for row in rows}
    people = {(one.item_id, one.systems[0]): one.value for one in labels}
    mine = {
        system: (
            [people[f"t{n}", system] for n in range(40)],
            [values[f"t{n}", system] for n in range(40)],
            [values[f"t{n}", system] for n in range(40, 200)],
        )
        for system in "ab"
    }
    a, b, difference = found.powered
    assert [one.systems for one in found.powered] == [("a",), ("b",), ("a", "b")]
    assert a.found == powered_mean(mine["a"][0], mine["a"][1], unlabelled=mine["a"][2])  # type: ignore[arg-type]
    people_of, judge_of, rest_of = zip(mine["a"], mine["b"], strict=True)
    assert difference.found == powered_difference(people_of, judge_of, unlabelled=rest_of)  # type: ignore[arg-type]
    assert b.found is not None
    assert b.found.high - b.found.low < b.found.people_only[2] - b.found.people_only[1]
    assert 55 < b.found.mean < 65  # the judge alone says about 72


def test_items_without_a_value_are_counted_and_left_out() -> None:
    labels, rows = many(20, 5)
    labels[0] = label("t0", None)
    rows = [row if row.item_id != "t9" or row.system != "a" else judged("t9", None) for row in rows]
    a, b, _ = judge_agreement(labels, rows)[0].powered

    assert (a.unscored, b.unscored) == (2, 0)
    assert a.found is not None
    assert (a.found.labels, a.found.judged) == (4, 14)


def test_where_everything_is_labelled_there_is_nothing_to_lean_on() -> None:
    labels, rows = many(10, 10)
    (found,) = judge_agreement(labels, rows)

    assert {one.found for one in found.powered} == {None}
    assert found.powered[0].reason == "10 items have labels and 0 others a value of the judge; it takes 2 of each"


def test_preferences_stand_beside_the_judges_differences_under_each_rubric() -> None:
    rng = np.random.default_rng(5)
    gaps = rng.normal(0, 20, 30).tolist()
    labels = [
        label(f"t{n}", 100.0 if gap > 0 else 0.0, systems=("a", "b"), rubric="preference") for n, gap in enumerate(gaps)
    ]
    rows = [judged(f"t{n}", 50 + gap, system="a") for n, gap in enumerate(gaps)]
    rows += [judged(f"t{n}", 50.0, system="b") for n in range(29)]
    (found,) = judge_agreement(labels, rows)

    assert found.rubric == RUBRIC
    assert found.powered == ()
    assert (found.correlations[0].n, found.correlations[0].unscored) == (29, 1)
    assert found.correlations[2].value > 0.6


def test_rubrics_of_one_side_only_are_left_out() -> None:
    labels = [label(f"t{n}", float(n)) for n in range(3)]
    rows = [judged(f"t{n}", float(n)) for n in range(3)] + [judged("t0", 1.0, rubric="scorerag_total")]

    assert [one.rubric for one in judge_agreement(labels, rows)] == [RUBRIC]


@pytest.mark.parametrize(
    ("rows", "match"),
    [
        ([], "judged nothing: no rubric has both"),
        ([judged("x", 1, rubric="other")], "the judge judged other"),
        ([judged("x", 1), judged("x", 2)], "two values of system 'a' for item 'x'"),
        ([judged("x", 1), judged("y", 2, judge="k")], "2 judges"),
    ],
)
def test_what_cannot_be_set_side_by_side_is_refused(rows: list[Judgement], match: str) -> None:
    with pytest.raises(UsageError, match=match):
        judge_agreement([label("x", 50)], rows)


def test_no_labels_are_no_agreement_and_refused_beside_a_judge() -> None:
    assert rater_agreement([]) == ()
    with pytest.raises(UsageError, match="people labelled nothing"):
        judge_agreement([], [judged("x", 1)])


# Items that share a document or a conversation.


def copies(times: int) -> tuple[list[Label], list[Judgement], dict[str, str]]:
    """``many``, every text so many times over under ids of its own, and the first text of each as its cluster."""
    labels, rows = many()
    slips = np.random.default_rng(9).normal(0, 8, len(rows)).tolist()
    rows = [replace(row, value=(row.value or 0) + slip) for row, slip in zip(rows, slips, strict=True)]
    clusters = {f"{row.item_id}/{copy}": row.item_id for row in rows for copy in range(times)}
    return (
        [replace(one, item_id=f"{one.item_id}/{copy}") for one in labels for copy in range(times)],
        [replace(one, item_id=f"{one.item_id}/{copy}") for one in rows for copy in range(times)],
        clusters,
    )


def test_texts_of_one_cluster_say_no_more_than_one_of_them() -> None:
    (once,), (four,) = (
        judge_agreement(labels, rows, clusters=clusters, seed=1) for labels, rows, clusters in map(copies, (1, 4))
    )
    labels, rows, _ = copies(4)
    (blind,) = judge_agreement(labels, rows, seed=1)

    for one, same, alone in zip(once.powered, four.powered, blind.powered, strict=True):
        assert one.found is not None
        assert same.found is not None
        assert alone.found is not None
        assert (same.found.mean, same.found.low, same.found.p) == pytest.approx(
            (one.found.mean, one.found.low, one.found.p)
        )
        assert (same.found.labels, same.found.clusters, one.found.labels) == (160, 40, 40)
        assert alone.found.error < 0.6 * same.found.error
    for one, same, alone in zip(once.correlations, four.correlations, blind.correlations, strict=True):
        assert (same.n, same.clusters, one.n) == (320, 40, 80)
        assert (same.low, same.high) == pytest.approx((one.low, one.high), abs=0.02)
        assert alone.high - alone.low < 0.75 * (same.high - same.low)


def test_clusters_of_one_text_correlate_as_texts_alone() -> None:
    labels, rows = many(60, 20)
    (alone,), (named,) = (
        judge_agreement(labels, rows, clusters=clusters, seed=2)
        for clusters in (None, {row.item_id: f"c{row.item_id}" for row in rows})
    )

    assert alone.correlations == named.correlations
    assert alone.powered[0].found is not None
    assert named.powered[0].found is not None
    assert named.powered[0].found.freedom == 19
    assert alone.powered[0].found.freedom is None


def test_intervals_by_cluster_hold_the_truth_where_texts_alone_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty documents labelled of eighty, six texts each; what people say moves with the document."""
    monkeypatch.setattr("groundwire.evaluation.correlation._RESAMPLES", 2)  # of no interest here
    held = {"clusters": 0, "texts": 0}
    for seed in range(100):
        rng = np.random.default_rng(seed)
        document = np.repeat(np.arange(80), 6)
        truth = 50 + rng.normal(0, 10, 80)[document] + rng.normal(0, 4, 480)
        judge = truth + 8 + rng.normal(0, 6, 480)
        labels = [label(f"t{n}", float(truth[n])) for n in range(120)]
        rows = [judged(f"t{n}", float(judge[n])) for n in range(480)]
        groups = {f"t{n}": int(document[n]) for n in range(480)}
        for kind, clusters in (("clusters", groups), ("texts", None)):
            found = judge_agreement(labels, rows, clusters=clusters)[0].powered[0].found
            assert found is not None
            held[kind] += found.low <= 50 <= found.high

    assert held["clusters"] >= 88
    assert held["texts"] < 80


def test_clusters_that_are_too_few_give_no_mean_and_say_why() -> None:
    labels, rows = many(40, 10)
    groups = {row.item_id: "all" if int(row.item_id[1:]) < 10 else row.item_id for row in rows}
    (found,) = judge_agreement(labels, rows, clusters=groups)

    assert found.powered[0].found is None
    assert found.powered[0].reason == "1 clusters have labels and 30 others a value of the judge; it takes 2 of each"
    assert math.isnan(found.correlations[0].low)


def test_an_item_without_a_cluster_is_refused_by_name() -> None:
    labels, rows = many(10, 4)
    with pytest.raises(UsageError, match=r"1 items have no cluster: t3\. Give every item one, or none"):
        judge_agreement(labels, rows, clusters={row.item_id: 1 for row in rows if row.item_id != "t3"})
