"""Scored sources -> briefs: what each source contributes, longer for the better bands, in its own words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from groundwire.core.text import count_tokens, words
from groundwire.core.types import Band, Brief, ScoredSource, Sentence
from groundwire.writing.quotable import quotable

BRIEF_TOKENS: Mapping[Band, int] = {"high": 260, "middle": 150, "low": 75, "trace": 30}
"""The most tokens a brief has, by band; the proportions are those of ScoreRAG's character ranges."""

SAME_WORDS = 0.8
"""Two sentences with the same numbers and this share of common words (Jaccard) say the same."""


def summarise(scored: Sequence[ScoredSource]) -> tuple[tuple[Brief, ...], tuple[str, ...]]:
    """Take from each source its sentences that speak for the topic, verbatim and in source order.

    The story's first sentence comes first, then the sentences that the search found, best first, as long as they fit
    the band's length. A sentence that an earlier brief already holds is taken again: the writer cites both sources.

    Args:
        scored: sources with a band, best first; those without one are passed over.

    Returns:
        Briefs numbered from 1, and notes on what was left out and why.
    """
    briefs: list[Brief] = []
    notes: list[str] = []
    for source in scored:
        document = source.source.document
        if source.band is None or source.relevance is None:
            continue
        allowed, left_out = quotable(document.text, source.source.sentences)
        notes.extend(f"{document.title or document.id}: {note}" for note in left_out)
        chosen = _chosen(source, allowed, limit=BRIEF_TOKENS[source.band])
        if chosen:
            briefs.append(Brief(len(briefs) + 1, document, source.relevance, source.band, chosen))
    return tuple(briefs), tuple(notes)


def same_statement(one: str, other: str) -> bool:
    """Whether two sentences say the same: the same numbers, and nearly the same words."""
    left, right = set(words(one)), set(words(other))
    if not left or not right or _numbers(left) != _numbers(right):
        return False
    return len(left & right) / len(left | right) >= SAME_WORDS


def _chosen(source: ScoredSource, allowed: Sequence[Sentence], *, limit: int) -> tuple[Sentence, ...]:
    by_id = {sentence.id: sentence for sentence in allowed}
    found = sorted(source.source.hits, key=lambda hit: hit.rank)
    wanted = [*allowed[:1], *(by_id[hit.sentence.id] for hit in found if hit.sentence.id in by_id)]
    chosen: list[Sentence] = []
    for sentence in dict.fromkeys(wanted):
        size = count_tokens(sentence.text)
        repeats = any(same_statement(sentence.text, earlier.text) for earlier in chosen)
        if repeats or (chosen and size > limit):
            continue
        chosen.append(sentence)
        limit -= size
    return tuple(sorted(chosen, key=lambda sentence: sentence.start))


def _numbers(terms: set[str]) -> set[str]:
    return {term for term in terms if any(letter.isdigit() for letter in term)}
