"""Versions of one story among the documents of an archive, or among those that a search found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from groundwire.core.errors import UsageError
from groundwire.core.types import Document
from groundwire.flow.render import Json
from groundwire.flow.searches import search_settings
from groundwire.flow.settings import Settings
from groundwire.retrieval.copies import Difference, find_copies, stories
from groundwire.retrieval.index import Archive

MOST_MARKED = 200
"""So many documents of a search are compared, the best first: a second or two."""
MOST_LISTED = 1_000
"""So many documents of an archive are compared at once: half a minute."""


def story_marks(document_ids: Sequence[str], documents: Mapping[str, Document]) -> dict[str, str]:
    """Letters for the stories of which a search found several versions, by document id.

    Args:
        document_ids: in order of rank; the first ``MOST_MARKED`` are compared.
        documents: by id.
    """
    compared = list(dict.fromkeys(document_ids))[:MOST_MARKED]
    story = stories({name: documents[name] for name in compared})
    held: dict[str, list[str]] = {}
    for name in compared:
        held.setdefault(story[name], []).append(name)
    several = [names for names in held.values() if len(names) > 1]
    return {name: _letters(place) for place, names in enumerate(several) for name in names}


@dataclass(frozen=True, slots=True)
class Story:
    """Several versions of one story in order of their ids; ``mark`` is its letter."""

    mark: str
    documents: tuple[Document, ...]
    differences: tuple[Difference, ...]


@dataclass(frozen=True, slots=True)
class ArchiveCopies:
    """Stories that an archive holds in several versions; ``independent`` of the ``compared`` documents are left."""

    compared: int
    independent: int
    stories: tuple[Story, ...]

    def rows(self) -> Json:
        """For JSON: documents without their text."""
        return {
            "compared": self.compared,
            "independent": self.independent,
            "stories": [
                {
                    "mark": story.mark,
                    "documents": [
                        {"id": one.id, "title": one.title, "source": one.source, "published": one.published}
                        for one in story.documents
                    ],
                    "differences": story.differences,
                }
                for story in self.stories
            ],
        }


def archive_copies(archive: Archive, query: str, *, settings: Settings) -> ArchiveCopies:
    """Find versions of one story among the documents found for a query; where it is blank, among all of an archive.

    Raises:
        UsageError: more than ``MOST_LISTED`` documents would be compared.
    """
    if query.strip():
        hits = archive.search(query, k=settings.search.k, settings=search_settings(settings.search))
        names = sorted({hit.sentence.document_id for hit in hits})
    else:
        names = sorted(archive.store.revisions())
    if len(names) > MOST_LISTED:
        raise UsageError(
            f"{len(names):,} documents would be compared, each with every other; up to {MOST_LISTED:,} are. "
            "Give a query, or a smaller -k: the documents that are found are compared then"
        )
    documents = archive.store.documents(names)
    copies = find_copies(documents)
    several = [cluster for cluster in copies.clusters if len(cluster.document_ids) > 1]
    found = tuple(
        Story(_letters(place), tuple(documents[name] for name in cluster.document_ids), cluster.differences)
        for place, cluster in enumerate(several)
    )
    return ArchiveCopies(len(documents), copies.independent, found)


def _letters(place: int) -> str:
    """A to Z, then AA to AZ and so on."""
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)
