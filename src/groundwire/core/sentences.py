"""Where sentences end: the boundaries of ``sentencex``, repaired for news in English and Chinese.

``sentencex`` proposes boundaries on a copy of each paragraph whose quotation marks and brackets are blanked, so that a
stray mark cannot hide the rest of the text from it; which quotation or bracket keeps its inner stops together is
decided here, as are abbreviations, list numbers, lines and the hard limit. Every step is linear in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from groundwire.core.abbreviations import OPENING_WORDS, UNFINISHED
from groundwire.core.stops import Cut, ends
from groundwire.core.types import Span

MAX_SENTENCE_CHARACTERS = 1000
"""No sentence is longer; a longer run is cut after a stop, else a clause, else a word, else anywhere."""

_CLOSER_OF = dict(zip("「『（(《〈【“‘«〝", "」』）)》〉】”’»〞", strict=True))
# An apostrophe inside a word is no mark; lone surrogates are one because sentencex refuses them.
_FRAME = re.compile(
    r"""["'“”‘’«»()（）「」『』《》〈〉【】〝〞\u200b-\u200f\u2060\ufeff\ud800-\udfff]"""
    r"""(?:(?<!['’])|(?![A-Za-z0-9])|(?<![A-Za-z0-9]['’]))"""
)
_INVISIBLE = "\u200b-\u200f\u2060\ufeff\ufe0e\ufe0f\u0300-\u036f"
_CLOSERS = re.compile(rf"""(?:[”’」』）)》〉】»〞{_INVISIBLE}]|["'](?!\w))+""")
_CLOSER_CHARACTERS = " \t\u00a0\u3000\"'”’」』）)》〉】»〞\u200b\u200c\u200d\u2060\ufeff"
_CLOSING_REACH = 12  # how far a closing mark may stand behind the stop it frames

_LINE = re.compile(r"[^\n\r\x0b\x0c\x85\u2028\u2029]+")
_PARAGRAPH = re.compile(r"[\x0c\u2029\u3000]")  # the last indents a paragraph
_LINE_BREAK = re.compile(r"[\n\r\x0b\x0c\x85\u2028\u2029]")
_WHITE = re.compile(r"[^\S ]")  # sentencex panics at an initial before white space of more than one byte
_WORD = re.compile(r"\w")
_SOLID = re.compile(r"\S")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_ENGLISH_WORD = re.compile(r"[A-Za-z]+")


# What sentencex takes for the middle of a sentence and is not.
_MISSED = re.compile(
    r"[。！？](?=\s*[0-9a-z])"
    r"|[.…](?=\s+[A-Z])(?:(?<=etc\.)|(?<=\sal\.)|(?<=…)|(?<=/[a-z0-9]\.)|(?<=\sno\.)|(?<=\sSept\.)"
    r"|(?<=\s(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|art|sat|sun)\.)"
    r"|(?:(?<=[A-Z]\.)|(?<=Inc\.)|(?<=Ltd\.)|(?<=Corp\.)|(?<=Co\.)|(?<=Jr\.)|(?<=Sr\.))"
    r"(?=\s+(?:[AI]\s+[a-z]|(?:Though|Unless|Few|Nearly|Shares)\s)))"
)

_BULLET = re.compile(
    r"\s*(?:[-*+•·‧▪◦●○■□◆◇►▶※]\s+|#{1,6}\s|\||[（(]?[一二三四五六七八九十]{1,3}[）)、]|1[.)]\s|[（(]1[）)])"
)
_NUMBER = re.compile(r"\s*(?:[（(]?\d{1,2}[）)]|\d{1,2}[.．、](?!\d))")
_RULE = re.compile(r"\s*([-=*_~#])\1{2,}\s*")

_STOPS = re.compile(r"[.!?…][\"'”’)]*(?=\s)|[。！？…]+[」』”’）]*")
_CLAUSES = re.compile(r"[,;:](?=\s)|[，、；：—–]")
_SPACES = re.compile(r"\s(?=\S)")
_ANYTHING = re.compile(r"(?s:.)")
_FLAG_LETTERS = frozenset(map(chr, range(0x1F1E6, 0x1F200)))
_JOINERS = frozenset("\u200d\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff")


