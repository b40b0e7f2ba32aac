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


def _listed(terms: str) -> frozenset[str]:
    """A set of words written as running text."""
    return frozenset(terms.split())


_HALF_WIDTH = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)} | {
    0x3000: " ", 0xA0: " ", 0x2009: " ", 0x202F: " ", 0x2011: "-", 0xFFE5: "¥", 0xFFE1: "£",
}  # fmt: skip
_UNITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS = ("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SMALL = {word: n for n, word in enumerate((*_UNITS, *_TEENS))} | {word: 10 * n for n, word in enumerate(_TENS, 2)}
SCALES = {
    "hundred": 10**2, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12,
    "k": 10**3, "m": 10**6, "mn": 10**6, "b": 10**9, "bn": 10**9, "tn": 10**12,
}  # fmt: skip
_ENGLISH_SMALL = (
    rf"(?:(?:{'|'.join(_TENS)})(?:[\s-](?:{'|'.join(_UNITS[1:])})(?![a-z]))?|{'|'.join((*_TEENS, *_UNITS))})"
)
_ENGLISH_SCALE = r"(?:[\s-](?:hundred|dozen|thousand|million|billion|trillion))"
ENGLISH_NUMERAL = (
    rf"(?<![a-z'’])(?:(?:(?:half\s)?an?|{_ENGLISH_SMALL}){_ENGLISH_SCALE}+"
    rf"(?:(?:\sand)?\s{_ENGLISH_SMALL}{_ENGLISH_SCALE}*)*|{_ENGLISH_SMALL})(?![a-z])"
)
_CHINESE_DIGITS = {character: n for n, character in enumerate("零一二三四五六七八九")} | {"〇": 0, "○": 0, "两": 2}
_CHINESE_SMALL = {"十": 10, "百": 100, "千": 1000}
_CHINESE_LARGE = {"万": 10**4, "亿": 10**8, "兆": 10**12}
CHINESE_NUMERAL = r"[零〇○一二两三四五六七八九十百千万亿兆]+(?:点[零〇一二三四五六七八九]+[十百千万亿兆]*)?"
_CHINESE_TOKEN = re.compile(r"\d[\d,]*(?:\.\d+)?|\S")


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
    table = files("groundwire.core").joinpath("simplified.txt").read_text(encoding="utf-8")
    pairs = "".join(line for line in table.splitlines() if not line.startswith("#"))
    return _HALF_WIDTH | {ord(a): b for a, b in zip(pairs[::2], pairs[1::2], strict=True)}


def flatten(text: str) -> str:
    """The text with full-width forms made half-width and Traditional characters Simplified, one by one.

    For comparing, never for showing; offsets stay the same.
    """
    return text.translate(_flat())


def read_digits(written: str) -> Fraction:
    """``1,234.5`` as an exact value."""
    return Fraction(written.replace(",", ""))


def read_english(written: str) -> Fraction:
    """``two hundred and five thousand``, ``half a million``, ``a dozen`` as values."""
    total, current = Fraction(0), Fraction(0)
    for word in re.split(r"[\s-]+", written.lower()):
        if word == "half":
            current = Fraction(1, 2)
        elif word in ("a", "an"):
            current = current or Fraction(1)
        elif word in _SMALL:
            current += _SMALL[word]
        elif word in ("hundred", "dozen"):
            current *= SCALES[word]
        elif word in SCALES:
            total, current = total + current * SCALES[word], Fraction(0)
    return total + current


def read_chinese(written: str) -> Fraction | None:
    """``三百二十一``, ``3億5,000萬``, ``兩萬五``, ``二〇二四`` as values; None where the characters form no number."""
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

_CURRENCIES = {
    "USD": "us$; us dollar; usd; 美元; 美金; u.s. dollar", "TWD": "nt$; twd; ntd; 新台币; 台币; new taiwan dollar",
    "HKD": "hk$; hkd; 港币; 港元; hong kong dollar", "AUD": "a$; au$; aud; 澳元; 澳币; australian dollar",
    "CAD": "c$; cad; 加元; 加币; canadian dollar", "SGD": "s$; sgd; 新币", "NZD": "nz$", "$": "$; dollar",
    "EUR": "€; eur; euro; 欧元", "GBP": "£; gbp; 英镑; pound sterling", "¥": "¥",
    "JPY": "jpy; yen; 日圆; 日元; 日币", "CNY": "cny; rmb; yuan; 人民币; renminbi", "KRW": "krw; 韩元; 韩圆",
    "INR": "rupee; 卢比", "RUB": "ruble; rouble; 卢布", "CHF": "法郎; franc", "元": "元; 块钱",
}  # fmt: skip
_MONEY = {name: code for code, names in _CURRENCIES.items() for name in names.split("; ")}
_LONGEST = sorted(_MONEY, key=lambda word: -len(word))
_MONEY_BEFORE = re.compile(
    rf"(?:{'|'.join(re.escape(word) for word in _LONGEST if word not in ('元', 'euro', 'yen', 'yuan'))})\s?$",
    re.I,
)
_MONEY_AFTER = re.compile(rf"[\s-]?(?:{'|'.join(re.escape(word) for word in _LONGEST)})(?:s\b|(?![a-z]))", re.I)

_PERSON = (
    "person people resident citizen man woman child boy girl kid student pupil passenger patient victim death fatality "
    "casualty injury case refugee migrant soldier officer worker employee player member voter fan civilian villager"
)
_NAMED = dict.fromkeys(_PERSON.split(), "person") | {
    "second": "second", "minute": "minute", "hour": "hour", "day": "day", "week": "week", "month": "month",
    "year": "year", "yr": "year", "decade": "decade", "century": "century", "mile": "mile", "kilometre": "km",
    "kilometer": "km", "km": "km", "metre": "metre", "meter": "metre", "m": "metre", "centimetre": "cm",
    "centimeter": "cm", "cm": "cm", "mm": "mm", "foot": "foot", "feet": "foot", "ft": "foot", "inch": "inch",
    "yard": "yard", "acre": "acre", "hectare": "hectare", "kilogram": "kg", "kg": "kg", "gram": "gram", "g": "gram",
    "tonne": "tonne", "ton": "tonne", "pound": "pound", "lb": "pound", "ounce": "ounce", "litre": "litre",
    "liter": "litre", "gallon": "gallon", "barrel": "barrel", "degree": "degree", "°": "degree", "°c": "degree",
    "°f": "degree", "mph": "mph", "kph": "kph", "time": "times", "fold": "times", "vote": "vote", "seat": "seat",
    "point": "point", "goal": "goal", "country": "country", "nation": "country", "home": "house", "house": "house",
    "car": "vehicle", "vehicle": "vehicle", "firm": "company", "company": "company", "business": "company",
    "watt": "watt", "megawatt": "megawatt", "mw": "megawatt", "gigawatt": "gigawatt", "gw": "gigawatt",
}  # fmt: skip
_CHINESE_NAMES = {
    "person": "人 名 位 口人", "second": "秒", "minute": "分钟", "hour": "小时 个小时 个钟头", "day": "天 日",
    "week": "周 个星期 星期 个礼拜", "month": "个月", "year": "年 岁", "century": "世纪", "km": "公里 千米",
    "mile": "英里", "metre": "公尺 米", "cm": "公分 厘米", "mm": "毫米", "kg": "公斤 千克", "gram": "公克 克",
    "tonne": "公吨 吨", "hectare": "公顷", "litre": "公升 升", "barrel": "桶", "degree": "度", "times": "倍",
    "vote": "票", "seat": "席", "country": "国 个国家", "vehicle": "辆", "栋": "栋 幢", "家": "家 所",
    "件": "起 件 宗", "次": "次 回 趟", "支": "支 队", "层": "层 楼", "square km": "平方公里",
    "square metre": "平方米 平方公尺", "point": "点 分",
}  # fmt: skip
_MEASURE_WORDS = "户 座 间 架 艘 场 只 头 匹 张 页 本 部 台 条 颗 枚 坪 级 届 集 篇 首 道 块 笔 局 站 组 批 对 双"
_GENERAL_MEASURE_WORDS = "万 个 项 种 份"
_CHINESE_UNITS = (
    dict.fromkeys(_GENERAL_MEASURE_WORDS.split(), "")
    | {word: word for word in _MEASURE_WORDS.split()}
    | {word: name for name, words in _CHINESE_NAMES.items() for word in words.split()}
)
_CHINESE_UNIT = re.compile(rf"(?:{'|'.join(sorted(_CHINESE_UNITS, key=lambda word: -len(word)))})")
SHARED_UNITS = frozenset(_NAMED.values())
"""Names of units that stand for the same thing in both languages."""
_STOP = _listed(
    "a an the and or of in on at to for from by with as is are was were be been has have had will would can could "
    "that which who this these those it its their his her he she they we i you but if than then when while after "
    "before during per each into over under more less out up down off about not no said says also between since "
    "until later ago earlier old away so far now other"
)
_NOUN = re.compile(r"[\s-]?([A-Za-z°][A-Za-z°]*)")
_IRREGULAR = {"people": "person", "men": "man", "women": "woman", "children": "child", "feet": "foot"}


def money_before(text: str, end: int) -> tuple[str, int]:
    """Currency that stands right before an offset, and where it begins; ``("", end)`` where there is none."""
    found = _MONEY_BEFORE.search(text, max(0, end - 20), end)
    if found is None or (found.start() and re.match(r"[A-Za-z]", text[found.start() - 1])):
        return "", end
    return _MONEY[found.group().lower().strip()], found.start()


def money_after(text: str, start: int) -> tuple[str, int]:
    """Currency that begins at an offset, and where it ends; ``("", start)`` where there is none."""
    found = _MONEY_AFTER.match(text, start)
    if found is None:
        return "", start
    word = found.group().lower().lstrip(" -")
    return _MONEY.get(word) or _MONEY[word.removesuffix("s")], found.end()


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


def unit_after(text: str, start: int) -> tuple[str, tuple[str, ...]]:
    """What is counted, from the words at an offset: the unit or ``""``, and the words that may name it.

    English: up to three words before a function word or punctuation; the unit is the first that has a shared name,
    else the first plural, in the singular. Chinese: the measure word, then up to four characters.
    """
    chinese = _CHINESE_UNIT.match(text, start)
    if chinese is not None:
        after = re.match(r"[\u4e00-\u9fff]{0,4}", text[chinese.end() : chinese.end() + 4])
        return _CHINESE_UNITS[chinese.group()], ((after.group(),) if after and after.group() else ())
    nouns: list[str] = []
    position = start
    while len(nouns) < 3 and (found := _NOUN.match(text, position)) and found[1].lower() not in _STOP:
        word, position = singular(found[1]), found.end()
        nouns.append(word)
        if word in _NAMED:
            return _NAMED[word], tuple(nouns)
        if found[1].lower() != word:
            return word, tuple(nouns)
    return "", tuple(nouns)
