"""Add, query and memory beside rivals in one run: LanceDB itself, Chroma, LangChain, LlamaIndex, faiss, and others.

    python benchmarks/bench_rivals.py --make-venv rivals-venv
    rivals-venv/bin/python benchmarks/bench_rivals.py --rows 200000 --more-rows 1000000

The first line installs the rivals, of the versions that this file names, and groundwire into an environment of their
own; the second measures all of them in it. Every system and size has one spawned process to write and another to read,
all with the same number of threads. Seconds of CPU count all threads of a process. The embedding is left out: sentences
come with vectors, and what cuts documents up by itself asks an embedder that looks vectors up, whose time is taken out;
``--embedded`` adds that many sentences with a real model.

The sentences are those of the public question sets whose vectors ``question_sets.CachedEmbedder`` keeps; more are made
of two of one language, half of the words of each, and their vectors of both vectors, turned so that mean and covariance
stay those of the real ones.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from importlib.metadata import version
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.backends.lance_store import LanceStore
from groundwire.core.ports import Embedder
from groundwire.core.types import Filter, Match
from groundwire.retrieval.corpus import split_document
from groundwire.retrieval.search import SearchSettings, search
from question_sets import CachedEmbedder, load
from record import RESULTS, circumstances, save_result
from rivals import (
    DIMENSION,
    HALF,
    SOURCES,
    SYSTEMS,
    Asked,
    Batch,
    K,
    Lookup,
    OneVector,
    TimedEmbedder,
    batches,
    questions_of,
    vectors_of,
)

SEED = 20_240_506
SETS = ("pooled-wikipedia", "qa-xquad-en", "qa-xquad-zh", "qa-drcd-zhtw", "qa-bioasq")
A_DOCUMENT = 10
WEIGHTS = (0.0, 0.5, 0.8, 1.0)
AT_MOST_SECONDS = 15.0
"""Of one system for one kind of question; then it has answered enough of them."""
PACKAGES = {
    "lancedb": "0.40.0",
    "chromadb": "1.5.9",
    "langchain": "1.5.2",
    "langchain-chroma": "1.1.0",
    "langchain-text-splitters": "1.1.3",
    "llama-index-core": "0.14.25",
    "bm25s": "0.3.16",
    "tantivy": "0.27.0",
    "faiss-cpu": "1.15.1",
}
TURNS = (("groundwire", "lancedb"), *((name,) for name in SYSTEMS if name not in ("groundwire", "lancedb")))
"""Systems that are asked in turns, so that other work on the machine meets them alike; the others are asked alone."""
LARGE = ("groundwire", "lancedb", "faiss", "numpy")
CUTTERS = tuple(name for name, made in SYSTEMS.items() if made.given == "documents")
SLOW, SLOW_ROWS = "llama-index", 20_000
"""It keeps vectors as JSON: at more sentences than these, all that cut documents up are measured at these as well."""
HYBRID_QUESTIONS = 30
THREADS = ("OMP", "OPENBLAS", "MKL", "RAYON", "NUMEXPR")


@dataclass(frozen=True)
class Piece:
    """About ten sentences of one language in their passages, with both vectors of each sentence."""

    language: str
    passages: tuple[tuple[str, ...], ...]
    cores: np.ndarray
    contexts: np.ndarray


class _NotKept:
    """Stands behind the kept vectors and makes no new ones."""

    id, dimension = "local:e5-small", HALF

    def embed(self, texts: Sequence[str], *, role: str = "passage") -> np.ndarray:
        raise LookupError(f"{len(texts)} texts as {role} have no vector yet")


def _source(kind: str) -> Embedder:
    """Where the vectors of the corpus come from."""
    if kind == "kept":
        return CachedEmbedder(_NotKept())
    from groundwire.backends.hash_embedder import HashEmbedder

    return HashEmbedder(HALF)


def read_pieces(kind: str, enough: int) -> list[Piece]:
    """The real sentences whose vectors are there, in runs of ten or a few more; stops where there are enough."""
    model, pieces, seen, total = _source(kind), [], set(), 0
    waiting: dict[str, list[tuple[tuple[str, ...], np.ndarray]]] = {}
    for name in SETS:
        for document in load(name).documents:
            if document.text in seen:
                continue
            seen.add(document.text)
            for passage in split_document(document):
                texts = tuple(one.text for one in passage.sentences)
                try:
                    vectors = model.embed([*texts, " ".join(texts)])
                except LookupError:
                    continue
                held = waiting.setdefault(document.language, [])
                held.append((texts, vectors))
                if sum(len(texts) for texts, _ in held) >= A_DOCUMENT:
                    pieces.append(_piece(document.language, held))
                    total += len(pieces[-1].cores)
                    waiting[document.language] = []
            if total >= enough:
                return pieces
    return pieces


def _piece(language: str, held: Sequence[tuple[tuple[str, ...], np.ndarray]]) -> Piece:
    cores = np.concatenate([vectors[:-1] for _, vectors in held])
    contexts = np.concatenate([np.tile(vectors[-1], (len(texts), 1)) for texts, vectors in held])
    return Piece(language, tuple(texts for texts, _ in held), cores, contexts)


def more_pieces(real: Sequence[Piece], rng: np.random.Generator) -> Iterator[Piece]:
    """The real ones in random order, then without end pieces made of two of one language."""
    yield from (real[place] for place in rng.permutation(len(real)))
    means = [np.concatenate([getattr(one, side) for one in real]).mean(axis=0) for side in ("cores", "contexts")]
    by_language: dict[str, list[Piece]] = {}
    for one in real:
        by_language.setdefault(one.language, []).append(one)
    while True:
        first = real[rng.integers(len(real))]
        others = by_language[first.language]
        second = others[rng.integers(len(others))]
        rows = np.arange(len(first.cores)) % len(second.cores)
        cores = _turned(first.cores, second.cores[rows], means[0])
        contexts = _turned(first.contexts, second.contexts[rows], means[1])
        texts = [text for passage in second.passages for text in passage]
        place = iter(rows)
        passages = tuple(tuple(_half_of_each(one, texts[next(place)]) for one in own) for own in first.passages)
        yield Piece(first.language, passages, cores, contexts)


def _turned(left: np.ndarray, right: np.ndarray, mean: np.ndarray) -> np.ndarray:
    mixed = mean + ((left - mean) + (right - mean)) / np.sqrt(2)
    return mixed / np.linalg.norm(mixed, axis=1, keepdims=True)


def _half_of_each(left: str, right: str) -> str:
    """The first half of one text and the second of another, cut between words where words are parted."""
    if " " in left and " " in right:
        first, second = left.split(), right.split()
        return " ".join(first[: -(-len(first) // 2)] + second[len(second) // 2 :])
    return left[: -(-len(left) // 2)] + right[len(right) // 2 :]


def make_corpus(folder: Path, rows: int, *, kind: str, questions: int) -> dict[str, object]:
    """Write documents, vectors and questions; returns what they are made of."""
    rng = np.random.default_rng(SEED)
    real = read_pieces(kind, rows)
    known = sum(len(one.cores) for one in real)
    if known < min(rows, 1_000):
        sys.exit(f"only {known} sentences have kept vectors: run bench_search.py first, or give --vectors hash")
    total = 0
    with (folder / "documents.jsonl").open("w", encoding="utf-8") as lines, (folder / "vectors.f16").open("wb") as out:
        for number, piece in enumerate(more_pieces(real, rng)):
            if total >= rows:
                break
            lines.write(json.dumps(_row(piece, number), ensure_ascii=False) + "\n")
            out.write(np.hstack([piece.cores, piece.contexts]).astype(np.float16).tobytes())
            total += len(piece.cores)
    asked = _write_questions(folder, kind, questions, rng)
    languages = dict.fromkeys(sorted({one.language for one in real}), 0)
    for one in real:
        languages[one.language] += len(one.cores)
    counts = {"sentences": total, "real": min(known, total), "real_by_language": languages}
    return {**counts, "vectors": kind, "questions": asked}


def _row(piece: Piece, number: int) -> dict[str, object]:
    between = "" if piece.language.startswith("zh") else " "
    text, sentences = "", []
    for passage, texts in enumerate(piece.passages):
        text += "\n\n" if passage else ""
        for place, one in enumerate(texts):
            text += between if place else ""
            sentences.append((passage, len(text), len(text) + len(one)))
            text += one
    day = date(2024, 1, 1) + timedelta(days=37 * number % 366) if number % 9 else None
    return {
        "id": f"doc-{number:07}",
        "text": text,
        "language": piece.language,
        "published": day.isoformat() if day else None,
        "source": SOURCES[number % len(SOURCES)],
        "sentences": sentences,
    }


def _write_questions(folder: Path, kind: str, count: int, rng: np.random.Generator) -> int:
    model = _source(kind)
    texts = list(dict.fromkeys(one.text for name in SETS for one in load(name).questions))
    found: dict[str, np.ndarray] = {}
    for place in rng.permutation(len(texts)):
        if len(found) == count:
            break
        try:
            found[texts[place]] = model.embed([texts[place]], role="query")[0]
        except LookupError:
            continue
    (folder / "questions.json").write_text(json.dumps(list(found), ensure_ascii=False), encoding="utf-8")
    np.save(folder / "questions.npy", np.array(list(found.values()), dtype=np.float32))
    return len(found)


def exact_best(corpus: Path, asked: Sequence[Asked]) -> dict[float, list[set[int]]]:
    """For every weight the rows of the 30 best of each question and those that tie with the last of them.

    By numpy in float32 over every stored vector; with the weight 0 all sentences of a passage tie.
    """
    vectors, queries = vectors_of(corpus), np.array([one.vector for one in asked])
    sides = [np.empty((len(vectors), len(asked)), np.float32) for _ in range(2)]
    for start in range(0, len(vectors), 20_000):
        block = vectors[start : start + 20_000].astype(np.float32)
        for side, part in zip(sides, np.hsplit(block, 2), strict=True):
            side[start : start + len(block)] = part @ queries.T
    best = {}
    for weight in WEIGHTS:
        values = weight * sides[0] + (1 - weight) * sides[1]
        least = np.partition(values, -K, axis=0)[-K] - 1e-6
        best[weight] = [set(np.flatnonzero(column).tolist()) for column in (values >= least).T]
    return best


class ExactDense(LanceStore):
    """A store whose dense side compares every vector: what the hybrid search is compared with."""

    def hold(self, corpus: Path) -> None:
        """Keep all vectors in memory."""
        self._all = vectors_of(corpus).astype(np.float32)
        self._names = [one.id for batch in batches(corpus) for one in batch.sentences]

    def dense(
        self, query: np.ndarray, *, k: int, where: Filter, among: Sequence[str] | None = None
    ) -> tuple[Match, ...]:
        """As the store, without its index."""
        if among is None:
            best = np.argpartition(-(self._all @ query), min(k, len(self._all) - 1))[:k]
            among = [self._names[row] for row in best]
        return super().dense(query, k=k, where=where, among=among)


# What runs in a process of its own.


def write_all(name: str, folder: Path, embedder: str, pipe: Connection) -> None:
    """Take in the corpus and finish; sends the figures."""
    corpus, base = folder / "corpus", peak_mb()
    given = SYSTEMS[name].given
    model = _embedder(embedder, corpus) if given == "documents" else None
    started = time.perf_counter()
    one = SYSTEMS[name](folder / name, reading=False, embedder=model)
    opened, start = time.perf_counter() - started, peak_mb()
    work: Sequence[Batch] | Iterator[Batch] = batches(corpus)
    if given == "documents":  # such a system is handed everything at once, as its user would
        held = list(work)
        work = [Batch([one for part in held for one in part.documents], [], np.empty(0))]
    add = add_cpu = 0.0
    for batch in work:
        wall, cpu = time.perf_counter(), time.process_time()
        one.add(batch)
        add, add_cpu = add + time.perf_counter() - wall, add_cpu + time.process_time() - cpu
    loaded, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
    one.finish()
    figures = {
        "open_s": opened,
        "add_s": add - (model.seconds if model else 0),
        "add_cpu_s": add_cpu - (model.cpu_seconds if model else 0),
        "finish_s": time.perf_counter() - wall,
        "finish_cpu_s": time.process_time() - cpu,
        "start_mb": start,
        "before_mb": base,
        "add_peak_mb": loaded,
        "peak_mb": peak_mb(),
        "disk_mb": disk_mb(folder / name),
    }
    if model:
        figures |= {"embed_s": model.seconds, "embed_cpu_s": model.cpu_seconds}
        figures |= {"texts": model.texts, "tokens": model.tokens}
    pipe.send(figures)


def _embedder(name: str, corpus: Path) -> TimedEmbedder:
    if name == "lookup":
        return TimedEmbedder(Lookup(corpus))
    from groundwire.flow.registry import embedder

    return TimedEmbedder(embedder(name, threads=1))


def answer(name: str, folder: Path, embedder: str, pipe: Connection) -> None:
    """Answer questions until told to stop; sends ids, seconds and CPU seconds, at the end the peak of memory."""
    corpus = folder / "corpus"
    model = _embedder(embedder, corpus) if SYSTEMS[name].given == "documents" else None
    started = time.perf_counter()
    one = SYSTEMS[name](folder / name, reading=True, embedder=model)
    pipe.send(time.perf_counter() - started)
    while (asked := pipe.recv()) is not None:
        wall, cpu = time.perf_counter(), time.process_time()
        found = one.ask(asked)
        pipe.send((found, time.perf_counter() - wall, time.process_time() - cpu))
    pipe.send(peak_mb())


def check_hybrid(name: str, folder: Path, embedder: str, pipe: Connection) -> None:  # noqa: ARG001 - as the others
    """Send, for each weight, the share of the hybrid's 30 best that a search with an exact dense side finds as well.

    ``more candidates``: the same against 2,000 candidates of either side, exact, in place of 100.
    """
    store = LanceStore(folder / name, dimension=DIMENSION)
    exact = ExactDense(folder / name, dimension=DIMENSION)
    exact.hold(folder / "corpus")

    def best(side: LanceStore, asked: Asked, settings: SearchSettings) -> set[str]:
        hits = search(asked.text, store=side, embedder=OneVector(asked.vector), k=K, settings=settings)
        return {hit.sentence.id for hit in hits}

    usual = SearchSettings()
    wanted = {f"{weight:g}": replace(usual, sentence_weight=weight) for weight in (*WEIGHTS, usual.sentence_weight)}
    shares: dict[str, list[float]] = {kind: [] for kind in (*wanted, "more candidates")}
    for asked in questions_of(folder / "corpus")[:HYBRID_QUESTIONS]:
        for kind, settings in wanted.items():
            shares[kind].append(len(best(store, asked, settings) & best(exact, asked, settings)) / K)
        many = best(exact, asked, replace(usual, candidates=2_000))
        shares["more candidates"].append(len(best(store, asked, usual) & many) / K)
    pipe.send({kind: {"mean": np.mean(one), "least": np.min(one), "n": len(one)} for kind, one in shares.items()})


def peak_mb() -> float:
    """Peak resident memory of this process, in MB."""
    # not getrusage: after a spawn its peak still counts what the parent held
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def disk_mb(folder: Path) -> float:
    """Size of all files below a folder, in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def spawn(target: Callable[..., None], name: str, folder: Path, embedder: str) -> tuple[Any, Connection]:
    """Start a process; returns it and our end of its pipe, which ends when the process does."""
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    process = context.Process(target=target, args=(name, folder, embedder, far), daemon=True)
    process.start()
    far.close()
    return process, near


