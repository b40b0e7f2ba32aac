"""An archive that remembers its answers, so that a further setting on the same question costs little.

Every search still goes through ``retrieval.search``; only what the store and the embedder are asked twice is answered
from memory. Hits are the same as without, which the tests hold.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from groundwire.core.ports import Counts, Embedder, Head, Matrix, Role, TokenCounter, Vector, VectorStore
from groundwire.core.types import Document, Filter, Match, Sentence, Unit
from groundwire.retrieval.index import Archive

_EVERYTHING = Filter()
Value = TypeVar("Value")
_Asked = tuple[str, Hashable, Unit]
"""The side of the search, the query, and what is counted."""
_Answers = dict[Hashable, Match | None]
"""What a store said of single sentences, by id, or passages, by place; None: it did not name it."""


class RememberingStore:
    """A store that is asked each thing once, until ``forget``; whatever is written goes through and makes it forget."""

    def __init__(self, inner: VectorStore) -> None:
        """Stand before ``inner``."""
        self._inner = inner
        self.forget()

    def forget(self) -> None:
        """Give back the memory; by custom after each question."""
        self._ranked: dict[Hashable, tuple[Match, ...]] = {}
        self._single: dict[Hashable, _Answers] = {}
        self._passages: dict[str, Hashable] = {}
        self._documents: dict[str, Document | None] = {}
        self._sentences: dict[str, tuple[Sentence, ...] | None] = {}
        self._vectors: dict[str, Vector | None] = {}

    @property
    def dimension(self) -> int:
        """How many numbers a stored vector has."""
        return self._inner.dimension

    def put(
        self, documents: Sequence[Document], sentences: Sequence[Sentence], *, vectors: Matrix, revisions: Sequence[str]
    ) -> None:
        """As the store itself."""
        self.forget()
        self._inner.put(documents, sentences, vectors=vectors, revisions=revisions)

    def remove(self, document_ids: Iterable[str]) -> int:
        """As the store itself."""
        self.forget()
        return self._inner.remove(document_ids)

    def finish(self) -> None:
        """As the store itself."""
        self._inner.finish()

    def revisions(self) -> Mapping[str, str]:
        """As the store itself; not remembered."""
        return self._inner.revisions()

    def origins(self) -> Mapping[str, str]:
        """As the store itself; not remembered."""
        return self._inner.origins()

    def set_origins(self, origins: Mapping[str, str]) -> None:
        """As the store itself."""
        self.forget()
        self._inner.set_origins(origins)

    def heads(self) -> Sequence[Head]:
        """As the store itself; not remembered."""
        return self._inner.heads()

    def documents(self, ids: Iterable[str]) -> Mapping[str, Document]:
        """As the store itself."""
        return _remembered(ids, self._documents, self._inner.documents)

    def sentences(self, document_ids: Iterable[str]) -> Mapping[str, tuple[Sentence, ...]]:
        """As the store itself."""
        found = _remembered(document_ids, self._sentences, self._inner.sentences)
        self._note_places(one for own in found.values() for one in own)
        return found

    def vectors(self, sentence_ids: Iterable[str]) -> Mapping[str, Vector]:
        """As the store itself."""
        return _remembered(sentence_ids, self._vectors, self._inner.vectors)

    def dense(self, query: Vector, *, k: int, where: Filter, among: Sequence[str] | None = None) -> tuple[Match, ...]:
        """As the store itself; with ``among`` and no filter each sentence is asked for once."""
        return self._answered(
            ("dense", np.asarray(query, dtype=np.float32).tobytes(), "sentence"),
            lambda k, among: self._inner.dense(query, k=k, where=where, among=among),
            k=k,
            where=where,
            of=among,
        )

    def lexical(
        self, query: str, *, k: int, where: Filter, among: Sequence[str] | None = None, unit: Unit = "sentence"
    ) -> tuple[Match, ...]:
        """As the store itself; with ``among`` and no filter each sentence or passage is asked for once."""
        return self._answered(
            ("lexical", query, unit),
            lambda k, among: self._inner.lexical(query, k=k, where=where, among=among, unit=unit),
            k=k,
            where=where,
            of=among,
        )

    def counts(self) -> Counts:
        """As the store itself; not remembered."""
        return self._inner.counts()

    def close(self) -> None:
        """As the store itself."""
        self.forget()
        self._inner.close()

    def _answered(
        self,
        asked: _Asked,
        ask: Callable[[int, Sequence[str] | None], tuple[Match, ...]],
        *,
        k: int,
        where: Filter,
        of: Sequence[str] | None,
    ) -> tuple[Match, ...]:
        places = None if of is None or where != _EVERYTHING or k < 0 else self._places_of(of, unit=asked[2])
        if of is None or places is None:
            whole = (asked, k, where, None if of is None else tuple(of))
            if whole not in self._ranked:
                self._ranked[whole] = ask(k, of)
                self._note_places(match.sentence for match in self._ranked[whole])
            return self._ranked[whole]
        known = self._single.setdefault(asked, {})
        if unknown := {place: name for place, name in places.items() if place not in known}:
            known |= dict.fromkeys(unknown)
            found = ask(len(unknown), sorted(unknown.values()))
            known |= {_place(match.sentence, unit=asked[2]): match for match in found}
        answer = [match for place in places if (match := known[place]) is not None]
        return tuple(sorted(answer, key=lambda match: (-match.value, match.sentence.id))[:k])

    def _places_of(self, names: Sequence[str], *, unit: Unit) -> dict[Hashable, str] | None:
        """What answers are kept by, with a sentence of each; None where it is not known whose passage is meant."""
        if unit == "sentence":
            return {name: name for name in names}
        if self._passages.keys() >= set(names):
            return {self._passages[name]: name for name in names}
        return None

    def _note_places(self, sentences: Iterable[Sentence]) -> None:
        self._passages.update((one.id, _place(one, unit="passage")) for one in sentences)


def _place(sentence: Sentence, *, unit: Unit) -> Hashable:
    return sentence.id if unit == "sentence" else (sentence.document_id, sentence.passage)


def _remembered(
    ids: Iterable[str], memory: dict[str, Value | None], ask: Callable[[list[str]], Mapping[str, Value]]
) -> dict[str, Value]:
    wanted = list(dict.fromkeys(ids))
    if unknown := [name for name in wanted if name not in memory]:
        found = ask(unknown)
        memory.update({name: found.get(name) for name in unknown})
    return {name: value for name in wanted if (value := memory[name]) is not None}


class RememberingEmbedder:
    """An embedder that embeds each text once."""

    def __init__(self, inner: Embedder) -> None:
        """Stand before ``inner``."""
        self.id, self.dimension = inner.id, inner.dimension
        self._inner = inner
        self._rows: dict[tuple[Role, str], Vector] = {}

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        """As the embedder itself; float32, shape (len(texts), dimension)."""
        if unknown := list(dict.fromkeys(text for text in texts if (role, text) not in self._rows)):
            rows = self._inner.embed(unknown, role=role)
            self._rows |= {(role, text): row for text, row in zip(unknown, rows, strict=True)}
        return np.array([self._rows[role, text] for text in texts], dtype=np.float32).reshape(-1, self.dimension)


class _CountingEmbedder(RememberingEmbedder):
    """One that also counts tokens, each text once."""

    def __init__(self, inner: Embedder, counter: TokenCounter) -> None:
        super().__init__(inner)
        self._counter = counter
        self._counts: dict[str, int] = {}

    def count_tokens(self, text: str) -> int:
        """As the embedder itself."""
        if text not in self._counts:
            self._counts[text] = self._counter.count_tokens(text)
        return self._counts[text]


def remembering(archive: Archive) -> tuple[Archive, RememberingStore]:
    """The same archive, remembering, and its store, which can be told to forget; close only the archive itself."""
    inner = archive.embedder
    embedder = _CountingEmbedder(inner, inner) if isinstance(inner, TokenCounter) else RememberingEmbedder(inner)
    store = RememberingStore(archive.store)
    return Archive(store, embedder, manifest=archive.manifest, name=archive.name), store
