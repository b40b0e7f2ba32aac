"""Dates in running English and Chinese text, with their offsets (code points of the text as given).

A date that leaves something out (``6 May``, ``上週二``, ``yesterday``) is resolved against an anchor, the day the text
was published; without an anchor it is kept unresolved, with a ``key`` by which two mentions can still be compared.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from groundwire.core.dates import HOLIDAYS, PARTS, Granularity, day_of, is_past, last_day, nearest, part_of, shifted
from groundwire.core.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL, Taken, legible, read_chinese, read_english
from groundwire.core.quotations import Quotation, find_quotations
from groundwire.core.types import Span

__all__ = ["DateMention", "Granularity", "Quotation", "find_dates", "find_quotations"]


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
class _Reading:
    """What a pattern read: a length of time, exact or not, and how it was written."""

    granularity: Granularity
    start: date | None
    absolute: bool
    key: str
    end: date | None = None


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
    r"(?:(?:公元|西元)?(?P<year>[12]\d{3}|[一二][〇零○一二三四五六七八九]{3})\s?年|(?P<roc>(?:中华)?民国\s?(?:\d{1,3}|元|[〇零○一二三四五六七八九十百]{1,6})\s?年)"
    r"|(?<!\d)(?P<short>1[01]\d|\d{2})年(?=\s?(?:\d{1,2}|[一二三四五六七八九十]{1,3})月)|(?P<rel>大前|大后|去|今|明|前|后)年的?)"
)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_SHIFT = {"last": -1, "past": -1, "previous": -1, "this": 0, "current": 0, "next": 1, "coming": 1,
          "上上": -2, "下下": 2, "上": -1, "本": 0, "这": 0, "下": 1}  # fmt: skip
_REL_YEAR = {"大前": -3, "大后": 3, "前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
_DAY_WORDS = {
    "yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1, "昨": -1, "今": 0, "明": 1, "前": -2, "后": 2,
    "大前": -3, "大后": 3, "before": -2, "after": 2,
}  # fmt: skip
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
    flat, taken, found = legible(text), Taken(), []
    for pattern, reader in _READERS:
        for match in pattern.finditer(flat):
            reading = reader(match, anchor)
            span = Span(*match.span("all"))
            if reading is not None and taken.add(span):
                end = reading.end or last_day(reading.granularity, reading.start)
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


def _calendar(
    year: int | None, month: int, *, day: int | None, anchor: date | None, past: bool = False
) -> _Reading | None:
    """A reading of year, month and day, any of which but the month may be missing; None for a day that is none."""
    if day_of(year or 2024, month, day or 1) is None:
        return None
    key = f"{year or '-'}-{month:02d}" + (f"-{day:02d}" if day else "")
    start = day_of(year, month, day or 1) if year else nearest(month, day, anchor=anchor, past=past)
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
        near = nearest(month, None, anchor=anchor)
        by = _SHIFT[shift]
        later = near is not None and (near.month == anchor.month or (near > anchor) != (by > 0)) and by != 0
        year = str((near.year if near else anchor.year) + (by if later else 0))
        start = _calendar(int(year), month, day=None, anchor=anchor)
        return start and _Reading("month", start.start, absolute=False, key=f"{shift} {month}")
    if within := _group(match, "within").lower():  # on Oct. 7 last year
        return _within_year(_SHIFT[within], month, day=int(day) if day else None, anchor=anchor)
    return _calendar(
        int(year) if year else None, month, day=int(day) if day else None, anchor=anchor, past=is_past(match)
    )


def _within_year(by: int, month: int, *, day: int | None, anchor: date | None) -> _Reading | None:
    """A month or day of last, this or next year."""
    reading = _calendar(anchor.year + by if anchor else 2024, month, day=day, anchor=None)
    plain = _calendar(None, month, day=day, anchor=None)
    if reading is None or plain is None:
        return None
    return _Reading(
        reading.granularity, reading.start if anchor else None, absolute=False, key=f"year{by:+d} {plain.key}"
    )


def _chinese_year(match: re.Match[str], anchor: date | None) -> tuple[int | None, str]:
    """The year and how it was written; (None, key) for a relative one without anchor, (None, "") for none."""
    if written := _group(match, "year"):
        year = int(written) if written.isdecimal() else _number(written.replace("零", "〇"))
        return year, str(year)
    if written := _group(match, "roc") or _group(match, "short"):
        if match.groupdict().get("short") and len(written) < 3:
            return None, f"year?{written}"  # 2022 or the 22nd year of the republic
        counted = re.sub(r"[\s年中华民国]", "", written)
        number = 1 if counted == "元" else _number(counted)
        return 1911 + number, str(1911 + number)
    if written := _group(match, "rel"):
        return (anchor.year + _REL_YEAR[written] if anchor else None), f"year{_REL_YEAR[written]:+d}"
    return None, ""


def _chinese(match: re.Match[str], anchor: date | None) -> _Reading | None:
    year, written = _chinese_year(match, anchor)
    month, day = _number(match["m"]), _number(match["day"]) if match["day"] else None
    if not written.startswith("year"):
        return _calendar(year, month, day=day, anchor=anchor, past=is_past(match))
    reading, plain = _calendar(year, month, day=day, anchor=None), _calendar(None, month, day=day, anchor=None)
    if reading is None or plain is None:
        return None
    return _Reading(reading.granularity, reading.start, absolute=False, key=f"{written} {plain.key}")


def _chinese_whole_year(match: re.Match[str], anchor: date | None) -> _Reading | None:
    year, key = _chinese_year(match, anchor)
    start = day_of(year, 1, 1) if year else None
    return _Reading("year", start, absolute=not key.startswith("year"), key=key)


def _quarter(match: re.Match[str], anchor: date | None) -> _Reading | None:
    written = (_group(match, "q") or _group(match, "q2")).lower()
    number = _QUARTERS.get(written) or int(written)
    year, key = _chinese_year(match, anchor)
    relative = key.startswith("year") or not key
    at = year or (anchor.year if anchor and not key else None)
    return _Reading("quarter", day_of(at, 3 * number - 2, 1) if at else None, not relative, f"{key or '-'}-q{number}")


def _relative(match: re.Match[str], anchor: date | None) -> _Reading | None:
    length, by = _LENGTHS[match["length"].lower().rstrip("s")], _SHIFT[match["shift"].lower()]
    return _Reading(length, shifted(anchor, length=length, by=by), absolute=False, key=f"{length}{by:+d}")


def _ago(match: re.Match[str], anchor: date | None) -> _Reading | None:
    length, by = _LENGTHS[match["length"].lower().rstrip("s")], -_number(match["n"].lower())
    by = by or -1
    return _Reading(length, shifted(anchor, length=length, by=by), absolute=False, key=f"{length}{by:+d}")


def _day_word(match: re.Match[str], anchor: date | None) -> _Reading | None:
    by = _DAY_WORDS[match["word"].lower()]
    return _Reading("day", shifted(anchor, length="day", by=by), absolute=False, key=f"day{by:+d}")


def _weekday(match: re.Match[str], anchor: date | None) -> _Reading | None:
    name, shift = match["weekday"].lower(), _group(match, "shift").lower()
    number = _WEEKDAYS.index(name) if name in _WEEKDAYS else "一二三四五六日".index(name.replace("天", "日"))
    key = f"weekday {_SHIFT.get(shift, '')} {number}"
    if anchor is None:
        return _Reading("day", None, absolute=False, key=key)
    if name not in _WEEKDAYS and shift:  # 上週二: the Tuesday of the week before
        monday = shifted(anchor, length="week", by=_SHIFT[shift])
        return _Reading("day", shifted(monday, length="day", by=number), absolute=False, key=key)
    back = (anchor.weekday() - number) % 7
    by = (7 - back) if shift in ("next", "coming") else -(back or 7) if shift in ("last", "past") else -back
    return _Reading("day", shifted(anchor, length="day", by=by), absolute=False, key=key)


def _bare_day(match: re.Match[str], anchor: date | None) -> _Reading | None:
    day = int(match["day"])
    if not 1 <= day <= 31:
        return None
    if anchor is None:
        return _Reading("day", None, absolute=False, key=f"---{day:02d}")
    months = [shifted(anchor, length="month", by=by) for by in (-1, 0, 1)]
    options = [d for m in months if m and (d := day_of(m.year, m.month, day))]
    return _Reading(
        "day", min(options, key=lambda d: abs((d - anchor).days), default=None), absolute=False, key=f"---{day:02d}"
    )


def _month_day(match: re.Match[str], anchor: date | None) -> _Reading | None:
    by, day = _SHIFT[match["shift"]], _number(match["day"])
    month = shifted(anchor, length="month", by=by)
    start = day_of(month.year, month.month, day) if month else None
    return _Reading("day", start, absolute=False, key=f"month{by:+d} {day:02d}")


def _lunar(match: re.Match[str], _: date | None) -> _Reading | None:
    """A day of the lunar calendar, which is compared as it is written."""
    month, day = _group(match, "lunar") or "正", _group(match, "day")
    return _Reading("day" if day else "month", None, absolute=False, key=f"lunar {month} {day.removeprefix('初')}")


def _holiday(match: re.Match[str], anchor: date | None) -> _Reading | None:
    month, day = HOLIDAYS[match["holiday"].lower().replace("’", "'")]
    year, key = _chinese_year(match, anchor)
    if key.startswith("year"):
        return _within_year(int(key.removeprefix("year")), month, day=day, anchor=anchor) if "?" not in key else None
    return _calendar(year, month, day=day, anchor=anchor)


def _part(match: re.Match[str], anchor: date | None) -> _Reading | None:
    """A half, a season or a third of a year, or a third of a month."""
    part = PARTS[match["part"].lower()]
    year, key = _chinese_year(match, anchor)
    if shift := _group(match, "within").lower():
        year, key = (anchor.year + _SHIFT[shift] if anchor else None), f"year{_SHIFT[shift]:+d}"
    month = _month_number(match["month"]) if _group(match, "month") else _number(_group(match, "m") or "0") or None
    if (month and day_of(2024, month, 1) is None) or not match["all"][-1:].strip(" -"):
        return None
    at = year or (anchor.year if anchor and not key else None)
    if month and anchor and not key:
        near = nearest(month, None, anchor=anchor, past=is_past(match))
        at = near.year if near else None
    if shift := _group(match, "shift"):
        first = shifted(anchor, length="month", by=_SHIFT[shift])
        at, month, key = (
            (first.year, first.month, f"month{_SHIFT[shift]:+d}") if first else (None, None, f"month{_SHIFT[shift]:+d}")
        )
    start, end = part_of(at, month, part=part) if at else (None, None)
    written = f"{key or '-'}-{month:02d}" if month and not shift else key or "-"
    name: Granularity = "half" if part in "12" else "part"
    return _Reading(name, start, bool(key) and key[0] in "12", f"{written} {part}", end)


def _year(match: re.Match[str], _: date | None) -> _Reading | None:
    return _Reading("year", day_of(int(match["year"]), 1, 1), absolute=True, key=match["year"])


def _decade(match: re.Match[str], _: date | None) -> _Reading | None:
    year = int(_group(match, "year") or 1900 + _number(match["short"]))
    return _Reading("decade", day_of(year, 1, 1), absolute=True, key=f"{year}s")


def _fiscal(match: re.Match[str], _: date | None) -> _Reading | None:
    year = int(match["year"]) if len(match["year"]) == 4 else 2000 + int(match["year"])
    return _Reading("year", day_of(year, 1, 1), absolute=True, key=str(year))


_WITHIN = r"(?P<within>(?i:last|this|next))\s(?i:year)\b"
_OF_MONTH_OR_YEAR = rf"(?:{_MONTH})?(?:(?:(?<=[\s-])|,?\s)(?:{_YEAR}|{_WITHIN}))?"
_LUNAR = r"正|腊|冬|[一二三四五六七八九十]{1,2}"
_ZH_THIRD = r"[上中下]旬|初(?![一二三四五六七八九十])|[底末]|中(?![国华共美日央东南西北])"


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
        *(
            (rf"(?:农历|阴历|旧历)\s?(?P<lunar>{_LUNAR}|\d{{1,2}})月(?:(?P<day>初?{_ZH_NUMBER})日?)?", _lunar),
            (rf"(?P<lunar>{_LUNAR})月(?P<day>初[一二三四五六七八九十])", _lunar),
            (r"(?<![今去明])大?年(?P<day>初[一二三四五六七八九十])", _lunar),
            (rf"\b(?P<holiday>(?i:{'|'.join(h for h in HOLIDAYS if h.isascii())}))(?:(?:,\s?|\s){_YEAR})?", _holiday),
            (rf"(?:{_ZH_YEAR}\s?)?(?P<holiday>{'|'.join(h for h in HOLIDAYS if not h.isascii())})", _holiday),
            (rf"\bH(?P<part>[12])(?:\s|,\s|\sof\s)?{_YEAR}", _part),
            (rf"\b(?P<part>(?i:first|second)\shalf)\sof\s(?:{_YEAR}|the\syear|{_WITHIN})", _part),
            (rf"\b(?P<part>(?i:spring|summer|autumn|fall|winter))(?:\sof)?\s(?:{_YEAR}|{_WITHIN})", _part),
            (rf"\b(?P<part>(?i:early|mid|late))[\s-](?:in\s)?{_OF_MONTH_OR_YEAR}", _part),
            (rf"\b(?P<part>(?i:start|beginning|end))\sof\s{_OF_MONTH_OR_YEAR}", _part),
            (r"\bFY\s?(?P<year>20\d\d|\d\d)\b", _fiscal),
            (rf"(?:{_ZH_YEAR}\s?)?(?P<part>[上下]半)年(?!度)", _part),
            (rf"{_ZH_YEAR}\s?(?P<part>[春夏秋冬])[天季]", _part),
            (rf"(?:{_ZH_YEAR}\s?)?(?<![\d.])(?P<m>{_ZH_NUMBER})\s?月份?(?P<part>{_ZH_THIRD})", _part),
            (rf"(?P<shift>上上|下下|上|本|这|下)个?月(?P<part>{_ZH_THIRD})", _part),
            (rf"{_ZH_YEAR}(?P<part>{_ZH_THIRD})", _part),
            (r"(?<![\d年〇零○一二三四五六七八九十百几数去今明前后])年(?P<part>[初底])", _part),
            (r"(?P<shift>上上|下下|上|本|这|下)个?月的?(?P<day>\d{1,2}|[一二三四五六七八九十]{1,3})[日号]", _month_day),
        ),
        (rf"\b{_MONTH}\.?\s{_DAY}(?:(?:,\s?|\s){_YEAR}|,?\s(?:of\s)?{_WITHIN})?", _english),
        (rf"(?<![\d.,$])\b{_DAY}\s(?:of\s)?{_MONTH}(?:,?\s{_YEAR}|,?\s(?:of\s)?{_WITHIN})?", _english),
        (rf"\b{_MONTH}(?:,?\s|\sof\s){_WITHIN}", _english),
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
        (r"\b(?i:the|early|late|mid)[\s-](?P<all>['’‘](?P<short>[2-9]0)s\b)", _decade),
        (r"(?<![\d一二三四五六七八九十])(?P<short>[2-9]0|[二三四五六七八九]十)\s?年代", _decade),
        (rf"{_ZH_YEAR}(?![代轻来级])", _chinese_whole_year),
        (r"(?P<shift>上上|下下|上|本|这|下)个?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])", _weekday),
        (r"(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])(?![年岁月])", _weekday),
        (r"(?P<shift>上上|下下|上|本|这|下)(?:个)?(?P<length>周|星期|月|季)(?![刊报末边围遭密])", _relative),
        (r"(?P<word>大前|大后|昨|今|明|前|后)(?:天|日(?!本)|晨|早|晚)", _day_word),
        (rf"(?<!\d)(?P<n>\d{{1,3}}|{CHINESE_NUMERAL})个?(?P<length>天|日|周|星期|月|年)(?:以)?前(?![三几十\d])", _ago),
        (rf"(?i:\b(?P<shift>last|past|this|next|coming)\s){_WEEKDAY}\b", _weekday),
        (rf"\b{_WEEKDAY}\b", _weekday),
        (r"(?i:\b(?P<shift>last|this|next|previous|current)\s(?P<length>week|month|quarter|year|decade)\b)", _relative),
        (r"(?i:\b(?:the\s)?day\s(?P<word>before|after)\s(?:yesterday|tomorrow)\b)", _day_word),
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
