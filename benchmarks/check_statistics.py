"""Hold the statistics to account: exact against drawn, false alarms under no difference, published and rivals' values.

Called by ``bench_statistics.py --checks``; every part states how many cases it rests on, and its seed.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from pathlib import Path

import numpy as np
from scipy import stats

from groundwire.evaluation import permutation
from groundwire.evaluation.correlation import correlation
from groundwire.evaluation.decisions import decide
from groundwire.evaluation.effects import paired_t, shifted_bootstrap, sign_test, signed_rank
from groundwire.evaluation.flips import tossed
from groundwire.evaluation.labels import powered_mean
from groundwire.evaluation.permutation import holm, randomised_tukey_hsd, two_system
from groundwire.evaluation.power import chance_to_see, items_needed
from groundwire.evaluation.rater_agreement import cohen, fleiss, krippendorff
from groundwire.evaluation.stats import bootstrap_interval

SHARED = Path(os.environ.get("GROUNDWIRE_SHARED", Path(__file__).resolve().parents[2] / "shared"))
TREC = SHARED / "data" / "sys-trec-scores"
WAYS = ("two-sided", "greater", "less")
SEED = 20261201

Figures = dict[str, object]


def all_checks(times: float = 1.0) -> Figures:
    """Every check; ``times`` scales how many cases are drawn."""
    found: Figures = {
        "draws_against_exact": draws_against_exact(round(1_000 * times)),
        "false_alarms_without_a_difference": false_alarms(round(5_000 * times)),
        "published_p_values": published() if TREC.is_dir() else "the data is not here",
        "scipy_on_trec": scipy_on_trec() if TREC.is_dir() else "the data is not here",
        "clusters": clusters(round(1_000 * times)),
    }
    for name, check in (("statsmodels", statsmodels), ("krippendorff", krippendorffs), ("ppi-python", ppi_python)):
        try:
            found[name] = check(round(300 * times))
        except ModuleNotFoundError as error:
            found[name] = f"not installed: {error.name}"
    return found


def draws_against_exact(matrices: int) -> Figures:
    """The p of one pair of each random matrix, drawn and exact, in standard errors of the draws."""
    rng = np.random.default_rng(SEED)
    draws, errors = 2_000, []
    for number in range(matrices):
        systems, items = ((2, 20), (3, 12), (4, 5), (6, 3))[number % 4]
        table = (rng.integers(0, 11, (items, systems)) + rng.integers(0, 2, systems)).astype(float)
        exact = randomised_tukey_hsd(table)
        with _drawn():
            drawn = randomised_tukey_hsd(table, permutations=draws, seed=number)
        assert (exact.how, drawn.how) == ("exact", "monte carlo")
        known = exact.p[0, 1]
        share = (drawn.p[0, 1] * (draws + 1) - 1) / draws  # without the one that is added
        if known < 1:
            errors.append((share - known) / math.sqrt(known * (1 - known) / draws))
    sizes = np.abs(errors)
    outside = int((sizes > 3).sum())
    return {
        "matrices": matrices,
        "of_which_p_is_below_1": len(errors),
        "draws": draws,
        "beyond_3_standard_errors": outside,
        "expected_by_chance": round(0.0027 * len(errors), 2),
        "chance_of_as_many": round(float(stats.binom.sf(outside - 1, len(errors), 0.0027)), 3),
        "largest": round(float(sizes.max()), 2),
        "root_mean_square": round(float(np.sqrt(np.mean(sizes**2))), 3),
        "seed": SEED,
    }


def tied_null(rng: np.random.Generator, *, items: int, systems: int, step: int = 1) -> np.ndarray:
    """Systems that are alike, of which about 30 % of the pairs of values are tied.

    In steps of 1 because 28 % of the items have the same value of all systems, in steps of 10 by the steps alone.
    """
    item = rng.normal(60, 15, (items, 1))
    table = np.clip(np.round((item + rng.normal(0, 9, (items, systems))) / step) * step, 0, 100)
    if step == 1:
        same = rng.random(items) < 0.28
        table[same] = table[same][:, :1]
    return np.asarray(table)


@contextmanager
def _drawn() -> Iterator[None]:
    """No exact distributions, also where they would be affordable."""
    most_work, exact_sums = permutation._MOST_WORK, permutation.exact_sums
    permutation._MOST_WORK, permutation.exact_sums = 0, lambda _: None
    try:
        yield
    finally:
        permutation._MOST_WORK, permutation.exact_sums = most_work, exact_sums


def _tukey(table: np.ndarray, seed: int) -> bool:
    with _drawn():
        return bool(randomised_tukey_hsd(table, permutations=999, seed=seed, tail=False).p.min() < 0.05)


def _pair(table: np.ndarray, seed: int) -> bool:
    return two_system(*table.T.tolist(), seed=seed).p < 0.05


def _family(gaps: Sequence[np.ndarray], seed: int) -> bool:
    return min(holm(tossed(np.column_stack(gaps), seed=seed).tolist())) < 0.05


def _apart(rng: np.random.Generator, seed: int) -> bool:
    return _family([np.subtract(*tied_null(rng, items=40, systems=2).T) for _ in range(5)], seed)


def _together(rng: np.random.Generator, seed: int) -> bool:
    table = tied_null(rng, items=40, systems=6)
    return _family([table[:, one] - table[:, other] for one, other in combinations(range(6), 2)], seed)


def _missed(table: np.ndarray, seed: int) -> bool:
    found = bootstrap_interval((table[:, 0] - table[:, 1]).tolist(), resamples=1_000, seed=seed)
    return not found.low <= 0 <= found.high


def _by_t(table: np.ndarray, _: int) -> bool:
    return decide((table[:, 0] - table[:, 1]).tolist()).decision != "undecided"


Alarm = Callable[[np.random.Generator, int], bool]


def _on(test: Callable[[np.ndarray, int], bool], *, items: int, systems: int = 2, step: int = 1) -> Alarm:
    """The test on a new table where nothing differs."""
    return lambda rng, seed: test(tied_null(rng, items=items, systems=systems, step=step), seed)


ALARMS: dict[str, Alarm] = {
    "randomised Tukey HSD, 3 systems, 40 items": _on(_tukey, items=40, systems=3),
    "randomised Tukey HSD, 6 systems, 40 items": _on(_tukey, items=40, systems=6),
    "randomised Tukey HSD, 6 systems, 40 items, steps of 10": _on(_tukey, items=40, systems=6, step=10),
    "two-system randomisation, 40 items": _on(_pair, items=40),
    "two-system randomisation, 40 items, steps of 10": _on(_pair, items=40, step=10),
    "Holm, 5 independent pairs, 40 items": _apart,
    "Holm, the 15 pairs of 6 systems, 40 items": _together,
    "bootstrap interval misses, 30 items": _on(_missed, items=30),
    "bootstrap interval misses, 100 items": _on(_missed, items=100),
    "bootstrap interval misses, 300 items": _on(_missed, items=300),
    "decide by t, 30 items": _on(_by_t, items=30),
}


def false_alarms(runs: int) -> Figures:
    """How often something is told apart, or an interval misses, where nothing differs; at 5 %, 30 % ties."""
    found: Figures = {"runs_of_each": runs, "level": 0.95, "seed": SEED}
    for place, (name, alarm) in enumerate(ALARMS.items()):
        rng = np.random.default_rng([SEED, place])
        rate = sum(alarm(rng, number) for number in range(runs)) / runs
        found[name] = {"rate": round(rate, 4), "standard_error": round(math.sqrt(rate * (1 - rate) / runs), 4)}
        print(name, found[name], flush=True)
    for step in (1, 10):
        table = tied_null(np.random.default_rng(SEED), items=100_000, systems=2, step=step)
        found[f"pairs_tied_in_steps_of_{step}"] = round(float((table[:, 0] == table[:, 1]).mean()), 3)
    return found


def published() -> Figures:
    """Columns 125 and 126 of TREC-8 against the values that Urbano's README gives: (one-tailed, two-tailed)."""
    baseline, system = np.loadtxt(TREC / "adhoc8_ap.csv", delimiter=",", skiprows=1)[:, 124:126].T.tolist()
    by_t, toss = paired_t(system, baseline).p, two_system(system, baseline)
    ranks, signs = signed_rank(system, baseline), sign_test(system, baseline, tolerance=0.01)
    drawn = shifted_bootstrap(system, baseline, resamples=200_000, seed=3)
    values = {
        "t": ((by_t / 2, by_t), (0.0006596986, 0.0013193972), 0),
        "Wilcoxon": ((ranks.greater, ranks.two_sided), (0.001722594, 0.003445188), 0),
        "sign, tied up to .01": ((signs.greater, signs.two_sided), (0.004779939, 0.009559879), 0),
        "bootstrap, shifted": ((drawn.greater, drawn.two_sided), (0.000424, 0.000586), 200_000),
        "permutation (ours exact)": ((toss.p / 2, toss.p), (0.000603, 0.001188), math.inf),
    }
    rows: Figures = {}
    for name, (ours, theirs, draws) in values.items():
        rows[name] = {"ours": [float(f"{one:.10g}") for one in ours], "published": list(theirs)}
        if draws:
            off = [
                abs(one - other) / math.sqrt(other / draws + other / 1_000_000)
                for one, other in zip(ours, theirs, strict=True)
            ]
            rows[name] |= {"off_by_standard_errors": [round(one, 2) for one in off]}
        else:
            rows[name] |= {"off_by": [float(f"{abs(a - b):.1e}") for a, b in zip(ours, theirs, strict=True)]}
    return rows


