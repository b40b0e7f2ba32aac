"""What sources say differently of one thing: conflicts of one time, and updates where the later value counts.

Two numbers are of one thing when the words around them are mostly the same, or when both are of one listed measure of
one subject. An editor reads every finding, so where that is not plain nothing is said; ``docs/method/facts.md`` tells
what is seen and what is not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import combinations
from typing import Literal

from groundwire.core.agreement import units_agree, values_agree
from groundwire.core.findings import Discord
from groundwire.core.numerals import flatten
from groundwire.core.quantities import Quantity
from groundwire.core.types import Document
from groundwire.writing.alignment import align
from groundwire.writing.facts import (
    FEWEST_WORDS,
    Fact,
    counts_people,
    is_news,
    read_facts,
    running_totals,
    telling_words,
    tolls,
)
from groundwire.writing.names import find_names
from groundwire.writing.reasons import Reason, worded

ALIKE, COPY = 0.6, 0.8
"""Share of the fewer words around two numbers that both have: for one thing, and for two versions of a sentence."""
RELATED = 0.25
"""The same where both numbers are of one listed measure."""
AKIN, SHARED_NAMES = 0.1, 2
LENGTHS = frozenset({"second", "minute", "hour", "day", "week", "month", "year", "decade"})
"""Units of time count so many things that near copies alone are compared."""
LONGEST_NAME = 8
UPDATE_DAYS = 30
"""States of a matter that lie further apart are of two matters."""
_BEGINNING = 400


def likeness(one: Fact, two: Fact) -> float:
    """Share of the fewer words around two numbers that both have; 0 where too few are shared to tell."""
    common = len(one.words & two.words)
    fewer = min(len(one.words), len(two.words))
    return common / fewer if common >= FEWEST_WORDS or (fewer and common == fewer) else 0.0


def same_thing(one: Fact, two: Fact, *, kinship: float = 0.0) -> bool:
    """Whether two numbers are of one thing, whatever the time.

    Args:
        one: a fact.
        two: another, of another source.
        kinship: how alike their sources are, 0 to 1.
    """
    if one.chinese != two.chinese or one.measure != two.measure or (one.sign == 0) != (two.sign == 0):
        return False
    unit = one.measure in tolls() or units_agree(one.quantity, two.quantity)
    if unit is False or other_subject(one, two):
        return False
    alike = likeness(one, two)
    if not one.measure:
        same = [bool(a) and a == b for a, b in zip(one.beside, two.beside, strict=True)]
        plain = (bool(one.quantity.unit) or one.sign != 0) and one.quantity.unit not in LENGTHS
        placed = all(same) if unit is None else any(same)
        return placed and kinship >= AKIN and alike >= (ALIKE if plain and unit else COPY)
    if alike >= ALIKE:
        return True
    shared = any(name in flatten(two.sentence).casefold() for name in one.names)
    bare = one.measure in running_totals() and not (one.names and two.names)
    return kinship >= RELATED and (shared or bare or alike >= RELATED)


def other_subject(one: Fact, two: Fact) -> bool:
    """Whether each of two sentences names somebody or something that the other does not."""
    texts = [flatten(fact.sentence).casefold() for fact in (one, two)]
    lone = [
        any(not _named(name, text) for name in fact.names)
        for fact, text in ((one, texts[1]), (two, texts[0]))
    ]  # fmt: skip
    openings = bool(one.opening and two.opening) and one.opening not in texts[1] and two.opening not in texts[0]
    return all(lone) or openings or _swapped(one, two) or _swapped(two, one)


def _swapped(one: Fact, two: Fact) -> bool:
    """Whether other words stand in a name's place; Chinese names are not always known as names."""
    if not one.chinese:
        return False
    flat, other = flatten(one.sentence), flatten(two.sentence).casefold()
    lone = [name for name in one.names if not _named(name, other) and name in flat]
    for edit in align(flat, flatten(two.sentence)).merged if lone else ():
        if edit.replaced and 1 < len(edit.source) <= LONGEST_NAME and len(edit.claim) <= LONGEST_NAME:
            first, last = edit.claim[0].start, edit.claim[-1].end
            if any(first < flat.find(name) + len(name) and flat.find(name) < last for name in lone):
                return True
    return False


