"""Values that need no model: match, overlap and agreement of texts, refusals, and the quality of a ranking.

Texts are cut here and not by ``core.text``: a published value must not move when search learns a better word. Latin
words stay whole and every Chinese or Japanese character counts alone, as is customary for DRCD. All values run 0 to 1.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Literal

from groundwire.core.numerals import flatten
from groundwire.core.quantities import find_quantities
from groundwire.core.sentences import split_sentences
from groundwire.evaluation.refusals import REFUSES

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")
_RUN = re.compile(rf"[{_CJK}]+|\d+(?:[.,]\d+)*|[^\W_{_CJK}]+(?:['’][^\W_{_CJK}]+)*")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = re.compile(r"[^\w\s]|_")
_ASKS_PERSON = re.compile(r"\b(?:who|whose|whom)\b|誰|谁|何人")
_ASKS_TIME = re.compile(
    r"\b(?:when|(?:what|which) (?:year|date|day|month|time))\b|何時|何时|哪年|哪一年|什麼時候|什么时候"
)
_ASKS_QUANTITY = re.compile(
    r"\bhow (?:many|much|old|long|far|tall|large|big|often)\b|多少|[幾几](?:個|个|位|人|次|天|年)"
)
_HAN_NAME = re.compile(r"[\u4e00-\u9fff]{2}")
_TIME = re.compile(
    r"\d|\b(?:january|february|march|april|may|june|july|august|september|october|november|december|\w+day|century"
    r"|ago|season|spring|summer|autumn|fall|winter)\b|[年月日]|昨|今|明天|週|周"
)
_FUNCTION_WORDS_TEXT = (
    "a about after all also am an and any are as at be because been before being between both but by can could did do "
    "does during each for from had has have he her hers him his how i if in into is it its itself me might more "
    "most must my of on once only or other our ours over own same shall she should so some such than that the their "
    "them then there these they this those through to too under until up very was we were what when where which while "
    "who whom whose why will with would you your yours"
)
_GENERIC_WORDS_TEXT = (
    "actually additionally always anything aspect care certain come consider considered different everyone everything "
    "fact furthermore generally get give given go good great however important include including interest interesting "
    "just know like lot made make making many matter moreover much need new note noted noting often one overall part "
    "people person play please question really regarding related role said say see someone something specific take "
    "therefore thing think thus topic understand use used using usually various want way well worth"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_WORDS_TEXT.split())
_GENERIC_WORDS = frozenset(_GENERIC_WORDS_TEXT.split())
_FUNCTION_CHARACTERS = frozenset("的了是在和與与也就都而及或被把將将於于這这那之其所以並并請请嗎吗呢吧啊呀")

_SCALE = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_SCALE |= {"萬億": 12, "万亿": 12, "兆": 12, "億": 8, "亿": 8, "萬": 4, "万": 4, "千": 3}
_NUMBER = re.compile(
    r"(?<![a-z0-9_.])((?:\d{1,3}(?:,\d{3})+(?!\d)|\d+)(?:\.\d+)?)(?:\s*(" + "|".join(_SCALE) + r")(?![a-z]))?",
    re.IGNORECASE,
)
_SPELLED = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_SPELLED |= {"eleven": 11, "twelve": 12, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100}
_SPELLED_WORD = re.compile(r"\b(" + "|".join(_SPELLED) + r")\b", re.IGNORECASE)
_QUOTATION = re.compile(r"“([^“”]{2,})”|「([^「」]{2,})」|『([^『』]{2,})』|\"([^\"]{2,})\"")


def normalise_answer(text: str) -> str:
    """A text as answers are compared: NFKC, lower case, no punctuation, no English articles, single spaces.

    On ASCII text this is the rule of SQuAD's own evaluation.
    """
    bare = _PUNCTUATION.sub("", unicodedata.normalize("NFKC", text).lower())
    return " ".join(_ARTICLE.sub(" ", bare).split())


def answer_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a normalised answer: words between spaces, Chinese and Japanese characters one by one."""
    return tuple(_TOKEN.findall(normalise_answer(text)))


def exact_match(answer: str, reference: str) -> float:
    """1 where both texts are the same character for character, white space at the ends apart; else 0."""
    return float(answer.strip() == reference.strip())


