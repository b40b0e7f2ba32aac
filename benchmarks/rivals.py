"""The systems that ``bench_rivals.py`` measures: groundwire and its rivals behind one small interface.

Those that take *vectors* are given sentences with their vectors; those that take *documents* cut them up by themselves
and ask an embedder; those that take *words* index the texts of the sentences. All are asked for the ids of the 30 best.
Every package is imported inside the class that is named after it, so that one that is missing spoils nothing else.
"""

from __future__ import annotations

import json
import re
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from groundwire.core.ports import Embedder
from groundwire.core.types import Document, Filter, Sentence, Span
from groundwire.retrieval.blend import weighted_query
from groundwire.retrieval.corpus import sentence_id
from groundwire.retrieval.search import PRESETS, SearchSettings, search

HALF = 384
"""Numbers of one vector; a sentence is stored with two, its own and that of its passage."""
DIMENSION = 2 * HALF
A_BATCH = 4_000
K = 30
SOURCES = ("CNA", "Reuters", "O'Brien Weekly", "中央社", "AP")
FILTER = Filter(published_from=date(2024, 3, 1), published_to=date(2024, 6, 30), sources=("CNA", "O'Brien Weekly"))
FILTER_SQL = (
    "published >= date '2024-03-01' AND published <= date '2024-06-30' AND source IN ('CNA', 'O''Brien Weekly')"
)
COLUMNS = ("id", "document_id", "passage", "start", "end", "text")
_TERM = re.compile(r"[\u3400-\u9fff]|[^\W_\u3400-\u9fff]+")

