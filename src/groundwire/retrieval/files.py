"""Paths, folders and patterns to files with their formats; what is passed over is named. One writer for a folder."""

from __future__ import annotations

import glob
import json
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from groundwire.core.encodings import HEAD_BYTES
from groundwire.core.errors import ArchiveError
from groundwire.retrieval.formats import Refused, RejectKind

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


Format = Literal["jsonl", "json", "csv", "tsv", "markdown", "text", "html", "feed", "pdf", "mail", "chroma"]

SUFFIXES: Mapping[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text",
    ".html": "html", ".htm": "html", ".xhtml": "html",
    ".xml": "feed", ".rss": "feed", ".atom": "feed", ".rdf": "feed", ".pdf": "pdf", ".eml": "mail",
}  # fmt: skip
"""What folders and patterns are searched for; a file given by name is read whatever its suffix, by what it holds."""


CHROMA = "chroma.sqlite3"
"""The file that makes a folder one of Chroma; ``FOLDER#NAME`` asks for one of its collections."""
_CHROMA_INDEX = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

_OWN_SCHEMA = "groundwire.article/"
_OWN_PAGE = re.compile(r'<meta name="generator" content="groundwire"')
_OWN_MARKDOWN = (
    re.compile(r"^\*(?:Topic: |主題：|主题：).+ · (?:writer: |撰寫：|撰写：).+\*\s*$", re.MULTILINE),
    re.compile(r"^## (?:Sources|資料來源|资料来源)\s*$", re.MULTILINE),
    re.compile(r"^\[\d+\] .*`[^`\n]+`", re.MULTILINE),
)
"""The line of facts below the headline, the heading of the sources, and a source with the id of its document."""

LOCK = "writing.lock"
"""Held by whoever writes to an archive; the system gives it back when the process ends, however it ends."""
_WAIT_SECONDS = 30.0
_LOOK_EVERY_SECONDS = 0.05


@contextmanager
def only_writer(folder: Path | None, *, wait_seconds: float = _WAIT_SECONDS) -> Iterator[None]:
    """Be the only process that writes to an archive, for a ``with`` block; readers are not held up.

    Args:
        folder: the archive; None, for one in memory, locks nothing.
        wait_seconds: how long to wait for another writer.

    Raises:
        ArchiveError: another process was writing all that time, or the file system knows no locks.
    """
    if folder is None:
        yield
        return
    # Closing the file gives the lock back.
    with (folder / LOCK).open("ab") as handle:
        _wait_for(handle.fileno(), folder, wait_seconds=wait_seconds)
        yield


def is_being_written(folder: Path | None) -> bool:
    """Whether a process writes to an archive at this moment."""
    if folder is None or not (folder / LOCK).exists():
        return False
    with (folder / LOCK).open("rb") as handle:
        try:
            _lock(handle.fileno())
        except (BlockingIOError, PermissionError):
            return True
    return False


def _wait_for(handle: int, folder: Path, *, wait_seconds: float) -> None:
    until = time.monotonic() + wait_seconds
    while True:
        try:
            return _lock(handle)
        except OSError as error:
            if not isinstance(error, (BlockingIOError, PermissionError)):
                raise ArchiveError(f"{folder} cannot be locked ({error}); keep the archive on a local disk") from error
            if time.monotonic() >= until:
                raise ArchiveError(
                    f"another process is writing to {folder}, and was for {wait_seconds:g} seconds. Run this again "
                    "when it is done"
                ) from error
        time.sleep(_LOOK_EVERY_SECONDS)


def find_files(paths: Iterable[str]) -> Iterator[tuple[Path, Format | Refused]]:
    """Every file behind the paths with its format, or why it is not read; folders in order of name."""
    for path in paths:
        if os.path.lexists(path):
            yield from _expand(Path(path), named=True)
        elif "#" in path and _mode(split_collection(database := _collection_path(path))[0]):
            yield database, "chroma"
        elif glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
            for match in matches:
                yield from _expand(Path(match), named=False)
            if not matches:
                yield Path(path), Refused("missing", "no file matches this pattern")
        else:
            yield Path(path), Refused("missing", "does not exist")


def split_collection(path: Path) -> tuple[Path, str]:
    """The database and the collection behind a path that ``find_files`` gave; ``""`` for all collections."""
    folder, (name, _, collection) = path.parent, path.name.partition("#")
    return folder / name, collection


