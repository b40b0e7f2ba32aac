"""Other words for a claim that its source does not carry: what a repair tries, each a small, visible change.

Nothing is made up: every new word stands in a source or in the claim. Whether a change helps is for ``verify`` to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from groundwire.core.mentions import find_dates
from groundwire.core.quantities import Quantity, find_quantities
from groundwire.core.quotations import Quotation, find_quotations
from groundwire.core.sentences import split_sentences
from groundwire.core.types import Check, Span, Verdict
from groundwire.writing.alignment import align, nearest, tokens
from groundwire.writing.guards import coverage, is_chinese, telling_words
from groundwire.writing.names import same_name
from groundwire.writing.quotes import NEAR, find_quoted
from groundwire.writing.reasons import read_reason
from groundwire.writing.speakers import reports, sayers

LEAST_KEPT = 0.4
"""Share of a claim's telling words that must stay when clauses are left out."""
MOST_TOKENS = 80
"""A longer quotation is not taken apart."""

_LEAST_WORDS, _LEAST_CHARACTERS = 5, 8  # of what is left of a claim
_PART = (3, 5)  # words, Chinese characters: the least that one part of a quotation joined from two may have
_CLAUSE = re.compile(r"(?:[,;:](?=\s)|\s[—–-](?=\s)|—|[，；：])|\s(?=(?:but|while|because|although|whereas)\s)")
_STOP = re.compile(r"[.!?。！？]+[\"”’」』]?\s*$")
_LEANS = re.compile(
    r"(?:in|on|at|after|before|while|when|as|because|although|if|according|with|for|since|during|by|despite|under)\s"
    r"|[在當当因由雖虽據据若為为隨随]",
    re.IGNORECASE,
)
_RELATIVE = re.compile(r"\s*(?:which|who|whose|whom|where)\s")
_REPR = re.compile(r"'([^']*)'|\"([^\"]*)\"")


@dataclass(frozen=True, slots=True)
class Reworded:
    """New words for a claim: ``values`` are the old and the new ones, or those that were left out."""

    kind: Literal["quoted", "left_out"]
    text: str
    values: tuple[str, ...]


def _failed(verdict: Verdict, kind: str) -> list[Check]:
    return [check for check in verdict.checks if check.kind == kind and not check.passed]


def _quotations(verdict: Verdict) -> list[Quotation]:
    """The quotations of a claim that failed their check."""
    items = {check.item for check in _failed(verdict, "quotation")}
    return [quotation for quotation in find_quotations(verdict.claim.text) if quotation.text in items]


# --- quotations -------------------------------------------------------------------------------------------------------


def exactly_quoted(verdict: Verdict, texts: Sequence[str]) -> Iterator[Reworded]:
    """The claim with its failed quotations as the source has them: its nearest words, within the marks of the claim.

    Args:
        verdict: of the claim.
        texts: of the sources, those cited first; a quotation of theirs is preferred to other words.
    """
    text, old, new = verdict.claim.text, list[str](), list[str]()
    for quotation in reversed(_quotations(verdict)):
        exact = _nearest(quotation.text, texts)
        if exact and exact != quotation.text:
            text = _put_in(exact, quotation, text)
            old, new = [quotation.text, *old], [exact, *new]
    if old:
        yield Reworded("quoted", text, (" … ".join(old), " … ".join(new)))


def _nearest(quote: str, texts: Sequence[str]) -> str:
    """The words of the sources that are most like a quotation, with its own marks at the ends; empty if none are."""
    best, share = "", NEAR
    for text in texts:
        quoted = [(quotation.text, True) for quotation in find_quotations(text)]
        plain = [(text[span.start : span.end], False) for span in split_sentences(text)]
        for words, inside in (*quoted, *plain):
            alike = align(quote, words).share
            if alike > share or (alike == share and not best):
                best, share = _window(quote, words, whole=inside), alike
    return best


def _window(quote: str, source: str, *, whole: bool) -> str:
    """The part of a source that stands beside a quotation; ``whole``: what stands beside its ends belongs to it."""
    own, others = tokens(quote), tokens(source)
    blocks = align(quote, source).blocks
    (a, b, _), (c, d, size) = blocks[0], blocks[-1]
    first = max(0, b - a) if whole else b
    last = min(len(others), d + size + (len(own) - c - size if whole else 0)) - 1
    return quote[: own[0].start] + source[others[first].start : others[last].end] + quote[own[-1].end :]


def parted(verdict: Verdict, texts: Sequence[str]) -> Iterator[Reworded]:
    """The claim with a quotation joined from two places made honest: an ellipsis between them, or two quotations.

    Args:
        verdict: of the claim.
        texts: of the sources.
    """
    text = verdict.claim.text
    for quotation in _quotations(verdict):
        chinese = is_chinese(quotation.text)
        opening, closing = (
            text[quotation.outer.start : quotation.span.start],
            text[quotation.span.end : quotation.outer.end],
        )
        for left, right in _halves(quotation.text, texts, least=_PART[chinese]):
            glued = f"{left}……{right}" if chinese else f"{left} … {right}"
            two = f"{left}{closing}{'，以及' if chinese else ' and '}{opening}{right}"
            for now in (glued, two) if _one_says(left, right, texts=texts) else ():
                yield Reworded("quoted", _put_in(now, quotation, text), (quotation.text, now))
            for kept, gone in ((left, right), (right, left)):
                yield Reworded("left_out", _put_in(kept, quotation, text), (gone,))


def _put_in(words: str, quotation: Quotation, text: str) -> str:
    """A text with other words inside the marks of a quotation."""
    return text[: quotation.span.start] + words + text[quotation.span.end :]


