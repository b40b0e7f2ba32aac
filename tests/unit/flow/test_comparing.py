"""From files to a comparison: who judges, what is left out, and that order does not matter."""

import json
import os
import random
from pathlib import Path

import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.comparisons import Options
from groundwire.flow.comparing import Compared, ComparePlan, CostOf, compare_files
from groundwire.flow.settings import JudgeOptions, Settings

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[3].parent / "shared")) / "data"
FEW = Options(permutations=200, resamples=100)
SETTINGS = Settings(judge=JudgeOptions(resamples=100))
TOLD = ("The river rose by 3 metres.", "The mayor spoke on Monday.", "Rain fell for 5 days.", "The dam held in May.")


def rows(right: int, **more: object) -> list[dict]:
    """Eight answers, the first of which are right."""
    return [
        {"id": f"q{n}", "question": f"What is known of event {n}?", "reference": TOLD[n % 4], "contexts": [TOLD[n % 4]],
         "answer": TOLD[n % 4] if n < right else "A lion sleeps in a tree.", **more}
        for n in range(8)
    ]  # fmt: skip


def write(path: str, content: list[dict] | str) -> str:
    text = content if isinstance(content, str) else "".join(json.dumps(row) + "\n" for row in content)
    Path(path).write_text(text, encoding="utf-8")
    return path


def compared(*files: str, measures: tuple[str, ...] = (), options: Options = FEW, cluster: str = "") -> Compared:
    return compare_files(files, settings=SETTINGS, plan=ComparePlan(measures, cluster, options))


@pytest.fixture(autouse=True)
def _somewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def decisions(found: Compared) -> dict[str, list[str]]:
    return {one.measure: [pair.decision for pair in one.pairs] for one in found.comparison.measures}


def test_answers_without_values_are_judged_by_the_built_in_judge() -> None:
    found = compared(write("a.jsonl", rows(8)), write("b.jsonl", rows(0)))

    assert [one.measure for one in found.comparison.measures] == [
        "contextual_coherence", "question_relevance", "information_density", "answer_correctness", "information_recall",
    ]  # fmt: skip
    assert decisions(found)["answer_correctness"] == ["better"]
    assert len(found.judgements) == 2 * 8 * 5
    assert found.fits
    assert found.lengths is not None
    assert found.comparison.measures[0].pairs[0].at_equal_length is not None


def test_without_a_plan_the_settings_say_how_intervals_are_drawn() -> None:
    settings = Settings(judge=JudgeOptions(resamples=150, seed=7, level=0.9))
    options = compare_files(
        [write("a.jsonl", rows(8)), write("b.jsonl", rows(2))], settings=settings
    ).comparison.options
    assert (options.resamples, options.seed, options.level) == (150, 7, 0.9)


def test_a_rubric_whose_needs_a_system_lacks_is_left_out_and_that_is_said() -> None:
    bare = [{key: row[key] for key in ("id", "question", "answer")} for row in rows(8)]
    found = compared(write("a.jsonl", rows(8)), write("b.jsonl", bare))

    assert [one.measure for one in found.comparison.measures] == ["question_relevance", "information_density"]
    assert "contextual_coherence was left out: no row of b has contexts" in found.notes
    assert "answer_correctness was left out: no row of b has a reference" in found.notes
    with pytest.raises(UsageError, match="no row has a value of 'answer_correctness'"):
        compared("a.jsonl", "b.jsonl", measures=("answer_correctness",))


def test_values_that_are_there_are_compared_and_nobody_judges() -> None:
    found = compared(write("a.jsonl", rows(8, f1=0.9)), write("b.jsonl", rows(8, f1=0.5)))
    assert decisions(found) == {"f1": ["better"]}
    assert {one.judge for one in found.judgements} == {"as given"}
    assert [scale.words for scale in found.scales] == ["0 to 1"]


def test_a_rubric_that_is_asked_for_is_judged_beside_values() -> None:
    files = write("a.jsonl", rows(8, f1=0.9)), write("b.jsonl", rows(0, f1=0.5))
    found = compared(*files, measures=("f1", "information_recall"))
    assert list(decisions(found)) == ["information_recall", "f1"]


def test_a_system_without_values_is_judged_together_with_the_others() -> None:
    found = compared(write("a.jsonl", rows(8, f1=0.9)), write("b.jsonl", rows(0)))
    assert decisions(found)["answer_correctness"] == ["better"]
    assert decisions(found)["f1"] == []
    assert "'f1' has no values of b" in found.comparison.notes


