"""Does the built-in judge agree with people? Rank correlations per rubric and data set, beside trivial baselines.

    python benchmarks/bench_judge.py                             # words only
    python benchmarks/bench_judge.py --embedder local:e5-small   # with meaning
    python benchmarks/bench_judge.py --choose                    # how the constants of the judge were chosen
    python benchmarks/bench_judge.py --model llama:qwen2.5-coder-1.5b --answers 100   # a model beside it, on a sample
    python benchmarks/bench_judge.py --print                     # the tables of docs/method/ccrs.md, from the results

Values that were published with a set (RAGChecker's, those of language models) stand beside ours. Every call of a model
is kept in a ledger in the user's cache: the script can be stopped, and goes on where it was. factscore is not used: the
pages that its facts were checked against are not in the source, so that there is nothing to hold an answer against.

Needs the folder of human-labelled sets: GROUNDWIRE_SHARED, or ``shared`` beside the repository.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from scipy.stats import pearsonr, rankdata

from bench_ccrs_modes import asking
from groundwire.core.language import LanguageModel
from groundwire.core.ports import Embedder
from groundwire.core.types import Item, Judgement
from groundwire.evaluation import measures
from groundwire.evaluation.correlation import correlation
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.model_judge import JudgeSettings
from groundwire.evaluation.rubrics import CHOSEN, Parameters, rubrics_named, score
from groundwire.evaluation.stats import bootstrap_interval
from groundwire.flow.judging import JudgePlan, judge_by_models
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import Recording
from question_sets import CACHE
from record import RESULTS, save_result

ROOT = Path(__file__).resolve().parents[1]
RESAMPLES = 1_000
LEDGER = CACHE.with_name("judge-people.ledger")
CHOSEN_ON = {
    "contextual_coherence": "attribution",
    "question_relevance": "alce",
    "answer_correctness": "evouna",
    "information_recall": "ragchecker, completeness",
}
RUBRICS = tuple(CHOSEN_ON)


@dataclass
class Study:
    """Human labels for one rubric. Several rows of one ``label_of`` (aliases of a right answer) count with the best."""

    name: str
    rubric: str
    items: list[Item] = field(default_factory=list)
    label_of: list[int] = field(default_factory=list)
    labels: list[float] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    paired: bool = False
    published: list[Mapping[str, float | None]] = field(default_factory=list)
    people: list[tuple[float, float] | None] = field(default_factory=list)

    def add(
        self,
        label: float,
        cluster: str,
        items: Sequence[Item],
        *,
        published: Mapping[str, float | None] | None = None,
        people: Sequence[float] = (),
    ) -> None:
        """One label with its item; with its aliases; or, when paired, with its two systems in order.

        ``published`` are values that came with the set; of ``people`` the first two are held against each other.
        """
        self.published.append(published or {})
        self.people.append((people[0], people[1]) if len(people) > 1 else None)
        self.items.extend(items)
        self.label_of.extend([len(self.labels)] * len(items))
        self.labels.append(label)
        self.clusters.append(cluster)

    def fold(self, values: Sequence[float | None]) -> np.ndarray:
        """One value a label: the best alias, or the difference of a pair; nan where one is unscored."""
        rows: dict[int, list[float]] = {}
        for label, value in zip(self.label_of, values, strict=True):
            rows.setdefault(label, []).append(np.nan if value is None else value)
        if self.paired:
            return np.array([second - first for first, second in rows.values()])
        return np.array([np.nan if np.isnan(row).all() else np.nanmax(row) for row in rows.values()])


def rows(shared: Path, name: str) -> Iterator[dict]:
    """The rows of a JSONL file of the data folder."""
    with (shared / "data" / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def item(
    number: int, question: str, answer: str, *, contexts: Sequence[str] = (), reference: str | None = None
) -> Item:
    """An item with a running number for an id."""
    return Item(id=str(number), question=question, contexts=tuple(contexts), answer=answer, reference=reference)


def attribution(shared: Path) -> Iterator[Study]:
    """Is a claim supported by its evidence?"""
    study = Study("attribution", "contextual_coherence")
    for number, row in enumerate(rows(shared, "judge-attribution/claims.jsonl")):
        one = item(number, row["question"], row["claim"], contexts=row["evidence"])
        study.add(float(row["label"] == "attributable"), row["question"], [one])
    yield study


def ares(shared: Path) -> Iterator[Study]:
    """Technical documentation: is the answer faithful, is it relevant?"""
    for rubric, label in (("contextual_coherence", "answer_faithfulness"), ("question_relevance", "answer_relevance")):
        study = Study("ares", rubric)
        for number, row in enumerate(rows(shared, "judge-ares/judgements.jsonl")):
            if row[label] is not None:
                one = item(number, row["question"], row["answer"], contexts=[row["document"]])
                study.add(row[label], row["question"], [one])
        yield study


def mtrag(shared: Path) -> Iterator[Study]:
    """Grounded conversations, 1 to 4; the written reference itself is left out where we compare with it."""
    asked = {
        "contextual_coherence": ("faithfulness", {"rl_f": "RL-F, a model", "Bert-KPrec": "Bert-K-Precision"}),
        "question_relevance": ("appropriateness", {"rb_llm": "RB-LLM, a model"}),
        "information_recall": (
            "completeness",
            {"rb_llm": "RB-LLM, a model", "Bert-Rec": "Bert-Recall", "RougeL": "ROUGE-L"},
        ),
    }
    for rubric, (label, told) in asked.items():
        study = Study(f"mtrag, {label}", rubric)
        for number, row in enumerate(rows(shared, "judge-mtrag/judgements.jsonl")):
            if rubric == "information_recall" and row["model"] == "reference":
                continue
            one = item(
                number,
                row["conversation"][-1]["text"],
                row["answer"],
                contexts=[context["text"] for context in row["contexts"]],
                reference=row["references"][0],
            )
            said = list(row["human"][label].values())
            published = {name: row["automatic"][key] for key, name in told.items()}
            study.add(float(np.mean(said)), row["task_id"], [one], published=published, people=said)
        yield study


def alce(shared: Path) -> Iterator[Study]:
    """How useful is a long answer, 1 to 5?"""
    study = Study("alce", "question_relevance")
    for number, row in enumerate(rows(shared, "judge-alce/utility.jsonl")):
        study.add(row["utility"], row["qid"], [item(number, row["question"], row["answer"])])
    yield study


def evouna(shared: Path) -> Iterator[Study]:
    """Is an answer right? Five systems a question; the joined aliases of the source are tried one by one."""
    study = Study("evouna", "answer_correctness")
    for number, row in enumerate(rows(shared, "judge-evouna/judgements.jsonl")):
        for system, answer in row["answers"].items():
            if answer and not row["improper"] and row["human"][system] is not None:
                golds = [row["gold"], *row["gold"].split("/")] if "/" in row["gold"] else [row["gold"]]
                aliases = [item(number, row["question"], answer, reference=gold) for gold in golds if gold.strip()]
                study.add(float(row["human"][system]), str(number), aliases)
    yield study


def openqa(shared: Path) -> Iterator[Study]:
    """Is a short answer acceptable?"""
    study = Study("openqa", "answer_correctness")
    for number, row in enumerate(rows(shared, "judge-openqa/judgements.jsonl")):
        aliases = [item(number, row["question"], row["answer"], reference=gold) for gold in row["gold_answers"]]
        gpt = None if row["gpt4"] is None else float(row["gpt4"] == "Yes")
        published = {"GPT-4": gpt, "BEM": row["bem_max"]}
        study.add(float(row["human"] == "Yes"), row["question"], aliases, published=published)
    yield study


def ragchecker(shared: Path) -> Iterator[Study]:
    """Which of two answers is better? Mean label of two people, against the difference of the values."""
    asked = {"answer_correctness": ("correctness", "overall"), "information_recall": ("completeness",)}
    for rubric, labels in asked.items():
        for label in labels:
            study = Study(f"ragchecker, {label}", rubric, paired=True)
            for number, row in enumerate(rows(shared, "judge-ragchecker/pairs.jsonl")):
                pair = [
                    item(number, row["question"], row[model]["answer"], reference=row["reference"])
                    for model in ("model1", "model2")
                ]
                said = [human[label] for human in row["human"]]
                first, second = (
                    row["metrics"]["ragchecker"][model][f"{label}_label"] for model in ("model1", "model2")
                )
                gap = None if first is None or second is None else second - first
                study.add(
                    float(np.mean(said)), row["question"], pair, published={"RAGChecker, a model": gap}, people=said
                )
            yield study


def summhay(shared: Path) -> Iterator[Study]:
    """Is one fact covered by a summary: fully (1), partly (0.5), not (0)?"""
    study = Study("summhay", "information_recall")
    worth = {"FULL": 1.0, "PARTIAL": 0.5, "NO": 0.0}
    for row in rows(shared, "judge-summhay/coverage.jsonl"):
        for fact in row["insights"]:
            one = item(row["id"], row["subtopic"], "\n".join(row["lines"]), reference=fact["insight"])
            published = {name.removeprefix("prompted_"): worth.get(said) for name, said in fact["judges"].items()
                         if name.startswith("prompted_")}  # fmt: skip
            study.add(worth[fact["human"]], str(row["id"]), [one], published=published)
    yield study


SOURCES: tuple[Callable[[Path], Iterator[Study]], ...] = (
    attribution,
    ares,
    mtrag,
    alce,
    evouna,
    openqa,
    ragchecker,
    summhay,
)


def sampled(study: Study, limit: int, seed: int) -> Study:
    """At most so many labels, whole clusters drawn at random."""
    if len(study.labels) <= limit:
        return study
    order = np.random.default_rng(seed).permutation(sorted(set(study.clusters)))
    members: dict[str, list[int]] = {}
    for place, cluster in enumerate(study.clusters):
        members.setdefault(cluster, []).append(place)
    rows_of: dict[int, list[Item]] = {}
    for place, one in zip(study.label_of, study.items, strict=True):
        rows_of.setdefault(place, []).append(one)
    smaller = replace(study, items=[], label_of=[], labels=[], clusters=[], published=[], people=[])
    for cluster in order:
        if len(smaller.labels) >= limit:
            break
        for place in members[cluster]:
            smaller.add(
                study.labels[place],
                cluster,
                rows_of[place],
                published=study.published[place],
                people=study.people[place] or (),
            )
    return smaller


def spearman(values: np.ndarray, labels: np.ndarray) -> float:
    """Correlation of ranks; 0 where one side does not vary."""
    if len(values) < 2 or np.ptp(values) == 0 or np.ptp(labels) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values), rankdata(labels))[0, 1])


def intervals(columns: Mapping[str, np.ndarray], labels: np.ndarray, clusters: Sequence[str], seed: int) -> dict:
    """Spearman of each column with its 95 % interval, and that of the judge less each other; clusters are drawn.

    A column is looked at where it has a value (nan: unscored), and so is the judge beside it.
    """
    members: dict[str, list[int]] = {}
    for place, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(place)
    groups = [np.array(places) for places in members.values()]
    rng = np.random.default_rng(seed)
    judged = columns["judge"]
    drawn = {name: np.empty((RESAMPLES, 2)) for name in columns}
    for turn in range(RESAMPLES):
        places = np.concatenate([groups[pick] for pick in rng.integers(0, len(groups), len(groups))])
        for name, values in columns.items():
            drawn[name][turn] = beside(values[places], judged[places], labels[places])
    found = {}
    for name, values in columns.items():
        edges = np.quantile(drawn[name][:, 0], [0.025, 0.975])
        ours, judge = beside(values, judged, labels)
        found[name] = {"spearman": ours, "low": edges[0], "high": edges[1], "n": int((~np.isnan(values)).sum())}
        if name != "judge":
            edges = np.quantile(drawn[name][:, 1] - drawn[name][:, 0], [0.025, 0.975])
            found[name]["judge_there"] = judge
            found[name]["judge_less_this"] = [judge - ours, *edges]
    return found


def beside(values: np.ndarray, judged: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Spearman of a column, and that of the judge on the same rows: those where the column has a value."""
    kept = ~np.isnan(values)
    return spearman(values[kept], labels[kept]), spearman(judged[kept], labels[kept])


