"""The text of a PDF: columns in reading order, running lines taken out, lines joined to paragraphs.

A PDF holds characters at places on a page and neither words, lines, columns nor paragraphs; all of these are inferred
here from ``pypdf``'s picture of the page in characters of one width. What was inferred is in the notes of the row.
"""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from io import BytesIO
from itertools import groupby, pairwise
from logging.handlers import BufferingHandler
from math import ceil
from statistics import median
from typing import Literal, Protocol
from unicodedata import category, east_asian_width

from groundwire.core.errors import MissingExtra
from groundwire.retrieval.formats import Refused, Row, excerpt, read_plain

_DEPTH = 3
"""Lines from the top and from the bottom of a page that may be running lines."""
_APART = "\f"
"""A row that parts a block from what stands above it; a clean page holds none."""
_COLUMN_ROWS = 3
_COLUMN_WIDTH = 12
"""Narrower cells than this are a table's, not a column's of prose."""
_UNREADABLE_SHARE, _UNASSIGNED_SHARE = 0.2, 0.02
_TABLE_GAP = re.compile(r"\S {6,}\S")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_FIRST_PDF = 1993
_UNSET_DAYS = ("1601-01-01", "1970-01-01", "1980-01-01", "1999-12-31", "2000-01-01")
_NO_TITLE = re.compile(
    r"(?:untitled|no title|title|document|dokument|microsoft (?:word|powerpoint|excel)|(?:powerpoint )?presentation"
    r"|slide|layout|book|sheet|contents|table of contents|目錄|目录|print|scan|無標題|未命名|无标题)[\W\d]*"
    r"(?:\s-\s.*)?|[\W\d_]+|\S+\.[A-Za-z]{2,5}|.*\.(?:docx?|pptx?|xlsx?|pdf|indd|tex|odt)|[0-9A-Fa-f-]{16,}|\S*[\\/]\S*",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?。！？…:：]['\"”’」』）)\]]*\Z")
_RUNS_ON = re.compile(r"[,，、;；(（「『\-–—‐/]\Z")
_BULLET = re.compile(r"[•▪◦●■◆‣·∙]\s*")
_NUMBERED = re.compile(r"(?:\(?\d{1,3}[.)]|\([a-z]\)|\[\d{1,3}\]|[一二三四五六七八九十]+、)\s*\S")
_LINE_HYPHEN = re.compile(r"(?P<before>[-‐]?)(?P<first>[^\W\d_]+)(?P<hyphen>[-‐\u00ad])\Z")
_JOINED = re.compile(r"(?:\w[-‐\u00ad]|[—/])\Z")
_WIDE = "\u2e80-\u303f\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uff01-\uff60\U00020000-\U0003ffff"
_WIDE_CHARACTER = re.compile(f"[{_WIDE}]")
"""Chinese and Japanese, which have no spaces between words; Korean has."""
_WORD = re.compile(r"[^\W\d_]+")
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-‐][^\W\d_]+)*")
_FIRST = re.compile(
    "all|cross|far|four|full|half|high|ill|left|long|low|mid|non|one|part|self|short|state|third|three|two|vice|well"
    "|wide|world|year"
)
"""What often begins a compound with a hyphen, unless one of ``_ENDING`` follows."""
_ENDING = re.compile("ages?|dle|en|er|est|ing|ish|lights?|ly|ments?|mers?|ners?|ness|night|sense|teen|ther|ways?")
_SECOND = re.compile(
    "based|bound|driven|free|funded|general|led|made|minded|old|owned|related|style|term|thirds|time|wide|year"
)
"""What often ends one."""
# What pypdf has been seen to raise on files that break the rules of the format.
_BROKEN = (
    ArithmeticError, AssertionError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError, OSError,
    RecursionError, TypeError, ValueError,
)  # fmt: skip


class _Page(Protocol):
    """What is used of a page of pypdf."""

    def extract_text(self, *, extraction_mode: Literal["plain", "layout"] = "plain") -> str: ...


class _Metadata(Protocol):
    """What is used of pypdf's metadata."""

    @property
    def title(self) -> str | None: ...

    @property
    def creation_date(self) -> datetime | None: ...


