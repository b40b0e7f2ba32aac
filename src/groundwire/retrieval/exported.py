"""Documents as lines of JSON, from which ``read_documents`` makes the same documents again."""

from __future__ import annotations

import json

from groundwire.core.types import Document

SCHEMA = "groundwire.document/1"
"""Marks a row that groundwire wrote: its fields are found without a mapping, and nothing in them is guessed anew."""


def exported_line(document: Document) -> str:
    """A document as a line of JSONL, without its end: every field by its name, the date as ISO, none as null.

    ``origin`` is written for people: who reads the line notes where the line stands.
    """
    row = {
        "schema": SCHEMA,
        "id": document.id,
        "title": document.title,
        "published": document.published.isoformat() if document.published else None,
        "source": document.source,
        "url": document.url,
        "language": document.language,
        "text": document.text,
        "origin": document.origin,
        "notes": document.notes,
    }
    return json.dumps(row, ensure_ascii=False)