def kendalls(columns: Mapping[str, np.ndarray], labels: np.ndarray, clusters: Sequence[str], seed: int) -> dict:
    """Kendall's tau-b of each column with its interval; whole clusters are drawn."""
    found = {}
    for name, values in columns.items():
        one = correlation([None if math.isnan(value) else value for value in values.tolist()], labels.tolist(),
                          kind="kendall", clusters=clusters, seed=seed)  # fmt: skip
        found[name] = [one.value, one.low, one.high]
    return found


def published_values(study: Study) -> dict[str, np.ndarray]:
    """The values that came with the set, one a label; nan where one has none."""
    names = dict.fromkeys(name for row in study.published for name in row)
    return {
        name: np.array([math.nan if value is None else value for value in (row.get(name) for row in study.published)])
        for name in names
    }


def agreement(study: Study, *, seed: int) -> dict | None:
    """How far two people agree with each other, which is about what a judge can reach; None where one labelled."""
    both = [(pair, cluster) for pair, cluster in zip(study.people, study.clusters, strict=True) if pair]
    if not both:
        return None
    clusters = [cluster for _, cluster in both]
    found = correlation([pair[0] for pair, _ in both], [pair[1] for pair, _ in both], clusters=clusters, seed=seed)
    return {"spearman": found.value, "low": found.low, "high": found.high, "n": found.n}


