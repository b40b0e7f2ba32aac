"""What folding Chinese words is worth, and which folding: BM25 alone, in the store that archives are kept in.

    python benchmarks/bench_folding.py

Across scripts: each sentence of NTREX-128 in one Chinese script asks for the same sentence in the other (R@1 over all
1,997). In one script: the questions of DRCD ask for a sentence that holds their answer (R@5). Differences are paired by
question, intervals drawn by document. CPU seconds are those of folding every sentence once.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

from groundwire.backends.lance_store import LanceStore
from groundwire.core.folding import FOLDINGS, Folding, folder
from groundwire.core.types import Document, Filter, Match, Passage, Sentence
from groundwire.evaluation.stats import bootstrap_interval, paired_difference
from groundwire.retrieval.corpus import split_document
from question_sets import load, rows
from record import save_result

SEED = 0
NAMES = {folding: folding or "none" for folding in FOLDINGS}
ACROSS = (("zh-TW", "zh-CN"), ("zh-CN", "zh-TW"))


@dataclass(frozen=True)
class Asked:
    """Sentences to search, and queries with the ids of the sentences that are wanted and their document."""

    documents: tuple[Document, ...]
    sentences: tuple[Sentence, ...]
    queries: tuple[tuple[str, frozenset[str], str], ...]
    k: int


def across(asking: str, answering: str) -> Asked:
    """The sentences of NTREX in one script, asked for in the other."""
    documents, sentences, queries = [], [], []
    for row in rows("news-ntrex", "articles.jsonl"):
        name, start = row["doc_id"], 0
        own = row["sentences"][answering]
        documents.append(Document(name, "\n".join(own)))
        for number, (query, text) in enumerate(zip(row["sentences"][asking], own, strict=True)):
            sentences.append(Sentence(f"{name}:{number:04}", name, number, start, start + len(text), text))
            queries.append((query, frozenset([sentences[-1].id]), name))
            start += len(text) + 1
    return Asked(tuple(documents), tuple(sentences), tuple(queries), k=1)


def questions(name: str) -> Asked:
    """The questions of a set, each for the sentences that its gold place touches."""
    found = load(name)
    passages: list[Passage] = [passage for document in found.documents for passage in split_document(document)]
    sentences = [sentence for passage in passages for sentence in passage.sentences]
    of_document: dict[str, list[Sentence]] = {}
    for sentence in sentences:
        of_document.setdefault(sentence.document_id, []).append(sentence)
    queries = []
    for question in found.questions:
        (gold,) = question.gold
        held = of_document[gold.document_id]
        wanted = frozenset(one.id for one in held if one.start < (gold.end or 0) and (gold.start or 0) < one.end)
        queries.append((question.text, wanted, question.cluster))
    return Asked(found.documents, tuple(sentences), tuple(queries), k=5)


def recall(asked: Asked, folding: Folding) -> list[float]:
    """1 or 0 a query: whether a wanted sentence is among the k best."""
    with tempfile.TemporaryDirectory() as place, closing(LanceStore(place, dimension=8, folding=folding)) as store:
        vectors = np.zeros((len(asked.sentences), 8), dtype=np.float32)
        store.put(asked.documents, asked.sentences, vectors=vectors, revisions=[""] * len(asked.documents))
        store.finish()
        return [
            float(any(match.sentence.id in wanted for match in _best(store, query, asked.k)))
            for query, wanted, _ in asked.queries
        ]


def _best(store: LanceStore, query: str, k: int) -> tuple[Match, ...]:
    return store.lexical(query, k=k, where=Filter())


def compared(asked: Asked) -> dict[str, object]:
    """Recall of every folding, and its difference from none."""
    clusters = [cluster for _, _, cluster in asked.queries]
    values = {folding: recall(asked, folding) for folding in NAMES}
    figures: dict[str, object] = {"k": asked.k, "queries": len(asked.queries), "documents": len(set(clusters))}
    for folding, own in values.items():
        mean = bootstrap_interval(own, clusters=clusters, seed=SEED)
        figures[NAMES[folding]] = {"recall": [round(each, 4) for each in (mean.mean, mean.low, mean.high)]}
        for other in ("", "characters"):
            if folding not in ("", other):
                gain = paired_difference(own, values[other], clusters=clusters, seed=SEED)
                rounded = [round(each, 4) for each in (gain.mean, gain.low, gain.high)]
                figures[NAMES[folding]][f"against {NAMES[other]}"] = rounded
        print(NAMES[folding], figures[NAMES[folding]])
    return figures


def seconds(texts: Sequence[str]) -> dict[str, float]:
    """Microseconds of CPU a text that each folding takes, the best of three."""
    found = {}
    for folding, name in NAMES.items():
        fold, spent = folder(folding), []
        for _ in range(3):
            began = time.process_time()
            for text in texts:
                fold(text)
            spent.append(time.process_time() - began)
        found[name] = round(min(spent) / len(texts) * 1e6, 2)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    sets = {f"ntrex {asking} asks {answering}": across(asking, answering) for asking, answering in ACROSS}
    sets["qa-drcd-zhtw"] = questions("qa-drcd-zhtw")
    figures: dict[str, object] = {name: compared(asked) for name, asked in sets.items()}
    own = [sentence.text for sentence in sets["ntrex zh-CN asks zh-TW"].sentences]
    figures |= {"opencc": version("opencc"), "cpu_us_a_sentence": seconds(own)}
    save_result("folding", figures, seed=SEED)


if __name__ == "__main__":
    main()
