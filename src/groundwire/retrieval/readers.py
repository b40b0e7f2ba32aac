"""Files to Documents: find the files, choose a reader for each, take every row or say why not."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from io import TextIOWrapper
from pathlib import Path
from typing import BinaryIO, get_args

from groundwire.core.dates import DateOrder
from groundwire.core.encodings import HEAD_BYTES, decode, find_line_encoding, name_binary
from groundwire.core.errors import MissingExtra, UnreadableInput, UsageError
from groundwire.core.ports import Progress
from groundwire.core.types import Document
from groundwire.retrieval.chroma import read_chroma
from groundwire.retrieval.feeds import read_feed
from groundwire.retrieval.fields import DateState, Field, Made, Reader, check_mapping
from groundwire.retrieval.files import Format, find_files, is_own_export, split_collection
from groundwire.retrieval.formats import (
    Found,
    Refused,
    RejectKind,
    Row,
    excerpt,
    read_json,
    read_lines,
    read_table,
)
from groundwire.retrieval.mail import read_mail, read_text
from groundwire.retrieval.marked import read_markdown
from groundwire.retrieval.origins import file_origin, is_row, storable_path
from groundwire.retrieval.pages import declared_encoding, read_page
from groundwire.retrieval.printed import read_printed

REJECTS_KEPT = 10_000
"""Rejects that a report keeps word for word; the others are counted, and all of them go to ``rejects``."""
_ROWS_A_STEP = 500
_UNREMARKABLE = ("utf-8", "utf-8-sig", "pdf", "mail", "chroma")
_MARKED_UP = ("html", "feed")
_DELIMITERS: Mapping[Format, str] = {"csv": ",;\t|", "tsv": "\t,;|"}


@dataclass(frozen=True, slots=True)
class Reject:
    """Something that was not taken: a row (``line`` counts from 1) or a whole file (``line`` is None)."""

    file: str
    line: int | None
    kind: RejectKind
    reason: str
    excerpt: str = ""

    def as_json(self) -> str:
        """The reject as a line of JSON, without its end."""
        return json.dumps(asdict(self), ensure_ascii=False)


RejectSink = Callable[[Reject], None]


@dataclass(frozen=True, slots=True)
class ReadReport:
    """What became of everything that was asked for; ``rows == documents + repeated + rejected``, always.

    ``rows`` counts rows, and as one row each file that is a document or could not be read at all. ``repeated`` rows
    were the same document again. ``reasons`` counts the rejected by kind, ``taken`` says which name of the data became
    which field and how often. A document without a readable date is still a document: ``dates_missing`` had none,
    ``dates_unread`` one that could not be read. ``complete`` is False while reading goes on.
    """

    files: int = 0
    rows: int = 0
    documents: int = 0
    repeated: int = 0
    rejected: int = 0
    reasons: tuple[tuple[RejectKind, int], ...] = ()
    rejects: tuple[Reject, ...] = ()
    encodings: tuple[tuple[str, str], ...] = ()
    taken: tuple[tuple[str, str, int], ...] = ()
    dates_missing: int = 0
    dates_unread: int = 0
    notes: tuple[str, ...] = ()
    complete: bool = False


def read_documents(
    *paths: str | os.PathLike[str],
    mapping: Mapping[str, str] | None = None,
    date_order: DateOrder | None = None,
    rejects: RejectSink | None = None,
    progress: Progress | None = None,
) -> Reading:
    """Read files and folders into documents, one at a time, each row taken or refused with a reason.

    Args:
        paths: files, folders (searched deeply, in order of name) or patterns such as ``stories/*.jsonl``; a pattern is
            expanded only where no file has that very name. Repeating a path is harmless.
        mapping: field of a document -> name in the rows of JSONL, JSON, CSV and TSV; ``meta.headline`` and ``parts.0``
            reach into objects and lists. Without it common names in English and Chinese are recognised.
        date_order: what comes first in dates such as ``5/6/2024``; without it they are left unread.
        rejects: is called with each reject as it happens.
        progress: is told bytes read and bytes in all.

    Returns:
        A Reading; iterating over it reads, and its ``report`` is complete afterwards.

    Raises:
        UsageError: no path, an unknown field in the mapping, or an unknown date order. A file that is missing or broken
            raises nothing: it is in the report, and the others are read.
    """
    if not paths:
        raise UsageError("Nothing to read: give at least one file, folder or pattern.")
    if date_order is not None and date_order not in get_args(DateOrder):
        raise UsageError(
            f"The date order is {date_order!r}; it can be 'day' (5/6 is 5 June) or 'month' (5/6 is 6 May)."
        )
    return Reading(
        tuple(os.fspath(path) for path in paths),
        reader=Reader(check_mapping(mapping), date_order),
        rejects=rejects,
        progress=progress,
    )


def write_rejects(path: str | os.PathLike[str], rejects: Iterable[Reject]) -> int:
    """Write rejects as JSONL, one a line; returns how many."""
    count = 0
    with Path(path).open("w", encoding="utf-8") as out:
        for reject in rejects:
            out.write(reject.as_json() + "\n")
            count += 1
    return count


@dataclass(slots=True)
class _Tally:
    """The counts of one reading, while it goes on; ``seen`` holds the content hash and the origin of each id.

    ``files_read`` has the origins of the files that were read to their end, each with the one document that it is.
    """

    files: int = 0
    documents: int = 0
    repeated: int = 0
    reasons: Counter[RejectKind] = field(default_factory=Counter)
    rejects: list[Reject] = field(default_factory=list)
    encodings: list[tuple[str, str]] = field(default_factory=list)
    taken: Counter[tuple[Field, str]] = field(default_factory=Counter)
    dates: Counter[DateState] = field(default_factory=Counter)
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    files_read: dict[str, str] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    complete: bool = False

    @property
    def rows(self) -> int:
        return self.documents + self.repeated + self.reasons.total()


class Reading:
    """Documents of some files, read while they are iterated over; each iteration reads anew and renews the report."""

    def __init__(
        self,
        paths: tuple[str, ...],
        *,
        reader: Reader,
        rejects: RejectSink | None = None,
        progress: Progress | None = None,
    ) -> None:
        self._paths = paths
        self._reader = reader
        self._sink = rejects
        self._progress = progress
        self._tally = _Tally()

    @property
    def report(self) -> ReadReport:
        """How far reading has come; complete when an iteration has ended."""
        tally = self._tally
        return ReadReport(
            files=tally.files,
            rows=tally.rows,
            documents=tally.documents,
            repeated=tally.repeated,
            rejected=tally.reasons.total(),
            reasons=tuple(sorted(tally.reasons.items())),
            rejects=tuple(tally.rejects),
            encodings=tuple(tally.encodings),
            taken=tuple(sorted((name, source, count) for (name, source), count in tally.taken.items())),
            dates_missing=tally.dates["missing"],
            dates_unread=tally.dates["unread"],
            notes=tuple(self._notes()),
            complete=tally.complete,
        )

    def files_read(self) -> Mapping[str, str]:
        """Origin of each file that was read to its end -> id of the one document that it is, or "" where it is none.

        A file of which anything was refused is left out, unless it is empty.
        """
        return self._tally.files_read

    def __iter__(self) -> Iterator[Document]:
        self._tally = tally = _Tally()
        files: list[tuple[Path, Format, int]] = []
        for path, found in find_files(self._paths):
            if isinstance(found, Refused):
                self._reject(path, found)
            else:
                files.append((path, found, _size(path)))
        done, total = 0, sum(size for _, _, size in files)
        for path, form, size in files:
            yield from self._read_file(path, form, done=done, total=total)
            done += size
            self._tell(done, total, label=path.name)
        tally.complete = True

    def _read_file(self, path: Path, form: Format, *, done: int, total: int) -> Iterator[Document]:
        """The documents of one file; whatever goes wrong with it is a reject, and the next file is read."""
        tally = self._tally
        before, refused = tally.rows, tally.reasons.total()
        place, collection = split_collection(path) if form == "chroma" else (path, "")
        origin = file_origin(place)
        try:
            with place.open("rb") as handle:
                for number, found in enumerate(self._find_rows(handle, form, origin=origin, part=collection), start=1):
                    if number % _ROWS_A_STEP == 0:
                        self._tell(done + handle.tell(), total, label=path.name)
                    document = self._take(path, found, origin=origin)
                    if document is not None:
                        yield document
        except (OSError, UnicodeDecodeError, UnreadableInput, MissingExtra) as error:
            self._reject(path, _trouble(error))
        if tally.reasons.total() == refused:
            tally.files_read.setdefault(origin, "")
        if tally.rows == before:
            self._reject(path, Refused("empty", "holds no rows"))

    def _find_rows(self, handle: BinaryIO, form: Format, *, origin: str, part: str) -> Iterator[Found]:
        if form == "chroma":
            self._opened(origin, form)
            yield from read_chroma(Path(handle.name), part, reader=self._reader)
            return
        head = handle.read(HEAD_BYTES)
        handle.seek(0)
        binary = name_binary(head) if form != "pdf" else ""
        if form in ("pdf", "mail") and head and not binary:
            self._opened(origin, form)
            yield (read_printed if form == "pdf" else read_mail)(handle.read())
        elif binary:
            yield Refused("binary", f"is {binary}, not text")
        elif form in _DELIMITERS or (form == "jsonl" and not _spans_lines(head)):
            encoding = find_line_encoding(handle)
            self._opened(origin, encoding)
            # Bytes that do not decode become lone surrogates, so that their row is refused and the others are read.
            with TextIOWrapper(handle, encoding, errors="surrogateescape", newline="") as lines:
                yield from read_lines(lines) if form == "jsonl" else read_table(lines, delimiters=_DELIMITERS[form])
        else:
            data = handle.read()
            decoded = decode(data, declared=declared_encoding(data) if form in _MARKED_UP else "")
            self._opened(origin, decoded.encoding)
            yield from self._split(decoded.text, form)

    def _split(self, text: str, form: Format) -> Iterator[Found]:
        if not text.strip():
            return
        if is_own_export(text, form):
            yield Refused("own_export", "an article written by groundwire is no source")
        elif form == "markdown":
            yield read_markdown(text)
        elif form == "text":
            yield read_text(text)
        elif form == "html":
            yield read_page(text)
        elif form == "feed":
            yield from read_feed(text)
        else:
            yield from read_json(text, holds_text=self._reader.holds_text)

    def _opened(self, origin: str, encoding: str) -> None:
        self._tally.files += 1
        self._tally.encodings.append((origin, encoding))

    def _take(self, path: Path, found: Found, *, origin: str) -> Document | None:
        """The document of a row, counted; None when it is refused or repeated."""
        tally = self._tally
        encoding = tally.encodings[-1][1] if tally.encodings else ""
        if isinstance(found, Row):
            tally.names = tally.names or tuple(found.values)
            notes = () if encoding in _UNREMARKABLE else (f"encoding: {encoding}",)
            made: Made | Refused = self._reader.make(found, origin=f"{origin}{found.place}", notes=notes)
        else:
            made = found
        settled = self._settle(made) if isinstance(made, Made) else made
        if isinstance(settled, Refused):
            self._reject(path, settled, line=found.line)
            return None
        return settled

    def _settle(self, made: Made) -> Document | Refused | None:
        """The document, unless its id was there before: then None for the same content, a refusal for other content."""
        tally, document = self._tally, made.document
        if document.id in tally.seen:
            revision, origin = tally.seen[document.id]
            if revision != made.revision:
                reason = f"the id {document.id!r} was already read from {origin} with other content"
                return Refused("id_clash", reason, None, excerpt(document.text))
            tally.repeated += 1
            self._note_file(document)
            return None
        tally.seen[document.id] = made.revision, document.origin
        self._note_file(document)
        tally.documents += 1
        tally.taken.update(made.taken)
        tally.dates[made.date] += 1
        return document

    def _note_file(self, document: Document) -> None:
        if not is_row(document.origin):
            self._tally.files_read[document.origin] = document.id

    def _reject(self, path: Path, refused: Refused, *, line: int | None = None) -> None:
        reject = Reject(_shown(path), line or refused.line, refused.kind, refused.reason, refused.excerpt)
        self._tally.reasons[reject.kind] += 1
        if len(self._tally.rejects) < REJECTS_KEPT:
            self._tally.rejects.append(reject)
        if self._sink is not None:
            self._sink(reject)

    def _tell(self, done: int, total: int, *, label: str) -> None:
        if self._progress is not None:
            self._progress(done, total, label)

    def _notes(self) -> Iterator[str]:
        """What the user should know about the whole reading."""
        tally = self._tally
        if tally.complete and tally.names:
            names = ", ".join(repr(excerpt(name)) for name in tally.names[:20])
            for name, source in self._reader.mapping.items():
                if not tally.taken[name, source]:
                    yield f"no document took its {name} from {source!r}; the first row has {names}"
        kept = len(tally.rejects)
        if kept < tally.reasons.total():
            yield f"only the first {kept} rejects are kept here; the others were counted"


def _spans_lines(head: bytes) -> bool:
    """True for a JSON text over several lines, whatever its name says."""
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n").split(b"\n", 1)[0]
    return first.strip() in (b"[", b"{", b"[{")


def _trouble(error: Exception) -> Refused:
    if isinstance(error, OSError):
        return Refused("unopened", f"cannot be opened: {error.strerror}")
    if isinstance(error, UnicodeDecodeError):
        return Refused("undecodable", f"cannot be decoded from here on: {error.reason}")
    return Refused("missing_extra" if isinstance(error, MissingExtra) else "undecodable", str(error))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # gone since it was found; opening it will say so
        return 0


def _shown(path: Path) -> str:
    return storable_path(path.absolute())
