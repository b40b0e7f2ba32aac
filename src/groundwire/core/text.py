"""Texts made comparable: folding with a way back to the source, words, token counts and the language.

Sentences are in ``core/sentences.py``.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u3096\u309d-\u309f\u30a1-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_UNSPACED = f"{_HAN}{_KANA}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_MARKS = "\u0300-\u036f\u0591-\u05bd\u064b-\u0670\u0900-\u0903\u093a-\u0963\u0981-\u0983\u09bc-\u09e3\u0a01-\u0dff"
_LETTERS = rf"[^\W_{_UNSPACED}]+"

_INVISIBLE = re.compile(
    "[\u00ad\u034f\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]"
)
_ALIKE = str.maketrans(
    {
        **dict.fromkeys("“”„‟«»「」『』〝〞〟", '"'),
        **dict.fromkeys("‘’‚‛‹›′ʼ`", "'"),
        **dict.fromkeys("‐‑‒–—―−⸺⸻", "-"),
    }
)
_SQUEEZED = re.compile(r"-{2,}|\.{4,}|\s+")
_RUNS = re.compile(r"-{2,}|\.{4,}")
_SHORT, _REMEMBERED = 600, 8192
"""Texts up to so many characters are folded and counted once, as long as they are among the last so many."""
# Sorting the marks of one character takes the square of their number; no orthography stacks thirty.
_ANY_MARK = f"[{_MARKS}\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\u302a-\\u302f\\u3099\\u309a\\ufe20-\\ufe2f]"
_STACKED = re.compile(f"({_ANY_MARK}{{30}}){_ANY_MARK}+")
_WIDE = re.compile(f"[{_HAN}{_KANA}]")

_TERM = re.compile(
    rf"[{_UNSPACED}]+"
    rf"|\d++(?:[.,]\d++)*+(?!{_LETTERS})"
    r"|(?<!\w)(?:[a-z]\.)+[a-z](?!\w)"
    rf"|{_LETTERS}(?:(?:[{_MARKS}]+|'){_LETTERS})*[{_MARKS}]*"
)
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_IS_UNSPACED = re.compile(f"[{_UNSPACED}]")

_COUNTED = re.compile(
    rf"(?P<han>[{_HAN}]+)|(?P<kana>[{_KANA}]+)|(?P<number>\d+)|(?P<word>[^\W\d_{_HAN}{_KANA}]+)|(?P<other>[^\w\s]|_)"
)

# Tokens for a run of its kind, and for each of its characters.
_TOKENS = {"han": (0.2, 0.69), "kana": (0.2, 0.46), "number": (1.0, 0.2), "word": (0.55, 0.146), "other": (0.0, 0.85)}
_LANGUAGE_CHARACTERS = 4000


def _listed(terms: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(terms.split())


_ENGLISH_ONLY = _listed(
    "the and that with from by this which his their they were been has would could should what who when where its "
    "she you your there than about into said are but"
)
_ENGLISH_SHARED = _listed(
    "a an in on is was as at be or we had if i all one new can may do so me no of to for have not will it he her "
    "after over"
)
_FUNCTION_WORDS = _listed(
    "a about after again against all also am an and any are as at be because been before being between both but "
    "by can could did do does doing during each for from further had has have having he her here hers him his how "
    "i if in into is it its itself just may me might more most must my no nor not of off on once only or other "
    "our out over own same shall she should so some such than that the their them then there these they this "
    "those through to too under until up very was we were what when where which while who whom whose why will "
    "with would you your 我們 我们 他們 他们 她們 她们 你們 你们 這個 这个 那個 那个 這些 这些 那些 因為 因为 "
    "所以 但是 以及 可以 已經 已经 什麼 什么 如何 沒有 没有 自己 的是 是在 了的 的一 了一 也是 都是 就是 還是 "
    "还是 不是 是否 對於 对于 關於 关于 而且 並且 并且 如果 雖然 虽然 因此 其中 其他 以為 这是 這是 那是 也有 "
    "都有 就有"
)


def normalise(text: str) -> str:
    """A text as it is compared, never as it is shown; to do it twice changes nothing more.

    Compatibility forms and case are folded (NFKC, casefold), all quotation marks become one of two straight ones, all
    dashes a hyphen, a run of dashes one, a longer run of full stops three; invisible characters go; white space becomes
    one space, none at the ends or beside Chinese and Japanese characters.
    """
    return _normalised_short(text) if len(text) <= _SHORT else _normalised(text)


def _normalised(text: str) -> str:
    folded = _fold(text)
    if folded.isascii():
        return _RUNS.sub(lambda run: run.group()[:1] if run.group()[0] == "-" else "...", " ".join(folded.split()))
    return _SQUEEZED.sub(_squeezed, folded)


_normalised_short = lru_cache(_REMEMBERED)(_normalised)


def folded_with_map(text: str) -> tuple[str, tuple[int, ...]]:
    """The normalised text, and for each of its characters the offset of the source character it came from.

    Returns:
        ``normalise(text)`` and as many offsets, never falling. What is found at ``folded[i:j]`` stands in the source
        at ``positions[i]`` up to ``positions[j]``, or up to its end when j is the length; white space and invisible
        characters may trail.
    """
    characters: list[str] = []
    positions: list[int] = []
    for at, cluster in _clusters(text):
        folded = _fold_cluster(cluster)
        characters.append(folded)
        positions.extend([at] * len(folded))
    folded = "".join(characters)
    pieces: list[str] = []
    kept: list[int] = []
    done = 0
    for found in _SQUEEZED.finditer(folded):
        replacement = _squeezed(found)
        pieces += (folded[done : found.start()], replacement)
        kept += positions[done : found.start() + len(replacement)]
        done = found.end()
    pieces.append(folded[done:])
    kept += positions[done:]
    return "".join(pieces), tuple(kept)


def _squeezed(found: re.Match[str]) -> str:
    """What stays of a run of dashes, full stops or white space."""
    run, text = found.group(), found.string
    if run[0] == "-":
        return "-"
    if run[0] == ".":
        return "..."
    if found.start() == 0 or found.end() == len(text):
        return ""
    following = text[found.end()]
    beside_wide = _WIDE.match(text[found.start() - 1]) or _WIDE.match(following)
    # A mark must not come to stand on the character before the white space.
    return "" if beside_wide and not _joins(following) else " "


def _fold(text: str) -> str:
    """Fold case and forms until nothing changes: one pass of NFKC and casefold is not enough for a few characters."""
    if text.isascii():
        return text.casefold().replace("`", "'")
    folded, before = _INVISIBLE.sub("", text), ""
    while folded != before:
        before = folded
        folded = unicodedata.normalize("NFKC", _STACKED.sub(r"\1", folded))
        folded = unicodedata.normalize("NFKC", folded.casefold())
    return folded.translate(_ALIKE)


@lru_cache(maxsize=1 << 16)
def _fold_cluster(cluster: str) -> str:
    """``_fold``, remembered: a text has few different characters."""
    return _fold(cluster)


@lru_cache(maxsize=1 << 16)
def _joins(character: str) -> bool:
    """Whether a character can change or merge with the one before it (a mark, the second half of a Hangul syllable)."""
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.category(first)[0] == "M" or "\u1160" <= first <= "\u11ff"


def _clusters(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each run of characters that must be folded together, invisible characters left out."""
    start, cluster = 0, ""
    for at, character in enumerate(text):
        if character >= "\u00ad" and _INVISIBLE.match(character):
            continue
        if cluster and character >= "\u0300" and _joins(character):
            cluster += character
            continue
        if cluster:
            yield start, cluster
        start, cluster = at, character
    if cluster:
        yield start, cluster