def baseline_values(study: Study) -> dict[str, list[float]]:
    """Length in tokens, and token F1 of the answer with what the rubric compares it with."""
    against: dict[str, Callable[[Item], str]] = {
        "contextual_coherence": lambda one: " ".join(one.contexts),
        "question_relevance": lambda one: one.question,
        "answer_correctness": lambda one: one.reference or "",
        "information_recall": lambda one: one.reference or "",
    }
    other = against[study.rubric]
    return {
        "length": [float(len(measures.answer_tokens(one.answer))) for one in study.items],
        "token F1": [measures.token_f1(one.answer, other(one)) for one in study.items],
    }


def judge_study(study: Study, judge: BuiltinJudge) -> tuple[tuple[Judgement, ...], float]:
    """The judgements of a study and the seconds they took."""
    start = time.perf_counter()
    judged = judge.judge(study.items, rubrics=rubrics_named([study.rubric]))
    return judged, time.perf_counter() - start


def model_values(study: Study, model: LanguageModel, recording: Recording) -> tuple[list[float | None], str]:
    """What a model gives each answer under the study's rubric, and how often it was unscored."""
    items = [replace(one, id=str(place)) for place, one in enumerate(study.items)]
    plan = JudgePlan(JudgeSettings(mode="paper"), rubrics=rubrics_named([study.rubric]))
    judged = judge_by_models(items, models=[model], recording=recording, plan=plan)
    values = {one.item_id: one.value for one in judged.judgements}
    return [values[one.id] for one in items], judged.judgements[0].judge


