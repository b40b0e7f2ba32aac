"""Fits the weights of the built-in judge on people's labels, and says how well they do on a domain they have not seen.

Usage: python benchmarks/fit_judge.py [--print]

For each rubric with labels: non-negative ridge regression of the labels on the parts that the judge weighs (words
only), each set of labels standardised, each domain counting the same. A domain is a source of labels; the two on
Natural Questions, which share questions, are one. Held out: weights fitted on the other domains, beside those in use
(``rubrics.CHOSEN``) and beside equal ones. Fitted weights are to be adopted only where they agree better with people on
the domains on which nothing in use was chosen, by the paired interval. --print writes the tables of the docs.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import nnls

from bench_judge import CHOSEN_ON, RESAMPLES, ROOT, RUBRICS, SOURCES, Study, judge_study, spearman
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CHOSEN, Parameters, graded_match, score
from record import RESULTS, save_result

RIDGE = 0.005
"""A domain's penalty on squared weights; a part's variance is about 0.04."""
LEAST = 0.02
"""No part weighs less, since an item may lack all others."""
DOMAINS = {"evouna": "natural questions", "openqa": "natural questions"}


@dataclass(frozen=True)
class Judged:
    """The labels of one set with the judge's parts; a row of ``parts`` for each item, None where it is unscored."""

    study: Study
    parts: tuple[Mapping[str, float] | None, ...]

    @property
    def domain(self) -> str:
        """Where the labels come from."""
        source = self.study.name.partition(",")[0]
        return DOMAINS.get(source, source)

    @property
    def chosen_here(self) -> bool:
        """Whether constants in use were chosen on this set."""
        return CHOSEN_ON[self.study.rubric] == self.study.name

    def values(self, parameters: Parameters) -> np.ndarray:
        """The judge's values with these constants, one a label; nan is unscored."""
        return self.study.fold(
            [
                None if row is None else score(self.study.rubric, row, parameters=parameters)["value"]
                for row in self.parts
            ]
        )


def judged_sets(studies: Sequence[Study], judge: BuiltinJudge) -> list[Judged]:
    """The parts that the judge makes of every labelled answer."""
    found = []
    for study in studies:
        judgements, _ = judge_study(study, judge)
        found.append(Judged(study, tuple(None if one.value is None else dict(one.parts) for one in judgements)))
    return found


def names_of(rubric: str) -> tuple[str, ...]:
    """The parts that a rubric weighs, without meaning; answer correctness weighs the match as well."""
    names = tuple(name for name in CHOSEN.weights[rubric] if name != "meaning")
    return ("match", *names) if rubric == "answer_correctness" else names


def features(rubric: str, parts: Mapping[str, float]) -> list[float]:
    """What the weights are multiplied with: the parts, less what the gates take; a missing one is as the others are."""
    told = dict(parts) | ({"match": graded_match(parts)} if rubric == "answer_correctness" else {})
    names = names_of(rubric)
    known = [told[name] for name in names if name in told]
    gate = 1.0
    for name in ("numbers", "quotations"):
        gate *= 1 - CHOSEN.gates.get(rubric, 0.0) * (1 - parts.get(name, 1.0))
    return [gate * told.get(name, float(np.mean(known))) for name in names]


def table(judged: Judged) -> tuple[np.ndarray, np.ndarray]:
    """Features and labels, a row a scored label: of the best alias, or of the second of a pair less the first.

    Both have mean 0; the labels have deviation 1.
    """
    study = judged.study
    of_label: dict[int, list[Mapping[str, float] | None]] = {}
    for label, row in zip(study.label_of, judged.parts, strict=True):
        of_label.setdefault(label, []).append(row)
    lines, labels = [], []
    for label, found in of_label.items():
        scored = [row for row in found if row is not None]
        if not scored or (study.paired and len(scored) < 2):
            continue
        if study.paired:
            first, second = (np.array(features(study.rubric, row)) for row in scored)
            lines.append(second - first)
        else:
            best = max(scored, key=lambda row: score(study.rubric, row)["value"])
            lines.append(np.array(features(study.rubric, best)))
        labels.append(study.labels[label])
    x, y = np.array(lines), np.array(labels)
    return x - x.mean(axis=0), (y - y.mean()) / (y.std() or 1.0)


def fit(sets: Sequence[Judged]) -> Parameters:
    """Weights that add to 1, none below ``LEAST``, in the place of those in use."""
    rubric = sets[0].study.rubric
    domains = [one.domain for one in sets]
    rows, targets = [], []
    for one in sets:
        x, y = table(one)
        share = 1 / (len(y) * domains.count(one.domain))
        rows.append(np.sqrt(share) * x)
        targets.append(np.sqrt(share) * y)
    count = rows[0].shape[1]
    rows.append(np.sqrt(RIDGE * len(set(domains))) * np.eye(count))
    targets.append(np.zeros(count))
    found, _ = nnls(np.concatenate(rows), np.concatenate(targets))
    return with_weights(rubric, found)


def with_weights(rubric: str, found: np.ndarray) -> Parameters:
    """The constants in use with other weights of words for one rubric; those of meaning keep their share."""
    if not found.sum() > 0:
        raise ValueError(f"no part of {rubric} goes with the labels: all weights are 0")
    kept = np.maximum(found / found.sum(), LEAST)
    weights = dict(zip(names_of(rubric), (kept / kept.sum()).tolist(), strict=True))
    match = weights.pop("match", None)
    meaning = {name: value for name, value in CHOSEN.weights[rubric].items() if name == "meaning"}
    whole = sum(weights.values())
    words = {name: value / whole for name, value in weights.items()}
    changed = replace(CHOSEN, weights={**CHOSEN.weights, rubric: {**words, **meaning}})
    return changed if match is None else replace(changed, match_share=match)