def _named(name: str, text: str) -> bool:
    return name in text or any(len(word) > 3 and word in text for word in re.split(r"[\s-]+", name))


def values_meet(one: Fact, two: Fact) -> bool:
    """Whether two values agree, within bounds and as finely as both are written."""
    if one.sign != two.sign:
        return False
    a, b = one.quantity, two.quantity
    if values_agree(a, b) or values_agree(b, a):
        return True
    if a.high is not None or b.high is not None:
        low, high = max(a.value, b.value), min(a.high or a.value, b.high or b.value)
        return low <= high
    if "exact" not in (a.bound, b.bound) and a.bound == b.bound and likeness(one, two) < COPY:
        return 4 * abs(a.value - b.value) <= max(abs(a.value), abs(b.value))
    return abs(a.value - b.value) <= max(_step(a), _step(b)) / 2


def _step(quantity: Quantity) -> Fraction:
    """The last place that an amount is written to, but never more than a tenth of it; round hundreds are rounded."""
    value = abs(quantity.value)
    if not value:
        return Fraction(0)
    decimals = re.search(r"\d[.．](\d+)", quantity.text)
    digits = re.sub(r"\D", "", flatten(quantity.text)).lstrip("0")
    step = Fraction(0)
    if digits:
        unit = value / int(digits)
        zeros = len(digits) - len(digits.rstrip("0"))
        whole = unit * 10**zeros if zeros > 1 or (zeros and decimals) else unit
        step = whole if decimals or unit > 1 or zeros > 1 else Fraction(0)
    return min(step, value / 10)


def relation(one: Fact, two: Fact) -> Literal["same", "later", "other"]:
    """How the times of two facts lie; ``later``, either way: two states of one matter."""
    named_times = ((one.time.hours, two.time.hours), (one.time.years, two.time.years))
    if any(a and b and not a & b for a, b in named_times):
        return "other"
    if one.time.period or two.time.period:
        return "same" if one.time.period == two.time.period else "other"
    days = [fact.document.published for fact in (one, two)]
    total = one.measure in running_totals()
    events = one.time.day is not None and two.time.day is not None
    if events and one.time.day != two.time.day and not (total and _is_state(one) and _is_state(two)):
        return "other"
    if None in days:
        return "same" if one.measure or likeness(one, two) >= COPY else "other"
    first, last = sorted(day for day in days if day is not None)
    if first == last or (events and not total):
        return "same"
    return "later" if (last - first).days <= UPDATE_DAYS else "other"


def _is_state(fact: Fact) -> bool:
    """Whether a number is how things stood at publication, rather than of a day before."""
    return fact.time.day is not None and is_news(fact.time.day, fact.document)


# --- discords ---------------------------------------------------------------------------------------------------------


def find_discords(sources: Sequence[Document], *, topic: str = "") -> tuple[Discord, ...]:
    """Where sources give different values for one thing: a conflict, or an update where the later one counts.

    Args:
        sources: documents about one matter, the best first; every two of them are compared.
        topic: what the article is about; sources that share its words are taken to be about one matter.

    Returns:
        Discords in order of the sources, each with one statement for a value and a time, in order of time.
    """
    found: list[tuple[str, Fact, Fact]] = []
    for one, two in combinations(sources, 2):
        kin = kinship(one, two, topic=topic)
        found += _between(read_facts(one), read_facts(two), kin=kin)
    groups: list[tuple[str, list[Fact]]] = []
    for kind, a, b in found:
        _join(groups, kind, (a, b))
    return tuple(_discord(kind, facts) for kind, facts in groups)


def kinship(one: Document, two: Document, *, topic: str = "") -> float:
    """How alike two sources are: the share of the words of title and beginning that both have, 0 to 1."""
    heads = [_head(document) for document in (one, two)]
    fewer = min(len(words) for words, _ in heads)
    common = len(heads[0][0] & heads[1][0])
    alike = common / fewer if common > FEWEST_WORDS else 0.0
    asked = telling_words(topic)
    both = asked and min(len(asked & words) / len(asked) for words, _ in heads) >= 0.5
    named = len(heads[0][1] & heads[1][1]) >= SHARED_NAMES
    return max(alike, RELATED if both or named else 0.0)


