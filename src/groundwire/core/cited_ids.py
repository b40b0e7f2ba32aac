"""Citations of closed ids in a model's draft: taken out of its words, resolved against what it was given.

A model is given sentences under ids such as ``S3.2`` and cites them as ``[S3.2]``, ``[S3.2, S4.1]``, ``[S3.2-S3.4]``,
``【S3.2】`` or ``(S3.2)``; plain numbers work the same where the ids are numbers. No word of the draft is ever lost:
``restore`` gives it back character by character.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from groundwire.core.numerals import flatten

_ID = r"(?:s\s?)?\d{1,4}(?:\s?\.\s?\d{1,4})?"
_LABEL = r"(?:(?:sources?|src|refs?|references?|cite|来源|资料|文献|见|引)\s{0,3}[:：]?\s{0,3})?"
_DASH = r"\s{0,3}(?:[-‐‑‒–—−~～]|\bto\b|至|到)\s{0,3}"
_COMMA = r"(?:\s{0,3}(?:[,，、;；/&|]|\band\b|和|及|与)\s{0,3}|\s{1,3})"
_LISTED = rf"\^?\s{{0,3}}{_LABEL}{_ID}(?:(?:{_DASH}|{_COMMA})\^?{_ID}){{0,60}}\s{{0,3}}"
_MARKER = re.compile(
    rf"(?P<lead>(?<![ \t])[ \t]*)(?P<marker>\[\[{_LISTED}\]\]|[\[【]{_LISTED}[\]】]|[(（](?P<round>{_LISTED})[)）])",
    re.IGNORECASE,
)
_PART = re.compile(rf"(?P<first>{_ID})(?:{_DASH}(?P<last>{_ID}))?", re.IGNORECASE)
_KEY = re.compile(r"(s?)(\d+)(?:\.(\d+))?")
_WIDEST = 100


@dataclass(frozen=True, slots=True)
class Marker:
    """Citations that stood at one place of the draft.

    ``place`` counts characters of the words; ``text`` is what was taken out there, and ``gap`` what stands in its
    stead (a space where two words would else have run together). ``ids`` were resolved, each once; ``unknown`` is what
    no id answers to.
    """

    place: int
    text: str
    ids: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    gap: str = ""


@dataclass(frozen=True, slots=True)
class Cited:
    """A draft without its markers; ``unknown`` lists every citation of something that was not given, in order."""

    words: str
    markers: tuple[Marker, ...]

    @property
    def unknown(self) -> tuple[str, ...]:
        """What was cited without having been given."""
        return tuple(each for marker in self.markers for each in marker.unknown)


def read_citations(draft: str, *, known: Collection[str]) -> Cited:
    """Take the citations out of a draft and resolve them.

    Square brackets that hold only ids are markers, known or not; a year stays a word where no id is that number. Round
    brackets are markers only where every id in them is known. A range is expanded over the ids that are there, its
    gaps are unknown.

    Args:
        draft: what the model wrote.
        known: the ids it was given, such as ``S3.2`` or ``4``.
    """
    by_key = {_key(each): each for each in known}
    pieces: list[str] = []
    markers: list[Marker] = []
    length, last = 0, 0
    for found in _MARKER.finditer(flatten(draft)):
        inside = found["round"] or found["marker"].strip("[]【】")
        ids, unknown = _resolve(inside, by_key)
        if (found["round"] and unknown) or _is_year(inside, ids):
            continue
        before, after = draft[last : found.start()], draft[found.end() : found.end() + 1]
        text, at_start = draft[found.start() : found.end()], not (before or pieces) or before[-1:] == "\n"
        if found["lead"] and (at_start or _latin(after)):  # the space parts words that stay
            before, text = before + found["lead"], text[len(found["lead"]) :]
        pieces.append(before)
        length += len(before)
        gap = " " if not found["lead"] and _latin(before[-1:]) and _latin(after) else ""
        markers.append(Marker(length, text, ids, unknown, gap))
        pieces.append(gap)
        length += len(gap)
        last = found.end()
    pieces.append(draft[last:])
    return Cited("".join(pieces), tuple(markers))


def restore(cited: Cited) -> str:
    """The draft as it was."""
    pieces: list[str] = []
    last = 0
    for marker in cited.markers:
        pieces += (cited.words[last : marker.place], marker.text)
        last = marker.place + len(marker.gap)
    return "".join((*pieces, cited.words[last:]))


def _latin(character: str) -> bool:
    return character.isalnum() and character < "\u2e80"


def _is_year(inside: str, ids: tuple[str, ...]) -> bool:
    return not ids and re.fullmatch(r"\s*(?:1[0-9]|20|21)\d\d(?:\s*[-–—]\s*(?:\d\d|\d{4}))?\s*", inside) is not None


def _key(given: str) -> tuple[str, int, int]:
    """An id as it is compared: its letter and its numbers; -1 where there is no second."""
    found = _KEY.fullmatch(re.sub(r"\s", "", flatten(given)).lower())
    if found is None:
        return given, -1, -1
    return found[1], int(found[2]), int(found[3] or -1)


def _resolve(inside: str, by_key: dict[tuple[str, int, int], str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The known ids of a marker and what is not known, each once, in order."""
    ids: dict[str, None] = {}
    unknown: dict[str, None] = {}
    letter = ""
    for part in _PART.finditer(inside):
        first = _key(part["first"])
        letter = first[0] or letter
        keys = [(letter if (letter, *first[1:]) in by_key else first[0], *first[1:])]
        if part["last"]:
            keys = list(_between(keys[0], _key(part["last"]), by_key))
            if not keys:
                unknown[part.group().strip()] = None
        for key in keys:
            if key in by_key:
                ids[by_key[key]] = None
            else:
                unknown[_shown(key)] = None
    return tuple(ids), tuple(unknown)


def _between(
    first: tuple[str, int, int], last: tuple[str, int, int], known: Collection[tuple[str, int, int]]
) -> Iterator[tuple[str, int, int]]:
    """The keys of a range; nothing where it runs backwards or is too wide to be meant."""
    letter = first[0]
    if first[2] >= 0 and last[2] < 0 and not last[0]:  # S3.2-4
        last = (letter, first[1], last[1])
    if first[1] == last[1] and first[2] >= 0:
        if 0 <= last[2] - first[2] <= _WIDEST:
            yield from ((letter, first[1], number) for number in range(first[2], last[2] + 1))
    elif first[2] < 0 and last[2] < 0:
        if 0 <= last[1] - first[1] <= _WIDEST:
            yield from ((letter, number, -1) for number in range(first[1], last[1] + 1))
    elif first[1] < last[1]:
        inside = sorted(key for key in known if key[0] == letter and first[1:] <= key[1:] <= last[1:])
        yield from dict.fromkeys((first, *inside, (letter, *last[1:])))


def _shown(key: tuple[str, int, int]) -> str:
    return f"{key[0].upper()}{key[1]}" + (f".{key[2]}" if key[2] >= 0 else "")