def words(text: str) -> tuple[str, ...]:
    """Terms for counting and comparing, in order, with repetitions.

    Words of alphabetic scripts, folded as ``normalise`` folds: a hyphen parts them (``covid``, ``19``), an apostrophe
    does not (``don't``), a possessive ``'s`` is dropped, full stops inside initials are (``U.S.`` is ``us``). Numbers
    stay whole, without thousands separators, signs or units (``1,200`` is ``1200``, ``7%`` is ``7``). Scripts written
    without spaces (Chinese, Japanese, Thai, Khmer, Lao, Burmese) give overlapping pairs of characters, a lone
    character itself.
    """
    terms: list[str] = []
    for term in _TERM.findall(_fold(text)):
        if term.isascii():
            terms.append(term if term.isalpha() else _plain(term))
        elif _IS_UNSPACED.match(term):
            terms.extend([term[i : i + 2] for i in range(len(term) - 1)] or [term])
        else:
            terms.append(term.removesuffix("'s"))
    return tuple(terms)


def _plain(term: str) -> str:
    """An ASCII term without what only decorates it."""
    if term[0].isdigit():
        return term.replace(",", "") if _THOUSANDS.fullmatch(term) else term
    return term.removesuffix("'s").replace(".", "")


def content_words(text: str) -> tuple[str, ...]:
    """``words`` without those that carry no topic: English function words and a few Chinese ones."""
    return tuple(term for term in words(text) if term not in _FUNCTION_WORDS)