def scipy_on_trec() -> Figures:
    """Pairs of neighbouring systems of all matrices: the largest difference from scipy, by test."""
    worst = {"t": 0.0, "sign": 0.0, "Wilcoxon": 0.0}
    pairs = ranked = 0
    for file in sorted(TREC.glob("*.csv")):
        table = np.loadtxt(file, delimiter=",", skiprows=1)
        for one, other in zip(table.T[:-1:3], table.T[1::3], strict=False):
            gaps = one - other
            above, below = int((gaps > 0).sum()), int((gaps < 0).sum())
            if not above + below:
                continue
            pairs += 1
            rows = one.tolist(), other.tolist()
            off = abs(paired_t(*rows).p - stats.ttest_rel(one, other).pvalue)
            worst["t"] = max(worst["t"], float(off))
            found = sign_test(*rows)
            known = [stats.binomtest(above, above + below, alternative=way).pvalue for way in WAYS]
            worst["sign"] = max(worst["sign"], _off((found.two_sided, found.greater, found.less), known))
            if above + below >= 50:
                ranked += 1
                found = signed_rank(*rows)
                known = [stats.wilcoxon(gaps, alternative=w, method="approx", correction=True).pvalue for w in WAYS]
                worst["Wilcoxon"] = max(worst["Wilcoxon"], _off((found.two_sided, found.greater, found.less), known))
    return {"pairs": pairs, "of_which_ranked_by_the_normal_distribution": ranked, "largest_difference_of_p": worst}


