"""What may be left out of a source's words, put into them and cut off, without turning them round.

Pure rules on text and places: for the ellipses, brackets and ends of a quotation, for quotation marks without partner,
and for a claim that repeats a sentence of its source, or only a part of one. All are told in
``docs/method/verification.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

from groundwire.core.quotations import MARKS, find_quotations, unclosed_marks
from groundwire.core.sentences import split_sentences
from groundwire.core.text import normalise
from groundwire.core.types import Check, Span
from groundwire.writing.guards import (
    CARRIED,
    CARRIED_CHINESE,
    Finding,
    claimed_words,
    coverage,
    find_words,
    is_chinese,
    splits_a_word,
    telling_words,
)


def _listed(terms: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(terms.split())


PART = "stands in the source only as a part of a sentence, whose rest may deny or limit it"
EDGES = " \t\n\r\u3000,.;:!?，。；：！？、\"'“”‘’「」『』"
"""What does not count at the ends of a quotation."""
BRACKETED = r"\[[^\]\n]{0,80}\]|［[^］\n]{0,80}］|〔[^〕\n]{0,80}〕"
_LONG = 10  # characters of a sentence that is not repeated by chance
_INSERTED = re.compile(BRACKETED)
_NEGATION = re.compile(
    r"\b(?:not|no|never|nor|neither|none|nobody|nothing|nowhere|without|hardly|scarcely|barely|rarely|seldom|few|little"
    r"|cannot|cant|wont|dont|didnt|unless|except|if|den(?:y|ies|ied|ying)|refus\w+|fail(?:s|ed|ing)?|false(?:ly)?"
    r"|untrue|unlikely|instead of|rather than|far from)\b|n['’]t\b"
    r"|[不沒没未非否勿毋]|無(?!線|论|論)|无(?!线|论)|(?<![\u4e00-\u9fff])[莫別别]|拒[絕绝]|禁止|如果|除非|假如"
)
_HARMLESS = re.compile(r"不[但僅仅過过只久同論论管斷断]|非[常洲]|未[來来]")
_BEFORE = re.compile(r"[\w'’ \t]*$")
_PASSED_OVER = _listed(
    "a an the any ever yet really even be been being have has had having do did does to that true quite very so 任何"
)
_NEGATED_CHINESE = re.compile(
    r"(?:[不沒没無无未非否勿莫毋]|(?<![特分區区個个])[別别])(?:[會会能是曾想要該该可肯敢願愿得再有]|任何|必要?){0,2}$"
)
_CUT_SHORT = re.compile(
    r"(?:\b(?:am|is|are|was|were|have|has|had|do|did|does|will|would|can|could|shall|should|may|might|must)"
    r"|[也都會会將将能是並并就還还可])$"
)
_GOES_ON = re.compile(r"\s*(?:not|never|no longer)\b|[不沒没未無无]")
_STOP = re.compile(r"[.!?](?=['\"”’)]*\s+(?:[A-Z\"“‘']|$))|[。！？；\n]")
_CLAUSE = re.compile(r"[,;](?!\d)|[，；]")
_INTERRUPTED = re.compile(rf"[\s{MARKS}]*[,，][{MARKS}](?P<said>[^{MARKS}.!?。！？:：;；]{{1,60}})[{MARKS}]\s*")
_SPEAKS = re.compile(r"\b(?:said|says|added|told|replied|asked)\b|[說说]|表示")
_NOTED = re.compile(r"\W*(?:sic|emphasis (?:added|mine)|原文如此|原文|粗體為編輯所加|按)\W*", re.IGNORECASE)
_POINTING = re.compile(
    r"(?:he|she|it|they|we|i|you|him|her|them|us|me|his|its|their|our|my|your|this|that|these|those|there|here|the|a|an"
    r"|who|one|today|yesterday|tomorrow|then|now)\b|[他她它牠我你您這这那此該该其某]|[昨今明]天",
    re.IGNORECASE,
)
_BEFORE_A_NOUN = _listed(
    "a an the of in on at for from by with about into over my your his her its our their this that these those "
    "some many much several all any more most less"
)
_AUXILIARY = frozenset(
    "am is are was were be been have has had do does did will would can could shall should may might must".split()  # noqa: SIM905
)
_ADDED = re.compile(
    r"\b(?:always|still|only|also|already|often|just|really|even|ever|again|knowingly|deliberately|but|and)\b"
    r"|一直|[從从][來来]|[總总]是|[經经]常|早就|其[實实]|已[經经]|故意|明明|才|都|也"
)
_ASKS = re.compile(r"\?|\b(?:ask|question|wonder|whether|if)|[問问嗎吗]|是否|能否|可否|有[無无]")
_MOST_INSERTED = 60  # characters
_DATELINE = re.compile(
    r"^\s*(?:[（(〔【\[][^)）〕】\]]{0,40}(?:[電电社]|[記记]者|[報报][導导道]|[綜综]合)[^)）〕】\]]{0,20}[)）〕】\]]"
    r"|(?:[A-Z][A-Z.'’-]+[ ,]*){1,4}(?:[A-Z][a-z]{2,8}\.? \d{1,2})?[ ,]*(?:\d{4})?\s*(?:\([^)]{1,30}\))?\s*[-–—]+"
    r"|(?:[A-Z][\w.]+[ ,]*){0,3}\((?:Reuters|AP|AFP|CNA|Xinhua|UPI|PTI|BBC|dpa)[^)]{0,20}\)\s*[-–—]*)\s*"
)
# --- what may be left out, put in and cut off -------------------------------------------------------------------------


def gaps_problem(gaps: Sequence[str], text: str, *, found: Sequence[Span]) -> str:
    """What is wrong with the ellipses and brackets of a quotation whose parts stand at these places of a text."""
    edges = [
        _before(text, found[0].start),
        *((a.end, b.start) for a, b in pairwise(found)),
        _behind(text, found[-1].end),
    ]
    for number, (gap, (start, end)) in enumerate(zip(gaps, edges, strict=True)):
        inserted = [mark.strip("[]［］〔〕 .…⋯") for mark in _INSERTED.findall(gap)]
        if 0 < number < len(gaps) - 1 and (problem := _omission(text, start, end=end)):
            return problem
        for words_in in filter(None, inserted):
            if problem := _insertion(words_in, text, start, end=end):
                return problem
    return ""


def _before(text: str, place: int) -> tuple[int, int]:
    """The word before a place, nothing where a mark or the beginning of the text stands there."""
    found = re.search(r"(?:[\u3400-\u9fff]{1,4}|[\w'’-]+)\s*$", text[max(0, place - 40) : place])
    return (place - len(found.group()), place) if found else (place, place)


def _behind(text: str, place: int) -> tuple[int, int]:
    found = re.match(r"\s*(?:[\u3400-\u9fff]{1,4}|[\w'’-]+)", text[place : place + 40])
    return (place, place + len(found.group())) if found else (place, place)


def _omission(text: str, start: int, *, end: int) -> str:
    gap = text[start:end]
    if _crosses(text, start, end=end):
        return "leaves out the end of a quotation and joins what is not one"
    stops = list(_STOP.finditer(gap))
    near = [_CLAUSE.split(gap[: stops[0].start()])[0], _CLAUSE.split(gap[stops[-1].end() :])[-1]] if stops else [gap]
    if lost := next(filter(None, map(_negation, near)), ""):
        return f"leaves out {lost!r}"
    return ""


def _negation(text: str) -> str:
    """The first word of a text that negates or makes conditional; empty where none does."""
    found = _NEGATION.search(_HARMLESS.sub("", normalise(text)))
    return found.group() if found else ""


@lru_cache(maxsize=8)
def _quoted_spans(text: str) -> tuple[Span, ...]:
    return tuple(quotation.outer for quotation in find_quotations(text))


def _crosses(text: str, start: int, *, end: int) -> bool:
    """Whether a gap begins inside a quotation and ends outside it, or the reverse; words like ", he said, " aside."""
    marks = [n for n in range(start, end) if text[n] in MARKS]
    spans = _quoted_spans(text)
    through = any((s.start < start < s.end <= end) or (start <= s.start < end < s.end) for s in spans)
    known = {n for s in spans for n in (s.start, s.end - 1)} if marks else set()
    if not through and all(n in known for n in marks):
        return False
    found = _INTERRUPTED.fullmatch(text[start:end])
    return found is None or len(_SPEAKS.findall(found["said"])) != 1


def _insertion(inserted: str, text: str, start: int, *, end: int) -> str:
    """What is wrong with words in brackets that stand for these words of a text, which may be none."""
    replaced = text[start:end].strip(f" \t\n{EDGES}")
    if _NOTED.fullmatch(inserted):
        return ""
    if _negation(inserted) or _negation(replaced):
        return f"[{inserted}] turns {replaced!r} round" if replaced else f"[{inserted}] is put in"
    before = re.findall(r"[a-z']+", text[max(0, start - 30) : start].casefold())
    if max(len(inserted), len(replaced)) > _MOST_INSERTED or _ADDED.search(inserted.casefold()):
        return f"[{inserted}] stands for {replaced!r}"
    if _is_name(inserted, text, start=start):
        return ""
    if not replaced:
        return f"[{inserted}] is put in, for no words of the source"
    noun = bool(before) and before[-1] in _BEFORE_A_NOUN and not is_chinese(inserted)
    helping = {inserted.casefold(), replaced.casefold()} <= _AUXILIARY
    return "" if noun or helping or _POINTING.search(replaced) else f"[{inserted}] stands for {replaced!r}"


def _is_name(inserted: str, text: str, *, start: int) -> bool:
    """Whether words are a name that the text holds: capitalised, or in Chinese after a word that points at somebody."""
    if normalise(inserted) not in normalise(text):
        return False
    if is_chinese(inserted):
        return _POINTING.search(text[max(0, start - 2) : start]) is not None
    return all(word[0].isupper() or word[0].isdecimal() or word in ("of", "the") for word in inserted.split())


def torn(text: str, span: Span, *, negated: bool) -> str:
    """What is wrong with where a quotation begins and ends: just behind a negation, or just before one."""
    if not negated and is_negated(text, span.start):
        return "begins behind the negation of the source"
    if _CUT_SHORT.search(text[span.start : span.end].casefold()) and _GOES_ON.match(text[span.end : span.end + 20]):
        return "ends before the negation of the source"
    return ""


def is_negated(text: str, place: int) -> bool:
    """Whether the words just before a place negate what begins there."""
    before = text[max(0, place - 60) : place].rstrip()
    if _NEGATED_CHINESE.search(before):
        return True
    found = _BEFORE.search(before.casefold())
    tail = found.group().split() if found else []
    while tail and tail[-1] in _PASSED_OVER:
        tail.pop()
    return bool(tail) and _NEGATION.fullmatch(re.sub(r".*(?=n['’]t$)", "", tail[-1])) is not None


def marks_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """A failed check where a quotation mark has no partner: what is quoted cannot be told, so it cannot be checked.

    Args:
        claim: text of the claim.
        sentences: of the source; a mark inside one that the claim repeats whole is the source's own.
    """
    alone, rest = unclosed_marks(claim), claim
    for sentence in sentences if alone else ():
        whole = find_words(sentence.strip().rstrip(".。"), rest) if len(sentence) > _LONG else None
        rest = f"{rest[: whole.start]} {rest[whole.end :]}" if whole else rest
    if not alone or not unclosed_marks(rest):
        return ()
    mark = claim[alone[0].start : alone[0].end]
    reason = "an unclosed or mixed quotation mark: what is quoted cannot be told"
    return (Finding(Check("quotation", mark, passed=False, reason=reason)),)


# --- whole sentences --------------------------------------------------------------------------------------------------


@lru_cache(maxsize=1 << 12)
def ended(text: str) -> tuple[str, str, str]:
    """A sentence as it is compared, without its last marks; its kind (``?``, ``…`` or nothing); its closing marks."""
    folded = normalise(text)
    bare = folded.rstrip(" .!?。…\"')]")
    tail = folded[len(bare) :]
    kind = "?" if "?" in tail else "…" if "..." in tail else ""
    return bare, kind, "".join(sorted(re.sub(r"[ .!?。…]", "", tail)))


def is_verbatim(claim: str, sentences: Sequence[str]) -> bool:
    """Whether a claim is one of these neighbouring sentences, or a run of them, kinds of marks and case aside.

    A question is no statement, and a sentence that breaks off is no whole one.
    """
    wanted = ended(claim)
    if len(wanted[0]) < 2:
        return False
    bare = [ended(sentence)[0] for sentence in sentences]
    for first, start in enumerate(bare):
        if not start or not wanted[0].startswith(start):
            continue
        for last in range(first, len(sentences)):
            run = ended(" ".join(sentences[first : last + 1]))
            if run == wanted:
                return True
            if len(run[0]) > len(wanted[0]):
                break
    return False


def part_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """A failed check for each sentence of a claim that stands in the source as a part of a sentence only.

    The rest of that sentence may deny or limit it. A by-line or dateline may be left out, and the end of a quotation
    where the claim marks its words as quoted.
    """
    findings = []
    for own in _split(claim):
        whole = is_verbatim(own, sentences) or any(is_verbatim(own, _split(sentence)) for sentence in sentences)
        reasons = [] if whole else [_part(own, sentence) for sentence in sentences]
        if any(reasons) and "" not in reasons:
            reason = next(filter(None, reasons))
            findings.append(Finding(Check("wording", own, passed=False, reason=reason)))
    return tuple(findings)


@lru_cache(maxsize=1 << 10)
def _split(text: str) -> tuple[str, ...]:
    return tuple(text[span.start : span.end] for span in split_sentences(text))


def _part(own: str, sentence: str) -> str | None:
    """Why a claim does not stand by itself in a sentence; "" where it does, None where its words are not there."""
    (bare, kind, closers), (whole, asked, _) = ended(own), ended(_DATELINE.sub("", sentence, count=1))
    place = whole.find(bare)
    while place >= 0 and (splits_a_word(whole, place) or splits_a_word(whole, place + len(bare))):
        place = whole.find(bare, place + 1)
    if place < 0 or not bare:
        return None
    before, behind = whole[:place], whole[place + len(bare) :]
    if bare[0] in "\"'" and closers:  # all of it is a quotation, which has a gate of its own
        return ""
    if not before and closers and '"' in bare:
        inside, _, rest = behind.partition('"')
        return "" if inside.strip(EDGES) and not rest.strip(EDGES) else PART
    if before.strip(EDGES) or behind.strip(EDGES):
        return PART
    if asked != kind:
        return (
            "the source asks this" if asked == "?" else "the source says this otherwise: it breaks off, or asks nothing"
        )
    return "" if not before else PART


def question_gate(claim: str, sentences: Sequence[str]) -> tuple[Finding, ...]:
    """A failed check where a claim states what only a question of the source holds the words of."""
    if _ASKS.search(normalise(claim)):
        return ()
    said = claimed_words(claim)
    asked, stated = (
        frozenset[str]().union(*(telling_words(s) for s in sentences if (ended(s)[1] == "?") == asking))
        for asking in (True, False)
    )
    least = CARRIED_CHINESE if is_chinese(claim) else CARRIED
    if coverage(said, stated) >= least or coverage(said, asked) < least:
        return ()
    return (Finding(Check("wording", claim, passed=False, reason="the source only asks this")),)
