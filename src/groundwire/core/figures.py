"""Forms of number that are more than digits and a unit: clock times, scores, fractions, ordinals and mere magnitudes.

Every reader takes flat text (``numerals.legible``) and yields quantities without their text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

from groundwire.core.numerals import (
    CHINESE_NUMERAL,
    is_counted,
    money_after,
    money_before,
    read_bare_scale,
    read_chinese,
    read_digits,
    read_english,
    unit_after,
)
from groundwire.core.types import Span

Kind = Literal["count", "percent", "points", "money", "ordinal", "clock", "score"]
Bound = Literal["exact", "about", "near", "over", "under", "least", "most", "vague"]


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number with what it counts.

    Attributes:
        value: exact; a percentage in hundredths (``6 %`` is 6), a clock time or a time run in minutes.
        kind: percent and percentage points differ; a fraction (``two-thirds``, ``三成``) is a percent.
        unit: currency code (``USD``; ``$``, ``¥`` and ``元`` where the text does not say which), a name shared by both
            languages (``person``, ``day``, ``km``), a Chinese measure word, or ``""``.
        nouns: the next words, singular, that may name what is counted.
        bound: what stands beside it: ``over`` (more than), ``near`` (almost), ``least`` (at least) and so on;
            ``vague``: only a magnitude is named (``dozens``, ``數百``), and the value is that magnitude.
        high: upper end of a range (or the second number of a score); None for a single number.
        weak: ``one``, ``first``, ``一個``: seldom meant as a number, so a claim is not held to it.
        per: what a rate is counted per (``hour``, ``day``, ``kg``), or ``""``.
        changed: one end of a change (``from 5% to 7%``).
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
    per: str = ""
    changed: bool = False


DIGITS = r"\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d+)?|[1-9]\d{0,2}(?: \d{3})+(?![\d.,]*\d| \d)|\d+(?:\.\d+)?"
_CLOCK = re.compile(
    r"(?<![\d:.$,])(?:(?P<noon>上午|下午|晚上|晚间|清晨|凌晨|中午)\s?)?(?P<h>[01]?\d|2[0-4])(?:"
    r"(?:[:.](?P<m>[0-5]\d))?\s?(?P<half>[ap]\.?m(?![a-z])\.?)|:(?P<m1>[0-5]\d)(?![\d%:]|\.\d)"
    r"|[时点](?:(?P<m2>[0-5]?\d)分|(?P<m3>半))?(?![\d间以点]))",
    re.IGNORECASE,
)
_RUN = re.compile(r"(?<![\d:.,$])(?:(?P<h>\d{1,3}):)?(?P<m>[0-5]?\d):(?P<s>[0-5]\d(?P<part>\.\d{1,3})?)(?![\d:])")
_SCORE = re.compile(
    rf"(?<![\d:.,$])(?:(?P<one>\d{{1,4}})\s?(?P<mark>[:比])\s?(?P<two>\d{{1,4}})(?![\d:]|\.\d|\s?[ap]\.?m\b)"
    rf"|(?P<zh1>{CHINESE_NUMERAL})比(?P<zh2>{CHINESE_NUMERAL}))",
    re.IGNORECASE,
)
_IS_RATIO = re.compile(
    r"\b(?:ratio|odds|scale|beat|w[io]n|lost?|defeat(?:ed)?|dr[ae]w|vote[sd]?|score[sd]?)\b|[比胜负]", re.IGNORECASE
)
_IS_TIME = re.compile(
    r"(?:\b(?:at|from|until|till|by|to|before|after|since|around|about)|[午晨晚于至到上间时前后]|-)\s?$", re.IGNORECASE
)
_PARTS = ("half", "third", "quarter", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth")
_SMALL = r"two|three|four|five|six|seven|eight|nine|ten"
_FRACTION = re.compile(
    rf"(?P<low>\d+|{CHINESE_NUMERAL})分之(?P<top>{DIGITS}|{CHINESE_NUMERAL})"
    r"|(?<![\w-])(?P<n>two|three|four|five|six|seven|eight|nine|[2-9])[\s-](?P<part>thirds|quarters|(?:fif|six|seven|eigh|nin|ten)ths)\b"
    r"(?!\sof\sa\s(?:m|b|tr)illion)"
    r"|(?<![\w-])(?:a|one)[\s-](?P<one>third|quarter|fifth|sixth|seventh|eighth|ninth|tenth)(?=\sof\b(?!\sa\s(?:m|b|tr)illion))"
    r"|(?<![\w-])(?P<half>half)(?=\s(?:of|the|its|their|all|his|her)\b)|(?P<zhhalf>半数)"
    rf"|(?<![\w.,-])(?P<some>one|{_SMALL}|\d{{1,3}})\s(?:in|out\sof)\s(?:every\s)?(?P<of>{_SMALL}|\d{{1,3}})\b"
    r"(?![,.:]\d|[\s-](?:seconds?|minutes?|hours?|days?|weeks?|months?|years?|decades?|games?|matches|innings)\b)"
    rf"|(?P<tenths>{DIGITS}|[一二两三四五六七八九])\s?成(?P<rest>[一二三四五六七八九\d](?!\d))?(?![为立员功果长交人就本都绩熟份品天因])",
    re.IGNORECASE,
)
_POINTS = re.compile(
    r"(?<![A-Za-z\d.-])(?:(?P<half>half|a\squarter|quarter|three[\s-]quarters)(?:\sof)?(?:\san?)?[\s-](?:percentage[\s-])?points?\b"
    r"|(?P<code>\d{1,2}|[半一两二三四])码(?![头字长])(?<![末后前第][一二两三四\d]码))",
    re.IGNORECASE,
)
_NTH = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
)  # fmt: skip
_TENS = ("twent", "thirt", "fort", "fift", "sixt", "sevent", "eight", "ninet")
_ORDINALS = (
    {word: n for n, word in enumerate(_NTH, 1)}
    | {f"{ten}ieth": 10 * n for n, ten in enumerate(_TENS, 2)}
    | {f"{ten}y-{word}": 10 * n + unit for n, ten in enumerate(_TENS, 2) for unit, word in enumerate(_NTH[:9], 1)}
)
_ORDINAL = re.compile(
    rf"(?<![\w.])(?P<n>\d{{1,4}})(?:st|nd|rd|th)\b|第\s?(?P<zh>\d+|{CHINESE_NUMERAL})"
    rf"|\b(?P<word>{'|'.join(sorted(_ORDINALS, key=len, reverse=True))})\b",
    re.IGNORECASE,
)
_PLACED = re.compile(r"\b(?:finish(?:ed|es)?|came|comes?|rank(?:ed|s)?|placed|in)(?:\sin)?\s$", re.IGNORECASE)
_PLACE = re.compile(r"[名位]|\s(?:place|position)\b")
_LATE_SCALES = {"百": 100, "千": 1000, "万": 10**4, "亿": 10**8, "兆": 10**12}
_PLURALS = {
    "tens": 10, "dozens": 12, "scores": 20, "hundreds": 100, "thousands": 1000, "millions": 10**6,
    "billions": 10**9, "trillions": 10**12,
}  # fmt: skip
_MAGNITUDE = re.compile(
    r"\b(?:(?P<times>tens|dozens|scores|hundreds|thousands)\sof\s)?(?P<many>dozens|hundreds|(?:thous|(?<!\d\s)(?:m|b|tr)illi)(?:and|on)s"
    r"|scores(?=\sof\s[a-z]))\b(?P<of>\sof)?"
    r"|(?P<both>成千上万|成百上千)|数以(?P<total>[百千万亿兆]{1,2})计"
    r"|(?<![人总次户票指分代])(?P<some>数|好?几)(?P<scale>[十百千万亿兆]{1,4})"
    r"|(?<![以晚早路网线身地山海世马])(?P<up>上)(?P<least>[百千万亿兆]{1,3})"
    r"|(?<![零〇一二两三四五六七八九百千万亿])(?P<teens>[二三四五六七八九]?十)(?P<few>[几数])(?=[个人名位岁年天万亿件家辆元])"
    r"|(?<![零〇一二两三四五六七八九十百千万亿第初月])(?P<low>[一二三四五六七八])(?P<high>[二三四五六七八九])(?P<unit>[十百千万亿]{0,3})"
    r"|\b(?P<multiple>doubl|tripl|quadrupl|quintupl)(?:ed|ing)\b(?!\s(?:down|back|up|over)\b)"
    r"|\b(?P<fold>two|three|four|five|six|ten)fold\b"
    r"|翻了?(?P<turns>[一两二三])番|(?P<twice>翻倍|倍增|(?<=[增长涨升高多了])一倍)",
    re.IGNORECASE,
)
_MULTIPLES = {"doubl": 2, "tripl": 3, "quadrupl": 4, "quintupl": 5}
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
_AFTER_UNIT = re.compile(r"[\u4e00-\u9fff]{0,2}?(?:(?P<least>以上)|(?P<most>以下|以内)|(?P<about>左右|上下))")


def _quantity(value: Fraction, kind: Kind, *, span: tuple[int, int], unit: str = "", weak: bool = False) -> Quantity:
    return Quantity(value=value, kind=kind, unit=unit, span=Span(*span), text="", weak=weak)


def scores(flat: str) -> Iterator[Quantity]:
    """``2:1``, ``61比50`` and ``二比一``, in the order as written; a time of day is none."""
    for match in _SCORE.finditer(flat):
        one, two = (either(written) for written in match.group(*(("one", "two") if match["one"] else ("zh1", "zh2"))))
        if one is None or two is None or (match["mark"] == ":" and _is_time(match, flat=flat)):
            continue
        yield replace(_quantity(one, "score", span=match.span()), high=two)


def _is_time(match: re.Match[str], *, flat: str) -> bool:
    hour, minute = match["one"], match["two"]
    if len(minute) != 2 or int(minute) > 59 or int(hour) > 24:
        return False
    if _IS_RATIO.search(flat, max(0, match.start() - 24), match.start()):
        return _IS_TIME.search(flat, max(0, match.start() - 8), match.start()) is not None
    return len(hour) == 2 or hour != "1" or _IS_TIME.search(flat, max(0, match.start() - 8), match.start()) is not None


def clocks(flat: str) -> Iterator[Quantity]:
    """Times of day, and times that something took (``2:30:59``, ``9:58.3``), in minutes."""
    for match in _RUN.finditer(flat):
        if match["h"] or match["part"]:
            minutes = 60 * int(match["h"] or 0) + int(match["m"]) + Fraction(match["s"]) / 60
            yield _quantity(minutes, "clock", span=match.span())
    for match in _CLOCK.finditer(flat):
        hour, minute = int(match["h"]), int(match["m"] or match["m1"] or match["m2"] or (30 if match["m3"] else 0))
        half = (match["half"] or "").lower().replace(".", "")
        late = half == "pm" or match["noon"] in ("下午", "晚上", "晚间")
        hour = hour % 12 + 12 if late and hour <= 12 else hour % 12 if half == "am" else hour
        yield _quantity(Fraction(60 * hour + minute), "clock", span=match.span())


def fractions(flat: str) -> Iterator[Quantity]:
    """``two-thirds``, ``one in ten``, ``三成`` as percentages; ``half a point`` and ``半碼`` as points."""
    for match in _FRACTION.finditer(flat):
        value = _fraction(match)
        if value is not None:
            found = _quantity(100 * value, "percent", span=match.span())
            yield bounded(found, flat=flat)
    for match in _POINTS.finditer(flat):
        if match["code"]:
            value = Fraction(1, 2) if match["code"] == "半" else either(match["code"])
            points = value and value / 4  # a step of a central bank
        else:
            points = (
                Fraction(1, 2)
                if match["half"].lower() == "half"
                else Fraction(1 + 2 * match["half"].startswith("t"), 4)
            )
        if points:
            yield _quantity(points, "points", span=match.span())


def _fraction(match: re.Match[str]) -> Fraction | None:
    if match["low"]:
        low, top = either(match["low"]), either(match["top"])
        return top / low if low and top is not None else None
    if match["some"]:
        some, of = (either(number) or read_english(number) for number in match.group("some", "of"))
        return some / of if 0 < some < of else None
    if match["tenths"]:
        tenths, rest = either(match["tenths"]), either(match["rest"] or "0")
        return None if tenths is None or rest is None else tenths / 10 + rest / 100
    if match["part"]:
        part = next(n for n, name in enumerate(_PARTS, 2) if match["part"].lower().startswith(name))
        number = match["n"]
        return (Fraction(number) if number.isdecimal() else read_english(number)) / part
    return Fraction(1, _PARTS.index((match["one"] or "half").lower()) + 2)


def either(written: str) -> Fraction | None:
    """Digits or a Chinese numeral as a value; None for anything else."""
    if written in _LATE_SCALES:
        return Fraction(_LATE_SCALES[written])
    return read_digits(written) if written[0].isdecimal() else None if written.isascii() else read_chinese(written)


def ordinals(flat: str) -> Iterator[Quantity]:
    """``5th``, ``forty-fifth``, ``第三``; ``first`` and ``second`` are weak unless they name a place."""
    for match in _ORDINAL.finditer(flat):
        value = either(match["n"] or match["zh"]) if match["n"] or match["zh"] else None
        if match["word"]:
            value = Fraction(_ORDINALS[match["word"].lower()])
        if value is not None:
            place = _PLACE.match(flat, match.end()) or (
                _PLACED.search(flat, max(0, match.start() - 14), match.start()) and _ends(flat, match.end())
            )
            weak = (value == 1 or (match["word"] or "").lower() == "second") and not place
            yield _quantity(value, "ordinal", span=match.span(), weak=weak)


def _ends(flat: str, end: int) -> bool:
    """Whether a clause ends or goes on with a preposition (``finished second in the race``, not ``in second gear``)."""
    return (
        re.compile(r"\s*(?:$|[.,;!?)]|(?:in|at|to|of|with|on|for|among|behind|and|overall)\b)").match(flat, end)
        is not None
    )


def magnitudes(flat: str) -> Iterator[Quantity]:
    """``dozens``, ``數百``, ``上千``, ``三四十``, ``tripled``: only the size of a number, or a multiple, is told."""
    for match in _MAGNITUDE.finditer(flat):
        if multiple := _multiple(match):
            yield _quantity(multiple, "count", span=match.span(), unit="times")
        elif found := _sized(match, flat=flat):
            yield found


def _multiple(match: re.Match[str]) -> Fraction | None:
    if match["multiple"]:
        return Fraction(_MULTIPLES[match["multiple"].lower()])
    if match["fold"]:
        return read_english(match["fold"])
    if match["turns"]:
        return Fraction(2 ** int(either(match["turns"]) or 1))
    return Fraction(2) if match["twice"] else None


def _sized(match: re.Match[str], *, flat: str) -> Quantity | None:
    """The magnitude with what it counts; None where Chinese characters are followed by nothing that is counted."""
    before, start = money_before(flat, match.start())
    money, end = (before, match.end()) if before else money_after(flat, match.end())
    chinese = match["many"] is None
    if chinese and not (
        money or is_counted(flat, end) or match["both"] or match["total"] or match["some"] or flat.startswith("多", end)
    ):
        return None
    value, high, bound = _size(match)
    if value is None:
        return None
    kind: Kind = "money" if money else "count"
    unit, nouns, per = (money, (), "") if money else unit_after(flat, end)
    return Quantity(value, kind, unit, Span(start, end), "", nouns, bound, high, per=per)


def _size(match: re.Match[str]) -> tuple[Fraction | None, Fraction | None, Bound]:
    """Value, upper end and bound of a magnitude."""
    if match["many"]:
        return (
            Fraction(
                _PLURALS[match["many"].lower()] * _PLURALS[(match["times"] or "tens").lower()],
                1 if match["times"] else 10,
            ),
            None,
            "vague",
        )
    if match["both"]:
        return Fraction(1000 if match["both"] == "成千上万" else 100), None, "vague"
    if match["teens"]:
        ten = either(match["teens"])
        return ten and ten + 1, ten and ten + 9, "vague"
    if match["low"]:
        low, high, unit = either(match["low"]), either(match["high"]), Fraction(read_bare_scale(match["unit"]) or 1)
        return (low * unit, high * unit, "exact") if low and high and high == low + 1 else (None, None, "exact")
    scale = Fraction(read_bare_scale(match["total"] or match["scale"] or match["least"]) or 1)
    return scale, None, "least" if match["up"] else "vague"


def bounded(found: Quantity, *, flat: str) -> Quantity:
    """The quantity with what stands beside it: ``about``, ``at least``, ``以上``."""
    start, end = found.span.start, found.span.end
    before = flat[max(0, start - 24) : start].rstrip()
    if before and (before[-1].isalpha() or before[-1] in "~≈."):
        for bound, pattern in _BEFORE:
            if pattern.search(before):
                return replace(found, bound=bound)
    match = _AFTER_UNIT.match(flat, end)
    return replace(found, bound=match.lastgroup) if match else found  # type: ignore[arg-type]  # as above
