"""Documents -> passages -> sentences, with offsets and ids that survive re-indexing."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import pairwise

from groundwire.core.sentences import split_sentences
from groundwire.core.text import count_tokens
from groundwire.core.types import Document, Passage, Sentence, Span

SPLITTER = "sentencex+2"
"""Name and version of the sentence splitter; a change of it makes other sentence ids."""

PASSAGE_TOKENS = 200
"""A passage grows to about this many tokens; paragraphs are kept whole where they fit."""

_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*\n|\r[^\S\r\n]*\r|\u2029")


def split_document(document: Document, *, passage_tokens: int = PASSAGE_TOKENS) -> tuple[Passage, ...]:
    """Cut a document into passages of whole sentences.

    A passage ends before the paragraph that would take it over ``passage_tokens``; a paragraph that is longer by
    itself is divided between sentences, and a sentence that is longer by itself is a passage of its own.

    Raises:
        ValueError: ``passage_tokens`` is below 1.
    """
    if passage_tokens < 1:
        raise ValueError(f"passage_tokens is {passage_tokens}; it must be 1 or more")
    spans = split_sentences(document.text, language=document.language)
    groups = _packed(_paragraphs(document.text, spans), document.text, limit=passage_tokens)
    return tuple(
        Passage(document.id, number, tuple(_sentence(document, span, passage=number) for span in group))
        for number, group in enumerate(groups)
    )


def revision(document: Document) -> str:
    """A hash of all that a reader of the archive can see of a document; where it was read from does not count."""
    published = document.published.isoformat() if document.published else ""
    seen = [document.text, document.title, published, document.source, document.url, document.language]
    return hashlib.sha256(json.dumps(seen).encode()).hexdigest()[:32]


def sentence_id(document_id: str, span: Span, *, text: str) -> str:
    """Document, offsets and a short hash of the words: the same sentence has the same id in every archive."""
    return f"{document_id}@{span.start}-{span.end}.{hashlib.sha256(text.encode()).hexdigest()[:8]}"


def _sentence(document: Document, span: Span, *, passage: int) -> Sentence:
    text = document.text[span.start : span.end]
    return Sentence(
        id=sentence_id(document.id, span, text=text),
        document_id=document.id,
        passage=passage,
        start=span.start,
        end=span.end,
        text=text,
    )


def _paragraphs(text: str, spans: Sequence[Span]) -> list[list[Span]]:
    paragraphs = [[span] for span in spans[:1]]
    for before, span in pairwise(spans):
        if _PARAGRAPH_BREAK.search(text[before.end : span.start]):
            paragraphs.append([span])
        else:
            paragraphs[-1].append(span)
    return paragraphs


def _packed(paragraphs: Sequence[Sequence[Span]], text: str, *, limit: int) -> list[list[Span]]:
    groups: list[list[Span]] = []
    room = -1  # nothing fits: a new passage begins, even for a sentence without tokens
    for paragraph in paragraphs:
        sizes = [count_tokens(text[span.start : span.end]) for span in paragraph]
        if sum(sizes) <= room:
            groups[-1].extend(paragraph)
            room -= sum(sizes)
            continue
        room = -1
        for span, size in zip(paragraph, sizes, strict=True):
            if size > room:
                groups.append([])
                room = limit
            groups[-1].append(span)
            room -= size
    return groups
