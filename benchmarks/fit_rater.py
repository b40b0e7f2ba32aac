"""Fit the curves of the built-in rater (``src/groundwire/writing/calibration.json``) on labelled news topics.

Usage: python benchmarks/fit_rater.py SHARED_DATA [--write] [--embedder local:e5-small] [--pairs FILE]

Data (none of it is in the repository): news-summhay, 5 topics of English stories, 30 subtopics with the stories that
hold their facts; news-ntrex, 123 English stories with Traditional Chinese translations, where the headline is the topic
and the rest of the story the document; news-crud-zh, 5 events in Simplified Chinese.

A topic is searched twice where the data allow it: in an archive that holds it, and in the same archive without the
stories of its subject, so that the curve also sees what the search proposes when there is nothing to find.

The scale is anchored, not learnt: a story that holds the facts of the topic aims at 90, one on the same subject that
does not at 45, any other at 5. Sources in the topic's script and in another have a curve each. Figures are
leave-one-group-out: a group (a summhay topic, a crud event, a tenth of ntrex) is rated by curves fitted without it. The
sample archive of the package is never looked at.
"""

from __future__ import annotations

import argparse
import json
import sys
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from groundwire.core.types import Document, Filter
from groundwire.flow.archives import open_archive
from groundwire.flow.registry import embedder as embedder_named
from groundwire.retrieval.index import Archive
from groundwire.retrieval.search import SearchSettings
from groundwire.writing.score import crosses_scripts, features
from record import save_result

FULL, SAME_SUBJECT, OTHER = 0.9, 0.45, 0.05
SEED = 0


@dataclass(frozen=True)
class Topic:
    group: str
    text: str
    full: frozenset[str]
    subject: frozenset[str]
    without: tuple[str, ...]  # sources that remain when the topic's subject is taken away; empty: not searched that way


@dataclass(frozen=True)
class Row:
    group: str
    search: str
    similarity: float
    coverage: float
    target: float
    across: bool


