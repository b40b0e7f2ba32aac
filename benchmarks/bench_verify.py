"""How well ``verify`` tells supported claims from others, without and with a model, on statements labelled by people.

Run: python benchmarks/bench_verify.py [--shared FOLDER] [--most 400] [--model NAME]... [--claims 100] [--report]

Three sets: WiCE (a sentence of an encyclopedia against the page it cites; supported against partly and not),
AttributionBench (a sentence of an answer against its passages) and SummEdits (a news summary, edited or not). Evidence
is cited as whole documents. Beside it stand two baselines: the share of the claim's words in all of the evidence, and
in its best two sentences. AUC and balanced accuracy with bootstrap intervals at 95 %, drawn by document; a threshold on
a set is the one that was best on the two others. The verdict itself needs no threshold: supported, or not.

With ``--model`` (repeatable; ``llama:qwen2.5-coder-0.5b``) the first ``--claims`` of each draw are put to every model,
one by one, each with the words that the checker would show; all columns are of these claims. ``MODEL alone`` is its
probability of *supported*; ``verify + MODEL`` is what the checker makes of it, which leaves settled claims alone.
Beside them stands the cosine of claim and evidence (e5-small). Calls are kept in a ledger, and a stopped run goes on
where it was; ``results/verify_models.json`` is written after every model, and ``--report`` prints it as a table.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundwire.core.text import content_words
from groundwire.core.types import Article, Citation, Claim, Document, Verdict
from groundwire.flow.ledger import Ledger
from groundwire.flow.pace import Limits
from groundwire.flow.registry import embedder
from groundwire.flow.registry import model as model_named
from groundwire.flow.runs import How, Recording, recorded
from groundwire.flow.settings import Loaded, Settings
from groundwire.writing import model_check
from groundwire.writing.guards import coverage
from groundwire.writing.model_check import CheckSettings, Doubt
from groundwire.writing.verify import Opened, split_document, verify
from question_sets import CACHE, CachedEmbedder
from record import RESULTS, save_result

ROOT = Path(__file__).resolve().parents[1]
SEED, DRAWS = 20240506, 1000
TIERS = {"supported": 2.0, "partly": 1.0, "background": 1.0, "contradicted": 0.0, "not_found": 0.0}
LEDGER = CACHE.with_name("verify.ledger")
ALONE = CheckSettings(batch=1, evidence_tokens=200)
"""One claim a call, with as much evidence as a claim of a batch gets by default."""
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


def table(
    found: dict[str, list[dict[str, float]]],
    sets: dict[str, list[Labelled]],
    *,
    names: Sequence[str] = SCORES,
    verdicts: Sequence[str] = ("is supported",),
) -> list[dict[str, object]]:
    """A row for each set and score, and for each verdict of those named; a value of NaN is unscored, and left out."""
    labels = {name: np.array([item.supported for item in rows]) for name, rows in sets.items()}
    rows: list[dict[str, object]] = []
    for name, items in sets.items():
        clusters = [item.cluster for item in items]
        for score in names:
            values = {key: np.array([row[score] for row in own], dtype=float) for key, own in found.items()}
            read = {key: ~np.isnan(own) for key, own in values.items()}
            others = [key for key in sets if key != name]
            apart = threshold(
                np.concatenate([values[k][read[k]] for k in others]),
                np.concatenate([labels[k][read[k]] for k in others]),
            )
            own = (values[name][read[name]], labels[name][read[name]])
            taken = own[0] >= apart
            where = [cluster for cluster, there in zip(clusters, read[name], strict=True) if there]
            rows.append(
                {"set": name, "score": score, "n": len(where), "unscored": len(items) - len(where),
                 "supported": int(own[1].sum()),
                 "auc": auc(*own), "auc_interval": intervals(where, auc, *own),
                 "threshold": apart, "balanced_accuracy": balanced(taken, own[1]),
                 "interval": intervals(where, balanced, taken, own[1])}
            )  # fmt: skip
        for verdict_name in verdicts:
            strict = np.array([row.get(verdict_name, 0.0) > 0 for row in found[name]])
            rows.append(
                {"set": name, "score": _verdict_row(verdict_name), "n": len(items),
                 "supported": int(labels[name].sum()), "balanced_accuracy": balanced(strict, labels[name]),
                 "interval": intervals(clusters, balanced, strict, labels[name]),
                 "taken": float(strict[labels[name]].mean()), "taken_wrongly": float(strict[~labels[name]].mean())}
            )  # fmt: skip
    return rows


def _verdict_row(name: str) -> str:
    return f"verdict {name}"


# --- with models ------------------------------------------------------------------------------------------------------


@contextmanager
def asking(ledger: Path) -> Iterator[Recording]:
    """A run of this ledger, one call at a time."""
    ledger.parent.mkdir(parents=True, exist_ok=True)
    limits = Limits(at_first=1, at_once=1, timeout_seconds=600)
    with (
        Ledger(ledger) as opened,
        recorded(opened, command=["bench"], settings=Loaded(Settings(), {}), how=How(limits=limits)) as recording,
    ):
        yield recording


def doubts(items: Sequence[Labelled]) -> list[Doubt | None]:
    """Each claim with the sentences that a model is shown, settled or not; None where none is alike."""
    found = []
    for place, item in enumerate(items):
        opened = {document.id: Opened(document, split_document) for document in item.evidence}
        found.append(model_check.doubt(verdict(item), opened, place=place, tokens=ALONE.evidence_tokens))
    return found


def cosines(shown: Sequence[Doubt | None]) -> list[float]:
    """The cosine of each claim and its evidence; NaN where there is no evidence."""
    encoder = CachedEmbedder(embedder("local:e5-small", threads=1))
    there = [one for one in shown if one is not None]
    claims = encoder.embed([one.verdict.claim.text for one in there], role="query")
    texts = encoder.embed([" ".join(e.text for e in one.shown) for one in there], role="passage")
    values = iter(np.sum(claims * texts, axis=1).tolist())
    return [float("nan") if one is None else next(values) for one in shown]


def with_model(
    shown: Sequence[Doubt | None], rows: Sequence[dict[str, float]], *, name: str, recording: Recording
) -> tuple[list[dict[str, float]], dict[str, float]]:
    """What each claim's columns become with a model, and what its calls came to."""
    model = recording.model(name, lambda: model_named(name, profiles={}, environment={}))
    able = recording.capabilities(model)
    there = [one for one in shown if one is not None]
    asked = model_check.batches(there, settings=ALONE, capabilities=able)

    def told(done: int, total: int, label: str) -> None:
        print(done, total, label, file=sys.stderr, flush=True)

    answers = recording.ask([batch.request for batch in asked], model=model, progress=told)
    made = iter(zip(asked, answers, strict=True))
    found, spent = [], {"calls": 0, "seconds": 0.0, "input tokens": 0, "output tokens": 0, "settled": 0, "unread": 0}
    for one, row in zip(shown, rows, strict=True):
        if one is None:
            found.append({f"{name} alone": float("nan"), f"verify + {name}": row["verify"]})
            continue
        batch, answer = next(made)
        (reading,) = model_check.read(batch, answer)
        likely = model_check.probability(answer.reply) if answer.reply else None
        settled = model_check.is_settled(one.verdict)
        judged = one.verdict if settled else model_check.judged(one, reading, model=name)
        joint = row["verify"] if settled or likely is None else TIERS[judged.support] + likely
        found.append(
            {f"{name} alone": float("nan") if likely is None else likely, f"verify + {name}": joint}
            | ({f"is supported by verify + {name}": 1.0} if judged.support == "supported" else {})
            | ({f"is supported by {name} alone": 1.0} if reading.value == "supported" else {})
        )
        spent["settled"] += settled
        spent["unread"] += reading.value is None
        if answer.reply is not None:
            spent["calls"] += 1
            spent["seconds"] = round(spent["seconds"] + answer.seconds, 1)
            spent["input tokens"] += answer.reply.usage.input_tokens
            spent["output tokens"] += answer.reply.usage.output_tokens
    return found, spent


