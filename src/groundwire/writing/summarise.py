"""Scored sources -> briefs: what each source contributes, longer for the better bands, in its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from groundwire.core.text import count_tokens, normalise
from groundwire.core.types import Band, Brief, ScoredSource, Sentence, Source
from groundwire.writing.quotable import quotable

BRIEF_TOKENS: Mapping[Band, int] = {"high": 260, "middle": 150, "low": 75, "trace": 30}
"""The most tokens a brief has, by band; the proportions are those of ScoreRAG's character ranges."""

SAME_WORDS = 0.8
"""A sentence says nothing new when its words stand in another in the same order and make up this share of it."""

_WIDE = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(rf"[{_WIDE}]|[^\W_{_WIDE}]+")
# Words that change what a sentence says by being there at all.
_TELLING = re.compile(
    r".*\d.*|[〇零一二兩两三四五六七八九十百千萬万億亿不未沒没無无非否勿莫弗]"
    r"|no|not|none|never|neither|nor|without|hardly|barely|t|cannot|false|falsely|deny|denie[sd]|refuse[sd]?"
    r"|(?:twen|thir|for|fif|six|seven|eigh|nine)ty|(?:thir|four|fif|six|seven|eigh|nine)teen|one|two|three|four|five|six"
    r"|seven|eight|nine|ten|eleven|twelve|dozens?|hundreds?|thousands?|millions?|billions?|trillions?|half|twice|double"
    r"|if|may|might|could|would|allegedly|reportedly"
)


def summarise(scored: Sequence[ScoredSource]) -> tuple[Brief, ...]:
    """Take from each source its sentences that speak for the topic, verbatim and in source order.

    The story's first sentence that may be quoted is taken always, then the sentences that the search found, best
    first, where they fit into what is left of the band's length; none that repeats another. What two sources say is in
    both briefs: the writer says it once and cites both.

    Args:
        scored: sources with a band, best first; those without one are passed over.

    Returns:
        Briefs in the order of their sources; a source without a sentence that may be quoted has none.
    """
    briefs = []
    for item in scored:
        if item.band is not None and item.relevance is not None:
            chosen, left_out = _sentences(item.source, limit=BRIEF_TOKENS[item.band])
            briefs.append(Brief(item.source.document, item.relevance, item.band, chosen, left_out))
    return tuple(brief for brief in briefs if brief.sentences)


def summarise_alike(sources: Sequence[Source]) -> tuple[Brief, ...]:
    """``summarise`` without ratings: every source has the length of the middle band, and no relevance."""
    briefs = []
    for source in sources:
        chosen, left_out = _sentences(source, limit=BRIEF_TOKENS["middle"])
        briefs.append(Brief(source.document, None, None, chosen, left_out))
    return tuple(brief for brief in briefs if brief.sentences)


def _sentences(source: Source, *, limit: int) -> tuple[tuple[Sentence, ...], tuple[str, ...]]:
    """The sentences of a brief, and what must not be quoted."""
    allowed, left_out = quotable(source.document.text, source.sentences or _of_hits(source))
    return _chosen(source, allowed, limit=limit), left_out


def same_statement(one: str, other: str) -> bool:
    """Whether one of two sentences says nothing that the other does not: a wire copy's cut or padded sentence.

    The words of the shorter stand in the longer in the same order and make up ``SAME_WORDS`` of it, and the longer
    adds no number, no negation and no doubt. A changed word makes another statement.
    """
    return same_terms(terms_of(one), terms_of(other))


def terms_of(text: str) -> tuple[str, ...]:
    """The words and Chinese characters of a text, in order, for ``same_terms``."""
    return tuple(_TERM.findall(normalise(text)))


def same_terms(one: Sequence[str], other: Sequence[str]) -> bool:
    """``same_statement`` of two sentences whose terms are at hand, where many are compared with many."""
    shorter, longer = sorted((one, other), key=len)
    if not shorter or len(shorter) < SAME_WORDS * len(longer):
        return False
    matched = 0
    for term in longer:
        if matched < len(shorter) and term == shorter[matched]:
            matched += 1
        elif _TELLING.fullmatch(term):
            return False
    return matched == len(shorter)


def _of_hits(source: Source) -> tuple[Sentence, ...]:
    """The sentences that the search found, in source order: all there is where a source came without its others."""
    return tuple(sorted({hit.sentence for hit in source.hits}, key=lambda sentence: (sentence.start, sentence.end)))


def _chosen(source: Source, allowed: Sequence[Sentence], *, limit: int) -> tuple[Sentence, ...]:
    by_id = {sentence.id: sentence for sentence in allowed}
    found = sorted(source.hits, key=lambda hit: hit.rank)
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
