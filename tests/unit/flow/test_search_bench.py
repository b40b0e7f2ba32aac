"""Presets x budgets on the sample archive."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path

import pytest

from groundwire.core.errors import NothingFound, UnreadableInput, UsageError
from groundwire.core.types import Gold, Question
from groundwire.evaluation.stats import bootstrap_interval, paired_difference
from groundwire.flow.archives import open_archive
from groundwire.flow.demo import STORIES
from groundwire.flow.search_bench import SAMPLE, BenchPlan, SearchBench, bench_search, read_question_file
from groundwire.flow.searching import preset_ways
from groundwire.flow.settings import JudgeOptions, Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.readers import read_documents

FAST = Settings(judge=JudgeOptions(resamples=100))
PLAN = BenchPlan(preset_ways(["passages", "pareto", "best"]), budgets=(150, 300), timed=2)


@pytest.fixture(scope="module")
def archive() -> Archive:
    made = open_archive("memory:", embedder="hash:128")
    made.add(read_documents(Path(str(files("groundwire.sample"))) / STORIES))
    return made


@pytest.fixture(scope="module")
def found(archive: Archive) -> SearchBench:
    questions = read_question_file(archive, SAMPLE).questions[:12]
    told: list[str] = []
    bench = bench_search(archive, questions, plan=PLAN, settings=FAST, progress=lambda _, __, label: told.append(label))
    assert told == ["questions"] * 12 + ["timing"] * 2
    return bench


def test_the_questions_of_the_sample_are_read_and_three_have_no_gold(archive: Archive) -> None:
    reading = read_question_file(archive, SAMPLE)

    assert (len(reading.questions), len(reading.unscored), reading.rejects) == (37, 3, ())
    again = read_question_file(archive, Path(str(files("groundwire.sample"))) / "questions.jsonl")
    assert again == reading
    with pytest.raises(UnreadableInput, match="is not there"):
        read_question_file(archive, "none.jsonl")


def test_every_way_has_a_mean_and_every_other_way_a_paired_difference(found: SearchBench) -> None:
    measures = [each.name for each in PLAN.measures()]
    assert measures[0] == "recall@1"
    assert measures[-1] == "evidence_sentences@300"
    assert [(cell.measure, cell.way) for cell in found.means] == [
        (measure, way) for measure in measures for way in ("passages", "pareto", "best")
    ]
    assert [(cell.measure, cell.way) for cell in found.differences] == [
        (measure, way) for measure in measures for way in ("pareto", "best")
    ]
    assert found.clusters == len({one.cluster for one in found.outcomes.placed})


def test_tables_can_be_computed_again_from_the_saved_rows(found: SearchBench, tmp_path: Path) -> None:
    path = tmp_path / "values.jsonl"
    found.save(path)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]

    values = {
        way: [row["values"]["recall@5"] for row in rows if row["way"] == way] for way in ("passages", "pareto", "best")
    }
    clusters = [row["cluster"] for row in rows if row["way"] == "best"]
    how = {"clusters": clusters, "resamples": 100, "seed": 0}
    mean = next(cell for cell in found.means if (cell.way, cell.measure) == ("best", "recall@5"))
    assert mean.interval == bootstrap_interval(values["best"], **how)
    cell = next(cell for cell in found.differences if (cell.way, cell.measure) == ("best", "recall@5"))
    assert cell.interval == paired_difference(values["best"], values["passages"], **how)
    assert cell.says.endswith("passages")


def test_evidence_stays_within_its_budget_and_a_larger_one_holds_no_less(found: SearchBench) -> None:
    names = [each.name for each in found.outcomes.measures]
    for way in range(3):
        small, large = (found.outcomes.of(way, names.index(f"evidence_tokens@{budget}")) for budget in (150, 300))
        assert all(tokens is not None and 0 < tokens <= 150 for tokens in small)
        assert all(tokens is not None and tokens <= 300 for tokens in large)


def test_facts_are_plain_data_with_what_the_values_rest_on(found: SearchBench) -> None:
    facts = json.loads(json.dumps(found.facts(), default=str))

    assert facts["questions"] == 12
    assert facts["against"] == "passages"
    assert facts["seed"] == 0
    assert facts["index_tokens"] > 10_000
    assert facts["query_tokens"] > 5
    assert facts["tokenizer"] == facts["evidence_tokenizer"] == "estimate"
    assert [one["n"] for one in facts["latency"]] == [2, 2, 2]


def test_all_questions_are_timed_where_there_are_few_and_none_where_none_is_asked(archive: Archive) -> None:
    questions = read_question_file(archive, SAMPLE).questions[:2]
    for timed, expected in ((9, [2]), (0, [])):
        plan = BenchPlan(preset_ways(["pareto"]), budgets=(50,), against="pareto", timed=timed)
        found = bench_search(archive, questions, plan=plan, settings=FAST)
        assert [one.n for one in found.latency] == expected
        assert found.differences == ()


def test_what_cannot_be_compared_is_refused(archive: Archive) -> None:
    with pytest.raises(UsageError, match="'passages' is to be compared with, but is not run; there are pareto"):
        BenchPlan(preset_ways(["pareto"]))
    for budgets in ((), (300, 0)):
        with pytest.raises(UsageError, match="give one or more, each of 1 token or more"):
            BenchPlan(budgets=budgets)
    with pytest.raises(UsageError, match="timed is -1"):
        BenchPlan(timed=-1)
    with pytest.raises(NothingFound, match="none of 1 questions"):
        bench_search(archive, [Question("q", "?", (Gold("z", 0, 1),))], settings=FAST)