def equal(rubric: str) -> Parameters:
    """The same weight for every part."""
    return with_weights(rubric, np.ones(len(names_of(rubric))))


def drawn(judged: Judged, columns: Sequence[np.ndarray], seed: int) -> np.ndarray:
    """Spearman with people of each column, shape (1 + draws, columns): on all, then on samples of whole clusters."""
    scored = ~np.isnan(columns[0])
    labels = np.array(judged.study.labels)[scored]
    kept = [column[scored] for column in columns]
    _, group = np.unique(np.array(judged.study.clusters)[scored], return_inverse=True)
    order = np.argsort(group, kind="stable")
    places = np.split(order, np.cumsum(np.bincount(group))[:-1])
    rng = np.random.default_rng(seed)
    found = [[spearman(column, labels) for column in kept]]
    for _ in range(RESAMPLES):
        rows = np.concatenate([places[pick] for pick in rng.integers(0, len(places), len(places))])
        found.append([spearman(column[rows], labels[rows]) for column in kept])
    return np.array(found)


def held_out(sets: Sequence[Judged], *, seed: int) -> dict[str, object]:
    """One rubric: each domain judged with weights fitted on the others; and the weights fitted on all."""
    rubric = sets[0].study.rubric
    rows, draws = [], []
    for number, one in enumerate(sets):
        fitted = fit([other for other in sets if other.domain != one.domain])
        columns = [one.values(each) for each in (fitted, CHOSEN, equal(rubric))]
        found = drawn(one, columns, seed + number)
        draws.append(found)
        rows.append(
            {
                "set": one.study.name,
                "domain": one.domain,
                "chosen_here": one.chosen_here,
                "n": int((~np.isnan(columns[0])).sum()),
                "unscored": int(np.isnan(columns[0]).sum()),
                "weights": weights_of(fitted, rubric),
                **dict(zip(("fitted", "in_use", "equal"), found[0].round(4).tolist(), strict=True)),
                "fitted_less_in_use": gap(found[:, 0] - found[:, 1]),
            }
        )
    apart = {row["domain"] for row in rows if row["chosen_here"]}
    unseen = [place for place, one in enumerate(sets) if one.domain not in apart]
    over = gap(by_domain(draws, sets, unseen)) if unseen else None
    return {
        "rubric": rubric,
        "rows": rows,
        "in_use": weights_of(CHOSEN, rubric),
        "fitted_on_all": weights_of(fit(sets), rubric),
        "mean_gain": over,
        "adopt": over is not None and over[1] > 0,
    }


def by_domain(draws: Sequence[np.ndarray], sets: Sequence[Judged], places: Sequence[int]) -> np.ndarray:
    """Fitted less in use, the mean over the domains, draw by draw."""
    of_domain: dict[str, list[np.ndarray]] = {}
    for place in places:
        of_domain.setdefault(sets[place].domain, []).append(draws[place][:, 0] - draws[place][:, 1])
    return np.asarray(np.mean([np.mean(each, axis=0) for each in of_domain.values()], axis=0))


def gap(draws: np.ndarray) -> list[float]:
    """The value on the whole sample with its interval."""
    low, high = np.quantile(draws[1:], [0.025, 0.975])
    return [round(float(value), 4) for value in (draws[0], low, high)]


def weights_of(parameters: Parameters, rubric: str) -> dict[str, float]:
    """The weights of words as the fit sees them: they add to 1."""
    words = {name: value for name, value in parameters.weights[rubric].items() if name != "meaning"}
    if rubric == "answer_correctness":
        share = parameters.match_share
        words = {"match": share} | {name: (1 - share) * value for name, value in words.items()}
    return {name: round(value, 3) for name, value in words.items()}


def report(found: Sequence[Mapping[str, object]]) -> str:
    """The tables of the docs."""
    heads = ("rubric", "held out", "n", "unscored", "fitted elsewhere", "in use", "equal", "fitted − in use")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for one in found:
        rubric = str(one["rubric"]).replace("_", " ")
        for row in one["rows"]:
            less = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*row["fitted_less_in_use"])
            name = row["set"] + (" *" if row["chosen_here"] else "")
            values = " | ".join(f"{row[key]:.3f}" for key in ("fitted", "in_use", "equal"))
            lines.append(f"| {rubric} | {name} | {row['n']} | {row['unscored']} | {values} | {less} |")
    lines += ["", "| rubric | weights in use | fitted on all | mean gain on unseen domains |", "|---|---|---|---|"]
    for one in found:
        told = [", ".join(f"{name} {value:.2f}" for name, value in one[key].items())
                for key in ("in_use", "fitted_on_all")]  # fmt: skip
        gain = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one["mean_gain"]) if one["mean_gain"] else "none is unseen"
        lines.append(f"| {str(one['rubric']).replace('_', ' ')} | {' | '.join(told)} | {gain} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print", action="store_true", help="print the tables of the docs from the results")
    asked = parser.parse_args()
    if not asked.print:
        shared = Path(os.environ.get("GROUNDWIRE_SHARED", ROOT.parent / "shared"))
        judge = BuiltinJudge()
        sets = judged_sets([study for source in SOURCES for study in source(shared)], judge)
        found = [held_out([one for one in sets if one.study.rubric == rubric], seed=asked.seed) for rubric in RUBRICS]
        save_result("fit_judge", {"judge": judge.fingerprint, "rubrics": found}, seed=asked.seed)
    print(report(json.loads((RESULTS / "fit_judge.json").read_text(encoding="utf-8"))["figures"]["rubrics"]))


if __name__ == "__main__":
    main()
