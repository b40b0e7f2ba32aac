"""The store beside the bare engine: put, finish, queries, recall, memory and disk, in one run.

    python benchmarks/bench_store.py --rows 200000 --queries 200

The bare engine is LanceDB used directly: one table, the same batches and indexes, no documents table, no checks. Both
sides start from the same objects, each in a spawned process of its own; queries are asked in turns, so that other work
on the machine meets both alike. CPU seconds count all threads of a process.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from groundwire.core.types import Document, Filter, Sentence
from record import RESULTS, circumstances, save_result

DIMENSION = 768
A_DOCUMENT = 20
A_BATCH = 4_000
K = 30
SEED = 20_240_506
SOURCES = ("CNA", "Reuters", "O'Brien Weekly", "中央社", "AP")
ZH_WORDS = """
台南 淹水 颱風 救援 居民 撤離 政府 經濟 成長 銀行 利率 央行 選舉 總統 國會
預算 法案 學校 學生 老師 醫院 病人 疫苗 天氣 氣象 警報 地震 規模 交通 鐵路
高鐵 機場 航班 旅客 觀光 文化 音樂 電影 球隊 比賽 冠軍 市場 股票 投資 公司
產業 半導體 科技 人工智慧 研究 大學 教授 實驗 資料 能源 電力 核能 太陽能
環境 污染 農民 稻米 漁民 港口 貿易 出口 關稅 外交 會談 協議 和平 軍隊 演習
警方 嫌犯 法院 判決 律師 記者 新聞 網路 詐騙 消費 物價 薪資 勞工 房價 土地
建築 都市 計畫 道路 橋梁 水庫 供水 垃圾 回收
"""
FILTER = Filter(published_from=date(2024, 3, 1), published_to=date(2024, 6, 30), sources=("CNA", "O'Brien Weekly"))
FILTER_SQL = (
    "published >= date '2024-03-01' AND published <= date '2024-06-30' AND source IN ('CNA', 'O''Brien Weekly')"
)
COLUMNS = ("id", "document_id", "passage", "start", "end", "text")
KINDS = ("dense", "dense_filtered", "dense_among", "lexical", "lexical_filtered", "lexical_among")


def make_data(folder: Path, rows: int) -> None:
    """Write clustered float16 vectors and texts with Zipf-like words, half English, half Chinese."""
    rng = np.random.default_rng(SEED)
    centres = rng.standard_normal((rows // 400 + 1, DIMENSION)).astype(np.float32)
    with (folder / "vectors.f16").open("wb") as out:
        for start in range(0, rows, A_BATCH):
            count = min(A_BATCH, rows - start)
            noise = rng.standard_normal((count, DIMENSION)).astype(np.float32)
            block = centres[rng.integers(0, len(centres), count)] + 0.9 * noise
            out.write((block / np.linalg.norm(block, axis=1, keepdims=True)).astype(np.float16).tobytes())
    shape = rng.integers(0, 26, (20_000, 8))
    english = ["".join(chr(97 + letter) for letter in row[: 3 + row[0] % 6]) for row in shape]
    sides = [(words, np.cumsum(1 / np.arange(3, len(words) + 3))) for words in (english, ZH_WORDS.split())]
    texts = []
    for document in range(rows // A_DOCUMENT):
        words, steps = sides[document % 2]
        for size in rng.integers(6, 28, A_DOCUMENT):
            drawn = np.searchsorted(steps, rng.random(size) * steps[-1])
            texts.append(("", " ")[document % 2 == 0].join(words[word] for word in drawn) + ".。"[document % 2])
    (folder / "texts.json").write_text(json.dumps(texts, ensure_ascii=False), encoding="utf-8")


def batches(folder: Path) -> Iterator[tuple[list[Document], list[Sentence], np.ndarray]]:
    """Documents, sentences and float32 vectors, batch by batch."""
    texts = json.loads((folder / "texts.json").read_text(encoding="utf-8"))
    for start in range(0, len(texts), A_BATCH):
        part = texts[start : start + A_BATCH]
        raw = np.fromfile(folder / "vectors.f16", np.float16, len(part) * DIMENSION, offset=start * DIMENSION * 2)
        documents, sentences = [], []
        for first in range(0, len(part), A_DOCUMENT):
            number = (start + first) // A_DOCUMENT
            own, name, place = part[first : first + A_DOCUMENT], f"doc-{number:07}", 0
            for index, text in enumerate(own):
                where = f"{name}:{place}-{place + len(text)}:{index:04x}"
                sentences.append(Sentence(where, name, index // 5, place, place + len(text), text))
                place += len(text) + 1
            day = date(2024, 1, 1) + timedelta(days=number % 366) if number % 9 else None
            language = "zh-TW" if number % 2 else "en"
            documents.append(Document(name, " ".join(own), "", day, SOURCES[number % 5], "", language))
        yield documents, sentences, raw.reshape(-1, DIMENSION).astype(np.float32)


class Ours:
    """Our store."""

    def __init__(self, path: Path) -> None:
        from groundwire.backends.lance_store import LanceStore

        self.store = LanceStore(path, dimension=DIMENSION)

    def put(self, documents: list[Document], sentences: list[Sentence], vectors: np.ndarray) -> None:
        """Put one batch."""
        self.store.put(documents, sentences, vectors=vectors, revisions=[f"{one.id:>032}" for one in documents])

    def finish(self) -> None:
        """Fold and index."""
        self.store.finish()

    def ask(self, kind: str, query: np.ndarray | str, among: list[str]) -> list[str]:
        """Sentence ids of one query."""
        where = FILTER if kind.endswith("filtered") else Filter()
        search: Any = self.store.dense if kind.startswith("dense") else self.store.lexical
        found = search(query, k=K, where=where, among=among if kind.endswith("among") else None)
        return [match.sentence.id for match in found]


class Bare:
    """LanceDB used directly, in the plainest good way."""

    def __init__(self, path: Path) -> None:
        import lancedb
        import pyarrow as pa

        text = [pa.field(name, pa.string()) for name in ("text", "source", "language")]
        number = [pa.field(name, pa.int32()) for name in ("passage", "start", "end")]
        self.schema = pa.schema(
            [
                *(pa.field(name, pa.string()) for name in ("id", "document_id")),
                *number,
                *text,
                pa.field("published", pa.date32()),
                pa.field("vector", pa.list_(pa.float16(), DIMENSION)),
            ]
        )
        self.table: Any = lancedb.connect(path).create_table("sentences", schema=self.schema, exist_ok=True)

    def put(self, documents: list[Document], sentences: list[Sentence], vectors: np.ndarray) -> None:
        """Add one batch."""
        import pyarrow as pa

        about = {document.id: document for document in documents}
        columns: dict[str, Any] = {name: [getattr(one, name) for one in sentences] for name in COLUMNS}
        for name in ("source", "language", "published"):
            columns[name] = [getattr(about[one.document_id], name) for one in sentences]
        flat = pa.array(vectors.astype(np.float16).reshape(-1))
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, DIMENSION)
        self.table.add(pa.table(columns, schema=self.schema))

    def finish(self) -> None:
        """Fold and index."""
        from lancedb.index import FTS, BTree, IvfRq

        self.table.optimize()
        self.table.create_index("text", config=FTS(base_tokenizer="icu", with_position=False, remove_stop_words=False))
        self.table.create_index("id", config=BTree())
        self.table.create_index("document_id", config=BTree())
        self.table.create_index("vector", config=IvfRq(distance_type="dot", num_bits=5))

    def ask(self, kind: str, query: np.ndarray | str, among: list[str]) -> list[str]:
        """Sentence ids of one query."""
        if kind.startswith("dense"):
            search = self.table.search(query, vector_column_name="vector").distance_type("dot")
            among_these = kind.endswith("among")
            search = search.bypass_vector_index() if among_these else search.nprobes(64).refine_factor(4)
        else:
            from lancedb.query import MatchQuery

            search = self.table.search(MatchQuery(query, "text"), query_type="fts")
        if kind.endswith("filtered"):
            search = search.where(FILTER_SQL, prefilter=True)
        elif kind.endswith("among"):
            search = search.where(f"id IN ({', '.join(repr(name) for name in among)})", prefilter=True)
        score = "_distance" if kind.startswith("dense") else "_score"
        return [row["id"] for row in search.select([*COLUMNS, score]).limit(K).to_arrow().to_pylist()]


SIDES: dict[str, Callable[[Path], Ours | Bare]] = {"ours": Ours, "bare": Bare}


def write_all(side: str, folder: Path, pipe: Connection) -> None:
    """In a process of its own: put everything, finish; sends the figures."""
    one = SIDES[side](folder / side)
    base, put, put_cpu = peak_mb(), 0.0, 0.0
    for documents, sentences, vectors in batches(folder):
        wall, cpu = time.perf_counter(), time.process_time()
        one.put(documents, sentences, vectors)
        put, put_cpu = put + time.perf_counter() - wall, put_cpu + time.process_time() - cpu
    loaded, wall, cpu = peak_mb(), time.perf_counter(), time.process_time()
    one.finish()
    finish, finish_cpu = time.perf_counter() - wall, time.process_time() - cpu
    figures = {"put_s": put, "put_cpu_s": put_cpu, "finish_s": finish, "finish_cpu_s": finish_cpu}
    memory = {"start_mb": base, "put_peak_mb": loaded, "finish_peak_mb": peak_mb()}
    pipe.send({**figures, **memory, "disk_mb": disk_mb(folder / side)})


def answer(side: str, folder: Path, pipe: Connection) -> None:
    """In a process of its own: answers queries until told to stop; sends ids, seconds and CPU seconds."""
    one = SIDES[side](folder / side)
    while (asked := pipe.recv()) is not None:
        wall, cpu = time.perf_counter(), time.process_time()
        found = one.ask(*asked)
        pipe.send((found, time.perf_counter() - wall, time.process_time() - cpu))
    pipe.send(peak_mb())


def peak_mb() -> float:
    """Peak resident memory of this process, in MB."""
    # not getrusage: after a spawn its peak still counts what the parent held
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def disk_mb(folder: Path) -> float:
    """Size of all files below a folder, in MB."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 2**20


