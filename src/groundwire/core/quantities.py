"""Quantities in running English and Chinese text: how much, of what, in which unit, and where it stands.

Offsets are code points of the text as given. Values are exact (``Fraction``), scales and Chinese numerals are read:
``3億5,000萬`` is 350,000,000. Numbers inside dates, links and names (``COVID-19``, ``G20``, ``5G``) are no quantities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from groundwire.core.mentions import find_dates
from groundwire.core.numerals import (
    CHINESE_NUMERAL,
    ENGLISH_NUMERAL,
    SCALES,
    Taken,
    flatten,
    is_counted,
    money_after,
    money_before,
    read_chinese,
    read_digits,
    read_english,
    unit_after,
)
from groundwire.core.types import Span

Kind = Literal["count", "percent", "points", "money", "ordinal", "clock"]
Bound = Literal["exact", "about", "near", "over", "under", "least", "most"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        value: exact; a percentage in hundredths (``6 %`` is 6), a clock time in minutes after midnight.
        kind: percent and percentage points differ; a fraction (``two-thirds``, ``三成``) is a percent.
        unit: currency code (``USD``; ``$``, ``¥`` and ``元`` where the text does not say which), a name shared by both
            languages (``person``, ``day``, ``km``), a Chinese measure word, or ``""``.
        nouns: the next words, singular, that may name what is counted.
        bound: what stands beside it: ``over`` (more than), ``near`` (almost), ``least`` (at least) and so on.
        high: upper end of a range (or the second number of a score); None for a single number.
        weak: ``one``, ``first``, ``一個``: seldom meant as a number, so a claim is not held to it.
    """

    value: Fraction
    kind: Kind
    unit: str
    span: Span
    text: str
    nouns: tuple[str, ...] = ()
    bound: Bound = "exact"
    high: Fraction | None = None
    weak: bool = False