# The run.


def write_one(name: str, folder: Path, *, embedder: str, limit: float) -> dict[str, Any]:
    """The figures of writing, or why there are none."""
    process, pipe = spawn(write_all, name, folder, embedder)
    if not pipe.poll(limit):
        process.terminate()
        return {"left_out": f"not done after {limit:.0f} seconds"}
    try:
        found = pipe.recv()
    except EOFError:
        process.join()
        return {"left_out": f"its process ended with {process.exitcode}"}
    process.join()
    return found


def query_some(
    names: Sequence[str], folder: Path, questions: Sequence[Asked], best: Mapping[float, Sequence[set[str]]]
) -> dict[str, Any]:
    """Ask systems in turns; milliseconds, CPU milliseconds, n and, by vector, recall."""
    started = {name: spawn(answer, name, folder, "lookup")[1] for name in names}
    figures: dict[str, Any] = {name: {"open_s": pipe.recv()} for name, pipe in started.items()}
    for kind, weight in _kinds(names):
        able = {name: pipe for name, pipe in started.items() if kind in SYSTEMS[name].kinds}
        times, found = _ask_in_turns(able, [replace(one, kind=kind, weight=weight) for one in questions])
        for name in able:
            figures[name][f"{kind}@{weight:g}" if kind == "dense" else kind] = _summary(
                times[name], found[name], best[weight] if kind == "dense" else None
            )
    for name, pipe in started.items():
        pipe.send(None)
        figures[name]["peak_mb"] = pipe.recv()
    return figures


