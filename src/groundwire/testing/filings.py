"""Made-up documents to put into a store, and short ways to ask one and to say what was expected."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import date

import numpy as np

from groundwire.core.ports import Matrix, Vector, VectorStore
from groundwire.core.types import Document, Filter, Match, Sentence

EVERYTHING = Filter()
ODD_NAMES = ('O\'Brien "x" \\ %', "a b\tc", "稿件：第一篇", "100%_sure", "';--", "é🙂")
"""Ids, sources and languages that would break a query language, a path or a terminal."""

MakeStore = Callable[[], VectorStore]
Names = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Filing:
    """A made-up document with its sentences and their vectors, ready to be put."""

    document: Document
    sentences: tuple[Sentence, ...]
    vectors: Matrix
    revision: str


def filing(document: Document, texts: Sequence[str], *, dimension: int, seed: int = 0) -> Filing:
    """A document made of these sentences, with random unit vectors; float32, shape (len(texts), dimension)."""
    sentences, start = [], 0
    for number, text in enumerate(texts):
        end = start + len(text)
        sentences.append(Sentence(f"{document.id}:{start}-{end}", document.id, number // 2, start, end, text))
        start = end + 1
    salt = zlib.crc32(document.id.encode())
    vectors = np.random.default_rng([seed, salt]).standard_normal((len(texts), dimension)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = replace(document, text=" ".join(texts))
    return Filing(whole, tuple(sentences), vectors, f"{zlib.crc32(whole.text.encode()):08x}-{seed}")


def put(store: VectorStore, filings: Sequence[Filing]) -> None:
    """Put made-up documents into a store in one call."""
    blank = np.zeros((0, store.dimension), dtype=np.float32)
    store.put(
        [one.document for one in filings],
        [sentence for one in filings for sentence in one.sentences],
        vectors=np.concatenate([blank, *(one.vectors for one in filings)]),
        revisions=[one.revision for one in filings],
    )


def newsroom(dimension: int) -> tuple[Filing, ...]:
    """Four documents in two languages, dated and undated, with odd sources and a sentence that comes three times."""
    day = date(2024, 5, 6)
    flood = Document("flood", "", title="Flood", published=day, source="CNA", language="en", origin="a.jsonl:1")
    storm = Document("storm", "", published=day.replace(day=7), source="中央社", language="zh-TW", notes=("big5", "x"))
    rates = Document("rates", "", published=day.replace(day=8), source=ODD_NAMES[0], language="en", origin="a.jsonl:2")
    bread = Document("bread", "", source="CNA", url="https://example.org/?a=1&b='2'")
    texts = {
        "flood": ("Flood relief reached Tainan on Monday.", "Volunteers carried water.", "The mayor thanked them."),
        "storm": ("台南市區淹水，居民撤離。", "颱風路徑偏北。", "氣象署發布警報。"),
        "rates": ("Read more below.", "The bank kept its rates.", "Read more below.", "Or cut.", "Read more below."),
        "bread": ("The war and AI made bread dear.",),
    }
    return tuple(filing(one, texts[one.id], dimension=dimension) for one in (flood, storm, rates, bread))


def dense(
    store: VectorStore, *, query: Vector | None = None, k: int = 99, where: Filter = EVERYTHING, among: Names = None
) -> tuple[Match, ...]:
    """Ask for the sentences nearest to a vector; to the first axis where none is given."""
    axis = np.eye(store.dimension, dtype=np.float32)[0]
    return store.dense(axis if query is None else query, k=k, where=where, among=among)


def lexical(
    store: VectorStore, query: str, *, k: int = 99, where: Filter = EVERYTHING, among: Names = None
) -> tuple[Match, ...]:
    """Ask for the sentences that hold words of a query."""
    return store.lexical(query, k=k, where=where, among=among)


def passages(store: VectorStore, query: str, *, among: Names = None) -> tuple[Match, ...]:
    """Ask for the passages that hold words of a query, each named by its first sentence."""
    return store.lexical(query, k=99, where=EVERYTHING, among=among, unit="passage")


def refused(act: Callable[[], object], error: type[Exception], *, what: str) -> None:
    """Require that an act is refused with an error of this kind."""
    try:
        act()
    except error:
        return
    raise AssertionError(f"{what} must raise {error.__name__}")


def check_order(found: Sequence[Match]) -> None:
    """Require that matches come best first, ties by sentence id."""
    keys = [(-match.value, match.sentence.id) for match in found]
    require(keys == sorted(keys), f"results must come best first, ties by sentence id, got {keys}")


def names_of(found: Sequence[Match]) -> list[str]:
    """The ids of the sentences of matches, in order."""
    return [match.sentence.id for match in found]


def close_to(got: float, wanted: float, what: str, /) -> None:
    """Require that two values are the same but for rounding."""
    require(math.isclose(got, wanted, rel_tol=1e-4, abs_tol=1e-4), f"{what}: expected {wanted}, got {got}")


def same(got: object, wanted: object, what: str, /) -> None:
    """Require that what came is what was wanted."""
    require(got == wanted, f"{what}: expected {wanted!r}, got {got!r}")


def require(kept: bool, message: str) -> None:  # noqa: FBT001 (an assertion: the condition is the point)
    """Require a condition, or raise AssertionError with the message."""
    if not kept:
        raise AssertionError(message)
