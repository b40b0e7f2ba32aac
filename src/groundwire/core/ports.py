"""What groundwire asks of an engine: small protocols, each held by a check in ``groundwire.testing``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from groundwire.core.types import Document, Filter, Match, Sentence

Matrix = NDArray[np.floating[Any]]
"""Rows are vectors; float32 unless a docstring says otherwise."""
Vector = NDArray[np.floating[Any]]

Role = Literal["query", "passage"]


class Embedder(Protocol):
    """Turns texts into unit vectors, each row independent of its neighbours.

    ``id`` names model and precision (``local:e5-small``); vectors of different ids are never mixed.
    ``groundwire.testing.check_embedder`` holds an implementation to that.
    """

    @property
    def id(self) -> str:
        """The name under which the registry finds this embedder."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        """Embed texts in order; float32, shape (len(texts), dimension), also when there are none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds."""

    documents: int
    sentences: int


class VectorStore(Protocol):
    """Keeps documents, their sentences and one vector a sentence; finds by dot product, by words and by id.

    A document and its sentences appear and disappear together: a reader never sees half of one.
    Results come best first; ties by sentence id. ``groundwire.testing.check_store`` holds an implementation to that.
    """

    @property
    def dimension(self) -> int:
        """How many numbers a stored vector has."""

    def put(
        self, documents: Sequence[Document], sentences: Sequence[Sentence], *, vectors: Matrix, revisions: Sequence[str]
    ) -> None:
        """Insert documents, or replace those of the same id with all their sentences.

        Args:
            documents: each id once.
            sentences: all sentences of these documents, each document's together.
            vectors: shape (len(sentences), dimension).
            revisions: one content hash a document, given back by ``revisions``.

        Raises:
            ValueError: the parts do not fit together, or a vector is not finite.
        """

    def remove(self, document_ids: Iterable[str]) -> int:
        """Remove documents with their sentences; returns how many there were."""

    def finish(self) -> None:
        """Make what was put fast to find (fold, index, clean); safe to call at any time, cheap when nothing is new."""

    def revisions(self) -> Mapping[str, str]:
        """Id -> content hash of every document that is completely there."""

    def origins(self) -> Mapping[str, str]:
        """Id -> origin of every document that is completely there and has an origin."""

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """The documents of these ids that are there."""

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order; () for a document that has none."""

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids, exactly."""

    def lexical(self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest BM25 value above 0; ``among`` limits to these sentence ids."""

    def counts(self) -> Counts:
        """How much is there."""

    def close(self) -> None:
        """Give back files and memory; the store is not used afterwards."""


class Progress(Protocol):
    """Is told how far a long task has come."""

    def __call__(self, done: int, total: int | None, label: str, /) -> None:
        """Take note of ``done`` out of ``total`` (None while unknown) and of a few words about it."""
