"""Which files hold a document: several may hold the same one, and it goes when the last of them is edited or gone.

A file that is one document stands in ``Document.origin`` as a line with its path. A row of a larger file
(``/path/stories.jsonl:12``, ``/path/stories.json[0]``) is one line too; rows follow their id, not their place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, runtime_checkable

from groundwire.core.types import ROW_OF_FILE, Document

_ESCAPED = re.compile(r"\\udc([0-9a-f]{2})|\\n")


@runtime_checkable
class HoldsFiles(Protocol):
    """Documents that also say, once they were read, which files were read to their end."""

    def files_read(self) -> Mapping[str, str]:
        """Origin of each file -> id of the one document that it is, or ``""`` where it is none."""


@dataclass(slots=True)
class Met:
    """What an ``add`` has met: the ids with the first row that held each (or ``""``), and what each file holds."""

    rows: dict[str, str] = field(default_factory=dict)
    files: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def note(self, document: Document) -> None:
        """Remember where a document was met."""
        self.rows.setdefault(document.id, "")
        for line in document.origin.split("\n"):
            if is_row(line):
                self.rows[document.id] = self.rows[document.id] or line
            elif line:
                self.note_file(line, document.id)

    def note_file(self, origin: str, document_id: str) -> None:
        """Remember that a file was read, and what it holds; the id ``""`` stands for nothing."""
        held = self.files.setdefault(origin, ())
        if document_id and document_id not in held:
            self.files[origin] = (*held, document_id)

    def settle(self, stored: Mapping[str, str]) -> tuple[dict[str, str], set[str]]:
        """The origins that changed, by id, and the ids of the documents that no file holds any longer.

        Args:
            stored: id -> origin as the archive has it after the documents that were met are in it.
        """
        here: dict[str, set[str]] = {}
        for line, held in self.files.items():
            for name in held:
                here.setdefault(name, set()).add(line)
        changed: dict[str, str] = {}
        gone: set[str] = set()
        for name, origin in stored.items():
            lines = set(origin.split("\n"))
            now = here.get(name, set()) | self._row(name, lines)
            lost = {line for line in lines if line in self.files and line not in now}
            if not lost and now <= lines:
                continue
            kept = now | {line for line in lines - lost if not is_gone(line)}
            if kept or name in self.rows:
                changed[name] = "\n".join(sorted(kept))
            else:
                gone.add(name)
        return changed, gone

    def _row(self, name: str, lines: Iterable[str]) -> set[str]:
        """The row where a document was met, unless the archive knows one already."""
        row = self.rows.get(name, "")
        return {row} if row and not any(map(is_row, lines)) else set()


def is_row(origin: str) -> bool:
    """Whether an origin names a row of a larger file."""
    return ROW_OF_FILE.search(origin) is not None


def file_origin(path: Path) -> str:
    """The origin of a file: one for each file, by whatever path it was reached, in a form that can be stored."""
    return storable_path(os.path.realpath(path))


def storable_path(path: str | Path) -> str:
    """A path on one line; a name on disk may hold bytes that are no text, and these are escaped."""
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8").replace("\n", "\\n")


def is_gone(origin: str) -> bool:
    """Whether an origin is a file that is certainly not there any more; never true of a row or of what is no path."""
    if is_row(origin) or not Path(origin).is_absolute():
        return False
    unescaped = _ESCAPED.sub(lambda found: chr(0xDC00 + int(found[1], 16)) if found[1] else "\n", origin)
    return not (_may_be_there(origin) or _may_be_there(unescaped))


def _may_be_there(path: str) -> bool:
    try:
        Path(path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:  # not reachable, which is not the same as gone
        return True
    return True
