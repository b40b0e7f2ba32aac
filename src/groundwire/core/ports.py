"""What groundwire asks of an engine: small protocols, each held by a check in ``groundwire.testing``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from groundwire.core.types import Document, Filter, Match, Sentence, Unit

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
class TokenVectors:
    """What an encoder makes of one text, token by token; prefix and special tokens are left out.

    ``vectors`` has shape (tokens, dimension), float32, not normed. ``offsets`` has shape (tokens, 2): code points into
    the text, end exclusive; a span may begin with the white space before its word. ``whole`` is False where the text
    was longer than the encoder's window: then the tokens of its end are missing.
    """

    vectors: Matrix
    offsets: NDArray[np.int64]
    whole: bool = True


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also gives the vectors of the tokens of a text; the contexts from one pass need one."""

    def embed_tokens(self, texts: Sequence[str], *, role: Role = "passage") -> tuple[TokenVectors, ...]:
        """The vectors of every text's own tokens, in order, after one pass over the text."""


@runtime_checkable
class TokenCounter(Protocol):
    """An embedder that also counts the tokens of a text as its encoder cuts it."""

    def count_tokens(self, text: str) -> int:
        """How many tokens the text has by itself, without prefix and special tokens; 0 and up."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much a store holds."""

    documents: int
    sentences: int


@dataclass(frozen=True, slots=True)
class Head:
    """What is said about a document, without its text."""

    id: str
    title: str = ""
    published: date | None = None
    source: str = ""
    language: str = ""


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

    def set_origins(self, origins: Mapping[str, str]) -> None:
        """Give documents, by id, another origin and leave all else as it is; all at once, unknown ids passed over."""

    def heads(self) -> Sequence[Head]:
        """What is said about every document that is completely there, by id; cheap, for no text is read."""

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """The documents of these ids that are there."""

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """All sentences of these documents that are there, in source order; () for a document that has none."""

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """The stored vectors of these sentences that are there; float32, shape (dimension,) each."""

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """The k sentences with the largest dot product, at most; ``among`` limits to these sentence ids, exactly."""

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        """The k sentences with the largest BM25 value above 0; ``among`` limits to these sentence ids.

        With the unit ``passage`` the words of whole passages count, a match names a passage by its first sentence, and
        ``among`` limits to the passages of these sentences.

        Raises:
            ArchiveError: the unit is ``passage``, and the store was made without the words of passages.
            MissingExtra: the store folds words with something that is not installed.
        """

    def counts(self) -> Counts:
        """How much is there."""

    def close(self) -> None:
        """Give back files and memory; the store is not used afterwards."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a store held at one moment, kept under a name; ``when`` it was taken, in UTC."""

    name: str
    when: datetime
    documents: int
    sentences: int


@runtime_checkable
class LastingStore(VectorStore, Protocol):
    """A store that is kept for years: it can be tidied up, and what it held at a moment stays readable under a name.

    Whatever is written, removed or tidied up later, a snapshot answers as the store did when it was taken.
    ``groundwire.testing.check_lasting_store`` holds an implementation to that.
    """

    def compact(self) -> None:
        """Make the store as small and fast as it can be: fold all, index anew, drop what no snapshot needs.

        More thorough and slower than ``finish``. A reader in another process that is in the middle of a query may fail.
        """

    def snapshot(self, name: str) -> Snapshot:
        """Keep what the store holds now under a name.

        Raises:
            UsageError: the name is not one, or is taken.
        """

    def snapshots(self) -> Mapping[str, Snapshot]:
        """All snapshots by name, in order of name."""

    def forget_snapshot(self, name: str) -> None:
        """Give a snapshot up; what only it needed is deleted with the next ``compact``.

        Raises:
            ArchiveError: there is no such snapshot.
        """

    def at(self, name: str) -> VectorStore:
        """The store as it was when the snapshot was taken; to write to it raises ArchiveError, ``finish`` does nothing.

        Raises:
            ArchiveError: there is no such snapshot.
        """

    def facts(self) -> Mapping[str, str | int]:
        """What can be said about its state: ``folding``, ``passage_words``, ``bytes``, ``versions``, ``unindexed``...

        ``folding`` is empty without; ``passage_words`` is 0 or 1; ``bytes`` counts all that it takes up, snapshots
        included; ``unindexed`` sentences are found, but not fast; ``vector_index`` names its kind, ``none`` when every
        vector is compared.
        """


class Progress(Protocol):
    """Is told how far a long task has come."""

    def __call__(self, done: int, total: int | None, label: str, /) -> None:
        """Take note of ``done`` out of ``total`` (None while unknown) and of a few words about it."""
