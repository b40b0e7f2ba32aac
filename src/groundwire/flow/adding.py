"""Files -> documents -> an archive, with every row that was not taken listed; and out of it again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress
from groundwire.flow.settings import Settings
from groundwire.retrieval.files import find_files
from groundwire.retrieval.formats import Refused
from groundwire.retrieval.index import AddReport, Archive
from groundwire.retrieval.readers import ReadReport, Reject, RejectSink, read_documents

SHOWN = 5
"""Rejects that the report in words names; all of them are in the file of rejects."""


@dataclass(frozen=True, slots=True)
class Added:
    """What was read and what became of it; ``rejects`` is the file that lists what was not taken, if anything was."""

    read: ReadReport
    archive: AddReport
    rejects: Path | None

    @property
    def complete(self) -> bool:
        """Whether everything that was asked for is in the archive; files that are skipped on purpose do not count."""
        refused = sum(count for kind, count in self.read.reasons if kind != "skipped")
        return not refused and not self.archive.empty

    def lines(self) -> tuple[str, ...]:
        """The report in words, one fact a line."""
        read, archive = self.read, self.archive
        rows = f"{read.rows:,} rows in {read.files:,} files: {read.documents:,} documents"
        found = [f"{rows}, {read.repeated:,} repeated, {read.rejected:,} rejected"]
        states = f"{archive.added:,} new, {archive.updated:,} changed, {archive.unchanged:,} unchanged"
        found.append(f"archive: {states}, {archive.removed:,} replaced; {archive.sentences:,} sentences written")
        found += [f"{field} from '{name}' ({count:,} rows)" for field, name, count in read.taken if field != name]
        found += _encodings(read)
        if read.dates_missing or read.dates_unread:
            found.append(f"dates: {read.dates_missing:,} documents had none, {read.dates_unread:,} could not be read")
        found += read.notes
        found += [f"no sentence in {name}" for name in archive.empty]
        found += [f"rejected, {kind}: {count:,}" for kind, count in read.reasons]
        found += [f"  {_place(reject)}: {reject.reason}" for reject in read.rejects[:SHOWN]]
        if self.rejects is not None:
            found.append(f"rejected rows are listed in {self.rejects}")
        return tuple(found)


def add_files(
    archive: Archive,
    paths: Sequence[str],
    *,
    settings: Settings,
    rejects: Path | None = None,
    progress: Progress | None = None,
) -> Added:
    """Read files, folders and patterns into an archive.

    Args:
        archive: where the documents go.
        paths: what to read.
        settings: field mapping, date order, sentences a commit.
        rejects: where rejected rows are listed, one JSON object a line; left by an earlier run, the file is replaced
            or, with nothing rejected, removed. None: they are only counted.
        progress: told bytes read and bytes in all.

    Raises:
        UsageError: a field of the mapping is unknown.
    """
    with _listing(rejects) as sink:
        reading = read_documents(
            *paths,
            mapping=settings.read.map or None,
            date_order=settings.read.date_order,
            rejects=sink,
            progress=progress,
        )
        report = archive.add(reading, commit_sentences=settings.index.commit_sentences)
    return Added(reading.report, report, rejects if reading.report.rejected else None)


@dataclass(frozen=True, slots=True)
class Removed:
    """What went: id, title and origin of each document; ``unknown`` are ids that the archive did not hold."""

    documents: tuple[tuple[str, str, str], ...]
    unknown: tuple[str, ...]

    def lines(self) -> tuple[str, ...]:
        """The report in words, one document a line and the counts last."""
        found = [f"{name}: {title or '(no title)'}, {_on_one_line(origin)}" for name, title, origin in self.documents]
        found += [f"not in the archive: {name}" for name in self.unknown]
        unknown = f", {len(self.unknown):,} not in the archive" if self.unknown else ""
        return (*found, f"{len(self.documents):,} documents removed{unknown}")


def remove_documents(archive: Archive, ids: Iterable[str], *, missing: bool = False) -> Removed:
    """Take documents out of an archive.

    Args:
        archive: where they are.
        ids: of the documents; those that are not there are reported.
        missing: whether all documents go, too, whose files are no longer there.

    Raises:
        UsageError: no id is given, and ``missing`` is not asked for.
        ArchiveError: another process writes to the archive.
    """
    asked = dict.fromkeys(ids)
    if not asked and not missing:
        raise UsageError("nothing to remove: give ids of documents (see: groundwire show documents), or --missing")
    found = archive.store.documents({**asked, **(archive.missing() if missing else {})})
    archive.remove(found)
    rows = tuple((document.id, document.title, document.origin) for document in found.values())
    return Removed(rows, tuple(name for name in asked if name not in found))


def require_something(paths: Sequence[str]) -> None:
    """Refuse a request in which no path leads anywhere, before an archive is made for it.

    Raises:
        UsageError: none of the paths is there, or matches anything.
    """
    if all(isinstance(found, Refused) and found.kind == "missing" for _, found in find_files(paths)):
        names = ", ".join(f"'{path}'" for path in paths)
        raise UsageError(f"there is nothing at {names}: no such file or folder, and no file that matches")


def _on_one_line(origin: str) -> str:
    return " and ".join(origin.split("\n")) if origin else "read from no file"


def _place(reject: Reject) -> str:
    return reject.file if reject.line is None else f"{reject.file}:{reject.line}"


def _encodings(read: ReadReport) -> Iterator[str]:
    """A line for each encoding that is not UTF-8, with the first of its files by name."""
    files: dict[str, list[str]] = {}
    for file, encoding in read.encodings:
        files.setdefault(encoding, []).append(Path(file).name)
    for encoding, named in sorted(files.items()):
        if encoding not in ("utf-8", "utf-8-sig"):
            more = f" and {len(named) - 3} more" if len(named) > 3 else ""
            yield f"read as {encoding}: {', '.join(named[:3])}{more}"


@contextmanager
def _listing(path: Path | None) -> Iterator[RejectSink | None]:
    """A sink that writes rejects as they come; the file exists afterwards only when there was one."""
    if path is None:
        yield None
        return
    path.unlink(missing_ok=True)
    opened: list[IO[str]] = []

    def write(reject: Reject) -> None:
        if not opened:
            path.parent.mkdir(parents=True, exist_ok=True)
            opened.append(path.open("w", encoding="utf-8"))
        opened[0].write(reject.as_json() + "\n")

    try:
        yield write
    finally:
        for handle in opened:
            handle.close()
