"""The public question sets that search is measured on: documents, labelled questions, and an embedder that remembers.

Each set is a folder of JSON Lines with ``passages.jsonl`` (or ``snippets.jsonl``) and ``questions*.jsonl``, found
through ``GROUNDWIRE_SHARED`` or ``shared`` beside the repository. Questions are clustered by article, so that settings
are chosen on other articles than those they are scored on.
"""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from groundwire.core.ports import Embedder, Matrix, Role, TokenEmbedder, TokenVectors
from groundwire.core.types import Document, Gold, Question

ROOT = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("GROUNDWIRE_SHARED") or ROOT.parent / "shared") / "data"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "groundwire" / "vectors.sqlite"
POOLED = ("qa-squad", "qa-nq", "qa-hotpot", "qa-2wiki")

Row = Mapping[str, object]


@dataclass(frozen=True)
class QuestionSet:
    """Documents, and questions with the characters that answer them; ``left_out`` counts those without certain gold."""

    name: str
    language: str
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]
    left_out: int


def rows(folder: str, name: str) -> Iterator[dict]:
    """The rows of a file of a set."""
    with (SHARED / folder / name).open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def load(name: str) -> QuestionSet:
    """The set of this name, one of ``SETS``."""
    return SETS[name](name)


def _documents(folder: str, *, language: str, only: str = "") -> tuple[Document, ...]:
    return tuple(
        Document(row["pid"], row["text"], title=(row.get("title") or "").replace("_", " "), language=language)
        for row in rows(folder, "passages.jsonl")
        if row["text"].strip() and row.get("lang", "").startswith(only)
    )


def _set(name: str, language: str, documents: Sequence[Document], questions: Sequence[Question | None]) -> QuestionSet:
    known = {document.id: document for document in documents}
    certain = [one for one in questions if one is not None and all(gold.document_id in known for gold in one.gold)]
    return QuestionSet(name, language, tuple(documents), tuple(certain), len(questions) - len(certain))


def _xquad(name: str) -> QuestionSet:
    language = name.rpartition("-")[2]
    documents = _documents("qa-xquad", language={"zh": "zh-CN"}.get(language, language), only=language)
    titles = {document.id: document.title for document in documents}
    asked = [row for row in rows("qa-xquad", "questions.jsonl") if row["lang"] == language]
    return _set(name, language, documents, [_of_spans(row, titles) for row in asked])


def _squad(name: str) -> QuestionSet:
    documents = _documents("qa-squad", language="en")
    titles = {document.id: document.title for document in documents}
    return _set(name, "en", documents, [_of_starts(row, titles) for row in rows("qa-squad", "questions.jsonl")])


def _drcd(name: str) -> QuestionSet:
    documents = _documents("qa-drcd-zhtw", language="zh-TW")
    titles = {document.id: document.title for document in documents}
    return _set(name, "zh-TW", documents, [_of_spans(row, titles) for row in rows("qa-drcd-zhtw", "questions.jsonl")])


def _of_spans(row: dict, titles: Mapping[str, str]) -> Question | None:
    """A question whose gold is the first span that has an offset."""
    for gold in row["gold"]:
        for span in gold["spans"]:
            if span["start"] is not None:
                place = Gold(gold["pid"], span["start"], span["start"] + len(span["text"]))
                return Question(row["qid"], row["question"], (place,), tuple(row["answers"]), titles[gold["pid"]])
    return None


def _of_starts(row: dict, titles: Mapping[str, str]) -> Question | None:
    """A SQuAD question of which every answer stands in one place; the longest answer's is the gold."""
    (gold,) = row["gold"]
    if not gold["unique"]:
        return None
    span = max(gold["spans"], key=lambda span: len(span["text"]))
    place = Gold(gold["pid"], span["starts"][0], span["starts"][0] + len(span["text"]))
    return Question(row["qid"], row["question"], (place,), tuple(dict.fromkeys(row["answers"])), titles[gold["pid"]])


def _by_sentences(folder: str) -> dict[str, tuple[str, list[tuple[int, int]]]]:
    """Title and the offsets of the set's own sentences, of every passage that has some."""
    found = {}
    for row in rows(folder, "passages.jsonl"):
        if row.get("sentences"):
            spans, at = [], 0
            for sentence in (" ".join(one.split()) for one in row["sentences"]):
                start = row["text"].index(sentence, at)
                at = start + len(sentence)
                spans.append((start, at))
            found[row["pid"]] = (row["title"], spans)
    return found


def _hotpot(name: str) -> QuestionSet:
    return _set(name, "en", _documents("qa-hotpot", language="en"), list(_hotpot_questions()))


def _hotpot_questions() -> Iterator[Question | None]:
    own = _by_sentences("qa-hotpot")
    for row in rows("qa-hotpot", "questions.jsonl"):
        if not row["sentence_gold"]:
            yield None
            continue
        gold = tuple(Gold(one["pid"], *own[one["pid"]][1][number]) for one in row["gold"] for number in one["sents"])
        yield Question(row["qid"], row["question"], gold, cluster=own[row["gold"][0]["pid"]][0])


