"""Number words and unit words of English and Chinese, read as values and as names that both languages share.

The functions expect flat text (``flatten``): half-width, with the Traditional characters used here made Simplified.
"""

from __future__ import annotations

import re
from bisect import bisect_right, insort
from collections.abc import Iterable
from fractions import Fraction
from functools import cache
from importlib.resources import files

from groundwire.core.types import Span

_FOLDER = files("groundwire.core")


def _listed(terms: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(terms.split())


_HALF_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    0x3000: " ", 0xA0: " ", 0x2009: " ", 0x202F: " ", 0x2011: "-", 0xFFE5: "¥", 0xFFE1: "£", 0x2236: ":",
    0x17F: "s", 0x212A: "K", 0x130: "I", 0x131: "i", 0x212B: "å",  # they match s, k and i where case is ignored
}  # fmt: skip
_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: n for n, word in enumerate((*_UNITS, *_TEENS))} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
SCALES = {
    "hundred": 10**2, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "lakh": 10**5, "crore": 10**7, "k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12,
}  # fmt: skip
_SHARES = {
    "half": Fraction(1, 2), "quarter": Fraction(1, 4), "quarters": Fraction(1, 4), "third": Fraction(1, 3),
    "thirds": Fraction(1, 3),
}  # fmt: skip
_ENGLISH_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[1:])})(?![a-z]))?|{'|'.join((*_TEENS, *_UNITS))})"
)
_ENGLISH_SCALE = r"(?:[\s-](?:hundred|dozen|thousand|million|billion|trillion|lakh|crore))"
_POINTED = rf"(?:{_ENGLISH_SMALL}\spoint(?:\s(?:{'|'.join(_UNITS)})(?![a-z])){{1,4}}{_ENGLISH_SCALE}{{0,2}})"
_PART = r"(?:(?:an?|one)\s(?:half|quarter|third)|three[\s-]quarters|two[\s-]thirds)\sof\san?"
# The repeats are bounded: a longer numeral means nothing, and reading it would take the square of its length.
ENGLISH_NUMERAL = (
    rf"(?<![a-z'’])(?:{_POINTED}|(?:(?:half\s)?an?|{_PART}|{_ENGLISH_SMALL}){_ENGLISH_SCALE}{{1,3}}"
    rf"(?:(?:\sand)?\s{_ENGLISH_SMALL}{_ENGLISH_SCALE}{{0,3}}){{0,6}}|{_ENGLISH_SMALL})(?![a-z])"
)
_CHINESE_DIGITS = {character: n for n, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_CHINESE_SMALL = {"十": 10, "百": 100, "千": 1000}
_CHINESE_LARGE = {"万": 10**4, "亿": 10**8, "兆": 10**12}
CHINESE_NUMERAL = r"[零〇○一二两三四五六七八九十廿卅百千万亿兆]+(?:点[零〇一二三四五六七八九]+[十百千万亿兆]*)?"
_CHINESE_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|\S")
_ENDLESS = re.compile(r"\d{40,}|\d{1,3}(?:,\d{3}){13,}|[零〇○一二两三四五六七八九十廿卅百千万亿兆]{40,}")
_FINANCIAL = str.maketrans("壹贰叁参肆伍陆柒捌玖拾佰仟", "一二三三四五六七八九十百千")
_FINANCIAL_NUMERAL = re.compile(
    r"(?<![大登着内海参])(?:[壹贰叁参肆伍陆柒捌玖][拾佰仟万亿兆]{1,3}零?){1,9}[壹贰叁参肆伍陆柒捌玖]?"
    r"|[壹贰叁参肆伍陆柒捌玖](?=[元圆])"
)


class Taken:
    """Which stretches of a text are spoken for; spans are added without overlap."""

    def __init__(self, spans: Iterable[Span] = ()) -> None:
        self._spans: list[tuple[int, int]] = sorted((span.start, span.end) for span in spans)

    def add(self, span: Span) -> bool:
        """Take a stretch, if nothing in it is taken yet; says whether it was free."""
        place = bisect_right(self._spans, (span.start, span.end))
        if place and self._spans[place - 1][1] > span.start:
            return False
        if place < len(self._spans) and self._spans[place][0] < span.end:
            return False
        insort(self._spans, (span.start, span.end))
        return True


@cache
def _flat() -> dict[int, str]:
    table = _FOLDER.joinpath("simplified.txt").read_text(encoding="utf-8")
    pairs = "".join(line for line in table.splitlines() if not line.startswith("#"))
    return _HALF_WIDTH | {ord(a): b for a, b in zip(pairs[::2], pairs[1::2], strict=True)}


def flatten(text: str) -> str:
    """The text with full-width forms made half-width and Traditional characters Simplified, one by one.

    For comparing, never for showing; offsets stay the same.
    """
    return text.translate(_flat())


def legible(text: str) -> str:
    """The flat text, with financial numerals (``貳億``) made plain and endless runs of digits blanked out.

    For reading numbers and dates; offsets stay the same. No number has forty digits, and reading such runs would take
    the square of their length.
    """
    plain = _FINANCIAL_NUMERAL.sub(lambda found: found.group().translate(_FINANCIAL), flatten(text))
    return _ENDLESS.sub(lambda found: "\0" * len(found.group()), plain)


def read_digits(written: str) -> Fraction:
    """``1,234.5`` and ``10 000`` as exact values."""
    return Fraction(written.replace(",", "").replace(" ", ""))


def read_english(written: str) -> Fraction:
    """``two hundred and five thousand``, ``two point five million``, ``half a million`` as values."""
    whole, _, decimals = written.lower().partition(" point ")
    total, current = Fraction(0), Fraction(0)
    for word in re.split(r"[\s-]+", whole) + _decimals(decimals):
        if word in _SHARES:
            current = (current or 1) * _SHARES[word]
        elif word in ("a", "an"):
            current = current or Fraction(1)
        elif word in _SMALL:
            current += _SMALL[word]
        elif word.startswith("."):
            current += Fraction(word)
        elif word in ("hundred", "dozen"):
            current *= SCALES[word]
        elif word in SCALES:  # a million million: the total is scaled once more
            total, current = total + current * SCALES[word] if current else total * SCALES[word], Fraction(0)
    return total + current


def _decimals(written: str) -> list[str]:
    """``five two million`` after a point as ``.52`` and the scales that follow."""
    words = re.split(r"[\s-]+", written) if written else []
    digits = [str(_SMALL[word]) for word in words if word in _SMALL]
    return ["." + "".join(digits), *words[len(digits) :]] if digits else []


def read_chinese(written: str) -> Fraction | None:
    """``三百二十一``, ``3億5,000萬``, ``兩萬五``, ``二〇二四`` as values; None where the characters form no number."""
    written = written.replace("廿", "二十").replace("卅", "三十")
    if "点" in written:
        return _read_pointed(written)
    tokens: list[str] = _CHINESE_TOKEN.findall(written)
    if len(tokens) > 1 and all(token in _CHINESE_DIGITS for token in tokens):
        plain = "".join(str(_CHINESE_DIGITS[token]) for token in tokens)
        return Fraction(plain) if len(plain) > 2 or "〇" in written else None
    sums = _Sums()
    if not tokens or not all(sums.take(token) for token in tokens):
        return None
    return sums.result(short=tokens[-1] in _CHINESE_DIGITS)


class _Sums:
    """A Chinese numeral while it is read: below the last large scale, the section; before it, the total."""

    def __init__(self) -> None:
        self.total, self.section, self.last = Fraction(0), Fraction(0), 1
        self.current: Fraction | None = None

    def take(self, token: str) -> bool:
        """Add a token; False where it cannot follow."""
        if token in _CHINESE_SMALL:
            return self._small(token)
        if token in _CHINESE_LARGE:
            return self._large(_CHINESE_LARGE[token])
        if token in ("零", "〇", "○"):
            self.last = 1
            return True
        if self.current is not None:
            return False
        self.current = Fraction(_CHINESE_DIGITS[token]) if token in _CHINESE_DIGITS else read_digits(token)
        return True

    def _small(self, token: str) -> bool:
        if self.current is None and token not in ("十",):
            return False
        self.last = _CHINESE_SMALL[token]
        self.section += (1 if self.current is None else self.current) * self.last
        self.current = None
        return True

    def _large(self, scale: int) -> bool:
        self.section += self.current or 0
        if not self.section and not self.total:
            return False
        # 一万亿: what stands before a larger scale is multiplied as a whole
        whole = 0 < self.total < scale
        self.total = (self.total + self.section) * scale if whole else self.total + self.section * scale
        self.section, self.last, self.current = Fraction(0), scale, None
        return True

    def result(self, *, short: bool) -> Fraction:
        """The value; ``short``: a last digit counts in tenths of the scale before it (两万五)."""
        current = self.current or Fraction(0)
        return (
            self.total + self.section + (current * Fraction(self.last, 10) if short and self.last >= 100 else current)
        )


def read_bare_scale(written: str) -> int | None:
    """``百万`` and ``千亿`` without a number before them as values; None where there is anything else."""
    value = 1
    for character in written:
        scale = (_CHINESE_SMALL | _CHINESE_LARGE).get(character)
        if scale is None:
            return None
        value *= scale
    return value


def _read_pointed(written: str) -> Fraction | None:
    whole, rest = written.split("点", 1)
    digits = re.match(r"[零〇一二三四五六七八九]+", rest)
    left = read_chinese(whole)
    if digits is None or left is None:
        return None
    value = left + Fraction(int("".join(str(_CHINESE_DIGITS[c]) for c in digits.group())), 10 ** len(digits.group()))
    for scale in rest[digits.end() :]:
        value *= (_CHINESE_SMALL | _CHINESE_LARGE)[scale]
    return value


# --- units ------------------------------------------------------------------------------------------------------------


def _tables() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Word -> name of the currencies, the English and the Chinese units of ``units.txt``."""
    tables: dict[str, dict[str, str]] = {"money": {}, "english": {}, "chinese": {}}
    for line in _FOLDER.joinpath("units.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        head, words = line.split(": ", 1)
        kind, _, name = head.partition(" ")
        for word in words.split("; " if kind == "money" else " "):
            tables["chinese" if kind == "measure" else kind][word] = name.removesuffix("-") or word * (
                kind == "measure"
            )
    return tables["money"], tables["english"], tables["chinese"]


_MONEY, _NAMED, _CHINESE_UNITS = _tables()
_LONGEST = sorted(_MONEY, key=lambda word: (-len(word), word))
_ALSO_WORDS = ("元", "圆", "euro", "yen", "yuan", "won", "real", "rand", "cent", "pence", "dong", "lira", "円")
_MONEY_BEFORE = re.compile(
    rf"(?:{'|'.join(re.escape(word) for word in _LONGEST if word not in _ALSO_WORDS)})\s?$",
    re.IGNORECASE,
)
_MONEY_AFTER = re.compile(
    rf"[\s-]?(?:(?P<word>{'|'.join(re.escape(word) for word in _LONGEST if not word.endswith(('$', '.')))})"
    r"(?:s\b|(?![a-z]))|(?P<coin>块(?=[，。、；！？,.;!?\s多左上以]|$)|(?<=[百千万亿])块(?![土地石砖板肉])))",
    re.IGNORECASE,
)
# 3 won the prize, 5 real problems, 12 rand
_NO_MONEY = re.compile(
    r"[\s-]?(?:won\s(?:the|an?|by|in|their|his|her|its?|at|on|gold|silver|bronze|seats?|over|with|and)\b"
    r"|real\s(?!for|to|in|from|per|an?\b|and|on)[a-z]|rs\b)",
    re.IGNORECASE,
)
_CHINESE_UNIT = re.compile(
    rf"(?:{'|'.join(sorted(_CHINESE_UNITS, key=lambda word: (-len(word), word)))})(?<!角(?=[度色落]))(?<!折(?=[磨叠]))"
)
SHARED_UNITS = frozenset(name.partition("/")[0] for name in _NAMED.values()) | {
    f"{power} {name}"
    for power in ("square", "cubic", "nautical", "light")
    for name in ("km", "metre", "cm", "mm", "mile", "foot", "inch", "yard", "year")
}
"""Names of units that stand for the same thing in both languages."""
_POWER = re.compile(
    r"[\s-]?(?:(?P<square>square|sq\.?)|(?P<cubic>cubic|cu\.?)|(?P<nautical>nautical)|(?P<light>light))[\s-](?=[a-z])",
    re.IGNORECASE,
)
_DEGREES = re.compile(r"\s?(?P<scale>[cf](?:elsius|ahrenheit)?|centigrade)\b", re.IGNORECASE)
_SHORT = {"h": "hour", "s": "second", "d": "day", "head": "person", "capita": "person"}
_PER = re.compile(
    r"\s?(?:(?:per\s|/\s?|每)(?P<any>[a-z]+|[\u4e00-\u9fff]{1,2})"
    r"|(?:an?|each|every)\s(?P<time>second|minute|hour|day|week|month|year|person|head|litre|gallon|barrel|tonne|share)\b)",
    re.IGNORECASE,
)
_EACH = re.compile(r"(?:每一?(?P<each>[\u4e00-\u9fff]{1,2}?)|(?P<short>[时日月年])[速薪产])[^，。；！？,;.!?\d]{0,8}$")
_TIMES = {"时": "hour", "日": "day", "月": "month", "年": "year"}
_STOP = _listed(
    "a an the and or of in on at to for from by with as is are was were be been has have had will would can could "
    "that which who this these those it its their his her he she they we i you but if than then when while after "
    "before during per each into over under more less out up down off about not no said says also between since "
    "until later ago earlier old away so far now other"
)
_NOUN = re.compile(r"[\s-]?([A-Za-z°µμ][A-Za-z°µμ]*)")
_IRREGULAR = {"people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot"}


def money_before(text: str, end: int) -> tuple[str, int]:
    """Currency that stands right before an offset, and where it begins; ``("", end)`` where there is none."""
    last = text[max(0, end - 2) : end].strip()[-1:]
    if not last or last.isdecimal() or last in ",()-，。、":
        return "", end
    found = _MONEY_BEFORE.search(text, max(0, end - 24), end)
    if found is None or (
        found.group()[0].isalpha() and found.start() and re.match(r"[A-Za-z]", text[found.start() - 1])
    ):
        return "", end
    return _MONEY[found.group().lower().strip()], found.start()


def money_after(text: str, start: int) -> tuple[str, int]:
    """Currency that begins at an offset, and where it ends; ``("", start)`` where there is none."""
    found = _MONEY_AFTER.match(text, start)
    if found is None or _NO_MONEY.match(text, start):
        return "", start
    return ("元" if found["coin"] else _MONEY[found["word"].lower()]), found.end()


def singular(word: str) -> str:
    """The word in lower case without a plural ending, roughly; enough to compare two mentions of a thing."""
    word = word.lower()
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and not word.endswith("ss") else word


def is_counted(text: str, start: int) -> bool:
    """Whether a Chinese measure word stands at an offset; a lone numeral without one is seldom a number (十分)."""
    start += text[start : start + 1] in ("多", "余", "几")
    return _CHINESE_UNIT.match(text, start) is not None and text[start - 1 : start + 1] != "十分"


def unit_after(text: str, start: int) -> tuple[str, tuple[str, ...], str]:
    """What is counted, from the words at an offset: the unit or ``""``, the words that may name it, and per what.

    English: up to three words before a function word or punctuation; the unit is the first that has a shared name,
    else the first plural, in the singular. Chinese: the measure word, then up to four characters.
    """
    chinese = _CHINESE_UNIT.match(text, start)
    if chinese is not None:
        after = re.match(r"[\u4e00-\u9fff]{0,4}", text[chinese.end() : chinese.end() + 4])
        nouns = (after.group(),) if after and after.group() else ()
        return _CHINESE_UNITS[chinese.group()], nouns, per_after(text, chinese.end())
    power = _POWER.match(text, start)
    words: list[str] = []
    position = power.end() - 1 if power else start
    while len(words) < 3 and (found := _NOUN.match(text, position)) and found[1].lower() not in _STOP:
        word, position = singular(found[1]), found.end()
        words.append(word)
        if word in _NAMED:
            name, per, position = _named(word, text=text, end=position)
            prefix = f"{power.lastgroup} " if power else ""
            return prefix + name, tuple(words), per or per_after(text, position)
        if found[1].lower() != word:
            return word, tuple(words), per_after(text, position)
    return "", tuple(words), ""


def _named(word: str, *, text: str, end: int) -> tuple[str, str, int]:
    """The name of an English unit that ends at an offset, what it is counted per, and where its signs end."""
    name, _, per = _NAMED[word].partition("/")
    if text[end : end + 1] in ("²", "³"):
        return ("square " if text[end] == "²" else "cubic ") + name, per, end + 1
    if name == "degree" and (scale := _DEGREES.match(text, end)):
        return ("°F" if scale["scale"][0] in "fF" else "°C"), per, scale.end()
    return name, per, end


def per_after(text: str, start: int) -> str:
    """The unit that ``per hour``, ``/kg``, ``a day`` or ``每天`` at an offset names; ``""`` where there is none."""
    found = _PER.match(text, start)
    if found is None:
        return ""
    written = found["any"] or found["time"]
    chinese = _CHINESE_UNIT.match(written)
    if chinese is not None or not written.isascii():
        return _CHINESE_UNITS[chinese.group()] if chinese else ""
    word = singular(written)
    return _SHORT.get(written.lower()) or _NAMED.get(word, word)


def per_before(text: str, end: int) -> str:
    """The unit that ``每天``, ``每公斤`` or ``時速`` before an offset names; ``""`` where there is none."""
    found = _EACH.search(text, max(0, end - 14), end)
    if found is None:
        return ""
    if found["short"]:
        return _TIMES[found["short"]]
    each = _CHINESE_UNIT.match(text, found.start("each"))
    return _CHINESE_UNITS[each.group()] if each else _TIMES.get(found["each"], "")


def scale_before(text: str, end: int) -> str:
    """``°F`` or ``°C`` where 華氏 or 攝氏 stands before an offset."""
    found = re.compile(r"(华|摄)氏[\s零下约高达超过逾近]{0,4}$").search(text, max(0, end - 8), end)
    return ("°F" if found[1] == "华" else "°C") if found else ""
