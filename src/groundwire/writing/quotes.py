"""The quotation gate: are the words between quotation marks those of the cited source?"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from groundwire.core.mentions import Quotation, find_quotations
from groundwire.core.numerals import flatten
from groundwire.core.text import normalise, words
from groundwire.core.types import Check, Span
from groundwire.writing.guards import Excerpt, Finding, find_words, folded_once, is_chinese, source_span, splits_a_word

TRANSLATED = "labelled as a translation; its words are not checked"
REACH = 600
"""How many characters an ellipsis or an insertion may stand for."""
NEAR = 0.6
"""Share of a quotation's words that must stand in order in the source before a difference is worth showing."""
_LONGEST_COMPARED = 1200  # words; comparing is quadratic
_GAP = re.compile(r"\s*(?:\.{3,}|(?:\.\s){2,}\.|…+|⋯+|\[[^\]\n]{0,80}\]|［[^］\n]{0,80}］)\s*")
_RECASED = re.compile(r"\[(\w)\](?=\w)")
_EDGES = " \t\n\r\u3000,.;:!?，。；：！？、\"'“”‘’「」『』"
_JOINT = re.compile(r"[\s.,;:!?—–-]*(?:(?:and|but)\s)?")
_TOKEN = re.compile(r"[a-z0-9\u00c0-\u024f]+(?:[.,'][a-z0-9]+)*|[^\W_]")
_LABELS = re.compile(r"\btranslat|翻譯|翻译|譯|中译|编译|直译", re.IGNORECASE)


def quotation_gate(
    claim: str, excerpts: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt] = ()
) -> tuple[Finding, ...]:
    """One check a quotation of the claim: its words must stand in an excerpt, word for word.

    Equal are kinds of quotation marks and dashes, white space, case, full and half width, and stops at the ends. An
    ellipsis may leave words out and brackets may replace some, within 600 characters of one paragraph.

    Args:
        claim: text of the claim.
        excerpts: the words that should carry it.
        elsewhere: whole texts of the documents around, searched to say where a quotation stands instead.
    """
    found: list[Finding] = []
    last = -1
    for quotation in find_quotations(claim):
        if quotation.outer.start < last:
            continue  # inside one that was looked at
        last = quotation.outer.end
        if words(quotation.text):
            found.append(_finding(quotation, claim, excerpts=excerpts, elsewhere=elsewhere))
    return tuple(found)


def _finding(quotation: Quotation, claim: str, *, excerpts: Sequence[Excerpt], elsewhere: Sequence[Excerpt]) -> Finding:
    quote = quotation.text
    if any(find_quoted(quote, excerpt.text) for excerpt in excerpts):
        return Finding(Check("quotation", quote, passed=True))
    flat = flatten(quote)
    for excerpt in excerpts:
        if is_chinese(quote) and find_quoted(flat, flatten(excerpt.text)):
            reason = f"in the other Chinese script than {excerpt.document.id!r}"
            return Finding(Check("quotation", quote, passed=True, reason=reason))
    reason, conflict = _elsewhere(quote, excerpts, elsewhere=elsewhere), False
    if not reason and excerpts and all(is_chinese(quote) != is_chinese(excerpt.text) for excerpt in excerpts):
        if _LABELS.search(claim):
            return Finding(Check("quotation", quote, passed=True, reason=TRANSLATED))
        reason = "a translation that is not labelled as one"
    if not reason:
        reason, conflict = _joined(quote, [*excerpts, *elsewhere]) or _nearest(quote, excerpts), True
    if not reason:
        reason, conflict = "stands in no cited source", len(words(quote)) > 2
    return Finding(Check("quotation", quote, passed=False, reason=reason), conflict)


def find_quoted(quote: str, text: str) -> Span | None:
    """Where a quotation stands in a text, its ellipses and insertions allowed for; None where it does not."""
    if found := find_words(quote.strip(_EDGES), text):
        return found
    parts = [part.strip(_EDGES) for part in _GAP.split(_RECASED.sub(r"\1", quote))]
    needles = [normalise(part) for part in parts if part]
    if len("".join(needles)) < 2 or not all(needle in normalise(text) for needle in needles):
        return None
    folded, positions = folded_once(text)
    place = folded.find(needles[0])
    while place >= 0:
        end = _follow(needles[1:], folded, start=place + len(needles[0]))
        whole = end is not None and not (splits_a_word(folded, place) or splits_a_word(folded, end))
        if end is not None and whole and "\n\n" not in text[positions[place] : positions[end - 1]]:
            return source_span(text, place, end=end)
        place = folded.find(needles[0], place + 1)
    return None


