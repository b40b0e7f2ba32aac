"""Both stores keep the promises of the port, and do the same under hundreds of random operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from groundwire.backends.lance_store import LanceStore
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.folding import FOLDINGS, Folding
from groundwire.core.ports import LastingStore, VectorStore
from groundwire.core.types import Document, Filter, Match
from groundwire.testing import Filing, check_folded_store, check_lasting_store, check_store, filing, put

Maker = Callable[[], LastingStore]
WORDS = ["flood", "Tainan", "bank", "rates", "淹水", "台南", "water", "dogs", "警報", "relief", "警报", "臺南"]


@pytest.fixture
def make_lance(tmp_path: Path) -> Maker:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    return lance_in(tmp_path)


def lance_in(folder: Path, *, folding: Folding = "") -> Maker:
    numbers: Iterator[int] = iter(range(1000))
    return lambda: LanceStore(folder / f"{next(numbers)}", dimension=16, folding=folding)


def test_the_store_in_memory_keeps_the_promises() -> None:
    check_store(lambda: MemoryStore(16))


def test_the_store_on_disk_keeps_the_promises(make_lance: Maker) -> None:
    check_store(make_lance)


def test_the_store_in_memory_lasts() -> None:
    check_lasting_store(lambda: MemoryStore(16))


def test_the_store_on_disk_lasts(make_lance: Maker) -> None:
    check_lasting_store(make_lance)


@pytest.mark.parametrize("folding", [folding for folding in FOLDINGS if folding])
def test_both_stores_find_words_across_scripts(tmp_path: Path, folding: Folding) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    if folding.startswith("opencc"):
        pytest.importorskip("opencc", reason="the extra 'zh' is not installed")
    check_folded_store(lambda: MemoryStore(16, folding=folding))
    check_folded_store(lance_in(tmp_path, folding=folding))


@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_a_store_that_folds_keeps_all_other_promises(tmp_path: Path, kind: str) -> None:
    if kind == "disk":
        pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
        check_store(lance_in(tmp_path, folding="characters"))
    else:
        check_store(lambda: MemoryStore(16, folding="characters"))


def test_a_width_that_the_vector_index_does_not_take_is_filled_up(tmp_path: Path) -> None:
    query = np.ones(5, dtype=np.float32)
    texts = ("One.", "Two.", "Three.")
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    with closing(LanceStore(tmp_path / "odd", dimension=5)) as store, closing(MemoryStore(5)) as reference:
        for one in (store, reference):
            put(one, [filing(Document("d", ""), texts, dimension=5)])
        agree(store.dense(query, k=3, where=Filter()), reference.dense(query, k=3, where=Filter()))
        assert store.dimension == reference.dimension == 5


def agree(found: tuple[Match, ...], wanted: tuple[Match, ...]) -> None:
    """The same values in order, and the same sentences but for those that tie within 1e-3 with the last."""
    np.testing.assert_allclose([one.value for one in found], [one.value for one in wanted], atol=1e-3)
    if wanted:
        edge = wanted[-1].value + 1e-3
        clear = {one.sentence for one in wanted if one.value > edge}
        assert clear <= {one.sentence for one in found}
        assert {one.sentence for one in found if one.value > edge + 1e-3} <= {one.sentence for one in wanted}


def random_filing(rng: np.random.Generator, name: str) -> Filing:
    texts = [" ".join(rng.choice(WORDS, rng.integers(1, 6))) for _ in range(rng.integers(0, 5))]
    day = date(2024, 5, int(rng.integers(1, 29))) if rng.random() < 0.8 else None
    about = Document(
        name, "", published=day, source=str(rng.choice(["CNA", "O'B"])), language="en", origin=f"f:{rng.integers(9)}"
    )
    return filing(about, texts, dimension=16, seed=int(rng.integers(3)))


def change(rng: np.random.Generator, stores: tuple[LastingStore, LastingStore], names: list[str]) -> None:
    """One random write, or other act of upkeep, on both stores."""
    picked = [str(name) for name in rng.choice(names, rng.integers(1, 6), replace=False)]
    kind = rng.random()
    if kind < 0.65:
        filings = [random_filing(rng, name) for name in picked]
        for store in stores:
            put(store, filings)
    elif kind < 0.9:
        assert stores[0].remove(picked) == stores[1].remove(picked)
    elif kind < 0.94:
        for store in stores:
            store.finish()
    else:
        keep_or_forget(stores, name=f"s{rng.integers(4)}")


def keep_or_forget(stores: tuple[LastingStore, LastingStore], *, name: str) -> None:
    """Take a snapshot, or forget the one of this name and compact."""
    known = name in stores[1].snapshots()
    for store in stores:
        if known:
            store.forget_snapshot(name)
            store.compact()
        else:
            store.snapshot(name)


def compare_snapshots(rng: np.random.Generator, stores: tuple[LastingStore, LastingStore], names: list[str]) -> None:
    disk, memory = stores
    held = [{name: (one.documents, one.sentences) for name, one in store.snapshots().items()} for store in stores]
    assert held[0] == held[1]
    for name in held[0]:
        with closing(disk.at(name)) as then, closing(memory.at(name)) as wanted:
            compare(rng, (then, wanted), names)


def compare(rng: np.random.Generator, stores: tuple[VectorStore, VectorStore], names: list[str]) -> None:
    """All reading methods and random queries, on both stores."""
    disk, memory = stores
    assert dict(disk.revisions()) == dict(memory.revisions())
    assert dict(disk.origins()) == dict(memory.origins())
    assert dict(disk.documents(names)) == dict(memory.documents(names))
    assert dict(disk.sentences(names)) == dict(memory.sentences(names))
    assert disk.counts() == memory.counts()
    every = [sentence.id for own in memory.sentences(names).values() for sentence in own]
    for where in (Filter(), Filter(published_from=date(2024, 5, 14), sources=("O'B",))):
        for among in (None, [str(one) for one in rng.permutation(every)[:8]]):
            query = rng.standard_normal(16).astype(np.float32) / 4
            agree(disk.dense(query, k=5, where=where, among=among), memory.dense(query, k=5, where=where, among=among))
            word = str(rng.choice(WORDS))
            for unit in ("sentence", "passage"):
                found = disk.lexical(word, k=500, where=where, among=among, unit=unit)
                wanted = memory.lexical(word, k=500, where=where, among=among, unit=unit)
                assert {one.sentence for one in found} == {one.sentence for one in wanted}


@pytest.mark.parametrize(("seed", "folding"), [(1, ""), (2, "characters")])
def test_both_stores_agree_after_each_of_many_random_operations(tmp_path: Path, seed: int, folding: Folding) -> None:
    pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    make_lance = lance_in(tmp_path, folding=folding)
    rng = np.random.default_rng(seed)
    names = [f"doc {number}" for number in range(10)] + ["O'Brien", "台南 %"]
    with closing(make_lance()) as disk, closing(MemoryStore(16, folding=folding)) as memory:
        for step in range(100):
            change(rng, (disk, memory), names)
            if step % 4 == 3:
                compare(rng, (disk, memory), names)
            if step % 16 == 15:
                compare_snapshots(rng, (disk, memory), names)