def compare(
    study: Study, judge: BuiltinJudge, seed: int, *, asked: tuple[LanguageModel, Recording] | None = None
) -> dict:
    """One row of the results."""
    judged, seconds = judge_study(study, judge)
    columns = {"judge": study.fold([judgement.value for judgement in judged])}
    columns |= {name: study.fold(values) for name, values in baseline_values(study).items()}
    columns |= published_values(study)
    by_model = {}
    if asked is not None:
        values, by_model["model"] = model_values(study, *asked)
        columns[asked[0].id] = study.fold(values)
    scored = ~np.isnan(columns["judge"])
    labels = np.array(study.labels)[scored]
    columns = {name: values[scored] for name, values in columns.items()}
    clusters = [cluster for cluster, kept in zip(study.clusters, scored, strict=True) if kept]
    outcomes: dict[str, int] = {}
    for judgement in judged:
        outcomes[judgement.outcome] = outcomes.get(judgement.outcome, 0) + 1
    return {
        "rubric": study.rubric,
        "set": study.name,
        "chosen_here": CHOSEN_ON[study.rubric] == study.name,
        "n": int(scored.sum()),
        "clusters": len(set(clusters)),
        "unscored": int((~scored).sum()),
        "outcomes": outcomes,
        "people": agreement(study, seed=seed),
        "kendall_tau_b": kendalls(columns, labels, clusters, seed),
        "pearson": float(pearsonr(columns["judge"], labels).statistic),
        "correlations": intervals(columns, labels, clusters, seed),
        "seconds": round(seconds, 2),
        "judgements_per_second": round(len(judged) / seconds, 1),
        **by_model,
    }


