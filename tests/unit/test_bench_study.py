"""The study of CCRS: which answers are compared, and that its tables in the docs are those of the results."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bench_study
import question_sets
from bench_study import Answers, Table
from groundwire.core.ports import Progress
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CCRS, Rubric

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "study.json"
PAGE = (ROOT / "docs" / "method" / "ccrs.md").read_text("utf-8")


class CountingJudge(BuiltinJudge):
    """The built-in judge, which keeps what it was asked."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Item] = []

    def judge(
        self, items: Sequence[Item], *, rubrics: Sequence[Rubric] = CCRS, progress: Progress | None = None
    ) -> tuple[Judgement, ...]:
        self.asked += items
        return super().judge(items, rubrics=rubrics, progress=progress)


def answer(question: str, said: str, system: str, *references: str) -> tuple[Item, ...]:
    one = Item(question, "When did the river flood Tainan?", ("The river flooded Tainan in May.",), said, None, system)
    return tuple(replace(one, reference=reference) for reference in references)


def made_up(**more: object) -> Answers:
    items = {
        ("q1", "a"): answer("q1", "In May.", "a", "In May.", "In the fifth month."),
        ("q1", "b"): answer("q1", "In May.", "b", "In May.", "In the fifth month."),
        ("q2", "a"): answer("q2", "In the fifth month.", "a", "In May.", "In the fifth month."),
        ("q2", "b"): answer("q2", "", "b", "In May.", "In the fifth month."),
    }
    return Answers("made up", items, "exact match", "made up", **more)  # type: ignore[arg-type]


def test_the_same_answer_is_judged_once_and_the_best_reference_counts() -> None:
    judge = CountingJudge()

    found = bench_study.measured(made_up(), judge)

    assert len(judge.asked) == 3 * 2  # three different answers beside two references
    assert found["q1", "a"] == found["q1", "b"]
    assert found["q1", "a"]["exact match"] == found["q2", "a"]["exact match"] == 100
    assert found["q2", "a"]["answer_correctness"] == 100
    assert found["q1", "a"][bench_study.LENGTH] == 2
    assert found["q1", "a"]["claim faithfulness"] == 100


def test_an_empty_answer_is_unscored_and_not_zero() -> None:
    found = bench_study.measured(made_up(), BuiltinJudge())["q2", "b"]

    assert [found[rubric.name] for rubric in CCRS] == [None] * len(CCRS)
    assert found["claim F1"] is None


def test_what_capitals_are_worth_is_measured_on_the_same_answers() -> None:
    who = replace(answer("q1", "chen wei", "a", "Chen Wei")[0], question="Who led the city in the flood?")
    found = bench_study.recased(replace(made_up(), items={("q1", "a"): (who,)}), BuiltinJudge(), ["a"])

    assert found["a"]["n"] == 1
    assert found["a"]["as written"] == found["a"]["lower case"] == found["a"]["capitals"]
    assert bench_study.recased_table(found)[2].startswith("| a | 1 | ")


def test_what_cannot_be_judged_is_left_out_with_the_claims_in_contexts() -> None:
    found = bench_study.measured(made_up(absent={"contextual_coherence": "no contexts"}), BuiltinJudge())

    assert not {"contextual_coherence", "claim faithfulness"} & set(found["q1", "a"])


def test_published_values_stand_beside_ours() -> None:
    published = {("q1", "a"): {"theirs": 50.0}}

    assert bench_study.measured(made_up(published=published), BuiltinJudge())["q1", "a"]["theirs"] == 50


def test_all_measures_are_looked_at_on_the_questions_that_have_every_value() -> None:
    found = {
        (question, system): {"x": float(question[1]), "y": None if (question, system) in lacking else 1.0}
        for lacking in [{("q1", "a"), ("q1", "b"), ("q2", "b"), ("q3", "b")}]
        for question in ("q1", "q2", "q3", "q4")
        for system in "abc"
    }

    table = bench_study.shared_table(found, most_missing=0.25)

    assert (table.questions, table.systems) == (("q2", "q3", "q4"), ("a", "c"))
    assert (table.asked, table.unscored, table.left_out) == (4, {"x": 0, "y": 4}, {"b": 3})
    assert table.values["x"].tolist() == [[2, 2], [3, 3], [4, 4]]


def test_a_system_without_an_answer_lacks_every_value() -> None:
    found = {("q1", "a"): {"x": 1.0}, ("q1", "b"): {"x": 1.0}, ("q2", "a"): {"x": 1.0}}

    assert bench_study.shared_table(found, most_missing=0.0).systems == ("a",)


