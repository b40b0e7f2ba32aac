from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.folding import folder
from groundwire.core.ports import Counts, Snapshot
from groundwire.core.types import Filter, Match
from groundwire.testing import check_embedder, check_folded_store, check_lasting_store, check_store


class Broken:
    """A good object with some methods replaced; ``inner`` is the good one."""

    def __init__(self, inner: Any, **methods: Callable[..., Any]) -> None:
        self.inner = inner
        self.methods = methods

    def __getattr__(self, name: str) -> Any:
        if name in self.methods:
            return lambda *args, **kwargs: self.methods[name](self.inner, *args, **kwargs)
        return getattr(self.inner, name)


def undated_pass(store: MemoryStore, query: Any, *, k: int, where: Filter, among: Any = None) -> tuple[Match, ...]:
    found = store.dense(query, k=k, where=replace(where, published_from=None, published_to=None), among=among)
    return tuple(
        match
        for match in found
        if (day := store.documents([match.sentence.document_id])[match.sentence.document_id].published) is None
        or ((where.published_from or day) <= day <= (where.published_to or day))
    )


def forgets_nothing(store: MemoryStore, documents: Any, sentences: Any, *, vectors: Any, revisions: Any) -> None:
    """Keeps the old sentences of a replaced document beside the new ones."""
    old = [one for own in store.sentences([one.id for one in documents]).values() for one in own]
    kept = [one for one in old if one.id not in {new.id for new in sentences}]
    width = ((0, len(kept)), (0, 0))
    store.put(documents, [*sentences, *kept], vectors=np.pad(vectors, width), revisions=revisions)


def swallow(store: MemoryStore, *args: Any, **kwargs: Any) -> None:
    try:
        store.put(*args, **kwargs)
    except ValueError:
        return


# ruff: noqa: ANN401, ARG005 (a broken store may take anything and ignore it)
STORES = {
    "removes nothing": {"remove": lambda store, ids: len(set(ids) & set(store.revisions()))},
    "miscounts": {"counts": lambda store: Counts(0, store.counts().sentences)},
    "ascending": {"dense": lambda store, query, **how: store.dense(query, **how)[::-1]},
    "ignores among": {"dense": lambda store, query, among=None, **how: store.dense(query, **how)},
    "ignores among in words": {"lexical": lambda store, query, among=None, **how: store.lexical(query, **how)},
    "ignores filters": {"dense": lambda store, query, where, **how: store.dense(query, where=Filter(), **how)},
    "lets undated documents pass": {"dense": undated_pass},
    "forgets nothing": {"put": forgets_nothing},
    "takes anything": {"put": swallow},
    "off values": {
        "dense": lambda store, query, **how: tuple(
            replace(match, value=match.value + 0.01) for match in store.dense(query, **how)
        )
    },
    "values depend on among": {
        "lexical": lambda store, query, among=None, **how: tuple(
            replace(match, value=match.value + (among is not None))
            for match in store.lexical(query, among=among, **how)
        )
    },
    "one k short": {"dense": lambda store, query, k, **how: store.dense(query, k=max(0, k - 1), **how)},
    "ties by id down": {
        "dense": lambda store, query, k, **how: tuple(
            sorted(store.dense(query, k=10**6, **how), key=lambda one: (one.value, one.sentence.id))[::-1][:k]
        )
    },
    "no Chinese": {
        "lexical": lambda store, query, **how: (
            store.lexical(query, **how) if query.isascii() else store.lexical("zebra", **how)
        )
    },
    "reads signs": {
        "lexical": lambda store, query, **how: store.lexical(query.partition("-")[0], **how),
    },
    "no source order": {
        "sentences": lambda store, ids: {name: own[::-1] for name, own in store.sentences(ids).items()}
    },
    "no origins": {"origins": lambda _: {}},
    "keeps its origins": {"set_origins": lambda store, origins: None},
    "loses notes": {
        "documents": lambda store, ids: {name: replace(one, notes=()) for name, one in store.documents(ids).items()}
    },
    "old revisions": {"revisions": lambda store: dict.fromkeys(store.revisions(), "old")},
    "finish empties": {"finish": lambda store: store.close()},
    "no passages": {
        "lexical": lambda store, query, unit="sentence", **how: store.lexical(query, **how),
    },
    "passages by any sentence": {
        "lexical": lambda store, query, unit="sentence", **how: tuple(
            replace(match, sentence=store.sentences([match.sentence.document_id])[match.sentence.document_id][-1])
            if unit == "passage"
            else match
            for match in store.lexical(query, unit=unit, **how)
        )
    },
    "unknown vectors": {
        "vectors": lambda store, ids: {name: np.ones(store.dimension, dtype=np.float32) for name in ids}
    },
    "float64 vectors": {"vectors": lambda store, ids: {n: v.astype(float) for n, v in store.vectors(ids).items()}},
    "other vectors": {"vectors": lambda store, ids: {n: v + 0.01 for n, v in store.vectors(ids).items()}},
}


@pytest.mark.parametrize("methods", STORES.values(), ids=STORES.keys())
def test_a_broken_store_is_caught(methods: dict[str, Callable[..., Any]]) -> None:
    with pytest.raises(AssertionError, match=r"expected|must|off by"):
        check_store(lambda: Broken(MemoryStore(8), **methods))


def pinned(store: MemoryStore, name: str, **methods: Callable[..., Any]) -> Broken:
    return Broken(store.at(name), **methods)


