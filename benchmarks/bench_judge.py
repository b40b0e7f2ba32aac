"""Does the built-in judge agree with people? Rank correlations per rubric and data set, beside trivial baselines.

    python benchmarks/bench_judge.py                             # words only
    python benchmarks/bench_judge.py --embedder local:e5-small   # with meaning
    python benchmarks/bench_judge.py --choose                    # how the constants of the judge were chosen

Needs the folder of human-labelled sets: GROUNDWIRE_SHARED, or ``shared`` beside the repository.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np
from scipy.stats import kendalltau, pearsonr, rankdata

from groundwire.core.ports import Embedder
from groundwire.core.types import Item, Judgement
from groundwire.evaluation import measures
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CHOSEN, Parameters, rubrics_named, score
from groundwire.evaluation.stats import bootstrap_interval

ROOT = Path(__file__).resolve().parents[1]
RESAMPLES = 1_000
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

    def add(self, label: float, cluster: str, items: Sequence[Item]) -> None:
        """One label with its item; with its aliases; or, when paired, with its two systems in order."""
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
        "contextual_coherence": "faithfulness",
        "question_relevance": "appropriateness",
        "information_recall": "completeness",
    }
    for rubric, label in asked.items():
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
            study.add(float(np.mean(list(row["human"][label].values()))), row["task_id"], [one])
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
        study.add(float(row["human"] == "Yes"), row["question"], aliases)
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
                study.add(float(np.mean([human[label] for human in row["human"]])), row["question"], pair)
            yield study


def summhay(shared: Path) -> Iterator[Study]:
    """Is one fact covered by a summary: fully (1), partly (0.5), not (0)?"""
    study = Study("summhay", "information_recall")
    worth = {"FULL": 1.0, "PARTIAL": 0.5, "NO": 0.0}
    for row in rows(shared, "judge-summhay/coverage.jsonl"):
        for fact in row["insights"]:
            one = item(row["id"], row["subtopic"], "\n".join(row["lines"]), reference=fact["insight"])
            study.add(worth[fact["human"]], str(row["id"]), [one])
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
    smaller = replace(study, items=[], label_of=[], labels=[], clusters=[])
    for cluster in order:
        if len(smaller.labels) >= limit:
            break
        for place in members[cluster]:
            smaller.add(study.labels[place], cluster, rows_of[place])
    return smaller


def spearman(values: np.ndarray, labels: np.ndarray) -> float:
    """Correlation of ranks; 0 where one side does not vary."""
    if np.ptp(values) == 0 or np.ptp(labels) == 0:
        return 0.0
    return float(np.corrcoef(rankdata(values), rankdata(labels))[0, 1])


def intervals(columns: Mapping[str, np.ndarray], labels: np.ndarray, clusters: Sequence[str], seed: int) -> dict:
    """Spearman of each column with its 95 % interval, and that of the judge less each baseline; clusters are drawn."""
    members: dict[str, list[int]] = {}
    for place, cluster in enumerate(clusters):
        members.setdefault(cluster, []).append(place)
    groups = [np.array(places) for places in members.values()]
    rng = np.random.default_rng(seed)
    drawn = {name: np.empty(RESAMPLES) for name in columns}
    for turn in range(RESAMPLES):
        places = np.concatenate([groups[pick] for pick in rng.integers(0, len(groups), len(groups))])
        for name, values in columns.items():
            drawn[name][turn] = spearman(values[places], labels[places])
    found = {}
    for name, values in columns.items():
        edges = np.quantile(drawn[name], [0.025, 0.975])
        found[name] = {"spearman": spearman(values, labels), "low": edges[0], "high": edges[1]}
        if name != "judge":
            edges = np.quantile(drawn["judge"] - drawn[name], [0.025, 0.975])
            found[name]["judge_less_this"] = [found["judge"]["spearman"] - found[name]["spearman"], *edges]
    return found


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


def compare(study: Study, judge: BuiltinJudge, seed: int) -> dict:
    """One row of the results."""
    judged, seconds = judge_study(study, judge)
    columns = {"judge": study.fold([judgement.value for judgement in judged])}
    columns |= {name: study.fold(values) for name, values in baseline_values(study).items()}
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
        "kendall_tau_b": float(kendalltau(columns["judge"], labels).statistic),
        "pearson": float(pearsonr(columns["judge"], labels).statistic),
        "correlations": intervals(columns, labels, clusters, seed),
        "seconds": round(seconds, 2),
        "judgements_per_second": round(len(judged) / seconds, 1),
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


def markdown(results: dict) -> str:
    """The results as a table."""
    made = f"{results['date']}, {results['cpu']}, {results['versions']}; `{results['command']}`; seed {results['seed']}"
    told = (
        "Spearman with people, 95 % bootstrap interval over clusters (questions, conversations or summaries), "
        f"{RESAMPLES} draws; pairs: difference of the values against the label of the difference. `*`: the constants "
        "were chosen on this set, so the row shows fit, not agreement. `judge − F1`: difference with its interval."
    )
    heads = [
        "rubric",
        "set",
        "n",
        "clusters",
        "unscored",
        "judge",
        "token F1",
        "length",
        "judge − F1",
        "Kendall τb",
        "Pearson",
        "/s",
    ]
    lines = [
        "# The built-in judge against people",
        "",
        f"{made}; judge `{results['judge']}`.",
        "",
        told,
        "",
        f"| {' | '.join(heads)} |",
        "|---" * len(heads) + "|",
    ]
    for row in results["rows"]:
        found = row["correlations"]
        cells = [f"{found[name]['spearman']:.3f}" for name in ("judge", "token F1", "length")]
        cells[0] += f" [{found['judge']['low']:.3f}, {found['judge']['high']:.3f}]"
        gain, low, high = found["token F1"]["judge_less_this"]
        name = row["set"] + (" *" if row["chosen_here"] else "")
        lines.append(
            f"| {row['rubric']} | {name} | {row['n']} | {row['clusters']} | {row['unscored']} | {' | '.join(cells)} | "
            f"{gain:+.3f} [{low:+.3f}, {high:+.3f}] | {row['kendall_tau_b']:.3f} | {row['pearson']:.3f} | "
            f"{row['judgements_per_second']:.0f} |"
        )
    lines += [
        "",
        (
            "Padding: the answers of one system of mtrag, filler behind them; points by which values move, 95 % "
            "interval, and the same in standard deviations over the items."
        ),
        "",
        "| filler | rubric | n | moved | in sd |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {row['filler']} | {row['rubric']} | {row['n']} | {row['moved']:+.1f} "
        f"[{row['low']:+.1f}, {row['high']:+.1f}] | {row['moved_in_sd']:+.2f} |"
        for row in results["padding"]
    ]
    return "\n".join(lines) + "\n"


def loaded(name: str) -> Embedder:
    """An embedder of the registry, which is not needed for words only."""
    from groundwire.flow.registry import embedder

    return embedder(name)


def processor() -> str:
    """The name of this machine's processor with its number of cores."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embedder", help="a name of the registry; without it, words only")
    parser.add_argument("--choose", action="store_true", help="search the constants on their sets; writes nothing")
    parser.add_argument("--limit", type=int, default=100_000, help="at most so many labels a set, clusters drawn")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    shared = Path(os.environ.get("GROUNDWIRE_SHARED", ROOT.parent / "shared"))
    studies = [sampled(study, asked.limit, asked.seed) for source in SOURCES for study in source(shared)]
    studies.sort(key=lambda study: RUBRICS.index(study.rubric))
    judge = BuiltinJudge(loaded(asked.embedder) if asked.embedder else None)
    if asked.choose:
        choose(studies, judge, meaning=asked.embedder is not None)
        return
    rows_found = []
    for study in studies:
        rows_found.append(compare(study, judge, asked.seed))
        print(f"{study.rubric} {study.name}: {rows_found[-1]['correlations']['judge']}", file=sys.stderr)
    results = {
        "date": datetime.now(UTC).date().isoformat(),
        "cpu": processor(),
        "versions": f"Python {platform.python_version()}, groundwire {version('groundwire')}, numpy {np.__version__}",
        "command": " ".join(["python", "benchmarks/bench_judge.py", *sys.argv[1:]]),
        "seed": asked.seed,
        "judge": judge.fingerprint,
        "resamples": RESAMPLES,
        "rows": rows_found,
        "padding": padded(shared, judge),
    }
    name = "judge" if asked.embedder is None else "judge-" + asked.embedder.replace(":", "-")
    out = ROOT / "benchmarks" / "results"
    out.mkdir(exist_ok=True)
    (out / f"{name}.json").write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(markdown(results), encoding="utf-8")


if __name__ == "__main__":
    main()