def test_a_system_that_repeats_another_is_left_out_and_named() -> None:
    said = {"a": "x x x", "b": "x x y", "c": "x y z"}
    items = {
        (f"q{place}", system): answer(f"q{place}", word, system, "In May.")
        for system, words in said.items()
        for place, word in enumerate(words.split())
    }

    kept, copies = bench_study.without_copies(items)

    assert {system for _, system in kept} == {"a", "c"}
    assert copies == {"b": "2 of its 3 answers are those of a"}


def test_whole_questions_are_drawn_by_seed() -> None:
    items = {(f"q{number}", system): () for number in range(20) for system in "ab"}

    kept = bench_study.drawn(items, 5, 3)

    assert len({question for question, _ in kept}) == 5
    assert len(kept) == 10
    assert kept == bench_study.drawn(items, 5, 3) != bench_study.drawn(items, 5, 4)


def table() -> Table:
    rng = np.random.default_rng(0)
    right = rng.integers(0, 2, (60, 3)) * 100.0
    better = np.clip(rng.normal(50, 5, (60, 1)) + np.array([0.0, 20.0, 40.0]), 0, 100)
    values = {"answer_correctness": better, "information_recall": better + rng.normal(0, 0.1, (60, 3)),
              "exact match": right * 0, "token F1": right}  # fmt: skip
    return Table(
        tuple(f"q{n}" for n in range(60)), ("a", "b", "c"), values, 61, {"exact match": 0, "token F1": 2}, {"d": 3}
    )


@pytest.fixture(scope="module")
def study() -> dict[str, Any]:
    """The made-up table, as it is read from the results."""
    answers = made_up(absent={"contextual_coherence": "there are no contexts"})
    found: dict[str, Any] = json.loads(json.dumps(bench_study.studied(answers, table(), seed=0)))
    return found


def test_what_differs_is_told_apart_and_what_is_constant_is_not(study: dict[str, Any]) -> None:
    measures = study["measures"]

    assert (measures["answer_correctness"]["told_apart"], measures["answer_correctness"]["pairs"]) == (3, 3)
    assert measures["exact match"]["told_apart"] == 0
    assert measures["exact match"]["ties"] == measures["exact match"]["at_lowest"] == 1
    assert [size for size, *_ in measures["token F1"]["curve"]] == [25, 50, 60]
    assert study["correlations"]["constant"] == ["exact match"]
    assert study["correlations"]["correctness with recall, Pearson"][0] > 0.99


@pytest.mark.parametrize(("items", "expected"), [(30, (5, 10, 20, 30)), (10, (5, 10)), (60, (25, 50, 60))])
def test_few_questions_have_a_curve_too(items: int, expected: tuple[int, ...]) -> None:
    assert bench_study.sizes(items) == expected


def test_the_report_names_what_is_unscored_and_left_out(study: dict[str, Any]) -> None:
    lines = bench_study.report({"made up": study}).split("\n")

    assert "Unscored answers: 2 (token F1)." in lines[0]
    assert "Not judged: contextual coherence, for there are no contexts." in lines[0]
    assert "1 systems more are left out" in lines[0]
    assert "| answer correctness – information recall | 1.00" in "\n".join(lines)


def test_the_tables_of_the_docs_are_those_of_the_results_and_of_this_judge() -> None:
    found = json.loads(RESULTS.read_text("utf-8"))["figures"]

    for line in (*bench_study.report(found["sets"]).split("\n"), *bench_study.recased_table(found["recased"])):
        assert line in PAGE
    assert found["judge"] == BuiltinJudge().fingerprint
    assert set(found["sets"]) == set(bench_study.SETS)


def test_the_tables_of_the_docs_are_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["bench_study.py", "--print"])

    bench_study.main()

    assert all(line in PAGE for line in capsys.readouterr().out.split("\n"))


@pytest.mark.skipif(not question_sets.SHARED.is_dir(), reason="the public sets are not here")
@pytest.mark.parametrize("name", list(bench_study.SETS))
def test_the_sets_are_read(name: str) -> None:
    answers = bench_study.SETS[name](2, 0)

    assert len({question for question, _ in answers.items}) == 2
    assert all(aliases and aliases[0].question and aliases[0].reference for aliases in answers.items.values())
    with_contexts = all(aliases[0].contexts for aliases in answers.items.values())
    assert with_contexts or "contextual_coherence" in answers.absent or name == "news-summhay"
