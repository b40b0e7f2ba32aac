"""Read ratings out of replies, or refuse: one number on a known scale, or several by name.

Read are ``85``, ``85分``, ``分數：85``, ``８５``, ``85/100``, ``{"score": 85}`` and what leaves as little doubt. A
reply that holds two numbers and no hint which one counts is unreadable, and so is one whose number may count anything
else; a number that looks as if it was meant on another scale (``0.85`` of 100) is out of range. Nothing is ever 0
because it could not be read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import median

from groundwire.core.errors import UsageError
from groundwire.core.language import Reply
from groundwire.core.loose_json import Json, LooseError, find_values
from groundwire.core.numerals import CHINESE_NUMERAL, ENGLISH_NUMERAL, legible, read_chinese, read_english
from groundwire.core.replies import FINAL, Reading, declines, final_of, spoken, stopped

_LABEL = (
    r"(?:score|rating|relevance|relevancy|consistency|value|points?|mark|grade|answer|result"
    r"|分数|评分|得分|打分|总分|相关性?|相关度|一致性?|一致度|结果|答案|分值)"
)
_NAMES = re.compile(rf"(?:\w+[ _])*{_LABEL}(?:[ _]\w+)*", re.IGNORECASE)
_FENCE = re.compile(r"^\s*`{3,}\w*[ \t]*$", re.MULTILINE)
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
# Not part of a name (GPT-4, S3.2, Q4), a date or a longer number.
_NUMBER = re.compile(
    rf"(?<![\d.,/])(?<![A-Za-z])(?<![A-Za-z][-_.])(?P<sign>(?<!\w)[-−–]|\bminus\s)?(?P<number>{_DIGITS})(?![\d]|\.\d|[A-Za-z_])"
    r"(?:\s*[(（]?\s*(?:[/⁄]|\bout\s+of\b|分之)\s*(?P<whole>\d+(?:\.\d+)?)(?![\d]|\.\d))?"
    r"(?P<unit>\s*(?:%|percent\b|分(?![钟之米])|点|points?\b|pts?\b))?",
    re.IGNORECASE,
)
_CHINESE_SHARE = re.compile(rf"百分之\s*(?P<number>{_DIGITS}|{CHINESE_NUMERAL})(?!分之)")
_LABELLED = re.compile(
    rf"(?P<label>{_LABEL})[\s\w]{{0,12}}?\s*(?:[:=：→]|->|=>|\bis\b|\bwould be\b|\bof\b|为|是)\s*[\"'“「(（\[]?\s*$",
    re.IGNORECASE,
)
_SPELLED = re.compile(
    r"(?:.{0,20}?(?:[:：是为]|\bis\b))?\s*(?P<minus>minus\s|负)?"
    rf"(?:(?P<english>{ENGLISH_NUMERAL})|(?P<chinese>{CHINESE_NUMERAL}))"
    r"\s*(?:%|percent|points?|out of (?:one |a )?hundred|分)?\s*[.。!！]?",
    re.IGNORECASE,
)
# A number that opens the reply and is followed by its reason.
_REASONED = re.compile(r"\s*[,.;:，。；：、(（—–-]+\s*[^\W\d]")
_RATED = re.compile(
    r"\b(?:rate|rated|rating|score|scored|give|gave|assign|judge|put|say)\b[^.!?\n]{0,40}$|[评打给][^。！？\n]{0,12}$",
    re.IGNORECASE,
)
_ABOUT = r"(?:(?:about|around|approximately|roughly|maybe|a:|大约|约|答[:：])\s*)?"
_BARE_REACH = 120  # how much may stand around a number that is the whole reply
_BOUND = re.compile(r"(?:^|[^\w\"'/])[<>≥≤]=?\s*$")  # not the end of a tag
_LINK = re.compile(r"\s*(?:[-–—~～→±]|->|=>|\bto\b|至|到)\s*\d")
_NO_NUMBER = re.compile(r"(?<![A-Za-z])(?:nan|null|none|[-+]?inf(?:inity)?|n/a|undefined)(?![A-Za-z])", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Number:
    """A number in a text, on the scale asked for; ``how`` says what was done to it, ``wrong`` why it cannot stand.

    ``out_of``: it was given out of a whole, or in points (``分``); ``doubt``: it is one end of a range, or a bound.
    """

    value: float
    start: int
    end: int
    how: str = ""
    wrong: str = ""
    out_of: bool = False
    doubt: bool = False


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.low:g} to {self.high:g}"

    def fault(self, value: float, written: str) -> str:
        """Why a value cannot stand on this scale; empty where it can."""
        if not self.low <= value <= self.high:
            return f"{written} is outside {self}"
        if 0 < value <= 1 and "." in written and "%" not in written and self.high - self.low >= 10:
            return f"{written} looks like a share of 1, and the scale runs from {self}"
        return ""


def read_rating(reply: Reply, *, low: float = 0, high: float = 100) -> Reading[float]:
    """Read the one rating of a reply.

    ``read``: the reply is the number, with a label or unit at most. ``recovered``: the number that counts is beyond
    doubt, though something stands around it, or it was given out of another whole (``9/10`` of 100 is 90).
    ``out_of_range``: it is outside the scale, or a fraction up to 1 on a scale ten times as wide. ``abstained``: the
    model declined. ``truncated``: the reply was cut. ``unreadable``: no number, or several.

    Args:
        reply: what the model said.
        low: the lowest rating.
        high: the highest rating; above ``low``.
    """
    scale = _scale(low, high)
    text, thought = spoken(reply)
    if (halted := stopped(reply, text=text)) is not None:
        return Reading(None, *halted, reply.text)
    read = _from_json(text, scale) or _from_text(text, scale)
    if thought and read.value is not None:
        notes = "; ".join(note for note in (thought, read.reason) if note)
        read = replace(read, outcome="recovered", reason=notes)
    return replace(read, text=reply.text)


def read_ratings(
    reply: Reply, *, names: Sequence[str], low: float = 0, high: float = 100
) -> Reading[tuple[float, ...]]:
    """Read a rating for each name, from a JSON object with these keys or from lines ``name: number``.

    Returns:
        The ratings in the order of the names, or no value where one of them is missing or cannot stand.
    """
    scale = _scale(low, high)
    text, thought = spoken(reply)
    if (halted := stopped(reply, text=text)) is not None:
        return Reading(None, *halted, reply.text)
    try:
        found = find_values(text)
    except LooseError as error:
        return Reading(None, "unreadable", str(error), reply.text)
    if found:
        chosen, how = final_of(found, text)
        if chosen is None or not isinstance(chosen.value, Mapping):
            return Reading(None, "unreadable", f"the reply holds {len(found)} different objects", reply.text)
        notes = [how, *chosen.slips, "" if how or text == text[chosen.start : chosen.end] else "text around the JSON"]
        given: Mapping[str, Json] = {key.strip().casefold(): item for key, item in chosen.value.items()}
    else:
        given, notes = _named_lines(text, names), ["lines in place of JSON"]
        if not given and declines(text):
            return Reading(None, "abstained", "the model declined to rate", reply.text)
    return _by_name([given.get(name.casefold()) for name in names], names=names, scale=scale,
                    notes=[thought, *notes], text=reply.text)  # fmt: skip


def off_scale(ratings: Sequence[float], *, low: float = 0, high: float = 100) -> tuple[int, ...]:
    """Positions of ratings that look as if they were meant on a scale of 1, 5 or 10 rather than this one.

    Where the middle rating lies in the upper three quarters of the scale, those above ``low`` and within its lowest
    tenth are named, unless they are more than a tenth of all. They are for a person to look at; nothing is changed.
    """
    tenth = low + (high - low) / 10
    if not ratings or median(ratings) < low + (high - low) / 4:
        return ()
    found = tuple(place for place, rating in enumerate(ratings) if low < rating <= tenth)
    return found if len(found) <= max(1, len(ratings) // 10) else ()


def _scale(low: float, high: float) -> _Scale:
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(f"a scale runs from {low} to {high}: the first must be below the second")
    return _Scale(low, high)


def _by_name(
    given: Sequence[Json], *, names: Sequence[str], scale: _Scale, notes: list[str], text: str
) -> Reading[tuple[float, ...]]:
    values: list[float] = []
    for name, item in zip(names, given, strict=True):
        if item is None:
            return Reading(None, "unreadable", f"the reply has no number for '{name}'", text)
        one = _of_value(item, scale)
        if one.value is None:
            return Reading(None, one.outcome, f"'{name}': {one.reason}", text)
        notes.append(one.reason)
        values.append(one.value)
    said = "; ".join(dict.fromkeys(note for note in notes if note))
    return Reading(tuple(values), "recovered" if said else "read", said, text)


def _named_lines(text: str, names: Sequence[str]) -> dict[str, str]:
    """What stands after each name and a colon; nothing for a name that has two different values."""
    given: dict[str, str] = {}
    for name in names:
        shown = re.escape(name).replace("_", r"[\s_-]?")
        found = {each.strip() for each in re.findall(rf"(?im)^[\W\d]*{shown}[*_`\"'\s]*[:：=]\s*(.+)$", text)}
        if len(found) == 1:
            given[name.casefold()] = found.pop()
    return given


def _of_value(item: Json, scale: _Scale) -> Reading[float]:
    """A value of JSON as a rating."""
    if isinstance(item, str):
        read = _from_text(item, scale)
        return read if read.value is None or read.reason else replace(read, reason="a number in quotes")
    if isinstance(item, bool) or not isinstance(item, int | float):
        return Reading(None, "unreadable", f"{'null' if item is None else item} is no number")
    wrong = scale.fault(item, str(item))
    return Reading(None, "out_of_range", wrong) if wrong else Reading(float(item), "read")


def _from_json(text: str, scale: _Scale) -> Reading[float] | None:
    """The rating in the reply's JSON object; None where it has none."""
    try:
        found = find_values(text)
    except LooseError as error:
        return Reading(None, "unreadable", str(error))
    if not found:
        return None
    chosen, how = final_of(found, text)
    if chosen is None or not isinstance(chosen.value, Mapping):
        return Reading(None, "unreadable", f"the reply holds {len(found)} different objects, none marked final")
    item, problem = _rating_in(chosen.value)
    if problem:
        return Reading(None, "unreadable", problem)
    read = _of_value(item, scale)
    if read.value is None:
        return read
    around = "" if how or text == text[chosen.start : chosen.end] else "text around the JSON"
    notes = [note for note in (how, around, *chosen.slips, read.reason) if note]
    return replace(read, outcome="recovered" if notes else "read", reason="; ".join(notes))


