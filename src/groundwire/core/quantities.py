"""Quantities in running English and Chinese text: how much, of what, in which unit, and where it stands.

Offsets are code points of the text as given. Values are exact (``Fraction``), scales and Chinese numerals are read:
``3億5,000萬`` is 350,000,000. Numbers inside dates, links and names (``COVID-19``, ``G20``, ``5G``) are no quantities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from unicodedata import numeric

from groundwire.core.figures import (
    DIGITS,
    Kind,
    Quantity,
    bounded,
    clocks,
    fractions,
    magnitudes,
    ordinals,
    scores,
)
from groundwire.core.mentions import find_dates
from groundwire.core.numerals import (
    CHINESE_NUMERAL,
    ENGLISH_NUMERAL,
    SCALES,
    Taken,
    is_counted,
    legible,
    money_after,
    money_before,
    per_after,
    per_before,
    read_bare_scale,
    read_chinese,
    read_digits,
    read_english,
    scale_before,
    unit_after,
)
from groundwire.core.types import Span

__all__ = ["Quantity", "find_quantities"]

_SCALE = r"hundred|thousand|million|billion|trillion|lakh|crore|mn|bn|tn|m|b|k"
_NUMBER = re.compile(
    rf"(?P<mixed>(?:(?:{DIGITS})\s?[十百千万亿兆]+零?)+(?:(?:\d{{1,3}},\d{{3}}|\d{{1,4}})(?![\d.,]*\d|%))?)"
    r"|(?P<vulgar>(?:\d{1,9}\s?)?[¼½¾⅐-⅞])"
    rf"|(?P<digits>{DIGITS})(?P<scale>(?:[\s-]?(?:{_SCALE})(?![a-z])){{0,3}})"
    rf"|(?P<numeral>{CHINESE_NUMERAL})|(?P<words>{ENGLISH_NUMERAL})",
    re.IGNORECASE,
)
_LINKS = re.compile(
    r"(?:https?://|www\.)[^\s，。、]+|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+"
    r"|\[\^?\d{1,3}(?:\s?[,–-]\s?\d{1,3}){0,20}\]",  # markers of citations
    re.IGNORECASE,
)
_PART_OF_A_NAME = re.compile(
    r"(?:[a-z_#/]|[a-z]-|[\d.][.:,/]|\bNo\.?\s|H\.R\.\s|\bBoeing\s|\bAirbus\s)$", re.IGNORECASE
)
_PERCENT = re.compile(
    r"[\s-]?(?:(?P<points>percentage[\s-]points?\b|per\s?cent[\s-]points?\b|pp\b|%?个?百分点)"
    r"|(?P<basis>basis[\s-]points?\b|bps\b|个?基点)|(?P<percent>%|per\s?cent\b|pct\b))",
    re.IGNORECASE,
)
_AFTER = re.compile(
    r"(?P<over>多(?!少)|余|几(?=[人名个万亿元])|来(?=[人名个年天]))|(?P<least>\+|[\s-](?:plus|or more)\b)",
    re.IGNORECASE,
)
_LATE_SCALES = {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "兆": 10**12}
_MINUS = re.compile(r"(?:(?:^|[\s(（：:，])[-−]|[负]|零下|\bminus\s)$", re.IGNORECASE)
_JOIN = re.compile(r"\s?(?:[-–—~～−]|至|到|\b(?:to|or|and)\b|或)\s?", re.IGNORECASE)
_CHANGE = re.compile(r"(?:(?<!range\s)(?<!ranges\s)(?<!ranged\s)(?<!ranging\s)\bfrom|从|由|自)\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s*$|介于$", re.IGNORECASE)
_ADJECTIVES = r"(?:cubic|square|metric|new|more|other|fewer|us|u\.s\.)"


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity of a text, in order, without overlap; linear in the length of the text, and total."""
    flat, dates = legible(text), [mention.span for mention in find_dates(text)]
    links = [Span(*link.span()) for link in _LINKS.finditer(flat)]
    taken, found = Taken(dates), []
    for link in links:
        taken.add(link)
    for reader in (scores, clocks, fractions, ordinals, magnitudes):
        found += [quantity for quantity in reader(flat) if taken.add(quantity.span)]
    numbers = [quantity for quantity in _numbers(_without(dates, flat)) if taken.add(quantity.span)]
    found += _joined(numbers, flat=flat)
    return tuple(replace(q, text=text[q.span.start : q.span.end]) for q in sorted(found, key=lambda q: q.span.start))


def _without(spans: list[Span], flat: str) -> str:
    """The text with its dates blanked out, so that no number reaches into one (``6 May 2024 500 people``)."""
    pieces: list[str] = []
    at = 0
    for span in spans:
        pieces += (flat[at : span.start], "\0" * (span.end - span.start))
        at = span.end
    return "".join([*pieces, flat[at:]])


def _numbers(flat: str) -> Iterator[Quantity]:
    for match in _NUMBER.finditer(flat):
        start = match.start()
        named = not match["numeral"] and _PART_OF_A_NAME.search(flat, max(0, start - 8), start)
        read = None if named and not money_before(flat, start)[0] else _read(match, flat=flat)
        if read is not None:
            yield _measured(read, flat=flat, start=start)


@dataclass(frozen=True, slots=True)
class _Read:
    value: Fraction
    end: int
    weak: bool = False


