"""The statistics: how fast, beside other packages in one run, and how true (``--checks``, see ``check_statistics``).

    python benchmarks/bench_statistics.py                        # ours, numpy's own shuffle, scipy
    python benchmarks/bench_statistics.py --rivals --checks      # and ranx, evalstats; and all checks

Randomised Tukey HSD on 6 systems, 4,719 items and 10,000 draws. Rivals that would take too long are run with fewer
draws, and their time is multiplied by what is left out; the results say so. Seconds are of CPU, over all threads, the
least of the rounds; the machine may be busy.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy import stats

from check_statistics import all_checks
from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.discrimination import power_curve
from groundwire.evaluation.permutation import randomised_tukey_hsd
from groundwire.flow.comparing import ComparePlan, compare_files
from groundwire.flow.report import render_report
from groundwire.flow.settings import Settings
from record import save_result

ITEMS, DRAWS = 4_719, 10_000
GAINS = (0.0, 0.0, 1.0, 1.5, 3.0, 6.0)
RUBRICS = (
    "contextual_coherence",
    "question_relevance",
    "information_density",
    "answer_correctness",
    "information_recall",
)


def judged(seed: int = 7) -> np.ndarray:
    """Values on a grid of 5 with strong item effects; about 13 % of the items are tied for all systems."""
    rng = np.random.default_rng(seed)
    values = rng.normal(62, 22, (ITEMS, 1)) + np.array(GAINS) + rng.normal(0, 14, (ITEMS, len(GAINS)))
    values = np.clip(np.round(values / 5) * 5, 0, 100)
    tied = rng.random(ITEMS) < 0.12
    values[tied] = values[tied][:, :1]
    return values


def ours(table: np.ndarray, draws: int) -> np.ndarray:
    return randomised_tukey_hsd(table, permutations=draws).p


def numpy_shuffle(table: np.ndarray, draws: int) -> np.ndarray:
    """The numpy reference: shuffle all rows, take the range of the means."""
    rng = np.random.default_rng(0)
    whole = table.astype(np.int64)
    sums = whole.sum(axis=0)
    gaps = np.abs(sums[:, None] - sums[None, :])
    reached = np.ones(gaps.shape)
    for _ in range(draws):
        reached += np.ptp(rng.permuted(whole, axis=1).sum(axis=0)) >= gaps
    return reached / (draws + 1)


def textbook_loop(table: np.ndarray, draws: int) -> np.ndarray:
    """As it stands in the papers: for each draw, for each item, shuffle the values of the systems."""
    rng = np.random.default_rng(0)
    sums = table.sum(axis=0)
    gaps = np.abs(sums[:, None] - sums[None, :])
    reached = np.ones(gaps.shape)
    for _ in range(draws):
        total = np.zeros(table.shape[1])
        for row in table:
            total += rng.permutation(row)
        reached += np.ptp(total) >= gaps
    return reached / (draws + 1)


def scipy_permutation(table: np.ndarray, draws: int) -> np.ndarray:
    """The general test of scipy test with the range of the means for its statistic: the p of the widest pair."""

    def widest(*columns: np.ndarray, axis: int) -> np.ndarray:
        return np.ptp(np.stack([column.mean(axis=axis) for column in columns]), axis=0)

    found = stats.permutation_test(
        tuple(table.T),
        widest,
        permutation_type="samples",
        alternative="greater",
        vectorized=True,
        batch=50,
        n_resamples=draws,
        rng=np.random.default_rng(0),
    )
    return np.array([found.pvalue])


def ranx_fisher(table: np.ndarray, draws: int) -> np.ndarray:
    """The paired randomisation test of ranx, pair by pair; it does not bound the false alarms of the family."""
    from ranx.statistical_tests import fisher_randomization_test

    pairs = [(one, other) for one in range(6) for other in range(one + 1, 6)]
    return np.array([fisher_randomization_test(table[:, one], table[:, other], draws, 0.05)[0] for one, other in pairs])


def evalstats_compare(table: np.ndarray, draws: int) -> np.ndarray:
    """The comparison of evalstats as it comes (Romano-Wolf by bootstrap): another test of the same question."""
    import evalstats
    import pandas

    rows = [
        {"model": f"system {system}", "item": f"q{item}", "score": float(value)}
        for item, row in enumerate(table)
        for system, value in enumerate(row)
    ]
    evalstats.compare(evalstats.load_from(pandas.DataFrame(rows)), factors="model", n_bootstrap=draws)
    return np.empty(0)


def five_measures() -> list[Judgement]:
    return [
        Judgement(f"q{item}", f"system {system}", f"measure {measure}", float(value), "read", "judge")
        for measure in range(5)
        for item, row in enumerate(judged(7 + measure))
        for system, value in enumerate(row)
    ]


def result_files(folder: Path, *, texts: bool) -> list[Path]:
    """A file a system with five values an item, and where asked answers of 20 to 80 words with three contexts."""
    tables = [judged(7 + place) for place in range(len(RUBRICS))]
    rng = np.random.default_rng(3)
    words = ("flood", "relief", "bridge", "minister", "village", "report", "storm", "river", "bank", "council")

    def text(length: int) -> str:
        return " ".join(rng.choice(words, length))

    files = []
    for system in range(len(GAINS)):
        files.append(folder / f"system{system}.jsonl")
        with files[-1].open("w", encoding="utf-8") as out:
            for item in range(ITEMS):
                row: dict[str, object] = {"id": f"q{item}", "system": f"system {system}"}
                if texts:
                    row |= {"question": f"What about {item}?", "answer": text(int(rng.integers(20, 80)))}
                    row |= {"contexts": [text(60) for _ in range(3)], "reference": "the river"}
                row |= {name: float(table[item, system]) for name, table in zip(RUBRICS, tables, strict=True)}
                out.write(json.dumps(row) + "\n")
    return files


def timed(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Least CPU and wall seconds of some rounds."""
    spent = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in spent), min(wall for _, wall in spent)