_DIGITS = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?"
_NUMBER = re.compile(
    rf"(?P<mixed>(?:(?:{_DIGITS})\s?[十百千万亿兆]+零?)+(?:(?:\d{{1,3}},\d{{3}}|\d{{1,4}})(?![\d.,]*\d|%))?)"
    rf"|(?P<digits>{_DIGITS})(?:[\s-]?(?P<scale>hundred|thousand|million|billion|trillion|mn|bn|tn|m|b|k)(?![a-z]))?"
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
_CLOCK = re.compile(
    r"(?<![\d:.$,])(?:(?P<noon>上午|下午|晚上|晚间|清晨|凌晨|中午)\s?)?(?P<h>[01]?\d|2[0-4])(?:"
    r"(?:[:.](?P<m>[0-5]\d))?\s?(?P<half>[ap]\.?m(?![a-z])\.?)|:(?P<m1>[0-5]\d)(?![\d%:])"
    r"|[时点](?:(?P<m2>[0-5]?\d)分|(?P<m3>半))?(?![\d间以点]))",
    re.IGNORECASE,
)
_PARTS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_FRACTION = re.compile(
    rf"(?P<low>\d+|{CHINESE_NUMERAL})分之(?P<top>{_DIGITS}|{CHINESE_NUMERAL})"
    r"|(?<![\w-])(?P<n>two|three|four|five|six|seven|eight|nine|[2-9])[\s-](?P<part>thirds|quarters|(?:fif|six|seven|eigh|nin|ten)ths)\b"
    r"|(?<![\w-])(?:a|one)[\s-](?P<one>third|quarter|fifth|sixth|seventh|eighth|ninth|tenth)(?=\sof\b)"
    r"|(?<![\w-])(?P<half>half)(?=\s(?:of|the|its|their|all|his|her)\b)|(?P<zhhalf>半数)"
    rf"|(?P<tenths>{_DIGITS}|[一二三四五六七八九])\s?成(?P<rest>[一二三四五六七八九\d](?!\d))?(?![为立员功果长交人就本都绩熟份品天因])",
    re.IGNORECASE,
)
_ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh",
    "eighth", "ninth", "tenth", "eleventh", "twelfth",
)  # fmt: skip
_ORDINAL = re.compile(
    rf"(?<![\w.])(?P<n>\d{{1,4}})(?:st|nd|rd|th)\b|第\s?(?P<zh>\d+|{CHINESE_NUMERAL})|\b(?P<word>{'|'.join(_ORDINALS)})\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"[\s-]?(?:(?P<points>percentage[\s-]points?\b|per\s?cent[\s-]points?\b|pp\b|%?个?百分点)"
    r"|(?P<basis>basis[\s-]points?\b|bps\b|个?基点)|(?P<percent>%|per\s?cent\b|pct\b))",
    re.IGNORECASE,
)
_BEFORE: tuple[tuple[Bound, re.Pattern[str]], ...] = tuple(
    (bound, re.compile(rf"(?:{phrases})\s*(?:of|an?)?\s*$", re.IGNORECASE))  # type: ignore[misc]  # literals
    for bound, phrases in (
        ("least", r"\bat least|\bno (?:fewer|less) than|\bminimum|至少|不少于|不低于|起码|最少"),
        ("most", r"\bup to|\bat most|\bas many as|\bas much as|\bno more than|\bmaximum|最多|至多|不超过|高达|多达"),
        ("under", r"\b(?:fewer|less) than|\bunder|\bbelow|不到|未满|不足|低于|少于|未达"),
        (
            "over",
            (
                r"\bmore than|\bover|\babove|\bexceed(?:s|ed|ing)?|\bin excess|\bupwards?|\btopp(?:ed|ing)"
                r"|逾|超过|突破|高于|多于|超"
            ),
        ),
        ("near", r"\bnearly|\balmost|\bclose to|\bapproaching|\bjust short|(?<![最附邻靠])近|将近|接近|几近"),
        (
            "about",
            r"\babout|\baround|\broughly|\bapproximately|\bapprox\.?|\bsome|\bestimated|[~≈]|(?<![条合公契签])约|大约|大概|估计",
        ),
    )
)
_AFTER = re.compile(
    r"(?P<over>多(?!少)|余|几(?=[人名个万亿元])|来(?=[人名个年天]))|(?P<least>\+|[\s-](?:plus|or more)\b)",
    re.IGNORECASE,
)
_LATE_SCALES = {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "兆": 10**12}
_MINUS = re.compile(r"(?:(?:^|[\s(（：:，])[-−]|[负]|零下|\bminus\s)$", re.IGNORECASE)
_AFTER_UNIT = re.compile(r"[\u4e00-\u9fff]{0,2}?(?:(?P<least>以上)|(?P<most>以下|以内)|(?P<about>左右|上下))")
_JOIN = re.compile(r"\s?(?:[-–—~～−]|至|到|\b(?:to|or|and)\b|或)\s?", re.IGNORECASE)
_CHANGE = re.compile(r"(?:(?<!range\s)(?<!ranges\s)(?<!ranged\s)(?<!ranging\s)\bfrom|从|由|自)\s*$", re.IGNORECASE)
_BETWEEN = re.compile(r"\bbetween\s*$|介于$", re.IGNORECASE)


def find_quantities(text: str) -> tuple[Quantity, ...]:
    """Every quantity of a text, in order, without overlap; linear in the length of the text."""
    flat, taken, found = flatten(text), Taken(mention.span for mention in find_dates(text)), []
    for link in _LINKS.finditer(flat):
        taken.add(Span(*link.span()))
    for reader in (_clocks, _fractions, _ordinals):
        found += [quantity for quantity in reader(flat) if taken.add(quantity.span)]
    numbers = [quantity for quantity in _numbers(flat) if taken.add(quantity.span)]
    found += _joined(numbers, flat=flat)
    return tuple(replace(q, text=text[q.span.start : q.span.end]) for q in sorted(found, key=lambda q: q.span.start))


def _quantity(value: Fraction, kind: Kind, *, span: tuple[int, int], unit: str = "", weak: bool = False) -> Quantity:
    return Quantity(value=value, kind=kind, unit=unit, span=Span(*span), text="", weak=weak)


def _clocks(flat: str) -> Iterator[Quantity]:
    for match in _CLOCK.finditer(flat):
        hour, minute = int(match["h"]), int(match["m"] or match["m1"] or match["m2"] or (30 if match["m3"] else 0))
        half = (match["half"] or "").lower().replace(".", "")
        late = half == "pm" or match["noon"] in ("下午", "晚上", "晚间")
        hour = hour % 12 + 12 if late and hour <= 12 else hour % 12 if half == "am" else hour
        yield _quantity(Fraction(60 * hour + minute), "clock", span=match.span())


def _fractions(flat: str) -> Iterator[Quantity]:
    for match in _FRACTION.finditer(flat):
        value = _fraction(match)
        if value is not None:
            found = _quantity(100 * value, "percent", span=match.span())
            yield _bounded(found, flat=flat)


def _fraction(match: re.Match[str]) -> Fraction | None:
    if match["low"]:
        low, top = _either(match["low"]), _either(match["top"])
        return top / low if low and top is not None else None
    if match["tenths"]:
        tenths, rest = _either(match["tenths"]), _either(match["rest"] or "0")
        return None if tenths is None or rest is None else tenths / 10 + rest / 100
    if match["part"]:
        part = next(n for n, name in enumerate(_PARTS, 2) if match["part"].lower().startswith(name))
        number = match["n"]
        return (Fraction(number) if number.isdecimal() else read_english(number)) / part
    return Fraction(1, _PARTS.index((match["one"] or "half").lower()) + 2)


def _either(written: str) -> Fraction | None:
    if written in _LATE_SCALES:
        return Fraction(_LATE_SCALES[written])
    return read_digits(written) if written[0].isdecimal() else read_chinese(written)


def _ordinals(flat: str) -> Iterator[Quantity]:
    for match in _ORDINAL.finditer(flat):
        value = _either(match["n"] or match["zh"]) if match["n"] or match["zh"] else None
        if match["word"]:
            value = Fraction(_ORDINALS.index(match["word"].lower()) + 1)
        if value is not None:
            weak = value == 1 or (match["word"] or "").lower() == "second"
            yield _quantity(value, "ordinal", span=match.span(), weak=weak)


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
    if match["mixed"] or match["numeral"]:
        written = match["mixed"] or match["numeral"]
        if match["numeral"] and len(written) == 1 and not is_counted(flat, end):
            return None
        value = read_chinese(written)
        return None if value is None else _Read(value, end, written == "一")
    value, scale = read_digits(match["digits"]), (match["scale"] or "").lower()
    if len(scale) == 1 and not _is_scale(match, flat=flat):
        scale, end = "", match.end("digits")
    glued = re.match(r"[a-z]", flat[end : end + 1], re.IGNORECASE)
    if glued and not scale and (flat[end] == "G" or not unit_after(flat, end)[0]):
        return None  # 5G, 4K, 3D
    return _Read(value * SCALES.get(scale, 1), end)


def _is_scale(match: re.Match[str], *, flat: str) -> bool:
    """Whether a lone letter is a scale: after a currency or decimal, or before a plural; else ``100m`` is a length."""
    letter = match["scale"]
    if money_before(flat, match.start())[0]:
        return True
    if letter.lower() == "m":
        return "." in match["digits"] or re.compile(r"\s(?:people|[a-z]{3,}s)\b").match(flat, match.end()) is not None
    return bool(letter == "k")


def _measured(read: _Read, *, flat: str, start: int) -> Quantity:
    """The number with its sign, bound and unit; the span takes in currency and percent sign, not the nouns."""
    unit, start = money_before(flat, start)
    value, end, bound = read.value, read.end, "exact"
    if _MINUS.search(flat, max(0, start - 8), start):
        value = -value
    if after := _AFTER.match(flat, end):
        bound, end = after.lastgroup or bound, after.end()
        while flat[end : end + 1] in _LATE_SCALES:  # 30多萬
            value, end = value * _LATE_SCALES[flat[end]], end + 1
    kind: Kind = "money" if unit else "count"
    nouns: tuple[str, ...] = ()
    if percent := None if unit else _PERCENT.match(flat, end):
        kind, end = ("percent" if percent["percent"] else "points"), percent.end()
        value = value / 100 if percent["basis"] else value
    elif not unit:
        unit, money_end = money_after(flat, end)
        kind, end = ("money", money_end) if unit else (kind, end)
    if kind == "count":
        unit, nouns = unit_after(flat, end)
    found = Quantity(value, kind, unit, Span(start, end), "", nouns, bound, None, read.weak)  # type: ignore[arg-type]  # the groups are named after the bounds
    return found if bound != "exact" else _bounded(found, flat=flat)


def _bounded(found: Quantity, *, flat: str) -> Quantity:
    start, end = found.span.start, found.span.end
    for bound, pattern in _BEFORE:
        if pattern.search(flat, max(0, start - 24), start):
            return replace(found, bound=bound)
    match = _AFTER_UNIT.match(flat, end)
    return replace(found, bound=match.lastgroup) if match else found  # type: ignore[arg-type]  # as above


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
    change = _CHANGE.search(flat, max(0, low.span.start - 8), low.span.start)
    between = _BETWEEN.search(flat, max(0, low.span.start - 10), low.span.start)
    if change or (gap.strip().lower() == "and" and not between):
        return [low, high]
    span = Span(low.span.start, high.span.end)
    return [replace(low, high=high.value, span=span, weak=False, nouns=high.nouns)]


def _shared_scale(low: Quantity, high: Quantity, *, flat: str) -> Fraction:
    first = re.fullmatch(rf"\D*({_DIGITS})\D*", flat[low.span.start : low.span.end])
    second = re.search(_DIGITS, flat[high.span.start : high.span.end])
    if first is None or second is None or abs(low.value) != read_digits(first[1]):
        return Fraction(1)
    written = read_digits(second.group())
    return abs(high.value) / written if written and abs(low.value) < written < abs(high.value) else Fraction(1)