def _rating_in(value: Mapping[str, Json]) -> tuple[Json, str]:
    """The item of an object that is the rating, or why that cannot be told."""
    finals = {key: item for key, item in value.items() if FINAL.search(legible(key).replace("_", " "))}
    for marked, items in ((True, finals), (False, value)):
        inner = [item for item in items.values() if isinstance(item, Mapping)]
        named = [item for key, item in items.items() if marked or _NAMES.fullmatch(_spaced(key))]
        plain = [item for item in named if isinstance(item, int | float | str | None)]
        numbers = [item for item in plain if isinstance(item, int | float) and not isinstance(item, bool)]
        choice = numbers or plain
        if choice and all(item == choice[0] for item in choice):
            return choice[0], ""
        if not choice and len(inner) == 1:
            return _rating_in(inner[0])
    return None, "the object holds no rating, or several numbers of which none is marked as the rating"


def _spaced(key: str) -> str:
    """A key with its words parted: ``relevanceScore`` as ``relevance Score``."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", legible(key))


def _from_text(text: str, scale: _Scale) -> Reading[float]:
    """The rating in words that are not JSON."""
    plain = _plain(text, scale)
    numbers = tuple(replace(each, doubt=_is_doubtful(plain, each)) for each in _numbers(plain, scale))
    whole = [each for each in numbers if _is_bare(plain, each)]
    if len(whole) == 1 and not whole[0].doubt:
        return _told(whole[0], "" if plain.strip() == _undecorated(text) else "the scale was restated")
    if _NO_NUMBER.search(plain) and not numbers:
        return Reading(None, "unreadable", f"'{plain.strip()[:40]}' is no number")
    for candidates, how in _choices(plain, numbers):
        if candidates:
            return _one_of(candidates, how)
    if declines(text):
        return Reading(None, "abstained", "the model declined to rate")
    return _from_prose(plain, numbers, scale=scale)


def _from_prose(plain: str, numbers: Sequence[_Number], *, scale: _Scale) -> Reading[float]:
    """The rating in a sentence that gives one, or in words."""
    rated = [each for each in numbers if each.out_of or _RATED.search(_line_before(plain, each))]
    if rated or len({each.value for each in numbers}) > 1:
        return _one_of(rated or numbers, "the number that is given as a rating")
    spelled = None if numbers else _spelled(plain)
    if spelled is None:
        one = f"nothing says that the reply's one number, {numbers[0].value:g}, is the rating" if numbers else ""
        return Reading(None, "unreadable", one or "the reply holds no number")
    wrong = scale.fault(spelled, f"{spelled:g}")
    return Reading(None, "out_of_range", wrong) if wrong else Reading(spelled, "recovered", "a number in words")


def _choices(plain: str, numbers: Sequence[_Number]) -> Iterator[tuple[list[_Number], str]]:
    """Numbers that stand out, by the strongest sign first."""
    labelled = [each for each in numbers if _LABELLED.search(plain[max(0, each.start - 60) : each.start])]
    yield [each for each in labelled if FINAL.search(_line_before(plain, each))], "the number marked as final"
    yield labelled, "the number with a label"
    first, _, rest = plain.strip().partition("\n")
    start = plain.find(first)
    alone = [each for each in numbers if start <= each.start < start + len(first) and _is_bare(first, each, at=start)]
    begun = [each for each in numbers if each.start == start and _REASONED.match(plain, each.end)]
    yield (alone if rest else []) or begun, "the number that the reply begins with"


def _line_before(plain: str, number: _Number) -> str:
    """Up to 80 characters of its line before a number."""
    return plain[max(plain.rfind("\n", 0, number.start) + 1, number.start - 80) : number.start]


def _one_of(candidates: Sequence[_Number], how: str) -> Reading[float]:
    """The candidates' one value, or why there is none."""
    values = sorted({each.value for each in candidates})
    if any(each.doubt for each in candidates):
        return Reading(None, "unreadable", f"{candidates[0].value:g} is one end of a range or a bound, no rating")
    if len(values) > 1:
        shown = ", ".join(f"{value:g}" for value in values[:5])
        return Reading(
            None, "unreadable", f"the reply holds several numbers ({shown}), and nothing says which one counts"
        )
    return _told(candidates[0], how)