FILLERS = {
    "stock phrases": "It is worth noting that {q} is an interesting topic. Overall, this matters to everyone.",
    "other words": "Observers follow the debate on {q} with keen attention. Opinions about {q} diverge among them.",
    "said twice": "{a}",
}


def padded(shared: Path, judge: BuiltinJudge) -> list[dict]:
    """How far each value moves, in points and in standard deviations over items, when an answer is padded."""
    plain = []
    for number, row in enumerate(rows(shared, "judge-mtrag/judgements.jsonl")):
        if row["model"] == "gpt-4o":
            contexts = [context["text"] for context in row["contexts"]]
            question = row["conversation"][-1]["text"].rstrip("?.! ")
            plain.append(item(number, question, row["answer"], contexts=contexts, reference=row["references"][0]))
    before = judge.judge(plain)
    found = []
    for filler, pattern in FILLERS.items():
        longer = [
            replace(one, answer=f"{one.answer} {pattern.format(q=one.question.lower(), a=one.answer)}") for one in plain
        ]
        after = judge.judge(longer)
        for rubric in dict.fromkeys(one.rubric for one in before):
            pairs = [
                (old.value, new.value)
                for old, new in zip(before, after, strict=True)
                if old.rubric == rubric and old.value is not None and new.value is not None
            ]
            old, new = np.array(pairs).T
            moved = bootstrap_interval(list(new - old), resamples=RESAMPLES)
            spread = float(old.std())
            found.append({"filler": filler, "rubric": rubric, "n": len(pairs), "sd": spread, "moved": moved.mean,
                          "low": moved.low, "high": moved.high, "moved_in_sd": moved.mean / spread})  # fmt: skip
    return found


def simplex(names: Sequence[str], steps: int) -> Iterator[dict[str, float]]:
    """All weights in steps of 1/steps that add to 1; none is 0, since an item may lack the other parts."""
    for cuts in itertools.combinations(range(1, steps), len(names) - 1):
        edges = (0, *cuts, steps)
        counts = [after - before for before, after in itertools.pairwise(edges)]
        yield {name: count / steps for name, count in zip(names, counts, strict=True)}


def candidates(rubric: str, *, meaning: bool) -> Iterator[tuple[str, Parameters]]:
    """Parameters to try for a rubric; ``meaning`` keeps the weights of words and varies that of meaning."""
    old = CHOSEN.weights[rubric]
    if meaning:
        for weight in (0.05, 0.25, 0.5, 1.0, 2.0, 4.0):
            new = {**old, "meaning": weight}
            yield f"meaning {weight}", replace(CHOSEN, weights={**CHOSEN.weights, rubric: new})
        return
    names = [name for name in old if name != "meaning"]
    gates = (0.0,) if rubric == "question_relevance" else (0.0, 0.25, 0.5, 0.75)
    recalls = (0.5, 0.7, 0.8, 0.9, 1.0) if rubric == "answer_correctness" else (CHOSEN.short_recall,)
    for weights, gate, recall in itertools.product(simplex(names, 10), gates, recalls):
        yield (
            f"{weights} gate {gate} short recall {recall}",
            replace(
                CHOSEN,
                weights={**CHOSEN.weights, rubric: {**weights, "meaning": old["meaning"]}},
                gates={**CHOSEN.gates, rubric: gate},
                short_recall=recall,
            ),
        )


def plainness(parameters: Parameters, rubric: str) -> tuple[float, float]:
    """The tie-break on a flat optimum: the most even weights of words, then the mildest gate."""
    weights = [weight for name, weight in parameters.weights[rubric].items() if name != "meaning"]
    return round(float(np.var(weights)), 9), parameters.gates.get(rubric, 0.0)


