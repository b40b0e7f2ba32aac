"""Names in running text without a model, and the gate that holds the names of a claim against its source.

English names are runs of capitals that no sentence beginning explains. Chinese marks no names: found are listed
places, runs of the characters that foreign names are written with, family names beside a title, and words with the
ending of an organisation (``names.txt``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from groundwire.core.numerals import flatten
from groundwire.core.types import Check, Span
from groundwire.writing.alignment import Alignment, Edit, Token, nearest, tokens
from groundwire.writing.guards import Excerpt, Finding, is_chinese
from groundwire.writing.wordlists import words_of

LONGEST_EDIT = 6
"""Tokens; a longer run in another's place is another statement."""
_RUN = re.compile(
    r"(?:[A-Z\u00c0-\u00de][A-Za-z\u00c0-\u024f'’.-]*|[A-Z]\.)"
    r"(?:(?:\s(?:of|the|de|la|del|von|van|al|bin|da|di)){0,2}\s[A-Z\u00c0-\u00de][A-Za-z\u00c0-\u024f'’.-]*)*"
)
_SENTENCE_START = re.compile(r"(?:^|[.!?:;]['\"”’)]*\s+|[\"“‘'(]\s*|(?:^|\s)[-–—•*]\s+|\]\s*)$")
_SAID = re.compile(r"['’]s\b|\s(?:said|says|added|adds|told|tells|wrote|tweeted|replied|insisted|argued)\b")
_OFFICE = re.compile(r"[\u3400-\u9fff](?![该此本这各两全每])[\u3400-\u9fff](?P<kind>[局署厅部院处司会]长?)")
_LATIN = re.compile(r"(?<![#@\w])[A-Z][A-Za-z\u00c0-\u024f]+(?:[ .'-]+[A-Z][A-Za-z\u00c0-\u024f]+)*")


@dataclass(frozen=True, slots=True)
class Name:
    """A name in a text: ``words`` are its parts as they are compared, without titles."""

    text: str
    span: Span
    words: tuple[str, ...]


@lru_cache(maxsize=2048)
def find_names(text: str) -> tuple[Name, ...]:
    """The names of a text, in order; an English text of which most words have capitals has none that can be told."""
    return tuple(_chinese_names(text)) if is_chinese(text) else tuple(_english_names(text))


def _english_names(text: str) -> Iterator[Name]:
    letters = [token for token in tokens(text) if token.text[0].isalpha()]
    if len(letters) > 3 and sum(token.capital for token in letters) > 0.6 * len(letters):
        return
    for run in _RUN.finditer(text):
        begins = _SENTENCE_START.search(text, max(0, run.start() - 6), run.start()) is not None
        parts = [p for p in re.split(r"[\s-]+", run.group()) if p[:1].isupper()]
        while parts and _is_common(parts[0]) and (begins or parts[0] != "New"):
            parts, begins = parts[1:], False
        named = tuple(word for part in parts if (word := _bare(part)) and not _is_common(part) and not _is_title(part))
        named = named[1:] if begins and len(named) > 1 else named  # the first word may only begin the sentence
        alone = begins and len(parts) == 1 and not _SAID.match(text, run.end())
        if named and not alone and not text[run.end() : run.end() + 1].isdecimal():
            start = run.start() + run.group().find(parts[0])
            yield Name(text[start : run.end()].rstrip(" .'’-"), Span(start, run.end()), named)


def _bare(part: str) -> str:
    word = re.sub(r"['’]s?$", "", part.strip(".'’")).replace(".", "").casefold()
    return word if len(word) > 1 else ""


def _is_common(part: str) -> bool:
    word = _bare(part)
    return word in words_of("names", "common") or word in words_of("names", "plain") or part in ("I", "A")


def _is_title(part: str) -> bool:
    return _bare(part) in words_of("names", "titles")


@cache
def _chinese() -> re.Pattern[str]:
    sounds = "".join(words_of("names", "sounds"))
    families = "".join(words_of("names", "families"))
    titles, said, places, tails = (
        "|".join(sorted(words_of("names", kind), key=lambda word: (-len(word), word)))
        for kind in ("zhtitles", "zhsaid", "zhplaces", "zhtails")
    )
    return re.compile(
        rf"[{sounds}]{{1,8}}(?:[·・‧•．][\u3400-\u9fff]{{1,8}}?(?=[^{sounds}]|$))+"
        rf"|(?:{places})|[{sounds}]{{3,8}}(?:{tails})?"
        rf"|[{families}][\u3400-\u9fff]{{1,2}}(?=(?:{titles}|{said}))"
        rf"|(?:(?<={')|(?<='.join(titles.split('|'))}))[{families}][\u3400-\u9fff]{{2}}"
    )


