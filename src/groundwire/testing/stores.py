"""Hold a store to what the port promises."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import replace
from datetime import date
from functools import partial

import numpy as np

from groundwire.core.ports import Counts, Head, VectorStore
from groundwire.core.types import Document, Filter
from groundwire.testing.filings import (
    ODD_NAMES,
    Filing,
    MakeStore,
    check_order,
    close_to,
    dense,
    filing,
    lexical,
    names_of,
    newsroom,
    passages,
    put,
    refused,
    require,
    same,
)

HALF_TOLERANCE = 2e-3
"""How far a dot product of unit vectors may be off when a store keeps them in float16."""
_ASKED = (("flood Tainan", "flood"), ("淹水", "storm"), ("BREAD", "bread"), ("bank", "rates"), ("war AI", "bread"))


def check_store(make_store: MakeStore) -> None:
    """Hold a store to what the port promises, on small made-up archives in English and Chinese.

    An empty store; put, replace, remove; the order of results and ties; filters (dates inclusive, undated documents,
    sources, languages, quoting); ``among``; k beyond the store; revisions; origins, also set anew; source order; a
    sentence that comes three times; odd ids; float16; the words of passages; the stored vectors; ``finish`` at any
    time; refusal of vectors that do not fit.

    Args:
        make_store: makes a new, empty store at each call, always of the same dimension (4 or more).

    Raises:
        AssertionError: a promise is broken.
    """
    checks = [_check_empty, _check_reading_back, _check_replacing, _check_without_sentences, _check_removing]
    checks += [_check_dense, _check_ties, _check_lexical, _check_plain_text, _check_filters]
    checks += [_check_among, _check_odd_names, _check_finish, _check_refusal, _check_passages, _check_vectors]
    for check in checks:
        with closing(make_store()) as store:
            check(store)


def check_holds(store: VectorStore, filings: Sequence[Filing]) -> None:
    """Hold a store to holding exactly these documents, with all their fields and sentences.

    Raises:
        AssertionError: something is missing, too much or different.
    """
    names = [one.document.id for one in filings]
    held = {one.document.id: one.sentences for one in filings}
    origins = {one.document.id: one.document.origin for one in filings if one.document.origin}
    same(dict(store.revisions()), {one.document.id: one.revision for one in filings}, "revisions()")
    same(dict(store.origins()), origins, "origins()")
    about = sorted((one.document for one in filings), key=lambda document: document.id)
    heads = [Head(one.id, one.title, one.published, one.source, one.language) for one in about]
    same(list(store.heads()), heads, "heads()")
    same(dict(store.documents([*names, "none"])), {one.document.id: one.document for one in filings}, "documents()")
    same(dict(store.sentences([*names, "none"])), held, "sentences()")
    same(store.counts(), Counts(len(filings), sum(map(len, held.values()))), "counts()")
    every = sorted(sentence.id for own in held.values() for sentence in own)
    same(sorted(names_of(dense(store, k=len(every) + 10))), every, "dense() with k beyond the store")


def _check_empty(store: VectorStore) -> None:
    for _ in range(2):
        check_holds(store, [])
        same(lexical(store, "flood 淹水"), (), "lexical() on an empty store")
        same(store.remove([]) + store.remove(["none"]), 0, "remove() of no id and of an unknown one")
        store.finish()
        put(store, [])


def _check_reading_back(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    turned = replace(room[0], sentences=room[0].sentences[::-1], vectors=room[0].vectors[::-1])
    put(store, [turned, *room[1:3]])
    put(store, room[3:])
    check_holds(store, room)
    put(store, room)
    check_holds(store, room)
    spans = sorted((match.sentence.start, match.sentence.end) for match in lexical(store, "read below"))
    wanted = [(own.start, own.end) for own in room[2].sentences[::2]]
    same(spans, wanted, "the places of a sentence that comes three times")


def _check_replacing(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    for texts in (("Only water stayed.",), ("Flood relief reached Tainan.", "Then it rained.", "A", "B", "C")):
        edited = filing(replace(room[0].document, title="Edited"), texts, dimension=store.dimension, seed=1)
        added = filing(Document(f"new {len(texts)}", "", origin="b"), texts, dimension=store.dimension)
        put(store, [edited, added])
        check_holds(store, [edited, *room[1:], added])
        same(lexical(store, "volunteers"), (), "lexical() for a word that was edited away")
        store.remove([added.document.id])
    turned = replace(edited, vectors=edited.vectors[::-1].copy())
    put(store, [turned])
    nearest = dense(store, query=turned.vectors[0], k=1)
    same(names_of(nearest), [turned.sentences[0].id], "dense() after only the vectors were replaced")


def _check_without_sentences(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    silent = filing(room[0].document, (), dimension=store.dimension, seed=1)
    for one in (silent, replace(silent, revision="again"), room[0]):
        put(store, [one])
        check_holds(store, [one, *room[1:]])


def _check_removing(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    same(store.remove(iter(["flood", "flood", "none", "bread"])), 2, "remove() of two documents and an unknown one")
    check_holds(store, room[1:3])
    same(lexical(store, "volunteers"), (), "lexical() for a removed sentence")
    same(store.remove(["flood"]), 0, "remove() of what is gone")
    put(store, [room[0]])
    check_holds(store, room[:3])


def _check_dense(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    query = np.random.default_rng(5).standard_normal(store.dimension).astype(np.float32)
    query /= np.linalg.norm(query)
    sentences = {sentence.id: sentence for one in room for sentence in one.sentences}
    values = np.concatenate([one.vectors for one in room]) @ query
    exact = dict(zip(sentences, map(float, values), strict=True))
    for k in (0, 1, 3, len(exact), 1000):
        found = dense(store, query=query, k=k)
        best = sorted(exact.values(), reverse=True)[:k]
        same(len(found), len(best), f"the number of results for k={k}")
        check_order(found)
        for match, value in zip(found, best, strict=True):
            off = max(abs(match.value - one) for one in (exact[match.sentence.id], value))
            require(off <= HALF_TOLERANCE, f"dense(), k={k}: the value of {match.sentence.id!r} is off by {off:.2g}")
            same(match.sentence, sentences[match.sentence.id], "the sentence of a match")


def _check_ties(store: VectorStore) -> None:
    named = [filing(Document(f"twin {n:02}", ""), ("Rain fell.",), dimension=store.dimension) for n in range(30)]
    put(store, [replace(one, vectors=named[0].vectors) for one in named[::-1]])
    names = sorted(one.sentences[0].id for one in named)
    for k in (1, 7, 30):
        same(names_of(dense(store, k=k)), names[:k], f"dense() among 30 ties with k={k}")
        same(names_of(lexical(store, "rain", k=k)), names[:k], f"lexical() among 30 ties with k={k}")


def _check_lexical(store: VectorStore) -> None:
    put(store, newsroom(store.dimension))
    for when in ("before finish()", "after finish()"):
        for query, name in _ASKED:
            found = lexical(store, query)
            first = found[0].sentence.document_id if found else None
            same(first, name, f"the first document of lexical({query!r}) {when}")
            check_order(found)
            require(all(match.value > 0 for match in found), f"BM25 values must be above 0 {when}")
        same(lexical(store, "zebra 斑馬"), (), f"lexical() for absent words {when}")
        same(lexical(store, "flood", k=0), (), f"lexical() with k=0 {when}")
        store.finish()


def _check_plain_text(store: VectorStore) -> None:
    put(store, newsroom(store.dimension))
    for query in ("", " ", "?!…", "「」", '"', "()"):
        same(lexical(store, query), (), f"lexical({query!r}), a query without a word")
    plain = names_of(lexical(store, "volunteers bread"))
    same(len(plain), 2, "how many sentences hold one of two words")
    for query in ("+volunteers +bread", '"volunteers bread"', "volunteers -bread", "(volunteers) bread*"):
        same(sorted(names_of(lexical(store, query))), sorted(plain), f"lexical({query!r}), whose signs mean nothing")


def _check_filters(store: VectorStore) -> None:
    put(store, newsroom(store.dimension))
    sixth, seventh, ninth = (date(2024, 5, day) for day in (6, 7, 9))
    query = "volunteers 淹水 rates bread"
    whole = {match.sentence.id: match.value for match in lexical(store, query)}
    for where, wanted in (
        (Filter(), {"flood", "storm", "rates", "bread"}),
        (Filter(published_from=seventh), {"storm", "rates"}),
        (Filter(published_to=seventh), {"flood", "storm"}),
        (Filter(published_from=sixth, published_to=sixth), {"flood"}),
        (Filter(published_from=ninth), set()),
        (Filter(sources=("CNA", ODD_NAMES[0])), {"flood", "bread", "rates"}),
        (Filter(sources=("' OR '1'='1", "%", "cna")), set()),
        (Filter(languages=("zh-TW", "zh-CN")), {"storm"}),
        (Filter(languages=("",)), {"bread"}),
        (Filter(published_to=ninth, sources=("CNA", "中央社"), languages=("en",)), {"flood"}),
    ):
        near, said = dense(store, where=where), lexical(store, query, where=where)
        same({match.sentence.document_id for match in near}, wanted, f"documents of dense() with {where}")
        same({match.sentence.document_id for match in said}, wanted, f"documents of lexical() with {where}")
        for match in said:
            close_to(match.value, whole[match.sentence.id], f"the BM25 value of {match.sentence.id!r} with {where}")


def _check_among(store: VectorStore) -> None:
    put(store, newsroom(store.dimension))
    query = "flood Tainan volunteers water 淹水 rates bread"
    english = Filter(languages=("en",))
    for when in ("before finish()", "after finish()"):
        for name in ("dense", "lexical"):
            search = partial(dense, store) if name == "dense" else partial(lexical, store, query)
            some = search()[::2]
            among = [*names_of(some), some[0].sentence.id, "none", *ODD_NAMES]
            found = search(among=among)
            same(names_of(found), names_of(some), f"{name}(among=...) {when}")
            for match, full in zip(found, some, strict=True):
                close_to(match.value, full.value, f"the value of {match.sentence.id!r} in {name}(among=...) {when}")
            same(search(among=[]), (), f"{name}(among=[])")
            both = [match.sentence.id for match in some if match.sentence.document_id in {"flood", "rates"}]
            same(names_of(search(among=among, where=english)), both, f"{name}(among=...) with a filter {when}")
        store.finish()


def _check_odd_names(store: VectorStore) -> None:
    about = [Document(name, "", origin=f"/{name}:1", source=name, language=name) for name in ODD_NAMES]
    odd = [filing(one, (f"Text {one.id}", "B"), dimension=store.dimension) for one in about]
    put(store, odd)
    check_holds(store, odd)
    for one in odd:
        name, own = one.document.id, sorted(sentence.id for sentence in one.sentences)
        same(sorted(names_of(dense(store, where=Filter(sources=(name,))))), own, f"the source {name!r}")
        same(sorted(names_of(dense(store, among=own))), own, f"among the sentences of {name!r}")
        put(store, [one])
        same(store.remove([name]), 1, f"remove() of the id {name!r}")
    check_holds(store, [])


def _check_passages(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    flood, rates = ([sentence.id for sentence in one.sentences] for one in (room[0], room[2]))
    for when in ("before finish()", "after finish()"):
        for query, wanted in (
            ("volunteers", flood[:1]),
            ("mayor", flood[2:]),
            ("read", rates[::2]),
            ("斑馬 zebra", []),
        ):
            found = passages(store, query)
            same(sorted(names_of(found)), sorted(wanted), f"lexical({query!r}, unit='passage') {when}")
            check_order(found)
        whole = {match.sentence.id: match.value for match in passages(store, "flood volunteers read")}
        require(whole[flood[0]] > whole[rates[4]], f"two words of a passage count more than one {when}")
        some = passages(store, "flood volunteers read", among=[flood[0], flood[1], "none"])
        same(names_of(some), flood[:1], f"lexical(unit='passage', among=...) {when}")
        close_to(some[0].value, whole[flood[0]], f"the value of a passage in lexical(among=...) {when}")
        later = passages(store, "flood volunteers read", among=[flood[1], rates[4]])
        same(sorted(names_of(later)), sorted([flood[0], rates[4]]), f"the passages of any of their sentences {when}")
        store.finish()
    put(store, [filing(room[0].document, ("Only water stayed.",), dimension=store.dimension, seed=1)])
    same(passages(store, "volunteers"), (), "lexical(unit='passage') for a word that was edited away")


def _check_vectors(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room)
    kept = {one.id: vector for filed in room for one, vector in zip(filed.sentences, filed.vectors, strict=True)}
    names = list(kept)[::2]
    found = dict(store.vectors([*names, "none"]))
    same(sorted(found), sorted(names), "the ids of vectors()")
    same(dict(store.vectors([])), {}, "vectors() of no id")
    for name, vector in found.items():
        same((vector.shape, vector.dtype), ((store.dimension,), np.dtype(np.float32)), "shape and type of a vector")
        off = float(np.abs(vector - kept[name]).max())
        require(off <= HALF_TOLERANCE, f"the vector of {name!r} is off by {off:.2g}")


def _check_finish(store: VectorStore) -> None:
    room = newsroom(store.dimension)
    put(store, room[:2])
    store.finish()
    put(store, room[2:])
    before = names_of(dense(store))
    new = {"flood": "a.jsonl:1\n/b.txt", "storm": "/c", "rates": "", "bread": "", "none": "/d"}
    store.set_origins(new)
    room = tuple(replace(one, document=replace(one.document, origin=new[one.document.id])) for one in room)
    for _ in range(3):
        check_holds(store, room)
        same(names_of(dense(store)), before, "dense() after finish()")
        store.finish()


def _check_refusal(store: VectorStore) -> None:
    own, *others = newsroom(store.dimension)
    put(store, others)
    spoilt = np.where(np.arange(store.dimension) == 1, np.nan, own.vectors)
    for what, bad in (
        ("vectors of another dimension", replace(own, vectors=own.vectors[:, 1:])),
        ("too few vectors", replace(own, vectors=own.vectors[1:])),
        ("a vector with NaN", replace(own, vectors=spoilt)),
    ):
        act = partial(store.put, [bad.document], bad.sentences, vectors=bad.vectors, revisions=[bad.revision])
        refused(act, ValueError, what=f"put() with {what}")
    check_holds(store, others)


def check_folded_store(make_store: MakeStore) -> None:
    """Hold a store that folds words to finding Traditional text by Simplified words and the reverse, for any folding.

    What is shown is the text as it was put; restrictions and other languages are as without folding.

    Args:
        make_store: makes a new, empty store that folds at each call.

    Raises:
        AssertionError: a promise is broken.
    """
    with closing(make_store()) as store:
        old = filing(Document("old", ""), ("臺灣的經濟發展。", "Inflation stayed low."), dimension=store.dimension)
        new = filing(Document("new", ""), ("台湾的经济发展。", "Rates rose again."), dimension=store.dimension)
        other = filing(Document("other", ""), ("海边下雨。", "Rain fell."), dimension=store.dimension)
        put(store, [old, new, other])
        both = sorted([old.sentences[0].id, new.sentences[0].id])
        for when in ("before finish()", "after finish()"):
            for query in ("經濟", "经济", "臺灣經濟", "台湾经济"):
                for name, ask in (("sentence", lexical), ("passage", passages)):
                    found = ask(store, query)
                    same(names_of(found), both, f"lexical({query!r}, unit={name!r}) {when}")
                    close_to(found[0].value, found[1].value, f"the values of one sentence in two scripts {when}")
                shown = {match.sentence.text for match in lexical(store, query)}
                same(shown, {old.sentences[0].text, new.sentences[0].text}, "the texts that are shown")
            same(names_of(lexical(store, "經濟", among=both[:1])), both[:1], f"lexical(among=...) with folding {when}")
            same(names_of(lexical(store, "inflation")), [old.sentences[1].id], f"an English word with folding {when}")
            check_holds(store, [old, new, other])
            store.finish()