def compare_models(sets: dict[str, list[Labelled]], *, models: Sequence[str], ledger: Path, most: int) -> None:
    """Ask every model about the same claims, and write the results after each."""
    sets = {name: rows[:most] for name, rows in sets.items()}
    found = {name: [scores(item) for item in rows] for name, rows in sets.items()}
    shown = {name: doubts(rows) for name, rows in sets.items()}
    for name, own in shown.items():
        for row, value in zip(found[name], cosines(own), strict=True):
            row["cosine"] = value
    names, verdicts = [*SCORES, "cosine"], ["is supported"]
    spent: dict[str, dict[str, object]] = {}
    for model in models:
        with asking(ledger) as recording:
            for name, own in shown.items():
                more, spent.setdefault(model, {})[name] = with_model(own, found[name], name=model, recording=recording)
                found[name] = [row | new for row, new in zip(found[name], more, strict=True)]
        names += [f"{model} alone", f"verify + {model}"]
        verdicts += [f"is supported by {model} alone", f"is supported by verify + {model}"]
        rows = table(found, sets, names=names, verdicts=verdicts)
        figures = {"claims a set": most, "draws": DRAWS, "spent": spent, "rows": rows}
        save_result("verify_models", figures, seed=SEED)


def report() -> str:
    """The saved figures with models, as a table in Markdown."""
    figures = json.loads((RESULTS / "verify_models.json").read_text(encoding="utf-8"))["figures"]
    lines = ["| set, n (supported) | way | AUC | balanced accuracy | unscored |", "| --- | --- | --- | --- | --- |"]
    for row in figures["rows"]:
        if row["score"] == "length":
            continue
        ranked = _interval(row["auc"], row["auc_interval"]) if "auc" in row else "–"
        cells = (
            f"{row['set']}, {row['n']} ({row['supported']})", row["score"].replace("llama:qwen2.5-coder-", ""), ranked,
            _interval(row["balanced_accuracy"], row["interval"]), str(row.get("unscored", 0)),
        )  # fmt: skip
        lines.append(f"| {' | '.join(cells)} |")
    lines.append("")
    for model, own in figures["spent"].items():
        calls, seconds = (sum(each[what] for each in own.values()) for what in ("calls", "seconds"))
        settled, unread = (sum(each[what] for each in own.values()) for what in ("settled", "unread"))
        lines.append(
            f"{model}: {calls} calls, {seconds / max(1, calls):.1f} seconds each, {unread} unread;"
            f" the gates had settled {settled}."
        )
    return "\n".join(lines)


def _interval(value: float, bounds: Sequence[float]) -> str:
    return f"{value:.3f} [{bounds[0]:.3f}, {bounds[1]:.3f}]"


def main() -> None:
    """Measure, print and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=os.environ.get("GROUNDWIRE_SHARED") or ROOT.parent / "shared")
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--dry", action="store_true", help="print only")
    parser.add_argument("--model", action="append", default=[], help="repeatable; asks models, one claim a call")
    parser.add_argument("--claims", type=int, default=100, help="of each set, for models")
    parser.add_argument("--ledger", type=Path, default=LEDGER)
    parser.add_argument("--report", action="store_true", help="print what was measured with models")
    options = parser.parse_args()
    if options.report:
        print(report())
        return
    sets = load(Path(options.shared), most=options.most)
    if options.model:
        compare_models(sets, models=options.model, ledger=options.ledger, most=options.claims)
        return
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
