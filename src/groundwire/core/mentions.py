"""Dates and quotations in running English and Chinese text, with their offsets (code points of the text as given).

A date that leaves something out (``6 May``, ``上週二``, ``yesterday``) is resolved against an anchor, the day the text
was published; without an anchor it is kept unresolved, with a ``key`` by which two mentions can still be compared.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Literal

from groundwire.core.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL, Taken, flatten, read_chinese, read_english
from groundwire.core.types import Span

Granularity = Literal["day", "week", "month", "quarter", "year", "decade"]


@dataclass(frozen=True, slots=True)
class DateMention:
    """A date in a text; ``start`` and ``end`` are inclusive and None where an anchor was needed and not given.

    ``absolute`` says that the text itself names the year; ``key`` is what was written (``--05-06``, ``day-1``).
    """

    span: Span
    text: str
    granularity: Granularity
    start: date | None
    end: date | None
    absolute: bool
    key: str


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words between quotation marks: ``span`` is the inside, ``outer`` includes the marks."""

    span: Span
    outer: Span
    text: str


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a pattern read: a length of time, exact or not, and how it was written."""

    granularity: Granularity
    start: date | None
    absolute: bool
    key: str


_Reader = Callable[["re.Match[str]", date | None], _Reading | None]
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>Jan(?:uary|\.)?|Feb(?:ruary|\.)?|Mar(?:ch|\.)?|Apr(?:il|\.)?|May|June?|July?|Aug(?:ust|\.)?|"
    r"Sept?(?:ember|\.)?|Oct(?:ober|\.)?|Nov(?:ember|\.)?|Dec(?:ember|\.)?)(?![a-z])"
)
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = r"(?P<weekday>Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)"
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?(?![\d%:])"
_YEAR = r"(?P<year>1[0-9]\d\d|20\d\d)(?!\d)"
_ZH_NUMBER = r"\d{1,2}|[一二三四五六七八九十]{1,3}"
_ZH_YEAR = (
    r"(?:(?:公元|西元)?(?P<year>[12]\d{3}|[一二][〇零○一二三四五六七八九]{3})\s?年|(?P<roc>(?:中华)?民国\s?(?:\d{1,3}|元)\s?年)"
    r"|(?<!\d)(?P<short>1[01]\d|\d{2})年(?=\s?(?:\d{1,2}|[一二三四五六七八九十]{1,3})月)|(?P<rel>去|今|明|前|后)年)"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_SHIFT = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
          "上": -1, "本": 0, "这": 0, "下": 1}  # fmt: skip
_REL_YEAR = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_DAY_WORDS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "昨": -1, "今": 0, "明": 1, "前": -2, "后": 2}
_LENGTHS: dict[str, Granularity] = {
    "day": "day", "week": "week", "month": "month", "quarter": "quarter", "year": "year", "decade": "decade",
    "天": "day", "日": "day", "周": "week", "星期": "week", "月": "month", "季": "quarter", "年": "year",
}  # fmt: skip


def find_dates(text: str, *, anchor: date | None = None) -> tuple[DateMention, ...]:
    """Every date of a text, in order, without overlap; linear in the length of the text.

    Args:
        text: running text.
        anchor: the day against which relative and partial dates are read; None leaves them unresolved.
    """
    flat, taken, found = flatten(text), Taken(), []
    for pattern, reader in _READERS:
        for match in pattern.finditer(flat):
            reading = reader(match, anchor)
            span = Span(*match.span("all"))
            if reading is not None and taken.add(span):
                end = _last_day(reading.granularity, reading.start)
                mention = DateMention(
                    span,
                    text[span.start : span.end],
                    reading.granularity,
                    reading.start,
                    end,
                    reading.absolute,
                    reading.key,
                )
                found.append(mention)
    return tuple(sorted(found, key=lambda mention: mention.span.start))


def _last_day(granularity: Granularity, start: date | None) -> date | None:
    if start is None or granularity == "day":
        return start
    if granularity == "week":
        return start + timedelta(days=min(6, (date.max - start).days))
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[granularity]
    last = start.year * 12 + start.month - 1 + months - 1
    year, month = min(last // 12, 9999), last % 12 + 1
    return date(year, month, monthrange(year, month)[1])


def _day(year: int, month: int, day: int) -> date | None:
    if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
        return date(year, month, day)
    return None


def _shifted(anchor: date | None, *, length: Granularity, by: int) -> date | None:
    """The first day of the unit of time that lies ``by`` units after the anchor's."""
    if anchor is None:
        return None
    if length in ("day", "week"):
        first = anchor if length == "day" else anchor - timedelta(days=min(anchor.weekday(), (anchor - date.min).days))
        ordinal = first.toordinal() + by * (1 if length == "day" else 7)
        return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None
    if length in ("year", "decade"):
        return _day(anchor.year + by * (1 if length == "year" else 10), 1, 1)
    step = 1 if length == "month" else 3
    months = anchor.year * 12 + (anchor.month - 1) // step * step + by * step
    return _day(months // 12, months % 12 + 1, 1)


def _nearest(month: int, day: int | None, *, anchor: date | None) -> date | None:
    """The month or day of that name which lies nearest to the anchor."""
    if anchor is None:
        return None
    options = (_day(anchor.year + shift, month, day or 15) for shift in (-1, 0, 1))
    best = min((d for d in options if d), key=lambda d: (abs((d - anchor).days), d), default=None)
    return best if best is None or day else best.replace(day=1)


def _calendar(year: int | None, month: int, *, day: int | None, anchor: date | None) -> _Reading | None:
    """A reading of year, month and day, any of which but the month may be missing; None for a day that is none."""
    if _day(year or 2024, month, day or 1) is None:
        return None
    key = f"{year or '-'}-{month:02d}" + (f"-{day:02d}" if day else "")
    start = _day(year, month, day or 1) if year else _nearest(month, day, anchor=anchor)
    return _Reading("day" if day else "month", start, year is not None, key)


def _month_number(name: str) -> int:
    return _MONTHS.index(name.lower()[:3]) + 1


def _number(written: str) -> int:
    if written.isdecimal():
        return int(written)
    value = read_chinese(written) if re.match(CHINESE_NUMERAL, written) else read_english(written)
    return int(value) if value is not None and value < 10**6 else 0


def _group(match: re.Match[str], name: str) -> str:
    return match.groupdict().get(name) or ""


def _numeric(match: re.Match[str], anchor: date | None) -> _Reading | None:
    return _calendar(int(match["year"]), int(match["m"]), day=int(match["day"]), anchor=anchor)


def _english(match: re.Match[str], anchor: date | None) -> _Reading | None:
    month, day, year = _month_number(match["month"]), _group(match, "day"), _group(match, "year")
    shift = _group(match, "shift").lower()
    if shift and anchor and not year:
        near = _nearest(month, None, anchor=anchor)
        by = _SHIFT[shift]
        later = near is not None and (near.month == anchor.month or (near > anchor) != (by > 0)) and by != 0
        year = str((near.year if near else anchor.year) + (by if later else 0))
        start = _calendar(int(year), month, day=None, anchor=anchor)
        return start and _Reading("month", start.start, absolute=False, key=f"{shift} {month}")
    return _calendar(int(year) if year else None, month, day=int(day) if day else None, anchor=anchor)


def _chinese_year(match: re.Match[str], anchor: date | None) -> tuple[int | None, str]:
    """The year and how it was written; (None, key) for a relative one without anchor, (None, "") for none."""
    if written := _group(match, "year"):
        year = int(written) if written.isdecimal() else _number(written.replace("零", "〇"))
        return year, str(year)
    if written := _group(match, "roc") or _group(match, "short"):
        number = 1 if "元" in written else int("".join(re.findall(r"\d", written)))
        return 1911 + number, str(1911 + number)
    if written := _group(match, "rel"):
        return (anchor.year + _REL_YEAR[written] if anchor else None), f"year{_REL_YEAR[written]:+d}"
    return None, ""


def _chinese(match: re.Match[str], anchor: date | None) -> _Reading | None:
    year, written = _chinese_year(match, anchor)
    month, day = _number(match["m"]), _number(match["day"]) if match["day"] else None
    if not written.startswith("year"):
        return _calendar(year, month, day=day, anchor=anchor)
    reading, plain = _calendar(year, month, day=day, anchor=None), _calendar(None, month, day=day, anchor=None)
    if reading is None or plain is None:
        return None
    return _Reading(reading.granularity, reading.start, absolute=False, key=f"{written} {plain.key}")


def _chinese_whole_year(match: re.Match[str], anchor: date | None) -> _Reading | None:
    year, key = _chinese_year(match, anchor)
    start = _day(year, 1, 1) if year else None
    return _Reading("year", start, absolute=not key.startswith("year"), key=key)


def _quarter(match: re.Match[str], anchor: date | None) -> _Reading | None:
    written = (_group(match, "q") or _group(match, "q2")).lower()
    number = _QUARTERS.get(written) or int(written)
    year, key = _chinese_year(match, anchor)
    relative = key.startswith("year") or not key
    at = year or (anchor.year if anchor and not key else None)
    return _Reading("quarter", _day(at, 3 * number - 2, 1) if at else None, not relative, f"{key or '-'}-q{number}")


def _relative(match: re.Match[str], anchor: date | None) -> _Reading | None:
    length, by = _LENGTHS[match["length"].lower().rstrip("s")], _SHIFT[match["shift"].lower()]
    return _Reading(length, _shifted(anchor, length=length, by=by), absolute=False, key=f"{length}{by:+d}")


def _ago(match: re.Match[str], anchor: date | None) -> _Reading | None:
    length, by = _LENGTHS[match["length"].lower().rstrip("s")], -_number(match["n"].lower())
    by = by or -1
    return _Reading(length, _shifted(anchor, length=length, by=by), absolute=False, key=f"{length}{by:+d}")


def _day_word(match: re.Match[str], anchor: date | None) -> _Reading | None:
    by = _DAY_WORDS[match["word"].lower()]
    return _Reading("day", _shifted(anchor, length="day", by=by), absolute=False, key=f"day{by:+d}")


def _weekday(match: re.Match[str], anchor: date | None) -> _Reading | None:
    name, shift = match["weekday"].lower(), _group(match, "shift").lower()
    number = _WEEKDAYS.index(name) if name in _WEEKDAYS else "一二三四五六日".index(name.replace("天", "日"))
    key = f"weekday {_SHIFT.get(shift, '')} {number}"
    if anchor is None:
        return _Reading("day", None, absolute=False, key=key)
    if name not in _WEEKDAYS and shift:  # 上週二: the Tuesday of the week before
        monday = _shifted(anchor, length="week", by=_SHIFT[shift])
        return _Reading("day", _shifted(monday, length="day", by=number), absolute=False, key=key)
    back = (anchor.weekday() - number) % 7
    by = (7 - back) if shift in ("next", "coming") else -(back or 7) if shift in ("last", "past") else -back
    return _Reading("day", _shifted(anchor, length="day", by=by), absolute=False, key=key)


def _bare_day(match: re.Match[str], anchor: date | None) -> _Reading | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    if anchor is None:
        return _Reading("day", None, absolute=False, key=f"---{day:02d}")
    months = [_shifted(anchor, length="month", by=by) for by in (-1, 0, 1)]
    options = [d for m in months if m and (d := _day(m.year, m.month, day))]
    return _Reading(
        "day", min(options, key=lambda d: abs((d - anchor).days), default=None), absolute=False, key=f"---{day:02d}"
    )


def _year(match: re.Match[str], _: date | None) -> _Reading | None:
    return _Reading("year", _day(int(match["year"]), 1, 1), absolute=True, key=match["year"])


def _decade(match: re.Match[str], _: date | None) -> _Reading | None:
    return _Reading("decade", _day(int(match["year"]), 1, 1), absolute=True, key=f"{match['year']}s")


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern if "?P<all>" in pattern else rf"(?P<all>{pattern})")


