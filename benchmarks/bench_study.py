"""The study of CCRS on data at hand: how do its rubrics, judged without a model, lie, correlate and tell systems apart?

Usage: python benchmarks/bench_study.py [--questions 10000] [--only sys-bioasq] [--print]

Answers of several systems to the same questions: sys-bioasq (4 systems), sys-squad (5), sys-nqopen (10), news-summhay
(the systems that have a value on every question). Rubrics stand beside exact match, token F1, ROUGE-L, claim-level
measures and the mere length; all on the same questions: those on which every system has a value under every measure.
Values run from 0 to 100, but for the length in tokens. --print writes the tables of docs/method/ccrs.md.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean

import numpy as np

from groundwire.core.types import Item, Judgement
from groundwire.evaluation import measures
from groundwire.evaluation.claim_measures import table_without_model
from groundwire.evaluation.claim_measures import values as claim_values
from groundwire.evaluation.correlation import correlation, correlation_matrix
from groundwire.evaluation.discrimination import discriminative_power, doubled_sizes, power_curve
from groundwire.evaluation.distributions import describe, tie_rates
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CCRS, rubrics_named
from groundwire.evaluation.stats import bootstrap_interval
from question_sets import rows
from record import RESULTS, save_result

QUESTIONS = 10_000
CORRELATED = 400
RESAMPLES = 2_000
TOLERANCE = 5.0
OF_REFERENCE = ("answer_correctness", "information_recall")
PAPER = "answer_correctness, paper's formula"
CLAIMS = {name: f"claim {name.replace('f1', 'F1')}" for name in ("precision", "recall", "f1", "faithfulness")}
LENGTH = "length in tokens"
MEANT = {
    "answer_correctness": "right",
    PAPER: "right",
    "exact match": "right",
    "token F1": "right",
    "claim precision": "right",
    "claim F1": "right",
    "information_recall": "complete",
    "ROUGE-L recall": "complete",
    "claim recall": "complete",
    "facts covered (GPT-4o)": "complete",
    "contextual_coherence": "grounded",
    "claim faithfulness": "grounded",
}
"""What each measure is meant to measure: two of one kind should go together. The others stand alone."""
PAIRS = (
    ("answer_correctness", "information_recall"),
    ("answer_correctness", "token F1"),
    ("answer_correctness", "claim F1"),
    ("information_recall", "claim recall"),
    ("information_recall", "facts covered (GPT-4o)"),
    ("contextual_coherence", "claim faithfulness"),
    ("contextual_coherence", "answer_correctness"),
    ("question_relevance", "answer_correctness"),
    ("information_density", "answer_correctness"),
    ("information_density", LENGTH),
    ("information_recall", LENGTH),
)
"""The correlations that are printed; the others stand in the results."""
_MARK = re.compile(r"\[\d+(?:\s*[,;]\s*\d+)*\]")

Key = tuple[str, str]
Values = dict[str, float | None]


@dataclass(frozen=True)
class Answers:
    """Several systems on the same questions.

    Attributes:
        items: question and system -> the answer beside each reference that is right; the first is the main one.
        cluster: question -> what it belongs to: itself, or its article.
        absent: rubrics that cannot be judged here, and why.
        published: question and system -> values that came with the set.
        yardstick: the measure that others are held against.
    """

    name: str
    items: Mapping[Key, tuple[Item, ...]]
    yardstick: str
    told: str
    cluster: Mapping[str, str] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    published: Mapping[Key, Values] = field(default_factory=dict)


def bioasq(limit: int, seed: int) -> Answers:
    """The questions of batches 3 and 4: five systems that searched, three that were given evidence; without copies."""
    questions = {row["qid"]: row for row in rows("qa-bioasq", "questions.jsonl")}
    snippets = {row["pid"]: row["text"] for row in rows("qa-bioasq", "snippets.jsonl")}
    items: dict[Key, tuple[Item, ...]] = {}
    given = {"mibi_rag_3", "mibi_rag_4", "mibi_rag_5"}
    for row in rows("sys-bioasq", "answers.jsonl"):
        question, searched = questions[row["qid"]], row["phase"] == "A+"
        if row["batch"] < 3 or not (searched or row["system"] in given) or not question["ideal_answers"]:
            continue
        found = [one["text"] for one in row["snippets"] or ()] if searched else map(snippets.get, question["gold_pids"])
        system = f"{row['phase']} {row['system']}"
        contexts = tuple(text for text in found if text)
        answer, reference = row["ideal_answer"] or "", question["ideal_answers"][0]
        items[row["qid"], system] = (Item(row["qid"], question["question"], contexts, answer, reference, system),)
    told = (
        "contexts: in A+ the snippets that a system found, in B those that the task gives (a system may have read the "
        "abstracts behind them); reference: the experts' first ideal answer"
    )
    kept, copies = without_copies(items)
    told += "".join(f"; {system} is left out, since {of}" for system, of in copies.items())
    return Answers("sys-bioasq", drawn(kept, limit, seed), "token F1", told)


def squad(limit: int, seed: int) -> Answers:
    """Five extractive systems with the paragraph that they read; each distinct gold span is a right answer."""
    questions = {row["qid"]: row for row in rows("qa-squad", "questions.jsonl")}
    passages = {row["pid"]: row["text"] for row in rows("qa-squad", "passages.jsonl")}
    items: dict[Key, tuple[Item, ...]] = {}
    cluster = {}
    for row in rows("sys-squad", "predictions_v1.jsonl"):
        question = questions[row["qid"]]
        page = question["gold"][0]["pid"]
        cluster[row["qid"]] = page.rpartition(":")[0]
        for system, answer in row["predictions"].items():
            items[row["qid"], system] = _beside(
                Item(row["qid"], question["question"], (passages[page],), answer or "", None, system),
                question["answers"],
            )
    told = "contexts: the paragraph that all systems read; reference: the best of the gold spans"
    return Answers("sys-squad", drawn(items, limit, seed), "exact match", told, cluster)


def nqopen(limit: int, seed: int) -> Answers:
    """Ten systems whose passages are not in the source, with the aliases of the right answer."""
    items = {
        (row["qid"], system): _beside(Item(row["qid"], row["question"], (), answer or "", None, system), row["answers"])
        for row in rows("sys-nqopen", "predictions.jsonl")
        for system, answer in row["predictions"].items()
    }
    absent = {"contextual_coherence": "the source holds no contexts"}
    told = "no contexts; reference: the best of the gold aliases"
    return Answers("sys-nqopen", drawn(items, limit, seed), "exact match", told, absent=absent)


def summhay(limit: int, seed: int) -> Answers:
    """Bullet points from 100 articles; contexts are the articles that a system cites, the reference its facts."""
    queries = {row["qid"]: row for row in rows("news-summhay", "queries.jsonl")}
    texts = {(row["topic"], row["idx"]): row["text"] for row in rows("news-summhay", "documents.jsonl")}
    worth = {"FULL_COVERAGE": 100.0, "PARTIAL_COVERAGE": 50.0, "NO_COVERAGE": 0.0}
    items: dict[Key, tuple[Item, ...]] = {}
    published: dict[Key, Values] = {}
    for row in rows("news-summhay", "summaries.jsonl"):
        query, said = queries[row["qid"]], "\n".join(row["lines"])
        numbers = re.findall(r"\d+", " ".join(_MARK.findall(said)))
        cited = dict.fromkeys((row["topic"], int(number)) for number in numbers)
        contexts = tuple(texts[place] for place in cited if place in texts)
        reference = "\n".join(one["insight"] for one in query["insights"])
        key = row["qid"], row["system"]
        items[key] = (Item(row["qid"], query["query"], contexts, _MARK.sub("", said), reference, row["system"]),)
        published[key] = {"facts covered (GPT-4o)": fmean(worth[one["coverage"]] for one in row["coverage"])}
    told = "contexts: the articles that an answer cites; reference: the facts that it should hold"
    kept = drawn(items, limit, seed)
    return Answers("news-summhay", kept, "facts covered (GPT-4o)", told, published=published)


SETS: Mapping[str, Callable[[int, int], Answers]] = {
    "sys-bioasq": bioasq,
    "sys-squad": squad,
    "sys-nqopen": nqopen,
    "news-summhay": summhay,
}


def without_copies(
    items: Mapping[Key, tuple[Item, ...]], *, most: float = 0.5
) -> tuple[dict[Key, tuple[Item, ...]], dict[str, str]]:
    """Leave out systems that repeat one before them, word for word, on more than this share of the questions."""
    said: dict[str, dict[str, str]] = {}
    for (question, system), aliases in items.items():
        said.setdefault(system, {})[question] = aliases[0].answer
    kept: list[str] = []
    copies: dict[str, str] = {}
    for system in sorted(said):
        same = {other: sum(said[other].get(question) == answer for question, answer in said[system].items())
                for other in kept}  # fmt: skip
        like = max(same, key=lambda other: same[other], default="")
        if like and same[like] > most * len(said[system]):
            copies[system] = f"{same[like]} of its {len(said[system])} answers are those of {like}"
        else:
            kept.append(system)
    return {key: aliases for key, aliases in items.items() if key[1] in kept}, copies


RECASED = ("R2D2", "DPR")
"""Systems of sys-nqopen: one that writes names with capitals and one that writes all in lower case."""


def recased(answers: Answers, judge: BuiltinJudge, systems: Sequence[str] = RECASED) -> dict[str, dict[str, float]]:
    """Mean question relevance of the answers as they are, in lower case and with every word in capitals."""
    relevance = rubrics_named(["question_relevance"])
    found: dict[str, dict[str, float]] = {}
    for system in systems:
        items = [aliases[0] for (_, name), aliases in answers.items.items() if name == system]
        for how, change in (("as written", str), ("lower case", str.lower), ("capitals", str.title)):
            judged = judge.judge([replace(one, answer=change(one.answer)) for one in items], rubrics=relevance)
            values = [one.value for one in judged if one.value is not None]
            found.setdefault(system, {})[how] = round(fmean(values), 3)
            found[system]["n"] = len(values)
    return found


def recased_table(found: Mapping[str, Mapping[str, float]]) -> list[str]:
    """What capitals are worth to question relevance."""
    lines = ["| system | n | as written | lower case | capitals |", "|---|---|---|---|---|"]
    return lines + [
        f"| {system} | {of['n']} | {of['as written']:.1f} | {of['lower case']:.1f} | {of['capitals']:.1f} |"
        for system, of in found.items()
    ]


def _beside(item: Item, references: Iterable[str]) -> tuple[Item, ...]:
    return tuple(replace(item, reference=one) for one in dict.fromkeys(references) if one.strip())


def drawn(items: Mapping[Key, tuple[Item, ...]], limit: int, seed: int) -> dict[Key, tuple[Item, ...]]:
    """The answers to at most so many questions, drawn by seed."""
    names = sorted({question for question, _ in items})
    kept = {names[place] for place in np.random.default_rng(seed).permutation(len(names))[:limit]}
    return {key: aliases for key, aliases in items.items() if key[0] in kept}


def lexical(item: Item) -> Values:
    """Measures of words, 0 to 100, and the length."""
    reference = item.reference or ""
    return {
        "exact match": 100 * measures.normalised_match(item.answer, reference),
        "token F1": 100 * measures.token_f1(item.answer, reference),
        "ROUGE-L recall": 100 * measures.rouge_l_recall(item.answer, reference),
        LENGTH: float(len(measures.answer_tokens(item.answer))),
    }


def claim_level(item: Item, *, contexts: bool) -> Values:
    """Claim-level measures without a model, 0 to 100."""
    found = claim_values(table_without_model(item if contexts else replace(item, contexts=())))
    names = [name for name in CLAIMS if contexts or name != "faithfulness"]
    return {CLAIMS[name]: None if (value := found[name]) is None else 100 * value for name in names}


def by_rubric(judged: Iterable[Judgement]) -> Values:
    """The values of one item's judgements, and what the paper's formula would make of its correctness."""
    found: Values = {}
    for one in judged:
        found[one.rubric] = one.value
        if one.rubric == "answer_correctness":
            found[PAPER] = None if one.value is None else dict(one.parts)["paper_value"]
    return found


def measured(answers: Answers, judge: BuiltinJudge, *, claims_in_contexts: bool = True) -> dict[Key, Values]:
    """Every measure of every answer; of several right references the best counts. The same answer is judged once."""
    main = [name for name in (rubric.name for rubric in CCRS) if name not in answers.absent]
    known: dict[Item, Values] = {}
    for place, names in enumerate((main, [name for name in OF_REFERENCE if name in main])):
        texts = {replace(one, id="", system="") for aliases in answers.items.values()
                 for one in (aliases[1:] if place else aliases[:1])} - set(known)  # fmt: skip
        asked = sorted(texts, key=lambda one: (one.question, one.answer, one.reference or ""))
        judged = judge.judge([replace(one, id=str(at)) for at, one in enumerate(asked)], rubrics=rubrics_named(names))
        for at, one in enumerate(asked):
            seen = claims_in_contexts and not place and "contextual_coherence" in main
            known[one] = (
                by_rubric(judged[at * len(names) : (at + 1) * len(names)])
                | lexical(one)
                | claim_level(one, contexts=seen)
            )
    return {
        key: _best([known[replace(one, id="", system="")] for one in aliases]) | dict(answers.published.get(key, {}))
        for key, aliases in answers.items.items()
    }


def _best(found: Sequence[Values]) -> Values:
    """The best value of each measure over the references; what does not look at them is that of the first."""
    best = dict(found[0])
    for values in found[1:]:
        for name, value in values.items():
            before = best[name]
            if value is not None and (before is None or value > before):
                best[name] = value
    return best


@dataclass(frozen=True)
class Table:
    """Values of all measures on the questions that all systems share: name -> shape (questions, systems)."""

    questions: tuple[str, ...]
    systems: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    asked: int
    unscored: Mapping[str, int]
    left_out: Mapping[str, int]


def shared_table(found: Mapping[Key, Values], *, most_missing: float) -> Table:
    """Leave out systems that lack a value on more than this share of the questions, then questions that lack one."""
    names = list(next(iter(found.values())))
    questions = sorted({question for question, _ in found})
    lacking: dict[str, set[str]] = {system: set() for _, system in found}
    for system, gaps in lacking.items():
        gaps.update(one for one in questions if None in found.get((one, system), {"": None}).values())
    systems = sorted(system for system, gaps in lacking.items() if len(gaps) <= most_missing * len(questions))
    kept = [one for one in questions if not any(one in lacking[system] for system in systems)]
    values = {
        name: np.array([[float(found[one, system][name] or 0.0) for system in systems] for one in kept])
        for name in names
    }
    return Table(
        tuple(kept),
        tuple(systems),
        values,
        len(questions),
        {name: sum(each[name] is None for each in found.values()) for name in names},
        {system: len(gaps) for system, gaps in lacking.items() if system not in systems},
    )


def studied(answers: Answers, table: Table, *, seed: int) -> dict[str, object]:
    """Everything that is said about a set."""
    clusters = [answers.cluster.get(one, one) for one in table.questions]
    return {
        "told": answers.told,
        "absent": dict(answers.absent),
        "yardstick": answers.yardstick,
        "asked": table.asked,
        "questions": len(table.questions),
        "clusters": len(set(clusters)),
        "systems": list(table.systems),
        "left_out": dict(table.left_out),
        "unscored": dict(table.unscored),
        "measures": {name: one_measure(values, table.systems, clusters, seed=seed)
                     for name, values in table.values.items()},
        "correlations": correlations(table, clusters, seed=seed),
        "order": orders(table, answers.yardstick, seed=seed),
    }  # fmt: skip


def one_measure(values: np.ndarray, systems: Sequence[str], clusters: Sequence[str], *, seed: int) -> dict[str, object]:
    """Means, distribution, ties and discriminative power of one measure."""
    highest = max(100.0, float(values.max()))
    lies = describe(np.minimum(values, highest).ravel().tolist(), highest=highest)
    test = discriminative_power(values, seed=seed)
    curve = power_curve(values, sizes=sizes(len(values)), seed=seed)
    means = [bootstrap_interval(column.tolist(), clusters=clusters, resamples=RESAMPLES, seed=seed)
             for column in values.T]  # fmt: skip
    return {
        "means": {name: _rounded(one.mean, one.low, one.high) for name, one in zip(systems, means, strict=True)},
        "mean": _rounded(lies.mean)[0],
        "deviation": _rounded(lies.deviation)[0],
        "quantiles": {str(share): round(value, 2) for share, value in lies.quantiles},
        "at_lowest": round(lies.at_lowest, 4),
        "at_highest": round(lies.at_highest, 4),
        "distinct": lies.distinct,
        "ties": round(tie_rates(values).rate, 4),
        "ties_within_5": round(tie_rates(values, tolerance=TOLERANCE).rate, 4),
        "power": round(test.power, 4),
        "told_apart": test.told_apart,
        "pairs": test.pairs,
        "threshold": _rounded(test.test.threshold)[0],
        "curve": [[one.items, *_rounded(one.power, one.low, one.high)] for one in curve],
    }


def sizes(items: int) -> tuple[int, ...]:
    """Numbers of items of the curve; of fewer than 50 questions 5, 10, 20 and all."""
    return doubled_sizes(items) if items >= 50 else (*(size for size in (5, 10, 20) if size < items), items)


def correlations(table: Table, clusters: Sequence[str], *, seed: int) -> dict[str, object]:
    """Spearman's of all pairs of measures over single answers, of up to 400 questions; whole clusters are drawn."""
    count = len(table.questions)
    places = np.sort(np.random.default_rng(seed).permutation(count)[:CORRELATED])
    groups = [clusters[place] for place in places for _ in table.systems]
    columns = {name: values[places].ravel().tolist() for name, values in table.values.items() if np.ptp(values[places])}
    meant = {name: kind for name, kind in MEANT.items() if name in columns}
    found = correlation_matrix(columns, groups=meant, clusters=groups, seed=seed)
    right, complete = (columns.get(name) for name in OF_REFERENCE)
    straight = None
    if right is not None and complete is not None:
        straight = correlation(right, complete, kind="pearson", clusters=groups, seed=seed)
    return {
        "answers": len(groups),
        "constant": sorted(set(table.values) - set(columns)),
        "convergent": round(found.convergent, 3),
        "discriminant": round(found.discriminant, 3),
        "names": list(found.names),
        "values": found.values.round(3).tolist(),
        "low": found.low.round(3).tolist(),
        "high": found.high.round(3).tolist(),
        "correctness with recall, Pearson": None if straight is None else _rounded(
            straight.value, straight.low, straight.high),
    }  # fmt: skip


