"""Quotations in running text: words between quotation marks of any kind, with their offsets."""

from __future__ import annotations

import re
from dataclasses import dataclass

from groundwire.core.types import Span


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks: ``span`` is the inside, ``outer`` includes the marks."""

    span: Span
    outer: Span
    text: str


_BRACKETS = {
    "「": "」", "『": "』", "«": "»", "‹": "›", "﹁": "﹂", "﹃": "﹄", "〝": "〞", "｢": "｣", "‚": "‘",
}  # fmt: skip
_CLOSERS = {closing: opening for opening, closing in _BRACKETS.items()} | {"〟": "〝"}
_DOUBLE = re.compile('[“”„‟"＂\n]')
_SPELLED = re.compile(r"``(?P<latex>[^\n`]{1,2000}?)''|&quot;(?P<entity>[^\n]{1,2000}?)&quot;")
_LONGEST_SINGLE = 300
MARKS = '“”„‟「」『』«»‹›‚‛｢｣〝〞〟﹁﹂﹃﹄"＂'
_ANY_MARK = re.compile(
    rf"[{MARKS}](?<!\d[\"＂])|(?<!\w)‘(?!\d)|``|''"
    r"|&(?:[lr][sd]quo|[bs]dquo|quot|[lr]s?aquo|apos|#3[49]|#x2[27])\b;?|</?q>",
    re.IGNORECASE,
)


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """Every quotation of a text, outer ones before those inside them; one that is not closed is left out.

    Read are ``"…"``, ``“…”``, ``„…“``, ``”…”``, ``‘…’``, ``'…'``, ``‚…‘``, ``「…」``, ``『…』``, ``«…»``, ``‹…›``,
    ``｢…｣``, the vertical forms, double marks of two kinds (``“…"``), and the marks of TeX and HTML. A straight mark
    does not reach over a line end, a single one no further than 300 characters, and an apostrophe is none.
    """
    pairs = (*_bracketed(text), *_double(text), *_single(text))
    found = [(start, start + 1, end, end + 1) for start, end in pairs]
    for spelled in _SPELLED.finditer(text):
        inside = spelled.span(spelled.lastgroup or 0)
        found.append((spelled.start(), *inside, spelled.end()))
    quotations = [
        Quotation(Span(start, end), Span(first, last), text[start:end])
        for first, start, end, last in found
        if text[start:end].strip()
    ]
    return tuple(sorted(quotations, key=lambda quotation: (quotation.outer.start, -quotation.outer.end)))


def unclosed_marks(text: str) -> tuple[Span, ...]:
    """The quotation marks that stand outside of every quotation: they open nothing that is closed, or close nothing.

    Marks of TeX and HTML count, and so does an opening single mark; what may be an apostrophe or a sign for inches or
    feet does not.
    """
    inside = [quotation.outer for quotation in find_quotations(text)]
    marks = (Span(*mark.span()) for mark in _ANY_MARK.finditer(text))
    return tuple(mark for mark in marks if not any(span.start <= mark.start < span.end for span in inside))


def _bracketed(text: str) -> list[tuple[int, int]]:
    """Pairs of marks that differ, by a stack for each kind."""
    opened: dict[str, list[int]] = {mark: [] for mark in _BRACKETS}
    found = []
    for position, character in enumerate(text):
        if character in _BRACKETS:
            opened[character].append(position)
        elif (mark := _CLOSERS.get(character)) and opened[mark]:
            found.append((opened[mark].pop(), position))
    return found


def _double(text: str) -> list[tuple[int, int]]:
    """Pairs of double marks, also of two kinds."""
    marks = [(match.start(), match.group().replace("＂", '"')) for match in _DOUBLE.finditer(text)]
    closed_later = _closed_later([mark for _, mark in marks])
    stack: list[tuple[int, str, int]] = []
    found, line = [], 0
    for number, (position, mark) in enumerate(marks):
        if mark == "\n":
            line += 1
            continue
        while stack and stack[-1][1] in '"”' and stack[-1][2] < line:  # these do not reach over the line
            stack.pop()
        nested = closed_later[number] or (bool(stack) and stack[-1][2] < line)
        if stack and _closes(mark, stack[-1][1], nested=nested):
            found.append((stack.pop()[0], position))
        else:
            stack.append((position, mark, line))
    return found


def _closes(mark: str, opener: str, *, nested: bool) -> bool:
    """Whether a mark closes what an opener began; ``nested``: a later mark closes it better."""
    if mark == "”":
        return True
    if mark == '"':
        return opener in '"”' or (opener == "“" and not nested)
    return mark == "“" and opener == "„"


def _closed_later(marks: list[str]) -> list[bool]:
    """For each mark: whether a closing ``”`` follows in its line, after an even number of straight marks from it on."""
    later, straight, closing = [False] * len(marks), 0, False
    for number in range(len(marks) - 1, -1, -1):
        mark = marks[number]
        if mark == "”":
            straight, closing = 0, True
        elif mark == '"':
            straight += 1
            later[number] = closing and straight % 2 == 0
        else:
            straight, closing = 0, False
    return later


def _single(text: str) -> list[tuple[int, int]]:
    found, last = [], -1
    for opening in re.finditer(r"(?<![\w'’])['‘](?=[\w…\[(])(?!\d\ds)", text):
        if opening.start() < last:
            continue
        window = text[opening.end() : opening.end() + _LONGEST_SINGLE]
        # students’ work: after an s, a mark before a small letter is more likely an apostrophe
        closing = re.search(r"(?<=[^\s‘'])['’](?![\w'’])(?!(?<=s['’])\s[a-z])", window.split("\n", 1)[0])
        if closing:
            last = opening.end() + closing.start()
            found.append((opening.start(), last))
    return found
