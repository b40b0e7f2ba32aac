"""The gate for who or what a claim speaks of: "60 % of Indians" is not "60 % of the world".

Looked at are two places where a swap can be told without grammar: what a number counts, and the words that a near copy
begins with. Names are the business of ``names``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from groundwire.core.agreement import units_agree, values_agree
from groundwire.core.numerals import flatten
from groundwire.core.quantities import Quantity, find_quantities
from groundwire.core.quotations import find_quotations
from groundwire.core.types import Check
from groundwire.writing.alignment import Alignment, Edit, Token, nearest, tokens
from groundwire.writing.guards import Finding, is_chinese, stem
from groundwire.writing.wordlists import lines, words_of

OPENING, OPENING_CHINESE = 5, 8
"""How many tokens from the beginning of a near copy its subject may begin."""
MOST_REPLACED, MOST_REPLACED_CHINESE = 6, 10
_OF = re.compile(
    r"\s?(?:of\s)?(?:(?:the|all|its|their|his|her|our|these|those|this|that|a|an|some|of|nearly|about)\s){0,3}"
    r"(?P<noun>[A-Za-z][A-Za-z'’-]*(?:\s(?!(?:in|on|at|by|for|to|from|with|who|that|which|and|or|but|said|says|were|was"
    r"|are|is|have|has|had|will|would|can|could|may|might|must|do|does|did|of|as|since|after|before|over|under)\b)[A-Za-z][A-Za-z'’-]*){0,2})"
)
_COUNTED = re.compile(r"(?:左右|以上|以下|多)?(?:的|之)?(?P<noun>[\u3400-\u9fff]{2})")
_NO_NOUN = re.compile(
    r"(?:in|on|at|by|for|to|from|with|who|that|which|and|or|but|said|says|were|was|are|is|have|has|had|will|would|can|could|may|might|must|do|does|did|as|"
    r"since|after|before|over|under|more|less|fewer|higher|lower|up|down|last|this|next|per|each|than|when|while|if)\b"
)


def subject_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """A failed check where a number counts something else than in the source, or a near copy has another subject.

    Args:
        claim: text of the claim.
        sentences: those of the source that should carry it.
    """
    if not sentences or all(is_chinese(claim) != is_chinese(sentence) for sentence in sentences):
        return ()
    placed = nearest(claim, sentences)
    found = [*_counted_otherwise(claim, sentences), *(_opened_otherwise(placed) if placed else ())]
    return tuple({finding.check.item: finding for finding in found}.values())


# --- what a number counts ---------------------------------------------------------------------------------------------


def _counted_otherwise(claim: str, sentences: Sequence[str]) -> Iterator[Finding]:
    known = [(q, sentence) for sentence in sentences for q in find_quantities(sentence)]
    for quantity in find_quantities(claim):
        if quantity.kind not in ("percent", "count") or quantity.weak:
            continue
        own = _noun(quantity, claim)
        same = [
            noun
            for q, text in known
            if q.kind == quantity.kind and values_agree(quantity, q) and units_agree(quantity, q) is not False
            and (noun := _noun(q, text))
        ]  # fmt: skip
        if own and same and not any(_alike(own, noun) for noun in same) and not _held(own, sentences):
            reason = f"the number is of something else: the source has {same[0]!r}"
            yield Finding(Check("subject", f"{quantity.text} {own}", passed=False, reason=reason), conflict=True)


def _noun(quantity: Quantity, text: str) -> str:
    """The words right behind a number that say what it is of; empty where other words stand there."""
    if is_chinese(text):
        end = quantity.span.end
        end += 1 if quantity.kind == "count" and text[end : end + 1] in _MEASURES else 0
        found = _COUNTED.match(text, end)
        return found["noun"] if found else ""
    found = _OF.match(text, quantity.span.end)
    return "" if found is None or _NO_NOUN.match(found["noun"].lower()) else found["noun"]


_MEASURES = "人名位個个件家間间座輛辆棟栋隻只艘架枚份項项種种"


def _alike(one: str, two: str) -> bool:
    """Whether two nouns share a word, or a pair of Chinese characters; words may differ in their ending."""
    if not one.isascii():
        one, two = flatten(one), flatten(two)
        return one[0] == two[0] or bool(
            {one[i : i + 2] for i in range(len(one) - 1)} & {two[i : i + 2] for i in range(len(two) - 1)}
        )
    return any(_related(a, b) for a in one.lower().split() for b in two.lower().split())


def _related(one: str, two: str) -> bool:
    if stem(one) == stem(two) or (min(len(one), len(two)) >= 4 and one[:4] == two[:4]):
        return True
    groups = _groups()
    return bool(groups.get(stem(one), frozenset()) & groups.get(stem(two), frozenset()))


@cache
def _groups() -> dict[str, frozenset[int]]:
    found: dict[str, set[int]] = {}
    for number, line in enumerate((*lines("names")["same"], *lines("names")["zhsame"])):
        for word in line.split():
            found.setdefault(stem(word), set()).add(number)
    return {word: frozenset(numbers) for word, numbers in found.items()}


def _held(noun: str, sentences: Sequence[str]) -> bool:
    """Whether the last word of a noun stands anywhere in the sentences, so that the place alone would have to tell."""
    if not noun.isascii():
        return any(flatten(noun[:2]) in flatten(sentence) for sentence in sentences)
    last = stem(noun.lower().split()[-1])
    return any(last == token.key for sentence in sentences for token in tokens(sentence))


# --- what a near copy begins with -------------------------------------------------------------------------------------


def _opened_otherwise(placed: Alignment) -> Iterator[Finding]:
    if not placed.near:
        return
    chinese = is_chinese(placed.claim)
    opening, most = (OPENING_CHINESE, MOST_REPLACED_CHINESE) if chinese else (OPENING, MOST_REPLACED)
    for edit in placed.edits:
        if edit.at > opening or not edit.replaced or max(len(edit.claim), len(edit.source)) > most:
            continue
        if any(q.outer.start <= edit.claim[0].start < q.outer.end for q in find_quotations(placed.claim)):
            continue  # the quotation gate has looked at it
        if any(token.key[0].isdecimal() for token in (*edit.claim, *edit.source)) or not _heads(edit, placed):
            continue  # the number gate has looked at it, or it names nothing
        own, others = _telling(edit.claim), _telling(edit.source)
        if own and others and not _same_thing(edit, placed, own=own, others=others):
            said, meant = _written(edit.claim, placed.claim), _written(edit.source, placed.sentence)
            reason = f"another subject: the source has {meant!r} here"
            yield Finding(Check("subject", said, passed=False, reason=reason), conflict=False)


def _telling(side: Sequence[Token]) -> list[Token]:
    """The tokens that name something: no function words, pronouns, numbers or adverbs."""
    found = []
    for token in side:
        word = token.text.lower()
        empty = word in words_of("names", "common") or word in words_of("names", "pronouns") or word.endswith("ly")
        turned = word in words_of("turns", "passed") or word in words_of("turns", "not")
        if not (empty or turned or word[0].isdecimal() or word in words_of("names", "zhfunction")):
            found.append(token)
    return found


def _heads(edit: Edit, placed: Alignment) -> bool:
    """Whether what follows an edit may follow a subject: a verb of being, having or saying, or a preposition."""
    own = tokens(placed.claim)
    place = edit.at + len(edit.claim)
    if own[edit.at].key < "\u3400":
        return place < len(own) and own[place].text.lower() in words_of("names", "follows")
    text = "".join(token.key for token in own[place : place + 2])
    return any(text.startswith(word) for word in words_of("names", "zhfollows"))


def _same_thing(edit: Edit, placed: Alignment, *, own: Sequence[Token], others: Sequence[Token]) -> bool:
    """Whether two openings may name the same: alike, of one group, a description for a name, or no names at all."""
    if own[0].key >= "\u3400" or others[0].key >= "\u3400":
        return _same_chinese(edit, placed)
    said = words_of("names", "said")
    if any(_related(a.text.lower(), b.text.lower()) for a in own for b in others):
        return True
    if any(all(token.text.lower() in said for token in side) for side in (own, others)):
        return True
    roles = words_of("names", "roles") | words_of("names", "titles")
    described = any(all(token.text.lower() in roles for token in side) for side in (own, others))
    return described and any(token.capital for token in (*own, *others))


def _same_chinese(edit: Edit, placed: Alignment) -> bool:
    one, two = ({token.key for token in side} - words_of("names", "zhfunction") for side in (edit.claim, edit.source))
    if 2 * len(one & two) >= min(len(one), len(two)):
        return True
    sides = ((placed.claim, edit.claim), (placed.sentence, edit.source))
    if all(_inside(side, text, words_of("names", "zhlinks") | words_of("names", "zhsaid")) for text, side in sides):
        return True
    return any(
        all(_inside(side, text, frozenset(line.split())) for text, side in sides) for line in lines("names")["zhsame"]
    )


def _inside(side: Sequence[Token], text: str, listed: frozenset[str]) -> bool:
    """Whether the tokens of an edit are one of the listed words, or a part of one that stands there."""
    flat, first, last = flatten(text), side[0].start, side[-1].end
    for word in listed:
        place = flat.find(word, max(0, last - len(word)))
        if 0 <= place <= first and last <= place + len(word):
            return True
    return False


def _written(side: Sequence[Token], text: str) -> str:
    return text[side[0].start : side[-1].end]
