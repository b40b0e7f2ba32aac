"""Conformance checks, for our tests and for the authors of other backends.

A check raises AssertionError and says what was expected and what came::

    def test_my_store_keeps_the_promises(tmp_path):
        check_store(lambda: MyStore(tmp_path / uuid4().hex, dimension=16))
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

import numpy as np

from groundwire.core.ports import Counts, Embedder, Matrix, Role, Vector, VectorStore
from groundwire.core.types import Document, Filter, Match, Sentence

HALF_TOLERANCE = 2e-3
"""How far a dot product of unit vectors may be off when a store keeps them in float16."""
_EVERYTHING = Filter()
_ODD_NAMES = ('O\'Brien "x" \\ %', "a b\tc", "稿件：第一篇", "100%_sure", "';--", "é🙂")
_ASKED = (("flood Tainan", "flood"), ("淹水", "storm"), ("BREAD", "bread"), ("bank", "rates"), ("war AI", "bread"))

MakeStore = Callable[[], VectorStore]
Names = Sequence[str] | None


def check_embedder(embedder: Embedder, *, tolerance: float = 1e-4) -> None:
    """Hold an embedder to what the port promises.

    Shape and type, also for no texts; finite unit vectors (blank texts may give zeros); the same text the same vector,
    whatever its neighbours, their number and order; different texts different vectors.

    Args:
        embedder: the embedder to check; about 30 short texts and one of 6,000 words are embedded.
        tolerance: how far a number of a vector may differ between two calls.

    Raises:
        AssertionError: a promise is broken.
    """
    _require(bool(embedder.id), f"an embedder needs an id, got {embedder.id!r}")
    texts = ["Flood relief reached Tainan.", "台南市區淹水，居民撤離。", "The central bank kept rates.", "x", "🙂"]
    for role in ("passage", "query"):
        _check_rows(embedder, texts, role=role, tolerance=tolerance)
    _check_shape(embedder.embed([]), rows=0, dimension=embedder.dimension)
    blank = embedder.embed(["", " \n", "word " * 6000])
    _check_shape(blank, rows=3, dimension=embedder.dimension)
    _require(bool(np.isfinite(blank).all()), "blank and very long texts must give finite numbers")


def _check_rows(embedder: Embedder, texts: Sequence[str], *, role: Role, tolerance: float) -> None:
    together = embedder.embed(texts, role=role)
    _check_shape(together, rows=len(texts), dimension=embedder.dimension)
    lengths = np.linalg.norm(together, axis=1)
    _require(bool(np.allclose(lengths, 1, atol=1e-3)), f"vectors must have length 1, got {lengths.tolist()} ({role})")
    others = (
        ("alone", np.concatenate([embedder.embed([text], role=role) for text in texts])),
        ("in reverse order", embedder.embed(texts[::-1], role=role)[::-1]),
        ("beside a long text", embedder.embed([*texts, "long " * 300], role=role)[:-1]),
    )
    for how, rows in others:
        furthest = float(np.abs(rows - together).max())
        _require(furthest <= tolerance, f"a text embedded {how} is off by {furthest:.2g} from its row ({role})")
    nearest = float((together @ together.T)[~np.eye(len(texts), dtype=bool)].max())
    _require(nearest < 1 - 1e-4, f"different texts must have different vectors, two have the cosine {nearest} ({role})")


def _check_shape(vectors: Matrix, *, rows: int, dimension: int) -> None:
    _same(vectors.shape, (rows, dimension), f"the shape of the vectors of {rows} texts")
    _require(vectors.dtype == np.float32, f"vectors must be float32, got {vectors.dtype}")


def check_store(make_store: MakeStore) -> None:
    """Hold a store to what the port promises, on small made-up archives in English and Chinese.

    An empty store; put, replace, remove; the order of results and ties; filters (dates inclusive, undated documents,
    sources, languages, quoting); ``among``; k beyond the store; revisions; origins, also set anew; source order; a
    sentence that comes three times; odd ids; float16; ``finish`` at any time; refusal of vectors that do not fit.

    Args:
        make_store: makes a new, empty store at each call, always of the same dimension (4 or more).

    Raises:
        AssertionError: a promise is broken.
    """
    checks = [_check_empty, _check_reading_back, _check_replacing, _check_without_sentences, _check_removing]
    checks += [_check_dense, _check_ties, _check_lexical, _check_plain_text, _check_filters]
    checks += [_check_among, _check_odd_names, _check_finish, _check_refusal]
    for check in checks:
        with closing(make_store()) as store:
            check(store)


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


def check_holds(store: VectorStore, filings: Sequence[Filing]) -> None:
    """Hold a store to holding exactly these documents, with all their fields and sentences.

    Raises:
        AssertionError: something is missing, too much or different.
    """
    names = [one.document.id for one in filings]
    held = {one.document.id: one.sentences for one in filings}
    origins = {one.document.id: one.document.origin for one in filings if one.document.origin}
    _same(dict(store.revisions()), {one.document.id: one.revision for one in filings}, "revisions()")
    _same(dict(store.origins()), origins, "origins()")
    _same(dict(store.documents([*names, "none"])), {one.document.id: one.document for one in filings}, "documents()")
    _same(dict(store.sentences([*names, "none"])), held, "sentences()")
    _same(store.counts(), Counts(len(filings), sum(map(len, held.values()))), "counts()")
    every = sorted(sentence.id for own in held.values() for sentence in own)
    _same(sorted(_names(_dense(store, k=len(every) + 10))), every, "dense() with k beyond the store")


def _newsroom(dimension: int) -> tuple[Filing, ...]:
    day = date(2024, 5, 6)
    flood = Document("flood", "", title="Flood", published=day, source="CNA", language="en", origin="a.jsonl:1")
    storm = Document("storm", "", published=day.replace(day=7), source="中央社", language="zh-TW", notes=("big5", "x"))
    rates = Document("rates", "", published=day.replace(day=8), source=_ODD_NAMES[0], language="en", origin="a.jsonl:2")
    bread = Document("bread", "", source="CNA", url="https://example.org/?a=1&b='2'")
    texts = {
        "flood": ("Flood relief reached Tainan on Monday.", "Volunteers carried water.", "The mayor thanked them."),
        "storm": ("台南市區淹水，居民撤離。", "颱風路徑偏北。", "氣象署發布警報。"),
        "rates": ("Read more below.", "The bank kept its rates.", "Read more below.", "Or cut.", "Read more below."),
        "bread": ("The war and AI made bread dear.",),
    }
    return tuple(filing(one, texts[one.id], dimension=dimension) for one in (flood, storm, rates, bread))


def _check_empty(store: VectorStore) -> None:
    for _ in range(2):
        check_holds(store, [])
        _same(_lexical(store, "flood 淹水"), (), "lexical() on an empty store")
        _same(store.remove([]) + store.remove(["none"]), 0, "remove() of no id and of an unknown one")
        store.finish()
        put(store, [])


def _check_reading_back(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    turned = replace(room[0], sentences=room[0].sentences[::-1], vectors=room[0].vectors[::-1])
    put(store, [turned, *room[1:3]])
    put(store, room[3:])
    check_holds(store, room)
    put(store, room)
    check_holds(store, room)
    spans = sorted((match.sentence.start, match.sentence.end) for match in _lexical(store, "read below"))
    wanted = [(own.start, own.end) for own in room[2].sentences[::2]]
    _same(spans, wanted, "the places of a sentence that comes three times")


def _check_replacing(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    put(store, room)
    for texts in (("Only water stayed.",), ("Flood relief reached Tainan.", "Then it rained.", "A", "B", "C")):
        edited = filing(replace(room[0].document, title="Edited"), texts, dimension=store.dimension, seed=1)
        added = filing(Document(f"new {len(texts)}", "", origin="b"), texts, dimension=store.dimension)
        put(store, [edited, added])
        check_holds(store, [edited, *room[1:], added])
        _same(_lexical(store, "volunteers"), (), "lexical() for a word that was edited away")
        store.remove([added.document.id])
    turned = replace(edited, vectors=edited.vectors[::-1].copy())
    put(store, [turned])
    nearest = _dense(store, query=turned.vectors[0], k=1)
    _same(_names(nearest), [turned.sentences[0].id], "dense() after only the vectors were replaced")


def _check_without_sentences(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    put(store, room)
    silent = filing(room[0].document, (), dimension=store.dimension, seed=1)
    for one in (silent, replace(silent, revision="again"), room[0]):
        put(store, [one])
        check_holds(store, [one, *room[1:]])


def _check_removing(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    put(store, room)
    _same(store.remove(iter(["flood", "flood", "none", "bread"])), 2, "remove() of two documents and an unknown one")
    check_holds(store, room[1:3])
    _same(_lexical(store, "volunteers"), (), "lexical() for a removed sentence")
    _same(store.remove(["flood"]), 0, "remove() of what is gone")
    put(store, [room[0]])
    check_holds(store, room[:3])


def _check_dense(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    put(store, room)
    query = np.random.default_rng(5).standard_normal(store.dimension).astype(np.float32)
    query /= np.linalg.norm(query)
    sentences = {sentence.id: sentence for one in room for sentence in one.sentences}
    values = np.concatenate([one.vectors for one in room]) @ query
    exact = dict(zip(sentences, map(float, values), strict=True))
    for k in (0, 1, 3, len(exact), 1000):
        found = _dense(store, query=query, k=k)
        best = sorted(exact.values(), reverse=True)[:k]
        _same(len(found), len(best), f"the number of results for k={k}")
        _check_order(found)
        for match, value in zip(found, best, strict=True):
            off = max(abs(match.value - one) for one in (exact[match.sentence.id], value))
            _require(off <= HALF_TOLERANCE, f"dense(), k={k}: the value of {match.sentence.id!r} is off by {off:.2g}")
            _same(match.sentence, sentences[match.sentence.id], "the sentence of a match")


def _check_ties(store: VectorStore) -> None:
    named = [filing(Document(f"twin {n:02}", ""), ("Rain fell.",), dimension=store.dimension) for n in range(30)]
    put(store, [replace(one, vectors=named[0].vectors) for one in named[::-1]])
    names = sorted(one.sentences[0].id for one in named)
    for k in (1, 7, 30):
        _same(_names(_dense(store, k=k)), names[:k], f"dense() among 30 ties with k={k}")
        _same(_names(_lexical(store, "rain", k=k)), names[:k], f"lexical() among 30 ties with k={k}")


def _check_lexical(store: VectorStore) -> None:
    put(store, _newsroom(store.dimension))
    for when in ("before finish()", "after finish()"):
        for query, name in _ASKED:
            found = _lexical(store, query)
            first = found[0].sentence.document_id if found else None
            _same(first, name, f"the first document of lexical({query!r}) {when}")
            _check_order(found)
            _require(all(match.value > 0 for match in found), f"BM25 values must be above 0 {when}")
        _same(_lexical(store, "zebra 斑馬"), (), f"lexical() for absent words {when}")
        _same(_lexical(store, "flood", k=0), (), f"lexical() with k=0 {when}")
        store.finish()


def _check_plain_text(store: VectorStore) -> None:
    put(store, _newsroom(store.dimension))
    for query in ("", " ", "?!…", "「」", '"', "()"):
        _same(_lexical(store, query), (), f"lexical({query!r}), a query without a word")
    plain = _names(_lexical(store, "volunteers bread"))
    _same(len(plain), 2, "how many sentences hold one of two words")
    for query in ("+volunteers +bread", '"volunteers bread"', "volunteers -bread", "(volunteers) bread*"):
        _same(sorted(_names(_lexical(store, query))), sorted(plain), f"lexical({query!r}), whose signs mean nothing")


def _check_filters(store: VectorStore) -> None:
    put(store, _newsroom(store.dimension))
    sixth, seventh, ninth = (date(2024, 5, day) for day in (6, 7, 9))
    query = "volunteers 淹水 rates bread"
    whole = {match.sentence.id: match.value for match in _lexical(store, query)}
    for where, wanted in (
        (Filter(), {"flood", "storm", "rates", "bread"}),
        (Filter(published_from=seventh), {"storm", "rates"}),
        (Filter(published_to=seventh), {"flood", "storm"}),
        (Filter(published_from=sixth, published_to=sixth), {"flood"}),
        (Filter(published_from=ninth), set()),
        (Filter(sources=("CNA", _ODD_NAMES[0])), {"flood", "bread", "rates"}),
        (Filter(sources=("' OR '1'='1", "%", "cna")), set()),
        (Filter(languages=("zh-TW", "zh-CN")), {"storm"}),
        (Filter(languages=("",)), {"bread"}),
        (Filter(published_to=ninth, sources=("CNA", "中央社"), languages=("en",)), {"flood"}),
    ):
        dense, lexical = _dense(store, where=where), _lexical(store, query, where=where)
        _same({match.sentence.document_id for match in dense}, wanted, f"documents of dense() with {where}")
        _same({match.sentence.document_id for match in lexical}, wanted, f"documents of lexical() with {where}")
        for match in lexical:
            _close(match.value, whole[match.sentence.id], f"the BM25 value of {match.sentence.id!r} with {where}")


def _check_among(store: VectorStore) -> None:
    put(store, _newsroom(store.dimension))
    query = "flood Tainan volunteers water 淹水 rates bread"
    english = Filter(languages=("en",))
    for when in ("before finish()", "after finish()"):
        for name in ("dense", "lexical"):
            search = partial(_dense, store) if name == "dense" else partial(_lexical, store, query)
            some = search()[::2]
            among = [*_names(some), some[0].sentence.id, "none", *_ODD_NAMES]
            found = search(among=among)
            _same(_names(found), _names(some), f"{name}(among=...) {when}")
            for match, full in zip(found, some, strict=True):
                _close(match.value, full.value, f"the value of {match.sentence.id!r} in {name}(among=...) {when}")
            _same(search(among=[]), (), f"{name}(among=[])")
            both = [match.sentence.id for match in some if match.sentence.document_id in {"flood", "rates"}]
            _same(_names(search(among=among, where=english)), both, f"{name}(among=...) with a filter {when}")
        store.finish()


def _check_odd_names(store: VectorStore) -> None:
    about = [Document(name, "", origin=f"/{name}:1", source=name, language=name) for name in _ODD_NAMES]
    odd = [filing(one, (f"Text {one.id}", "B"), dimension=store.dimension) for one in about]
    put(store, odd)
    check_holds(store, odd)
    for one in odd:
        name, own = one.document.id, sorted(sentence.id for sentence in one.sentences)
        _same(sorted(_names(_dense(store, where=Filter(sources=(name,))))), own, f"the source {name!r}")
        _same(sorted(_names(_dense(store, among=own))), own, f"among the sentences of {name!r}")
        put(store, [one])
        _same(store.remove([name]), 1, f"remove() of the id {name!r}")
    check_holds(store, [])


def _check_finish(store: VectorStore) -> None:
    room = _newsroom(store.dimension)
    put(store, room[:2])
    store.finish()
    put(store, room[2:])
    before = _names(_dense(store))
    new = {"flood": "a.jsonl:1\n/b.txt", "storm": "/c", "rates": "", "bread": "", "none": "/d"}
    store.set_origins(new)
    room = tuple(replace(one, document=replace(one.document, origin=new[one.document.id])) for one in room)
    for _ in range(3):
        check_holds(store, room)
        _same(_names(_dense(store)), before, "dense() after finish()")
        store.finish()


def _check_refusal(store: VectorStore) -> None:
    own, *others = _newsroom(store.dimension)
    put(store, others)
    spoilt = np.where(np.arange(store.dimension) == 1, np.nan, own.vectors)
    for what, bad in (
        ("vectors of another dimension", replace(own, vectors=own.vectors[:, 1:])),
        ("too few vectors", replace(own, vectors=own.vectors[1:])),
        ("a vector with NaN", replace(own, vectors=spoilt)),
    ):
        try:
            store.put([bad.document], bad.sentences, vectors=bad.vectors, revisions=[bad.revision])
        except ValueError:
            continue
        raise AssertionError(f"put() with {what} must raise ValueError")
    check_holds(store, others)


def _dense(
    store: VectorStore, *, query: Vector | None = None, k: int = 99, where: Filter = _EVERYTHING, among: Names = None
) -> tuple[Match, ...]:
    axis = np.eye(store.dimension, dtype=np.float32)[0]
    return store.dense(axis if query is None else query, k=k, where=where, among=among)


def _lexical(
    store: VectorStore, query: str, *, k: int = 99, where: Filter = _EVERYTHING, among: Names = None
) -> tuple[Match, ...]:
    return store.lexical(query, k=k, where=where, among=among)


def _check_order(found: Sequence[Match]) -> None:
    keys = [(-match.value, match.sentence.id) for match in found]
    _require(keys == sorted(keys), f"results must come best first, ties by sentence id, got {keys}")


def _names(found: Sequence[Match]) -> list[str]:
    return [match.sentence.id for match in found]


def _close(got: float, wanted: float, what: str) -> None:
    _require(math.isclose(got, wanted, rel_tol=1e-4, abs_tol=1e-4), f"{what}: expected {wanted}, got {got}")


def _same(got: object, wanted: object, what: str) -> None:
    _require(got == wanted, f"{what}: expected {wanted!r}, got {got!r}")


def _require(kept: bool, message: str) -> None:  # noqa: FBT001 (an assertion: the condition is the point)
    if not kept:
        raise AssertionError(message)
