"""The expectation of a number over the tokens a model could have replied with, in one call, for any tokenizer.

A server tells the alternatives of every place only along the reply that was sampled. So some of the probability is
known exactly (an alternative that ends the number, or after which no digit fits the scale), some is estimated (an
alternative with a first digit, whose second place was never seen, takes the endings of the sampled one), and the rest
is open. Each share is reported, with the bounds that hold whatever the unseen tokens would have been.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from groundwire.core.errors import UsageError
from groundwire.core.language import ReplyToken, TokenChoice
from groundwire.core.numerals import flatten
from groundwire.core.types import Outcome

LEAST_MASS = 0.5
"""An expectation that rests on less of the probability than this is not taken."""

_LEAD = re.compile(r"[\s\"'“”「『:：=*_`▁Ġ]*")
_DIGITS = re.compile(r"\d+(?:\.\d*)?")
_MINUS = "-−–"


@dataclass(frozen=True, slots=True)
class Expectation:
    """The mean of a number over what a model could have said.

    Attributes:
        value: the mean over the probability that is known or estimated; None where ``outcome`` is not ``read``.
        mass: the share of probability that it rests on, known and estimated together, 0 to 1.
        estimated: the part of ``mass`` whose last digits were estimated.
        mode: the likeliest number; of several the lowest.
        spread: the standard deviation over the same probability.
        lowest: the least that the mean could be, had all that is not known come out lowest.
        highest: the most that it could be.
        outcome: ``read``, ``out_of_range`` (what was sampled lies outside the scale) or ``unreadable``.
        reason: why there is no value.
    """

    value: float | None
    mass: float
    estimated: float
    mode: float | None
    spread: float | None
    lowest: float
    highest: float
    outcome: Outcome
    reason: str = ""


@dataclass(slots=True)
class _Tally:
    """Probability by value, with the range a value that is not finished can still take."""

    low: float
    high: float
    exact: dict[float, float] = field(default_factory=dict)
    estimated: dict[float, float] = field(default_factory=dict)
    least: float = 0.0
    most: float = 0.0
    bounded: float = 0.0

    def add(self, value: float, weight: float, *, reach: float = 0.0) -> None:
        """A number that was reached, or which can only grow by less than ``reach`` (its decimals)."""
        if self.low <= value <= self.high and weight > 0:
            self.exact[value] = self.exact.get(value, 0.0) + weight
            self.bound(weight, least=value, most=min(value + reach, self.high))

    def bound(self, weight: float, *, least: float, most: float) -> None:
        """What the weight of an unfinished number adds to the bounds."""
        self.least += weight * least
        self.most += weight * most
        self.bounded += weight


@dataclass(frozen=True, slots=True)
class _Open:
    """An alternative whose number had only begun: its digits, and the place in the number where they end."""

    digits: str
    weight: float


def expected_value(
    tokens: Sequence[ReplyToken],
    *,
    low: float = 0,
    high: float = 100,
    after: str = "",
    whole: bool = True,
    least_mass: float = LEAST_MASS,
) -> Expectation:
    """The expectation of the number that a reply begins with, or that follows a text in it.

    Probability is taken given everything before the number, white space and quotes excepted. White space or quotes of
    another kind before the number count as those that were sampled.

    Args:
        tokens: those of the reply, each with its likeliest alternatives.
        low: the lowest number that counts, 0 or more.
        high: the highest.
        after: the text that the number follows, such as ``"relevance":``; empty: the first number of the reply.
        whole: False where the reply was cut, so that the last number may be unfinished.
        least_mass: the least share of probability that an expectation may rest on, above 0 to 1.

    Raises:
        UsageError: the scale is empty or below 0, or a share is out of range.

    Source:
        The expectation in place of the mode: G-Eval (arXiv:2303.16634); how unseen endings are treated is ours.
    """
    if not (0 <= low < high < math.inf and 0 < least_mass <= 1):
        raise UsageError(f"a number from {low} to {high} on {least_mass} of the probability is no expectation")
    start = _start(tokens, after)
    if start is None:
        missing = f"there is no number after '{after}'" if after else "the reply holds no number"
        return _none("unreadable", missing, low, high)
    if not any(token.alternatives for token in tokens[start:]):
        return _none("unreadable", "the reply came without alternatives of its tokens", low, high)
    tally = _Tally(low, high)
    path = _walk(tokens[start:], tally, whole=whole)
    sampled = path.value
    if sampled is None or not low <= sampled <= high or _is_share(sampled, low, high):
        shown = "a number below 0" if sampled is None else f"{sampled:g}"
        return _none("out_of_range", f"the reply says {shown}, and the scale runs from {low:g} to {high:g}", low, high)
    for each in path.opened:
        _estimate(each, tally, path.endings)
    return _result(tally, least_mass)


def expected_choice(
    tokens: Sequence[ReplyToken], *, choices: Mapping[str, float], least_mass: float = LEAST_MASS
) -> Expectation:
    """The expectation over words with values, such as ``{"yes": 100, "no": 0}``, at the first place that has one.

    A token counts for a word that it equals, begins with, or is the beginning of when no other word begins so; case,
    white space and quotes aside.

    Raises:
        UsageError: fewer than two words, or a share out of range.
    """
    if len(choices) < 2 or not 0 < least_mass <= 1:
        raise UsageError(f"{len(choices)} words on {least_mass} of the probability are no choice; give two or more")
    low, high = min(choices.values()), max(choices.values())
    folded = {word.casefold(): value for word, value in choices.items()}
    for token in tokens:
        if not _LEAD.sub("", token.text, count=1):
            continue
        if _word(token.text, folded) is None:
            return _none(
                "unreadable",
                f"the reply begins with '{token.text.strip()[:20]}', none of {', '.join(choices)}",
                low,
                high,
            )
        if not token.alternatives:
            return _none("unreadable", "the reply came without alternatives of its tokens", low, high)
        tally = _Tally(low, high)
        for choice in _choices(token):
            word = _word(choice.text, folded)
            if word is not None:
                tally.add(folded[word], math.exp(choice.logprob))
        return _result(tally, least_mass)
    return _none("unreadable", "the reply is empty", low, high)


def _word(text: str, words: Collection[str]) -> str | None:
    """The word that a token stands for."""
    shown = _LEAD.sub("", flatten(text), count=1).casefold()
    exact = [word for word in words if re.match(rf"{re.escape(word)}(?![a-z])", shown)]
    begun = [word for word in words if shown and word.startswith(shown)]
    found = exact or begun
    return found[0] if len(found) == 1 else None


def _choices(token: ReplyToken) -> tuple[TokenChoice, ...]:
    """A place's alternatives with the sampled token among them, and no log-probability above 0."""
    own = (
        () if any(each.text == token.text for each in token.alternatives) else (TokenChoice(token.text, token.logprob),)
    )
    return tuple(
        TokenChoice(each.text, min(each.logprob, 0.0))
        for each in (*token.alternatives, *own)
        if each.logprob > -math.inf
    )