def choose(studies: Sequence[Study], judge: BuiltinJudge, *, meaning: bool) -> None:
    """Print, for each rubric, the candidates on its one set that come within 0.005 of the best, the most even first."""
    for study in studies:
        if CHOSEN_ON[study.rubric] != study.name:
            continue
        judged, _ = judge_study(study, judge)
        labels = np.array(study.labels)
        tried = []
        for text, parameters in candidates(study.rubric, meaning=meaning):
            values = study.fold(
                [
                    None if one.value is None else score(study.rubric, dict(one.parts), parameters=parameters)["value"]
                    for one in judged
                ]
            )
            scored = ~np.isnan(values)
            tried.append((spearman(values[scored], labels[scored]), plainness(parameters, study.rubric), text))
        best = max(tried)[0]
        near = sorted((entry for entry in tried if entry[0] > best - 0.005), key=lambda entry: entry[1])
        print(f"\n{study.rubric} on {study.name}: best {best:.4f}, {len(near)} of {len(tried)} within .005")
        for value, _, text in tried if meaning else [max(tried), *near[:5]]:
            print(f"  {value:.4f}  {text}")


HEADS = (
    "rubric",
    "set",
    "n",
    "unscored",
    "words",
    "token F1",
    "length",
    "words − F1",
    "Kendall: words",
    "F1",
    "length",
)