def _off(ours: Sequence[float], theirs: Sequence[float]) -> float:
    return float(np.abs(np.subtract(ours, theirs)).max())


def clusters(runs: int) -> Figures:
    """How often 95 % intervals of a prediction-powered mean hold the truth, by cluster and by item."""
    rng = np.random.default_rng(SEED)
    rows: Figures = {"runs": runs, "seed": SEED}
    for labelled, others, each in ((10, 50, 5), (20, 100, 5), (50, 200, 5), (10, 200, 1), (30, 300, 1)):
        held = np.zeros(2)
        for _ in range(runs):
            document = np.repeat(np.arange(labelled + others), each)
            truth = rng.normal(0, 10, labelled + others)[document] + rng.normal(0, 5, len(document))
            judge = truth + 5 + rng.normal(0, 6, labelled + others)[document] + rng.normal(0, 6, len(document))
            seen = document < labelled
            given = truth[seen].tolist(), judge[seen].tolist()
            groups = document[seen].tolist(), document[~seen].tolist()
            for place, by in enumerate((groups, None)):
                found = powered_mean(*given, unlabelled=judge[~seen].tolist(), clusters=by)
                held[place] += found.low <= 0 <= found.high
        name = f"{labelled} clusters labelled, {others} others, {each} items each"
        rows[name] = {"by_cluster": round(held[0] / runs, 3), "by_item": round(held[1] / runs, 3)}
    return rows