def _told(number: _Number, how: str) -> Reading[float]:
    if number.wrong:
        return Reading(None, "out_of_range", number.wrong)
    notes = "; ".join(note for note in (how, number.how) if note)
    return Reading(number.value, "recovered" if notes else "read", notes)


def _undecorated(text: str) -> str:
    """A text in half-width simplified characters, without code fences and Markdown's asterisks."""
    plain = _FENCE.sub("", legible(text)).replace("**", "").replace("`", "")
    return plain.strip().strip("\"'“”「」*_ \t\n")


def _plain(text: str, scale: _Scale) -> str:
    """The undecorated text without a restatement of its scale (``0-100``, ``满分100分``)."""
    low, high = (re.escape(f"{edge:g}") for edge in (scale.low, scale.high))
    restated = re.compile(
        rf"[(（\[]?(?:(?:on a )?scale (?:of|from) |from |between )?"
        rf"(?<![\d.]){low}\s*(?:[-–—~～]|\bto\b|\band\b|至|到|[.]{{2,3}})\s*{high}"
        rf"(?![\d.]*\d)\s*分?(?:之?间)?[)）\]]?",
        re.IGNORECASE,
    )
    full = re.compile(
        rf"(?:满分|总分)(?:为|是)?\s*{high}(?!\d)\s*分?|(?<!\d){high}\s*分(?:制|之?中的?|里的?)"
        rf"|(?<!\d)(?<!\d\s)[(（]out of {high}[)）]",
        re.IGNORECASE,
    )
    return full.sub(" ", restated.sub(" ", _undecorated(text)))