def tests_timed(table: np.ndarray, *, rivals: bool) -> dict[str, dict[str, object]]:
    """Randomised Tukey HSD and its rivals."""
    ways: dict[str, tuple[Callable[[np.ndarray, int], np.ndarray], int, int]] = {
        "groundwire": (ours, DRAWS, 5),
        "numpy, Generator.permuted": (numpy_shuffle, 500, 2),
        "textbook loop": (textbook_loop, 10, 1),
        "scipy.stats.permutation_test": (scipy_permutation, 100, 1),
    }
    if rivals:
        ranx_fisher(table, 10)  # compiled once, not counted
        evalstats_compare(table[:50], 100)  # imported once, not counted
        ways["ranx, Fisher by pairs"] = (ranx_fisher, 100, 1)
        ways["evalstats, compare"] = (evalstats_compare, DRAWS, 1)
    figures: dict[str, dict[str, object]] = {}
    for name, (way, draws, rounds) in ways.items():
        cpu, wall = timed(lambda way=way, draws=draws: way(table, draws), rounds)
        times = DRAWS / draws
        figures[name] = {
            "cpu_seconds": round(cpu * times, 3),
            "seconds": round(wall * times, 3),
            "draws_run": draws,
            "extrapolated": draws < DRAWS,
        }
    least = float(str(figures["groundwire"]["cpu_seconds"]))
    for row in figures.values():
        row["times_groundwire"] = round(float(str(row["cpu_seconds"])) / least, 1)
        print(row)
    return figures


def steps_timed(table: np.ndarray) -> dict[str, tuple[float, float]]:
    """Whole steps on five measures, in memory and from files."""
    rows = five_measures()
    found = {
        "compare, 5 measures x 6 systems x 4,719 items": timed(lambda: compare(rows), 3),
        "the same, Holm over all 75 pairs": timed(lambda: compare(rows, options=Options(adjust="holm")), 2),
        "power curve, 9 sizes x 20 samples": timed(lambda: power_curve(table), 2),
    }
    for texts in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            files = result_files(Path(folder), texts=texts)

            def whole(files: list[Path] = files) -> None:
                render_report(compare_files(files, settings=Settings(), plan=ComparePlan()))

            kind = "answers with contexts and values" if texts else "values alone"
            found[f"files read, compare and report, 5 measures, {kind}"] = timed(whole, 3)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rivals", action="store_true", help="run ranx and evalstats too; they must be installed")
    parser.add_argument("--checks", action="store_true", help="hold the statistics to account too, for some minutes")
    parser.add_argument("--seed", type=int, default=7, help="of the values")
    given = parser.parse_args()
    table = judged(given.seed)
    load = os.getloadavg()[0]
    names = ("scipy", *(["ranx", "numba", "evalstats"] if given.rivals else []))
    figures: dict[str, object] = {
        "load_average_at_the_start": round(load, 2),
        "rivals": {name: version(name) for name in names},
        "randomised_tukey_hsd": tests_timed(table, rivals=given.rivals),
    }
    known = numpy_shuffle(table, 2_000)[np.triu_indices(6, 1)]
    mine = ours(table, DRAWS)[np.triu_indices(6, 1)]
    figures["largest_difference_of_p_from_numpy_with_2000_draws"] = round(float(np.abs(known - mine).max()), 4)
    steps = steps_timed(table)
    figures["whole_steps"] = {
        name: {"cpu_seconds": round(cpu, 2), "seconds": round(wall, 2)} for name, (cpu, wall) in steps.items()
    }
    if given.checks:
        figures["checks"] = all_checks()
    print(json.dumps(figures, indent=1))
    save_result("statistics", figures, seed=given.seed)


if __name__ == "__main__":
    main()