_MEASURED = (  # what makes a bare number of four digits a count
    r"(?!\s?(?:people|men|women|children|%|percent|per cent|km|m\b|[a-z]{3,}(?<!wa)(?<!thi)(?<!ha)(?<!plu)s\b"
    r"|[人名位件元亿万个家公米吨克度次天小户辆栋座间张份项头条坪票席字页])|,\d|\.\d|[a-z])"
)
_LED = r"\b(?i:in|since|until|till|during|before|early|late|mid|year)[\s-]"
_READERS: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (_compile(pattern), reader)
    for pattern, reader in (
        (r"(?<![\d./-])(?P<year>[12]\d{3})(?P<sep>[-/.])(?P<m>\d{1,2})(?P=sep)(?P<day>\d{1,2})(?![\d-])", _numeric),
        (rf"\b{_MONTH}\.?\s{_DAY}(?:(?:,\s?|\s){_YEAR})?", _english),
        (rf"(?<![\d.,$])\b{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR})?", _english),
        (rf"\b{_MONTH}(?:,?\s|\sof\s){_YEAR}", _english),
        (
            (
                rf"(?:{_ZH_YEAR}\s?)?(?<![\d.])(?P<m>{_ZH_NUMBER})\s?月(?:份)?"
                r"(?:\s?(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})\s?[日号])?"
            ),
            _chinese,
        ),
        (r"\b(?P<year>[12]\d{3})\s?Q(?P<q>[1-4])\b", _quarter),
        (rf"(?:{_ZH_YEAR}\s?第?|第)(?P<q>[一二三四1-4])季度?", _quarter),
        (
            (
                r"\b(?:Q(?P<q>[1-4])|(?P<q2>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)[\s-]quarter)\b"
                rf"(?:(?:,?\s|\sof\s|\sin\s){_YEAR})?"
            ),
            _quarter,
        ),
        (r"(?<!\d)(?P<year>1[0-9]\d0|20\d0)(?:s\b|\s?年代)", _decade),
        (rf"{_ZH_YEAR}(?![代轻来级])", _chinese_whole_year),
        (r"(?P<shift>上|本|这|下)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday),
        (r"(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![年岁月])", _weekday),
        (r"(?P<shift>上|本|这|下)(?:个)?(?P<length>周|星期|月|季)(?![刊报末边围遭密])", _relative),
        (r"(?P<word>昨|今|明|前|后)(?:天|日(?!本)|晨|早|晚)", _day_word),
        (rf"(?<!\d)(?P<n>\d{{1,3}}|{CHINESE_NUMERAL})个?(?P<length>天|日|周|星期|月|年)(?:以)?前(?![三几十\d])", _ago),
        (rf"(?i:\b(?P<shift>last|past|this|next|coming)\s){_WEEKDAY}\b", _weekday),
        (rf"\b{_WEEKDAY}\b", _weekday),
        (r"(?i:\b(?P<shift>last|this|next|previous|current)\s(?P<length>week|month|quarter|year|decade)\b)", _relative),
        (r"(?i:\b(?P<word>yesterday|today|tonight|tomorrow)\b)", _day_word),
        (
            (
                rf"(?i:(?P<n>\b\d{{1,3}}|{ENGLISH_NUMERAL}|\ban?)\s(?P<length>days?|weeks?|months?|years?|decades?)"
                r"\s(?:ago|earlier)\b)"
            ),
            _ago,
        ),
        (rf"(?i:\b(?P<shift>last|this|next)\s){_MONTH}", _english),
        (rf"\b(?i:in|since|until|till|early|late|mid|through|during)[\s-](?P<all>{_MONTH})", _english),
        (r"\b(?P<month>January|February|April|June|July|August|September|October|November|December)\b", _english),
        (r"(?<![\d月.,:/-])(?P<day>[1-3]?\d)日(?![内间来后前游本圆元报])", _bare_day),
        (rf"{_LED}(?P<all>{_YEAR})(?!\s?%|[.,]\d|[a-z])", _year),
        (rf"(?<![\w.,$€£¥#/-]){_YEAR}{_MEASURED}", _year),
    )
)


