"""Dates as people write them, read or refused with a reason; never guessed."""

from __future__ import annotations

import math
import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Literal

Granularity = Literal["day", "week", "month", "quarter", "half", "part", "year", "decade"]
DateOrder = Literal["day", "month"]

FIRST_YEAR, LAST_YEAR = 1000, 2200
_ROC_OFFSET = 1911
"""Year 1 of the Republic of China (民國元年) is 1912."""


@dataclass(frozen=True, slots=True)
class DateReading:
    """A date, or None with the reason; with a date, ``reason`` is what had to be decided, mostly ``""``."""

    value: date | None
    reason: str = ""


_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_SLIP = 1  # days: a text may be dated in another zone
_PARTS = {
    "early": (1, 4), "mid": (5, 8), "late": (9, 12), "1": (1, 6), "2": (7, 12), "spring": (3, 5), "summer": (6, 8),
    "autumn": (9, 11),
}  # fmt: skip
_NUMERALS = {numeral: index for index, numeral in enumerate("〇一二三四五六七八九")}
_NUMERALS |= {"零": 0, "○": 0, "元": 1}

_WEEKDAY = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\.?,?\s+)?"
_ZONE = r"(?:\s*(?:z|utc|gmt|[a-z]{2,4}t|[+-]\d{2}:?\d{2}))?(?:\s*\([a-z /_+-]{1,40}\))?"
_CLOCK = r"\d{1,2}[:.時时點点]\d{2}(?:[:.分]\d{2})?(?:[.,]\d+)?秒?分?\s*(?:[ap]\.?m\.?)?" + _ZONE
# What may follow a date: a weekday in Chinese, a time of day.
_TAIL = (
    r"\s*(?:[(（]?(?:星期|週|周|禮拜|礼拜)[一二三四五六日天][)）]?|[(（][一二三四五六日天][)）])?"
    r"[\s,T-]*(?:at\s+|上午|下午|早上|晚上|中午|凌晨)?\s*"
)
_REST = re.compile(_TAIL + rf"(?:{_CLOCK})?\s*$", re.IGNORECASE)

_MONTH_NAME = rf"(?P<name>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})\.?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})(?!\d)",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:T?\d{4}(?:\d{2})?Z?)?(?!\d)",
        r"(?:(?:西元|公元)\s*)?(?P<year>\d{4})\s*[年년]\s*(?P<month>\d{1,2})\s*[月월]\s*(?P<day>\d{1,2})\s*[日號号일]",
        rf"{_WEEKDAY}{_MONTH_NAME}\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})(?!\d)",
        rf"{_WEEKDAY}{_MONTH_NAME}\s+(?P<day>\d{{1,2}})\s+{_CLOCK}\s+(?P<year>\d{{4}})(?!\d)",
        rf"{_WEEKDAY}(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[\s-]+(?:of\s+)?{_MONTH_NAME},?[\s-]+(?P<year>\d{{4}})(?!\d)",
    )
)
_ROC = re.compile(
    r"(?:(?:中華)?民國\s*(?P<named>\d{1,3}|元)|(?P<bare>\d{3}))\s*[年/.-]\s*(?P<month>\d{1,2})\s*[月/.-]\s*(?P<day>\d{1,2})(?!\d)\s*日?"
)
_NUMERIC = re.compile(r"(?P<first>\d{1,2})(?P<mark>[-/.])(?P<second>\d{1,2})(?P=mark)(?P<year>\d{2,4})(?!\d)")
_CHINESE_NUMBER = re.compile(rf"[{''.join(_NUMERALS)}十廿卅百]+(?=\s*[年月日號号])")
_WITHOUT_DAY = re.compile(r"\d{4}(?:\s*[-/.年]\s*(?:\d{1,2}\s*月?)?)?$")
_WEEK = re.compile(r"(\d{4}-?W\d{2}-?\d)")
_EPOCH_DIGITS = re.compile(r"\d{9,10}|\d{12,13}|\d{15,16}")
_COMPACT = re.compile(r"(?P<day>(?:19|20)\d{6})(?P<hour>\d{2})(?:(?P<minute>\d{2})(?P<second>\d{2})?)?")
_DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
_LARGEST = 10**17
_FIRST_EPOCH_YEAR, _LAST_EPOCH_YEAR = 1990, 2100
_LONGEST = 100
_EPOCHS = ((1e8, 1e10, 1.0, "seconds"), (1e11, 1e13, 1e3, "milliseconds"), (1e14, 1e16, 1e6, "microseconds"))


