"""Build, extend and check an archive: documents in, searchable sentences out, and a manifest that says how."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from groundwire.core.errors import ArchiveError
from groundwire.core.ports import Counts, Embedder, Progress, VectorStore
from groundwire.core.text import count_tokens
from groundwire.core.types import Context, Document, Hit, Passage, Sentence, Source
from groundwire.retrieval.blend import stacked_vectors
from groundwire.retrieval.corpus import PASSAGE_TOKENS, SPLITTER, revision, split_document
from groundwire.retrieval.search import SearchSettings, search

FORMAT = 1
COMMIT_SENTENCES = 4000
"""Sentences a commit: large enough for the engine (at least 1,000), small enough to lose little when killed."""


@dataclass(frozen=True, slots=True)
class Manifest:
    """How an archive was made; another embedder, splitter or context does not fit into it."""

    embedder: str
    dimension: int
    context: Context = "passage"
    passage_tokens: int = PASSAGE_TOKENS
    splitter: str = SPLITTER
    engine: str = "memory"
    format: int = FORMAT

    def save(self, path: Path) -> None:
        """Write the manifest, whole or not at all."""
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(self), indent=2) + "\n", encoding="utf-8")
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> Manifest:
        """Read a manifest.

        Raises:
            ArchiveError: it is not there, is broken, or is of a later format.
        """
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            known = {item.name for item in fields(cls)}
            manifest = cls(**{name: value for name, value in found.items() if name in known})
        except FileNotFoundError as error:
            raise ArchiveError(f"{path.parent} is not an archive: it has no {path.name}") from error
        except (ValueError, TypeError, AttributeError) as error:
            raise ArchiveError(f"{path} cannot be read ({error}); restore it or build the archive again") from error
        if manifest.format > FORMAT:
            raise ArchiveError(
                f"{path.parent} has format {manifest.format}, this groundwire reads up to {FORMAT}; install a newer one"
            )
        return manifest


@dataclass(frozen=True, slots=True)
class AddReport:
    """What an ``add`` did; ``documents == added + updated + unchanged + empty``.

    ``removed`` counts documents that gave way to a new version of the same file; ``encoder_tokens`` is the estimate
    of what the embedder read; ``empty`` lists documents in which no sentence was found.
    """

    documents: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    sentences: int = 0
    encoder_tokens: int = 0
    empty: tuple[str, ...] = ()


_COUNTED = ("documents", "added", "updated", "unchanged", "removed", "sentences", "encoder_tokens")


@dataclass(slots=True)
class _Tally:
    """Counts while an ``add`` runs."""

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COUNTED, 0))
    empty: list[str] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    replaced: set[str] = field(default_factory=set)


_ROW = re.compile(r"(:\d+|\[\d+\])$")
_Prepared = tuple[Document, str, tuple[Passage, ...]]


class Archive:
    """Documents with their searchable sentences. Open one with ``groundwire.open_archive``."""

    def __init__(self, store: VectorStore, embedder: Embedder, *, manifest: Manifest, name: str = "") -> None:
        """Join a store and an embedder that both fit the manifest.

        Raises:
            ArchiveError: the embedder is not the one that made the archive.
        """
        if (embedder.id, embedder.dimension) != (manifest.embedder, manifest.dimension):
            raise ArchiveError(
                f"{name or 'the archive'} holds vectors of '{manifest.embedder}' ({manifest.dimension} numbers each), "
                f"but the settings ask for '{embedder.id}' ({embedder.dimension}). Add the documents to a new archive, "
                f"or set embedder back to '{manifest.embedder}'."
            )
        self.store = store
        self.embedder = embedder
        self.manifest = manifest
        self.name = name

    def add(
        self,
        documents: Iterable[Document],
        *,
        progress: Progress | None = None,
        commit_sentences: int = COMMIT_SENTENCES,
    ) -> AddReport:
        """Add documents, or replace those of the same id whose content changed; what is there already stays.

        A document that is read from a file of its own replaces what that file held before. Killed at any moment and
        run again, the archive ends as if it had never been killed.
        """
        tally = _Tally()
        for batch in _batches(self._prepared(documents, tally), size=commit_sentences):
            self._put(batch, tally)
            if progress is not None:
                progress(tally.counts["documents"], None, f"{tally.counts['sentences']:,} sentences")
        tally.counts["removed"] = self.store.remove(sorted(tally.replaced - tally.seen))
        self.store.finish()
        return AddReport(**tally.counts, empty=tuple(tally.empty))

    def search(self, query: str, *, k: int = 30, settings: SearchSettings | None = None) -> tuple[Hit, ...]:
        """The k best sentences for a query; see ``groundwire.retrieval.search``."""
        return search(query, store=self.store, embedder=self.embedder, k=k, settings=settings or SearchSettings())

    def documents(self, hits: Sequence[Hit]) -> tuple[Source, ...]:
        """The documents that hits belong to, each with its hits, in the order of their best hit."""
        grouped: dict[str, list[Hit]] = {}
        for hit in hits:
            grouped.setdefault(hit.sentence.document_id, []).append(hit)
        found, sentences = self.store.documents(grouped), self.store.sentences(grouped)
        return tuple(
            Source(found[name], tuple(group), sentences[name], self.embedder.id)
            for name, group in grouped.items()
            if name in found
        )

    def sentences(self, document_ids: Iterable[str]) -> dict[str, tuple[Sentence, ...]]:
        """All sentences of these documents, in source order."""
        return dict(self.store.sentences(document_ids))

    def counts(self) -> Counts:
        """How many documents and sentences there are."""
        return self.store.counts()

    def close(self) -> None:
        """Give back files and memory."""
        self.store.close()

    def _prepared(self, documents: Iterable[Document], tally: _Tally) -> Iterator[_Prepared]:
        known = dict(self.store.revisions())
        of_file = _by_file(self.store.origins())
        for document in documents:
            tally.counts["documents"] += 1
            tally.seen.add(document.id)
            tally.replaced.update(of_file.get(document.origin, ()))
            content = revision(document)
            if known.get(document.id) == content:
                tally.counts["unchanged"] += 1
                continue
            passages = split_document(document, passage_tokens=self.manifest.passage_tokens)
            if not passages:
                tally.empty.append(document.id)
                continue
            tally.counts["updated" if document.id in known else "added"] += 1
            known[document.id] = content
            yield document, content, passages

    def _put(self, batch: Sequence[_Prepared], tally: _Tally) -> None:
        last = {document.id: place for place, (document, _, _) in enumerate(batch)}
        kept = [batch[place] for place in sorted(last.values())]  # an id twice in one batch: the later one counts
        passages = [passage for _, _, of_document in kept for passage in of_document]
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        vectors = stacked_vectors(passages, embedder=self.embedder, context=self.manifest.context)
        self.store.put([item[0] for item in kept], sentences, vectors=vectors, revisions=[item[1] for item in kept])
        tally.counts["sentences"] += len(sentences)
        tally.counts["encoder_tokens"] += _encoder_tokens(passages, self.manifest.context)


def _batches(prepared: Iterable[_Prepared], *, size: int) -> Iterator[list[_Prepared]]:
    batch: list[_Prepared] = []
    waiting = 0
    for item in prepared:
        batch.append(item)
        waiting += sum(len(passage.sentences) for passage in item[2])
        if waiting >= size:
            yield batch
            batch, waiting = [], 0
    if batch:
        yield batch


def _by_file(origins: Mapping[str, str]) -> dict[str, set[str]]:
    """Ids of the documents that have a file to themselves, by that file; rows of a larger file are left out."""
    files: dict[str, set[str]] = {}
    for document_id, origin in origins.items():
        if not _ROW.search(origin):
            files.setdefault(origin, set()).add(document_id)
    return files


def _encoder_tokens(passages: Sequence[Passage], context: Context) -> int:
    """Estimate of the tokens that the embedder reads for the sentences and what they remember."""
    total = 0
    for passage in passages:
        sizes = [count_tokens(sentence.text) for sentence in passage.sentences]
        rests = {"passage": sum(sizes), "exact": (len(sizes) - 1) * sum(sizes)}[context]
        total += sum(sizes) + (rests if len(sizes) > 1 else 0)
    return total
