"""The words around a citation, as they stand in the source today."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from groundwire.core.types import Citation, Document
from groundwire.flow.links import is_dense

_AROUND = 240
"""Characters of a source shown on either side of the words cited; a Chinese or Japanese one counts double."""
_PARAGRAPHS = re.compile(r"\s*\n\s*")


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What stands before, the words cited, what stands after; ``remark`` is a key of the fixed words, or nothing."""

    before: str
    cited: str
    after: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a source with what stands around them, and where they come from."""

    number: int
    title: str
    outlet: str
    published: str
    lang: str
    held: Excerpt
    link: str


def excerpt(citation: Citation, document: Document | None) -> Excerpt:
    """The words cited among their neighbours; where the source is gone or changed, the words as they were cited."""
    if document is None:
        return Excerpt("", citation.text, "", "no_text")
    text = document.title if citation.part == "title" else document.text
    if citation.start is None or citation.end is None:
        return Excerpt("", "", _cut_end(text, 0), "whole_document")
    cited = text[citation.start : citation.end]
    if not cited or citation.text not in ("", cited):
        return Excerpt("", citation.text, "", "changed")
    remark = "in_title" if citation.part == "title" else ""
    return Excerpt(_cut_start(text, citation.start), cited, _cut_end(text, citation.end), remark)


def _cut_start(text: str, end: int) -> str:
    around = _reach(text[max(0, end - _AROUND) : end])
    start = max(0, end - around)
    if start == 0:
        return _PARAGRAPHS.sub("\n", text[:end].lstrip())
    shown = text[start:end]
    space = re.search(r"\s", shown[:30])
    shown = shown[space.end() :] if space else shown
    while shown and unicodedata.combining(shown[0]):
        shown = shown[1:]
    return _PARAGRAPHS.sub("\n", f"…{shown.lstrip()}")


def _cut_end(text: str, start: int) -> str:
    end = start + _reach(text[start : start + _AROUND])
    if end >= len(text):
        return _PARAGRAPHS.sub("\n", text[start:].rstrip())
    shown = text[start:end]
    space = re.search(r"\s\S*$", shown[-30:])
    kept = len(shown) - len(space[0]) if space else len(shown)
    return _PARAGRAPHS.sub("\n", f"{shown[:kept].rstrip()}…")


def _reach(nearby: str) -> int:
    """How many characters around a citation are shown: half as many where they are mostly Chinese or Japanese."""
    return _AROUND // 2 if 2 * sum(is_dense(character) for character in nearby) > len(nearby) else _AROUND