@lru_cache(maxsize=512)
def _head(document: Document) -> tuple[frozenset[str], frozenset[str]]:
    """The telling words and the names of the title and beginning of a document."""
    beginning = document.text[:_BEGINNING]
    names = (flatten(n.text).casefold() for part in (document.title, beginning) for n in find_names(part))
    return telling_words(f"{document.title}\n{beginning}"), frozenset(names)


def _between(ones: Sequence[Fact], twos: Sequence[Fact], *, kin: float) -> Iterator[tuple[str, Fact, Fact]]:
    for one in ones:
        best = _match(one, twos, kin=kin)
        if best is None or _match(best, ones, kin=kin) is None:
            continue
        how = relation(one, best)
        steady = one.measure in running_totals() or (likeness(one, best) >= COPY and not one.measure)
        if how == "same":
            yield "conflict", one, best
        elif how == "later" and steady and not one.sign:
            yield "update", one, best


def _match(fact: Fact, others: Sequence[Fact], *, kin: float) -> Fact | None:
    """The fact of another source that is of the same thing and has another value; None where any has the same."""
    matches = [other for other in others if same_thing(fact, other, kinship=kin) and relation(fact, other) != "other"]
    if any(values_meet(fact, other) or _told(fact, other) or _told(other, fact) for other in matches):
        return None
    return max(matches, key=lambda other: likeness(fact, other), default=None)


def _told(fact: Fact, other: Fact) -> bool:
    """Whether a fact's value stands in the other's sentence too; or in its source, and the other's in this one's."""
    if _holds(other.rest, fact):
        return True
    if fact.sign != other.sign:
        return False
    known = ([one.quantity for one in read_facts(each.document)] for each in (other, fact))
    return all(_holds(quantities, one) for quantities, one in zip(known, (fact, other), strict=True))


def _holds(quantities: Sequence[Quantity], fact: Fact) -> bool:
    return any(q.value == fact.quantity.value and _may_count(q, fact) for q in quantities)


def _may_count(quantity: Quantity, fact: Fact) -> bool:
    """Whether a number may be of the same things as that of a fact."""
    if fact.measure in tolls():
        return counts_people(quantity)
    return quantity.kind == fact.quantity.kind and units_agree(quantity, fact.quantity) is not False


def _join(groups: list[tuple[str, list[Fact]]], kind: str, pair: tuple[Fact, Fact]) -> None:
    for known, facts in groups:
        if known == kind and any(_one_statement(fact, member) for fact in pair for member in facts):
            facts += [fact for fact in pair if not any(fact is member for member in facts)]
            return
    groups.append((kind, list(pair)))


def _one_statement(one: Fact, two: Fact) -> bool:
    """Whether two facts are one, or give a toll of one measure, value and day."""
    if one.measure and one.measure == two.measure and one.measure in running_totals():
        return (one.statement.as_of, one.quantity.value) == (two.statement.as_of, two.quantity.value)
    return one is two


def _discord(kind: str, facts: Sequence[Fact]) -> Discord:
    kept: dict[tuple[str, float], Fact] = {}
    for fact in facts:
        kept.setdefault((fact.statement.as_of, fact.statement.value), fact)
    ordered = sorted(kept.values(), key=lambda fact: fact.statement.as_of)
    said = [_said(fact) for fact in ordered]
    times = sorted({fact.statement.as_of for fact in ordered if fact.statement.as_of})
    statements = tuple(fact.statement for fact in ordered)
    if kind == "update":
        return Discord("update", statements, worded(Reason("discord_update", (" → ".join(said),)), "en"))
    name = "discord_opposite" if len({fact.sign for fact in ordered}) > 1 else "discord_values"
    reason = Reason(name, (times[-1], " / ".join(said))) if times else Reason(f"{name}_undated", (" / ".join(said),))
    return Discord("conflict", statements, worded(reason, "en"))


def _said(fact: Fact) -> str:
    return f"{'+' if fact.sign > 0 else '−' if fact.sign < 0 else ''}{fact.statement.written}"
