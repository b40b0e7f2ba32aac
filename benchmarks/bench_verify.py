"""How well ``verify`` without a model tells supported claims from others, on statements labelled by people.

Run: python benchmarks/bench_verify.py [--shared FOLDER] [--most 400]

Three sets: WiCE (a sentence of an encyclopedia against the page it cites; supported against partly and not),
AttributionBench (a sentence of an answer against its passages) and SummEdits (a news summary, edited or not). Evidence
is cited as whole documents. Beside it stand two baselines: the share of the claim's words in all of the evidence, and
in its best two sentences. AUC and balanced accuracy with bootstrap intervals at 95 %, drawn by document; a threshold on
a set is the one that was best on the two others. The verdict itself needs no threshold: supported, or not.
"""

from __future__ import annotations

import argparse
import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundwire.core.text import content_words
from groundwire.core.types import Article, Citation, Claim, Document, Verdict
from groundwire.writing.guards import coverage
from groundwire.writing.verify import split_document, verify
from record import save_result

ROOT = Path(__file__).resolve().parents[1]
SEED, DRAWS = 20240506, 1000
TIERS = {"supported": 2.0, "partly": 1.0, "background": 1.0, "contradicted": 0.0, "not_found": 0.0}
SCORES = ("verify", "overlap", "overlap of two sentences", "length")


@dataclass(frozen=True)
class Labelled:
    """A claim with its evidence; ``cluster`` is what an interval is drawn by."""

    claim: str
    evidence: tuple[Document, ...]
    supported: bool
    cluster: str