def spawn(target: Callable[..., None], side: str, folder: Path) -> Connection:
    """Start a process and return our end of its pipe."""
    context = multiprocessing.get_context("spawn")
    near, far = context.Pipe()
    context.Process(target=target, args=(side, folder, far), daemon=True).start()
    return near


def make_queries(folder: Path, count: int) -> tuple[list[np.ndarray], list[str], list[list[str]], list[set[str]]]:
    """Vectors near stored ones, words of stored texts, 200 candidate ids each, and the exact 30 best of each vector."""
    rng = np.random.default_rng(SEED + 1)
    parts = list(batches(folder))
    ids = np.array([one.id for part in parts for one in part[1]])
    vectors = np.concatenate([part[2].astype(np.float16) for part in parts])
    texts = [one.text for part in parts for one in part[1]]
    picked = rng.integers(0, len(ids), count)
    noisy = vectors[picked].astype(np.float32) + 0.03 * rng.standard_normal((count, DIMENSION)).astype(np.float32)
    dense = noisy / np.linalg.norm(noisy, axis=1, keepdims=True)
    values = np.concatenate(
        [vectors[at : at + A_BATCH].astype(np.float32) @ dense.T for at in range(0, len(ids), A_BATCH)]
    )
    best = [set(ids[np.argpartition(-column, K)[:K]]) for column in values.T]
    words = [" ".join(texts[row].split()[2:6]) if " " in texts[row] else texts[row][2:10] for row in picked]
    among = [list(map(str, rng.choice(ids, 200, replace=False))) for _ in range(count)]
    return list(dense), words, among, best


