"""Hold an embedder to what the port promises."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from groundwire.core.ports import Embedder, Matrix, Role
from groundwire.testing.filings import require, same


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
    require(bool(embedder.id), f"an embedder needs an id, got {embedder.id!r}")
    texts = ["Flood relief reached Tainan.", "台南市區淹水，居民撤離。", "The central bank kept rates.", "x", "🙂"]
    for role in ("passage", "query"):
        _check_rows(embedder, texts, role=role, tolerance=tolerance)
    _check_shape(embedder.embed([]), rows=0, dimension=embedder.dimension)
    blank = embedder.embed(["", " \n", "word " * 6000])
    _check_shape(blank, rows=3, dimension=embedder.dimension)
    require(bool(np.isfinite(blank).all()), "blank and very long texts must give finite numbers")


def _check_rows(embedder: Embedder, texts: Sequence[str], *, role: Role, tolerance: float) -> None:
    together = embedder.embed(texts, role=role)
    _check_shape(together, rows=len(texts), dimension=embedder.dimension)
    lengths = np.linalg.norm(together, axis=1)
    require(bool(np.allclose(lengths, 1, atol=1e-3)), f"vectors must have length 1, got {lengths.tolist()} ({role})")
    others = (
        ("alone", np.concatenate([embedder.embed([text], role=role) for text in texts])),
        ("in reverse order", embedder.embed(texts[::-1], role=role)[::-1]),
        ("beside a long text", embedder.embed([*texts, "long " * 300], role=role)[:-1]),
    )
    for how, rows in others:
        furthest = float(np.abs(rows - together).max())
        require(furthest <= tolerance, f"a text embedded {how} is off by {furthest:.2g} from its row ({role})")
    nearest = float((together @ together.T)[~np.eye(len(texts), dtype=bool)].max())
    require(nearest < 1 - 1e-4, f"different texts must have different vectors, two have the cosine {nearest} ({role})")


def _check_shape(vectors: Matrix, *, rows: int, dimension: int) -> None:
    same(vectors.shape, (rows, dimension), f"the shape of the vectors of {rows} texts")
    require(vectors.dtype == np.float32, f"vectors must be float32, got {vectors.dtype}")