def rows_of(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def summhay(data: Path) -> tuple[list[Document], list[Topic]]:
    rows = rows_of(data / "news-summhay" / "documents.jsonl")
    documents = [Document(row["doc_id"], row["text"], source=row["topic"]) for row in rows]
    of_topic = {name: frozenset(d.id for d in documents if d.source == name) for name in {d.source for d in documents}}
    topics = [
        Topic(
            group=row["topic"],
            text=f"{row['topic_title'].partition(':')[0]}: {row['subtopic']}",
            full=frozenset(row["relevant_docs"]),
            subject=of_topic[row["topic"]],
            without=tuple(sorted(of_topic.keys() - {row["topic"]})),
        )
        for row in rows_of(data / "news-summhay" / "queries.jsonl")
    ]
    return documents, topics


def ntrex(data: Path, held: str, asked: tuple[str, ...]) -> tuple[list[Document], list[Topic]]:
    rows = rows_of(data / "news-ntrex" / "articles.jsonl")
    documents = [Document(row["doc_id"], "\n\n".join(row["sentences"][held][1:]), source=row["doc_id"]) for row in rows]
    every = tuple(document.id for document in documents)
    topics = [
        Topic(
            group=f"ntrex{zlib.crc32(row['doc_id'].encode()) % 10}",
            text=row["sentences"][language][0],
            full=frozenset([row["doc_id"]]),
            subject=frozenset([row["doc_id"]]),
            without=tuple(name for name in every if name != row["doc_id"]),
        )
        for language in asked
        for row in rows
    ]
    return documents, topics


def crud(data: Path) -> tuple[list[Document], list[Topic]]:
    rows = rows_of(data / "news-crud-zh" / "articles.jsonl")[::2]
    documents = [Document(row["doc_id"], row["raw"], source=row["topic_keyword"] or "other") for row in rows]
    events = sorted({document.source for document in documents} - {"other"})
    topics = []
    for event in events:
        own = frozenset(document.id for document in documents if document.source == event)
        topics.append(Topic(event, event, own, own, tuple(sorted({d.source for d in documents} - {event}))))
    return documents, topics


def collect(archive: Archive, topics: Iterable[Topic]) -> Iterator[Row]:
    for number, topic in enumerate(topics):
        for where in [Filter(), *([Filter(sources=topic.without)] if topic.without else [])]:
            search = f"{archive.name} {number} {'without' if where.sources else 'with'}"
            hits = archive.search(topic.text, k=100, settings=SearchSettings(where=where))
            for source in archive.documents(hits):
                similarity, coverage = features(topic.text, source)
                name = source.document.id
                target = FULL if name in topic.full else SAME_SUBJECT if name in topic.subject else OTHER
                across = crosses_scripts(topic.text, source.document)
                yield Row(topic.group, search, similarity or 0.0, coverage, target, across)


def fit(rows: Sequence[Row], *, with_similarity: bool) -> np.ndarray:
    """Weights (intercept, similarity, coverage) by Newton's method on the cross entropy, groups weighing the same."""
    columns = [[1.0, row.similarity if with_similarity else 0.0, row.coverage] for row in rows]
    x, y = np.array(columns), np.array([row.target for row in rows])
    sizes = {group: sum(row.group == group for row in rows) for group in {row.group for row in rows}}
    share = np.array([1 / sizes[row.group] for row in rows])
    weights = np.zeros(3)
    ridge = np.diag([1e-6, 1e-6, 1e-6])
    for _ in range(100):
        p = 1 / (1 + np.exp(-x @ weights))
        step = np.linalg.solve((x * (share * p * (1 - p))[:, None]).T @ x + ridge, x.T @ (share * (y - p)))
        weights += step
        if abs(step).max() < 1e-9:
            break
    return weights


def with_something_to_find(rows: Sequence[Row]) -> list[Row]:
    """Without groups in which no story is about its topic: a few stray pairs would weigh as much as a whole group."""
    telling = {row.group for row in rows if row.target == FULL}
    return [row for row in rows if row.group in telling]


def rate(rows: Sequence[Row], weights: np.ndarray) -> np.ndarray:
    x = np.array([[1.0, row.similarity, row.coverage] for row in rows])
    return 100 / (1 + np.exp(-x @ weights))


def area(positive: np.ndarray, negative: np.ndarray) -> float:
    """AUC: the chance that a positive is rated above a negative, ties half."""
    order = np.sort(negative)
    below, upto = np.searchsorted(order, positive, "left"), np.searchsorted(order, positive, "right")
    return float((below + upto).mean() / 2 / len(negative))


def held_out(rows: Sequence[Row], *, with_similarity: bool) -> np.ndarray:
    """Each row rated by a curve that was fitted without its group."""
    rated = np.zeros(len(rows))
    for group in {row.group for row in rows}:
        weights = fit([row for row in rows if row.group != group], with_similarity=with_similarity)
        inside = [place for place, row in enumerate(rows) if row.group == group]
        rated[inside] = rate([rows[place] for place in inside], weights)
    return rated


def summary(rows: Sequence[Row], rated: np.ndarray) -> dict[str, object]:
    """Separation and what reaches 20, with bootstrap intervals over groups."""
    target = np.array([row.target for row in rows])
    name = np.array([row.group for row in rows])
    groups = sorted(set(name))
    rng = np.random.default_rng(SEED)

    def figures(taken: np.ndarray) -> tuple[float, float, float, float]:
        values, aims = rated[taken], target[taken]
        full, other = values[aims == FULL], values[aims == OTHER]
        same = values[aims == SAME_SUBJECT]
        kept_same = float((same >= 20).mean()) if len(same) else float("nan")
        return area(full, other), float((full >= 20).mean()), float((other >= 20).mean()), kept_same

    everything = np.arange(len(rows))
    drawn = [
        figures(np.concatenate([everything[name == g] for g in rng.choice(groups, len(groups))])) for _ in range(1000)
    ]
    result: dict[str, object] = {"rows": len(rows), "groups": len(groups), "seed": SEED}
    labels = ("auc_full_against_other", "kept_full", "kept_other", "kept_same_subject")
    for label, value, draws in zip(labels, figures(everything), np.array(drawn).T, strict=True):
        if np.isnan(value):
            continue
        low, high = np.nanquantile(draws, [0.025, 0.975])
        result[label] = {"value": round(value, 4), "low": round(float(low), 4), "high": round(float(high), 4)}
    return result


def refusals(rows: Sequence[Row], rated: np.ndarray, *, every: Sequence[Row]) -> dict[str, object]:
    """How often the best source of a search reaches a rating, with the topic's stories in the archive and without.

    A search counts under the curve that rates most of its pairs.
    """
    best: dict[str, float] = {}
    own, proposed = Counter(row.search for row in rows), Counter(row.search for row in every)
    for row, value in zip(rows, rated, strict=True):
        if 2 * own[row.search] > proposed[row.search]:
            best[row.search] = max(best.get(row.search, 0.0), float(value))
    found: dict[str, object] = {}
    for kind in ("with", "without"):
        values = np.array([value for search, value in best.items() if search.endswith(f" {kind}")])
        found[f"{kind} the topic's stories"] = {
            "searches": len(values),
            **{f"best at least {floor}": round(float((values >= floor).mean()), 3) for floor in (20, 30, 40, 50)},
        }
    return found


def pairs(data: Path, embedder: str) -> list[Row]:
    """Every rated (topic, source) pair of all sets."""
    model = embedder_named(embedder)
    sets = {
        "summhay": summhay(data),
        "ntrex in en": ntrex(data, "en", ("en", "zh-TW")),
        "ntrex in zh-TW": ntrex(data, "zh-TW", ("zh-TW", "en")),
        "crud": crud(data),
    }
    rows: list[Row] = []
    for name, (documents, topics) in sets.items():
        archive = open_archive("memory:", embedder=model)
        archive.name = name
        archive.add(documents)
        found = list(collect(archive, topics))
        print(f"{name}: {len(documents)} documents, {len(topics)} topics, {len(found)} rated pairs", file=sys.stderr)
        rows += found
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("--embedder", default="local:e5-small")
    parser.add_argument("--write", action="store_true", help="write the curves into the package")
    parser.add_argument("--pairs", type=Path, help="keep the pairs in this file, and take them from it when it exists")
    arguments = parser.parse_args()
    if arguments.pairs and arguments.pairs.exists():
        rows = [Row(**row) for row in rows_of(arguments.pairs)]
    else:
        rows = pairs(arguments.data, arguments.embedder)
    if arguments.pairs:
        arguments.pairs.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows), encoding="utf-8")
    curves, figures = [], {}
    for embedder, across in (("", False), (arguments.embedder, False), (arguments.embedder, True)):
        taken = with_something_to_find([row for row in rows if row.across == across or not embedder])
        intercept, similarity, coverage = fit(taken, with_similarity=bool(embedder)).round(3).tolist()
        curve = {
            "embedder": embedder,
            "across": across,
            "sentence_weight": SearchSettings().sentence_weight,
            "intercept": intercept,
            "similarity": similarity,
            "coverage": coverage,
        }
        curves.append(curve)
        rated = held_out(taken, with_similarity=bool(embedder))
        script = "another script" if across else "same script" if embedder else "any script"
        figures[f"{embedder or 'words alone'}, {script}"] = {
            **curve,
            **summary(taken, rated),
            "searches": refusals(taken, rated, every=rows),
        }
    save_result("fit_rater", figures, seed=SEED)
    if arguments.write:
        target = Path(__file__).resolve().parents[1] / "src" / "groundwire" / "writing" / "calibration.json"
        target.write_text(json.dumps({"curves": curves}, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