def load(shared: Path, *, most: int) -> dict[str, list[Labelled]]:
    """The sets, each cut to ``most`` claims by a seeded draw."""
    sets = {name: list(reader(shared / "data")) for name, reader in READERS.items()}
    rng = random.Random(SEED)  # noqa: S311 - an experiment, not a secret
    return {name: rng.sample(rows, min(most, len(rows))) for name, rows in sets.items()}


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with path.open(encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


def _wice(data: Path) -> Iterator[Labelled]:
    for row in _rows(data / "judge-wice" / "claims.jsonl"):
        text = "\n".join(row["evidence"])
        document = Document(str(row["id"]), text, language="en")
        yield Labelled(str(row["claim"]), (document,), row["label"] == "supported", str(row["article"]))


def _attribution(data: Path) -> Iterator[Labelled]:
    for row in _rows(data / "judge-attribution" / "claims.jsonl"):
        passages: list[str] = row["evidence"]
        documents = tuple(Document(f"{row['id']}-{n}", text, language="en") for n, text in enumerate(passages))
        yield Labelled(str(row["claim"]), documents, row["label"] == "attributable", str(row["question"]))


def _summedits(data: Path) -> Iterator[Labelled]:
    folder = data / "judge-summedits"
    texts = {str(row["doc_id"]): str(row["text"]) for row in _rows(folder / "documents.jsonl")}
    for row in _rows(folder / "summaries.jsonl"):
        key = str(row["doc_id"])
        yield Labelled(str(row["summary"]), (Document(key, texts[key], language="en"),), row["label"] == 1, key)


READERS = {"WiCE": _wice, "AttributionBench": _attribution, "SummEdits": _summedits}


def verdict(item: Labelled) -> Verdict:
    """The verdict on a claim that cites all of its evidence."""
    documents = {document.id: document for document in item.evidence}
    citations = tuple(Citation(n, key) for n, key in enumerate(documents, start=1))
    return verify(Article("", Claim("c1", item.claim, citations), (), (), ()), documents)[0]


def scores(item: Labelled) -> dict[str, float]:
    """What each way makes of a claim; larger is better supported."""
    found = verdict(item)
    said = frozenset(content_words(item.claim))
    sentences = [
        frozenset(content_words(document.text[span.start : span.end]))
        for document in item.evidence
        for span in split_document(document)
    ]
    best = max(sentences, key=lambda words: coverage(said, words), default=frozenset())
    second = max((coverage(said, best | words) for words in sentences), default=0.0)
    whole = coverage(said, frozenset().union(*sentences))
    wrong = sum(1 for check in found.checks if not check.passed)
    return {
        "verify": TIERS[found.support] + second / (1 + wrong), "overlap": whole,
        "overlap of two sentences": second, "length": -float(len(item.claim)),
    } | {f"is {found.support}": 1.0}  # fmt: skip


def auc(values: np.ndarray, labels: np.ndarray) -> float:
    """Share of pairs in which the supported claim has the larger value, ties half."""
    good, bad = values[labels], values[~labels]
    if not len(good) or not len(bad):
        return float("nan")
    return float(np.mean((good[:, None] > bad[None, :]) + 0.5 * (good[:, None] == bad[None, :])))


def balanced(taken: np.ndarray, labels: np.ndarray) -> float:
    """Mean of the shares of supported claims taken and of others left."""
    if labels.all() or not labels.any():
        return float("nan")
    return float((taken[labels].mean() + (~taken[~labels]).mean()) / 2)


def threshold(values: np.ndarray, labels: np.ndarray) -> float:
    """The value from which on taking claims gives the best balanced accuracy; the lowest such one."""
    options = np.unique(values)
    return float(max(options, key=lambda value: (balanced(values >= value, labels), -value)))


def intervals(clusters: list[str], measure: object, *arrays: np.ndarray) -> tuple[float, float]:
    """A bootstrap interval at 95 %, drawn by cluster; draws without both labels are left out."""
    rng = np.random.default_rng(SEED)
    places: defaultdict[str, list[int]] = defaultdict(list)
    for number, cluster in enumerate(clusters):
        places[cluster].append(number)
    groups = [np.array(own) for own in places.values()]
    drawn = []
    for _ in range(DRAWS):
        chosen = np.concatenate([groups[g] for g in rng.integers(0, len(groups), len(groups))])
        drawn.append(measure(*(array[chosen] for array in arrays)))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def table(found: dict[str, list[dict[str, float]]], sets: dict[str, list[Labelled]]) -> list[dict[str, object]]:
    """A row for each set and score."""
    labels = {name: np.array([item.supported for item in rows]) for name, rows in sets.items()}
    rows: list[dict[str, object]] = []
    for name, items in sets.items():
        clusters = [item.cluster for item in items]
        for score in SCORES:
            values = {key: np.array([row[score] for row in own]) for key, own in found.items()}
            others = [key for key in sets if key != name]
            apart = threshold(np.concatenate([values[k] for k in others]), np.concatenate([labels[k] for k in others]))
            taken = values[name] >= apart
            own = (values[name], labels[name])
            rows.append(
                {"set": name, "score": score, "n": len(items), "supported": int(labels[name].sum()),
                 "auc": auc(*own), "auc_interval": intervals(clusters, auc, *own),
                 "threshold": apart, "balanced_accuracy": balanced(taken, labels[name]),
                 "interval": intervals(clusters, balanced, taken, labels[name])}
            )  # fmt: skip
        strict = np.array(["is supported" in row for row in found[name]])
        rows.append(
            {"set": name, "score": "verdict is supported", "n": len(items), "supported": int(labels[name].sum()),
             "balanced_accuracy": balanced(strict, labels[name]),
             "interval": intervals(clusters, balanced, strict, labels[name]),
             "taken": float(strict[labels[name]].mean()), "taken_wrongly": float(strict[~labels[name]].mean())}
        )  # fmt: skip
    return rows


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=os.environ.get("GROUNDWIRE_SHARED") or ROOT.parent / "shared")
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--dry", action="store_true", help="print only")
    options = parser.parse_args()
    sets = load(Path(options.shared), most=options.most)
    found = {name: [scores(item) for item in rows] for name, rows in sets.items()}
    rows = table(found, sets)
    for row in rows:
        low, high = row["interval"]
        ranked = f"  AUC {row['auc']:.3f} {row['auc_interval']}" if "auc" in row else ""
        named = f"{row['set']:18}{row['score']:26} n {row['n']}"
        print(f"{named}  balanced {row['balanced_accuracy']:.3f} [{low:.3f}, {high:.3f}]{ranked}")
    if not options.dry:
        save_result("verify", {"most": options.most, "draws": DRAWS, "rows": rows}, seed=SEED)


if __name__ == "__main__":
    main()