Given = Literal["vectors", "documents", "words"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Documents with all their sentences and the stacked vectors of these; float32, shape (sentences, 768)."""

    documents: list[Document]
    sentences: list[Sentence]
    vectors: np.ndarray


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its kind, its words, its vector of 384 numbers; ``among``: ids that may be found."""

    kind: str
    text: str
    vector: np.ndarray
    weight: float = 0.6
    among: tuple[str, ...] = ()


class System(Protocol):
    """A system on disk at a path, opened to write or, in another process, to read."""

    given: Given
    kinds: tuple[str, ...]

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:
        """Open it; ``embedder`` is for what takes documents."""

    def add(self, batch: Batch) -> None:
        """Take in one batch."""

    def finish(self) -> None:
        """Index, and write down what is still only in memory."""

    def ask(self, asked: Asked) -> list[str]:
        """Ids of the best 30, best first."""


class TimedEmbedder:
    """An embedder that counts its texts and its seconds, so that they can be taken out of those of its user."""

    def __init__(self, inner: Embedder | Lookup) -> None:
        self.id, self.dimension = inner.id, inner.dimension
        self.seconds = self.cpu_seconds = 0.0
        self.texts = self.tokens = 0
        self._inner: Any = inner

    def embed(self, texts: Sequence[str], *, role: str = "passage") -> np.ndarray:
        """As the embedder itself."""
        wall, cpu = time.perf_counter(), time.process_time()
        found: np.ndarray = self._inner.embed(texts, role=role)
        self.seconds += time.perf_counter() - wall
        self.cpu_seconds += time.process_time() - cpu
        self.texts += len(texts)
        if hasattr(self._inner, "count_tokens"):
            self.tokens += sum(map(self._inner.count_tokens, texts))
        return found


class Lookup:
    """Gives the corpus's own vectors instead of computing any: of its sentences, its questions, else one by hash."""

    id, dimension = f"lookup:{HALF}", HALF

    def __init__(self, corpus: Path) -> None:
        texts = (one.text for batch in batches(corpus) for one in batch.sentences)
        self._rows = {text: row for row, text in enumerate(texts)}
        self._vectors = vectors_of(corpus)
        self._questions = {asked.text: asked.vector for asked in questions_of(corpus)}

    def embed(self, texts: Sequence[str], *, role: str = "passage") -> np.ndarray:
        """float32, shape (len(texts), 384)."""
        if role == "query":
            return np.array([self._questions[text] for text in texts], dtype=np.float32)
        # what is no sentence of the corpus is a passage or a chunk, and gets the vector of some passage
        known = [(self._rows.get(text), text) for text in texts]
        found = [
            self._vectors[zlib.crc32(text.encode()) % len(self._vectors), HALF:] if row is None
            else self._vectors[row, :HALF]
            for row, text in known
        ]  # fmt: skip
        return np.array(found, dtype=np.float32).reshape(len(texts), HALF)


class OneVector:
    """The embedder of one question, whose vector is given."""

    id, dimension = f"lookup:{HALF}", HALF

    def __init__(self, vector: np.ndarray) -> None:
        self._vector = vector

    def embed(self, texts: Sequence[str], *, role: str = "query") -> np.ndarray:  # noqa: ARG002 - there is only one
        """The vector, once for each text."""
        return np.tile(self._vector, (len(texts), 1))


def batches(corpus: Path, size: int = A_BATCH) -> Iterator[Batch]:
    """The corpus in batches of whole documents, ``size`` sentences or a little more each."""
    documents: list[Document] = []
    sentences: list[Sentence] = []
    done = 0
    with (corpus / "documents.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            published = date.fromisoformat(row["published"]) if row["published"] else None
            documents.append(Document(row["id"], row["text"], "", published, row["source"], "", row["language"]))
            sentences += _sentences(row)
            if len(sentences) >= size:
                yield Batch(documents, sentences, _rows(corpus, done, len(sentences)))
                done, documents, sentences = done + len(sentences), [], []
    if sentences:
        yield Batch(documents, sentences, _rows(corpus, done, len(sentences)))


def _sentences(row: Mapping[str, Any]) -> list[Sentence]:
    found = []
    for passage, start, end in row["sentences"]:
        text = row["text"][start:end]
        name = sentence_id(row["id"], Span(start, end), text=text)
        found.append(Sentence(name, row["id"], passage, start, end, text))
    return found


def _rows(corpus: Path, start: int, count: int) -> np.ndarray:
    place = start * DIMENSION * 2
    found = np.fromfile(corpus / "vectors.f16", np.float16, count * DIMENSION, offset=place)
    return found.reshape(-1, DIMENSION).astype(np.float32)


def vectors_of(corpus: Path) -> np.ndarray:
    """All stacked vectors, float16, mapped from the file."""
    return np.memmap(corpus / "vectors.f16", np.float16, "r").reshape(-1, DIMENSION)


def questions_of(corpus: Path) -> list[Asked]:
    """The questions of the corpus."""
    vectors = np.load(corpus / "questions.npy")
    texts = json.loads((corpus / "questions.json").read_text(encoding="utf-8"))
    return [Asked("dense", text, vector) for text, vector in zip(texts, vectors, strict=True)]


def parts(things: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    """Runs of ``size``, the last one shorter."""
    return (things[start : start + size] for start in range(0, len(things), size))


def stacked(asked: Asked) -> np.ndarray:
    """The question as the stacked vectors are searched."""
    return weighted_query(asked.vector, sentence_weight=asked.weight)


class Groundwire:
    """Our store, searched as ``Archive.search`` does."""

    given: Given = "vectors"
    kinds = (
        *("dense", "dense_filtered", "dense_among", "lexical", "lexical_filtered", "lexical_among"),
        *("hybrid", "best"),
    )

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - vectors
        from groundwire.backends.lance_store import LanceStore

        self.store = LanceStore(path, dimension=DIMENSION)

    def add(self, batch: Batch) -> None:
        """Put one batch."""
        revisions = [f"{one.id:>032}" for one in batch.documents]
        self.store.put(batch.documents, batch.sentences, vectors=batch.vectors, revisions=revisions)

    def finish(self) -> None:
        """Fold and index."""
        self.store.finish()

    def ask(self, asked: Asked) -> list[str]:
        """By vector or words from the store alone; ``hybrid`` and ``best`` through ``search``."""
        if asked.kind in ("hybrid", "best"):
            settings = PRESETS["best"] if asked.kind == "best" else SearchSettings(sentence_weight=asked.weight)
            model = OneVector(asked.vector)
            hits = search(asked.text, store=self.store, embedder=model, k=K, settings=settings)
            return [hit.sentence.id for hit in hits]
        where = FILTER if asked.kind.endswith("filtered") else Filter()
        among = list(asked.among) if asked.kind.endswith("among") else None
        if asked.kind.startswith("dense"):
            found = self.store.dense(stacked(asked), k=K, where=where, among=among)
        else:
            found = self.store.lexical(asked.text, k=K, where=where, among=among)
        return [match.sentence.id for match in found]


class LanceDb:
    """LanceDB used directly in the plainest good way: our table of sentences, one table, no checks."""

    given: Given = "vectors"
    kinds = Groundwire.kinds[:-1]

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - vectors
        import lancedb
        import pyarrow as pa

        text = [pa.field(name, pa.string()) for name in ("text", "passage_text", "source", "language")]
        number = [pa.field(name, pa.int32()) for name in ("passage", "start", "end")]
        names = [pa.field(name, pa.string()) for name in ("id", "document_id")]
        vector = pa.field("vector", pa.list_(pa.float16(), DIMENSION))
        self.schema = pa.schema([*names, *number, *text, pa.field("published", pa.date32()), vector])
        self.table: Any = lancedb.connect(path).create_table("sentences", schema=self.schema, exist_ok=True)

    def add(self, batch: Batch) -> None:
        """Add one batch; the text of a passage stands with its first sentence, as in our table."""
        import pyarrow as pa

        about = {document.id: document for document in batch.documents}
        columns: dict[str, Any] = {name: [getattr(one, name) for one in batch.sentences] for name in COLUMNS}
        for name in ("source", "language", "published"):
            columns[name] = [getattr(about[one.document_id], name) for one in batch.sentences]
        passages: dict[tuple[str, int], list[int]] = {}
        for row, one in enumerate(batch.sentences):
            passages.setdefault((one.document_id, one.passage), []).append(row)
        texts: list[str | None] = [None] * len(batch.sentences)
        for rows in passages.values():
            texts[rows[0]] = " ".join(columns["text"][row] for row in rows)
        columns["passage_text"] = texts
        flat = pa.array(batch.vectors.astype(np.float16).reshape(-1))
        columns["vector"] = pa.FixedSizeListArray.from_arrays(flat, DIMENSION)
        self.table.add(pa.table(columns, schema=self.schema))

    def finish(self) -> None:
        """Fold and index."""
        from lancedb.index import FTS, BTree, IvfRq

        self.table.optimize()
        for column in ("text", "passage_text"):
            words = FTS(base_tokenizer="icu", with_position=False, remove_stop_words=False)
            self.table.create_index(column, config=words)
        self.table.create_index("id", config=BTree())
        self.table.create_index("document_id", config=BTree())
        if self.table.count_rows() >= 10_000:
            self.table.create_index("vector", config=IvfRq(distance_type="dot", num_bits=5))

    def ask(self, asked: Asked) -> list[str]:
        """By vector or words; ``hybrid`` mixes reciprocal ranks, as the package does."""
        from lancedb.query import MatchQuery
        from lancedb.rerankers import RRFReranker

        score = ("_distance",)
        if asked.kind == "hybrid":
            search = self.table.search(query_type="hybrid", vector_column_name="vector", fts_columns="text")
            search = search.vector(stacked(asked)).text(asked.text).rerank(RRFReranker())
            search = search.distance_type("dot").nprobes(64).refine_factor(4)
            score = ()
        elif asked.kind.startswith("dense"):
            search = self.table.search(stacked(asked), vector_column_name="vector").distance_type("dot")
            by_scan = asked.kind.endswith("among")
            search = search.bypass_vector_index() if by_scan else search.nprobes(64).refine_factor(4)
        else:
            search, score = self.table.search(MatchQuery(asked.text, "text"), query_type="fts"), ("_score",)
        if asked.kind.endswith("filtered"):
            search = search.where(FILTER_SQL, prefilter=True)
        elif asked.kind.endswith("among"):
            search = search.where(f"id IN ({', '.join(map(repr, asked.among))})", prefilter=True)
        return [row["id"] for row in search.select([*COLUMNS, *score]).limit(K).to_arrow().to_pylist()]


class Chroma:
    """Chroma with the same stacked vectors, the texts of the sentences and two fields about them."""

    given: Given = "vectors"
    kinds = ("dense",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - vectors
        import chromadb

        client = chromadb.PersistentClient(str(path), settings=chromadb.Settings(anonymized_telemetry=False))
        self.collection: Any = client.get_or_create_collection(
            "sentences", configuration={"hnsw": {"space": "ip"}}, embedding_function=None
        )
        self.most = client.get_max_batch_size()

    def add(self, batch: Batch) -> None:
        """Add one batch."""
        about = {document.id: document.source for document in batch.documents}
        for start in range(0, len(batch.sentences), self.most):
            part = batch.sentences[start : start + self.most]
            self.collection.add(
                ids=[one.id for one in part],
                embeddings=batch.vectors[start : start + self.most],
                documents=[one.text for one in part],
                metadatas=[{"document_id": one.document_id, "source": about[one.document_id]} for one in part],
            )

    def finish(self) -> None:
        """Nothing: the index grows with every batch."""

    def ask(self, asked: Asked) -> list[str]:
        """By vector."""
        include = ["documents", "metadatas", "distances"]
        found = self.collection.query(query_embeddings=[stacked(asked)], n_results=K, include=include)
        return list(found["ids"][0])


class Exact:
    """The floor: all vectors in memory as float32, every one compared by numpy; no texts."""

    given: Given = "vectors"
    kinds = ("dense",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - vectors
        self.path = path
        self.ids: list[str] = []
        self.parts: list[np.ndarray] = []
        if reading:
            self.ids = json.loads((path / "ids.json").read_text(encoding="utf-8"))
            self.load()

    def load(self) -> None:
        """Read what ``finish`` wrote."""
        self.all = np.load(self.path / "vectors.npy")

    def add(self, batch: Batch) -> None:
        """Keep one batch."""
        self.ids += [one.id for one in batch.sentences]
        self.parts.append(batch.vectors)

    def finish(self) -> None:
        """Write everything down."""
        self.path.mkdir()
        (self.path / "ids.json").write_text(json.dumps(self.ids), encoding="utf-8")
        np.save(self.path / "vectors.npy", np.concatenate(self.parts))

    def ask(self, asked: Asked) -> list[str]:
        """By vector."""
        values = self.all @ stacked(asked)
        best = np.argpartition(-values, K)[:K]
        return [self.ids[row] for row in best[np.argsort(-values[best])]]


class Faiss(Exact):
    """The same floor by ``faiss.IndexFlatIP``."""

    def load(self) -> None:
        """Read what ``finish`` wrote."""
        import faiss

        self.index: Any = faiss.read_index(str(self.path / "flat.faiss"))

    def add(self, batch: Batch) -> None:
        """Add one batch."""
        import faiss

        if not self.ids:
            self.index = faiss.IndexFlatIP(DIMENSION)
        self.ids += [one.id for one in batch.sentences]
        self.index.add(batch.vectors)

    def finish(self) -> None:
        """Write everything down."""
        import faiss

        self.path.mkdir()
        (self.path / "ids.json").write_text(json.dumps(self.ids), encoding="utf-8")
        faiss.write_index(self.index, str(self.path / "flat.faiss"))

    def ask(self, asked: Asked) -> list[str]:
        """By vector."""
        _, rows = self.index.search(stacked(asked)[None], K)
        return [self.ids[row] for row in rows[0]]


def terms(text: str) -> list[str]:
    """Single Chinese characters and whole other words, in lower case: what the word rivals are given."""
    return _TERM.findall(text.casefold())


class Bm25s:
    """bm25s in memory over ``terms``; no vectors, and the texts stay outside."""

    given: Given = "words"
    kinds = ("lexical",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - words
        import bm25s

        self.path = path
        self.ids: list[str] = []
        self.terms: list[list[str]] = []
        if reading:
            self.ids = json.loads((path / "ids.json").read_text(encoding="utf-8"))
            self.index: Any = bm25s.BM25.load(path)

    def add(self, batch: Batch) -> None:
        """Cut the texts of one batch into terms."""
        self.ids += [one.id for one in batch.sentences]
        self.terms += [terms(one.text) for one in batch.sentences]

    def finish(self) -> None:
        """Index all at once, as it must be, and write it down."""
        import bm25s

        index = bm25s.BM25()
        index.index(self.terms, show_progress=False)
        index.save(self.path)
        (self.path / "ids.json").write_text(json.dumps(self.ids), encoding="utf-8")

    def ask(self, asked: Asked) -> list[str]:
        """By words."""
        found, _ = self.index.retrieve([terms(asked.text)], k=K, show_progress=False)
        return [self.ids[row] for row in found[0]]


class Tantivy:
    """Tantivy over ``terms``, the texts stored."""

    given: Given = "words"
    kinds = ("lexical",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - words
        import tantivy

        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("text", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("terms", stored=False, tokenizer_name="whitespace", index_option="freq")
        path.mkdir(exist_ok=True)
        self.index: Any = tantivy.Index(builder.build(), path=str(path), reuse=reading)
        self.writer = None if reading else self.index.writer(128 << 20, 2)
        self.searcher = self.index.searcher()

    def add(self, batch: Batch) -> None:
        """Add one batch."""
        import tantivy

        assert self.writer is not None
        for one in batch.sentences:
            self.writer.add_document(tantivy.Document(id=one.id, text=one.text, terms=" ".join(terms(one.text))))

    def finish(self) -> None:
        """Commit and wait for the merging of segments."""
        assert self.writer is not None
        self.writer.commit()
        self.writer.wait_merging_threads()

    def ask(self, asked: Asked) -> list[str]:
        """By words."""
        import tantivy

        one = [
            (tantivy.Occur.Should, tantivy.Query.term_query(self.index.schema, "terms", term, "freq"))
            for term in dict.fromkeys(terms(asked.text))
        ]
        found = self.searcher.search(tantivy.Query.boolean_query(one), K)
        stored = [self.searcher.doc(place) for _, place in found.hits]
        return [document["id"][0] for document in stored if document["text"]]


class GroundwireArchive:
    """``open_archive`` and ``Archive.add`` as a user calls them, the cutting into sentences included."""

    given: Given = "documents"
    kinds = ("retrieve", "pareto", "best")

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:
        from groundwire.flow.archives import open_archive

        assert embedder is not None
        self.archive = open_archive(path, embedder=embedder, create=not reading)

    def add(self, batch: Batch) -> None:
        """Add all documents."""
        self.archive.add(batch.documents)

    def finish(self) -> None:
        """Nothing: ``Archive.add`` ends with it."""

    def ask(self, asked: Asked) -> list[str]:
        """The default settings, or a preset by its name."""
        settings = SearchSettings() if asked.kind == "retrieve" else PRESETS[asked.kind]  # type: ignore[index]
        return [hit.sentence.id for hit in self.archive.search(asked.text, k=K, settings=settings)]


class LangChain:
    """LangChain with Chroma: chunks of 500 characters that overlap by 50, as ScoreRAG cuts them."""

    given: Given = "documents"
    kinds = ("retrieve",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:  # noqa: ARG002 - same
        from chromadb import Settings
        from langchain_chroma import Chroma as Store
        from langchain_core.embeddings import Embeddings
        from langchain_text_splitters import RecursiveCharacterTextSplitter

        assert embedder is not None

        class Given(Embeddings):
            def embed_documents(self, texts: list[str]) -> list[list[float]]:
                return embedder.embed(texts).tolist()

            def embed_query(self, text: str) -> list[float]:
                return embedder.embed([text], role="query")[0].tolist()

        self.splitter = RecursiveCharacterTextSplitter(chunk_size=500, chunk_overlap=50)
        self.store: Any = Store(
            "chunks",
            embedding_function=Given(),
            persist_directory=str(path),
            client_settings=Settings(anonymized_telemetry=False, is_persistent=True, persist_directory=str(path)),
        )

    def add(self, batch: Batch) -> None:
        """Cut documents into chunks and add these, as many at a time as Chroma takes."""
        from langchain_core.documents import Document as Chunked

        for part in parts(batch.documents, 400):
            given = [Chunked(one.text, metadata={"document_id": one.id, "source": one.source}) for one in part]
            for chunks in parts(self.splitter.split_documents(given), 5_000):
                self.store.add_documents(list(chunks))

    def finish(self) -> None:
        """Nothing: the index grows with every batch."""

    def ask(self, asked: Asked) -> list[str]:
        """By the vector of the question."""
        found = self.store.similarity_search_with_score(asked.text, k=K)
        return [chunk.metadata["document_id"] for chunk, _ in found]


class LlamaIndex:
    """LlamaIndex's sentence window (3 on either side) over its own vector store, which is kept in memory and JSON.

    It is given a splitter by stops, Chinese ones too: its own cuts English alone.
    """

    given: Given = "documents"
    kinds = ("retrieve",)

    def __init__(self, path: Path, *, reading: bool, embedder: TimedEmbedder | None) -> None:
        from llama_index.core import StorageContext, VectorStoreIndex, load_index_from_storage
        from llama_index.core.embeddings import BaseEmbedding
        from llama_index.core.node_parser import SentenceWindowNodeParser

        assert embedder is not None
        model = embedder

        class Given(BaseEmbedding):
            def _get_query_embedding(self, query: str) -> list[float]:
                return model.embed([query], role="query")[0].tolist()

            async def _aget_query_embedding(self, query: str) -> list[float]:
                return self._get_query_embedding(query)

            def _get_text_embedding(self, text: str) -> list[float]:
                return model.embed([text])[0].tolist()

            def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
                return model.embed(texts).tolist()

        self.path = path
        given = Given(embed_batch_size=512)
        splitter = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n\n")
        self.parser = SentenceWindowNodeParser.from_defaults(
            window_size=3, sentence_splitter=lambda text: [part for part in splitter.split(text) if part]
        )
        if reading:
            context = StorageContext.from_defaults(persist_dir=str(path))
            self.index: Any = load_index_from_storage(context, embed_model=given)
            self.retriever = self.index.as_retriever(similarity_top_k=K)
        else:
            self.index = VectorStoreIndex([], embed_model=given)

    def add(self, batch: Batch) -> None:
        """Cut documents into windows and insert these."""
        from llama_index.core import Document as Read

        for part in parts(batch.documents, 400):
            given = [Read(text=one.text, doc_id=one.id, metadata={"source": one.source}) for one in part]
            self.index.insert_nodes(self.parser.get_nodes_from_documents(given))

    def finish(self) -> None:
        """Write everything down."""
        self.index.storage_context.persist(persist_dir=str(self.path))

    def ask(self, asked: Asked) -> list[str]:
        """By the vector of the question; each hit brings its window."""
        found = self.retriever.retrieve(asked.text)
        return [one.node.ref_doc_id for one in found if one.node.metadata["window"]]


SYSTEMS: Mapping[str, type[System]] = {
    "groundwire": Groundwire,
    "lancedb": LanceDb,
    "chroma": Chroma,
    "faiss": Faiss,
    "numpy": Exact,
    "bm25s": Bm25s,
    "tantivy": Tantivy,
    "groundwire-archive": GroundwireArchive,
    "langchain": LangChain,
    "llama-index": LlamaIndex,
}