def compare_queries(folder: Path, count: int) -> dict[str, dict[str, Any]]:
    """Ask both sides in turns; milliseconds, CPU milliseconds, recall and agreement."""
    dense, words, among, best = make_queries(folder, count)
    pipes = {side: spawn(answer, side, folder) for side in SIDES}
    figures: dict[str, dict[str, Any]] = {side: {} for side in SIDES}
    for kind in KINDS:
        times: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
        recall: dict[str, list[float]] = {side: [] for side in SIDES}
        for number in [0, 1, *range(count)]:
            query = dense[number] if kind.startswith("dense") else words[number]
            for side in sorted(SIDES, reverse=bool(number % 2)):
                pipes[side].send((kind, query, among[number]))
                found, wall, cpu = pipes[side].recv()
                times[side].append((wall, cpu))
                recall[side].append(len(best[number] & set(found)) / K)
        for side in SIDES:
            wall, cpu = np.array(times[side][2:]).T * 1000
            row = {"p50_ms": np.median(wall), "p95_ms": np.percentile(wall, 95), "cpu_ms": cpu.mean()}
            if kind == "dense":
                row |= {"recall_at_30": np.mean(recall[side][2:]), "least_recall": np.min(recall[side][2:])}
            figures[side][kind] = {name: round(float(value), 4) for name, value in row.items()}
    for side, pipe in pipes.items():
        pipe.send(None)
        figures[side]["query_peak_mb"] = round(pipe.recv(), 1)
    return figures


