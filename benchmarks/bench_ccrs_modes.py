"""Does one call for all five rubrics of CCRS give what five calls give? Modes ``shared`` and ``paper`` on one model.

Usage: python benchmarks/bench_ccrs_modes.py [--model llama:qwen2.5-coder-1.5b] [--answers 120] [--expected]

Answers of five systems to BioASQ questions (``sys-bioasq``) that are short, with the snippets that each system used,
the first of them up to 350 tokens, and the experts' answer as reference. Which answers: drawn by seed, one a question.
Every call is kept in a ledger in the user's cache: the script can be stopped, and goes on where it was; with --dry-run
it says how many calls are left. Correlations are of the judge's own values, before anything is matched: bootstrap
intervals over the questions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from groundwire.core.text import count_tokens
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.correlation import correlation
from groundwire.evaluation.measures import is_refusal
from groundwire.evaluation.model_judge import JudgeSettings, Mode
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.judging import JudgePlan, ModelJudged, judge_by_models
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.plan import Budget
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import How, PlanOnly, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from question_sets import CACHE, rows
from record import save_result

MODEL = "llama:qwen2.5-coder-1.5b"
LEDGER = CACHE.with_name("ccrs.ledger")
MOST_CONTEXT, MOST_ANSWER, MOST_REFERENCE = 350, 90, 90
MODES: tuple[Mode, Mode] = ("paper", "shared")
Row = Mapping[str, Any]


def answers(count: int, *, seed: int) -> tuple[Item, ...]:
    """Short answers with contexts and reference, one a question, drawn by seed."""
    questions = {row["qid"]: row for row in rows("qa-bioasq", "questions.jsonl")}
    found: dict[str, list[Item]] = {}
    for row in rows("sys-bioasq", "answers.jsonl"):
        item = _item(row, questions.get(row["qid"]))
        if item is not None:
            found.setdefault(item.id, []).append(item)
    rng = np.random.default_rng(seed)
    names = sorted(found)
    drawn = [names[place] for place in rng.permutation(len(names))]
    return tuple(found[name][int(rng.integers(len(found[name])))] for name in drawn)[:count]


def _item(row: Row, question: Row | None) -> Item | None:
    """The answer with contexts of up to 350 tokens; None where a part is missing or long."""
    answer, snippets = row["ideal_answer"], row["snippets"]
    if question is None or not question["ideal_answers"] or not snippets or not answer or is_refusal(answer):
        return None
    reference = question["ideal_answers"][0]
    contexts: list[str] = []
    for snippet in snippets:
        if count_tokens(" ".join([*contexts, snippet["text"]])) <= MOST_CONTEXT:
            contexts.append(snippet["text"])
    fits = count_tokens(answer) <= MOST_ANSWER and count_tokens(reference) <= MOST_REFERENCE
    if not contexts or not fits:
        return None
    return Item(row["qid"], question["question"], tuple(contexts), answer, reference, row["system"])


@contextmanager
def asking(ledger: Path, *, most: int | None, dry_run: bool) -> Iterator[Recording]:
    ledger.parent.mkdir(parents=True, exist_ok=True)
    how = How(limits=Limits(at_first=1, at_once=1, timeout_seconds=600), budget=Budget(calls=most), dry_run=dry_run)
    with (
        Ledger(ledger) as opened,
        recorded(opened, command=["bench"], settings=Loaded(Settings(), {}), how=how) as recording,
    ):
        yield recording


def own_values(judgements: Sequence[Judgement], rubric: str) -> dict[tuple[str, str], float]:
    """What the judge said, by item and system; of answer correctness before the match is mixed in."""
    found = {}
    for row in judgements:
        value = dict(row.parts).get("reading_1")
        if row.rubric == rubric and row.value is not None and value is not None:
            found[row.item_id, row.system] = value
    return found


def beside(judged: dict[Mode, ModelJudged], items: Sequence[Item], *, rubric: str, seed: int) -> dict[str, object]:
    paper, shared = (own_values(judged[mode].judgements, rubric) for mode in MODES)
    keys = [(item.id, item.system) for item in items]
    one, other = [paper.get(key) for key in keys], [shared.get(key) for key in keys]
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    figures: dict[str, object] = {
        "n": len(both),
        "unscored paper": one.count(None),
        "unscored shared": other.count(None),
        "mean paper": round(fmean(a for a, _ in both), 1) if both else None,
        "mean shared": round(fmean(b for _, b in both), 1) if both else None,
        "mean distance": round(fmean(abs(a - b) for a, b in both), 1) if both else None,
        "different values": [len({a for a, _ in both}), len({b for _, b in both})],
    }
    for kind in ("pearson", "spearman", "kendall"):
        found = correlation(one, other, kind=kind, seed=seed)
        figures[kind] = [round(value, 3) for value in (found.value, found.low, found.high)]
    return figures


def outcomes(judged: ModelJudged) -> dict[str, int]:
    return dict(Counter(row.outcome for row in judged.judgements))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--answers", type=int, default=120)
    parser.add_argument("--expected", action="store_true", help="expectations over tokens in place of what was said")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--most-calls", type=int, help="stop before more")
    parser.add_argument("--dry-run", action="store_true")
    arguments = parser.parse_args()
    items = answers(arguments.answers, seed=arguments.seed)
    judged: dict[Mode, ModelJudged] = {}
    with asking(arguments.ledger, most=arguments.most_calls, dry_run=arguments.dry_run) as recording:
        name = arguments.model
        asked = recording.model(name, lambda: model_named(name, profiles={}, environment={}))
        for mode in reversed(MODES):
            plan = JudgePlan(JudgeSettings(mode=mode, expected=arguments.expected, seed=arguments.seed))
            try:
                judged[mode] = judge_by_models(
                    items, models=[asked], recording=recording, plan=plan,
                    progress=lambda done, total, label: print(done, total, label, file=sys.stderr),
                )  # fmt: skip
            except PlanOnly as planned:
                print(f"{mode}: {planned}")
    if len(judged) < len(MODES):
        return
    figures = {
        "data": {"answers": len(items), "systems": dict(Counter(item.system for item in items)), "set": "sys-bioasq"},
        "judges": {mode: judged[mode].judgements[0].judge for mode in MODES},
        "outcomes": {mode: outcomes(judged[mode]) for mode in MODES},
        "rubrics": {each.name: beside(judged, items, rubric=each.name, seed=arguments.seed) for each in CCRS},
        "spread by place, shared": {one.rubric: round(one.spread, 1) for _, all_ in judged["shared"].places
                                    for one in all_},
    }  # fmt: skip
    print(json.dumps(figures, indent=1))
    save_result("ccrs_modes_expected" if arguments.expected else "ccrs_modes", figures, seed=arguments.seed)


if __name__ == "__main__":
    main()
