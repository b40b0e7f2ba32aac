"""What every store of ours accepts: vectors, queries and names of snapshots, checked before anything is written."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import ArchiveError, UsageError
from groundwire.core.ports import Matrix, Snapshot, Vector
from groundwire.core.types import Document, Sentence

_HALF_MAX = float(np.finfo(np.float16).max)
_SNAPSHOT_NAME = re.compile(r"(?!main$)(?!.*\.\.)(?!.*\.lock$)[0-9A-Za-z][0-9A-Za-z._-]{0,99}")
"""Names of files on any system and of branches in the engine, which has one called main."""


def checked_vectors(
    documents: Sequence[Document],
    sentences: Sequence[Sentence],
    *,
    vectors: Matrix,
    revisions: Sequence[str],
    dimension: int,
) -> NDArray[np.float16]:
    """What a store accepts in one ``put``, checked; the vectors as they are kept.

    Returns:
        float16, shape (len(sentences), dimension).

    Raises:
        ValueError: counts or shapes differ, an id comes twice, a sentence belongs to none of the documents, or a number
            of a vector is not finite or beyond float16 (65504).
    """
    if len(revisions) != len(documents):
        raise ValueError(f"{len(documents)} documents need as many revisions, got {len(revisions)}")
    if np.shape(vectors) != (len(sentences), dimension):
        raise ValueError(
            f"{len(sentences)} sentences need vectors of shape ({len(sentences)}, {dimension}), got {np.shape(vectors)}"
        )
    names = [document.id for document in documents]
    _refuse_twice("document", names)
    _refuse_twice("sentence", [sentence.id for sentence in sentences])
    if strangers := {sentence.document_id for sentence in sentences}.difference(names):
        raise ValueError(f"sentences belong to {min(strangers)!r}, which is not among the documents of this put")
    numbers = np.asarray(vectors)
    largest = max(np.max(numbers, initial=0), -np.min(numbers, initial=0))
    if not largest <= _HALF_MAX:  # NaN, too, is not at most this
        row = int(np.argmin((np.abs(numbers) <= _HALF_MAX).all(axis=1)))
        raise ValueError(f"the vector of sentence {sentences[row].id!r} holds a number that float16 cannot hold")
    return numbers.astype(np.float16)


def checked_query(query: Vector, *, dimension: int) -> NDArray[np.float32]:
    """The query vector as float32, shape (dimension,).

    Raises:
        ValueError: it has another shape, or a number that is not finite.
    """
    vector = np.asarray(query, dtype=np.float32)
    if vector.shape != (dimension,):
        raise ValueError(f"the store holds vectors of {dimension} numbers, the query has the shape {vector.shape}")
    if not np.isfinite(vector).all():
        raise ValueError("the query vector holds a number that is not finite")
    return vector


def new_snapshot_name(name: str, taken: Mapping[str, Snapshot]) -> str:
    """The name, if a snapshot can have it.

    Raises:
        UsageError: it is not one, or is taken.
    """
    if not _SNAPSHOT_NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot name a snapshot: up to 100 letters a to z, digits, '.', '_' and '-', a letter or digit "
            "first; no '..', no '.lock' at the end, and not 'main'"
        )
    if name in taken:
        when = f"{taken[name].when:%Y-%m-%d %H:%M} UTC"
        raise UsageError(f"there is a snapshot '{name}' already, of {when}; forget it first, or take another name")
    return name


def require_snapshot(name: str, taken: Mapping[str, Snapshot]) -> None:
    """Make sure that there is such a snapshot.

    Raises:
        ArchiveError: there is none; the message lists those there are.
    """
    if name not in taken:
        there = ", ".join(f"'{one}'" for one in taken) or "none at all"
        raise ArchiveError(f"there is no snapshot '{name}'; there is {there}")


def no_passage_words(store: str) -> ArchiveError:
    """What a search by the words of passages is answered with where they were not kept."""
    return ArchiveError(
        f"{store} was made without the words of passages: leave search.passage_words at 0, or add the documents to "
        "a new archive that is made with index.passage_words = true"
    )


def read_only(name: str) -> ArchiveError:
    """What a write to a snapshot is answered with."""
    return ArchiveError(f"the snapshot '{name}' stays as it is; write to the archive itself")


def _refuse_twice(kind: str, names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        name, times = Counter(names).most_common(1)[0]
        raise ValueError(f"{kind} {name!r} comes {times} times in one put; each id may come once")
