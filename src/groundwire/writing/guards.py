"""Gates that need no model: does what a claim says stand in the words it cites?

Each gate is a pure function from the text of a claim and the excerpts that should carry it to findings. None raises,
whatever the text. What each gate does, and what it cannot see, is told in ``docs/method/verification.md``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from groundwire.core.agreement import computed, dates_agree, units_agree, values_agree
from groundwire.core.mentions import DateMention, find_dates, find_quotations
from groundwire.core.numerals import flatten
from groundwire.core.quantities import Quantity, find_quantities
from groundwire.core.text import content_words, folded_with_map, normalise
from groundwire.core.types import Check, Document, Part, Span

FOREIGN = "claim and source are in different languages, which words alone cannot compare"
ALIKE, CARRIED = 0.45, 0.65
"""Share of an English claim's telling words below which nothing is alike, and from which its wording is carried."""
ALIKE_CHINESE, CARRIED_CHINESE = 0.3, 0.5
"""The same for Chinese, whose words are counted as pairs of characters; how they were chosen: the method page."""


_REPORTING = frozenset(
    "accord report said say tell told stat add announc translat 表示 指出 报导 报道 据报".split()  # noqa: SIM905
)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """Words of a document that should carry a claim; ``span`` counts in the ``part`` of the document."""

    document: Document
    span: Span
    text: str
    part: Part = "text"


@dataclass(frozen=True, slots=True)
class Finding:
    """A gate's check; ``conflict`` says that the source speaks against the claim, rather than not at all."""

    check: Check
    conflict: bool = False


# --- places in a text -------------------------------------------------------------------------------------------------


def find_words(sought: str, text: str) -> Span | None:
    """Where words stand in a text when case, quotation marks, dashes and white space are made equal.

    A match may not begin or end inside a Latin word or a number.
    """
    needle = normalise(sought)
    if not needle or needle not in _normalised(text):
        return None
    folded, _ = folded_once(text)
    place = folded.find(needle)
    while place >= 0:
        end = place + len(needle)
        if not (splits_a_word(folded, place) or splits_a_word(folded, end)):
            return source_span(text, place, end=end)
        place = folded.find(needle, place + 1)
    return None


def splits_a_word(folded: str, place: int) -> bool:
    """Whether a place lies inside a Latin word or a number."""
    return re.match(r"[a-z0-9]{2}", folded[place - 1 : place + 1]) is not None if place else False


@lru_cache(maxsize=16)
def _normalised(text: str) -> str:
    return normalise(text)


@lru_cache(maxsize=8)
def folded_once(text: str) -> tuple[str, tuple[int, ...]]:
    """``folded_with_map``, remembered: the quotations of an article are sought in the same few documents."""
    return folded_with_map(text)


def source_span(text: str, start: int, *, end: int) -> Span:
    """The span of a text that ``start`` and ``end`` of its folded form stand for, without white space at the end."""
    _, positions = folded_once(text)
    last = positions[end] if end < len(positions) else len(text)
    return Span(positions[start], positions[start] + len(text[positions[start] : last].rstrip()))


# --- numbers ----------------------------------------------------------------------------------------------------------


def number_gate(claim: str, excerpts: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt] = ()) -> tuple[Finding, ...]:
    """One check a quantity of the claim: a quantity of the excerpts must have its value, unit and scale.

    Args:
        claim: text of the claim.
        excerpts: the words that should carry it.
        elsewhere: other words of the cited documents, searched only to say where the number stands instead.
    """
    quantities = [quantity for quantity in find_quantities(claim) if not quantity.weak]
    if not quantities:
        return ()
    known = [quantity for excerpt in excerpts for quantity in _quantities(excerpt.text)]
    return tuple(_number_finding(quantity, known, elsewhere=elsewhere) for quantity in quantities)


@lru_cache(maxsize=16)
def _quantities(text: str) -> tuple[Quantity, ...]:
    """``find_quantities``, remembered: the numbers of an article are sought in the same few documents."""
    return find_quantities(text)


