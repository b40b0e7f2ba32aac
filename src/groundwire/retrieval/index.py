"""Build, extend and check an archive: documents in, searchable sentences out, and a manifest that says how."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from groundwire.core.errors import ArchiveError
from groundwire.core.folding import folder as fold_function
from groundwire.core.ports import Counts, Embedder, LastingStore, Progress, Snapshot, VectorStore
from groundwire.core.text import count_tokens
from groundwire.core.types import Context, Document, Hit, Passage, Sentence, Source
from groundwire.retrieval.blend import stacked_vectors
from groundwire.retrieval.corpus import SPLITTER, revision, split_document
from groundwire.retrieval.files import only_writer
from groundwire.retrieval.manifest import Manifest
from groundwire.retrieval.origins import HoldsFiles, Met, is_gone
from groundwire.retrieval.search import SearchSettings, search

COMMIT_SENTENCES = 4000
"""Sentences a commit: large enough for the engine (at least 1,000), small enough to lose little when killed."""


@dataclass(frozen=True, slots=True)
class AddReport:
    """What an ``add`` did; ``documents == added + updated + unchanged + len(empty)``.

    ``removed`` counts documents that are no longer there: another version of their file was read, or their new text
    holds no sentence. ``sentences`` were embedded and stored; ``encoder_tokens`` estimates what the embedder read for
    them. ``empty`` lists the ids of documents in which no sentence was found.
    """

    documents: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    sentences: int = 0
    encoder_tokens: int = 0
    empty: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    """What an ``add`` has seen so far; ``emptied`` are the ids whose newest version has no sentence."""

    documents: int = 0
    added: int = 0
    updated: int = 0
    unchanged: int = 0
    sentences: int = 0
    encoder_tokens: int = 0
    empty: list[str] = field(default_factory=list)
    emptied: set[str] = field(default_factory=set)
    met: Met = field(default_factory=Met)


_READINGS = 10
"""How often a document and its sentences are read when a writer changes them in between."""
_Prepared = tuple[Document, str, tuple[Passage, ...]]


class Archive:
    """Documents with their searchable sentences. Open one with ``groundwire.open_archive``."""

    def __init__(
        self,
        store: VectorStore,
        embedder: Embedder,
        *,
        manifest: Manifest,
        name: str = "",
        folder: Path | None = None,
        pinned: str = "",
    ) -> None:
        """Join a store and an embedder that both fit the manifest.

        ``folder`` is where the archive lies, if it does on disk: one ``add`` or ``remove`` at a time writes there, and
        another one waits up to half a minute for it. ``pinned`` names the snapshot that the store is, if it is one:
        nothing is written to it.

        Raises:
            ArchiveError: the embedder is not the one that made the archive, or the store holds vectors of another size.
        """
        if (embedder.id, embedder.dimension) != (manifest.embedder, manifest.dimension):
            raise ArchiveError(
                f"{name or 'the archive'} holds vectors of '{manifest.embedder}' ({manifest.dimension} numbers each), "
                f"but the settings ask for '{embedder.id}' ({embedder.dimension}). Add the documents to a new archive, "
                f"or set embedder back to '{manifest.embedder}'."
            )
        if store.dimension != 2 * manifest.dimension:
            raise ArchiveError(
                f"the store of {name or 'the archive'} holds vectors of {store.dimension} numbers, its manifest asks "
                f"for {2 * manifest.dimension} (sentence and passage, {manifest.dimension} each). Restore the manifest "
                f"or build the archive again."
            )
        self.store = store
        self.embedder = embedder
        self.manifest = manifest
        self.name = name
        self.folder = folder
        self.pinned = pinned

    def add(
        self,
        documents: Iterable[Document],
        *,
        progress: Progress | None = None,
        commit_sentences: int = COMMIT_SENTENCES,
    ) -> AddReport:
        """Add documents, or replace those of the same id whose content changed; what is there already stays.

        A document that is read from a file of its own replaces what that file held before, unless another file that is
        still there holds the same content: every such file is a line of the document's ``origin``. Killed at any moment
        and run again, the archive ends as if it had never been killed.

        Args:
            documents: in any number; of the same id twice, the later one counts. What ``read_documents`` gives also
                tells which files hold nothing any longer, and which hold the same document.
            progress: is told after every commit.
            commit_sentences: how many sentences are embedded and stored at once, at least; 1 and up. The archive is
                the same for any.

        Raises:
            ValueError: ``commit_sentences`` is below 1.
            ArchiveError: the archive was cut into sentences by another splitter, is a snapshot, or another process
                writes to it.
            MissingExtra: its words are folded with something that is not installed.
        """
        if commit_sentences < 1:
            raise ValueError(f"commit_sentences is {commit_sentences}; it must be 1 or more")
        if self.manifest.splitter != SPLITTER:
            raise ArchiveError(
                f"{self.name or 'the archive'} was cut into sentences by '{self.manifest.splitter}', this groundwire "
                f"uses '{SPLITTER}'. Search it as it is, or make it anew: groundwire rebuild NEW.archive --archive "
                f"{self.name or 'OLD.archive'}"
            )
        fold_function(self.manifest.folding)  # before anything is embedded
        with self._writing():
            return self._add(documents, progress, size=commit_sentences)

    def _add(self, documents: Iterable[Document], progress: Progress | None, *, size: int) -> AddReport:
        tally = _Tally()
        for batch in _batches(self._prepared(documents, tally), size=size):
            self._put(batch, tally)
            if progress is not None:
                progress(tally.documents, None, f"{tally.sentences:,} sentences")
        for origin, name in documents.files_read().items() if isinstance(documents, HoldsFiles) else ():
            tally.met.note_file(origin, name)
        removed = self._leave_behind(tally)
        self.store.finish()
        return AddReport(
            documents=tally.documents,
            added=tally.added,
            updated=tally.updated,
            unchanged=tally.unchanged,
            removed=removed,
            sentences=tally.sentences,
            encoder_tokens=tally.encoder_tokens,
            empty=tuple(tally.empty),
        )

    def remove(self, ids: Iterable[str]) -> int:
        """Remove documents by their ids, with all their sentences; returns how many there were.

        A document whose file is still there comes back when the file is added again.

        Raises:
            ArchiveError: the archive is a snapshot, or another process writes to it.
        """
        with self._writing():
            removed = self.store.remove(ids)
            self.store.finish()
        return removed

    def compact(self) -> None:
        """Make the archive as small and fast as it can be; what no snapshot needs is deleted. Takes a while.

        Raises:
            ArchiveError: the archive is a snapshot, its store cannot do it, or another process writes to it.
        """
        with self._writing():
            self._lasting().compact()

    def snapshot(self, name: str) -> Snapshot:
        """Keep the archive as it is now under a name: letters, digits, ``.``, ``_`` and ``-``, 100 at most.

        Whatever is added, removed or compacted later, ``at(name)`` answers as the archive does now.

        Raises:
            UsageError: the name is not one, or is taken.
            ArchiveError: as for ``compact``.
        """
        with self._writing():
            return self._lasting().snapshot(name)

    def snapshots(self) -> Mapping[str, Snapshot]:
        """All snapshots by name, in order of name; none where the store cannot keep any."""
        return self.store.snapshots() if isinstance(self.store, LastingStore) else {}

    def forget_snapshot(self, name: str) -> None:
        """Give a snapshot up; the next ``compact`` deletes what only it needed.

        Raises:
            ArchiveError: there is no such snapshot, or as for ``compact``.
        """
        with self._writing():
            self._lasting().forget_snapshot(name)

    def at(self, name: str) -> Archive:
        """The archive as it was when a snapshot was taken; it is read only, and is closed by itself.

        Raises:
            ArchiveError: there is no such snapshot, or the store cannot keep any.
        """
        return Archive(
            self._lasting().at(name),
            self.embedder,
            manifest=self.manifest,
            name=f"{self.name}@{name}",
            folder=self.folder,
            pinned=name,
        )

    def facts(self) -> Mapping[str, str | int]:
        """The state of the store in figures, see ``core.ports.LastingStore.facts``; nothing from one without any."""
        return self.store.facts() if isinstance(self.store, LastingStore) else {}

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Be the only writer."""
        if self.pinned:
            raise ArchiveError(
                f"{self.name} is the snapshot '{self.pinned}' and stays as it is. Write to the archive itself"
            )
        with only_writer(self.folder):
            yield

    def _lasting(self) -> LastingStore:
        if not isinstance(self.store, LastingStore):
            raise ArchiveError(
                f"the store of {self.name or 'the archive'} keeps no snapshots and is not compacted"
                if not self.pinned
                else f"{self.name} is a snapshot: it has none of its own"
            )
        return self.store

    def missing(self) -> dict[str, str]:
        """Id -> origin of the documents that had files to themselves, of which none is there any more."""
        return {name: origin for name, origin in self.store.origins().items() if all(map(is_gone, origin.split("\n")))}

    def search(self, query: str, *, k: int = 30, settings: SearchSettings | None = None) -> tuple[Hit, ...]:
        """The k best sentences for a query; see ``groundwire.retrieval.search``."""
        return search(query, store=self.store, embedder=self.embedder, k=k, settings=settings or SearchSettings())

    def documents(self, hits: Sequence[Hit]) -> tuple[Source, ...]:
        """The documents that hits belong to, each with its hits, in the order of their best hit.

        What another process has removed or edited since the search is left out: a hit whose words no longer stand
        where they stood, and a document without any hit.

        Raises:
            ArchiveError: the sentences of a document do not fit its text, however often both are read.
        """
        grouped: dict[str, list[Hit]] = {}
        for hit in hits:
            grouped.setdefault(hit.sentence.document_id, []).append(hit)
        whole = self._whole(grouped)
        for name, (document, _) in whole.items():
            grouped[name] = [hit for hit in grouped[name] if _stands(hit.sentence, document)]
        return tuple(
            Source(whole[name][0], tuple(group), whole[name][1], self.embedder.id)
            for name, group in grouped.items()
            if name in whole and group
        )

    def _whole(self, ids: Iterable[str]) -> dict[str, tuple[Document, tuple[Sentence, ...]]]:
        """Documents with their sentences, of one version each: read again while a writer changed one in between."""
        wanted = list(ids)
        whole: dict[str, tuple[Document, tuple[Sentence, ...]]] = {}
        for _ in range(_READINGS):
            found, sentences = self.store.documents(wanted), self.store.sentences(wanted)
            read = {name: (found[name], sentences[name]) for name in wanted if name in found and name in sentences}
            whole |= {name: one for name, one in read.items() if all(_stands(own, one[0]) for own in one[1])}
            wanted = [name for name in read if name not in whole]
            if not wanted:
                return whole
        raise ArchiveError(
            f"the sentences of document '{wanted[0]}' in {self.name or 'the archive'} do not fit its text, read "
            f"{_READINGS} times. Wait until nothing is written to it, or make it anew with 'groundwire rebuild'"
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
        for document in documents:
            tally.documents += 1
            tally.met.note(document)
            content = revision(document)
            if known.get(document.id) == content:
                tally.unchanged += 1
                continue
            passages = split_document(document, passage_tokens=self.manifest.passage_tokens)
            if not passages:
                tally.empty.append(document.id)
                if known.pop(document.id, None) is not None:
                    tally.emptied.add(document.id)
                continue
            if document.id in known:
                tally.updated += 1
            else:
                tally.added += 1
            tally.emptied.discard(document.id)
            known[document.id] = content
            yield document, content, passages

    def _put(self, batch: Sequence[_Prepared], tally: _Tally) -> None:
        last = {document.id: place for place, (document, _, _) in enumerate(batch)}
        kept = [batch[place] for place in sorted(last.values())]  # an id twice in one batch: the later one counts
        passages = [passage for _, _, of_document in kept for passage in of_document]
        sentences = [sentence for passage in passages for sentence in passage.sentences]
        vectors = stacked_vectors(passages, embedder=self.embedder, context=self.manifest.context)
        self.store.put([item[0] for item in kept], sentences, vectors=vectors, revisions=[item[1] for item in kept])
        tally.sentences += len(sentences)
        tally.encoder_tokens += encoder_tokens(passages, self.manifest.context)

    def _leave_behind(self, tally: _Tally) -> int:
        """Note which files hold what, then remove what no file holds any longer; returns how many documents went.

        Until it is removed, a document keeps its origin: killed in between, the next run finds it again.
        """
        changed, gone = tally.met.settle(self.store.origins())
        if changed:
            self.store.set_origins(changed)
        return self.store.remove(sorted(gone | tally.emptied))


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


def _stands(sentence: Sentence, document: Document) -> bool:
    """Whether the words of a sentence stand in the document, where it says."""
    return document.text[sentence.start : sentence.end] == sentence.text


def encoder_tokens(passages: Sequence[Passage], context: Context) -> int:
    """Estimate of the tokens that the embedder reads for the sentences and what they remember."""
    total = 0
    for passage in passages:
        sizes = [count_tokens(sentence.text) for sentence in passage.sentences]
        passes = {"passage": 2, "exact": len(sizes), "pooled_rest": 2, "pooled": 1}[context]
        total += sum(sizes) * (passes if len(sizes) > 1 else 1)
    return total
