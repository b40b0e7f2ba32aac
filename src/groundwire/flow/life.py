"""The life of an archive: what it is and holds, its documents as a file, its size before and after it is compacted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress, Snapshot
from groundwire.core.types import Document
from groundwire.retrieval.exported import exported_line
from groundwire.retrieval.fields import Made, Reader
from groundwire.retrieval.files import is_being_written
from groundwire.retrieval.formats import Row, read_lines
from groundwire.retrieval.index import Archive

SHOWN = 10
"""Outlets, and documents that would come back changed, that are named; the others are counted."""
_DOCUMENTS_AT_ONCE = 2000

Facts = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Holdings:
    """What the documents of an archive are: how many of each language and outlet, the first and the last day.

    ``undated`` counts documents without a date.
    """

    languages: Mapping[str, int]
    outlets: Mapping[str, int]
    published_from: date | None
    published_to: date | None
    undated: int


def holdings(archive: Archive) -> Holdings:
    """Count all documents of an archive; no text is read."""
    languages: Counter[str] = Counter()
    outlets: Counter[str] = Counter()
    days: Counter[date | None] = Counter()
    for document in archive.store.heads():
        languages[document.language] += 1
        outlets[document.source] += 1
        days[document.published] += 1
    dated = [day for day in days if day is not None]
    return Holdings(
        _by_count(languages),
        _by_count(outlets),
        min(dated, default=None),
        max(dated, default=None),
        days[None],
    )


def archive_facts(archive: Archive) -> Facts:
    """How an archive was made, what it holds, and the state that it is in."""
    counts, manifest, held = archive.counts(), archive.manifest, holdings(archive)
    # A store says how it folds; of one that does not, the manifest does.
    state = {name: value for name, value in archive.facts().items() if name not in ("folding", "passage_words")}
    return {
        "archive": archive.name,
        "documents": counts.documents,
        "sentences": counts.sentences,
        "languages": held.languages,
        "outlets": held.outlets,
        "published_from": held.published_from,
        "published_to": held.published_to,
        "undated": held.undated,
        "embedder": manifest.embedder,
        "dimension": manifest.dimension,
        "context": manifest.context,
        "passage_tokens": manifest.passage_tokens,
        "passage_words": manifest.passage_words,
        "folding": manifest.folding,
        "splitter": manifest.splitter,
        "engine": manifest.engine,
        "format": manifest.format,
        **state,
        "being_written": is_being_written(archive.folder),
        "snapshots": dict(archive.snapshots()),
    }


def facts_lines(facts: Facts) -> Iterator[str]:
    """The facts of an archive in words, one a line."""
    for name, value in facts.items():
        label = name.replace("_", " ")
        if name == "snapshots" and isinstance(value, Mapping):
            yield from (f"snapshot {snapshot_line(found)}" for found in value.values())
        elif isinstance(value, Mapping):
            yield f"{label}: {_counted(value)}"
        elif isinstance(value, bool):
            yield f"{label}: {'yes' if value else 'no'}"
        elif isinstance(value, int):
            yield f"{label}: {value:,}"
        elif value not in ("", None):
            yield f"{label}: {value}"


def snapshot_line(found: Snapshot) -> str:
    """A snapshot in words."""
    when = found.when.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return f"{found.name}: {when}, {found.documents:,} documents, {found.sentences:,} sentences"


@dataclass(frozen=True, slots=True)
class Compacted:
    """Bytes on disk before and after, and the snapshots that kept older versions alive."""

    bytes_before: int
    bytes_after: int
    snapshots: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """The report in words."""
        found = [f"{self.bytes_before:,} bytes before, {self.bytes_after:,} now"]
        if self.snapshots:
            found.append(f"kept for snapshots: {', '.join(self.snapshots)}")
        return tuple(found)


def compact(archive: Archive) -> Compacted:
    """Make an archive as small and fast as it can be, and say what that did.

    Raises:
        ArchiveError: as ``Archive.compact`` says.
    """
    before = int(archive.facts().get("bytes", 0))
    archive.compact()
    return Compacted(before, int(archive.facts().get("bytes", 0)), tuple(archive.snapshots()))


@dataclass(frozen=True, slots=True)
class Exported:
    """How many documents were written; ``changed`` are the ids of those that come back otherwise when they are added.

    A reader tidies what no file of text could have given, such as a title over two lines.
    """

    documents: int
    changed: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """The report in words."""
        found = [f"{self.documents:,} documents exported"]
        if self.changed:
            more = f" and {len(self.changed) - SHOWN:,} more" if len(self.changed) > SHOWN else ""
            named = ", ".join(self.changed[:SHOWN]) + more
            found.append(f"come back tidied when they are added, {len(self.changed):,} documents: {named}")
        return tuple(found)


def export_documents(
    archive: Archive, write: Callable[[bytes], object], *, progress: Progress | None = None
) -> Exported:
    """Write every document of an archive as a line of JSON, by id; ``groundwire add`` makes the same of them.

    Args:
        archive: whose documents.
        write: takes each line in UTF-8, with its end.
        progress: told documents written and documents in all.
    """
    total = archive.counts().documents
    count, changed = 0, []
    for count, document in enumerate(documents_of(archive), start=1):
        line = exported_line(document)
        write(line.encode("utf-8") + b"\n")
        if not _comes_back(document, line):
            changed.append(document.id)
        if progress is not None and count % _DOCUMENTS_AT_ONCE == 0:
            progress(count, total, "")
    return Exported(count, tuple(changed))


def export_to_file(
    archive: Archive, path: Path, *, replace_file: bool = False, progress: Progress | None = None
) -> Exported:
    """Write ``export_documents`` into a file, the whole of it or nothing.

    Raises:
        UsageError: there is a file, and ``replace_file`` is false.
        OSError: it cannot be written; then nothing is there that was not there before.
    """
    _require_free(path, replace_file=replace_file)
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with draft.open("wb") as out:
            exported = export_documents(archive, out.write, progress=progress)
            out.flush()
            os.fsync(out.fileno())
        _require_free(path, replace_file=replace_file)  # it took a while
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return exported


def documents_of(archive: Archive) -> Iterator[Document]:
    """Every document of an archive by id, a few thousand in memory at a time.

    One that another process removes meanwhile may be missing: pin a snapshot where that matters.
    """
    ids = sorted(archive.store.revisions())
    for start in range(0, len(ids), _DOCUMENTS_AT_ONCE):
        yield from archive.store.documents(ids[start : start + _DOCUMENTS_AT_ONCE]).values()


def _comes_back(document: Document, line: str) -> bool:
    """Whether reading the line gives the document again; where it was read from does not count."""
    row = next(read_lines([line]))
    made = Reader({}).make(row, origin=document.origin) if isinstance(row, Row) else row
    return isinstance(made, Made) and replace(made.document, notes=document.notes) == document


def _require_free(path: Path, *, replace_file: bool) -> None:
    if path.is_dir():
        raise UsageError(f"{path} is a folder; name a file for the documents, such as {path / 'documents.jsonl'}")
    if path.exists() and not replace_file:
        raise UsageError(f"{path} is there already. Give another name, or --force to replace it")


def _by_count(counter: Counter[str]) -> dict[str, int]:
    """The most frequent first, then by name."""
    return dict(sorted(counter.items(), key=lambda item: (-item[1], item[0])))


def _counted(counts: Mapping[str, object]) -> str:
    named = [f"{name or '(none)'} {count:,}" for name, count in list(counts.items())[:SHOWN]]
    more = f" and {len(counts) - SHOWN:,} more" if len(counts) > SHOWN else ""
    return ", ".join(named) + more if named else "none"