def count_tokens(text: str) -> int:
    """Estimate of the tokens of a multilingual sub-word model, without loading one.

    A line fitted to the tokenizer of XLM-R and multilingual-e5 on news sentences in English, Chinese and Japanese: so
    much for each word, letter, number, digit, character and mark. Special tokens are not counted. Over a join of texts
    the estimates add up, rounding apart. 0 only for white space.
    """
    return _tokens_of_short(text) if len(text) <= _SHORT else _tokens(text)


def _tokens(text: str) -> int:
    total = 0.0
    for found in _COUNTED.finditer(text):
        base, each = _TOKENS[found.lastgroup or "other"]
        total += base + each * (found.end() - found.start())
    return math.ceil(total)


_tokens_of_short = lru_cache(_REMEMBERED)(_tokens)


def detect_language(text: str) -> str:
    """The language of the first 4,000 characters.

    Returns:
        ``ja`` or ``ko`` by script; ``zh-TW`` or ``zh-CN`` by which characters exist only in Big5 or only in GB 2312,
        ``zh`` when neither wins; ``en`` where its commonest words are common; ``""`` where unsure.
    """
    sample = text[:_LANGUAGE_CHARACTERS]
    han, kana, hangul = (_count(scripts, sample) for scripts in (_HAN, _KANA, _HANGUL))
    latin = _count("A-Za-z\u00c0-\u024f", sample)
    wide = han + kana + hangul
    if wide == 0 or 3 * wide < latin:  # a Chinese character says about as much as three letters
        return "en" if _is_english(sample) else ""
    if hangul > wide / 2:
        return "ko"
    if kana > wide / 10:
        return "ja"
    traditional = sum(1 for character in sample if _written_as(character) == "zh-TW")
    simplified = sum(1 for character in sample if _written_as(character) == "zh-CN")
    if traditional == simplified:
        return "zh"
    return "zh-TW" if traditional > simplified else "zh-CN"


def _count(scripts: str, text: str) -> int:
    """How many characters of a text are of these ranges."""
    return len(re.findall(f"[{scripts}]", text))


def _is_english(sample: str) -> bool:
    """Whether enough of the words are common English ones, some of which no neighbour of English has."""
    terms = re.findall(r"[^\W\d_]+", sample.casefold())
    only = sum(1 for term in terms if term in _ENGLISH_ONLY)
    shared = sum(1 for term in terms if term in _ENGLISH_SHARED)
    return only > 0 and only + shared >= 0.15 * len(terms) and only >= 0.05 * len(terms)


@cache
def _written_as(character: str) -> str:
    """``zh-TW`` or ``zh-CN`` for a character that only Big5 or only GB 2312 has, else nothing."""
    if not "\u4e00" <= character <= "\u9fff":
        return ""
    in_big5, in_gb2312 = (_encodes(character, codec) for codec in ("big5", "gb2312"))
    if in_big5 == in_gb2312:
        return ""
    return "zh-TW" if in_big5 else "zh-CN"


def _encodes(character: str, codec: str) -> bool:
    """Whether a codec has a character."""
    return bool(character.encode(codec, errors="ignore"))
