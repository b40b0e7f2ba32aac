"""Whether a text holds a fact, without a model: a measure for the benchmark of writers, fitted on people's labels.

Usage: python benchmarks/fact_coverage.py

Labels: judge-summhay, facts that people found in full (1), in part (.5) or not (0) in a list of sentences. Looked at is
the line that fits best: similarity of vectors, shares of the fact's words and numbers in it and in the best two lines.
A logistic curve makes a value from 0 to 1 of it. Figures are leave-one-subtopic-out; beside them stand the judges of
the data set (models asked the same question) on the same facts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from groundwire.core.quantities import find_quantities
from groundwire.evaluation.ordering import separation
from groundwire.evaluation.stats import bootstrap_interval
from groundwire.flow.registry import LazyEmbedder
from groundwire.writing.guards import coverage, sought_words
from question_sets import CachedEmbedder, rows
from record import save_result

SEED = 0
VALUES: Mapping[str | None, float] = {"FULL": 1.0, "PARTIAL": 0.5, "NO": 0.0}
JUDGES = ("prompted_gpt-4o", "prompted_gemini-1.5-pro", "prompted_claude3-opus", "prompted_gpt3.5")
RIDGE = 1.0
_MARKS = re.compile(r"\[[^\]]*\]|[*#_]+")


@dataclass(frozen=True)
class Curve:
    """``1 / (1 + exp(-(weights . features)))``; the first weight is the constant's."""

    weights: tuple[float, ...]

    def value(self, features: np.ndarray) -> np.ndarray:
        return 1 / (1 + np.exp(-(features @ np.array(self.weights))))


@dataclass(frozen=True)
class Found:
    """How far a text holds a fact, 0 to 1, and the place of the line that fits best; -1 in a text without lines."""

    value: float
    line: int


def features(fact: str, lines: Sequence[str], *, embedder: CachedEmbedder) -> tuple[np.ndarray, int]:
    """The features of a fact in the line that fits best, and its place."""
    plain = [_MARKS.sub(" ", line) for line in lines]
    if not plain:
        return np.array([1.0, 0.0, 0.0, 0.0, 0.0]), -1
    similar = embedder.embed(plain) @ embedder.embed([fact])[0]
    wanted = sought_words(fact)
    held = [sought_words(line) for line in plain]
    shares = np.array([coverage(wanted, words) for words in held])
    best = int(np.argmax(similar * 4 + shares))
    pair = max((coverage(wanted, held[best] | other) for other in held), default=0.0)
    numbers = {round(found.value, 6) for found in find_quantities(fact)}
    there = {round(found.value, 6) for found in find_quantities(plain[best])}
    of_numbers = len(numbers & there) / len(numbers) if numbers else shares[best]
    return np.array([1.0, similar[best], shares[best], pair, of_numbers]), best


def fit(table: np.ndarray, targets: np.ndarray) -> Curve:
    """Ridge logistic regression by Newton's method; targets are shares from 0 to 1."""
    weights = np.zeros(table.shape[1])
    penalty = RIDGE * np.eye(table.shape[1])
    penalty[0, 0] = 0.0
    for _ in range(50):
        values = 1 / (1 + np.exp(-(table @ weights)))
        slope = table.T @ (values - targets) + penalty @ weights
        bend = (table * (values * (1 - values))[:, None]).T @ table + penalty
        weights = weights - np.linalg.solve(bend, slope)
    return Curve(tuple(map(float, weights)))


@dataclass(frozen=True)
class Labels:
    """The labelled facts: features, what people said (0, .5, 1), which summary and subtopic each belongs to."""

    table: np.ndarray
    people: np.ndarray
    summaries: tuple[int, ...]
    subtopics: tuple[str, ...]
    judges: Mapping[str, tuple[float | None, ...]]


