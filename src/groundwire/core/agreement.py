"""Whether two mentions say the same: quantities (value, unit, scale) and dates (by day, month, year).

Used to hold a claim against its source; the first argument is the claim's mention and may be vaguer than the second.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from typing import Literal

from groundwire.core.figures import Quantity
from groundwire.core.mentions import DateMention
from groundwire.core.numerals import SHARED_UNITS

ABOUT = Fraction(5, 100)
"""``about 3.5 million`` may differ from the source by this share."""
NEARLY = Fraction(10, 100)
"""``nearly 3.5 million`` may lie above the source by this share."""
BEYOND = Fraction(25, 100)
"""``more than 3 million`` may lie below the source by this share, ``fewer than`` above it."""

MOST_COMPUTED = 30
"""So many quantities of a source are tried in pairs."""
SOME, MANY = Fraction(3, 2), 100
"""``hundreds`` of the source's amount: from so many times a hundred to less than so many times."""

_CODES: Mapping[str, frozenset[str]] = {
    "$": frozenset({"USD", "TWD", "HKD", "AUD", "CAD", "SGD", "NZD"}),
    "元": frozenset({"TWD", "CNY", "HKD", "SGD", "¥", "JPY"}),
    "¥": frozenset({"JPY", "CNY"}),
    "peso": frozenset({"PHP", "MXN"}),
    "franc": frozenset({"CHF", "XOF"}),
    "lira": frozenset({"TRY"}),
    "krona": frozenset({"SEK", "NOK", "DKK"}),
    "dirham": frozenset({"AED"}),
    "riyal": frozenset({"SAR"}),
    "INR": frozenset({"PKR"}),
}
_PERSON_ENDING = re.compile(
    r"(?:er|or|ist|an|ant|ent|ee|man|ive|ese|guest|nurse|teen|athlete|judge|pilot|hostage|monk|friend|son|cop|expert)$"
)
_LOOSE = frozenset(
    {"件", "household", "家", "间", "座", "次", "组", "批", "对", "级", "队", "house", "company", "times", "point"}
)
_OPEN = frozenset(frozenset(pair) for pair in (("household", "house"), ("degree", "°C"), ("degree", "°F")))
_AGAINST: Mapping[str, frozenset[str]] = {
    "over": frozenset({"exact", "near", "under", "most"}),
    "under": frozenset({"exact", "over", "least"}),
    "near": frozenset({"exact", "over", "least"}),
    "least": frozenset({"under", "near", "most"}),
    "most": frozenset({"over", "least"}),
}


def values_agree(claimed: Quantity, other: Quantity) -> bool:
    """Whether two quantities name the same amount; what the claim says about it decides."""
    if "vague" in (claimed.bound, other.bound):
        return _magnitudes_agree(claimed, other)
    if claimed.high is not None:
        return (claimed.value, claimed.high) == (other.value, other.high)
    if other.high is not None:
        score = other.value > other.high or other.kind == "score" or claimed.changed
        inside = (claimed.bound in ("least", "over") and claimed.value == other.value) or (
            claimed.bound in ("most", "under") and claimed.value == other.high
        )
        return inside or (score and claimed.value in (other.value, other.high))
    if claimed.value == other.value or _same_fraction(claimed, other):
        return other.bound not in _AGAINST.get(claimed.bound, ())
    return _rounded(claimed, other)


def _magnitudes_agree(claimed: Quantity, other: Quantity) -> bool:
    """``hundreds`` against ``hundreds`` or 450; ``more than 100`` against ``hundreds``."""
    if claimed.bound != "vague":
        return claimed.bound in ("over", "least") and claimed.high is None and claimed.value <= other.value
    if other.bound == "vague":
        return (claimed.value, claimed.high) == (other.value, other.high)
    if claimed.high is not None:
        return claimed.value <= other.value <= claimed.high
    return SOME * claimed.value <= other.value < MANY * claimed.value


def _same_fraction(claimed: Quantity, other: Quantity) -> bool:
    """Two thirds against 66.7 %: equal to half a point where one of them has no finite decimal form."""
    if claimed.kind != "percent" or other.kind != "percent":
        return False
    endless = any(1000 % quantity.value.denominator for quantity in (claimed, other))
    return endless and abs(claimed.value - other.value) <= Fraction(1, 2)


def _rounded(claimed: Quantity, other: Quantity) -> bool:
    said, meant = claimed.value, other.value
    if claimed.kind in ("ordinal", "clock") or said * meant <= 0:
        return False
    said, meant = abs(said), abs(meant)
    if other.bound in ("over", "least", "under", "most") and claimed.bound != "about":
        return False  # the source has a bound of its own
    if claimed.bound == "about":
        return abs(said - meant) <= ABOUT * meant
    if claimed.bound == "near":
        return meant < said <= (1 + NEARLY) * meant
    if claimed.bound in ("over", "least"):
        return (1 - BEYOND) * meant <= said < meant
    return claimed.bound in ("under", "most") and meant < said <= (1 + BEYOND) * meant


def computed(claimed: Quantity, known: Sequence[Quantity]) -> tuple[str, Quantity, Quantity] | None:
    """Two quantities of a source of which a claim's is made, and how; None where no two give it.

    Returns:
        ``sum``, ``difference``, ``share`` (the first in per cent of the second) or ``change`` (from the second to the
        first, in per cent), and the two. Shares and changes may be rounded as finely as the claim is written.
    """
    if claimed.kind not in ("count", "money", "percent", "points") or claimed.high is not None:
        return None
    usable = [q for q in known if q.high is None and q.value > 0 and not q.weak][:MOST_COMPUTED]
    alike = (
        pair for pair in permutations(usable, 2) if pair[0].kind == pair[1].kind and pair[0].value != pair[1].value
    )
    for one, two in alike:
        how = "" if units_agree(one, two) is False else _made(claimed, one, two)
        if how:
            return how, one, two
    return None


