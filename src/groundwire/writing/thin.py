"""Says where an article rests on little: one independent source, few sentences, or sources that rate low."""

from __future__ import annotations

from collections.abc import Sequence

from groundwire.core.types import Brief
from groundwire.writing.reasons import Reason, worded

FEW_SENTENCES = 5
"""Fewer sentences than this, over all sources, carry a notice rather than an article."""


def thin_notes(briefs: Sequence[Brief], *, independent: int, language: str = "en") -> tuple[str, ...]:
    """What an editor should know before trusting an article to its evidence; nothing where there is enough.

    Args:
        briefs: of the sources that the article may use.
        independent: how many of the sources are left when versions of one story count once.
        language: of the notes: ``en``, ``zh-TW`` or ``zh-CN``.

    Returns:
        At most three notes: on the sources, the sentences, the ratings. Sources that nobody rated are in none of the
        bands, and no note speaks of them.
    """
    if not briefs:
        return ()
    found: list[Reason] = []
    if independent <= 1:
        found.append(Reason("thin_one" if len(briefs) == 1 else "thin_copies", (str(len(briefs)),) * (len(briefs) > 1)))
    sentences = len({(brief.document.id, one.start) for brief in briefs for one in brief.sentences})
    if sentences < FEW_SENTENCES:
        found.append(Reason("thin_sentences", (str(sentences),)))
    rated = [brief.relevance for brief in briefs if brief.relevance is not None and brief.band is not None]
    if len(rated) == len(briefs) and all(brief.band in ("low", "trace") for brief in briefs):
        found.append(Reason("thin_rated", (f"{max(rated):.0f}",)))
    return tuple(worded(reason, language) for reason in found)
