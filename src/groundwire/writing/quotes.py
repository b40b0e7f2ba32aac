"""Gates for what must stand in the source character by character: quotations, names with numbers in them, addresses."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice

from groundwire.core.mentions import Quotation, find_dates, find_quotations
from groundwire.core.numerals import flatten
from groundwire.core.quantities import find_quantities
from groundwire.core.text import normalise, words
from groundwire.core.types import Check, Span
from groundwire.writing.cuts import BRACKETED, EDGES, gaps_problem, is_negated, torn
from groundwire.writing.guards import Excerpt, Finding, folded_once, is_chinese, source_span, splits_a_word

TRANSLATED = "labelled as a translation; its words are not checked"
REACH = 600
"""How many characters an ellipsis or an insertion may stand for."""
NEAR = 0.6
"""Share of a quotation's words that must stand in order in the source before a difference is worth showing."""
_MOST_PLACES = 20  # of one quotation in one text; each is looked at by itself
_LONGEST_COMPARED = 1200  # words; comparing is quadratic
_DOTS = r"\.{3,}|(?:\.\s){2,}\.|…+|⋯+"
_GAP = re.compile(rf"(\s*(?:[（(]\s*(?:{_DOTS})\s*[）)]|{_DOTS}|{BRACKETED})\s*)")
_RECASED = re.compile(r"\[(\w)\](?=\w)|(?<=[a-z])\[(?:s|es|d|ed|n|ing|['’]s)\]")
_COMMA = re.compile(r"[,，、](?!\d)")
_JOINT = re.compile(r"[\s.,;:!?—–-]*(?:(?:and|but)\s)?")
_TOKEN = re.compile(r"[a-z0-9\u00c0-\u024f]+(?:[.,'][a-z0-9]+)*|[^\W_]")
_LABELS = re.compile(r"\btranslat|翻譯|翻译|譯|中译|编译|直译", re.IGNORECASE)
_ADDRESS = re.compile(
    r"(?:\bhttps?://|\bwww\.)[!-~]+(?:(?<=[/=_-])[^\W_]+)?"
    r"|(?<![A-Za-z0-9._+-])[A-Za-z0-9._+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+"
    r"|(?<![\w.])10\.\d{4,9}/[!-~]+|(?<![\w@.])@[A-Za-z0-9_]{2,}"
    r"|(?<![A-Za-z0-9@.-])(?:[A-Za-z0-9-]+\.)+"
    r"(?:[A-Za-z]{2,}(?=/[!-~])|(?:com|org|net|gov|edu|int|info|tw|cn|hk|jp|uk|eu)(?![\w-]))"
    r"(?:/[!-~]*(?:(?<=[/=_-])[^\W_]+)?)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<![A-Za-z0-9$€£¥.,-])(?=[A-Za-z-]*\d|\d+-?[A-Za-z])[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*")
_NUMBERED = re.compile(
    r"(?<![A-Za-z0-9.])(?:[A-Z][A-Za-z.]*|(?:no|nos|flight|room|route|highway|article|section|chapter|case|channel|page|"
    r"platform|gate|line|bill|rule|act|type|model|version|unit|zone|district|ward)\.?)\s\d+(?![\d.,]*\d|[A-Za-z%-])"
    r"|[\u3400-\u9fff]{2}-?\d+(?![\d.,]*\d|[A-Za-z%-])"
)
_NO_CODE = re.compile(r"\d+(?:st|nd|rd|th|s)|\d.*-(?:year|month|day|week|hour|minute)s?.*|(?!covid)[a-z]{3,}-\d+s?")


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
    negated = is_negated(claim, quotation.outer.start)
    placed = _among(quote, excerpts, negated=negated)
    if placed is not None:
        reason = placed.problem or placed.remark
        return Finding(Check("quotation", quote, passed=not placed.problem, reason=reason), bool(placed.problem))
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


@dataclass(frozen=True, slots=True)
class _Placed:
    """Where a quotation stands and what speaks against taking it so; ``problem`` is empty where nothing does."""

    span: Span
    problem: str = ""
    remark: str = ""