def test_what_the_built_in_judge_has_judged_before_is_not_judged_twice() -> None:
    before = compared(write("a.jsonl", rows(8)), write("b.jsonl", rows(0)))
    own = [one for one in before.judgements if one.system == "a"]
    saved = [{"item_id": one.item_id, "system": "a", "rubric": one.rubric, "value": one.value, "outcome": one.outcome,
              "judge": one.judge} for one in own]  # fmt: skip
    write("judged.jsonl", saved)

    again = compared("judged.jsonl", "b.jsonl")
    with_answers = compared("judged.jsonl", "a.jsonl", "b.jsonl")

    assert decisions(again) == decisions(with_answers) == decisions(before)
    assert again.comparison.mismatches == with_answers.comparison.mismatches == ()
    assert again.lengths is None
    assert "no difference at equal length, for 8 answers that have values are in no file" in again.notes


def test_two_judges_of_one_measure_are_refused_with_what_to_do() -> None:
    write("a.csv", "id,f1,judge\n" + "".join(f"{n},0.5,v1\n" for n in range(5)))
    write("b.csv", "id,f1,judge\n" + "".join(f"{n},0.5,v2\n" for n in range(5)))
    with pytest.raises(UsageError, match=r"'v1' judged a; 'v2' judged b.*Judge all systems with one of them"):
        compared("a.csv", "b.csv")


def test_one_system_is_not_compared_and_the_files_are_named() -> None:
    with pytest.raises(UsageError, match=r"there is 1 system.*a\.jsonl holds a"):
        compared(write("a.jsonl", rows(8)))
    with pytest.raises(UsageError, match=r"there are no systems.*x\.jsonl holds none"):
        compared(write("x.jsonl", "{}\n"), measures=("f1",))


def test_a_measure_that_nobody_has_is_refused_with_those_that_there_are() -> None:
    files = write("a.csv", "id,f1\n1,1\n2,0\n"), write("b.csv", "id,f1\n1,1\n2,1\n")
    with pytest.raises(UsageError, match="no row has a value of 'em'; what there is: f1"):
        compared(*files, measures=("em", "f1"))
    with pytest.raises(UsageError, match="no row has an answer or a value; what there is: nothing"):
        compared(write("c.jsonl", [{"id": "1", "system": s, "question": "q", "answer": ""} for s in "xy"]))


def test_known_tools_say_of_which_measures_less_is_better() -> None:
    def checked(value: float) -> list[dict]:
        return [{"query_id": str(n), "query": f"q{n}", "gt_answer": "g", "response": "r", "retrieved_context": [],
                 "metrics": {"hallucination": value, "f1": value}} for n in range(9)]  # fmt: skip

    for name, value in (("a", 0.1), ("b", 0.6)):
        write(f"{name}.json", json.dumps({"results": checked(value)}))
    found = compared("a.json", "b.json")

    assert decisions(found) == {"f1": ["worse"], "hallucination": ["better"]}
    assert "less is better in hallucination, as RAGChecker defines it" in found.notes


def test_groups_are_used_where_every_item_has_one() -> None:
    files = write("a.jsonl", rows(8, f1=1, cluster="x")), write("b.jsonl", rows(8, f1=0.5))
    assert compared(*files).comparison.measures[0].clusters == 1
    write("a.jsonl", [row if n else {**row, "cluster": ""} for n, row in enumerate(rows(8, f1=1, cluster="x"))])
    found = compared(*files)
    assert (found.clusters, found.comparison.measures[0].clusters) == (None, 8)
    assert "the field 'cluster' is not used, for 1 items have none" in found.notes
    with pytest.raises(UsageError, match="1 items have no cluster: q0"):
        compared(*files, cluster="cluster")


def test_prices_are_means_over_the_answers_that_say_one() -> None:
    first = [{**row, "tokens": 100 + n} if n < 3 else row for n, row in enumerate(rows(8, f1=1, cost=0.5))]
    found = compared(write("a.jsonl", first), write("b.csv", "id,f1,seconds\nq1,1,2\nq2,1,4\n"))
    assert found.mean_costs == (
        CostOf("a", "cost", 0.5, 8, 8), CostOf("a", "tokens", 101.0, 3, 8), CostOf("b", "seconds", 3.0, 2, 2),
    )  # fmt: skip


