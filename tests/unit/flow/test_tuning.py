"""Choosing how to search: grids, costs, curves, and a report on the sample archive."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from groundwire.core.errors import NothingFound, SettingError, UsageError
from groundwire.core.types import Gold, Question
from groundwire.evaluation.measures import ndcg_at_k
from groundwire.flow.archives import open_archive
from groundwire.flow.demo import STORIES
from groundwire.flow.search_bench import SAMPLE, read_question_file
from groundwire.flow.searches import search_settings
from groundwire.flow.searching import place_questions
from groundwire.flow.settings import JudgeOptions, SearchOptions, Settings
from groundwire.flow.tuning import (
    DEFAULT_GRID,
    TunePlan,
    TuneReport,
    costs_of,
    read_values,
    tune_search,
    ways_of,
)
from groundwire.retrieval.index import Archive
from groundwire.retrieval.readers import read_documents
from groundwire.retrieval.search import PRESETS, SearchSettings

FAST = Settings(judge=JudgeOptions(resamples=200))
PLAN = TunePlan({"mode": ("dense", "lexical", "hybrid"), "sentence_weight": (0.0, 0.5, 1.0)})


@pytest.fixture(scope="module")
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:128")
    made.add(read_documents(Path(str(files("groundwire.sample"))) / STORIES))
    return made


@pytest.fixture(scope="module")
def questions(archive: Archive) -> tuple[Question, ...]:
    return read_question_file(archive, SAMPLE).questions


@pytest.fixture(scope="module")
def report(archive: Archive, questions: tuple[Question, ...]) -> TuneReport:
    return tune_search(archive, questions, plan=PLAN, settings=FAST)


@pytest.mark.parametrize(
    ("name", "text", "values"),
    [
        ("mode", "dense, hybrid,dense", ("dense", "hybrid")),
        ("sentence_weight", "0:1:0.25", (0.0, 0.25, 0.5, 0.75, 1.0)),
        ("sentence_weight", "0.1:0.35:0.1", (0.1, 0.2, 0.3)),
        ("sentence_weight", "0:1:0.1", tuple(tenth / 10 for tenth in range(11))),
        ("k", "10:30:10", (10, 20, 30)),
        ("neighbours", "0,2", (0, 2)),
    ],
)
def test_values_are_read_as_a_list_or_a_range(name: str, text: str, values: tuple[object, ...]) -> None:
    assert read_values(name, text) == values
    assert [type(value) for value in read_values(name, text)] == [type(value) for value in values]


@pytest.mark.parametrize(
    ("name", "text", "error", "said"),
    [
        ("candidates", "10", UsageError, "'candidates' cannot be tuned; there are mode, sentence_weight"),
        ("k", " , ", UsageError, "k is to take no value"),
        ("k", "1:2:0", UsageError, "a step above 0"),
        ("k", "3:2:1", UsageError, "k is to run 3:2:1"),
        ("sentence_weight", "0:1:0.0001", UsageError, "is to run"),
        ("mode", "fast", SettingError, "search.mode is to be tried with 'fast'"),
        ("sentence_weight", "0,2", SettingError, "search.sentence_weight is to be tried with '2'"),
    ],
)
def test_values_that_cannot_be_tried_are_refused(name: str, text: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        read_values(name, text)


def test_a_combination_is_tried_once_however_idle_settings_vary() -> None:
    ways = ways_of(DEFAULT_GRID, SearchOptions())

    assert len(ways) == 11 + 2 + 11 * 2 * 2
    assert len({(way.search, way.k) for way in ways}) == len(ways)
    assert len({way.name for way in ways}) == len(ways)
    assert ways[0].name == "mode=dense sentence_weight=0"
    assert "mode=lexical passage_words=0.5" in [way.name for way in ways]
    assert {way.search.sentence_weight for way in ways if way.search.mode == "lexical"} == {0.6}


def test_what_the_grid_does_not_name_stays_as_the_settings_say() -> None:
    base = SearchOptions(mode="dense", shape="windows", neighbours=2, k=12)

    ways = ways_of({"sentence_weight": (0.3,)}, base)

    assert [way.name for way in ways] == ["sentence_weight=0.3"]
    assert ways[0].k == 12
    assert ways[0].search == SearchSettings(mode="dense", sentence_weight=0.3, shape="windows", neighbours=2)
    assert [way.search.neighbours for way in ways_of({"neighbours": (1, 2)}, base)] == [1, 2]
    assert len(ways_of({"neighbours": (1, 2)}, SearchOptions())) == 1
    assert len(ways_of({"sentence_weight": (0.0, 1.0)}, SearchOptions(mode="lexical", shape="diverse"))) == 2


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({}, "the grid has 0 combinations"),
        ({"k": ()}, "the grid has 0 combinations"),
        ({"k": tuple(range(1, 3000))}, "the grid has 2,999 combinations"),
        ({"phrases": (1,)}, "'phrases' cannot be tuned"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(grid: dict[str, tuple[int, ...]], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        ways_of(grid, SearchOptions())


def test_fewer_tokens_fewer_hits_and_fewer_parts_are_cheaper() -> None:
    grid = {"mode": ("hybrid", "dense", "lexical"), "passage_words": (0.5, 0.0), "k": (20, 10), "budget_tokens": (9, 5)}
    ways = ways_of(grid, SearchOptions())

    ordered = [way for _, way in sorted(zip(costs_of(ways), ways, strict=True))]

    assert sorted(costs_of(ways)) == list(range(len(ways)))
    names = [(way.budget_tokens, way.k, way.search.mode, way.search.passage_words) for way in ordered]
    assert names[:5] == [
        (5, 10, "lexical", 0.0), (5, 10, "lexical", 0.5), (5, 10, "dense", 0.0), (5, 10, "hybrid", 0.0),
        (5, 10, "hybrid", 0.5),
    ]  # fmt: skip
    assert names[5][:2] == (5, 20)
    assert names[-1] == (9, 20, "hybrid", 0.5)


def test_the_table_that_is_tuned_on_holds_what_a_search_finds(
    archive: Archive, questions: tuple[Question, ...], report: TuneReport
) -> None:
    placed, _ = place_questions(archive, questions)
    for column in (0, 3, len(report.ways) - 1):
        way = report.ways[column]
        values = []
        for one in placed:
            hits = archive.search(one.question.text, k=30, settings=way.search)
            values.append(ndcg_at_k([hit.sentence.id for hit in hits], dict.fromkeys(one.sentences, 1.0), k=10))
        assert report.tuned.means[column].mean == pytest.approx(np.mean(values))


def test_a_report_says_what_was_chosen_and_what_it_is_worth(report: TuneReport) -> None:
    assert report.questions == 37
    assert report.tuned.clusters == 29
    assert report.chosen == report.ways[report.tuned.chosen]
    assert report.tuned.means[report.tuned.chosen].mean == max(mean.mean for mean in report.tuned.means)
    assert [name for name, _ in report.tuned.differences] == ["default", "pareto"]
    assert report.axis == "sentence_weight"
    assert [curve.name for curve in report.curves] == ["dense", "hybrid"]
    assert [[x for x, _ in curve.points] for curve in report.curves] == [[0, 0.5, 1]] * 2
    facts = report.facts()
    assert facts["questions"] == 37
    assert sum(pick["folds"] for pick in facts["picks"]) == facts["folds"] == 5  # type: ignore[attr-defined, index]
    assert all(one["says"] for one in facts["differences"])  # type: ignore[attr-defined]
    for interval, says in report.differences():
        assert says.startswith("no difference" if interval.low <= 0 <= interval.high else ("above", "below"))


def test_what_is_written_are_the_varied_settings_that_matter(report: TuneReport) -> None:
    written = report.to_write()

    expected = {"mode", "sentence_weight"} if report.chosen.search.mode != "lexical" else {"mode"}
    assert set(written) == expected
    options = SearchOptions.model_validate(written)
    assert search_settings(options) == report.chosen.search


def test_settings_that_differ_from_the_defaults_are_a_baseline(
    archive: Archive, questions: tuple[Question, ...]
) -> None:
    settings = FAST.model_copy(update={"search": SearchOptions(mode="lexical", k=5)})

    found = tune_search(
        archive, questions, plan=TunePlan({"passage_words": (0.0, 0.5)}, "recall@40", folds=3), settings=settings
    )

    assert [name for name, _ in found.tuned.differences] == ["default", "pareto", "settings"]
    assert {way.k for way in found.ways} == {40}  # recall@40 needs as many
    assert [curve.name for curve in found.curves] == ["lexical"]
    pareto = settings.model_copy(update={"search": SearchOptions.model_validate({"preset": "pareto"})})
    same = tune_search(archive, questions[:6], plan=TunePlan({"k": (5, 9)}, "reciprocal_rank"), settings=pareto)
    assert [name for name, _ in same.tuned.differences] == ["default", "pareto"]
    assert search_settings(pareto.search) == PRESETS["pareto"]
    assert same.chosen.k == 5  # neither is better, so the cheaper one


def test_a_curve_has_a_family_for_each_shape(archive: Archive, questions: tuple[Question, ...]) -> None:
    plan = TunePlan(
        {"shape": ("sentences", "windows"), "budget_tokens": (60, 120), "mode": ("dense",)},
        "answer_in_context", axis="budget_tokens",
    )  # fmt: skip
    found = tune_search(archive, questions[:12], plan=plan, settings=FAST)

    assert [curve.name for curve in found.curves] == ["dense", "dense, windows"]
    assert all(curve.points[0][1].mean <= curve.points[1][1].mean for curve in found.curves)


def test_without_a_number_to_vary_there_is_no_curve(archive: Archive, questions: tuple[Question, ...]) -> None:
    found = tune_search(archive, questions[:8], plan=TunePlan({"mode": ("dense", "lexical")}), settings=FAST)

    assert (found.axis, found.curves) == ("", ())


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        (TunePlan(PLAN.grid, "evidence_tokens@9"), "how large the evidence is, not how good"),
        (TunePlan(PLAN.grid, "beauty"), "no measure is named 'beauty'"),
        (TunePlan(PLAN.grid, folds=1), "folds is 1"),
        (TunePlan(PLAN.grid, axis="k"), "a curve over 'k' needs two values"),
    ],
)
def test_a_plan_that_makes_no_sense_is_refused(
    archive: Archive, questions: tuple[Question, ...], plan: TunePlan, said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        tune_search(archive, questions[:4], plan=plan, settings=FAST)


def test_questions_that_cannot_be_scored_are_named_and_none_at_all_is_an_outcome(
    archive: Archive, questions: tuple[Question, ...]
) -> None:
    lost = Question("lost", "?", (Gold("nowhere", 0, 3),))
    words = Question("words", "?", answers=("rain",))

    found = tune_search(archive, [*questions[:6], lost, words], plan=TunePlan({"k": (5,)}), settings=FAST)

    assert found.questions == 6
    assert [one.question_id for one in found.unscored] == ["lost", "words"]
    with pytest.raises(NothingFound, match="none of 2 questions") as nothing:
        tune_search(archive, [lost, words], plan=PLAN, settings=FAST)
    assert len(nothing.value.searched) == 2
    with pytest.raises(UsageError, match="all 1 questions belong to one cluster"):
        tune_search(archive, questions[:1], plan=TunePlan({"k": (5,)}), settings=FAST)