def agreement_table(rows_found: Sequence[dict]) -> list[str]:
    """The judge beside trivial baselines, a line a set; ``*``: its constants were chosen there."""
    lines = [f"| {' | '.join(HEADS)} |", "|---" * len(HEADS) + "|"]
    for row in rows_found:
        found, tau = row["correlations"], row["kendall_tau_b"]
        cells = [
            row["rubric"].replace("_", " "),
            row["set"] + (" *" if row["chosen_here"] else ""),
            f"{row['n']}",
            f"{row['unscored']}",
            *(_interval(found[name]) for name in ("judge", "token F1", "length")),
            "{:+.3f} [{:+.3f}, {:+.3f}]".format(*found["token F1"]["judge_less_this"]),
            "{:.3f} [{:.3f}, {:.3f}]".format(*tau["judge"]),
            *(f"{tau[name][0]:.3f}" for name in ("token F1", "length")),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def embedder_table(rows_found: Sequence[dict]) -> list[str]:
    """The judge with an embedder on the samples that it was measured on."""
    lines = ["| rubric | set | n | unscored | words and e5-small |", "|---|---|---|---|---|"]
    return lines + [
        f"| {row['rubric'].replace('_', ' ')} | {row['set']} | {row['n']} | {row['unscored']} | "
        f"{_interval(row['correlations']['judge'])} |"
        for row in rows_found
        if not row["chosen_here"]
    ]


def published_table(rows_found: Sequence[dict]) -> list[str]:
    """Values that came with the sets, and people with each other, on the rows where there is one."""
    heads = ("rubric", "set", "who", "n", "Spearman", "Kendall", "words there", "words − this")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for row in rows_found:
        place = f"{row['rubric'].replace('_', ' ')} | {row['set']}" + (" *" if row["chosen_here"] else "")
        for name, one in row["correlations"].items():
            if name not in ("judge", "token F1", "length"):
                tau = row["kendall_tau_b"][name][0]
                less = "{:+.3f} [{:+.3f}, {:+.3f}]".format(*one["judge_less_this"])
                cells = (place, name, one["n"], _interval(one), f"{tau:.3f}", f"{one['judge_there']:.3f}", less)
                lines.append(f"| {' | '.join(map(str, cells))} |")
        if row["people"]:
            lines.append(
                f"| {place} | one person with another | {row['people']['n']} | {_interval(row['people'])} | | | |"
            )
    return lines


def _interval(one: Mapping[str, float]) -> str:
    return f"{one['spearman']:.3f} [{one['low']:.3f}, {one['high']:.3f}]"


def padding_table(found: Sequence[dict]) -> list[str]:
    """How far each kind of filler moves the values, in points."""
    names = list(dict.fromkeys(row["rubric"] for row in found))
    lines = [f"| filler behind the answer | {' | '.join(names).replace('_', ' ')} |", "|---" * (len(names) + 1) + "|"]
    for filler in dict.fromkeys(row["filler"] for row in found):
        of = {row["rubric"]: row for row in found if row["filler"] == filler}
        cells = [f"{of[name]['moved']:+.1f} [{of[name]['low']:+.1f}, {of[name]['high']:+.1f}]" for name in names]
        lines.append(f"| {filler} | {' | '.join(cells)} |")
    return lines


def markdown(saved: Mapping[str, object]) -> str:
    """A result file as tables."""
    results: dict = saved["figures"]
    made = f"{saved['date']}, {saved['cpu']}, {saved['cores']} cores; `{saved['command']}`; seed {saved['seed']}"
    told = (
        "Spearman and Kendall's tau-b with people, 95 % bootstrap interval over clusters (questions, conversations or "
        f"summaries), {results['resamples']} draws; "
        "pairs: difference of the values against the label of the difference. `*`: the constants were chosen on this "
        "set, so the row shows fit, not agreement. `words`: the judge (with an embedder, where the title names one). "
        "`words − F1`, `words − this`: difference with its interval, on the same rows."
    )
    pads = (
        "Padding: the answers of one system of mtrag, filler behind them; points by which values move, 95 % interval."
    )
    return "\n".join([
        "# The built-in judge against people", "", f"{made}; judge `{results['judge']}`.", "", told, "",
        *agreement_table(results["rows"]), "", *published_table(results["rows"]), "", pads, "",
        *padding_table(results["padding"]), "",
    ])  # fmt: skip


def loaded(name: str) -> Embedder:
    """An embedder of the registry, which is not needed for words only."""
    from groundwire.flow.registry import embedder

    return embedder(name)


def studied(studies: Sequence[Study], judge: BuiltinJudge, seed: int, *, model: str | None = None) -> list[dict]:
    """A row for each study; with a model, which is asked through a ledger."""
    found = []
    with contextlib.ExitStack() as stack:
        asked = None
        if model is not None:
            recording = stack.enter_context(asking(LEDGER, most=None, dry_run=False))
            asked = recording.model(model, lambda: model_named(model, profiles={}, environment={})), recording
        for study in studies:
            found.append(compare(study, judge, seed, asked=asked))
            print(f"{study.rubric} {study.name}: {found[-1]['correlations']['judge']}", file=sys.stderr)
    return found


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", help="a name of the registry; without it, words only")
    parser.add_argument("--choose", action="store_true", help="search the constants on their sets; writes nothing")
    parser.add_argument("--limit", type=int, default=100_000, help="at most so many labels a set, clusters drawn")
    parser.add_argument("--model", help="a name of the registry, asked about --answers labels a set")
    parser.add_argument("--answers", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print", action="store_true", help="print the tables of the docs from the results")
    asked = parser.parse_args()
    if asked.print:
        found, sample = (json.loads((RESULTS / name).read_text(encoding="utf-8"))
                         for name in ("judge.json", "judge-local-e5-small.json"))  # fmt: skip
        tables = (
            *(table(found["figures"]["rows"]) for table in (agreement_table, published_table)),
            embedder_table(sample["rows"]),
            padding_table(found["figures"]["padding"]),
        )
        print("\n".join(line for lines in tables for line in (*lines, "")))
        return
    shared = Path(os.environ.get("GROUNDWIRE_SHARED", ROOT.parent / "shared"))
    limit = asked.answers if asked.model else asked.limit
    studies = [sampled(study, limit, asked.seed) for source in SOURCES for study in source(shared)]
    studies.sort(key=lambda study: RUBRICS.index(study.rubric))
    judge = BuiltinJudge(loaded(asked.embedder) if asked.embedder else None)
    if asked.choose:
        choose(studies, judge, meaning=asked.embedder is not None)
        return
    results = {
        "judge": judge.fingerprint,
        "resamples": RESAMPLES,
        "rows": studied(studies, judge, asked.seed, model=asked.model),
        "padding": padded(shared, judge),
    }
    name = "-".join(["judge", *(one.replace(":", "-") for one in (asked.embedder, asked.model) if one)])
    path = save_result(name, results, seed=asked.seed)
    path.with_suffix(".md").write_text(markdown(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    main()