# --- quotations -------------------------------------------------------------------------------------------------------

_PAIRS = {"“": "”", "„": "“", "「": "」", "『": "』", "«": "»", "﹁": "﹂", "﹃": "﹄", "〝": "〞"}
_CLOSERS = {"”": "“", "」": "「", "』": "『", "»": "«", "﹂": "﹁", "﹄": "﹃", "〞": "〝"}
_LONGEST_SINGLE = 300


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """Every quotation of a text, outer ones before those inside them; one that is not closed is left out.

    Read are ``"…"``, ``“…”``, ``‘…’``, ``'…'``, ``「…」``, ``『…』``, ``«…»`` and the vertical forms. A straight mark
    does not reach over a line end, a single one no further than 300 characters, and an apostrophe is none.
    """
    found = [*_paired(text), *_straight(text), *_single(text)]
    quotations = [
        Quotation(Span(start + 1, end), Span(start, end + 1), text[start + 1 : end])
        for start, end in found
        if text[start + 1 : end].strip()
    ]
    return tuple(sorted(quotations, key=lambda quotation: (quotation.outer.start, -quotation.outer.end)))


def _paired(text: str) -> list[tuple[int, int]]:
    """Pairs of marks that differ, by a stack; a closing mark drops what was opened inside it and never closed."""
    opened: dict[str, list[int]] = {mark: [] for mark in _PAIRS}
    found = []
    for position, character in enumerate(text):
        if character in _PAIRS and not (character == "“" and opened["„"]):
            opened[character].append(position)
        elif (mark := _CLOSERS.get(character)) and opened[mark]:
            start = opened[mark].pop()
            found.append((start, position))
        elif character == "“" and opened["„"]:
            found.append((opened["„"].pop(), position))
    return found


def _straight(text: str) -> list[tuple[int, int]]:
    found, offset = [], 0
    for line in text.splitlines(keepends=True):
        marks = [m.start() for m in re.finditer(r'["＂]', line)]
        found += [(offset + a, offset + b) for a, b in zip(marks[::2], marks[1::2], strict=False)]
        offset += len(line)
    return found


def _single(text: str) -> list[tuple[int, int]]:
    found, last = [], -1
    for opening in re.finditer(r"(?<![\w'’)])['‘](?=[\w…\[(])(?!\d\ds)", text):
        if opening.start() < last:
            continue
        window = text[opening.end() : opening.end() + _LONGEST_SINGLE]
        # students’ work: after an s, a mark before a small letter is more likely an apostrophe
        closing = re.search(r"(?<=[^\s‘'])['’](?![\w'’])(?!(?<=s['’])\s[a-z])", window.split("\n", 1)[0])
        if closing:
            last = opening.end() + closing.start()
            found.append((opening.start(), last))
    return found
