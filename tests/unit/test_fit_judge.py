"""The fit of the built-in judge's weights: it finds the part that people follow, on labels of other domains alone."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import fit_judge
from bench_judge import Study, item
from fit_judge import Judged
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CHOSEN, score

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "fit_judge.json"
PAGE = (ROOT / "docs" / "method" / "ccrs.md").read_text("utf-8")
PARTS = ("terms", "sentences", "phrases")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fit_judge, "RESAMPLES", 100)


def labelled(name: str, follows: str, *, count: int = 80, rubric: str = "information_recall") -> Judged:
    """Labels that follow one part; the others are noise."""
    rng = np.random.default_rng(len(name))
    study, parts = Study(name, rubric), []
    for number in range(count):
        row = {part: float(rng.uniform()) for part in PARTS}
        study.add(row[follows], f"{number // 2}", [item(number, "q", "a")])
        parts.append(row)
    return Judged(study, tuple(parts))


def test_the_part_that_people_follow_gets_the_weight() -> None:
    weights = fit_judge.weights_of(fit_judge.fit([labelled("one", "phrases")]), "information_recall")

    assert weights["phrases"] > 0.9
    assert sum(weights.values()) == pytest.approx(1, abs=0.002)
    assert min(weights.values()) >= fit_judge.LEAST - 0.002


def test_the_weights_for_a_domain_come_from_the_others() -> None:
    sets = [labelled("one", "terms"), labelled("two, x", "phrases"), labelled("two, y", "phrases")]

    rows = fit_judge.held_out(sets, seed=0)["rows"]

    assert rows[0]["weights"]["phrases"] > 0.9  # type: ignore[index]
    assert rows[1]["weights"]["terms"] > 0.9  # type: ignore[index]
    assert rows[2]["weights"]["terms"] > 0.9  # type: ignore[index]


def test_two_sets_on_the_same_questions_are_one_domain() -> None:
    assert labelled("evouna", "terms").domain == labelled("openqa", "terms").domain != labelled("alce", "terms").domain


def test_better_weights_are_to_be_adopted_and_worse_ones_are_not() -> None:
    alike = [labelled("one", "sentences"), labelled("two", "sentences"), labelled("three", "sentences")]
    unlike = [labelled("one", "sentences"), labelled("two", "terms"), labelled("three", "terms")]

    assert fit_judge.held_out(alike, seed=0)["adopt"] is True
    assert fit_judge.held_out([unlike[0], unlike[1]], seed=0)["adopt"] is False


def test_a_domain_on_which_constants_were_chosen_does_not_count_for_adoption() -> None:
    names = {"ragchecker, completeness": "terms", "ragchecker, other": "terms", "mtrag": "sentences"}

    found = fit_judge.held_out([labelled(name, follows) for name, follows in names.items()], seed=0)

    rows = {row["set"]: row["fitted_less_in_use"] for row in found["rows"]}  # type: ignore[attr-defined]
    assert found["mean_gain"] == rows["mtrag"]


def test_an_unscored_item_is_left_out() -> None:
    one = labelled("one", "terms", count=4)
    gap = replace(one, parts=(None, *one.parts[1:]))

    x, y = fit_judge.table(gap)

    assert (x.shape, y.shape) == ((3, 3), (3,))
    assert np.isnan(gap.values(CHOSEN)).tolist() == [True, False, False, False]


def test_the_best_alias_counts_and_a_pair_is_its_difference() -> None:
    low, high = dict.fromkeys(PARTS, 0.2), dict.fromkeys(PARTS, 0.8)
    for paired, expected in ((False, 0.8 - 0.2), (True, 0.6 + 0.6)):
        study = Study("made up", "information_recall", paired=paired)
        study.add(1.0, "a", [item(0, "q", "a"), item(0, "q", "b")])
        study.add(-1.0, "b", [item(1, "q", "a"), item(1, "q", "b")])
        second = (high, low) if paired else (low, low)

        x, _ = fit_judge.table(Judged(study, (low, high, *second)))

        assert x[0, 0] - x[1, 0] == pytest.approx(expected)


def test_the_match_of_answer_correctness_is_weighed_with_its_parts() -> None:
    fitted = fit_judge.with_weights("answer_correctness", np.array([2.0, 1.0, 1.0]))

    assert fitted.match_share == 0.5
    assert fit_judge.weights_of(fitted, "answer_correctness") == {"match": 0.5, "sentences": 0.25, "phrases": 0.25}
    assert fitted.weights["answer_correctness"]["meaning"] == CHOSEN.weights["answer_correctness"]["meaning"]


def test_the_weights_in_use_give_back_the_value_in_use() -> None:
    parts = {"terms": 0.3, "sentences": 0.5, "phrases": 0.9, "numbers": 0.5}
    weights = fit_judge.weights_of(CHOSEN, "contextual_coherence")

    ours = float(np.dot(list(weights.values()), fit_judge.features("contextual_coherence", parts)))

    assert 100 * ours == pytest.approx(score("contextual_coherence", parts)["value"], abs=1e-3)


def test_labels_that_no_part_goes_with_are_refused() -> None:
    with pytest.raises(ValueError, match="all weights are 0"):
        fit_judge.with_weights("information_recall", np.zeros(3))


def test_the_tables_of_the_docs_are_those_of_the_results_and_of_this_judge() -> None:
    found = json.loads(RESULTS.read_text("utf-8"))["figures"]

    for line in fit_judge.report(found["rubrics"]).split("\n"):
        assert line in PAGE
    assert found["judge"] == BuiltinJudge().fingerprint


def test_what_the_judge_uses_is_what_the_results_say_is_to_be_used() -> None:
    for one in json.loads(RESULTS.read_text("utf-8"))["figures"]["rubrics"]:
        assert one["in_use"] == fit_judge.weights_of(CHOSEN, one["rubric"])
        assert not one["adopt"]


def test_the_parts_are_those_that_the_judge_makes() -> None:
    study = Study("made up", "answer_correctness")
    study.add(1.0, "a", [item(0, "When did it flood?", "In May.", reference="In May the river rose.")])
    study.add(0.0, "b", [item(1, "When did it flood?", "", reference="In May the river rose.")])

    (found,) = fit_judge.judged_sets([study], BuiltinJudge())

    assert found.parts[1] is None
    assert found.values(CHOSEN)[0] == BuiltinJudge().judge(study.items)[3].value


def test_the_tables_of_the_docs_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["fit_judge.py", "--print"])

    fit_judge.main()

    assert all(line in PAGE for line in capsys.readouterr().out.split("\n"))