def labelled(embedder: CachedEmbedder) -> Labels:
    """Read the labels, and look every fact up in its summary."""
    table, people, summaries, subtopics = [], [], [], []
    judges: dict[str, list[float | None]] = {name: [] for name in JUDGES}
    for row in rows("judge-summhay", "coverage.jsonl"):
        for each in row["insights"]:
            table.append(features(each["insight"], row["lines"], embedder=embedder)[0])
            people.append(VALUES[each["human"]])
            summaries.append(row["id"])
            subtopics.append(row["qid"])
            for name, said in judges.items():
                said.append(VALUES.get(each["judges"].get(name)))
    return Labels(np.array(table), np.array(people), tuple(summaries), tuple(subtopics),
                  {name: tuple(said) for name, said in judges.items()})  # fmt: skip


def held_out(labels: Labels) -> np.ndarray:
    """The values of all facts, each by a curve fitted on other subtopics."""
    values = np.zeros(len(labels.people))
    names = np.array(labels.subtopics)
    for name in dict.fromkeys(labels.subtopics):
        own = names == name
        values[own] = fit(labels.table[~own], labels.people[~own]).value(labels.table[own])
    return values


class Coverage:
    """Says how far texts hold facts; fitted on all labels but those of the subtopics that are left out."""

    def __init__(self, embedder: CachedEmbedder) -> None:
        self._embedder = embedder
        self._labels = labelled(embedder)

    def of(self, fact: str, lines: Sequence[str], *, without: str) -> Found:
        """How far the lines hold a fact, by a curve that has not seen the subtopic ``without``."""
        found, line = features(fact, lines, embedder=self._embedder)
        return Found(float(self._curve(without).value(found[None, :])[0]) if lines else 0.0, line)

    def _curve(self, without: str) -> Curve:
        others = np.array([name != without for name in self._labels.subtopics])
        return fit(self._labels.table[others], self._labels.people[others])


def embedder() -> CachedEmbedder:
    return CachedEmbedder(LazyEmbedder("local:e5-small", dimension=384))


def main() -> None:
    labels = labelled(embedder())
    values = held_out(labels)
    said = {"ours": tuple(map(float, values)), **labels.judges}
    figures = {
        name: {
            "AUC": _plain(separation(each, labels.people.tolist(), clusters=labels.subtopics)),
            "correlation of summaries": _summaries(labels, each),
            "mean": _plain(bootstrap_interval(each, clusters=labels.subtopics, seed=SEED)),
        }
        for name, each in said.items()
    }
    figures["people"] = {"mean": _plain(bootstrap_interval(labels.people.tolist(), clusters=labels.subtopics))}
    about = {
        "facts": len(labels.people),
        "summaries": len(set(labels.summaries)),
        "subtopics": len(set(labels.subtopics)),
        "weights on all": fit(labels.table, labels.people).weights,
    }
    save_result("fact_coverage", {"data": about, "measures": figures}, seed=SEED)
    print(json.dumps(figures, indent=1))


def _plain(found: object) -> dict[str, float]:
    return {name: round(getattr(found, name), 3) for name in ("mean", "low", "high", "n", "unscored")}


def _summaries(labels: Labels, values: Sequence[float | None]) -> dict[str, float]:
    """Pearson's correlation of the means of summaries with people's, of those without an unscored fact."""
    of: dict[int, list[tuple[float | None, float]]] = {}
    for summary, value, people in zip(labels.summaries, values, labels.people, strict=True):
        of.setdefault(summary, []).append((value, float(people)))
    kept = [each for each in of.values() if all(value is not None for value, _ in each)]
    ours = np.array([np.mean([value for value, _ in each]) for each in kept])  # type: ignore[misc]
    theirs = np.array([np.mean([people for _, people in each]) for each in kept])
    pearson = round(float(np.corrcoef(ours, theirs)[0, 1]), 3)
    return {"pearson": pearson, "n": len(kept), "unscored": len(of) - len(kept)}


if __name__ == "__main__":
    main()