def _start(tokens: Sequence[ReplyToken], after: str) -> int | None:
    """The place of the token with the number's first digit, or of the white space and quotes before it."""
    text = flatten("".join(token.text for token in tokens))
    begin = text.find(flatten(after))
    if begin < 0:
        return None
    found = re.compile(r"(?<![A-Za-z])\d").search(text, begin + len(after))
    if found is None or (
        after and not re.fullmatch(r"[\s\"'“”「『:：=*_`▁Ġ−–-]*", text[begin + len(after) : found.start()])
    ):
        return None
    ends, length = [], 0
    for token in tokens:
        length += len(token.text)
        ends.append(length)
    place = next(place for place, end in enumerate(ends) if end > found.start())
    floor = begin + len(after)
    while place and ends[place - 1] > floor and ends[place - 1] - len(tokens[place - 1].text) >= floor:
        before = flatten(tokens[place - 1].text)
        if not before or _LEAD.fullmatch(before.rstrip(_MINUS)) is None:
            break
        place -= 1
    return place


@dataclass(slots=True)
class _Path:
    """The sampled number while it is followed: its digits, and how likely it is to have come this far.

    ``endings`` say what followed its first digit, for alternatives whose second place was never seen: the share of
    ``""`` (nothing) and of each digit. Empty: a digit a token, but the first could begin a number of three. None: the
    number's first token had several digits, so that an alternative of one digit says little.
    """

    digits: str = ""
    weight: float = 1.0
    opened: list[_Open] = field(default_factory=list)
    endings: dict[str, float] | None = None
    negative: bool = False

    @property
    def value(self) -> float | None:
        return None if self.negative else float(self.digits)


def _walk(tokens: Sequence[ReplyToken], tally: _Tally, *, whole: bool) -> _Path:
    """Follow the sampled number from token to token."""
    path = _Path()
    for token in tokens:
        said = flatten(token.text)
        blank = not path.digits and _LEAD.fullmatch(said) is not None
        before = "" if path.digits or blank else said[: _first_digit(said)]
        if before.rstrip().endswith(tuple(_MINUS)):
            path.negative = True
            return path
        _step(token, path, tally=tally, blank=blank, before=before)
        if blank:
            continue
        written = path.digits + said.removeprefix(before)
        found = _DIGITS.match(written)
        path.digits = found.group() if found else path.digits
        if len(path.digits) < len(written):
            tally.add(float(path.digits), path.weight)
            return path
    if whole:
        tally.add(float(path.digits), path.weight)
    else:
        _take_prefix(path.digits, path.weight, path=path, tally=tally)
    return path