def _made(claimed: Quantity, one: Quantity, two: Quantity) -> str:
    """How a claim's quantity is made of two of a kind; empty where it is not."""
    if one.kind == claimed.kind and units_agree(claimed, one) is not False and one.value > two.value:
        made = {one.value + two.value: "sum", one.value - two.value: "difference"}
        return made.get(claimed.value, "")
    if claimed.kind != "percent" or one.kind not in ("count", "money") or not units_agree(one, two):
        return ""
    rates = {"share": one.value / two.value, "change": abs(one.value / two.value - 1)}
    near = (how for how, value in rates.items() if abs(100 * value - claimed.value) <= _half_a_step(claimed))
    return next(near, "") if claimed.value > 0 else ""


def _half_a_step(claimed: Quantity) -> Fraction:
    """Half of the last place that a claim is written to."""
    decimals = re.search(r"\d[.．](\d+)", claimed.text)
    return Fraction(1, 2 * 10 ** len(decimals[1])) if decimals else Fraction(1, 2)


def units_agree(claimed: Quantity, other: Quantity) -> bool | None:
    """Whether two quantities count the same kind of thing; None where the texts do not say enough."""
    alike = _units_agree(claimed, other)
    if claimed.per == other.per or not alike:
        return alike
    rates = bool(claimed.per and other.per)  # 60 km an hour is no distance
    speeds = claimed.unit in ("km", "mile", "metre") and "" in (claimed.per, other.per)
    return False if rates or speeds else None


def _units_agree(claimed: Quantity, other: Quantity) -> bool | None:
    if claimed.kind != other.kind:
        return _kinds_agree(claimed, other)
    if claimed.kind == "money":
        one, two = claimed.unit, other.unit
        return one == two or two in _CODES.get(one, ()) or one in _CODES.get(two, ())
    return _things_agree(claimed, other) if claimed.kind == "count" else True


def _kinds_agree(claimed: Quantity, other: Quantity) -> bool | None:
    kinds = {claimed.kind, other.kind}
    count = claimed if claimed.kind == "count" else other
    if kinds == {"score", "count"}:
        return count.high is not None or None
    if kinds == {"points", "count"}:
        return None if count.unit == "point" else False
    bare = not count.unit and not count.nouns
    return None if kinds == {"money", "count"} and (bare or count.unit == "pound") else False


def _things_agree(claimed: Quantity, other: Quantity) -> bool | None:
    one, two = claimed.unit, other.unit
    if one and one == two:
        return True
    if one in SHARED_UNITS and two in SHARED_UNITS:
        return None if frozenset((one, two)) in _OPEN else False
    classes = {_word_class(claimed), _word_class(other)}
    if "" in classes or classes in ({"measure", "English"}, {"nouns", "English"}):
        return None  # nothing said, or words of two languages
    if classes == {"nouns", "shared"} or classes == {"nouns", "measure"}:
        return None  # 12個孩子 may be 12人
    if classes == {"measure", "shared"}:
        return None if {one, two} & _LOOSE else False
    if _overlap(claimed.nouns, other.nouns):
        return True
    people = [unit == "person" or _PERSON_ENDING.search(unit) is not None for unit in (one, two)]
    return None if all(people) else False


def _word_class(quantity: Quantity) -> Literal["shared", "measure", "English", "nouns", ""]:
    """How the thing counted is named; ``""``: not at all.

    By a name that both languages share, a Chinese measure word, an English plural, or the Chinese nouns after 個.
    """
    if quantity.unit:
        return "shared" if quantity.unit in SHARED_UNITS else "English" if quantity.unit.isascii() else "measure"
    return "nouns" if any(len(noun) > 1 and not noun.isascii() for noun in quantity.nouns) else ""


def _overlap(one: tuple[str, ...], two: tuple[str, ...]) -> bool:
    if set(one) & set(two):
        return True
    return any(set(a[:3]) & set(b[:3]) for a in one for b in two if not a.isascii() and not b.isascii())


def dates_agree(claimed: DateMention, other: DateMention) -> Literal["same", "finer", "other"]:
    """Whether a source's date carries a claim's: ``finer`` when the claim names more than the source does.

    Two partial dates written alike (``5月6日``) agree whatever their anchors; relative ones only where they mean the
    same day, or where one of them could not be resolved and they are written alike.
    """
    if claimed.key == other.key and (claimed.key.startswith("-") or None in (claimed.start, other.start)):
        return "same"
    if other.start is None and other.absolute and other.key.partition(" ")[0] == claimed.key:  # winter 2021
        return "same"
    if claimed.start and claimed.end and other.start and other.end:
        if claimed.start <= other.start and other.end <= claimed.end:
            return "same"
        return "finer" if other.start <= claimed.start and claimed.end <= other.end else "other"
    if claimed.key.startswith("-") and other.absolute and f"-{other.key[5:]}".startswith(claimed.key[1:]):
        return "same"
    if other.key.startswith("-") and claimed.absolute and f"-{claimed.key[5:]}".startswith(other.key[1:]):
        return "finer"
    return "other"
