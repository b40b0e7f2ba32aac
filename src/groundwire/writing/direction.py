"""Gates for what turns a statement round: the direction of a change (rose, fell) and a negation put in or left out.

Both compare places, not lists: a word of the claim with the place of the source whose neighbours are the same. What
has no such place is left to other gates. The words are in ``turns.txt``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import pairwise

from groundwire.core.types import Check
from groundwire.writing.alignment import Alignment, Token, nearest, tokens
from groundwire.writing.guards import Finding, stem
from groundwire.writing.wordlists import axes, words_of

REACH, REACH_CHINESE = 6, 10
"""How many tokens beside a word are its neighbours."""
ALIKE = 0.34
"""Share of a word's neighbours that must stand beside its counterpart in the source."""
SHORT = 4
"""Tokens of an edit; a longer one is another statement, not a word put in or left out."""
_NEGATING = frozenset("不没未无非")
_CHANGES = ((0, 0), (0, 1), (1000, 0), (1000, 1))  # the axis of amounts, whose words are worth showing when they hold
_COPY = 0.75  # share of tokens in order from which a lone negation more or less is a change


@dataclass(frozen=True, slots=True)
class _Turn:
    """A word with a direction, its place among the tokens and its neighbours on either side."""

    word: str
    sides: tuple[tuple[int, int], ...]
    first: int
    last: int
    before: frozenset[str]
    behind: frozenset[str]
    nearest: tuple[str, str]


@cache
def _stems() -> dict[str, tuple[tuple[int, int], ...]]:
    found: dict[str, list[tuple[int, int]]] = {}
    for word, places in axes("axis").items():
        own = found.setdefault(stem(word), [])
        own += [place for place in places if place not in own]
    return {word: tuple(places) for word, places in found.items()}


@cache
def _chinese() -> re.Pattern[str]:
    longest = sorted(axes("zh"), key=lambda word: (-len(word), word))
    single = {"前": "前(?=[，。]|$)", "后": "后(?=[，。]|$)", "东": "东(?=[部边侧岸面])", "西": "西(?=[部边侧岸面])"}
    single |= {"南": "南(?=[部边侧岸面])", "北": "北(?=[部边侧岸面])", "好": "(?<=[很更最])好", "坏": "(?<=[很更最])坏"}
    single |= {"高": "(?<=[很更最较])高", "低": "(?<=[很更最较])低", "早": "(?<=[更较])早", "晚": "(?<=[更较])晚"}
    single |= {"强": "(?<=[更较最])强", "弱": "(?<=[更较最])弱", "左": "左(?=[边侧派翼转])", "右": "右(?=[边侧派翼转])"}
    return re.compile("|".join(single.get(word, re.escape(word)) for word in longest))


@lru_cache(maxsize=2048)
def _turns(text: str) -> tuple[_Turn, ...]:
    """The words of a text that have a direction."""
    found = tokens(text)
    marked = [(n, n, token.text, _stems()[token.key]) for n, token in enumerate(found) if token.key in _stems()]
    joined = "".join(token.key if token.key >= "\u3400" else "\0" for token in found)  # one character a token
    for match in _chinese().finditer(joined):
        places = axes("zh")[match.group()]
        marked.append(
            (match.start(), match.end() - 1, match.group(), tuple((1000 + axis, side) for axis, side in places))
        )
    return tuple(
        _Turn(
            word,
            sides,
            first,
            last,
            _beside(found, first, step=-1),
            _beside(found, last, step=1),
            (_next(found, first, step=-1), _next(found, last, step=1)),
        )
        for first, last, word, sides in marked
    )


def _next(found: Sequence[Token], place: int, *, step: int) -> str:
    """The nearest word on one side that says something, or the nearest two Chinese characters; empty at an end."""
    if found[place].key >= "\u3400":
        near = found[place + 1 : place + 3] if step > 0 else found[max(0, place - 2) : place]
        return "".join(token.key for token in near)
    empty = words_of("turns", "passed") | words_of("names", "common")
    number = place + step
    while 0 <= number < len(found):
        if found[number].text.lower() not in empty:
            return found[number].key
        number += step
    return ""


def _beside(found: Sequence[Token], place: int, *, step: int) -> frozenset[str]:
    """The neighbours on one side: words that are no function words, and pairs of Chinese characters."""
    chinese = found[place].key >= "\u3400"
    end = place + step * ((REACH_CHINESE if chinese else REACH) + 1)
    near = found[place + 1 : end] if step > 0 else found[max(0, end + 1) : place]
    keys = [token.key for token in near]
    pairs = {a + b for a, b in pairwise(keys) if a >= "\u3400" and b >= "\u3400"}
    plain = {key for key in keys if key < "\u3400" and key not in words_of("turns", "passed")}
    return frozenset(pairs | plain)


