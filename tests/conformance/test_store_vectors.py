"""Both stores give back the vectors that they hold."""

from pathlib import Path

import numpy as np
import pytest

from groundwire.backends.lance_store import LanceStore
from groundwire.backends.memory_store import MemoryStore
from groundwire.core.ports import VectorStore
from groundwire.core.types import Document
from groundwire.testing import filing, put


@pytest.mark.parametrize("dimension", [16, 5])
@pytest.mark.parametrize("kind", ["memory", "disk"])
def test_vectors_come_back_as_they_are_kept(kind: str, dimension: int, tmp_path: Path) -> None:
    if kind == "disk":
        pytest.importorskip("lancedb", reason="the extra 'archive' is not installed")
    store: VectorStore = MemoryStore(dimension) if kind == "memory" else LanceStore(tmp_path, dimension=dimension)
    filed = filing(Document("o'd \"d", ""), ("Rain.", "Sun.", "Fog."), dimension=dimension)
    put(store, [filed, filing(Document("b", ""), ("Wind.",), dimension=dimension)])
    names = [one.id for one in filed.sentences]

    found = store.vectors([names[2], "none", names[0]])

    assert set(found) == {names[0], names[2]}
    assert all(vector.dtype == np.float32 for vector in found.values())
    np.testing.assert_array_equal(found[names[2]], filed.vectors[2].astype(np.float16))
    np.testing.assert_array_equal(found[names[0]], filed.vectors[0].astype(np.float16))
    assert store.vectors([]) == {}
    store.close()
