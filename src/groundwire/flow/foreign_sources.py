"""Which documents the entries of an article's list of sources stand for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePath

from groundwire.core.text import normalise
from groundwire.core.types import ROW_OF_FILE, Document, NumberedSource
from groundwire.flow.render import plain_text

_URL = re.compile(r"https?://[^\s<>\"“”「」『』（）()\[\]【】，。；、]+", re.I)
_LEAST_TITLE = 4  # characters of a title that a list of sources is searched for


@dataclass(slots=True)
class Matched:
    """Number -> id of its document; why, in words; and what is wrong with a number that has none."""

    documents: dict[int, str] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    missing: dict[int, str] = field(default_factory=dict)


def numbered(entries: Mapping[str, str]) -> Iterator[tuple[int, str]]:
    """A number for each entry: its own, or one that is free for a footnote with a name."""
    taken = {int(key) for key in entries if key.isdecimal()}
    free = (number for number in range(1, len(entries) + max(taken, default=0) + 2) if number not in taken)
    for key in entries:
        yield (int(key) if key.isdecimal() else next(free)), key


def match_sources(entries: Mapping[str, str], numbers: Mapping[str, int], *, documents: Sequence[Document]) -> Matched:
    """Look up every entry among the documents, or, where there is no list, number these in order."""
    found = Matched()
    if not entries:
        for number, document in enumerate(documents, start=1):
            found.documents[number] = document.id
            found.told.append(f"[{number}]: {document.name}, by order: the article lists no sources")
        return found
    for key, entry in entries.items():
        number = numbers[key]
        named, why = _of_entry(entry, number, documents)
        if named is None:
            found.missing[number] = f"{why}: '{entry[:80]}'"
        else:
            found.documents[number] = named.id
            found.told.append(f"[{number}]: {named.name}, {why}")
    return found


def _of_entry(entry: str, number: int, documents: Sequence[Document]) -> tuple[Document | None, str]:
    """The document that an entry of a list names, and by what; or None, and why."""
    addresses = {address(url) for url in _URL.findall(entry)}
    ways = (
        ("by its address", [d for d in documents if d.url and address(d.url) in addresses]),
        ("by its title", _titled(entry, documents)),
        ("by the name of its file", [d for d in documents if _names_file(entry, d)]),
        ("by its id", [d for d in documents if re.search(rf"(?<!\w){re.escape(d.id)}(?!\w)", entry)]),
        ("by the number in the name of its file", [d for d in documents if _file_number(d) == number]),
    )
    for why, fitting in ways:
        if len(fitting) == 1:
            return fitting[0], why
        if fitting:
            return None, f"{len(fitting)} of the sources fit {why.removeprefix('by ')} in the list"
    return None, "none of the sources given is this one of the list"


def address(url: str) -> str:
    """An address as it is compared: without scheme, ``www.``, a mark at its end, or what only tells readers apart."""
    bare = re.sub(r"^https?://(?:www\.|m\.)?", "", url.strip().lower()).partition("#")[0]
    bare = re.sub(r"(?<=[?&])(?:utm_\w+|fbclid|gclid|ref)=[^&]*&?", "", bare)
    return bare.rstrip("?&/.,;:!'")


def _titled(entry: str, documents: Sequence[Document]) -> list[Document]:
    """The documents whose title stands in an entry, only the longest such titles."""
    words = normalise(plain_text(entry))
    titles = {d.id: normalise(d.title) for d in documents}
    held = [d for d in documents if len(titles[d.id]) >= _LEAST_TITLE and titles[d.id] in words]
    longest = max((len(titles[d.id]) for d in held), default=0)
    return [d for d in held if len(titles[d.id]) == longest]


def _file(document: Document) -> PurePath:
    return PurePath(ROW_OF_FILE.sub("", document.origin.split("\n")[0]))


def _names_file(entry: str, document: Document) -> bool:
    file = _file(document)
    names = [name for name in (file.name, file.stem) if len(name) >= 3 and not name.isdecimal()]
    return any(re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", entry, re.I) for name in names)


def _file_number(document: Document) -> int | None:
    found = re.fullmatch(r"\D*?0*(\d{1,3})(?:\D.*)?", _file(document).stem)
    return int(found[1]) if found else None


def listed(numbers: Mapping[int, str], documents: Sequence[Document]) -> tuple[NumberedSource, ...]:
    """The list of sources: every number with the document that it stands for."""
    by_id = {document.id: document for document in documents}
    return tuple(
        NumberedSource(number, key, by_id[key].title, by_id[key].source, by_id[key].published, by_id[key].url,
                       by_id[key].language)
        for number, key in sorted(numbers.items())
    )  # fmt: skip