def normalised_match(answer: str, reference: str) -> float:
    """1 where both texts are the same after ``normalise_answer``; else 0. SQuAD calls this exact match."""
    return float(normalise_answer(answer) == normalise_answer(reference))


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of precision and recall over the bags of tokens; two empty texts agree (1), one empty does not (0).

    Source: SQuAD (arXiv:1606.05250); Chinese by characters, as DRCD (arXiv:1806.00920) does.
    """
    given, wanted = answer_tokens(answer), answer_tokens(reference)
    if not given or not wanted:
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted))


def token_recall(answer: str, reference: str) -> float:
    """Share of the reference's tokens that the answer holds, as bags; 1 for an empty reference."""
    wanted = Counter(answer_tokens(reference))
    shared = sum((Counter(answer_tokens(answer)) & wanted).values())
    return shared / wanted.total() if wanted else 1.0


def rouge_l_recall(answer: str, reference: str) -> float:
    """Length of the longest common subsequence of tokens over the reference's length; 1 for an empty reference.

    Source: ROUGE-L (Lin 2004), the recall side, without stemming. The length comes from one bit a reference token.
    """
    wanted = answer_tokens(reference)
    if not wanted:
        return 1.0
    places: dict[str, int] = {}
    for place, token in enumerate(wanted):
        places[token] = places.get(token, 0) | 1 << place
    everywhere = (1 << len(wanted)) - 1
    free = everywhere
    for token in answer_tokens(answer):
        taken = free & places.get(token, 0)
        free = ((free + taken) | (free - taken)) & everywhere
    return (len(wanted) - free.bit_count()) / len(wanted)


def terms(text: str, *, generic: bool = False) -> tuple[str, ...]:
    """What a text is about: words without function words, plurals folded; Chinese as pairs of characters.

    A run of Chinese is cut at function characters; a run of one character stands alone. Order and repeats are kept.

    Args:
        text: any text.
        generic: keep words like "important" or "topic", too, which fit any answer.
    """
    found: list[str] = []
    for run in _RUN.findall(unicodedata.normalize("NFKC", text).lower()):
        if _is_cjk(run[0]):
            found.extend(_pairs(run))
        elif run not in _FUNCTION_WORDS:
            word = _singular(run) if run[-1] == "s" else run
            if generic or word not in _GENERIC_WORDS:
                found.append(word)
    return tuple(found)


def _is_cjk(character: str) -> bool:
    return "\u3040" <= character <= "\u30ff" or "\u3400" <= character <= "\u9fff" or "\uf900" <= character <= "\ufaff"


def _pairs(run: str) -> list[str]:
    pieces = "".join(" " if character in _FUNCTION_CHARACTERS else character for character in run).split()
    return [
        pair
        for piece in pieces
        for pair in ([piece] if len(piece) == 1 else [piece[at : at + 2] for at in range(len(piece) - 1)])
    ]


def _singular(word: str) -> str:
    """Fold English plurals and possessives; short words and -ss, -us, -is stay."""
    word = word.replace("’", "'").removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def coverage(wanted: Collection[Hashable], by: Collection[Hashable]) -> float:
    """Share of the distinct terms ``wanted`` that stand in ``by``; 1 where nothing is wanted."""
    distinct = set(wanted)
    return len(distinct & set(by)) / len(distinct) if distinct else 1.0


def numbers(text: str, *, spelled: bool = False) -> frozenset[Decimal]:
    """The numbers of a text by value: full-width digits, thousands separators and 萬, 億, million and kin are resolved.

    Args:
        text: any text; ``5 億`` and ``500 million`` are the same number.
        spelled: also read English number words from two to twelve and the tens up to fifty, and hundred.
    """
    plain = unicodedata.normalize("NFKC", text)
    values = set()
    for digits, scale in _NUMBER.findall(plain):
        power = _SCALE[scale.lower()] if scale else 0
        values.add((Decimal(digits.replace(",", "")) * Decimal(10) ** power).normalize())
    if spelled:
        values.update(Decimal(_SPELLED[word.lower()]).normalize() for word in _SPELLED_WORD.findall(plain))
    return frozenset(values)


def number_agreement(answer: str, evidence: str) -> float | None:
    """Share of the answer's numbers that the evidence holds, as digits or words; None where the answer has none."""
    claimed = numbers(answer)
    if not claimed:
        return None
    return len(claimed & numbers(evidence, spelled=True)) / len(claimed)