def _collection_path(path: str) -> Path:
    folder, _, collection = path.rpartition("#")
    return Path(folder) / f"{CHROMA}#{collection}"


def _expand(path: Path, *, named: bool) -> Iterator[tuple[Path, Format | Refused]]:
    suffix, mode = path.suffix.lower(), _mode(path)
    if stat.S_ISDIR(mode):
        yield from _walk(path)
    elif not stat.S_ISREG(mode):
        yield path, Refused("unopened", "is no regular file that can be reached (a link to nothing, a pipe, a device)")
    elif suffix in SUFFIXES:
        yield path, SUFFIXES[suffix]
    elif path.name == CHROMA:
        yield path, "chroma"
    elif named:
        yield path, _format_by_content(path)
    else:
        yield path, Refused("no_reader", f"no reader for {suffix or 'a name without a suffix'}")


def _walk(folder: Path) -> Iterator[tuple[Path, Format | Refused]]:
    """Depth first, without recursion; everything that is passed over is named."""
    left, seen = [folder], False
    while left:
        path = left.pop()
        is_folder = stat.S_ISDIR(_mode(path))
        if path != folder and path.name.startswith("."):
            found: list[tuple[Path, Format | Refused]] = [(path, Refused("skipped", "hidden, not read"))]
        elif path != folder and is_folder and path.is_symlink():
            found = [(path, Refused("skipped", "a linked folder, not entered"))]
        elif is_folder and _is_archive(path):
            kind: RejectKind = "skipped" if path != folder else "own_export"
            found = [(path, Refused(kind, "an archive of groundwire, not entered"))]
        elif is_folder:
            found = _list(path, into=left)
        else:
            found = list(_expand(path, named=False))
        seen = seen or bool(found)
        yield from found
    if not seen:
        yield folder, Refused("empty", "the folder holds no files")


def _is_archive(folder: Path) -> bool:
    return _mode(folder / "manifest.json") != 0 and _mode(folder / "documents.lance") != 0


def is_own_export(text: str, form: Format) -> bool:
    """Whether the text of a file is an article that groundwire wrote, as JSON, page or Markdown.

    Read as a source, it would let groundwire cite itself.
    """
    if form == "html":
        return _OWN_PAGE.search(text, 0, HEAD_BYTES) is not None
    if form in ("markdown", "text"):
        return all(pattern.search(text) for pattern in _OWN_MARKDOWN)
    return f'"{_OWN_SCHEMA}' in text and _is_own_json(text)


def _is_own_json(text: str) -> bool:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):  # read_json will say so
        return False
    return isinstance(content, dict) and str(content.get("schema")).startswith(_OWN_SCHEMA)


def _list(folder: Path, *, into: list[Path]) -> list[tuple[Path, Format | Refused]]:
    try:
        entries = sorted(folder.iterdir(), reverse=True)
    except OSError as error:
        return [(folder, Refused("unopened", f"cannot be opened: {error.strerror}"))]
    is_chroma = any(entry.name == CHROMA for entry in entries)
    into.extend(entry for entry in entries if not (is_chroma and _is_of_chroma(entry)))
    return []


def _is_of_chroma(path: Path) -> bool:
    """Whether a neighbour of the database belongs to it: the folder of a vector index, or a journal."""
    return _CHROMA_INDEX.fullmatch(path.name) is not None or path.name.startswith(f"{CHROMA}-")


def _mode(path: Path) -> int:
    """What kind of thing a path is, links followed; 0 where that cannot be told."""
    try:
        return path.stat().st_mode
    except OSError:
        return 0


def _format_by_content(path: Path) -> Format | Refused:
    try:
        with path.open("rb") as handle:
            head = handle.read(HEAD_BYTES).lstrip(b"\xef\xbb\xbf \t\r\n").lower()
    except OSError as error:
        return Refused("unopened", f"cannot be opened: {error.strerror}")
    if head.startswith((b"<!doctype html", b"<html")):
        return "html"
    if head.startswith((b"<?xml", b"<rss", b"<feed", b"<rdf:rdf")):
        return "feed"
    if head.startswith(b"%pdf-"):
        return "pdf"
    return "json" if head.startswith((b"{", b"[")) else "text"