def _follow(needles: Sequence[str], folded: str, *, start: int) -> int | None:
    """Where the last of the needles ends when they come in order, each within reach of the one before."""
    for needle in needles:
        place = folded.find(needle, start, start + REACH + len(needle))
        if place < 0:
            return None
        start = place + len(needle)
    return start


def _elsewhere(quote: str, excerpts: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt]) -> str:
    cited = {excerpt.document.id for excerpt in excerpts}
    for place in sorted(elsewhere, key=lambda excerpt: excerpt.document.id not in cited):
        found = find_quoted(quote, place.text)
        if found is not None:
            where = f"{place.document.id!r} at {place.span.start + found.start}-{place.span.start + found.end}"
            known = place.document.id in cited
            return f"stands in {where}, outside the cited words" if known else f"stands in {where}, which is not cited"
    return ""


def _joined(quote: str, places: Sequence[Excerpt]) -> str:
    """What is wrong with a quotation whose parts all stand in the sources, but not one after the other."""
    folded = normalise(quote.strip(_EDGES))
    texts = list(dict.fromkeys(normalise(place.text) for place in places))
    pieces = list(_pieces(folded, texts))
    if not 2 <= len(pieces) <= 4 or not all(pieces):
        return ""
    for text in texts:
        start = text.find(pieces[0])
        end = _follow(pieces[1:], text, start=start + len(pieces[0])) if start >= 0 else None
        if end is not None and end - start <= len(folded) + 40 and text.count('"', start, end) <= folded.count('"'):
            return "leaves words of the source out without an ellipsis"
    return f"joins words from {len(pieces)} different places: " + " + ".join(f"{piece!r}" for piece in pieces)


def _pieces(folded: str, texts: Sequence[str]) -> Iterator[str]:
    """The longest beginnings that stand in a text, one after the other; an empty one where a beginning is too short."""
    at = 0
    while at < len(folded):
        low, high = 0, len(folded) - at
        while low < high:  # every beginning of words that stand in a text stands there too
            middle = (low + high + 1) // 2
            low, high = (middle, high) if any(folded[at : at + middle] in text for text in texts) else (low, middle - 1)
        piece = folded[at : at + low].strip(_EDGES)
        enough = len(piece) >= 5 if is_chinese(piece) else len(piece.split()) >= 3
        yield piece if enough else ""
        if not enough:
            return
        joint = _JOINT.match(folded, at + low)
        at = joint.end() if joint else at + low


def _nearest(quote: str, excerpts: Sequence[Excerpt]) -> str:
    """The difference from the words of the source that are most like the quotation; empty where none are."""
    quoted, best, share = _TOKEN.findall(normalise(quote))[:_LONGEST_COMPARED], "", NEAR
    for excerpt in excerpts:
        source = _TOKEN.findall(normalise(excerpt.text))[:_LONGEST_COMPARED]
        match = SequenceMatcher(None, quoted, source, autojunk=False)
        longest = match.find_longest_match()
        start = max(0, longest.b - longest.a - 3)
        window = source[start : longest.b - longest.a + len(quoted) + 3]
        match.set_seq2(window)
        alike = sum(block.size for block in match.get_matching_blocks()) / max(1, len(quoted))
        if alike >= share:
            best, share = _difference(quoted, window, codes=match.get_opcodes()), alike
    return best


def _difference(
    quoted: Sequence[str], source: Sequence[str], *, codes: Sequence[tuple[str, int, int, int, int]]
) -> str:
    joiner = "" if is_chinese("".join(quoted)) else " "
    inner = [code for code in codes if code[0] != "equal"]
    if codes and codes[0][0] == "insert":
        inner = inner[1:]
    if len(codes) > 1 and codes[-1][0] == "insert" and inner:
        inner = inner[:-1]
    shown = [
        f"{joiner.join(quoted[a:b])!r} where the source has {joiner.join(source[c:d])!r}" for _, a, b, c, d in inner[:3]
    ]
    return "differs from the source: " + ("; ".join(shown) or "in punctuation or spacing inside a word")