def _number_finding(claimed: Quantity, known: Sequence[Quantity], *, elsewhere: Sequence[Excerpt]) -> Finding:
    def failed(reason: str, conflict: bool) -> Finding:  # noqa: FBT001 - unpacked from a pair
        return Finding(Check("number", claimed.text, passed=False, reason=reason), conflict)

    same_value = [other for other in known if values_agree(claimed, other)]
    if any(units_agree(claimed, other) is not False for other in same_value):
        return Finding(Check("number", claimed.text, passed=True))
    if _both_ends(claimed, known):
        return Finding(Check("number", claimed.text, passed=True, reason="both ends of the range are in the source"))
    if same_value:
        return failed(f"another unit: the source has {_shown(same_value[0])}", conflict=True)
    for excerpt in elsewhere:
        if any(values_agree(claimed, o) and units_agree(claimed, o) is not False for o in _quantities(excerpt.text)):
            return failed(f"stands in {excerpt.document.id!r}, but not in the cited words", conflict=False)
    return failed(*_number_reason(claimed, known))


def _number_reason(claimed: Quantity, known: Sequence[Quantity]) -> tuple[str, bool]:
    """What the source has in place of a number that is not there, and whether that speaks against it."""
    if made := computed(claimed, known):
        how, one, two = made
        return f"computed: the {how} of {one.text!r} and {two.text!r} in the source", False
    rivals = [other for other in known if units_agree(claimed, other)] or [
        other for other in known if other.kind == claimed.kind and units_agree(claimed, other) is not False
    ]
    if rivals:
        nearest = min(rivals, key=lambda other: abs(other.value - claimed.value))
        return f"another value: the source has {_shown(nearest)}", True
    return "the cited words hold no such number", False


def _shown(quantity: Quantity) -> str:
    return " ".join(filter(None, (f"{quantity.text!r}", quantity.unit if quantity.kind == "count" else "")))


def _both_ends(claimed: Quantity, known: Sequence[Quantity]) -> bool:
    if claimed.high is None:
        return False
    ends = {other.value for other in known if other.high is None and units_agree(claimed, other) is not False}
    return {claimed.value, claimed.high} <= ends


# --- dates ------------------------------------------------------------------------------------------------------------


def date_gate(claim: str, excerpts: Sequence[Excerpt], *, written: date | None = None) -> tuple[Finding, ...]:
    """One check a date of the claim: the excerpts must name it as finely, or their publication must.

    Args:
        claim: text of the claim.
        excerpts: the words that should carry it; their dates are read against their document's publication.
        written: publication of the article; None: relative dates of the claim are read as those of each source.
    """
    quoted = [quotation.span for quotation in find_quotations(claim)]
    days = sorted({excerpt.document.published for excerpt in excerpts if excerpt.document.published})
    readings = {
        day: {mention.span: mention for mention in find_dates(claim, anchor=day)} for day in (None, written, *days)
    }
    known = [
        _Dated(mention, excerpt.document.published)
        for excerpt in excerpts
        for mention in find_dates(excerpt.text, anchor=excerpt.document.published)
    ]
    years = {dated.mention.start.year for dated in known if dated.mention.start and dated.names_a_year}
    named = any(m.absolute and m.start and m.start.year in years for m in readings[None].values())
    findings = []
    for span in readings[None]:
        own = written if not any(s.start <= span.start < s.end for s in quoted) else None
        read = {day: mentions[span] for day, mentions in readings.items() if span in mentions}
        findings.append(_date_finding(read, known, own=own, days=days, strict=bool(years) and not named))
    return tuple(findings)


@dataclass(frozen=True, slots=True)
class _Dated:
    """A date of an excerpt, and the day its document was published."""

    mention: DateMention
    published: date | None

    @property
    def names_a_year(self) -> bool:
        """Whether the words say which year, as ``2021`` and ``去年`` do; ``on 6 May`` leaves it to the publication."""
        return self.mention.absolute or self.mention.key.startswith("year")


def _date_finding(
    readings: Mapping[date | None, DateMention],
    known: Sequence[_Dated],
    *,
    own: date | None,
    days: Sequence[date],
    strict: bool,
) -> Finding:
    """The check of one date, given how it reads on each day.

    ``strict``: the excerpts name years, and none that the claim names; then the year of publication carries no claim.
    """
    plain = readings[None]
    long = plain.granularity in ("quarter", "year", "decade")
    compared = []
    for dated in known:
        claimed = readings.get(own or dated.published, plain)
        outcome = dates_agree(claimed, dated.mention)
        if outcome == "same" and (dated.names_a_year or not (long and strict)):
            return Finding(Check("date", plain.text, passed=True))
        compared.append((claimed, dated.mention, outcome))
    by_day = plain.granularity == "day" and any(other.granularity == "day" for _, other, _ in compared)
    for day in () if strict or by_day else days:
        claimed = readings.get(own or day, plain)
        if claimed.start and claimed.end and claimed.start <= day <= claimed.end:
            return Finding(Check("date", plain.text, passed=True, reason=f"the source was published on {day}"))
    reason, conflict = _date_reason(compared)
    late = plain.start is not None and any(plain.start > day for day in days)
    return Finding(Check("date", plain.text, passed=False, reason=reason), conflict or late)