def _kinds(names: Sequence[str]) -> list[tuple[str, float]]:
    kinds = dict.fromkeys(kind for name in names for kind in SYSTEMS[name].kinds)
    return [(kind, weight) for kind in kinds for weight in (WEIGHTS if kind == "dense" else (0.6,))]


def _ask_in_turns(
    pipes: Mapping[str, Connection], asked: Sequence[Asked]
) -> tuple[dict[str, list[tuple[float, float]]], dict[str, list[list[str]]]]:
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in pipes}
    found: dict[str, list[list[str]]] = {name: [] for name in pipes}
    for number, one in enumerate([asked[0], *asked]):
        for name in sorted(pipes, reverse=bool(number % 2)):
            if sum(wall for wall, _ in times[name]) > AT_MOST_SECONDS:
                continue
            pipes[name].send(one)
            ids, wall, cpu = pipes[name].recv()
            if number:  # the first time warms up
                times[name].append((wall, cpu))
                found[name].append(ids)
    return times, found


def _summary(
    times: Sequence[tuple[float, float]], found: Sequence[Sequence[str]], best: Sequence[set[str]] | None
) -> dict[str, float]:
    wall, cpu = np.array(times).T * 1000
    row = {"n": len(wall), "p50_ms": np.median(wall), "p95_ms": np.percentile(wall, 95), "cpu_ms": cpu.mean()}
    row["found"] = np.mean([len(ids) for ids in found])
    if best is not None:
        shares = [len(wanted & set(ids)) / K for wanted, ids in zip(best, found, strict=False)]
        row |= {"recall_at_30": np.mean(shares), "least_recall": np.min(shares)}
    return row


