"""The gate for who said a quotation: right words, wrong speaker.

The speaker is read from the words beside the quotation, in the claim and in the source alike: a name near a verb of
saying, or before a colon. Where the source names nobody there, the gate says nothing against the claim.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from groundwire.core.quotations import find_quotations
from groundwire.core.text import words
from groundwire.core.types import Check, Span
from groundwire.writing.guards import Excerpt, Finding, is_chinese
from groundwire.writing.names import Name, find_names, same_name
from groundwire.writing.quotes import find_quoted

SHORTEST = 4
"""Words (Chinese: characters) of a quotation that is worth asking whose it is."""
_WINDOW = 240
_SAYS = re.compile(
    r"\b(?:said|says|say|added|adds|told|tells|asked|asks|replied|replies|wrote|writes|tweeted|stated|states|insisted"
    r"|explained|explains|noted|notes|argued|argues|claimed|claims|warned|warns|called|recalled|according to|continued"
    r"|declared|announced|remarked|commented|concluded|quipped|shouted|posted|testified|admitted)\b"
    r"|[說说]|表示|指出|強調|强调|認為|认为|告訴|告诉|補充|补充|寫道|写道|坦言|解釋|解释|宣布|呼籲|呼吁|稱|称|問|问|回應|回应|透露",
    re.IGNORECASE,
)
_BESIDE = 60  # characters behind a quotation within which the verb of saying stands
_LEADS = re.compile(rf"(?:{_SAYS.pattern})[^,，。:：]{{0,16}}[,，:：]?\s*$|[:：]\s*$", re.IGNORECASE)
_CLAUSE = re.compile(r"[,;，；、()（）—]")
_END = re.compile(r"(?<=[a-z\d\"”’)])[.!?](?=\s|$)|[。！？\n]")


@dataclass(frozen=True, slots=True)
class _Said:
    """The words beside a quotation that tell who said it, and the names in them."""

    words: str
    names: tuple[Name, ...]


def speaker_gate(claim: str, excerpts: Sequence[Excerpt]) -> tuple[Finding, ...]:
    """One check for each quotation of the claim with a named speaker whom the source names too, or another.

    Args:
        claim: text of the claim.
        excerpts: whole texts of the cited documents, in which the quotations are sought.
    """
    findings = []
    for quotation in find_quotations(claim):
        own = _speaker(claim, quotation.outer)
        if own is None or not own.names or _size(quotation.text) < SHORTEST:
            continue
        for excerpt in excerpts:
            place = find_quoted(quotation.text, excerpt.text)
            found = _speaker(excerpt.text, _marked(excerpt.text, place)) if place is not None else None
            if found is not None:
                findings += _compared(own, found)
                break
    return tuple(findings)


def said_by(text: str, quotation: Span) -> tuple[str, tuple[str, ...]] | None:
    """Who says a quotation and by which verb, read from the words of its sentence beside it.

    Args:
        text: running text.
        quotation: the place of the quotation, marks included.

    Returns:
        The verb of saying as written (empty before a colon alone) and the names beside it; None where no verb is there.
    """
    said = _speaker(text, quotation)
    if said is None:
        return None
    verb = _SAYS.search(said.words)
    return verb.group() if verb else "", tuple(name.text for name in said.names)


def sayers(quote: str, text: str) -> tuple[Name, ...]:
    """The names beside the first place of a quotation in a source; none where it is not there or nobody is named."""
    place = find_quoted(quote, text)
    said = _speaker(text, _marked(text, place)) if place is not None else None
    return said.names if said is not None else ()


def reports(text: str) -> bool:
    """Whether a text holds a verb of saying."""
    return _SAYS.search(text) is not None


def _size(text: str) -> int:
    return sum("\u3400" <= c <= "\u9fff" for c in text) if is_chinese(text) else len(words(text))


def _compared(own: _Said, found: _Said) -> list[Finding]:
    item = own.names[0].text
    if not found.names:
        return []
    if any(same_name(one, two) for one in own.names for two in found.names):
        return [Finding(Check("speaker", item, passed=True))]
    reason = f"another speaker: in the source {found.names[0].text!r} says this"
    return [Finding(Check("speaker", item, passed=False, reason=reason), conflict=True)]


def _marked(text: str, place: Span) -> Span:
    """The quotation of the source that holds a place, with its marks; the place itself where none does."""
    start = max(0, place.start - _WINDOW)
    for quotation in find_quotations(text[start : place.end + _WINDOW]):
        if quotation.span.start + start <= place.start < quotation.span.end + start:
            return Span(quotation.outer.start + start, quotation.outer.end + start)
    return place


def _speaker(text: str, quotation: Span) -> _Said | None:
    """Who said a quotation: the words behind it, or else before it, up to the sentence's end, with a verb of saying.

    None where neither tells.
    """
    behind = text[quotation.end : quotation.end + _WINDOW]
    closed = re.search(r"[.!?。！？]['\"”’」』]?$", text[max(0, quotation.end - 2) : quotation.end]) is not None
    behind = "" if closed and not re.match(r"\s*[a-z]", behind) else _first(behind)
    before = text[max(0, quotation.start - _WINDOW) : quotation.start]
    before = _last(before)
    for beside, colon in ((behind, False), (before, True)):
        bare = _unquoted(beside)
        if _LEADS.search(bare) if colon else _SAYS.search(bare[:_BESIDE]):
            return _Said(bare, _near(bare, at_end=colon))
    return None


def _first(text: str) -> str:
    end = _END.search(text)
    return text[: end.start()] if end else text


def _last(text: str) -> str:
    ends = [end.end() for end in _END.finditer(text.rstrip())]
    return text[ends[-1] :] if ends else text


def _unquoted(text: str) -> str:
    for quotation in reversed(find_quotations(text)):
        text = text[: quotation.outer.start] + " " + text[quotation.outer.end :]
    return text


def _near(text: str, *, at_end: bool) -> tuple[Name, ...]:
    """The names in the clause of the verb of saying, or in the one before where it holds no more than the verb.

    What stands behind ``told`` is who was spoken to.
    """
    found = find_names(text if at_end else f"x{text}")
    shift = 0 if at_end else 1
    verbs = list(_SAYS.finditer(text))
    place = (verbs[-1] if at_end else verbs[0]).start() + shift if verbs else len(text)
    clauses = [0, *(mark.end() + shift for mark in _CLAUSE.finditer(text)), len(text) + shift + 1]
    number = max(n for n, start in enumerate(clauses) if start <= place)
    for start, end in (
        (clauses[number], clauses[min(number + 1, len(clauses) - 1)]),
        (clauses[max(0, number - 2)], place),
    ):
        inside = tuple(name for name in found if start <= name.span.start < end)
        heard = re.search(r"\b(?:told|tells|asked)\s|告訴|告诉", text)
        if heard is not None and any(n.span.start - shift < heard.start() for n in inside):
            inside = tuple(n for n in inside if n.span.start - shift < heard.start())
        if inside:
            return inside
    return ()
