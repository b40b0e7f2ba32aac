"""Fit the curves of the rater ``likelihood`` (``src/groundwire/writing/likelihood.json``), one a model.

Usage: python benchmarks/fit_likelihood.py [--model llama:qwen2.5-coder-0.5b]... [--write] [--ledger FILE]

The pairs are those of ``rating_pairs.py fit``: headlines and stories of news-ntrex, subtopics and articles of
news-summhay. None of them is in the pairs that raters are compared on. The scale is that of ``fit_rater.py``: an
article about the topic aims at 90, one on the same subject at 45, any other at 5. Figures are leave-one-topic-out.
Calls are kept in a ledger in the user's cache, so that the script can be stopped and run again.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bench_rate import LEDGER, asked_model, asking, labelled
from groundwire.core.language import LanguageModel
from groundwire.evaluation.ordering import separation
from groundwire.flow.rate_bench import sources_of
from groundwire.flow.rating import Job, rate_jobs
from groundwire.flow.runs import Recording
from groundwire.flow.settings import Settings
from groundwire.writing.raters import Curve, Rater, read
from rating_pairs import FULL, OTHER, SAME_SUBJECT
from record import save_result

MODELS = ("llama:smollm2-135m", "llama:qwen2.5-coder-0.5b", "llama:qwen2.5-coder-1.5b")
SEED = 0


def informations(pairs: Sequence, model: LanguageModel, recording: Recording) -> np.ndarray:
    """The PMI of every pair, in nats a token."""
    rater = Rater("likelihood", model.id, recording.capabilities(model), curve=Curve(model.id, 0.0, 1.0))
    sources = sources_of(pairs, settings=Settings(embedder="hash:64"))  # all sentences are shown, however they rank
    done = rate_jobs(
        [Job(rater, pair.topic, source) for pair, source in zip(pairs, sources, strict=True)],
        model=model, recording=recording, progress=lambda done, total, _: print(done, total, file=sys.stderr),
    )  # fmt: skip
    means = [[read(rater, answer).value for answer in each.answers] for each in done]
    return np.array([after - before for after, before in means])


def fit(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Intercept and slope by Newton's method on the cross entropy, kinds of pairs weighing the same."""
    columns = np.column_stack([np.ones_like(x), x])
    share = np.array([1 / (y == aim).sum() for aim in y])
    weights = np.zeros(2)
    for _ in range(100):
        p = 1 / (1 + np.exp(-columns @ weights))
        curvature = (columns * (share * p * (1 - p))[:, None]).T @ columns + 1e-6 * np.eye(2)
        step = np.linalg.solve(curvature, columns.T @ (share * (y - p)))
        weights += step
        if abs(step).max() < 1e-9:
            break
    return weights


def figures(name: str, pairs: Sequence, x: np.ndarray) -> tuple[dict[str, object], dict[str, object]]:
    """The curve, and what it is worth on topics that it was not fitted on."""
    y = np.array([pair.relevant for pair in pairs])
    topics = [pair.cluster for pair in pairs]
    intercept, slope = fit(x, y).round(3).tolist()
    held_out = np.zeros(len(pairs))
    for topic in dict.fromkeys(topics):
        inside = np.array([each == topic for each in topics])
        curve = Curve(name, *fit(x[~inside], y[~inside]))
        held_out[inside] = [curve.rating(value) for value in x[inside]]
    curve = {"model": name, "intercept": intercept, "slope": slope}
    auc = separation(list(held_out), list(y), clusters=topics)
    kept = {
        f"kept at 20, aimed at {100 * aim:.0f}": round(float((held_out[y == aim] >= 20).mean()), 3)
        for aim in (FULL, SAME_SUBJECT, OTHER)
    }
    concordance = {"value": round(auc.mean, 3), "low": round(auc.low, 3), "high": round(auc.high, 3)}
    counts = {"pairs": len(pairs), "topics": len(set(topics)), "seed": auc.seed}
    return curve, {**curve, **counts, "concordance, held out": concordance, **kept}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", action="append", default=[], help="repeatable; default: the three of the catalogue")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument(
        "--write", action="store_true", help="write the curves into the package, beside those of other models"
    )
    arguments = parser.parse_args()
    pairs = labelled("fit")
    curves, found = [], {}
    for name in arguments.model or MODELS:
        with asking(arguments.ledger) as recording:
            x = informations(pairs, asked_model(recording, name), recording)
        curve, found[name] = figures(name, pairs, x)
        curves.append(curve)
    save_result("fit_likelihood", found, seed=SEED)
    if arguments.write:
        target = Path(__file__).resolve().parents[1] / "src" / "groundwire" / "writing" / "likelihood.json"
        kept = {curve["model"]: curve for curve in json.loads(target.read_text(encoding="utf-8"))["curves"]}
        kept |= {curve["model"]: curve for curve in curves}
        target.write_text(json.dumps({"curves": list(kept.values())}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