def test_refusals_are_counted_and_never_zero() -> None:
    quiet = [{**row, "answer": "The archive does not say."} if n < 2 else row for n, row in enumerate(rows(8))]
    found = compared(write("a.jsonl", rows(8)), write("b.jsonl", quiet))
    refused = "the answer is a refusal, and the reference holds an answer"
    assert [(one.system, one.reason, one.n) for one in found.unscored] == [("b", refused, 2)] * 5
    coverage = {one.system: one.coverage for one in found.comparison.measures[0].standings}
    assert (coverage["b"].unscored, coverage["b"].scored, found.fits) == (2, 6, True)


def test_an_id_that_is_twice_or_missing_is_named_and_does_not_fit() -> None:
    twice = [*rows(8), {**rows(0)[0]}, {**rows(8)[1]}]
    found = compared(write("a.jsonl", twice), write("b.jsonl", rows(0)[:-1]), measures=("information_recall",))

    named = {(one.system, one.item_id): one.what for one in found.comparison.mismatches}
    assert named == {("a", "q0"): "twice and different", ("a", "q1"): "twice", ("b", "q7"): "missing"}
    assert found.comparison.measures[0].items == 6
    assert not found.fits
    assert any("2 answers stand under an id that was there before, as 'q0' of 'a'" in note for note in found.notes)


def test_rejected_rows_and_values_off_their_scale_do_not_fit() -> None:
    good = "".join(f"{n},{40 + n % 50}\n" for n in range(100))
    write("a.csv", "id,grade\n" + good)
    assert compared("a.csv", write("b.csv", "id,grade\n" + good)).fits
    assert not compared("a.csv", write("b.csv", "id,grade\n" + good + "x\n")).fits
    odd = compared("a.csv", write("b.csv", "id,grade\n" + good.replace("\n3,43\n", "\n3,0.85\n")))
    assert (odd.fits, odd.scales[0].odd) == (False, (0.85,))


def test_nothing_depends_on_the_order_of_files_and_rows() -> None:
    files = [write(f"{name}.jsonl", rows(right, f1=right / 8)) for name, right in (("a", 8), ("b", 3), ("c", 5))]
    measures = ("f1", "answer_correctness")
    before = compared(*files, measures=measures)
    for number, file in enumerate(files):
        lines = Path(file).read_text(encoding="utf-8").splitlines(keepends=True)
        random.Random(number).shuffle(lines)  # noqa: S311 - no secret
        write(file, "".join(lines))
    after = compared(*files[::-1], measures=measures)

    assert repr(after.comparison) == repr(before.comparison)
    assert (after.items, after.judgements, after.costs) == (before.items, before.judgements, before.costs)


def test_an_embedder_that_is_set_judges_meaning_too() -> None:
    settings = Settings(judge=JudgeOptions(resamples=100, embedder="hash:64"))
    plan = ComparePlan(("information_recall",), options=FEW)
    found = compare_files([write("a.jsonl", rows(8)), write("b.jsonl", rows(0))], settings=settings, plan=plan)
    assert "hash:64" in found.judgements[0].judge


@pytest.mark.skipif(not (SHARED / "sys-squad").is_dir(), reason="the shared data is not here")
def test_real_answers_of_five_systems_are_told_apart_as_published() -> None:
    questions = {}
    with (SHARED / "qa-squad" / "questions.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            questions[row["qid"]] = row
    answers: dict[str, list[dict]] = {}
    with (SHARED / "sys-squad" / "predictions_v1.jsonl").open(encoding="utf-8") as lines:
        for line, _ in zip(lines, range(300), strict=False):
            row = json.loads(line)
            asked = questions[row["qid"]]
            for system, answer in row["predictions"].items():
                answers.setdefault(system, []).append(
                    {
                        "qid": row["qid"],
                        "question": asked["question"],
                        "gold": asked["answers"][0],
                        "prediction": answer,
                    }
                )
    files = [write(f"{system}.jsonl", given) for system, given in answers.items()]
    found = compared(*files, measures=("answer_correctness",))

    measure = found.comparison.measures[0]
    means = {one.system: one.mean.mean for one in measure.standings}
    assert (len(means), measure.items + measure.left_out) == (5, 300)
    assert min(means, key=means.__getitem__) == "logistic_regression"  # 40 against 68 to 86 exact matches as published
    assert means["match_lstm_ensemble"] < means["bert_ensemble"]
    assert {pair.decision for pair in measure.pairs if "logistic_regression" in (pair.one, pair.other)} == {
        "better", "worse",
    }  # fmt: skip
