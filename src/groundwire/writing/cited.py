"""What the citations of a claim point at today, in documents that may have changed since the article was written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from groundwire.core.types import Check, Citation, Document, Span
from groundwire.writing.guards import Excerpt, Finding, find_words

State = Literal["unchanged", "moved", "changed", "missing"]


@dataclass(frozen=True, slots=True)
class Cited:
    """What a citation points at today.

    ``unchanged``: the cited characters are there; ``moved``: they are elsewhere in the document, at ``excerpt``;
    ``changed``: they are gone; ``missing``: the document is not in the archive, or the offsets lie outside its text.
    ``excerpt`` is None for changed and missing ones; for a citation without offsets it is the whole text.
    """

    citation: Citation
    state: State
    reason: str
    document: Document | None = None
    excerpt: Excerpt | None = None


def resolve(citation: Citation, documents: Mapping[str, Document]) -> Cited:
    """Look up what a citation points at, in documents that may have changed since the article was written."""
    document = documents.get(citation.document_id)
    if document is None:
        return Cited(citation, "missing", f"source is not in the archive: {citation.document_id!r}")
    part = document.title if citation.part == "title" else document.text
    if citation.start is None or citation.end is None:
        kept = not citation.text or citation.text in part
        excerpt = Excerpt(document, Span(0, len(part)), part, citation.part)
        if kept:
            return Cited(citation, "unchanged", "", document, excerpt)
        return Cited(
            citation, "changed", f"source changed: {citation.document_id!r} no longer holds the cited words", document
        )
    inside = 0 <= citation.start < citation.end <= len(part)
    if inside and citation.text in ("", part[citation.start : citation.end]):
        words = part[citation.start : citation.end]
        excerpt = Excerpt(document, Span(citation.start, citation.end), words, citation.part)
        return Cited(citation, "unchanged", "", document, excerpt)
    return _sought(citation, part=part, document=document)


def _sought(citation: Citation, *, part: str, document: Document) -> Cited:
    """The cited words elsewhere in the document: the nearest place, else with marks and spaces made equal."""
    start = citation.start or 0
    if not citation.text.strip():
        reason = (
            f"offsets {citation.start}-{citation.end} lie outside {citation.document_id!r} ({len(part)} characters)"
        )
        return Cited(citation, "missing", reason, document)
    after, before = (
        part.find(citation.text, max(0, start)),
        part.rfind(citation.text, 0, max(0, start) + len(citation.text)),
    )
    places = [Span(place, place + len(citation.text)) for place in (before, after) if place >= 0]
    found = min(places, key=lambda span: abs(span.start - start), default=None) or find_words(citation.text, part)
    if found is None:
        reason = f"source changed: {citation.document_id!r} no longer holds the cited words"
        return Cited(citation, "changed", reason, document)
    reason = f"source changed: the cited words now stand at {found.start}-{found.end} of {citation.document_id!r}"
    excerpt = Excerpt(document, found, part[found.start : found.end], citation.part)
    return Cited(citation, "moved", reason, document, excerpt)


def citation_gate(cited: Sequence[Cited], *, written: date | None = None) -> tuple[Finding, ...]:
    """One check a citation: it passes when the cited characters are there, also when they have moved.

    Args:
        cited: what the citations point at.
        written: publication of the article; a source that is dated later (an embargo) must not be used yet.
    """
    if not cited:
        return (Finding(Check("citation", "", passed=False, reason="cites nothing")),)
    return tuple(_citation_finding(one, written=written) for one in cited)


def _citation_finding(cited: Cited, *, written: date | None) -> Finding:
    item, published = f"[{cited.citation.number}]", cited.document.published if cited.document else None
    if written is not None and published is not None and published > written:
        reason = f"dated {published}, after the article's own date {written}"
        return Finding(Check("citation", item, passed=False, reason=reason))
    return Finding(Check("citation", item, passed=cited.state in ("unchanged", "moved"), reason=cited.reason))