def quotation_agreement(answer: str, evidence: str) -> float | None:
    """Share of the answer's quotations that stand in the evidence word for word; None where the answer quotes nothing.

    Case, punctuation and white space are not compared; quotation marks are “ ”, " ", 「 」 and 『 』.
    """
    quoted = ["".join(found) for found in _QUOTATION.findall(answer)]
    if not quoted:
        return None
    held = _squeezed(evidence)
    return sum(_squeezed(words) in held for words in quoted) / len(quoted)


def _squeezed(text: str) -> str:
    return " ".join(_PUNCTUATION.sub(" ", unicodedata.normalize("NFKC", text).lower()).split())


_NO_ANSWER = re.compile(r"(?:null|none|nil|nan|n/?a|无|没有答案|unknown|<.{0,12}>)?[\W_]*")
_QUOTED_WHOLE = re.compile(r"\s*[\"“「『](?P<inner>[^\"“”「」『』]*)[\"”」』][.。]?\s*")
_COURTESY = re.compile(
    r"^(?:sorry|i am sorry|i'm sorry|unfortunately|i apologi[sz]e|my apologies|please|if you|let me know|feel free"
    r"|you (?:may|might|could|can|should) |i (?:would )?(?:recommend|suggest)|for (?:more|further) "
    r"|很?抱歉|对不起|请|如果|如需|建议)"
)
_BUT = re.compile(r"\b(?:but|however|although|though|nevertheless)\b|但是?|不过|然而")
_CONCEDES = re.compile(r"^(?:although|though|while|虽然|尽管)")
_FILLER = re.compile(
    r"\b(?:as an ai(?: language)? model|as of my (?:last|knowledge)|i hope this helps|in conclusion|in summary"
    r"|it is (?:important|worth) (?:to note|noting|mentioning)|it should be noted|let me know if|needless to say"
    r"|overall|to sum up|great question|there are many|as mentioned|as we (?:all )?know"
    r"|(?:plays?|played) an? (?:important|crucial|vital) role)\b"
    r"|值得注意的是|眾所周知|众所周知|總而言之|总而言之|綜上所述|综上所述|總的來說|总的来说|希望.{0,6}幫助|希望.{0,6}帮助"
)


def is_refusal(text: str) -> bool:
    """Whether an answer only says that it cannot answer, in English or Chinese.

    Every clause (between sentence ends and words like "but") must refuse or be a courtesy, and one must refuse:
    "not stated, but ..." is an answer, and so is somebody's quoted "I don't know".
    """
    whole = _QUOTED_WHOLE.fullmatch(text)
    plain = _refusable(whole["inner"] if whole else text)
    refused = False
    for span in split_sentences(plain):
        sentence = plain[span.start : span.end]
        if _CONCEDES.search(sentence):
            return False
        for clause in (clause.strip(" ,;") for clause in _BUT.split(sentence)):
            if REFUSES.search(clause):
                refused = True
            elif clause and not _COURTESY.search(clause):
                return False
    return refused


def holds_no_answer(reference: str) -> bool:
    """Whether a reference says that there is no answer: a refusal, nothing, a dash, or null, None, N/A, 無."""
    return _NO_ANSWER.fullmatch(_refusable(reference).strip()) is not None or is_refusal(reference)


def _refusable(text: str) -> str:
    """A text as refusals are looked for: without quotations and markers, in simplified characters, ``n't`` as not."""
    plain = flatten(_plain(_QUOTATION.sub('""', re.sub(r"\s*\[\d+\]", "", text))))
    for short, long in (("can't", "can not"), ("n't", " not"), ("i'm ", "i am "), ("it's ", "it is ")):
        plain = plain.replace(short, long)
    return plain


_YES = re.compile(r"^(?:yes\b|是的?|對|对|有的)")
_NO = re.compile(r"^(?:no\b|不是|否|沒有|没有|不對|不对)")


def evading_share(sentences: Sequence[str]) -> float:
    """Share of the sentences that say they cannot answer; 0 where there is none."""
    refusing = sum(bool(REFUSES.search(_refusable(sentence))) for sentence in sentences)
    return refusing / len(sentences) if sentences else 0.0


