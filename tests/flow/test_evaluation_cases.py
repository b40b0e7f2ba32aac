"""CASES E4 and E12 on the whole path: six systems on 4,719 items, and everything inside a running event loop."""

import asyncio
import json
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_ind

from groundwire.core.language import Request
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.conditions import Condition
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.comparing import ComparePlan, compare_files
from groundwire.flow.gate import GateFiles, gate_files
from groundwire.flow.judging import JudgePlan, judge_by_models
from groundwire.flow.ledger import Ledger
from groundwire.flow.report import render_report
from groundwire.flow.runs import recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.testing import ScriptedModel

FEW = Options(resamples=100, permutations=400)


def test_e4_pairing_sees_what_an_unpaired_test_cannot_on_six_systems_and_4719_items() -> None:
    rng = np.random.default_rng(4)
    hard = rng.uniform(0, 1, (4719, 1))
    values = hard + 0.006 * np.arange(6) + rng.normal(0, 0.05, (4719, 6))
    rows = [
        Judgement(f"q{item:04}", "abcdef"[system], "f1", float(value), "read", "one")
        for (item, system), value in np.ndenumerate(values)
    ]
    (measure,) = compare(rows, options=FEW).measures

    assert (measure.items, len(measure.pairs), measure.power) == (4719, 15, 1.0)
    assert max(pair.p for pair in measure.pairs) < 0.01
    assert {(pair.one, pair.other) for pair in measure.pairs if pair.decision == "worse"} == {
        ("abcdef"[one], "abcdef"[other]) for one in range(6) for other in range(one + 1, 6)
    }
    neighbours = [float(ttest_ind(values[:, one], values[:, one + 1]).pvalue) for one in range(5)]
    assert min(neighbours) > 0.05


def whole_path(folder: Path) -> tuple[str, ...]:
    """Answers judged by the built-in judge and by a model, compared, held to a condition, and put on a page."""
    for name, right in (("new", 12), ("old", 3)):
        rows = [
            {"id": f"q{n}", "question": f"What happened on day {n}?", "reference": f"The river rose by {n} metres.",
             "contexts": [f"The river rose by {n} metres."],
             "answer": f"The river rose by {n} metres." if n < right else "A lion sleeps in a tree."}
            for n in range(12)
        ]  # fmt: skip
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    files = [folder / "new.jsonl", folder / "old.jsonl"]
    compared = compare_files(files, settings=Settings(), plan=ComparePlan(options=FEW))
    condition = Condition("better", "answer_correctness")
    gate = gate_files([condition], files=GateFiles((files[0],), (files[1],)), settings=Settings())

    def script(_: Request) -> str:
        return json.dumps({"evidence": "so", **{rubric.name: 70 for rubric in CCRS}})

    with (
        Ledger(":memory:") as ledger,
        recorded(ledger, command=["judge"], settings=Loaded(Settings(), {})) as recording,
    ):
        items = [Item(f"q{n}", "What?", ("It rained.",), f"Rain {n}.", "Rain.", "a") for n in range(8)]
        judged = judge_by_models(
            items, models=[ScriptedModel(script)], recording=recording, plan=JudgePlan(options=FEW)
        )
    verdicts = [pair.words for one in compared.comparison.measures for pair in one.pairs]
    values = [f"{row.item_id} {row.rubric} {row.value}" for row in judged.judgements]
    return (*verdicts, gate.words, *values, render_report(compared))


def in_asyncio(work: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    async def cell() -> tuple[str, ...]:
        assert asyncio.get_running_loop().is_running()
        return work()

    return asyncio.run(cell())


def in_uvloop(work: Callable[[], tuple[str, ...]]) -> tuple[str, ...]:
    uvloop = pytest.importorskip("uvloop")

    async def cell() -> tuple[str, ...]:
        return work()

    found: tuple[str, ...] = uvloop.run(cell())
    return found


@pytest.mark.parametrize("around", [in_asyncio, in_uvloop], ids=["asyncio", "uvloop"])
def test_e12_all_of_it_works_inside_a_running_event_loop_and_nothing_is_patched(
    around: Callable[[Callable[[], tuple[str, ...]]], tuple[str, ...]], tmp_path: Path
) -> None:
    before = asyncio.run, asyncio.get_event_loop, asyncio.new_event_loop, asyncio.Task, threading.active_count()
    inside = around(lambda: whole_path(tmp_path))

    after = asyncio.run, asyncio.get_event_loop, asyncio.new_event_loop, asyncio.Task, threading.active_count()
    assert after[:4] == before[:4]
    assert after[4] <= before[4] + 1
    assert "nest_asyncio" not in sys.modules
    assert inside == whole_path(tmp_path)
    assert any(line.startswith("passed: answer_correctness is better") for line in inside)


@pytest.mark.asyncio
async def test_e12_under_pytest_asyncio_too(tmp_path: Path) -> None:
    assert whole_path(tmp_path)[0].startswith("new is better than old")
