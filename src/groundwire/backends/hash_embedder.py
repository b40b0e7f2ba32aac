"""Vectors from hashed words and character runs: no model, no download, lexical similarity only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise

import numpy as np

from groundwire.core.errors import UsageError
from groundwire.core.ports import Matrix, Role, Vector
from groundwire.core.text import normalise, words

_RUN_LENGTHS = (3, 4)
_RUN_WEIGHT = 0.5
_EMPTY = "\x00empty"


class HashEmbedder:
    """Signed feature hashing of words, runs of letters and pairs of Chinese characters; the same on every machine.

    Texts that share words, or parts of words, are similar; meaning plays no part. Each feature adds the square root
    of its count, with a sign of its own, at a place of its own (both from its BLAKE2b hash); rows have norm 1.

    Args:
        dimension: how many numbers a vector has; fewer let more features collide.

    Raises:
        UsageError: the dimension is below 1.

    Source:
        Weinberger et al., Feature hashing for large scale multitask learning (arXiv:0902.2206).
    """

    def __init__(self, dimension: int = 256) -> None:
        if dimension < 1:
            raise UsageError(f"a hash embedder needs at least 1 number a vector, not {dimension}.")
        self._dimension = dimension

    @property
    def id(self) -> str:
        """The name under which the registry finds this embedder."""
        return f"hash:{self._dimension}"

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return self._dimension

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:  # noqa: ARG002 - both roles are alike
        """Embed texts in order; float32, shape (len(texts), dimension), also when there are none.

        All texts without a word or character have one and the same vector.
        """
        rows = np.empty((len(texts), self._dimension), np.float32)
        for number, text in enumerate(texts):
            rows[number] = self._row(text)
        return rows

    def _row(self, text: str) -> Vector:
        row = self._sum(_weights(text))
        norm = np.linalg.norm(row)
        if norm == 0:  # nothing to hash, or every feature met its opposite
            return self._sum({_EMPTY: 1.0})
        return row / norm

    def _sum(self, weights: dict[str, float]) -> Vector:
        row = np.zeros(self._dimension)
        for feature, weight in weights.items():
            number = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
            row[(number >> 1) % self._dimension] += weight if number & 1 else -weight
        return row


def _weights(text: str) -> dict[str, float]:
    """Every feature of a text with its weight; a kind is marked by its first character, so that kinds never meet."""
    found = words(text)
    whole = found or tuple(normalise(text).replace(" ", ""))
    weights = {f"w{word}": float(np.sqrt(count)) for word, count in Counter(whole).items()}
    runs = Counter(run for word in found for run in _runs(word))
    pairs = Counter(f"p{first}{second}" for first, second in pairwise(found) if len(first) == len(second) == 1)
    weights.update({f"r{run}": _RUN_WEIGHT * float(np.sqrt(count)) for run, count in runs.items()})
    weights.update({pair: float(np.sqrt(count)) for pair, count in pairs.items()})
    return weights


def _runs(word: str) -> Iterator[str]:
    """Runs of 3 and 4 characters of a word between its edges; none for a single Chinese character."""
    if len(word) == 1:
        return
    edged = f"^{word}$"
    for length in _RUN_LENGTHS:
        for start in range(len(edged) - length + 1):
            yield edged[start : start + length]