def read_date(value: object, *, order: DateOrder | None = None) -> DateReading:
    """Read one date, as it is written: a time of day and its zone are left off, not converted.

    Args:
        value: a string, a number (seconds, milliseconds or microseconds since 1970, or 20240506) or a date.
        order: what comes first in ``5/6/2024``; without it such a date is refused, unless one part is above 12.

    Returns:
        A year outside 1000 to 2200, an impossible day and a date without a day or a full year are refused as well.
    """
    if isinstance(value, datetime):
        return DateReading(value.date())
    if isinstance(value, date):
        return DateReading(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return DateReading(None, "no date given" if value is None else f"a {type(value).__name__} is no date")
    if isinstance(value, str):
        return _read_text(value, order)
    return _read_number(value)


def _read_text(value: str, order: DateOrder | None) -> DateReading:
    text = unicodedata.normalize("NFKC", value.translate(_DASHES)).strip()
    if not text:
        return DateReading(None, "no date given")
    if len(text) > _LONGEST:
        return DateReading(None, f"{_quoted(text)} is too long for a date")
    if _EPOCH_DIGITS.fullmatch(text):
        return _read_number(int(text))
    text = _CHINESE_NUMBER.sub(lambda found: _chinese_number(found.group()), text)
    attempts: tuple[Callable[[str], DateReading | None], ...] = (
        _read_form,
        _read_roc,
        lambda text: _read_numeric(text, order),
        _read_week,
    )
    for attempt in attempts:
        reading = attempt(text)
        if reading is not None:
            return reading
    if _WITHOUT_DAY.match(text):
        return DateReading(None, f"{_quoted(value)} names no day")
    return DateReading(None, f"{_quoted(value)} is not a form of date that is known here")


def _read_form(text: str) -> DateReading | None:
    for form in _FORMS:
        found = form.match(text)
        if found and _REST.match(text, found.end()):
            parts = found.groupdict()
            month = _MONTHS[parts["name"].lower()] if parts.get("name") else int(parts["month"])
            return _checked(text, year=int(parts["year"]), month=month, day=int(parts["day"]))
    return None


def _read_roc(text: str) -> DateReading | None:
    found = _ROC.match(text)
    if not found or not _REST.match(text, found.end()):
        return None
    year = found["named"] or found["bare"]
    counted = (1 if year == "元" else int(year)) + _ROC_OFFSET
    reading = _checked(text, year=counted, month=int(found["month"]), day=int(found["day"]))
    return DateReading(reading.value, reading.reason or f"year {year} counted from 1912 (民國)")


def _read_numeric(text: str, order: DateOrder | None) -> DateReading | None:
    found = _NUMERIC.match(text)
    if not found or not _REST.match(text, found.end()):
        return None
    first, second, year = int(found["first"]), int(found["second"]), int(found["year"])
    if len(found["year"]) < 4:
        return DateReading(None, f"{_quoted(text)} has no full year")
    if first > 12 or second > 12:
        day, month = (first, second) if first > 12 else (second, first)
    elif first == second or order is not None:
        day, month = (second, first) if order == "month" else (first, second)
    else:
        return DateReading(None, f"{_quoted(text)} may be day/month or month/day; say which comes first (date order)")
    return _checked(text, year=year, month=month, day=day)


def _read_week(text: str) -> DateReading | None:
    found = _WEEK.match(text)
    if not found or not _REST.match(text, found.end()):
        return None
    try:
        return DateReading(date.fromisoformat(found.group()))
    except ValueError as error:
        return DateReading(None, f"{_quoted(text)} is impossible: {error}")


def _read_number(value: float) -> DateReading:
    if isinstance(value, float) and not math.isfinite(value):
        return DateReading(None, f"{value} is no date")
    if 10_000_000 <= value <= 99_999_999:
        year, rest = divmod(int(value), 10_000)
        month, day = divmod(rest, 100)
        return _checked(str(value), year=year, month=month, day=day)
    compact = _COMPACT.fullmatch(str(value)) if isinstance(value, int) and value < _LARGEST else None
    if compact and int(compact["hour"]) < 24 and int(compact["minute"] or 0) < 60 and int(compact["second"] or 0) < 60:
        return _read_number(int(compact["day"]))
    for least, below, factor, unit in _EPOCHS:
        if least <= value < below:
            return _read_epoch(value, seconds=value / factor, unit=unit)
    return DateReading(None, "a number that is neither like 20240506 nor a time since 1970")


def _read_epoch(value: float, *, seconds: float, unit: str) -> DateReading:
    """A time since 1970, unless it lies decades away or begins like a date of the years in which it would lie."""
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    known = _FIRST_EPOCH_YEAR <= moment.year <= _LAST_EPOCH_YEAR
    if not known or str(value).startswith("20"):
        return DateReading(None, f"{_quoted(str(value))} is neither a date nor a time since 1970 of {unit}")
    return DateReading(moment.date(), f"{unit} since 1970, as a day in UTC")


def _checked(text: str, *, year: int, month: int, day: int) -> DateReading:
    if not FIRST_YEAR <= year <= LAST_YEAR:
        return DateReading(None, f"{_quoted(text)}: the year {year} is outside {FIRST_YEAR} to {LAST_YEAR}")
    try:
        return DateReading(date(year, month, day))
    except ValueError as error:
        return DateReading(None, f"{_quoted(text)} is impossible: {error}")


def _chinese_number(numeral: str) -> str:
    """``一一三`` and ``一百一十三`` as ``113``, ``廿三`` as ``23``; ``元`` (the first year) as ``1``."""
    spelled = numeral.replace("廿", "二十").replace("卅", "三十")
    if not set(spelled) & set("十百"):
        return "".join(str(_NUMERALS[char]) for char in spelled)
    total, digit = 0, 0
    for char in spelled:
        if char in "十百":
            total, digit = total + (digit or 1) * (10 if char == "十" else 100), 0
        else:
            digit = _NUMERALS[char]
    return str(total + digit)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:40] + "…")


