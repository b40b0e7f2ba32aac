"""An archive that remembers gives the hits that it gives without."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.ports import Matrix, Role, TokenCounter, Vector
from groundwire.core.types import Document, Filter, Match, Sentence, Unit
from groundwire.flow.archives import open_archive
from groundwire.flow.demo import STORIES
from groundwire.flow.remembering import RememberingEmbedder, RememberingStore, remembering
from groundwire.flow.searching import preset_ways
from groundwire.retrieval.index import Archive, Manifest
from groundwire.retrieval.readers import read_documents
from groundwire.retrieval.search import PRESETS, SearchSettings
from groundwire.testing import check_embedder, check_store

SAMPLE = Path(str(files("groundwire.sample"))) / STORIES
QUERIES = ("How much rain fell on Signal Hill?", "瀾福宮古鐘", "battery plant at Osterby", "rain")


class CountingStore(MemoryStore):
    """Counts what it is asked."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.asked: Counter[str] = Counter()

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        self.asked["dense"] += 1
        return super().dense(query, k=k, where=where, among=among)

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        self.asked["lexical"] += 1
        return super().lexical(query, k=k, where=where, among=among, unit=unit)

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        self.asked["sentences"] += 1
        return super().sentences(document_ids)


class CountingEmbedder(HashEmbedder):
    """Counts what it embeds, and counts tokens."""

    def __init__(self) -> None:
        super().__init__(64)
        self.embedded: list[str] = []
        self.counted: list[str] = []

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        self.embedded += texts
        return super().embed(texts, role=role)

    def count_tokens(self, text: str) -> int:
        self.counted.append(text)
        return len(text.split())


@pytest.fixture(scope="module")
def archive() -> Archive:
    made = Archive(CountingStore(128), HashEmbedder(64), manifest=Manifest("hash:64", 64))
    made.add(read_documents(SAMPLE))
    return made


def many_settings() -> list[SearchSettings]:
    named = [way.search for way in preset_ways()]
    mixed = [
        SearchSettings(mode=mode, sentence_weight=weight, passage_words=words, fusion=fusion, shape=shape)
        for mode, weight, words, fusion, shape in product(
            ("dense", "lexical", "hybrid"), (0.0, 0.6), (0.0, 0.5), ("zscore", "rrf"), ("sentences", "diverse")
        )
    ]
    filtered = [replace(settings, where=Filter(languages=("en",))) for settings in mixed[::5]]
    return named + mixed + filtered + [replace(settings, phrases=True) for settings in mixed[:2]]


@pytest.mark.parametrize("query", [*QUERIES, 'the "Signal Hill" station'])
def test_every_setting_finds_the_same_hits_with_and_without_memory(archive: Archive, query: str) -> None:
    cached, _ = remembering(archive)

    for settings in many_settings():
        assert cached.search(query, k=100, settings=settings) == archive.search(query, k=100, settings=settings)
    for k in (1, 7):
        settings = PRESETS["best"]
        assert cached.search(query, k=k, settings=settings) == archive.search(query, k=k, settings=settings)


def test_the_same_hits_come_from_a_store_on_disk(tmp_path: Path) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    archive = open_archive(tmp_path / "s.archive", embedder="hash:64")
    archive.add(read_documents(SAMPLE))
    cached, store = remembering(archive)

    for query in QUERIES[:2]:
        store.forget()
        for settings in [PRESETS["best"], PRESETS["dslr"], PRESETS["mmr"], SearchSettings(sentence_weight=0.3)]:
            assert cached.search(query, k=30, settings=settings) == archive.search(query, k=30, settings=settings)
    archive.close()


def test_a_further_setting_asks_the_store_for_little(archive: Archive) -> None:
    inner = archive.store
    assert isinstance(inner, CountingStore)
    cached, store = remembering(archive)
    first = SearchSettings(passage_words=0.5)
    cached.search(QUERIES[0], k=30, settings=first)

    inner.asked.clear()
    for mix in (0.1, 0.2, 0.3, 0.9):
        cached.search(QUERIES[0], k=30, settings=replace(first, lexical_weight=mix))
    assert not inner.asked

    cached.search(QUERIES[0], k=30, settings=replace(first, sentence_weight=0.2))
    assert inner.asked["dense"] <= 2
    assert inner.asked["lexical"] <= 2

    store.forget()
    inner.asked.clear()
    cached.search(QUERIES[0], k=30, settings=first)
    assert inner.asked["dense"] >= 1


def test_a_store_that_remembers_keeps_the_promises_of_a_store() -> None:
    check_store(lambda: RememberingStore(MemoryStore(16)))


def test_passages_of_sentences_that_were_not_met_are_asked_for_whole(archive: Archive) -> None:
    inner = archive.store
    assert isinstance(inner, CountingStore)
    store = RememberingStore(inner)
    names = [match.sentence.id for match in inner.lexical("rain", k=9, where=Filter())]
    expected = inner.lexical("rain", k=9, where=Filter(), among=names, unit="passage")
    inner.asked.clear()

    asked = [store.lexical("rain", k=9, where=Filter(), among=names, unit="passage") for _ in range(2)]
    assert asked == [expected, expected]
    assert inner.asked["lexical"] == 1
    store.lexical("rain", k=9, where=Filter())
    store.lexical("rain", k=9, where=Filter(), among=names[:4], unit="passage")
    assert store.lexical("rain", k=9, where=Filter(), among=names[1:], unit="passage") == inner.lexical(
        "rain", k=9, where=Filter(), among=names[1:], unit="passage"
    )


def test_an_embedder_that_remembers_keeps_the_promises_and_embeds_each_text_once() -> None:
    check_embedder(RememberingEmbedder(HashEmbedder(64)))
    inner = CountingEmbedder()
    embedder = RememberingEmbedder(inner)

    rows = embedder.embed(["one", "two", "one"], role="query")
    embedder.embed(["two"], role="query")

    assert inner.embedded == ["one", "two"]
    assert np.array_equal(rows[0], rows[2])
    assert not isinstance(embedder, TokenCounter)


def test_an_embedder_that_counts_tokens_still_does_and_counts_each_text_once() -> None:
    inner = CountingEmbedder()
    made = Archive(MemoryStore(128), inner, manifest=Manifest("hash:64", 64))
    made.add([Document("a", "The river rose.")])

    cached, _ = remembering(made)

    assert isinstance(cached.embedder, TokenCounter)
    assert [cached.embedder.count_tokens("a b c") for _ in range(3)] == [3, 3, 3]
    assert inner.counted == ["a b c"]