def _read(match: re.Match[str], *, flat: str) -> _Read | None:
    """The bare number; None where the characters are no number here."""
    end = match.end()
    if match["words"]:
        return _Read(read_english(match["words"]), end, match["words"].lower() == "one")
    if match["vulgar"]:
        whole = match["vulgar"][:-1].strip()
        return _Read(int(whole or 0) + Fraction(numeric(match["vulgar"][-1])).limit_denominator(10), end)
    if match["mixed"] or match["numeral"]:
        return _read_chinese(match, flat=flat)
    value, scale = read_digits(match["digits"]), (match["scale"] or "").lower()
    if len(scale.strip(" -")) == 1 and not _is_scale(match, flat=flat):
        scale, end = "", match.end("digits")
    glued = re.match(r"[a-z]+", flat[end : end + 12], re.IGNORECASE)
    if glued and not scale and (glued.group() == "G" or not unit_after(flat, end)[0]):
        return None  # 5G, 4K, 3D
    for word in re.split(r"[\s-]+", scale):
        value *= SCALES.get(word, 1)
    return _Read(value, end)


def _read_chinese(match: re.Match[str], *, flat: str) -> _Read | None:
    written, end = match["mixed"] or match["numeral"], match.end()
    value = read_chinese(written)
    counted = is_counted(flat, end) or flat.startswith("多", end)
    if value is None and (counted or money_after(flat, end)[0]) and not flat.startswith(("度", "分", "家"), end):
        scale = read_bare_scale(written)  # 百萬元
        return None if scale is None else _Read(Fraction(scale), end)
    if value is None or (match["numeral"] and len(written) == 1 and not (counted or money_after(flat, end)[0])):
        return None
    return _Read(value, end, written == "一")


def _is_scale(match: re.Match[str], *, flat: str) -> bool:
    """Whether a lone letter is a scale: after a currency or decimal, or before a plural; else ``100m`` is a length."""
    letter = match["scale"].strip(" -")
    if money_before(flat, match.start())[0]:
        return True
    if letter.lower() == "m":
        counted = re.compile(rf"\s(?:{_ADJECTIVES}\s){{0,2}}(?:people|[a-z]{{3,}}s)\b", re.IGNORECASE)
        return "." in match["digits"] or counted.match(flat, match.end()) is not None
    return letter == "k"


def _measured(read: _Read, *, flat: str, start: int) -> Quantity:
    """The number with its sign, bound and unit; the span takes in currency and percent sign, not the nouns."""
    number = start
    unit, start = money_before(flat, start)
    value, end, bound = read.value, read.end, "exact"
    if _MINUS.search(flat, max(0, start - 8), start):
        value = -value
    if after := _AFTER.match(flat, end):
        bound, end = after.lastgroup or bound, after.end()
        while flat[end : end + 1] in _LATE_SCALES:  # 30多萬
            value, end = value * _LATE_SCALES[flat[end]], end + 1
    kind: Kind = "money" if unit else "count"
    if percent := None if unit else _PERCENT.match(flat, end):
        kind, end = ("percent" if percent["percent"] else "points"), percent.end()
        value = value / 100 if percent["basis"] else value
    elif not unit:
        unit, money_end = money_after(flat, end)
        kind, end = ("money", money_end) if unit else (kind, end)
    nouns: tuple[str, ...] = ()
    per = per_after(flat, end) if kind == "money" else ""
    if kind == "count":
        unit, nouns, per = unit_after(flat, end)
        unit = scale_before(flat, number) or unit if unit == "degree" else unit
    found = Quantity(value, kind, unit, Span(start, end), "", nouns, bound, None, read.weak)  # type: ignore[arg-type]  # the groups are named after the bounds
    found = replace(found, per=per or per_before(flat, start))
    return found if bound != "exact" else bounded(found, flat=flat)


def _joined(numbers: list[Quantity], *, flat: str) -> list[Quantity]:
    """``3 to 5 %`` as one range; the first number takes unit and scale of the second where it has none."""
    done: list[Quantity] = []
    for number in numbers:
        pair = _pair(done[-1], number, flat=flat) if done else None
        done[-1:] = pair if pair else [*done[-1:], number]
    return done


def _pair(low: Quantity, high: Quantity, *, flat: str) -> list[Quantity] | None:
    gap = flat[low.span.end : high.span.start]
    if low.high is not None or len(gap) > 6 or not _JOIN.fullmatch(gap):
        return None
    bare = low.kind == "count" and not low.unit and not low.nouns
    if not bare and high.kind == "count" and low.kind != "count" and not high.nouns and not high.unit:
        high = replace(high, kind=low.kind, unit=low.unit)
    elif bare:
        low = replace(low, kind=high.kind, unit=high.unit, nouns=high.nouns)
    if (low.kind, low.unit) != (high.kind, high.unit):
        return None
    low = replace(low, value=low.value * _shared_scale(low, high, flat=flat))
    change = _CHANGE.search(flat, max(0, low.span.start - 8), low.span.start) is not None
    between = _BETWEEN.search(flat, max(0, low.span.start - 10), low.span.start)
    if change or (gap.strip().lower() == "and" and not between):
        return [replace(low, changed=change), replace(high, changed=change)]
    span = Span(low.span.start, high.span.end)
    return [replace(low, high=high.value, span=span, weak=False, nouns=high.nouns)]


def _shared_scale(low: Quantity, high: Quantity, *, flat: str) -> Fraction:
    first = re.fullmatch(rf"\D*({DIGITS})\D*", flat[low.span.start : low.span.end])
    second = re.search(DIGITS, flat[high.span.start : high.span.end])
    if first is None or second is None or abs(low.value) != read_digits(first[1]):
        return Fraction(1)
    written = read_digits(second.group())
    return abs(high.value) / written if written and abs(low.value) < written < abs(high.value) else Fraction(1)