def direction_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """One check for each word of the claim with a direction that the source has there, or has the opposite of.

    Args:
        claim: text of the claim.
        sentences: those of the source that should carry it.
    """
    known = [turn for sentence in sentences for turn in _turns(sentence)]
    found = (_direction(turn, known, claim=claim, sentences=sentences) for turn in _turns(claim))
    checks = {finding.check.item: finding for finding in found if finding is not None}
    return tuple(checks.values())


def _direction(turn: _Turn, known: Sequence[_Turn], *, claim: str, sentences: Sequence[str]) -> Finding | None:
    same = [other for other in known if set(other.sides) & set(turn.sides)]
    opposite = [
        other
        for other in known
        if any((axis, 1 - side) in other.sides for axis, side in turn.sides) and other not in same
    ]
    held = Finding(Check("direction", turn.word, passed=True)) if same and set(turn.sides) & set(_CHANGES) else None
    if not opposite:
        return held
    if _negates(claim, turn.first) != any(_negates(s, o.first) for s in sentences for o in opposite if o in _turns(s)):
        return None  # "did not fall" against "rose": the negation gate looks at it
    best = max(opposite, key=lambda other: _likeness(turn, other))
    against, agreeing = _likeness(turn, best), max((_likeness(turn, other) for other in same), default=0.0)
    beside = any(one and one == two for one, two in zip(turn.nearest, best.nearest, strict=True))
    if beside and against >= ALIKE and against > agreeing:
        reason = f"the opposite: the source has {best.word!r}"
        return Finding(Check("direction", turn.word, passed=False, reason=reason), conflict=True)
    return held


def _likeness(one: _Turn, two: _Turn) -> float:
    """How much of the neighbours is the same on the same side, less what changed sides; 0 or less: another place."""
    total = len(one.before | one.behind)
    straight = len(one.before & two.before) + len(one.behind & two.behind)
    crossed = len((one.before & two.behind) - two.before) + len((one.behind & two.before) - two.behind)
    return (straight - crossed) / total if total else 0.0


def _negates(text: str, place: int) -> bool:
    return any(negation.place < place <= negation.place + 4 for negation in _negations(text))


# --- negation ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Negation:
    """A negating word, its place among the tokens, and the first words it negates."""

    word: str
    place: int
    head: str
    head_place: int


@cache
def _harmless() -> re.Pattern[str]:
    mild = "|".join(sorted(words_of("turns", "zhmild"), key=lambda word: (-len(word), word)))
    return re.compile(mild)


@lru_cache(maxsize=2048)
def _negations(text: str) -> tuple[_Negation, ...]:
    found = tokens(text)
    joined = "".join(token.key if token.key >= "\u3400" else "\0" for token in found)
    covered = {n for match in _harmless().finditer(joined) for n in range(*match.span())}
    negations = []
    for number, token in enumerate(found):
        if token.key < "\u3400":
            if _negates_english(found, number, text):
                head, place = _head(found, number + 1)
                negations.append(_Negation(token.text, number, head, place))
        elif number not in covered and (width := _negates_chinese(joined, number)):
            head, place = _head_chinese(found, number + width)
            negations.append(_Negation(joined[number : number + width], number, head, place))
    return tuple(negations)


def _negates_english(found: Sequence[Token], number: int, text: str) -> bool:
    token, following = found[number], found[number + 1] if number + 1 < len(found) else None
    word = token.text.lower()
    if following is not None and f"{word}_{following.text.lower()}" in words_of("turns", "mild"):
        return False
    if word == "no" and (text[token.end : token.end + 1] == "," or (following and following.text[0].isdecimal())):
        return False  # No, … and No. 10
    return word in words_of("turns", "not") or word.endswith("n't")


def _negates_chinese(joined: str, number: int) -> int:
    """How many characters from here negate."""
    for width in (2, 1):
        if joined[number : number + width] in words_of("turns", "zhnot"):
            return width
    return 0


def _head(found: Sequence[Token], start: int) -> tuple[str, int]:
    """The first word from a place on that says something, and where."""
    for number in range(start, min(start + 5, len(found))):
        if found[number].text.lower() not in words_of("turns", "passed") and found[number].key < "\u3400":
            return found[number].key, number
    return "", start