def _chinese_names(text: str) -> Iterator[Name]:
    flat = flatten(text)
    for match in _chinese().finditer(flat):
        if match.group()[1:] in words_of("names", "zhtails") | words_of("names", "zhsame"):
            continue
        yield Name(text[match.start() : match.end()], Span(*match.span()), (match.group(),))
    for match in _LATIN.finditer(text):
        if not _is_common(match.group()):
            yield Name(
                match.group(), Span(*match.span()), tuple(filter(None, map(_bare, re.split(r"[\s-]+", match.group()))))
            )


@dataclass(frozen=True)
class _Known:
    """The words of a text that a name may be made of."""

    text: str

    def holds(self, name: Name) -> bool:
        """Whether every word of a name stands there; endings may differ (India, Indians), initials stand for it."""
        if name.words[0] >= "\u3400":
            return name.words[0] in _folded(self.text)
        found = _words(self.text)
        kinds = words_of("names", "roles")
        telling = [word for word in name.words if word not in kinds] or name.words
        return all(any(_same(word, other) for other in found) for word in telling) or _initials(name, self.text)


def same_name(one: Name, two: Name) -> bool:
    """Whether two names share a word, or one is the initials of the other."""
    if one.words[0] >= "\u3400" or two.words[0] >= "\u3400":
        a, b = one.words[0], two.words[0]
        return a in b or b in a or bool(set(re.split("[·・‧•．]", a)) & set(re.split("[·・‧•．]", b)))
    shared = any(_same(a, b) for a in one.words for b in two.words)
    return shared or _initials(one, two.text) or _initials(two, one.text)


@lru_cache(maxsize=64)
def _folded(text: str) -> str:
    return flatten(text).casefold()


@lru_cache(maxsize=64)
def _words(text: str) -> frozenset[str]:
    return frozenset(
        re.sub(r"'s?$", "", w.replace(".", ""))
        for w in re.findall(r"[a-z0-9\u00c0-\u024f]+(?:[.'][a-z]+)*", _folded(text))
    )


def _same(one: str, two: str) -> bool:
    size = max(4, min(len(one), len(two)) - 3)
    return one == two or (min(len(one), len(two)) >= 4 and one[:size] == two[:size] and abs(len(one) - len(two)) < 5)


def _initials(name: Name, text: str) -> bool:
    """Whether a name is made of the initials of one in the text (UN, United Nations), or the reverse."""
    letters = "".join(word[0] for word in name.words)
    if len(name.words) > 1:
        return len(letters) > 1 and letters in _words(text)
    short = name.words[0]
    if not (2 <= len(short) <= 6):
        return False
    return re.search(r"\b" + r"\w*\s(?:(?:of|the|for|and)\s)?".join(short) + r"\w*", _folded(text)) is not None


def names_gate(claim: str, sentences: Sequence[Excerpt], *, elsewhere: Sequence[Excerpt] = ()) -> tuple[Finding, ...]:
    """One check for each name of the claim: it must stand in the sentences, and not in another's place.

    Args:
        claim: text of the claim.
        sentences: those of the source that should carry it.
        elsewhere: the whole cited documents; a name of theirs may stand for a pronoun of the sentences.
    """
    own = find_names(claim)
    if (
        not (own or is_chinese(claim))
        or not sentences
        or all(is_chinese(claim) != is_chinese(s.text) for s in sentences)
    ):
        return ()
    known = _Known(" ".join(f"{s.text} {s.document.source}" for s in sentences))
    around = _Known(" ".join(f"{e.document.title} {e.document.source} {e.text}" for e in elsewhere))
    placed = nearest(claim, [s.text for s in sentences])
    findings = tuple(_finding(name, known, around=around, placed=placed) for name in own)
    if placed is None or not placed.near or not is_chinese(claim):
        return findings
    return (*findings, *_displaced(placed), *_misnamed(placed))


def _finding(name: Name, known: _Known, *, around: _Known, placed: Alignment | None) -> Finding:
    edit = _edit(name, placed) if placed is not None and placed.near else None
    rival = _rival(name, edit, placed) if placed is not None and edit is not None else ""
    if rival:
        return _failed(name, f"another name: the source has {rival!r} here", conflict=True)
    replaced = edit is not None and edit.replaced and placed is not None and not _Known(placed.sentence).holds(name)
    if replaced and not _stands_for(edit, placed):
        return _failed(name, "the source names nobody and nothing so in this sentence", conflict=False)
    if known.holds(name):
        return Finding(Check("name", name.text, passed=True))
    if not around.holds(name):
        return _failed(name, "the cited source does not name this", conflict=False)
    if _stands_for(edit, placed):
        return Finding(Check("name", name.text, passed=True, reason="named elsewhere in the cited source"))
    return _failed(name, "named in the cited source, but not in the cited words", conflict=False)


