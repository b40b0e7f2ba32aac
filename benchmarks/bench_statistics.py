"""Randomised Tukey HSD on 6 systems, 4,719 items and 10,000 draws, beside other ways to the same p in one run.

    python benchmarks/bench_statistics.py             # ours, numpy's own shuffle, scipy
    python benchmarks/bench_statistics.py --rivals    # and ranx, where it is installed

Rivals that would take too long are run with fewer draws, and their time is multiplied by what is left out; the results
say so. Seconds are of CPU, over all threads, the least of the rounds; the machine may be busy.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from importlib.metadata import version

import numpy as np
from scipy import stats

from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.discrimination import power_curve
from groundwire.evaluation.permutation import randomised_tukey_hsd
from record import save_result

ITEMS, DRAWS = 4_719, 10_000
GAINS = (0.0, 0.0, 1.0, 1.5, 3.0, 6.0)


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


def timed(call: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Least CPU and wall seconds of some rounds."""
    spent = []
    for _ in range(rounds):
        wall, cpu = time.perf_counter(), time.process_time()
        call()
        spent.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in spent), min(wall for _, wall in spent)


def five_measures() -> list[Judgement]:
    return [
        Judgement(f"q{item}", f"system {system}", f"measure {measure}", float(value), "read", "judge")
        for measure in range(5)
        for item, row in enumerate(judged(7 + measure))
        for system, value in enumerate(row)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rivals", action="store_true", help="run ranx too; it must be installed")
    parser.add_argument("--seed", type=int, default=7, help="of the values")
    given = parser.parse_args()
    table = judged(given.seed)
    ways: dict[str, tuple[Callable[[np.ndarray, int], np.ndarray], int, int]] = {
        "groundwire": (ours, DRAWS, 3),
        "numpy, Generator.permuted": (numpy_shuffle, 500, 2),
        "textbook loop": (textbook_loop, 10, 1),
        "scipy.stats.permutation_test": (scipy_permutation, 100, 1),
    }
    if given.rivals:
        ranx_fisher(table, 10)  # compiled once, not counted
        ways["ranx, Fisher by pairs"] = (ranx_fisher, 100, 1)
    load = os.getloadavg()[0]
    figures = {}
    for name, (way, draws, rounds) in ways.items():
        cpu, wall = timed(lambda way=way, draws=draws: way(table, draws), rounds)
        times = DRAWS / draws
        figures[name] = {
            "cpu_seconds": round(cpu * times, 3),
            "seconds": round(wall * times, 3),
            "draws_run": draws,
            "extrapolated": draws < DRAWS,
        }
    least = figures["groundwire"]["cpu_seconds"]
    for row in figures.values():
        row["times_groundwire"] = round(row["cpu_seconds"] / least, 1)
    rows = five_measures()
    compared = timed(lambda: compare(rows), 2)
    holm = timed(lambda: compare(rows, options=Options(adjust="holm")), 1)
    curve = timed(lambda: power_curve(table), 1)
    whole = {
        "compare, 5 measures x 6 systems x 4,719 items": compared,
        "the same, Holm over all 75 pairs": holm,
        "power curve, 9 sizes x 20 samples": curve,
    }
    known = numpy_shuffle(table, 2_000)[np.triu_indices(6, 1)]
    mine = ours(table, DRAWS)[np.triu_indices(6, 1)]
    figures_all = {
        "load_average_at_the_start": round(load, 2),
        "rivals": {name: version(name) for name in ("scipy", *(["ranx", "numba"] if given.rivals else []))},
        "randomised_tukey_hsd": figures,
        "largest_difference_of_p_from_numpy_with_2000_draws": round(float(np.abs(known - mine).max()), 4),
        "whole_steps": {
            name: {"cpu_seconds": round(cpu, 2), "seconds": round(wall, 2)} for name, (cpu, wall) in whole.items()
        },
    }
    for name, row in (figures | figures_all["whole_steps"]).items():
        print(f"{name:48} {row}")
    save_result("statistics", figures_all, seed=given.seed)


if __name__ == "__main__":
    main()