def _step(token: ReplyToken, path: _Path, *, tally: _Tally, blank: bool, before: str) -> None:
    """Count what else could have stood in this place; the path's weight becomes that of what goes on with it."""
    choices = _choices(token)
    if len(path.digits) == 1:
        path.endings = {} if int(path.digits) * 100 <= tally.high else _following(choices)
    passed = 0.0
    for choice in choices:
        share = path.weight * math.exp(choice.logprob)
        text = flatten(choice.text)
        if choice.text == token.text or (blank and _LEAD.fullmatch(text) is not None):
            passed += share
        else:
            _take_alternative(text.removeprefix(before), path, share, tally=tally)
    path.weight = passed


def _first_digit(text: str) -> int:
    """Where the first digit of a text stands; its end where there is none."""
    found = re.search(r"\d", text)
    return found.start() if found else len(text)


def _take_alternative(text: str, path: _Path, share: float, *, tally: _Tally) -> None:
    """Count a token that was not sampled, after the digits that were."""
    lead = "" if path.digits else text[: _first_digit(text)]
    if _LEAD.fullmatch(lead) is None:
        return
    written = path.digits + text.removeprefix(lead)
    found = _DIGITS.match(written)
    if found is None:
        return
    if found.end() < len(written) or found.group() == path.digits:
        tally.add(float(found.group()), share)
    else:
        _take_prefix(found.group(), share, path=path, tally=tally)


def _take_prefix(digits: str, share: float, *, path: _Path, tally: _Tally) -> None:
    """Count a number that may go on: settled where no further digit fits the scale."""
    if "." in digits:
        tally.add(float(digits), share, reach=10.0 ** -len(digits.partition(".")[2]))
    elif int(digits) * 10 > tally.high or digits.startswith("0"):
        tally.add(float(digits), share, reach=1.0)
    else:
        path.opened.append(_Open(digits, share))


def _following(choices: Sequence[TokenChoice]) -> dict[str, float]:
    """After one digit: how likely nothing more follows, and each second digit."""
    shares: dict[str, float] = {}
    for choice in choices:
        found = re.match(r"\d*", flatten(choice.text))
        more = found.group() if found else ""
        if len(more) <= 1:
            shares[more] = shares.get(more, 0.0) + math.exp(choice.logprob)
    total = sum(shares.values())
    return {more: share / total for more, share in shares.items()} if total > 0 else {}


def _estimate(each: _Open, tally: _Tally, endings: Mapping[str, float] | None) -> None:
    """Share out a number that had only begun; where one, two or three digits are possible it stays open."""
    begun = int(each.digits)
    tally.bound(each.weight, least=max(float(begun), tally.low), most=_highest(begun, tally.high))
    settled_length = len(each.digits) == 1 and begun * 100 > tally.high >= begun * 10 + 9
    if not settled_length or endings is None:
        return
    for more, share in (endings or {str(digit): 0.1 for digit in range(10)}).items():
        value = float(each.digits + more)
        if tally.low <= value <= tally.high:
            tally.estimated[value] = tally.estimated.get(value, 0.0) + each.weight * share


def _highest(begun: int, high: float) -> float:
    """The highest number on the scale that begins with these digits, decimals included."""
    width = 1
    while begun * width * 10 <= high:
        width *= 10
    return min(float((begun + 1) * width), high)


def _is_share(value: float, low: float, high: float) -> bool:
    """Whether a number looks like a share of 1 on a scale of 10 or more."""
    return 0 < value < 1 and high - low >= 10


def _pairs(tally: _Tally) -> Iterator[tuple[float, float]]:
    for value in sorted({*tally.exact, *tally.estimated}):
        yield value, tally.exact.get(value, 0.0) + tally.estimated.get(value, 0.0)


def _result(tally: _Tally, least_mass: float) -> Expectation:
    """The mean and what it rests on."""
    pairs = list(_pairs(tally))
    mass = math.fsum(weight for _, weight in pairs)
    estimated = math.fsum(tally.estimated.values())
    rest = max(0.0, 1 - tally.bounded)
    lowest, highest = tally.least + rest * tally.low, tally.most + rest * tally.high
    if mass < least_mass:
        reason = f"the numbers that can be told hold {mass:.2f} of the probability, less than {least_mass}"
        return Expectation(None, min(mass, 1.0), estimated, None, None, lowest, highest, "unreadable", reason)
    mean = math.fsum(value * weight for value, weight in pairs) / mass
    spread = math.sqrt(max(0.0, math.fsum(weight * (value - mean) ** 2 for value, weight in pairs) / mass))
    mode = max(pairs, key=lambda pair: (pair[1], -pair[0]))[0]
    return Expectation(mean, min(mass, 1.0), min(estimated, 1.0), mode, spread, lowest, highest, "read")


def _none(outcome: Outcome, reason: str, low: float, high: float) -> Expectation:
    return Expectation(None, 0.0, 0.0, None, None, low, high, outcome, reason)