def measure(folder: Path, names: Sequence[str], *, made: Mapping[str, object], limit: float) -> dict[str, Any]:
    """Everything at one size."""
    corpus = folder / "corpus"
    ids = [one.id for batch in batches(corpus) for one in batch.sentences]
    rng = np.random.default_rng(SEED + 1)
    questions = [replace(one, among=tuple(rng.choice(ids, min(200, len(ids)), replace=False).tolist()))
                 for one in questions_of(corpus)]  # fmt: skip
    best = {weight: [{ids[row] for row in rows} for rows in of_weight]
            for weight, of_weight in exact_best(corpus, questions).items()}  # fmt: skip
    figures: dict[str, Any] = {}
    for name in names:
        figures[name] = {"add": write_one(name, folder, embedder="lookup", limit=limit)}
        say(f"{name}: {rounded(figures[name]['add'])}")
    for turn in TURNS:
        ready = [name for name in turn if name in figures and "left_out" not in figures[name]["add"]]
        try:
            answered = query_some(ready, folder, questions, best)
        except EOFError:  # what happened stands on stderr
            say(f"{' or '.join(ready)} died while it was asked")
            continue
        for name, found in answered.items():
            figures[name]["query"] = found
            say(f"{name}: {rounded(found)}")
    if "query" in figures.get("groundwire", {}):
        process, pipe = spawn(check_hybrid, "groundwire", folder, "lookup")
        figures["groundwire"]["hybrid_agreement"] = pipe.recv()
        process.join()
        say(f"hybrid: {rounded(figures['groundwire']['hybrid_agreement'])}")
    return rounded({"corpus": dict(made), "systems": figures})