def _numbers(plain: str, scale: _Scale) -> Iterator[_Number]:
    """Every number of a text; those of ``100分之85`` and ``百分之85`` once."""
    shares = tuple(_CHINESE_SHARE.finditer(plain))
    covered = {place for share in shares for place in range(*share.span())}
    for found in shares:
        written = found["number"]
        share = Fraction(written.replace(",", "")) if written[0] in "0123456789." else read_chinese(written)
        share = Fraction(100) if written == "百" else share
        if share is not None:
            yield _scaled(float(share), 100.0, scale=scale, span=found.span(), written=found.group())
    for found in _NUMBER.finditer(plain):
        if found.start() in covered:
            continue
        value = float(found["number"].replace(",", "")) * (-1 if found["sign"] else 1)
        written = found.group().strip()
        if found["whole"] is None:
            points = (found["unit"] or "").strip() == "分"
            yield _Number(value, *found.span(), wrong=scale.fault(value, written), out_of=points)
        else:
            part, whole = value, float(found["whole"])
            if "分之" in written:
                part, whole = whole, part
            yield _scaled(part, whole, scale=scale, span=found.span(), written=written)


def _scaled(value: float, whole: float, *, scale: _Scale, span: tuple[int, int], written: str) -> _Number:
    """A number out of a whole, on the scale asked for."""
    if whole == scale.high:
        wrong = "" if scale.low <= value <= scale.high else f"{written} is outside {scale}"
        return _Number(value, *span, wrong=wrong, out_of=True)
    if scale.low != 0 or not 0 <= value <= whole or whole not in (1, 5, 10, 20, 100):
        return _Number(value, *span, wrong=f"{written} does not fit a scale from {scale}")
    return _Number(value / whole * scale.high, *span, how=f"{written} was scaled to {scale}", out_of=True)


