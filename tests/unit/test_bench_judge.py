"""The built-in judge against people: what is correlated with what, and that the docs hold the tables of the results."""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import bench_judge
from bench_ccrs_modes import asking
from bench_judge import Study
from groundwire.core.language import Request
from groundwire.core.types import Item
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.testing import ScriptedModel
from question_sets import SHARED

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
PAGE = (ROOT / "docs" / "method" / "ccrs.md").read_text("utf-8")


@pytest.fixture(autouse=True)
def few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_judge, "RESAMPLES", 100)


def answer(number: int, said: str) -> Item:
    return bench_judge.item(number, "When did it flood?", said, reference="In May the river rose.")


def study(**more: object) -> Study:
    made = Study("made up", "answer_correctness", **more)  # type: ignore[arg-type]
    told = (("In May the river rose.", 1.0), ("In May.", 0.5), ("Cats sleep all day.", 0.0), ("Dogs bark.", 0.0))
    for number, (said, label) in enumerate(told):
        published = {"theirs": None if number == 3 else label, "worse": -label}
        made.add(label, f"cluster {number}", [answer(number, said)], published=published, people=(label, 1 - label))
    return made


def test_a_published_value_that_is_missing_is_unscored() -> None:
    found = bench_judge.published_values(study())

    assert found["theirs"][:3].tolist() == [1, 0.5, 0]
    assert math.isnan(found["theirs"][3])


def test_the_judge_stands_beside_a_column_on_the_rows_that_it_has() -> None:
    judged, theirs = np.array([1.0, 2.0, 3.0, 0.0]), np.array([3.0, 2.0, 1.0, math.nan])
    labels = np.array([1.0, 2.0, 3.0, 4.0])

    assert bench_judge.beside(theirs, judged, labels) == (pytest.approx(-1), pytest.approx(1))

    found = bench_judge.intervals({"judge": judged, "theirs": theirs}, labels, list("abcd"), 0)
    assert (found["theirs"]["n"], found["judge"]["n"]) == (3, 4)
    assert found["theirs"]["judge_less_this"][0] == pytest.approx(2)


def test_people_are_held_against_each_other_where_two_labelled() -> None:
    assert bench_judge.agreement(study(), seed=0)["spearman"] == pytest.approx(-1)  # type: ignore[index]
    assert bench_judge.agreement(Study("one", "answer_correctness", clusters=["a"], people=[None]), seed=0) is None


def test_a_row_says_how_every_column_goes_with_people() -> None:
    row = bench_judge.compare(study(), BuiltinJudge(), 0)

    assert (row["n"], row["unscored"], row["clusters"]) == (4, 0, 4)
    assert row["correlations"]["theirs"]["spearman"] == pytest.approx(1)
    assert row["correlations"]["worse"]["spearman"] == pytest.approx(-1)
    assert row["kendall_tau_b"]["worse"][0] == pytest.approx(-1)
    assert row["correlations"]["judge"]["spearman"] > 0.9


def test_a_sample_keeps_what_stands_beside_the_labels() -> None:
    smaller = bench_judge.sampled(study(), 2, 0)

    assert len(smaller.labels) == len(smaller.published) == len(smaller.people) == 2
    assert [row["worse"] for row in smaller.published] == [-label for label in smaller.labels]


def test_a_model_is_asked_once_and_what_it_does_not_say_is_unscored(tmp_path: Path) -> None:
    def said(request: Request) -> str:
        text = " ".join(message.text for message in request.messages)
        return "I cannot tell." if "Dogs bark." in text else '{"score": 100}' if "rose." in text else '{"score": 0}'

    model = ScriptedModel(said)
    seen = []
    for _ in range(2):
        with asking(tmp_path / "judge.ledger", most=None, dry_run=False) as recording:
            asked = recording.model(model.id, lambda: model)
            row = bench_judge.compare(study(), BuiltinJudge(), 0, asked=(asked, recording))
        seen.append((row["correlations"][model.id], len(model.requests)))

    assert seen[0] == seen[1]
    assert seen[0][0]["n"] == 3
    assert row["model"].startswith(model.id)


def test_pairs_take_the_difference_of_their_systems() -> None:
    pairs = Study("made up", "answer_correctness", paired=True)
    pairs.add(2.0, "a", [answer(0, "Cats sleep."), answer(0, "In May the river rose.")])

    assert pairs.fold([10.0, 90.0]).tolist() == [80]


def test_the_tables_of_the_docs_are_those_of_the_results_and_of_this_judge() -> None:
    found = json.loads((RESULTS / "judge.json").read_text("utf-8"))["figures"]

    sample = json.loads((RESULTS / "judge-local-e5-small.json").read_text("utf-8"))["rows"]
    tables = bench_judge.agreement_table, bench_judge.published_table

    made = [table(found["rows"]) for table in tables]
    for lines in (*made, bench_judge.embedder_table(sample), bench_judge.padding_table(found["padding"])):
        for line in lines:
            assert line in PAGE
    assert found["judge"] == BuiltinJudge().fingerprint


def test_the_tables_beside_the_results_are_made_of_them() -> None:
    saved = json.loads((RESULTS / "judge.json").read_text("utf-8"))

    assert bench_judge.markdown(saved) == (RESULTS / "judge.md").read_text("utf-8")


def test_the_tables_of_the_docs_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench_judge.py", "--print"])

    bench_judge.main()

    assert all(line in PAGE for line in capsys.readouterr().out.split("\n"))


def test_every_study_becomes_a_row() -> None:
    assert [row["set"] for row in bench_judge.studied([study(), study()], BuiltinJudge(), 0)] == ["made up"] * 2


PUBLISHED = {
    "mtrag": {"RL-F, a model", "Bert-K-Precision", "RB-LLM, a model", "Bert-Recall", "ROUGE-L"},
    "openqa": {"GPT-4", "BEM"},
    "ragchecker": {"RAGChecker, a model"},
    "summhay": {"gpt-4o", "claude3-haiku", "claude3-opus", "gemini-1.5-pro", "gpt3.5"},
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public sets are not here")
@pytest.mark.parametrize("source", bench_judge.SOURCES, ids=lambda source: source.__name__)
def test_the_labels_are_read_with_what_was_published_beside_them(source: Callable[[Path], Iterator[Study]]) -> None:
    studies = list(source(SHARED.parent))

    for one in studies:
        assert len(one.labels) == len(one.clusters) == len(one.published) == len(one.people) > 50
        assert set(one.label_of) == set(range(len(one.labels)))
        assert np.ptp(one.labels) > 0
    names = {name for one in studies for name in bench_judge.published_values(one)}
    assert names == PUBLISHED.get(source.__name__, set())