def _among(quote: str, excerpts: Sequence[Excerpt], *, negated: bool) -> _Placed | None:
    """The best place in the excerpts, in the other Chinese script if need be; None: it stands in none of them."""
    first = None
    for excerpt in excerpts:
        texts = [(quote, excerpt.text, "")]
        if is_chinese(quote):
            other = f"in the other Chinese script than {excerpt.document.id!r}"
            texts.append((flatten(quote), flatten(excerpt.text), other))
        texts += [(_COMMA.sub("", sought), _COMMA.sub("", text), "but for a comma") for sought, text, _ in texts]
        for sought, text, remark in texts:
            placed = place_quoted(sought, text, negated=negated)
            if placed is not None and not placed.problem:
                return replace(placed, remark=remark)
            first = first or placed
    return first


def place_quoted(quote: str, text: str, *, negated: bool = False) -> _Placed | None:
    """The first place of a quotation with nothing against it, else its first place, else None."""
    first = None
    for placed in islice(_places(quote, text), _MOST_PLACES):
        problem = placed.problem or torn(text, placed.span, negated=negated)
        if not problem:
            return placed
        first = first or _Placed(placed.span, problem)
    return first


def find_quoted(quote: str, text: str) -> Span | None:
    """Where the words of a quotation stand in a text, its ellipses and insertions allowed for, however they are cut."""
    placed = next(_places(quote, text), None)
    return placed.span if placed else None


def _places(quote: str, text: str) -> Iterator[_Placed]:
    """Every place where the parts of a quotation stand in order, each within reach of the one before."""
    whole = normalise(quote.strip(EDGES))
    if whole and whole in normalise(text):
        parts, gaps = [whole], ["", ""]
    else:
        parts, gaps = _parts(quote)
    if not parts or (len("".join(parts)) < 2 and parts != [whole]):
        return
    folded, positions = folded_once(text)
    place = folded.find(parts[0]) if all(part in folded for part in parts) else -1
    while place >= 0:
        spans = _follow(parts, folded, start=place)
        cut = spans and (splits_a_word(folded, place) or splits_a_word(folded, spans[-1].end))
        if spans and not cut and "\n\n" not in text[positions[place] : positions[spans[-1].end - 1]]:
            found = [source_span(text, span.start, end=span.end) for span in spans]
            yield _Placed(Span(found[0].start, found[-1].end), gaps_problem(gaps, text, found=found))
        place = folded.find(parts[0], place + 1)


def _parts(quote: str) -> tuple[list[str], list[str]]:
    """The parts of a quotation that must stand in the source, and what stands before, between and behind them."""
    parts, gaps, gap = [], [], ""
    for number, piece in enumerate(_GAP.split(_RECASED.sub(r"\1", quote))):
        kept = "" if number % 2 else normalise(piece.strip(EDGES))
        if kept:
            parts.append(kept)
            gaps.append(gap)
        gap = "" if kept else gap + (piece if number % 2 else "")
    return parts, [*gaps, gap]


def _follow(parts: Sequence[str], folded: str, *, start: int) -> list[Span]:
    """Where the parts stand when they come in order, each within reach of the one before; nothing where they do not."""
    spans = [Span(start, start + len(parts[0]))]
    for part in parts[1:]:
        place = folded.find(part, spans[-1].end, spans[-1].end + REACH + len(part))
        if place < 0:
            return []
        spans.append(Span(place, place + len(part)))
    return spans


def _elsewhere(quote: str, excerpts: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt]) -> str:
    cited = {excerpt.document.id for excerpt in excerpts}
    for place in sorted(elsewhere, key=lambda excerpt: excerpt.document.id not in cited):
        placed = place_quoted(quote, place.text)
        if placed is not None and not placed.problem:
            found = placed.span
            where = f"{place.document.id!r} at {place.span.start + found.start}-{place.span.start + found.end}"
            known = place.document.id in cited
            return f"stands in {where}, outside the cited words" if known else f"stands in {where}, which is not cited"
    return ""


def _joined(quote: str, places: Sequence[Excerpt]) -> str:
    """What is wrong with a quotation whose parts all stand in the sources, but not one after the other."""
    folded = normalise(quote.strip(EDGES))
    texts = list(dict.fromkeys(normalise(place.text) for place in places))
    pieces = list(_pieces(folded, texts))
    if not 2 <= len(pieces) <= 4 or not all(pieces):
        return ""
    for text in texts:
        start = text.find(pieces[0])
        spans = _follow(pieces, text, start=start) if start >= 0 else []
        end = spans[-1].end if spans else start
        if spans and end - start <= len(folded) + 40 and text.count('"', start, end) <= folded.count('"'):
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
        piece = folded[at : at + low].strip(EDGES)
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