def _head_chinese(found: Sequence[Token], start: int) -> tuple[str, int]:
    """The first two characters from a place on that say something."""
    place, keys = start, [token.key for token in found]
    passed = words_of("turns", "zhpassed")
    while (
        place - start < 4
        and place < len(keys)
        and (keys[place] in passed or "".join(keys[place : place + 2]) in passed)
    ):
        place += 2 if "".join(keys[place : place + 2]) in passed else 1
    head = "".join(keys[place : place + 2])
    return (head, place) if len(head) == 2 and head >= "\u3400" else ("", start)


def negation_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """Checks that nothing is negated in the claim or the source alone; a passed one where both negate the same.

    Args:
        claim: text of the claim.
        sentences: those of the source that should carry it.
    """
    placed = nearest(claim, sentences)
    if placed is None:
        return ()
    findings = [*_lone(placed), *_added(claim, sentences), *_dropped(claim, placed, sentences=sentences)]
    failed = {finding.check.item: finding for finding in findings if not finding.check.passed}
    return tuple(failed.values()) or tuple({f.check.item: f for f in findings}.values())


def _lone(placed: Alignment) -> Iterator[Finding]:
    """A negation that a near copy has more or less than its source."""
    if placed.share < _COPY:
        return
    own = {negation.place: negation for negation in _negations(placed.claim)}
    others = {tokens(placed.sentence)[n.place].start: n for n in _negations(placed.sentence)}
    for edit in placed.edits:
        added = [own[edit.at + n] for n in range(len(edit.claim)) if edit.at + n in own]
        left_out = [others[token.start] for token in edit.source if token.start in others]
        most = SHORT if edit.replaced else SHORT - 1
        short = len(edit.claim) <= most and len(edit.source) <= most
        if short and added and not left_out and not any(_turned(t) for t in edit.source):
            yield _put_in(added[0].word)
        elif short and left_out and not added and not any(_turned(t) for t in edit.claim):
            yield _left_out(left_out[0].word)


def _turned(token: Token) -> bool:
    """Whether a word may stand for a negation: ``unlikely``, ``denies``."""
    return token.key in _stems() or token.text.lower().startswith(("un", "in", "im", "non", "dis", "il", "ir"))


def _put_in(word: str) -> Finding:
    return Finding(Check("negation", word, passed=False, reason="the source does not negate this"), conflict=True)


def _left_out(word: str) -> Finding:
    return Finding(Check("negation", word, passed=False, reason=f"leaves out {word!r} of the source"), conflict=True)


def _added(claim: str, sentences: Sequence[str]) -> Iterator[Finding]:
    for negation in _negations(claim):
        states = [s for sentence in sentences for s in _states(negation, claim, sentence)] if negation.head else []
        if any(negated for negated, _ in states):
            yield Finding(Check("negation", negation.word, passed=True))
        elif any(share >= 0.5 for _, share in states):
            yield _put_in(negation.word)


def _dropped(claim: str, placed: Alignment, *, sentences: Sequence[str]) -> Iterator[Finding]:
    if placed.share < 0.5:
        return
    for negation in _negations(placed.sentence):
        states = _states(negation, placed.sentence, claim) if negation.head else []
        elsewhere = [s for other in sentences for s in _states(negation, placed.sentence, other)] if states else []
        free = max((share for negated, share in elsewhere if not negated), default=0.0)
        if states and not any(n for n, _ in states) and max(s for _, s in states) >= max(0.5, free + 0.01):
            yield _left_out(negation.word)


def _states(negation: _Negation, text: str, other: str) -> list[tuple[bool, float]]:
    """For each place where another text has what is negated: whether it does so too, and how alike the places are."""
    here, found = _around(tokens(text), negation.head_place), tokens(other)
    keys, size = [token.key for token in found], 2 if negation.head >= "\u3400" else 1
    states = []
    for place in range(len(keys) - size + 1):
        if "".join(keys[place : place + size]) == negation.head:
            there = _around(found, place)
            share = len(here & there) / len(here) if here else 0.0
            negated = any(n.head_place == place or place - 6 <= n.place < place for n in _negations(other))
            states.append((negated, share))
    return states


def _around(found: Sequence[Token], place: int) -> frozenset[str]:
    """The neighbours of a word on both sides, without what negates."""
    last = min(place + (found[place].key >= "\u3400"), len(found) - 1)
    near = _beside(found, place, step=-1) | _beside(found, last, step=1)
    return frozenset(key for key in near if not set(key) & _NEGATING and key not in words_of("turns", "not"))