def table(figures: dict[str, Any], rows: int) -> str:
    """The figures as Markdown."""
    ours, bare = figures["ours"], figures["bare"]
    lines = ["| what | ours | bare LanceDB | ours / bare |", "| --- | ---: | ---: | ---: |"]

    def line(what: str, left: float, right: float) -> None:
        lines.append(f"| {what} | {left:,.3f} | {right:,.3f} | {left / right:.2f} |")

    for what in (
        "put_s",
        "put_cpu_s",
        "finish_s",
        "finish_cpu_s",
        "start_mb",
        "put_peak_mb",
        "finish_peak_mb",
        "disk_mb",
    ):
        line(what, ours["write"][what], bare["write"][what])
    for what, parts in (("rows/s put", ["put_s"]), ("rows/s put and finish", ["put_s", "finish_s"])):
        line(what, *(rows / sum(side["write"][part] for part in parts) for side in (ours, bare)))
    for kind in KINDS:
        for what, left in ours["query"][kind].items():
            line(f"{kind} {what}", left, bare["query"][kind][what])
    line("query_peak_mb", ours["query"]["query_peak_mb"], bare["query"]["query_peak_mb"])
    about = circumstances(SEED)
    versions = about["versions"] if isinstance(about["versions"], dict) else {}
    used = ", ".join(f"{name} {versions[name]}" for name in ("groundwire", "lancedb", "pyarrow", "numpy"))
    head = (
        f"# The store beside the bare engine\n\n{rows:,} sentences of {DIMENSION} numbers, {A_DOCUMENT} a document, "
        f"batches of {A_BATCH:,}, {figures['queries']} queries a kind, k = {K}, seed {SEED}. "
        f"{about['date']}, {about['cpu']}, {about['cores']} cores, {used}. `{about['command']}`\n\n"
    )
    return head + "\n".join(lines) + "\n"


def main() -> None:
    """Run the comparison and keep the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--folder", type=Path, default=None, help="where to build; default: a temporary folder")
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-store-", dir=options.folder))
    try:
        make_data(folder, options.rows)
        figures: dict[str, Any] = {side: {} for side in SIDES}
        for side in SIDES:
            written = spawn(write_all, side, folder).recv()
            figures[side]["write"] = {name: round(value, 3) for name, value in written.items()}
            print(side, figures[side]["write"])
        for side, found in compare_queries(folder, options.queries).items():
            figures[side]["query"] = found
    finally:
        shutil.rmtree(folder)
    figures |= {"rows": options.rows, "queries": options.queries}
    save_result("store", figures, seed=SEED)
    (RESULTS / "store.md").write_text(table(figures, options.rows), encoding="utf-8")
    print(table(figures, options.rows))


if __name__ == "__main__":
    main()
