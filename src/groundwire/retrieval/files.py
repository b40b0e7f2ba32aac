"""Paths, folders and patterns to files with their formats; what is passed over is named."""

from __future__ import annotations

import glob
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal

from groundwire.core.encodings import HEAD_BYTES
from groundwire.retrieval.formats import Refused

Format = Literal["jsonl", "json", "csv", "tsv", "markdown", "text", "html", "feed", "pdf", "mail"]

SUFFIXES: Mapping[str, Format] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "json", ".csv": "csv", ".tsv": "tsv", ".tab": "tsv",
    ".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text",
    ".html": "html", ".htm": "html", ".xhtml": "html",
    ".xml": "feed", ".rss": "feed", ".atom": "feed", ".rdf": "feed", ".pdf": "pdf", ".eml": "mail",
}  # fmt: skip
"""What folders and patterns are searched for; a file given by name is read whatever its suffix, by what it holds."""


def find_files(paths: Iterable[str]) -> Iterator[tuple[Path, Format | Refused]]:
    """Every file behind the paths with its format, or why it is not read; folders in order of name."""
    for path in paths:
        if os.path.lexists(path):
            yield from _expand(Path(path), named=True)
        elif glob.has_magic(path):
            matches = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - Path.glob takes no absolute pattern
            for match in matches:
                yield from _expand(Path(match), named=False)
            if not matches:
                yield Path(path), Refused("missing", "no file matches this pattern")
        else:
            yield Path(path), Refused("missing", "does not exist")


def _expand(path: Path, *, named: bool) -> Iterator[tuple[Path, Format | Refused]]:
    suffix, mode = path.suffix.lower(), _mode(path)
    if stat.S_ISDIR(mode):
        yield from _walk(path)
    elif not stat.S_ISREG(mode):
        yield path, Refused("unopened", "is no regular file that can be reached (a link to nothing, a pipe, a device)")
    elif suffix in SUFFIXES:
        yield path, SUFFIXES[suffix]
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
        elif is_folder:
            found = _list(path, into=left)
        else:
            found = list(_expand(path, named=False))
        seen = seen or bool(found)
        yield from found
    if not seen:
        yield folder, Refused("empty", "the folder holds no files")


def _list(folder: Path, *, into: list[Path]) -> list[tuple[Path, Format | Refused]]:
    try:
        into.extend(sorted(folder.iterdir(), reverse=True))
    except OSError as error:
        return [(folder, Refused("unopened", f"cannot be opened: {error.strerror}"))]
    return []


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
