"""CASES E11: the same answers with filler on their topic behind them."""

import json
from importlib.resources import files
from statistics import fmean, pstdev

import pytest

from groundwire.cli.compare import lines_of
from groundwire.evaluation.comparisons import Options
from groundwire.flow.comparing import Compared, ComparePlan, compare_files
from groundwire.flow.report import render_report
from groundwire.flow.settings import Settings

FIELDS = ("id", "question", "contexts", "reference")
UNMOVED = ("question_relevance", "answer_correctness", "information_recall")


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """24 answers in English and Chinese about the sample archive, and the same with two sentences of filler."""
    folder = tmp_path_factory.mktemp("padded")
    rows = [json.loads(line) for line in (files("groundwire.sample") / "audit.jsonl").read_text("utf-8").splitlines()]
    for name, filler in (("short", False), ("padded", True)):
        written = [
            {
                **{field: row[field] for field in FIELDS},
                "answer": row["answer"] + (f" {row['filler']}" if filler else ""),
            }
            for row in rows
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in written), encoding="utf-8")
    sides = [folder / f"{name}.jsonl" for name in ("short", "padded")]
    options = Options(resamples=400, permutations=2000, seed=1)
    return compare_files(sides, settings=Settings(), plan=ComparePlan(options=options))


def moved(compared: Compared, measure: str) -> tuple[float, float]:
    """The mean move of a measure by the filler, and how far the items lie apart without it."""
    values = {(one.system, one.item_id): one.value for one in compared.judgements if one.rubric == measure}
    pairs = [(value, values["padded", item]) for (system, item), value in values.items() if system == "short"]
    scored = [(one, other) for one, other in pairs if one is not None and other is not None]
    assert len(scored) == len(pairs) == 24
    return fmean(other - one for one, other in scored), pstdev(one for one, _ in scored)


def test_density_falls_by_more_than_the_items_lie_apart(compared: Compared) -> None:
    move, noise = moved(compared, "information_density")
    assert move < -noise
    verdict = next(one for one in compared.comparison.measures if one.measure == "information_density").pairs[0]
    assert verdict.words.startswith("padded is worse than short")


@pytest.mark.parametrize("measure", UNMOVED)
def test_what_the_answer_says_is_worth_the_same(compared: Compared, measure: str) -> None:
    move, noise = moved(compared, measure)
    assert abs(move) < 0.1 * noise
    (pair,) = next(one for one in compared.comparison.measures if one.measure == measure).pairs
    assert pair.decision == "undecided"


def test_what_no_context_holds_costs_coherence_with_the_contexts(compared: Compared) -> None:
    move, noise = moved(compared, "contextual_coherence")
    assert move < -noise


def test_the_length_panel_shows_who_is_longer(
    compared: Compared,
) -> None:
    shown = list(lines_of(compared))
    start = shown.index("length of the answers (tokens, estimated)")
    means = {name: float(mean) for name, mean, *_ in (line.split() for line in shown[start + 2 : start + 4])}
    assert means["padded"] > 2 * means["short"]
    assert render_report(compared).count("Value against length of the answer") >= len(compared.comparison.measures)