# --- the calendar -----------------------------------------------------------------------------------------------------


def last_day(granularity: Granularity, start: date | None) -> date | None:
    """The last day of a length of time that begins on a day; None for a beginning that is not known."""
    if start is None or granularity in ("day", "half", "part"):
        return start
    if granularity == "week":
        return start + timedelta(days=min(6, (date.max - start).days))
    months = {"month": 1, "quarter": 3, "year": 12, "decade": 120}[granularity]
    last = start.year * 12 + start.month - 1 + months - 1
    year, month = min(last // 12, 9999), last % 12 + 1
    return date(year, month, monthrange(year, month)[1])


def day_of(year: int, month: int, day: int, /) -> date | None:
    """A day of the calendar; None where there is no such day."""
    if 1 <= year <= 9999 and 1 <= month <= 12 and 1 <= day <= monthrange(year, month)[1]:
        return date(year, month, day)
    return None


def shifted(anchor: date | None, *, length: Granularity, by: int) -> date | None:
    """The first day of the unit of time that lies ``by`` units after the anchor's."""
    if anchor is None:
        return None
    if length in ("day", "week"):
        first = anchor if length == "day" else anchor - timedelta(days=min(anchor.weekday(), (anchor - date.min).days))
        ordinal = first.toordinal() + by * (1 if length == "day" else 7)
        return date.fromordinal(ordinal) if 1 <= ordinal <= date.max.toordinal() else None
    if length in ("year", "decade"):
        return day_of(anchor.year + by * (1 if length == "year" else 10), 1, 1)
    step = 1 if length == "month" else 3
    months = anchor.year * 12 + (anchor.month - 1) // step * step + by * step
    return day_of(months // 12, months % 12 + 1, 1)


def nearest(month: int, day: int | None, *, anchor: date | None, past: bool = False) -> date | None:
    """The month or day of that name which lies nearest to the anchor; with ``past``, the last one that has begun."""
    if anchor is None:
        return None
    options = [d for shift in (-1, 0, 1) if (d := day_of(anchor.year + shift, month, day or 15))]
    if past:
        begun = [d for d in options if ((d if day else d.replace(day=1)) - anchor).days <= _SLIP]
        options = begun or options
    best = min(options, key=lambda d: (abs((d - anchor).days), d), default=None)
    return best if best is None or day else best.replace(day=1)


def part_of(year: int, month: int | None, *, part: str) -> tuple[date | None, date | None]:
    """First and last day of a third (``early``, ``mid``, ``late``), a half (``1``, ``2``) or a season of a year.

    With a month, of a third of that month. A winter, which may lie in two years, stays open.
    """
    if month is not None:
        first, last = {"early": (1, 10), "mid": (11, 20), "late": (21, 31)}[part]
        start = day_of(year, month, first)
        return start, start and start.replace(day=min(last, monthrange(year, month)[1]))
    if part not in _PARTS or day_of(year, 1, 1) is None:
        return None, None
    first, last = _PARTS[part]
    return date(year, first, 1), date(year, last, monthrange(year, last)[1])


# --- words of time ----------------------------------------------------------------------------------------------------

HOLIDAYS = {
    "new year's day": (1, 1), "new year's eve": (12, 31), "new year’s day": (1, 1), "new year’s eve": (12, 31),
    "christmas day": (12, 25), "christmas eve": (12, 24), "boxing day": (12, 26), "halloween": (10, 31),
    "元旦": (1, 1), "圣诞节": (12, 25), "平安夜": (12, 24), "跨年夜": (12, 31),
}  # fmt: skip
PARTS = {
    "1": "1", "2": "2", "first half": "1", "second half": "2", "上半": "1", "下半": "2", "fall": "autumn",
    "春": "spring",
    "夏": "summer", "秋": "autumn", "冬": "winter", "start": "early", "beginning": "early", "end": "late",
    "初": "early",
    "中": "mid", "底": "late", "末": "late", "上旬": "early", "中旬": "mid", "下旬": "late",
} | {name: name for name in ("spring", "summer", "autumn", "winter", "early", "mid", "late")}  # fmt: skip
_FUTURE = re.compile(
    r"\b(?:will|would|shall|may|might|could|should|to\s[a-z]+|due|scheduled|plan(?:s|ned|ning)?|expect(?:s|ed)?|set|upcoming|"
    r"coming|next|until|till|by|ahead|before|deadline|going|hopes?|aims?|begins|starts|opens|ends|for)\b"
    r"|将|预计|预定|计划|拟|即将|明年|会在|届时|前|订|起|至",
    re.IGNORECASE,
)
_FUTURE_AFTER = re.compile(
    r"\b(?:will|next|expected|scheduled|planned|at the earliest)\b|将|预计|预定|计划|即将|起", re.IGNORECASE
)
_PAST = re.compile(
    r"\b(?:(?!need|spe|fe|se|bre|ble|exce|succe|proce|inde)[a-z]{2,}ed|was|were|began|took|won|held|met|went|came|fell|rose|"
    r"built|became|sold|found|left|lost|made|ran|died|shot|struck|hit|broke|grew|saw|gave|got|had\sbeen)\b"
    r"(?:\s[\w'’-]+){0,4}\s(?:(?:in|on|since|during|early|late|back|of|the)\s)*$",
    re.IGNORECASE,
)
_PAST_ZH = re.compile(r"[曾了已]|[完启落揭开]?(?:完工|落成|启用过|结束|去世|逝世|过世)")


def is_past(match: re.Match[str]) -> bool:
    """Whether the words around a date speak of what has happened, and none of what will."""
    before = re.split(r"[.!?。！？\n]", match.string[max(0, match.start() - 90) : match.start("all")])[-1]
    after = re.split(r"[.!?。！？\n]", match.string[match.end("all") : match.end("all") + 40])[0]
    if _FUTURE.search(before) or _FUTURE_AFTER.search(after):
        return False
    return _PAST.search(before[-48:]) is not None or _PAST_ZH.search(before + after) is not None
