from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.ports import Counts
from groundwire.core.types import Filter, Match
from groundwire.testing import check_embedder, check_store


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
}


@pytest.mark.parametrize("methods", STORES.values(), ids=STORES.keys())
def test_a_broken_store_is_caught(methods: dict[str, Callable[..., Any]]) -> None:
    with pytest.raises(AssertionError, match=r"expected|must|off by"):
        check_store(lambda: Broken(MemoryStore(8), **methods))


def test_a_good_store_passes_whatever_its_dimension() -> None:
    for dimension in (4, 7, 64):
        check_store(lambda dimension=dimension: MemoryStore(dimension))


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