# --- names with numbers, and addresses --------------------------------------------------------------------------------


def name_gate(claim: str, excerpts: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt] = ()) -> tuple[Finding, ...]:
    """One check for each name with a number in it (F-35, room B21, No. 10); a failed one for an address not there.

    A link, an e-mail address and a DOI are compared character by character; a host alone stands for its pages.

    Args:
        claim: text of the claim.
        excerpts: the words that should carry it; the address of their documents counts as theirs.
        elsewhere: other words of the cited documents, searched only to say where a name stands instead.
    """
    known = frozenset(
        a for e in excerpts for text in (e.text, e.document.url, e.document.source) for a in _addresses(text)
    )
    hosts = {address.partition("/")[0] for address in known}
    missing = (address for address in _addresses(claim) if address not in known and address not in hosts)
    text = " ".join(flatten(f"{e.text} {e.document.source}") for e in excerpts)
    around = " ".join(flatten(e.text) for e in elsewhere)
    return (
        *(_no_address(address, known) for address in missing),
        *(_name_finding(name, text, elsewhere=around) for name in _codes(claim)),
    )


def _no_address(address: str, known: frozenset[str]) -> Finding:
    other = next((a for a in sorted(known) if ("@" in a) == ("@" in address)), "")
    reason = f"another address: the source has {other!r}" if other else "the cited words hold no such address"
    return Finding(Check("quotation", address, passed=False, reason=reason), conflict=bool(other))


def _addresses(text: str) -> tuple[str, ...]:
    found = (match.group().rstrip(".,;:!?)]}>'\"") for match in _ADDRESS.finditer(flatten(text)))
    bare = (re.sub(r"^(?:https?://)?(?:www\.)?", "", address, flags=re.IGNORECASE).rstrip("/") for address in found)
    return tuple(host.casefold() + slash + path for host, slash, path in (address.partition("/") for address in bare))


def _codes(claim: str) -> tuple[str, ...]:
    """The names with a number in them, without what is a quantity, a date or an address."""
    flat = _ADDRESS.sub(lambda found: " " * len(found.group()), flatten(claim))
    quantities, dates = [q.span for q in find_quantities(claim) if not q.weak], [d.span for d in find_dates(claim)]
    found = []
    for match in _CODE.finditer(flat):
        counted = any(span.start == match.start() for span in quantities)
        dated = any(span.start < match.end() and match.start() < span.end for span in dates)
        if not (counted or dated or _NO_CODE.fullmatch(match.group())) and re.search("[A-Za-z]", match.group()):
            found.append(match.group())
    taken = (*quantities, *dates)
    found += [
        match.group()
        for match in _NUMBERED.finditer(flat)
        if not any(span.start < match.end() and match.start() < span.end for span in taken)
    ]
    return tuple(dict.fromkeys(found))


def _name_finding(name: str, text: str, *, elsewhere: str) -> Finding:
    pieces = re.findall(r"\d+|[^\W\d_]+", name)
    if _code_pattern(pieces).search(text):
        return Finding(Check("number", name, passed=True))
    if _code_pattern(pieces).search(elsewhere):
        reason = "stands in the cited document, but not in the cited words"
        return Finding(Check("number", name, passed=False, reason=reason))
    other = _code_pattern(["\\d" if piece.isdecimal() else piece for piece in pieces]).search(text)
    reason = f"another name: the source has {other.group()!r}" if other else "the cited words hold no such name"
    return Finding(Check("number", name, passed=False, reason=reason), conflict=other is not None)


def _code_pattern(pieces: Sequence[str]) -> re.Pattern[str]:
    r"""A name whose pieces may stand apart (F-35, F35); ``\d`` as a piece stands for any number."""
    joined = r"[-\s.]{0,3}".join(r"\d+" if piece == r"\d" else re.escape(piece) for piece in pieces)
    before, behind = (r"[a-z0-9]" if piece.isalpha() else r"[0-9]|[0-9][.,]" for piece in (pieces[0], pieces[-1]))
    ahead = r"[a-z]" if behind.startswith("[a") else r"\d|[.,]\d"
    behind_it = "".join(f"(?<!{option})" for option in before.split("|"))
    return re.compile(rf"{behind_it}{joined}(?!{ahead})", re.IGNORECASE)