def _nq(name: str) -> QuestionSet:
    return _set(name, "en", _documents("qa-nq", language="en"), list(_nq_questions()))


def _nq_questions() -> Iterator[Question | None]:
    """QED: the one sentence that people chose. ClapNQ: the sentences that the long answer was written from."""
    own = _by_sentences("qa-nq")
    for file in ("questions_qed.jsonl", "questions_clapnq.jsonl"):
        for row in rows("qa-nq", file):
            if not row["answerable"]:
                continue
            (one,) = row["gold"]
            if not one["sents"]:
                yield None
                continue
            title, spans = own[one["pid"]]
            gold = tuple(Gold(one["pid"], *spans[number]) for number in one["sents"])
            yield Question(f"{file[10:-6]}:{row['qid']}", row["question"], gold, cluster=title)


def _bioasq(name: str) -> QuestionSet:
    """A document is a section of an article: its snippets in order, those that overlap joined."""
    sections: dict[tuple[str, str], dict[int, dict]] = {}
    for row in rows("qa-bioasq", "snippets.jsonl"):
        sections.setdefault((row["doc"], row["section"]), {})[row["begin"]] = row
    documents, places = [], {}
    for (doc, section), own in sections.items():
        text, end = "", -1
        for begin in sorted(own):
            row = own[begin]
            if begin < end:  # inside what is there, or reaching beyond it
                at = len(text) - (end - begin)
                text = text[:at] + row["text"] if at + len(row["text"]) > len(text) else text
            else:
                text = f"{text} {row['text']}" if text else row["text"]
                at = len(text) - len(row["text"])
            end = max(end, begin + len(row["text"]))
            lead = len(row["text"]) - len(row["text"].lstrip())
            places[row["pid"]] = (f"{doc}-{section}", at + lead, row["text"].strip())
        documents.append(Document(f"{doc}-{section}", text, language="en"))
    texts = {document.id: document.text for document in documents}
    questions: list[Question | None] = []
    for row in rows("qa-bioasq", "questions.jsonl"):
        found = [places[pid] for pid in row["gold_pids"] if pid in places]
        held = [(doc, at, at + len(text)) for doc, at, text in found if texts[doc][at : at + len(text)] == text]
        gold = tuple(Gold(*place) for place in held)
        questions.append(Question(row["qid"], row["question"], gold) if gold else None)
    return _set(name, "en", documents, questions)


def _pooled(name: str) -> QuestionSet:
    """All English Wikipedia sets in one archive; the questions are those of SQuAD, HotpotQA and NQ."""
    documents = [document for folder in POOLED for document in _documents(folder, language="en")]
    questions = [one for part in ("qa-squad", "qa-hotpot", "qa-nq") for one in load(part).questions]
    return _set(name, "en", documents, questions)


SETS: Mapping[str, Callable[[str], QuestionSet]] = {
    "qa-xquad-en": _xquad,
    "qa-xquad-zh": _xquad,
    "qa-squad": _squad,
    "qa-drcd-zhtw": _drcd,
    "qa-bioasq": _bioasq,
    "qa-nq": _nq,
    "qa-hotpot": _hotpot,
    "pooled-wikipedia": _pooled,
}


class CachedEmbedder:
    """An embedder that keeps every vector it made in a file, so that a text is encoded once on a machine."""

    def __init__(self, inner: Embedder, *, path: Path = CACHE) -> None:
        """Keep the vectors of ``inner`` in the SQLite file ``path``."""
        self.id, self.dimension = inner.id, inner.dimension
        self.encoded = 0
        self._inner = inner
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = sqlite3.connect(path, timeout=600)
        self._file.execute("pragma journal_mode = wal")
        self._file.execute("pragma synchronous = normal")
        self._file.execute("create table if not exists vectors (key blob primary key, vector blob) without rowid")

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        """As the embedder itself; float32, shape (len(texts), dimension)."""
        keys = [hashlib.blake2b(f"{self.id}\0{role}\0{text}".encode(), digest_size=16).digest() for text in texts]
        found = {key: row for key in set(keys) if (row := self._read(key)) is not None}
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            made = self._inner.embed(list(missing.values()), role=role)
            self.encoded += len(missing)
            found |= dict(zip(missing, made, strict=True))
            rows = [(key, found[key].astype(np.float32).tobytes()) for key in missing]
            with self._file:
                self._file.executemany("insert or ignore into vectors values (?, ?)", rows)
        return np.array([found[key] for key in keys], dtype=np.float32).reshape(len(texts), self.dimension)

    def embed_tokens(self, texts: Sequence[str], *, role: Role = "passage") -> tuple[TokenVectors, ...]:
        """As the embedder itself; not kept."""
        assert isinstance(self._inner, TokenEmbedder)
        return self._inner.embed_tokens(texts, role=role)

    def count_tokens(self, text: str) -> int:
        """As the embedder itself."""
        return self._inner.loaded.count_tokens(text)  # type: ignore[attr-defined]

    def _read(self, key: bytes) -> np.ndarray | None:
        row = self._file.execute("select vector from vectors where key = ?", (key,)).fetchone()
        return None if row is None else np.frombuffer(row[0], dtype=np.float32)