def orders(table: Table, yardstick: str, *, seed: int) -> dict[str, list[float]]:
    """Kendall's tau-b of the systems' order under a measure with that under the yardstick; systems are drawn."""
    means = {name: values.mean(axis=0).round(9).tolist() for name, values in table.values.items()}
    found = {name: correlation(means[yardstick], of, kind="kendall", seed=seed) for name, of in means.items()}
    return {name: _rounded(one.value, one.low, one.high) for name, one in found.items() if not math.isnan(one.value)}


def _rounded(*values: float) -> list[float]:
    return [round(value, 3) for value in values]


def printed(found: Mapping[str, dict], name: str) -> list[str]:
    """The tables of one set for the docs."""
    one = found[name]
    many = max(len(of["curve"]) for of in one["measures"].values())
    points = [point[0] for of in one["measures"].values() if len(of["curve"]) == many for point in of["curve"]][:many]
    heads = ["measure", "mean (systems from, to)", "at 0", "at the top", "tied", "within 5", "told apart", "least told",
             f"order as {one['yardstick']}", *(f"{size}" for size in points[:-1])]  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for measure, of in one["measures"].items():
        means = [mean for mean, *_ in of["means"].values()]
        order = one["order"].get(measure)
        cells = [
            measure.replace("_", " "),
            f"{of['mean']:.1f} ({min(means):.1f}, {max(means):.1f})",
            f"{100 * of['at_lowest']:.0f} %",
            "" if measure == LENGTH else f"{100 * of['at_highest']:.0f} %",
            f"{100 * of['ties']:.0f} %",
            f"{100 * of['ties_within_5']:.0f} %",
            f"{of['told_apart']} of {of['pairs']}",
            f"{of['threshold']:.1f}" if of["told_apart"] else "–",
            "–" if order is None else "{:.2f} [{:.2f}, {:.2f}]".format(*order),
            *(f"{power:.2f}" for _, power, *_ in of["curve"][:-1]),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def system_table(one: Mapping[str, dict], names: Sequence[str]) -> list[str]:
    """Means of each system with their intervals."""
    kept = [name for name in names if name in one["measures"]]
    lines = [f"| system | {' | '.join(kept).replace('_', ' ')} |", "|---" * (len(kept) + 1) + "|"]
    for system in one["systems"]:
        cells = ["{:.1f} [{:.1f}, {:.1f}]".format(*one["measures"][name]["means"][system]) for name in kept]
        lines.append(f"| {system} | {' | '.join(cells)} |")
    return lines


def correlation_table(found: Mapping[str, dict]) -> list[str]:
    """Selected correlations, a column a set."""
    lines = [f"| pair, Spearman | {' | '.join(found)} |", "|---" * (len(found) + 1) + "|"]
    for first, second in PAIRS:
        cells = []
        for one in found.values():
            all_, names = one["correlations"], one["correlations"]["names"]
            if first in names and second in names:
                row, column = names.index(first), names.index(second)
                edges = (all_[key][row][column] for key in ("values", "low", "high"))
                cells.append("{:.2f} [{:.2f}, {:.2f}]".format(*edges))
            else:
                cells.append("")
        pair = f"{first} – {second}".replace("_", " ")
        lines.append(f"| {pair} | {' | '.join(cells)} |")
    for key in ("correctness with recall, Pearson", "convergent", "discriminant"):
        got = [one["correlations"][key] for one in found.values()]
        cells = ["{:.2f} [{:.2f}, {:.2f}]".format(*of) if isinstance(of, list) else f"{of:.2f}" for of in got]
        lines.append(f"| {key} | {' | '.join(cells)} |")
    return lines


def report(found: Mapping[str, dict]) -> str:
    """All tables of the docs."""
    parts = []
    for name, one in found.items():
        left = len(one["left_out"])
        unscored = counted(one["unscored"])
        parts += [
            f"**{name}**: {len(one['systems'])} systems, {one['questions']} of {one['asked']} questions; "
            f"{one['told']}. "
            f"Unscored answers: {unscored}."
            + "".join(f" Not judged: {rubric.replace('_', ' ')}, for {why}." for rubric, why in one["absent"].items())
            + (f" {left} systems more are left out, since they lack a value on some question." if left else ""),
            "",
            *printed(found, name),
            "",
        ]
    if "sys-bioasq" in found:
        parts += [*system_table(found["sys-bioasq"], [*(rubric.name for rubric in CCRS), "token F1"]), ""]
    return "\n".join([*parts, *correlation_table(found)])


def counted(unscored: Mapping[str, int]) -> str:
    """How many answers are unscored; measures with the same count stand together."""
    by_count: dict[int, list[str]] = {}
    for measure, count in unscored.items():
        by_count.setdefault(count, []).append(measure.replace("_", " "))
    told = [f"{count} ({len(names)} measures)" if len(names) > 3 else f"{count} ({', '.join(names)})"
            for count, names in by_count.items() if count]  # fmt: skip
    return "; ".join(told) or "none"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="at most so many a set, drawn by seed")
    parser.add_argument("--only", choices=list(SETS), action="append", help="these sets; the others stay as they were")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--print", action="store_true", help="print the tables of the docs from the results")
    asked = parser.parse_args()
    path = RESULTS / "study.json"
    before = json.loads(path.read_text(encoding="utf-8"))["figures"] if path.exists() else {}
    if asked.print:
        print("\n".join([report(before["sets"]), "", *recased_table(before["recased"])]))
        return
    judge = BuiltinJudge()
    sets = dict(before.get("sets", {})) if before.get("judge") == judge.fingerprint else {}
    capitals = recased(nqopen(asked.questions, asked.seed), judge)
    for name in asked.only or SETS:
        answers = SETS[name](asked.questions, asked.seed)
        print(f"{name}: {len(answers.items)} answers", file=sys.stderr)
        found = measured(answers, judge, claims_in_contexts=name != "news-summhay")
        table = shared_table(found, most_missing=0.0 if name == "news-summhay" else 0.5)
        print(f"{name}: {len(table.questions)} questions, {len(table.systems)} systems", file=sys.stderr)
        sets[name] = studied(answers, table, seed=asked.seed)
        ordered = {known: sets[known] for known in SETS if known in sets}
        save_result("study", {"judge": judge.fingerprint, "sets": ordered, "recased": capitals}, seed=asked.seed)


if __name__ == "__main__":
    main()