def _date_reason(compared: Sequence[tuple[DateMention, DateMention, str]]) -> tuple[str, bool]:
    for claimed, other, _ in compared:
        if claimed.key == other.key and other.start:
            return f"in the source {other.text!r} means {other.start}, here {claimed.start}", True
    rivals = [
        other
        for claimed, other, outcome in compared
        if outcome == "other"
        and (other.start is None) == (claimed.start is None)  # else nobody knows
        and (other.granularity == claimed.granularity or other.absolute or claimed.granularity == "year")
    ]
    finer = [other for _, other, outcome in compared if outcome == "finer"]
    inside = [r for r in rivals if any(f.start and f.end and r.start and f.start <= r.start <= f.end for f in finer)]
    if finer and not inside:
        return f"finer than the source, which has {finer[0].text!r}", False
    if rivals:
        return f"another date: the source has {rivals[0].text!r}", True
    return "the cited words hold no such date", False


# --- wording ----------------------------------------------------------------------------------------------------------


def telling_words(text: str) -> frozenset[str]:
    """The content words of a text without numbers (the number gate looks at them) and without English endings.

    Words that only report (said, according to, 表示) are left out: an article names its sources where they do not.

    Traditional and Simplified characters fall together.
    """
    found = (stem(word) for word in content_words(flatten(text)) if not word[0].isdecimal())
    return frozenset(word for word in found if word not in _REPORTING)


def sought_words(text: str) -> frozenset[str]:
    """The telling words and the numbers of a text: what the sentences that carry a claim are found by."""
    return telling_words(text) | {word for word in content_words(text) if word[0].isdecimal()}


def claimed_words(claim: str) -> frozenset[str]:
    """The telling words of a claim without its numbers and dates, which have gates of their own."""
    spans = [quantity.span for quantity in find_quantities(claim)] + [mention.span for mention in find_dates(claim)]
    kept, at = [], 0
    for span in sorted(spans, key=lambda span: span.start):
        kept.append(claim[at : max(at, span.start)])
        at = max(at, span.end)
    return telling_words(" ".join([*kept, claim[at:]]))


def stem(word: str) -> str:
    """An English word without possessive, plural and the commonest endings; only for comparing."""
    word = re.sub(r"['’]s?$", "", word)
    for ending in ("ingly", "edly", "ing", "ed", "ly", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            return word[: -len(ending)].removesuffix("e")
    return word.removesuffix("e") if len(word) > 3 else word


def is_chinese(text: str) -> bool:
    """Whether at least a third of the letters are Chinese characters."""
    han = sum("\u3400" <= character <= "\u9fff" for character in text)
    return 3 * han >= sum(character.isalpha() for character in text) and han > 0


def coverage(claim: frozenset[str], evidence: frozenset[str]) -> float:
    """Share of the claim's content words that stand in the evidence, 0 to 1; 1 for a claim without any."""
    return len(claim & evidence) / len(claim) if claim else 1.0


def wording_gate(claim: str, excerpts: Sequence[Excerpt]) -> Finding:
    """Whether enough of the claim's telling words stand in the excerpts, which should be few sentences.

    The check passes from ``CARRIED`` on. Between ``ALIKE`` and that it fails without ``conflict``; below ``ALIKE`` the
    excerpts speak of something else, and ``conflict`` is set. A claim in another language than its excerpts fails with
    that reason, because words cannot tell.
    """
    chinese = is_chinese(claim)
    alike, carried = (ALIKE_CHINESE, CARRIED_CHINESE) if chinese else (ALIKE, CARRIED)
    held = frozenset[str]().union(*(telling_words(f"{e.text} {e.document.source}") for e in excerpts))
    share = coverage(claimed_words(claim), held) if excerpts else 0.0
    reason = f"{share:.0%} of its words stand in the cited sentences"
    if share >= carried:
        return Finding(Check("wording", claim, passed=True, reason=reason))
    if share < alike and excerpts and all(chinese != is_chinese(excerpt.text) for excerpt in excerpts):
        reason = FOREIGN
    return Finding(Check("wording", claim, passed=False, reason=reason), conflict=share < alike)