def statsmodels(cases: int) -> Figures:
    """Holm, power, items needed, kappa: the largest difference from statsmodels."""
    from statsmodels.stats.inter_rater import aggregate_raters, cohens_kappa, fleiss_kappa
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower

    rng = np.random.default_rng(SEED)
    worst = {"holm": 0.0, "power": 0.0, "items_needed": 0.0, "fleiss": 0.0, "cohen": 0.0}
    for _ in range(cases):
        p = rng.beta(0.4, 2, int(rng.integers(1, 30)))
        worst["holm"] = max(worst["holm"], _off(holm(p.tolist()), multipletests(p, method="holm")[1]))
        d_z, items = float(rng.uniform(0.05, 1)), int(rng.integers(3, 500))
        known = TTestPower().power(d_z, items, 0.05)
        worst["power"] = max(worst["power"], abs(chance_to_see(d_z, items=items) - float(known)))
        least = math.ceil(TTestPower().solve_power(d_z, power=0.8, alpha=0.05) - 1e-9)
        worst["items_needed"] = max(worst["items_needed"], abs((items_needed(d_z) or 0) - least))
        ratings = rng.integers(0, 4, (int(rng.integers(5, 30)), 4))
        table = aggregate_raters(ratings, n_cat=4)[0]
        worst["fleiss"] = max(worst["fleiss"], abs(fleiss(ratings.tolist()) - float(fleiss_kappa(table))))
        pair = np.zeros((4, 4))
        np.add.at(pair, (ratings[:, 0], ratings[:, 1]), 1)
        ours = cohen(ratings[:, 0].tolist(), ratings[:, 1].tolist())
        theirs = float(cohens_kappa(pair, return_results=False))
        worst["cohen"] = max(worst["cohen"], abs(ours - theirs))
    return {"cases": cases, "largest_difference": worst}


def krippendorffs(cases: int) -> Figures:
    """Krippendorff's coefficient with gaps on every scale, and correlations beside scipy: the largest difference."""
    import krippendorff as rival

    rng = np.random.default_rng(SEED)
    worst: dict[str, float] = {}
    for _ in range(cases):
        ratings = rng.integers(1, 6, (int(rng.integers(6, 20)), 3)).astype(float)
        ratings[rng.random(ratings.shape) < 0.2] = np.nan
        given = [[None if math.isnan(one) else one for one in row] for row in ratings.tolist()]
        for scale in ("nominal", "ordinal", "interval", "ratio"):
            known = rival.alpha(reliability_data=ratings.T, level_of_measurement=scale)
            off = abs(krippendorff(given, scale=scale).value - float(known))
            worst[scale] = max(worst.get(scale, 0.0), off)
        one, other = rng.integers(0, 8, (2, 30)).astype(float)
        for kind, oracle in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)):
            off = abs(correlation(one.tolist(), other.tolist(), kind=kind).value - float(oracle(one, other)[0]))
            worst[f"{kind}, scipy"] = max(worst.get(f"{kind}, scipy", 0.0), off)
    return {"cases": cases, "largest_difference": worst}


def ppi_python(cases: int) -> Figures:
    """Prediction-powered means: the largest difference of an end of the interval from ppi-python, by weight."""
    from ppi_py import ppi_mean_ci

    rng = np.random.default_rng(SEED)
    worst: dict[str, float] = {}
    for _ in range(cases):
        people = rng.normal(60, 15, int(rng.integers(8, 60)))
        same = people + rng.normal(3, 10, len(people))
        rest = rng.normal(63, 18, int(rng.integers(30, 300)))
        for weight in (0.0, 1.0, None):
            # ppi-python clips the weight that it finds to 0..1, as ours is
            low, high = ppi_mean_ci(people, same, rest, alpha=0.05, lam=weight)
            found = powered_mean(people.tolist(), same.tolist(), unlabelled=rest.tolist(), weight=weight)
            name = "found" if weight is None else f"{weight:g}"
            off = max(abs(found.low - float(np.ravel(low)[0])), abs(found.high - float(np.ravel(high)[0])))
            worst[name] = max(worst.get(name, 0.0), off)
    return {"cases": cases, "largest_difference": worst}