def _is_bare(plain: str, number: _Number, *, at: int = 0) -> bool:
    """Whether a text is nothing but this number, with a label before it and a mark after it."""
    before, after = plain[: number.start - at], plain[number.end - at :]
    if max(len(before), len(after)) > _BARE_REACH:
        return False
    label = re.fullmatch(
        rf"[\W_]*(?:(?:\w+\s){{0,3}}{_LABEL}(?:\s\w+)?(?:\s*(?:[:：=]|\bis\b|为|是))?)?[\W_]*{_ABOUT}[\W_]*",
        before,
        re.IGNORECASE,
    )
    return label is not None and re.fullmatch(r"(?!\s*[+±])[\W_]*", after) is not None


def _is_doubtful(plain: str, number: _Number) -> bool:
    """Whether a number is one end of a range, or a bound (``> 80``, ``80+``)."""
    after = plain[number.end : number.end + 8]
    bound = _BOUND.search(plain[max(0, number.start - 4) : number.start])
    return bool(bound or _LINK.match(after) or after.lstrip().startswith("+"))


def _spelled(plain: str) -> float | None:
    """A number in words that makes up the whole reply."""
    found = _SPELLED.fullmatch(plain.strip())
    if found is None:
        return None
    value = read_english(found["english"].lower()) if found["english"] else read_chinese(found["chinese"])
    return None if value is None else float(value) * (-1 if found["minus"] else 1)
