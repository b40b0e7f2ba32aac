"""Statements of sources, drawn from their sentences without a model: what a number is of, in which unit, for when.

What two of them have to share to be of one thing is told in ``discords``. The measures of news that have several
words (deaths, output, turnout) are listed in ``measures.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from functools import cache, cached_property, lru_cache
from itertools import zip_longest

from groundwire.core.findings import Statement
from groundwire.core.mentions import DateMention, find_dates
from groundwire.core.numerals import SHARED_UNITS, flatten
from groundwire.core.quantities import Quantity, find_quantities
from groundwire.core.sentences import split_sentences
from groundwire.core.types import Citation, Document, Part, Span
from groundwire.writing.alignment import Token, tokens
from groundwire.writing.guards import is_chinese
from groundwire.writing.names import find_names
from groundwire.writing.wordlists import axes, lines, words_of

RECENT_DAYS = 3
"""A day so long before publication, or less, is when the news is of; an earlier one is when something happened."""
FEWEST_WORDS = 3
"""A number with fewer telling words around it, and of no listed measure, states nothing that could be compared."""
_BEFORE, _BEHIND = 9, 8
_CHINESE_BEFORE, _CHINESE_BEHIND = 16, 12
_NEAR, _NEAR_CHINESE, _COMMA, _COMMA_CHINESE = 64, 16, 16, 5
_KINDS = ("count", "money", "percent", "points")
_COUNTED = frozenset({"person", "household", "house"})
_PERIODS = ("month", "quarter", "half", "year", "decade", "part")
_OLD = re.compile(r"(?:\bfrom\s(?:[\w,]+\s){0,3}|(?:[由从自]|原先|原本|此前)(?:[^，。；,;]{0,3}))$", re.IGNORECASE)
_NEW = re.compile(r"^(?:[^.,;，。；]{0,24}\bto\b|[^,，。；;]{0,8}[为至到成])", re.IGNORECASE)
_EARLIER = re.compile(
    r"(?:\b(?:previous(?:ly)?|earlier|initial(?:ly)?|original(?:ly)?|compared (?:with|to)|against|targets?|goals?|if|"
    r"(?<!more )(?<!fewer )(?<!less )than|consensus|estimated?|expect(?:s|ed)?|project(?:s|ed)?|guidance|forecasts?|"
    r"aim(?:s|ing)?|plan(?:s|ned)?|intends?|limit of|would|will|up to|record of)\b[^.,;]{0,30}"
    r"|(?:原先|原本|此前|先前|目标|预估|预计|上限|若|如果|将)[^,，。；;]{0,10}|(?:较|比)[^,，。；;]{0,3})$",
    re.IGNORECASE,
)
_PART_OF = re.compile(
    r"\s(?:(?:people|others|persons?|percent)\s)?(?:of|among)\s"
    r"(?:the|them|those|these|its|his|her|their|whom|which)\b|[^,，。；;]{0,3}其中",
    re.IGNORECASE,
)
_SINCE = re.compile(r"(?:\b(?:since|until|till|by|before|after|than|from)|[自从较比])\s?$", re.IGNORECASE)
_ALONE = r"(?!\s(?:certificates?|penalt(?:y|ies)|rows?|threats?|sentences?|notices?|squads?|bed)\b)"
_WHEN = re.compile(r",?\s(?:when|in which)\b|[年月日]?[,，]?(?:当时|当年)")
_SINCE_AFTER = re.compile(r"^(?:以来|以前|之前|之后|以后|同期|底前|前)")
_SAID = re.compile(
    r"\b(?:said|says|told|according|reported|announced|added)\b|表示|指出|宣布|统计|公布|说", re.IGNORECASE
)
_PLACES = re.compile(r"(?:^|[,，。、；;:：「在于])((?!.民国)[\u3400-\u9fff]{2}[市县区镇乡省州国])")
_STOP = re.compile(r"[,;:，；：、。]|\b(?:and|while|but)\b|(?:以及|并有|另有)")


@dataclass(frozen=True, slots=True)
class When:
    """When a number holds: the ``period`` it is of, or else the ``day``; and all ``hours`` and ``years`` named."""

    period: tuple[date, date] | None = None
    day: date | None = None
    hours: frozenset[Fraction] = frozenset()
    years: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Fact:
    """A statement with what it is compared by.

    ``words`` stand around the number, the nearest on either side in ``beside``, ``names`` in its sentence, ``rest`` are
    its other numbers; ``measure`` is a name of ``measures.txt`` or ``""``; ``sign`` is 1 or -1 for a rise or fall, 0
    for a level; ``time`` is when it holds, as far as the sentence says.
    """

    statement: Statement
    quantity: Quantity
    document: Document
    sentence: str
    words: frozenset[str]
    beside: tuple[str, str]
    names: tuple[str, ...]
    opening: str
    rest: tuple[Quantity, ...]
    measure: str
    sign: int
    time: When

    @cached_property
    def chinese(self) -> bool:
        """Whether the sentence is Chinese."""
        return is_chinese(self.sentence)


@dataclass(frozen=True, slots=True)
class _Measure:
    name: str
    total: bool
    kinds: frozenset[str]
    form: re.Pattern[str]


@cache
def _measures() -> tuple[_Measure, ...]:
    found = []
    for level in ("total", "level"):
        for line in lines("measures")[level]:
            head, _, listed = line.partition(" = ")
            name, kinds = head.split()
            words = sorted(listed.split(), key=lambda word: (-len(word), word))
            forms = [re.escape(w) if w[0] >= "\u3400" else r"\b" + w.replace("_", " ") + r"\b" + _ALONE for w in words]
            form = re.compile("|".join(forms), re.IGNORECASE)
            found.append(_Measure(name, level == "total", frozenset(kinds.split("/")), form))
    return tuple(found)


@cache
def running_totals() -> frozenset[str]:
    """The measures that may grow or be corrected from day to day: tolls, and what else is counted on."""
    return frozenset(measure.name for measure in _measures() if measure.total)


@cache
def tolls() -> frozenset[str]:
    """The measures that count people: whatever counter is written, their numbers are of one unit."""
    return frozenset(measure.name for measure in _measures() if "people" in measure.kinds)


def counts_people(quantity: Quantity) -> bool:
    """Whether a number may be of people: a count of persons or lives, or of something that is not named."""
    return quantity.kind == "count" and (quantity.unit in ("", "person") or "人命" in quantity.nouns)


# --- reading ----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def read_facts(document: Document) -> tuple[Fact, ...]:
    """The statements of a document, title first, with what they are compared by; none where it asks or only counts."""
    found = list(_facts(document, document.title, start=0, part="title")) if document.title else []
    for span in split_sentences(document.text, language=document.language):
        found += _facts(document, document.text[span.start : span.end], start=span.start, part="text")
    return tuple(found)


def find_statements(documents: Iterable[Document]) -> tuple[Statement, ...]:
    """Every value that the documents state of something, in order; numbers of no telling words are left out."""
    return tuple(fact.statement for document in documents for fact in read_facts(document))


def _facts(document: Document, sentence: str, *, start: int, part: Part) -> Iterator[Fact]:
    if sentence.rstrip("”」\"' ").endswith(("?", "？")):
        return
    flat = flatten(sentence)
    quantities = find_quantities(sentence)
    usable = [q for q in quantities if q.kind in _KINDS and not _unusable(q, flat)]
    dates = find_dates(sentence, anchor=document.published)
    written, opening = _names_of(sentence, flat)
    names = tuple(dict.fromkeys(flatten(name).casefold() for name in written))
    hours = frozenset(q.value for q in quantities if q.kind == "clock")
    years = frozenset(mention.start.year for mention in dates if mention.absolute and mention.start)
    for quantity in usable:
        words, beside = _words_around(sentence, quantity, quantities=quantities, dates=dates)
        measure = _measure_of(quantity, flat, quantities=usable)
        if not measure and len(words) < FEWEST_WORDS:
            continue
        sign = _sign_of(quantity, flat) if quantity.kind in ("percent", "points") else 0
        time = replace(_time_of(quantity, flat, dates=dates), hours=hours, years=years)
        citation = Citation(0, document.id, start, start + len(sentence), sentence, part=part)
        old = time.day if time.day and not is_news(time.day, document) else document.published
        statement = Statement(
            ", ".join(written), measure, float(quantity.value) * (sign or 1),
            "%" if quantity.kind == "percent" else quantity.unit, quantity.text, _written_time(time.period, old),
            citation,
        )  # fmt: skip
        rest = tuple(other for other in usable if other is not quantity)
        yield Fact(
            statement, quantity, document, sentence, words, beside, names, opening, rest, measure, sign, time
        )  # fmt: skip


def is_news(day: date, document: Document) -> bool:
    """Whether a day is so near to publication that the sentence tells the state of things."""
    return document.published is not None and 0 <= (document.published - day).days <= RECENT_DAYS


def _unusable(quantity: Quantity, flat: str) -> bool:
    """Whether a number is no statement of its own: weak, vague, the old end of a change, a part or only supposed."""
    before, behind = flat[max(0, quantity.span.start - 48) : quantity.span.start], flat[quantity.span.end :][:40]
    old = _OLD.search(before) is not None and _NEW.search(behind) is not None
    named = quantity.kind == "count" and not quantity.unit and re.search(r"[a-z] [A-Z][a-z]+ $", before)
    if named or re.match(r"-[A-Za-z]", behind):  # the Demon 170, the 10-year bond
        return True
    return quantity.weak or quantity.bound == "vague" or old or bool(_EARLIER.search(before) or _PART_OF.match(behind))


def _written_time(period: tuple[date, date] | None, day: date | None) -> str:
    if period is None:
        return day.isoformat() if day else ""
    first, last = period
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31) and first.year == last.year:
        return str(first.year)
    return f"{first.year}-{first.month:02d}" if first.month == last.month else f"{first.isoformat()}/{last.isoformat()}"


def _names_of(sentence: str, flat: str) -> tuple[tuple[str, ...], str]:
    """The names of a sentence, as written, but for those who say it; and its first word where that may be a name."""
    names = []
    for name in find_names(sentence):
        around = flat[max(0, name.span.start - 14) : name.span.start] + "\0" + flat[name.span.end : name.span.end + 10]
        if not _SAID.search(around):
            names.append(name.text)
    names += [sentence[found.start(1) : found.end(1)] for found in _PLACES.finditer(flat)]
    first = re.match(r"[\W_]*(?:The\s)?([A-Z][\w-]+)", sentence)
    opening = first[1].casefold() if first else ""
    plain = words_of("names", "common") | words_of("names", "plain") | words_of("names", "roles")
    return tuple(dict.fromkeys(names)), "" if opening in plain else opening


def _words_around(
    sentence: str, quantity: Quantity, *, quantities: Sequence[Quantity], dates: Sequence[DateMention]
) -> tuple[frozenset[str], tuple[str, str]]:
    """The telling words, or pairs of Chinese characters, beside a number, and the nearest on either side.

    Without numbers, dates and directions.
    """
    taken = [q.span for q in quantities] + [mention.span for mention in dates]
    taken += [Span(*match.span()) for match in _turns_in(sentence)]
    kept = [t for t in tokens(sentence) if not any(s.start <= t.start < s.end for s in taken)]
    chinese = is_chinese(sentence)
    before, behind = (_CHINESE_BEFORE, _CHINESE_BEHIND) if chinese else (_BEFORE, _BEHIND)
    sides = (
        [t for t in kept if t.start < quantity.span.start][-before:],
        [t for t in kept if t.start >= quantity.span.end][:behind],
    )
    left, right = (_telling_keys(side) for side in sides)
    return frozenset((*left, *right)), (left[-1] if left else "", right[0] if right else "")


def _telling_keys(near: Sequence[Token]) -> list[str]:
    """Words, and pairs of Chinese characters, that say something; in order."""
    empty, found = words_of("names", "zhfunction"), []
    for token, following in zip_longest(near, near[1:]):
        if token.key >= "\u3400":
            pair = token.key + following.key if following is not None and following.key >= "\u3400" else ""
            found += [pair] if pair and not set(pair) & empty else []
        elif not token.key[0].isdecimal() and not is_empty(token.text.lower()):
            found.append(token.key)
    return found


def is_empty(word: str) -> bool:
    """Whether an English word says nothing of what a number is of: function words, speech, pronouns, rise and fall."""
    listed = (("turns", "passed"), ("names", "common"), ("names", "said"), ("names", "pronouns"))
    return any(word in words_of(*kind) for kind in listed) or any(axis == 0 for axis, _ in axes("axis").get(word, ()))


def _measure_of(quantity: Quantity, flat: str, *, quantities: Sequence[Quantity]) -> str:
    """The listed measure whose words stand nearest to a number, with no other number nearer; empty for none."""
    money = quantity.kind == "money" or "crown" in quantity.nouns
    if quantity.kind == "count" and not money and quantity.unit in SHARED_UNITS - _COUNTED:
        return ""
    kinds: set[str] = {"money" if money else quantity.kind}
    if not money and counts_people(quantity):
        kinds.add("people")
    found = [
        (_distance(quantity, match.span(), flat=flat, quantities=quantities), measure.name)
        for measure in _measures()
        if kinds & measure.kinds
        for match in measure.form.finditer(flat)
    ]
    distance, name = min(found, default=(float("inf"), ""))
    return name if distance <= (_NEAR_CHINESE if is_chinese(flat) else _NEAR) else ""


def _distance(quantity: Quantity, span: tuple[int, int], *, flat: str, quantities: Sequence[Quantity]) -> float:
    """How far the words of a measure stand from a number; infinite where they belong to another number."""
    first, last = _gap(quantity, span)
    between = any(first <= other.span.start < last for other in quantities)
    stops = len(_STOP.findall(flat[first:last]))
    gaps = (_gap(other, span) for other in quantities if other is not quantity)
    taken = stops and any(a <= b and not _STOP.search(flat[a:b]) for a, b in gaps)
    if between or taken:
        return float("inf")
    return max(0, last - first) + (_COMMA_CHINESE if is_chinese(flat) else _COMMA) * stops


def _gap(quantity: Quantity, span: tuple[int, int]) -> tuple[int, int]:
    return (quantity.span.end, span[0]) if span[0] >= quantity.span.end else (span[1], quantity.span.start)


@lru_cache(maxsize=4096)
def telling_words(text: str) -> frozenset[str]:
    """The words, and pairs of Chinese characters, that say what a text is about; no numbers, rises or falls."""
    return frozenset(_telling_keys(tokens(text)))


def turn_of(text: str) -> tuple[str, int]:
    """The word that says that something rises or falls, and 1 or -1; empty and 0 where there is none, or both."""
    if is_chinese(text):
        found = [(m.group(), {side for axis, side in axes("zh")[m.group()] if axis == 0}) for m in _turns_in(text)]
    else:
        found = [(word, _sides([word.lower()])) for word in re.findall(r"[A-Za-z]+", text)]
    turned = [(word, sides) for word, sides in found if len(sides) == 1]
    sides = {side for _, each in turned for side in each}
    return (turned[0][0], 1 - 2 * sides.pop()) if len(sides) == 1 else ("", 0)


def _turns_in(text: str) -> Iterator[re.Match[str]]:
    return _chinese_turns().finditer(flatten(text))


@cache
def _chinese_turns() -> re.Pattern[str]:
    listed = sorted((w for w, places in axes("zh").items() if any(a == 0 for a, _ in places)), key=len, reverse=True)
    return re.compile("|".join(map(re.escape, listed)))


def _sign_of(quantity: Quantity, flat: str) -> int:
    """1 where a share is a rise, -1 where it is a fall, 0 where it is neither; read from the words right beside it."""
    before, behind = flat[max(0, quantity.span.start - 26) : quantity.span.start], flat[quantity.span.end :][:18]
    if is_chinese(flat):
        near = re.split(r"[,，。；、]", before)[-1][-8:], re.split(r"[,，。；、]", behind)[0][:4]
        first, then = ([m.group() for m in _turns_in(part)] for part in near)
        found = [word for word in first if not word.endswith("至")] or then
        sides = {side for word in found[-1:] for axis, side in axes("zh")[word] if axis == 0}
    else:
        words = re.findall(r"[a-z]+", re.split(r"[,;.]\s", before.lower())[-1])[-3:]
        words = [] if words[-1:] == ["to"] or words[-1:] == ["at"] else words
        sides = _sides(words) or _sides(re.findall(r"[a-z]+", re.split(r"[,;.]\s", behind.lower())[0])[:2])
    return 0 if len(sides) != 1 else 1 - 2 * sides.pop()


def _sides(words: Sequence[str]) -> set[int]:
    forms = ((word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("d")) for word in words)
    return {side for each in forms for form in each for axis, side in axes("axis").get(form, ()) if axis == 0}


def _time_of(quantity: Quantity, flat: str, *, dates: Sequence[DateMention]) -> When:
    """The period that a number is of, or else the day that stands nearest; neither where the sentence says none."""
    usable = [
        mention for mention in dates if mention.start and mention.end and not _bounds(mention, flat, quantity=quantity)
    ]
    usable.sort(key=lambda mention: _apart(mention, quantity, flat))
    days = [mention.start for mention in usable if mention.granularity == "day"]
    for mention in usable:
        period = mention.granularity in _PERIODS and (mention.absolute or not days)
        if period and mention.start and mention.end:
            return When((mention.start, mention.end))
    return When(None, days[0] if days else None)


def _bounds(mention: DateMention, flat: str, *, quantity: Quantity) -> bool:
    """Whether a date only says since or until when; what is told of then has its time ("since 1986, when 37 died")."""
    told = _WHEN.match(flat[mention.span.end :])
    if told is not None and quantity.span.start >= mention.span.end:
        return False
    before = flat[max(0, mention.span.start - 8) : mention.span.start]
    behind = flat[mention.span.end : mention.span.end + 3]
    return _SINCE.search(before) is not None or _SINCE_AFTER.match(behind) is not None


def _apart(mention: DateMention, quantity: Quantity, flat: str) -> int:
    """How far a date stands from a number; in English one behind it is rather meant."""
    behind = mention.span.start - quantity.span.end
    return behind if behind >= 0 else quantity.span.start - mention.span.end + (0 if is_chinese(flat) else 8)