def split_sentences(text: str, *, language: str = "") -> tuple[Span, ...]:
    """Spans of the sentences of a text, in order and without overlap.

    A span is never blank, has no surrounding white space and is at most ``MAX_SENTENCE_CHARACTERS`` long; between
    spans there is white space only, so no character of a word is lost. A blank line, a list item and a heading end a
    sentence; a single line break inside running text does not. Stops inside a closed quotation or bracket stay with
    the sentence that frames it.

    Args:
        text: any text; the offsets of the spans are code points into it.
        language: a BCP 47 tag that names the list of abbreviations of ``sentencex``; English where empty. Chinese
            marks end a sentence in every language.

    Returns:
        Nothing for a text of white space.
    """
    spans: list[Span] = []
    for start, end in _blocks(text):
        flat = _WHITE.sub(" ", text[start:end])
        for first, last in _sentences(flat, language=language or "en"):
            spans.extend(_within_limit(text, start=start + first, end=start + last))
    return tuple(spans)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Runs of lines that read on from one to the next, without surrounding white space."""
    start, end, previous = -1, -1, ""
    for found in _LINE.finditer(text):
        line = found.group().strip()
        if not line:
            continue
        here = found.start() + found.group().index(line[0])
        if start < 0:
            start = here
        elif _breaks(
            previous, line, gap=text[end:here], opening=text[start : start + 16], alone=end - start == len(previous)
        ):
            yield start, end
            start = here
        end, previous = here + len(line), line
    if start >= 0:
        yield start, end


def _breaks(previous: str, line: str, *, gap: str, opening: str, alone: bool) -> bool:
    """Whether a line begins a block of its own: not if it reads on from ``previous`` across the white space of ``gap``.

    ``opening`` holds the first characters of the block so far, of which ``previous`` is the last line, or the only one.
    """
    if len(_LINE_BREAK.findall(gap.replace("\r\n", "\n"))) > 1 or _PARAGRAPH.search(gap):
        return True
    if _BULLET.match(line) or _RULE.fullmatch(line) or _RULE.fullmatch(previous) or previous.startswith("#"):
        return True
    bare = previous.rstrip(_CLOSER_CHARACTERS)[-1:] or previous[-1]
    if bare in "。！？…" and not line[0].islower():
        return True
    if _NUMBER.match(line) and (bare in ".!?:：;；" or _NUMBER.match(opening)):
        return True
    return alone and _is_heading(previous, line)


def _is_heading(line: str, following: str) -> bool:
    """Whether a line that opens a block is a headline of what follows it rather than wrapped text."""
    if line[-1] in ".,;:!?，、；：。-–—" or following[0].islower() or following[0].isdigit():
        return False
    if _HAN.match(line[-1]):
        return len(line) <= 40 and len(following) >= max(40, 2 * len(line))
    terms = _ENGLISH_WORD.findall(line)
    if not terms or len(line) > 100 or terms[-1].lower() in UNFINISHED:
        return False
    long = [term for term in terms if len(term) > 3]
    opening = _ENGLISH_WORD.match(following)
    return (
        (opening is not None and opening.group() in OPENING_WORDS)
        or (len(long) > 1 and all(term[0].isupper() for term in long))
        or (len(following) >= 60 and len(line) <= 0.7 * len(following))
    )


def _sentences(flat: str, *, language: str) -> list[tuple[int, int]]:
    """Start and end of each sentence of a block without line breaks; a piece without a word joins its neighbour."""
    pairs = _pairs(flat)
    kept: list[tuple[int, int]] = []
    begin, wordless, pair = 0, 0, 0
    for stop in _proposals(_FRAME.sub(" ", flat), language=language):
        while pair < len(pairs) and pairs[pair][1] < stop:
            pair += 1
        cut = _cut(flat, stop, begin=begin, pair=pairs[pair] if pair < len(pairs) else (len(flat), len(flat)))
        if cut is None or not ends(cut):
            continue
        if _WORD.search(flat, max(begin, wordless), cut.after):
            kept.append((begin, cut.after))
        elif kept:
            kept[-1] = (kept[-1][0], cut.after)
        else:
            wordless = cut.after
            continue
        begin = cut.following
    if kept and not _WORD.search(flat, begin):
        kept[-1] = (kept[-1][0], len(flat))
    else:
        kept.append((begin, len(flat)))
    return kept


def _proposals(blanked: str, *, language: str) -> list[int]:
    """Where sentencex ends a sentence, and where it should have: the offsets behind the stops, ascending."""
    from sentencex import get_sentence_boundaries

    stops = []
    for found in get_sentence_boundaries(language, blanked):
        end = found["start_index"] + len(found["text"].rstrip())
        if end > found["start_index"]:
            stops.append(end)
    missed = [found.end() for found in _MISSED.finditer(blanked)]
    return sorted({*stops, *missed}) if missed else stops


def _pairs(flat: str) -> list[tuple[int, int]]:
    """Outermost closed quotations and brackets, ascending; one longer than a sentence may be keeps nothing together."""
    waiting: dict[str, list[int]] = {}
    found: list[tuple[int, int]] = []
    for mark in _FRAME.finditer(flat):
        at, character = mark.start(), mark.group()
        closer = _CLOSER_OF.get(character, character)
        if closer != character and character not in "“‘":
            waiting.setdefault(closer, []).append(at)
        elif closer != character or (character in "\"'" and _opens(flat, at, is_open=bool(waiting.get(character)))):
            waiting[closer] = [at]  # whatever was open was never closed: these do not nest in themselves
        elif waiting.get(character) and (character != "'" or flat[at - 1] in ".,!?…"):
            start = waiting[character].pop()
            if at - start <= MAX_SENTENCE_CHARACTERS:
                found.append((start, at))
    outermost: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if not outermost or start > outermost[-1][1]:
            outermost.append((start, end))
    return outermost


def _opens(flat: str, at: int, *, is_open: bool) -> bool:
    """Whether the straight quotation mark at ``at`` opens a quotation; ``is_open``: one is open already."""
    before, behind = flat[at - 1 : at] if at else " ", flat[at + 1 : at + 2] or " "
    if flat[at] == "'":
        return behind.isalnum()
    if behind.isspace():
        return False
    return before.isspace() or before in "([（「“‘：:" if is_open else not before.isdigit()


def _cut(flat: str, stop: int, *, begin: int, pair: tuple[int, int]) -> Cut | None:
    """The place behind a stop, or None inside a quotation or bracket and at the end of the block.

    ``pair`` is the first quotation or bracket that closes behind the stop.
    """
    if stop <= begin:
        return None
    after, opener = stop, -1
    if pair[0] < stop:
        if pair[1] - stop > _CLOSING_REACH or flat[stop : pair[1]].strip(_CLOSER_CHARACTERS):
            return None
        after, opener = pair[1] + 1, pair[0]
    closers = _CLOSERS.match(flat, after)
    after = closers.end() if closers else after
    following = _SOLID.search(flat, after)
    if following is None:
        return None
    return Cut(flat, begin=begin, mark=stop - 1, after=after, following=following.start(), opener=opener)


def _within_limit(text: str, *, start: int, end: int) -> Iterator[Span]:
    """The sentence, cut where it does the least harm if it is too long."""
    while end - start > MAX_SENTENCE_CHARACTERS:
        cut = _best_cut(text, start=start)
        yield Span(start, start + len(text[start:cut].rstrip()))
        start = _SOLID.search(text, cut).start()  # type: ignore[union-attr]  # a sentence ends with a solid character
    yield Span(start, end)


def _best_cut(text: str, *, start: int) -> int:
    """Where to cut a run that is too long: in its second half, never inside a character with its marks if avoidable."""
    middle, limit = start + MAX_SENTENCE_CHARACTERS // 2, start + MAX_SENTENCE_CHARACTERS
    for pattern in (_STOPS, _CLAUSES, _SPACES, _ANYTHING):
        ends = [found.end() for found in pattern.finditer(text, middle, limit) if not _continues(text, found.end())]
        if ends:
            return ends[-1]
    return limit


def _continues(text: str, at: int) -> bool:
    """Whether the character at ``at`` belongs to the one before it."""
    before, character = text[at - 1], text[at]
    is_flag = before in _FLAG_LETTERS and character in _FLAG_LETTERS
    return is_flag or unicodedata.category(character)[0] == "M" or character in _JOINERS or before == "\u200d"