def _one_says(left: str, right: str, *, texts: Sequence[str]) -> bool:
    """Whether the sources name one speaker for both: words of two people under one name would be a new error."""
    one, two = ([name for text in texts for name in sayers(half, text)] for half in (left, right))
    return any(same_name(first, second) for first in one for second in two)


def _halves(quote: str, texts: Sequence[str], *, least: int) -> Iterator[tuple[str, str]]:
    """The ways to cut a quotation in two of which each stands in a source; the longest beginning first."""
    found = tokens(quote)[:MOST_TOKENS]
    for cut in range(len(found) - least, least - 1, -1):
        left = quote[: found[cut].start].rstrip(" ,;.，；。")
        after = cut + 1 if found[cut].text in ("and", "but") else cut
        right = quote[found[after].start :] if len(found) - after >= least else ""
        if right and all(any(find_quoted(part, text) for text in texts) for part in (left, right)):
            yield left, right


def as_the_source(verdict: Verdict) -> Iterator[Reworded]:
    """The sentence of the source in place of a claim that is a near copy of it, word for word."""
    placed = nearest(verdict.claim.text, [citation.text for citation in verdict.evidence])
    if placed is not None and placed.near:
        yield Reworded("quoted", " ".join(placed.sentence.split()), (verdict.claim.text, placed.sentence))


# --- values -----------------------------------------------------------------------------------------------------------


def with_source_values(verdict: Verdict) -> Iterator[Reworded]:
    """The claim with the one value of its cited words in place of each wrong number, date or speaker.

    Nothing where a wrong value has no rival in the cited words, or more than one; or where claim and source are in
    different languages.
    """
    text, shown = verdict.claim.text, [citation.text for citation in verdict.evidence]
    if not shown or any(is_chinese(text) != is_chinese(words) for words in shown):
        return
    wrong = [check for check in verdict.checks if not check.passed and check.kind in ("number", "date", "speaker")]
    swaps = []
    for check in wrong:
        rivals = _rivals(check, text, shown=shown)
        if len(rivals) != 1 or text.count(check.item) != 1:
            return
        swaps.append((check.item, rivals[0]))
    for old, new in swaps:
        text = text.replace(old, new)
    if swaps:
        yield Reworded("quoted", text, (" … ".join(old for old, _ in swaps), " … ".join(new for _, new in swaps)))


def _rivals(check: Check, text: str, *, shown: Sequence[str]) -> list[str]:
    """What the cited words have in place of a wrong value, each once."""
    if check.kind == "speaker":
        reason = read_reason(check.reason)
        named = _REPR.fullmatch(reason.values[0]) if reason.kind == "another_speaker" else None
        return [named[1] or named[2]] if named else []
    if check.kind == "date":
        lengths = {mention.granularity for mention in find_dates(text) if mention.text == check.item}
        dates = [mention for words in shown for mention in find_dates(words)]
        return list(dict.fromkeys(mention.text for mention in dates if mention.granularity in lengths))
    own = [quantity for quantity in find_quantities(text) if quantity.text == check.item]
    known = [quantity for words in shown for quantity in find_quantities(words) if not quantity.weak]
    said = {quantity.value for quantity in find_quantities(text) if quantity not in own}
    found = [q for q in known for one in own if _rival(one, q) and q.value not in said]
    return list(dict.fromkeys(quantity.text for quantity in found))


def _rival(one: Quantity, other: Quantity) -> bool:
    """Whether a quantity may be what another should have been: of its kind and unit, or of its value."""
    return (one.kind, one.unit) == (other.kind, other.unit) or one.value == other.value


# --- clauses ----------------------------------------------------------------------------------------------------------


def shortened(text: str) -> Iterator[Reworded]:
    """The claim without its last clauses, without a parenthesis, or without one of its sentences; the longest first.

    A clause that says who says it stays, as does what could not stand alone: too few words, or only the beginning of
    a sentence ("After the flood,").
    """
    found = [Reworded("left_out", kept, (gone,)) for kept, gone in (*_sentences_out(text), *_clauses_out(text))]
    said = telling_words(text)
    for reworded in sorted(found, key=lambda one: -len(one.text)):
        if _stands(reworded.text) and coverage(said, telling_words(reworded.text)) >= LEAST_KEPT:
            yield reworded


def _stands(text: str) -> bool:
    found = tokens(text)
    return len(found) >= (_LEAST_CHARACTERS if is_chinese(text) else _LEAST_WORDS)


def _sentences_out(text: str) -> Iterator[tuple[str, str]]:
    spans = split_sentences(text)
    for span in spans if len(spans) > 1 else ():
        kept = f"{text[: span.start]}{text[span.end :]}"
        yield " ".join(kept.split()) if not is_chinese(text) else kept.strip(), text[span.start : span.end].strip()


def _clauses_out(text: str) -> Iterator[tuple[str, str]]:
    """The last sentence without its end from a boundary on, and without what stands between two boundaries."""
    quoted = [quotation.outer for quotation in find_quotations(text)]
    last = split_sentences(text)[-1:] or (Span(0, len(text)),)
    start = last[0].start
    marks = [
        Span(*mark.span())
        for mark in _CLAUSE.finditer(text, start)
        if not any(span.start < mark.start() < span.end for span in quoted)
    ]
    stop = _STOP.search(text)
    end = stop.start() if stop else len(text)
    for number, mark in enumerate(marks):
        gone = text[mark.end : end].strip()
        leans = number == 0 and _LEANS.match(text, start)
        hangs = number and _RELATIVE.match(text, marks[number - 1].end)
        if gone and not (leans or hangs or reports(gone)):
            yield text[: mark.start].rstrip() + (stop.group().strip() if stop else ""), gone
        if number and not reports(between := text[marks[number - 1].end : mark.start].strip()):
            joint = "，" if is_chinese(text) else ""
            yield text[: marks[number - 1].start] + joint + text[mark.end :], between