def embedded(folder: Path, rows: int, *, kind: str, limit: float) -> dict[str, Any]:
    """Adding with the real model in all systems that cut documents up by themselves, one thread for the model."""
    with room(folder) as own:
        made = make_corpus(own / "corpus", rows, kind=kind, questions=1)
        found = {name: write_one(name, own, embedder="local:e5-small", limit=limit) for name in CUTTERS}
    say(f"embedded: {rounded(found)}")
    return rounded({"corpus": made, "systems": found})


class room:  # noqa: N801 - used as a word of its own in a with statement
    """A temporary folder with a folder for a corpus, removed at the end."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def __enter__(self) -> Path:
        self.path = Path(tempfile.mkdtemp(prefix="bench-rivals-", dir=self._folder))
        (self.path / "corpus").mkdir()
        return self.path

    def __exit__(self, *_: object) -> None:
        shutil.rmtree(self.path)


def rounded(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Four significant places are more than the machine repeats."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, float | np.floating):
        return round(float(value), 4)
    return value


def say(text: str) -> None:
    """Progress, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def make_venv(folder: Path) -> None:
    """Install groundwire and the rivals into an environment of their own."""
    python = folder / "bin" / "python"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    wanted = [f"{name}=={number}" for name, number in PACKAGES.items()]
    root = Path(__file__).resolve().parents[1]
    install = [str(python), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, *wanted, "--editable", f"{root}[archive,local]"], check=True)
    print(f"now: {python} {Path(__file__).name}")