@dataclass(frozen=True, slots=True)
class _Read:
    """The rows of a page as they stand on it; ``drawn`` says that they are in the order of drawing instead."""

    rows: tuple[str, ...]
    drawn: bool
    problem: str


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a column: ``blank`` rows are free above it, ``full`` is the usual width of its neighbours."""

    text: str
    indent: int
    blank: int
    width: int
    full: int
    first: bool
    table: bool


def read_printed(data: bytes) -> Row | Refused:
    """One document: the text of a PDF, with title and date from its metadata where they look real.

    Pages without text (scanned ones) are named in the notes by their number. Lines that stand at the same place of most
    pages, numbers apart, are taken out. Lines are joined to paragraphs, parted by a blank line.

    Raises:
        MissingExtra: pypdf is not installed.
    """
    try:
        import pypdf
        from pypdf.errors import DependencyError, PyPdfError
    except ImportError as error:
        raise MissingExtra("Reading PDF", extra="read") from error
    broken = (PyPdfError, *_BROKEN)
    with _listening() as complaints:
        try:
            reader = pypdf.PdfReader(BytesIO(data))
            if reader.is_encrypted and not reader.decrypt(""):
                return Refused("encrypted", "is encrypted and opens with a password only; save a copy without one")
            pages = [_read_page(page, broken) for page in reader.pages]
            values, notes = _describe(reader.metadata, broken)
        except DependencyError:
            return Refused("encrypted", "is encrypted with AES, which cannot be opened here; save a copy without it")
        except broken as error:
            return Refused("bad_pdf", f"is no PDF that can be read: {type(error).__name__}: {excerpt(str(error))}")
    if complaints:
        notes.append(f"pypdf remarked: {excerpt(complaints[0].getMessage())}")
    return _as_row(pages, values=values, notes=notes)


@contextmanager
def _listening() -> Iterator[list[logging.LogRecord]]:
    """What pypdf says meanwhile, kept from the terminal."""
    listener, logger = BufferingHandler(capacity=100_000), logging.getLogger("pypdf")
    logger.addHandler(listener)
    try:
        yield listener.buffer
    finally:
        logger.removeHandler(listener)


def _read_page(page: _Page, broken: tuple[type[Exception], ...]) -> _Read:
    """The rows of a page. The picture of the page leaves out turned text; then the order of drawing is taken."""
    try:
        plain, problem = page.extract_text(), ""
    except broken as error:
        plain, problem = "", type(error).__name__
    try:
        picture = page.extract_text(extraction_mode="layout")
    except broken:
        picture = ""
    drawn = _inked(picture) < 0.9 * _inked(plain)
    text = _clean(plain if drawn else picture)
    return _Read(tuple(text.split("\n")) if text.strip() else (), drawn, problem)


def _inked(text: str) -> int:
    return len("".join(text.split()))


def _clean(text: str) -> str:
    text = text.translate(_LIGATURES).replace("\t", " ").replace("\r", "\n")
    return "".join(char for char in text if char == "\n" or category(char) != "Cc")


def _describe(metadata: _Metadata | None, broken: tuple[type[Exception], ...]) -> tuple[dict[str, object], list[str]]:
    """Title and date of the metadata where they look real, and what there is to say about them."""
    try:
        title = " ".join(_clean(str(metadata.title or "")).split()) if metadata else ""
    except broken:
        title = ""
    try:
        created = metadata.creation_date if metadata else None
    except broken:
        created = None
    values: dict[str, object] = {}
    if title and not _NO_TITLE.fullmatch(title):
        values["title"] = title
    if created is None or created.year < _FIRST_PDF or created.date().isoformat() in _UNSET_DAYS:
        return values, []
    values["published"] = created.date().isoformat()
    return values, ["date: when the PDF was made, by its metadata; it may have been published on another day"]


def _as_row(pages: Sequence[_Read], *, values: dict[str, object], notes: list[str]) -> Row | Refused:
    without = [number for number, page in enumerate(pages, start=1) if not page.rows]
    failed = sorted({page.problem for page in pages if page.problem and not page.rows})
    why = f"; pypdf fails with {', '.join(failed)}" if failed else ""
    if len(without) == len(pages):
        reason = why or ": they are scanned or blank; recognise the text first (OCR)"
        return Refused("bad_pdf" if failed else "scanned", f"holds no text on its pages ({len(pages)}){reason}")
    if without:
        notes.append(f"pages without text (scanned, or blank): {_listed(without)}{why}")
    drawn = [number for number, page in enumerate(pages, start=1) if page.rows and page.drawn]
    if drawn:
        notes.append(f"pages read in the order in which they are drawn: {_listed(drawn)}")
    kept, running = _take_out_running([page.rows for page in pages])
    if running:
        notes.append(f"running lines taken out: {len(running)} ({excerpt(running[0])})")
    text = _unwrap([line for rows in kept for line in _lines(_in_reading_order(rows))], notes)
    unassigned = sum(category(char) == "Cn" for char in text)  # no text holds these: a wrong map from glyphs makes them
    unknown = unassigned + sum(char == "\ufffd" or category(char) == "Co" for char in text)
    if unknown > _UNREADABLE_SHARE * len(text) or unassigned > _UNASSIGNED_SHARE * len(text):
        reason = f"its fonts do not say which characters they draw ({unknown} of {len(text)} are unknown)"
        return Refused("bad_pdf", reason, None, excerpt(text))
    title = read_plain(text).values.get("title")
    if isinstance(title, str) and "title" not in values and not _NO_TITLE.fullmatch(title):
        values["title"] = title
        notes.append("title: the first line of the text")
    return Row({**values, "text": text}, named=True, notes=tuple(notes))


def _listed(numbers: Sequence[int]) -> str:
    """``1, 3-5`` for 1, 3, 4, 5."""
    counted = groupby(enumerate(numbers), key=lambda pair: pair[1] - pair[0])
    runs = [[number for _, number in run] for _, run in counted]
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _take_out_running(pages: Sequence[Sequence[str]]) -> tuple[list[list[str]], list[str]]:
    """The pages without the lines that stand at the same place on most of all, of the left or of the right pages.

    Numbers in them may count the pages; lines with other numbers are not the same.
    """
    places: dict[tuple[str, int, str], dict[int, int]] = {}
    shown: set[int] = set()
    for number, rows in enumerate(pages):
        inked = [index for index, row in enumerate(rows) if row.strip()]
        shown.update([number] if inked else [])
        for edge, order in (("top", inked[:_DEPTH]), ("bottom", inked[: -_DEPTH - 1 : -1])):
            for depth, index in enumerate(order):
                shape = " ".join(re.sub(r"\d+", "#", rows[index]).split())
                places.setdefault((edge, depth, shape), {})[number] = index
    groups = [shown, {number for number in shown if number % 2}, {number for number in shown if not number % 2}]
    found: set[tuple[int, int]] = set()
    for at in places.values():
        for group in groups:
            both = sorted(at.keys() & group)
            if len(both) > max(1, len(group) / 2) and _count_on(
                [(number, pages[number][at[number]]) for number in both]
            ):
                found.update((number, at[number]) for number in both)
    kept = [
        ["" if (number, index) in found else row for index, row in enumerate(rows)] for number, rows in enumerate(pages)
    ]
    if not any(row.strip() for rows in kept for row in rows):
        return [list(rows) for rows in pages], []
    return kept, [" ".join(pages[number][index].split()) for number, index in sorted(found)]


def _count_on(lines: Sequence[tuple[int, str]]) -> bool:
    """Whether the numbers in lines, each with its page, stay or count with the pages, but for one step in five."""
    read = [(page, [int(digits[:9]) for digits in re.findall(r"\d+", line)]) for page, line in lines]
    steps = [
        all(after in (before, before + next_page - page) for before, after in zip(numbers, following, strict=True))
        for (page, numbers), (next_page, following) in pairwise(read)
    ]
    return sum(steps) >= 0.8 * len(steps)


def _in_reading_order(rows: Sequence[str], *, depth: int = 3) -> list[Sequence[str]]:
    """Blocks of rows: what stands above columns, each column from the left, what stands below."""
    found = _find_columns(rows) if depth else None
    if found is None:
        return [rows] if any(row.strip() for row in rows) else []
    start, end, at = found
    inside = [(row, _cut(row, at)) for row in rows[start:end]]
    left = [row if row == _APART else row[:cut].rstrip() for row, cut in inside]
    right = [row[cut:].rstrip() for row, cut in inside]
    parts = (rows[:start], [_APART, *left] if start else left, right, [_APART, *rows[end:]])
    return [block for part in parts for block in _in_reading_order(part, depth=depth - 1)]


def _find_columns(rows: Sequence[str]) -> tuple[int, int, int] | None:
    """The run of rows (start, end) with a gutter, and where the text to the right of it begins."""
    width = max((len(row) for row in rows), default=0)
    starts = Counter(found.end() for row in rows for found in re.finditer(r"(?:^ *|(?<=\S)) {3,}(?=\S)", row))
    best, most = None, _COLUMN_ROWS - 1
    for at in sorted(at for at, count in starts.items() if count >= _COLUMN_ROWS and 0.2 * width <= at <= 0.8 * width):
        start = 0
        for end in range(len(rows) + 1):
            if end < len(rows) and _cut(rows[end], at):
                continue
            height = _columns_height(rows[start:end], at)
            if height > most:
                best, most = (start, end, at), height
            start = end + 1
    return best


def _cut(row: str, at: int) -> int:
    """Where a row is cut in two by a gutter before ``at``, give or take one; 0 where its text crosses the gutter."""
    return next((cut for cut in (at, at - 1) if not row[max(0, cut - 2) : cut].strip()), 0)


def _columns_height(rows: Sequence[str], at: int) -> int:
    """Of how many rows the shorter column is; 0 where these are no columns of prose."""
    left = [part for part in (row[: _cut(row, at)].strip() for row in rows) if part]
    rest = [part for part in (row[_cut(row, at) :] for row in rows) if part.strip()]
    aligned = sum(len(part) - len(part.lstrip()) <= 1 for part in rest)
    if not left or aligned < 0.6 * len(rest):
        return 0
    wide = all(median(_width(part.strip()) for part in side) >= _COLUMN_WIDTH for side in (left, rest) if side)
    return min(len(left), len(rest)) if wide else 0


def _width(text: str) -> int:
    return sum(2 if east_asian_width(char) in "WF" else 1 for char in text)


def _lines(blocks: Iterable[Sequence[str]]) -> Iterator[_Line]:
    for rows in blocks:
        inked = [row for row in rows if row.strip()]
        margin = min(len(row) - len(row.lstrip()) for row in inked)
        tables = [bool(_TABLE_GAP.search(row)) for row in inked]
        texts = [re.sub(f"(?<=[{_WIDE}]) (?=[{_WIDE}])", "", " ".join(row.split())) for row in inked]
        widths = sorted(_width(text) for text, table in zip(texts, tables, strict=True) if not table) or [0]
        full, blank, number = widths[ceil(0.8 * len(widths)) - 1], 0, 0
        for row in rows:
            if not row.strip():
                blank += 1000 if row == _APART else 1
                continue
            text, indent = texts[number], len(row) - len(row.lstrip()) - margin
            yield _Line(text, indent, blank, _width(text), full, number == 0 and blank < 1000, tables[number])
            blank, number = 0, number + 1


def _unwrap(lines: Sequence[_Line], notes: list[str]) -> str:
    """The lines as paragraphs, parted by blank lines; what became of hyphens at line ends is added to the notes."""
    usual = Counter(line.blank for line in lines if not line.first)
    spacing = max(usual, key=lambda blank: (usual[blank], -blank)) if usual else 0
    known = frozenset(word.lower() for line in lines for word in _COMPOUND.findall(line.text))
    parts, dropped, kept = [lines[0].text], 0, 0
    for above, line in pairwise(lines):
        hyphen = None if _parted(above, line, spacing=spacing) else _LINE_HYPHEN.search(above.text)
        if hyphen and _drops(hyphen, line.text, known=known):
            parts[-1], dropped = parts[-1][:-1], dropped + 1
        elif hyphen:
            kept += 1
        parts += (_between(above, line, spacing=spacing), line.text)
    if dropped or kept:
        notes.append(f"hyphens at line ends: {dropped} taken out, {kept} kept")
    return "".join(parts)


def _between(above: _Line, line: _Line, *, spacing: int) -> str:
    """What stands between two lines: a blank line, a space, or nothing after a hyphen and beside Chinese."""
    if _parted(above, line, spacing=spacing):
        return "\n\n"
    joined = _JOINED.search(above.text) or _WIDE_CHARACTER.match(above.text[-1]) or _WIDE_CHARACTER.match(line.text)
    return "" if joined else " "


def _parted(above: _Line, line: _Line, *, spacing: int) -> bool:
    """Whether a new paragraph begins with a line."""
    if above.table or line.table or _BULLET.match(line.text) or (line.blank > spacing and not line.first):
        return True
    if _ENDED.search(above.text):
        short = above.width < 0.8 * above.full
        return line.first or line.indent >= 2 or short or bool(_NUMBERED.match(line.text))
    if _RUNS_ON.search(above.text):
        return False
    begins = line.text[0].isupper() or line.text[0].isdecimal() or bool(_WIDE_CHARACTER.match(line.text))
    return begins and above.width < 0.6 * above.full


def _drops(hyphen: re.Match[str], below: str, *, known: frozenset[str]) -> bool:
    """Whether a hyphen at a line end is only there because the word did not fit.

    It is dropped where the whole word also stands unbroken in the document, and else where all of it is lower case and
    it is no compound: neither stands in the document with its hyphen, nor has a part that often makes compounds.
    """
    rest = _WORD.match(below)
    if hyphen["hyphen"] == "\u00ad":
        return True
    if not rest or hyphen["before"]:
        return False
    first, second = hyphen["first"], rest.group()
    if (first + second).lower() in known:
        return True
    if not (first + second).islower():
        return False
    often = _SECOND.fullmatch(second) or (_FIRST.fullmatch(first) and not _ENDING.fullmatch(second))
    return not often and f"{first}-{second}" not in known