def writable(store: MemoryStore, name: str) -> MemoryStore:
    then = store.at(name)
    then._pinned = ""
    return then


def anything_named(store: MemoryStore, name: str) -> Snapshot:
    try:
        return store.snapshot(name)
    except UsageError:
        return Snapshot(name, datetime.now(tz=UTC), 0, 0)


LASTING = {
    "no snapshot": {"at": lambda store, name: store.at(name) and store},
    "the first snapshot for all": {"at": lambda store, name: store.at(name) and store.at(min(store.snapshots()))},
    "writable snapshots": {"at": writable},
    "takes any name": {"snapshot": anything_named},
    "takes a name twice": {
        "snapshot": lambda store, name: (
            store.forget_snapshot(name) if name in store.snapshots() else None,
            store.snapshot(name),
        )[1]
    },
    "forgets nothing": {"forget_snapshot": lambda store, name: store.at(name) and None},
    "forgets what is not there": {
        "forget_snapshot": lambda store, name: name in store.snapshots() and store.forget_snapshot(name)
    },
    "lists nothing": {"snapshots": lambda _: {}},
    "dates of old": {
        "snapshot": lambda store, name: replace(store.snapshot(name), when=datetime(2020, 1, 1, tzinfo=UTC))
    },
    "compact drops snapshots": {
        "compact": lambda store: [store.forget_snapshot(name) for name in list(store.snapshots())]
    },
    "compact drops documents": {"compact": lambda store: store.remove(list(store.revisions())[:1])},
    "no facts": {"facts": lambda _: {}},
    "numbers as texts": {"facts": lambda store: {name: str(value) for name, value in store.facts().items()}},
    "an unindexed tail": {"facts": lambda store: {**store.facts(), "unindexed": 1}},
    "no bytes": {"facts": lambda store: {**store.facts(), "bytes": 0}},
    "finish is refused": {"at": lambda store, name: pinned(store, name, finish=lambda one: one.compact())},
}


@pytest.mark.parametrize("methods", LASTING.values(), ids=LASTING.keys())
def test_a_store_that_does_not_last_is_caught(methods: dict[str, Callable[..., Any]]) -> None:
    with pytest.raises((AssertionError, ArchiveError)):
        check_lasting_store(lambda: Broken(MemoryStore(8), **methods))


FOLDED = {
    "folds nothing": (MemoryStore(8), {}),
    "folds one way": (
        MemoryStore(8),
        {"lexical": lambda store, query, **how: store.lexical(folder("characters")(query), **how)},
    ),
    "shows what it folded": (
        MemoryStore(8, folding="characters"),
        {
            "lexical": lambda store, query, **how: tuple(
                replace(match, sentence=replace(match.sentence, text=folder("characters")(match.sentence.text)))
                for match in store.lexical(query, **how)
            )
        },
    ),
}


@pytest.mark.parametrize(("store", "methods"), FOLDED.values(), ids=FOLDED.keys())
def test_a_store_that_does_not_fold_is_caught(store: MemoryStore, methods: dict[str, Callable[..., Any]]) -> None:
    with pytest.raises(AssertionError, match="expected"):
        check_folded_store(lambda: Broken(store, **methods))


def test_a_good_store_passes_whatever_its_dimension() -> None:
    for dimension in (4, 7, 64):
        check_store(lambda dimension=dimension: MemoryStore(dimension))
        check_lasting_store(lambda dimension=dimension: MemoryStore(dimension))
        check_folded_store(lambda dimension=dimension: MemoryStore(dimension, folding="characters"))


def test_every_store_that_is_made_is_closed() -> None:
    made, closed = [], []

    def make() -> Broken:
        made.append(1)
        return Broken(MemoryStore(8), close=lambda _: closed.append(1))

    check_store(make)
    assert len(made) == len(closed) > 5


def test_a_good_embedder_passes() -> None:
    check_embedder(HashEmbedder())


def depends_on_neighbours(embedder: HashEmbedder, texts: Sequence[str], **how: Any) -> Any:
    rows = embedder.embed(texts, **how) + 0.01 * len(texts)
    return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


EMBEDDERS = {
    "float64": lambda inner, texts, **how: inner.embed(texts, **how).astype(np.float64),
    "not unit": lambda inner, texts, **how: inner.embed(texts, **how) * np.float32(2),
    "always the same": lambda inner, texts, **how: inner.embed(["x"] * len(texts), **how),
    "sorted": lambda inner, texts, **how: inner.embed(sorted(texts), **how),
    "depends on neighbours": depends_on_neighbours,
    "drops a number": lambda inner, texts, **how: inner.embed(texts, **how)[:, 1:],
    "none for none": lambda inner, texts, **how: inner.embed(texts or ["x"], **how),
    "NaN for blanks": lambda inner, texts, **how: np.where(
        np.array([[not text.strip()] for text in texts] or np.zeros((0, 1), dtype=bool)),
        np.float32("nan"),
        inner.embed(texts, **how),
    ),
}


@pytest.mark.parametrize("embed", EMBEDDERS.values(), ids=EMBEDDERS.keys())
def test_a_broken_embedder_is_caught(embed: Callable[..., Any]) -> None:
    with pytest.raises(AssertionError, match=r"expected|must|off by"):
        check_embedder(Broken(HashEmbedder(), embed=embed))


def test_an_embedder_without_an_id_is_caught() -> None:
    class Nameless(Broken):
        id = ""

    with pytest.raises(AssertionError, match="needs an id"):
        check_embedder(Nameless(HashEmbedder()))