def tables(figures: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    about = circumstances(SEED)
    used, run = ", ".join(f"{name} {number}" for name, number in figures["versions"].items()), f"`{about['command']}`"
    lines = [
        "# Search beside its rivals",
        "",
        f"{about['date']}, {about['cpu']}, {about['cores']} cores, {figures['threads']} threads, seed {SEED}. {run}",
        "",
        f"{used}. Left out: {figures['left_out']}.",
    ]
    for size in figures["sizes"]:
        lines += ["", *_size_table(size)]
    if "embedded" in figures:
        lines += ["", *_embedded_table(figures["embedded"])]
    return "\n".join(lines) + "\n"


def _size_table(size: Mapping[str, Any]) -> list[str]:
    made, systems = size["corpus"], size["systems"]
    rows = made["sentences"]
    lines = [
        f"## {rows:,} sentences",
        "",
        f"{made['real']:,} real ones (vectors: {made['vectors']}), {made['questions']} questions, k = {K}.",
        "",
        "| system | given | add s | finish s | CPU s | sentences/s | peak MB | disk MB |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in systems.items():
        add, given = one["add"], SYSTEMS[name].given
        if "left_out" in add:
            lines.append(f"| {name} | {given} | {add['left_out']} | | | | | |")
            continue
        wall, cpu = add["add_s"] + add["finish_s"], add["add_cpu_s"] + add["finish_cpu_s"]
        lines.append(
            f"| {name} | {given} | {add['add_s']:.1f} | {add['finish_s']:.1f} | {cpu:.1f} | {rows / wall:,.0f} | "
            f"{add['peak_mb']:,.0f} | {add['disk_mb']:,.0f} |"
        )
    lines += [
        "",
        "| system | question | n | p50 ms | p95 ms | CPU ms | recall@30 (least) | peak MB |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in systems.items():
        for kind, found in one.get("query", {}).items():
            if isinstance(found, dict):
                recall = f"{found['recall_at_30']:.4f} ({found['least_recall']:.2f})" if "recall_at_30" in found else ""
                lines.append(
                    f"| {name} | {kind} | {found['n']} | {found['p50_ms']:.1f} | {found['p95_ms']:.1f} | "
                    f"{found['cpu_ms']:.1f} | {recall} | {one['query']['peak_mb']:,.0f} |"
                )
    return [*lines, "", *_ratios(systems)]


def _ratios(systems: Mapping[str, Any]) -> list[str]:
    """The targets as ratios of this run."""
    done = {name: one for name, one in systems.items() if "query" in one}
    lines = []
    for left, right in (("groundwire", "chroma"), ("groundwire-archive", "langchain"), ("groundwire", "lancedb")):
        if left in done and right in done:
            ours, theirs = done[left]["add"], done[right]["add"]
            put, put_cpu = (theirs[name] / ours[name] for name in ("add_s", "add_cpu_s"))
            whole, whole_cpu = (
                sum(theirs[step + name] for step in ("add", "finish"))
                / sum(ours[step + name] for step in ("add", "finish"))
                for name in ("_s", "_cpu_s")
            )
            lines.append(
                f"- Add, {left} against {right}: {put:.1f} x its rate before indexing ({put_cpu:.1f} by CPU seconds), "
                f"{whole:.2f} x with it ({whole_cpu:.2f})."
            )
    if {"groundwire", "lancedb"} <= done.keys():
        ours, theirs = done["groundwire"]["query"], done["lancedb"]["query"]
        shared = [kind for kind in ours if isinstance(ours[kind], dict) and kind in theirs]
        for what in ("p50_ms", "cpu_ms"):
            found = ", ".join(f"{kind} {ours[kind][what] / theirs[kind][what]:.2f}" for kind in shared)
            lines.append(f"- {what} of groundwire / lancedb: {found}.")
    if "groundwire" in done:
        agreed = done["groundwire"]["hybrid_agreement"]
        found = ", ".join(f"{kind}: {one['mean']:.4f} ({one['least']:.2f})" for kind, one in agreed.items())
        lines.append(f"- Hybrid, share of the 30 best that an exact dense side agrees on, by weight: {found}.")
    return lines


def _embedded_table(figures: Mapping[str, Any]) -> list[str]:
    made = figures["corpus"]
    lines = [
        f"## {made['sentences']:,} sentences, embedding included",
        "",
        "local:e5-small, one thread, the same weights for all.",
        "",
        "| system | texts embedded | tokens | embedding CPU s | tokens/s | the rest, CPU s |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for name, one in figures["systems"].items():
        if "left_out" in one:
            lines.append(f"| {name} | {one['left_out']} | | | | |")
            continue
        rest = one["add_cpu_s"] + one["finish_cpu_s"]
        lines.append(
            f"| {name} | {one['texts']:,} | {one['tokens']:,} | {one['embed_cpu_s']:.1f} | "
            f"{one['tokens'] / one['embed_cpu_s']:,.0f} | {rest:.1f} |"
        )
    return lines


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--make-venv", type=Path, metavar="DIR", help="install groundwire and the rivals there")
    parser.add_argument("--rows", type=int, default=200_000, help="sentences for all systems")
    parser.add_argument("--more-rows", type=int, default=0, help=f"sentences for {', '.join(LARGE)}; 0: none")
    parser.add_argument("--embedded", type=int, default=0, help="sentences to add with the real model; 0: none")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--vectors", choices=("kept", "hash"), default="kept", help="hash: no model, for a trial")
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--limit-seconds", type=float, default=900.0, help="for one system to add everything")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--folder", type=Path, default=None, help="where to build; default: a temporary folder")
    parser.add_argument("--name", default="rivals", help="of the file of results")
    parser.add_argument("--quick", action="store_true", help="500 sentences, hashed vectors, 10 questions")
    options = parser.parse_args()
    if options.quick:
        options.rows, options.queries, options.vectors, options.more_rows, options.embedded = 500, 10, "hash", 0, 0
    return options


def main() -> None:
    """Run everything and keep the figures."""
    options = _options()
    if options.make_venv:
        make_venv(options.make_venv)
        return
    os.environ |= {f"{name}_NUM_THREADS": str(options.threads) for name in THREADS}
    os.environ |= {"LANCE_CPU_THREADS": str(options.threads), "TOKIO_WORKER_THREADS": str(options.threads)}
    os.environ |= {"ANONYMIZED_TELEMETRY": "False", "TOKENIZERS_PARALLELISM": "false", "LANCE_LOG": "error"}
    figures: dict[str, Any] = {
        "threads": options.threads,
        "versions": {name: version(name) for name in PACKAGES},
        "left_out": "sentence-transformers (not tried: its torch is about 3 GB, and weights come from a hub that was "
        "out of reach)",
        "sizes": [],
    }
    for rows, names in _sizes(options):
        with room(options.folder) as folder:
            say(f"{rows:,} sentences")
            made = make_corpus(folder / "corpus", rows, kind=options.vectors, questions=options.queries)
            say(f"made of {made}")
            figures["sizes"].append(measure(folder, names, made=made, limit=options.limit_seconds))
        if not options.quick:  # after every size, so that a long run that is cut short leaves something
            save_result(options.name, figures, seed=SEED)
    if options.embedded:
        arguments = {"kind": options.vectors, "limit": options.limit_seconds}
        figures["embedded"] = embedded(options.folder, options.embedded, **arguments)
    print(tables(figures))
    if not options.quick:
        save_result(options.name, figures, seed=SEED)
        (RESULTS / f"{options.name}.md").write_text(tables(figures), encoding="utf-8")


def _sizes(options: argparse.Namespace) -> list[tuple[int, list[str]]]:
    """Sentences and the systems that are measured at as many; none at 0."""
    asked = options.systems
    sizes = [(options.rows, [name for name in asked if name != SLOW or options.rows <= SLOW_ROWS])]
    if SLOW in asked and options.rows > SLOW_ROWS:
        sizes.insert(0, (SLOW_ROWS, [name for name in asked if name in CUTTERS]))
    sizes.append((options.more_rows, [name for name in asked if name in LARGE]))
    return [(rows, names) for rows, names in sizes if rows and names]


if __name__ == "__main__":
    main()