def filler_share(text: str) -> float:
    """Share of a text's characters that belong to stock phrases, 0 to 1."""
    plain = _plain(text)
    return sum(len(found) for found in _FILLER.findall(plain)) / max(1, len(plain))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower().replace("’", "'")


def polarity(text: str) -> bool | None:
    """True where a text begins with yes, False with no (English, Chinese), None with neither."""
    start = _plain(text).strip()
    if _NO.search(start):
        return False
    return True if _YES.search(start) else None


def precision_at_k(ranked: Sequence[str], relevant: Collection[str], *, k: int) -> float:
    """Share of the first k places that hold a relevant id; places that were not filled count as wrong."""
    wanted = _checked(ranked, relevant, k=k)
    return sum(name in wanted for name in ranked[:k]) / k


def recall_at_k(ranked: Sequence[str], relevant: Collection[str], *, k: int) -> float:
    """Share of the relevant ids that stand in the first k places.

    Raises:
        ValueError: nothing is relevant, an id is ranked twice, or k is below 1 (so for all measures of a ranking).
    """
    wanted = _checked(ranked, relevant, k=k)
    return sum(name in wanted for name in ranked[:k]) / len(wanted)


def reciprocal_rank(ranked: Sequence[str], relevant: Collection[str]) -> float:
    """One over the rank of the first relevant id; 0 where none is ranked."""
    wanted = _checked(ranked, relevant, k=1)
    return next((1 / rank for rank, name in enumerate(ranked, start=1) if name in wanted), 0.0)


def ndcg_at_k(
    ranked: Sequence[str], gains: Mapping[str, float], *, k: int, gain: Literal["linear", "exponential"] = "linear"
) -> float:
    """Discounted gain of the first k places over that of the best possible order.

    Args:
        ranked: ids, best first.
        gains: id -> grade, 0 and up; an id that is not there has 0.
        k: how many places count.
        gain: ``linear`` takes the grade itself, as trec_eval does; ``exponential`` takes 2^grade - 1.

    Raises:
        ValueError: no grade is above 0, a grade is negative or not finite, an id is ranked twice, or k is below 1.

    Source:
        Järvelin and Kekäläinen 2002, with the discount log2(rank + 1).
    """
    bad = sorted(name for name, grade in gains.items() if not (math.isfinite(grade) and grade >= 0))
    if bad:
        raise ValueError(f"gains must be finite and not negative; they are not for {', '.join(bad[:5])}")
    _checked(ranked, [name for name, grade in gains.items() if grade > 0], k=k)
    worth = {name: grade if gain == "linear" else 2.0**grade - 1 for name, grade in gains.items()}
    ideal = sorted(worth.values(), reverse=True)
    return _discounted([worth.get(name, 0.0) for name in ranked[:k]]) / _discounted(ideal[:k])


def _discounted(gains: Sequence[float]) -> float:
    return math.fsum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, start=1))


def _checked(ranked: Sequence[str], relevant: Collection[str], *, k: int) -> frozenset[str]:
    if k < 1:
        raise ValueError(f"k is {k}; it counts places and is at least 1")
    if not relevant:
        raise ValueError("nothing is relevant, so the measure is undefined; leave this query out and count it")
    twice = sorted(name for name, times in Counter(ranked).items() if times > 1)
    if twice:
        raise ValueError(f"ranked more than once: {', '.join(twice[:5])}")
    return frozenset(relevant)


def answer_fits(question: str, answer: str) -> float | None:
    """Whether the answer holds the kind of thing that was asked for; None where the question does not show the kind."""
    asked = question.lower()
    if _ASKS_QUANTITY.search(asked):
        return float(bool(numbers(answer, spelled=True) or find_quantities(answer)))
    if _ASKS_TIME.search(asked):
        return float(bool(_TIME.search(answer.lower())))
    if _ASKS_PERSON.search(asked):
        return _holds_name(answer)
    return None


def _holds_name(answer: str) -> float:
    """Whether an answer holds what may be a name; any word may be one where all letters are of one case."""
    if _HAN_NAME.search(answer):
        return 1.0
    found = re.findall(r"[^\W\d_]\w+", answer)
    one_case = answer in (answer.lower(), answer.upper())
    return float(any(one_case or word[0].isupper() for word in found))
