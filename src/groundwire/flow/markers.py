"""Citation markers in a line of Markdown: which are resolved, which are not, and the words without them.

A list of markers (``[1], [2] and [3]``) is one marker. No other word is ever lost.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import pairwise

from groundwire.flow import render
from groundwire.flow.links import is_dense

_MARKER = r"[\[【［]\^?{0}[\d\s,，、;；‐‑‒–—−~～-]*\d\s*{1}[\]】］]"
_ONE = _MARKER.format("", "")
_COMMA = r"[ \t]{0,3}[,，、;；]?[ \t]{0,3}"
_LIST = rf"(?:{_COMMA}{_ONE})*"
_LIST += rf"(?:{_COMMA}(?:and|&|[和及與与])[ \t]{{0,3}}{_ONE}(?=[ \t]{{0,3}}(?:[.,;:!?。，；：！？]|$)))?"
_LINK = r"https?://(?:[^\s<>\"“”「」『』()（）\[\]【】［］\\&,，。；]|&(?!#?\w+;)|\[[^\[\]\s]*\](?=[\w/?#=%~]))+"
_LIKE_A_MARKER = (
    r"[\[【［(（][ \t]*(?:(?:s|src|source|ref|reference|doc|document|[來来]源|[資资]料|文件)[ \t.#:：-]{0,2}\d{1,4}"
    r"|\d{1,4}[ \t]*(?:[†:：]|(?:and|to|or|&|[至到和及或與与])[ \t]*\d))[^\[\]【】()\n]{0,40}[\]】］)）]"
)
_TOKEN = re.compile(
    rf"{render.ESCAPE}|(?P<link>{_LINK})|(?P<like>{_LIKE_A_MARKER})"
    rf"|(?P<lead>(?<![ \t])[ \t]*)(?P<markers>\[{_ONE}\]|{_ONE}{_LIST})",
    re.IGNORECASE,
)
_ONE_MARKER = re.compile(_MARKER.format("(?P<numbers>", ")"))
_DASHES = str.maketrans(dict.fromkeys("‐‑‒−", "-"))
_RANGE = re.compile(r"\s*(\d{1,9})\s*[-–—~～]\s*(\d{1,9})\s*")
_STOPPED = re.compile(r"[.!?。！？…][\s\"'”’」』）)]*$")
_OPENING = re.compile(r"(?:^|[\s(\[{‘“「『《〈（])$")
_CLOSING = re.compile(r"[\s.,;:!?%)\]}’”」』》〉。，、；：！？）]")


@dataclass(slots=True)
class Line:
    """The words of a line while escapes and markers are taken out; places count characters of ``words``.

    ``marks`` are numbers that have a source; ``strays`` markers without one, which were taken out of the words;
    ``alike`` what only looks like a marker, and is still among the words.
    """

    words: str = ""
    gap: bool = False
    marks: list[tuple[int, int]] = field(default_factory=list)
    strays: list[tuple[int, str]] = field(default_factory=list)
    alike: list[tuple[int, str]] = field(default_factory=list)

    def add(self, text: str) -> None:
        """Go on with these words, a space before them where a marker stood between two words."""
        if text:
            inside = self.words.count('"') % 2 == 1
            if self.gap and (_OPENING.search(self.words[-2:]) or (inside and self.words[-1] == '"')):
                self.words += text.lstrip(" ")
            else:
                spaced = self.gap and not _CLOSING.match(text) and not (inside and text[0] == '"')
                self.words += f" {text}" if spaced else text
            self.gap = False

    def mark(self, found: re.Match[str], known: Collection[int]) -> None:
        """Take out the markers; what no source answers to is a stray, kept with its place."""
        after_stop, last = _STOPPED.search(self.words[-8:]) is not None, 0
        for one in _ONE_MARKER.finditer(found["markers"]):
            if after_stop and last:  # a comma between markers may be a sentence of its own here: "Why? [1] ,[2]"
                self.add(found["markers"][last : one.start()])
            place, last = len(self.words), one.end()
            numbers, unknown = _resolve(one["numbers"], known)
            self.marks += [(place, number) for number in numbers]
            if unknown:
                shown = f"[{', '.join(unknown)}]" if numbers else one[0]
                self.strays.append((place, f"{found['lead']}{shown}"))
        self.gap = self.gap or bool(found["lead"]) or not is_dense(self.words[-1:] or "。")


def _resolve(listed: str, known: Collection[int]) -> tuple[list[int], list[str]]:
    """The numbers of a marker that have a source, ranges expanded, and what has none, with the rest of a range."""
    numbers: list[int] = []
    unknown: list[str] = []
    for part in re.split(r"[,，、;；]", listed.translate(_DASHES)):
        found = _RANGE.fullmatch(part)
        if found is None:
            some, none = render.resolve_marker(part, known)
        else:
            some, none = _resolve_range(int(found[1]), int(found[2]), known)
            none = none if some else [part.strip()]
        numbers += some
        unknown += none
    return numbers, unknown


def _resolve_range(first: int, last: int, known: Collection[int]) -> tuple[list[int], list[str]]:
    some = sorted(number for number in known if first <= number <= last)
    edges = [first - 1, *some, last + 1]
    gaps = [(low + 1, high - 1) for low, high in pairwise(edges) if high - low > 1]
    return some, [f"{low}" if low == high else f"{low}-{high}" for low, high in gaps]


def read_line(raw: str, known: Collection[int]) -> Line:
    """A line of Markdown as words, with the markers taken out; ``known`` are the numbers that have a source."""
    line, last = Line(), 0
    text = render.drop_emphasis(raw)
    for found in _TOKEN.finditer(text):
        line.add(text[last : found.start()])
        last = found.end()
        if found["markers"]:
            line.mark(found, known)
        elif found["like"] or found["link"]:
            line.alike += [(len(line.words), found["like"])] if found["like"] else []
            line.add(found[0])
        else:
            line.add(render.unescape(found))
    line.add(text[last:])
    return line