def _failed(name: Name, reason: str, *, conflict: bool) -> Finding:
    return Finding(Check("name", name.text, passed=False, reason=reason), conflict)


def _edit(name: Name, placed: Alignment | None) -> Edit | None:
    """The edit in which a name stands."""
    edits = () if placed is None else placed.merged if is_chinese(placed.claim) else placed.edits
    for edit in edits:
        if any(name.span.start <= token.start < name.span.end for token in edit.claim):
            return edit
    return None


def _rival(name: Name, edit: Edit, placed: Alignment) -> str:
    """The name of the source in whose place a name of the claim was put; empty where there is none."""
    if not edit.replaced or max(len(edit.claim), len(edit.source)) > 2 * LONGEST_EDIT:
        return ""
    claim_words = " ".join(word for other in find_names(placed.claim) for word in other.words)
    first, last = edit.source[0].start, edit.source[-1].end
    for other in find_names(placed.sentence):
        inside = other.span.start < last and first < other.span.end
        kept = any(_same(a, b) for a in other.words for b in name.words)
        moved = all(_Known(claim_words).holds(Name(w, other.span, (w,))) for w in other.words)
        if (
            inside
            and not kept
            and (not moved or _Known(placed.sentence).holds(name))
            and not _initials(name, other.text)
        ):
            return other.text
    return ""


def _displaced(placed: Alignment) -> Iterator[Finding]:
    """Failed checks for Chinese words, not known as names, in whose place the source has a name."""
    claim, names = flatten(placed.claim), find_names(placed.sentence)
    taken = [name.span for name in find_names(placed.claim)]
    for edit in placed.merged:
        said = "".join(token.key for token in edit.claim)
        plain = len(said) < 2 or len(said) > LONGEST_EDIT or not edit.source or said[0] in "该这此其当某他她它本我"
        if plain or any(title in said for title in _descriptions()):
            continue
        first, last = edit.source[0].start, edit.source[-1].end
        lost = [n for n in names if first <= n.span.start and n.span.end <= last and n.words[0] not in claim]
        known = any(s.start < edit.claim[-1].end and edit.claim[0].start < s.end for s in taken)
        if lost and not known and last - first <= len(lost[0].text) + 2:
            item = placed.claim[edit.claim[0].start : edit.claim[-1].end]
            reason = f"another name: the source has {lost[0].text!r} here"
            yield Finding(Check("name", item, passed=False, reason=reason), conflict=False)


def _misnamed(placed: Alignment) -> Iterator[Finding]:
    """Failed checks for offices with one character changed: 消火局長 where the source has 消防局長."""
    claim, sentence = flatten(placed.claim), flatten(placed.sentence)
    single = ((edit.claim[0].start, edit.source[0].start) for edit in placed.merged if _one_for_one(edit))
    for ours, theirs in single:
        office = _OFFICE.match(claim, ours - 1) if ours and theirs else None
        if office is None or sentence[theirs - 1] != claim[ours - 1]:
            continue
        if not sentence.startswith(office["kind"], theirs + 1):
            continue
        item = placed.claim[office.start() : office.end()]
        other = placed.sentence[theirs - 1 : theirs + 1 + len(office["kind"])]
        yield Finding(
            Check("name", item, passed=False, reason=f"another name: the source has {other!r} here"), conflict=False
        )


def _one_for_one(edit: Edit) -> bool:
    return len(edit.claim) == len(edit.source) == 1 and len(edit.claim[0].text) == len(edit.source[0].text) == 1


@cache
def _descriptions() -> frozenset[str]:
    """What may stand for a Chinese name: a title, or the kind of place or organisation it is."""
    return (
        words_of("names", "zhtitles")
        | (words_of("names", "zhtails") - {"山", "河", "港", "岛"})
        | {"国家", "政府", "当局"}
    )


def _stands_for(edit: Edit | None, placed: Alignment | None) -> bool:
    """Whether a name may stand for a pronoun or a description of the source."""
    if placed is None:
        return False
    if edit is not None and edit.source:
        said = "".join(token.key for token in edit.source)
        described = said[0] in "该这此其当某他她它本我" or any(title in said for title in _descriptions())
        return described if is_chinese(said) else not any(_names_something(token) for token in edit.source)
    pronouns = words_of("names", "pronouns")
    return any(token.text.lower() in pronouns or token.text in "他她它其" for token in tokens(placed.sentence))


def _names_something(token: Token) -> bool:
    return token.capital and not _is_common(token.text) and not _is_title(token.text)
