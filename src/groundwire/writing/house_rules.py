"""The rules of a house for how its articles are written: read from a file, told to a model, checked after writing.

The file is described in ``docs/guides/writing.md``. A check finds and never changes anything; what stands between
quotation marks is the speaker's and is left alone.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Literal, TypeVar, get_args

from groundwire.core.errors import SettingError, UnreadableInput
from groundwire.core.findings import StyleFinding
from groundwire.core.mentions import find_dates
from groundwire.core.quantities import find_quantities
from groundwire.core.quotations import find_quotations
from groundwire.core.sentences import split_sentences
from groundwire.core.text import words
from groundwire.core.types import Article, Claim, Span
from groundwire.writing.speakers import SHORTEST, said_by

BelowTen = Literal["", "words", "figures"]
Large = Literal["", "characters", "digits"]
Percent = Literal["", "sign", "word"]
Thousands = Literal["", "comma", "none"]
DateForm = Literal["", "5 September 2022", "September 5, 2022", "2022-09-05", "2022年9月5日", "民國111年9月5日"]
Builtin = Literal["", "zh-TW"]

_Choice = TypeVar("_Choice", bound=str)
_BELOW_TEN: tuple[BelowTen, ...] = get_args(BelowTen)
_LARGE: tuple[Large, ...] = get_args(Large)
_PERCENT: tuple[Percent, ...] = get_args(Percent)
_THOUSANDS: tuple[Thousands, ...] = get_args(Thousands)
_DATES: tuple[DateForm, ...] = get_args(DateForm)
_BUILTIN: tuple[Builtin, ...] = get_args(Builtin)
_WRITTEN_IN = ("", "en", "zh-TW", "zh-CN")

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_LATIN = "A-Za-z\u00c0-\u024f"
_LENGTH = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+(?:['’.,-][^\W_{_HAN}]+)*")
_LANGUAGES = {"en": 0, "zh-TW": 1, "zh-CN": 2}
_COUNTED = "名人位個个隻只家間间棟栋輛辆架艘件項项所張张場场"
_UNITS = "million|billion|trillion|thousand|hundred|percent|per|degrees?|times?|and|to|or|of|points?|in|at|on|for|from"
_FORMS: Mapping[str, re.Pattern[str]] = {
    "below_ten_words": re.compile(
        rf"(?<![A-Za-z0-9_.,:/$€£¥#%+-])[1-9](?=\s(?!(?:{_UNITS})\b)[a-z]{{3,}})|(?<![A-Za-z0-9_第.,:/$%+-])[1-9](?=[{_COUNTED}])"
    ),
    "below_ten_figures": re.compile(
        rf"(?<![\w-])(?:two|three|four|five|six|seven|eight|nine)(?=\s[a-z])"
        rf"|(?<![第十百千萬万億亿兆零點点每幾几數数一二三四五六七八九之])[二兩两三四五六七八九](?=[{_COUNTED}])"
    ),
    "large_characters": re.compile(
        r"(?<![A-Za-z0-9_.,/-])(?:\d{5,}|\d{2,3}(?:,\d{3})+|\d(?:,\d{3}){2,})(?![\d.,-]*\d|\w?號|\w?号)"
    ),
    "large_digits": re.compile(r"\d(?:[\d,]*\d)?(?:\.\d+)?\s?[萬万億亿兆]+"),
    "percent_sign": re.compile(r"\bper\s?cent\b|百分之[\d〇零一二三四五六七八九十百點点.]+", re.IGNORECASE),
    "percent_word": re.compile(r"\d[\d.,]*\s?[%％]"),
    "thousands_comma": re.compile(r"(?<![A-Za-z0-9_.,/-])\d{5,}(?![\d-])"),
    "thousands_none": re.compile(r"(?<![A-Za-z0-9_.,])\d{1,3}(?:,\d{3})+(?!\d)"),
}
_MONTH = "January|February|March|April|May|June|July|August|September|October|November|December"
_DATE_FORMS: Mapping[str, str] = {
    "5 September 2022": rf"\d{{1,2}} (?:{_MONTH}) \d{{4}}",
    "September 5, 2022": rf"(?:{_MONTH}) \d{{1,2}}, \d{{4}}",
    "2022-09-05": r"\d{4}-\d\d-\d\d",
    "2022年9月5日": r"\d{4}年\d{1,2}月\d{1,2}日",
    "民國111年9月5日": r"民[國国]\d{1,3}年\d{1,2}月\d{1,2}日",
}
_FULL_DATE = re.compile("|".join(rf"(?<![A-Za-z0-9民國国]){form}(?!\d)" for form in _DATE_FORMS.values()))
_LINK = re.compile(r"https?://\S+|www\.\S+|\S+@\S+")
_TABLES = {"numerals", "attribution", "terms", "avoid"}


@dataclass(frozen=True, slots=True)
class HouseRules:
    """The rules of a house; an empty field asks for nothing.

    Attributes:
        avoid: words or phrases and what to do about each.
        terms: words and what the house writes for them.
        below_ten: whole numbers below ten in words or figures.
        large: Chinese numbers from ten thousand on with 萬 and 億, or in digits alone.
        percent: the sign or the word.
        thousands: parted by a comma or not.
        required: whether every quotation of four words or more must have a speaker.
        verbs: the only words that may introduce a quotation; none: any.
        sentence_words, headline_words: the most words, Chinese characters counted one by one; 0: any number.
        dates: the form of a full date.
        language: of every article.
    """

    avoid: tuple[tuple[str, str], ...] = ()
    terms: tuple[tuple[str, str], ...] = ()
    below_ten: BelowTen = ""
    large: Large = ""
    percent: Percent = ""
    thousands: Thousands = ""
    required: bool = False
    verbs: tuple[str, ...] = ()
    sentence_words: int = 0
    headline_words: int = 0
    dates: DateForm = ""
    language: str = ""


# --- the file ---------------------------------------------------------------------------------------------------------


def read_house_rules(path: Path) -> HouseRules:
    """Read the rules of a house.

    Raises:
        UnreadableInput: the file is not there or is not UTF-8.
        SettingError: it is not TOML, or a key or value is unknown; the message names it and what is known.
    """
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UnreadableInput(f"the house rules {path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UnreadableInput(f"the house rules {path} are not UTF-8; save them as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path} is not readable as TOML: {error}") from error
    file = _File(str(path))
    file.known(tree, {"language", "dates", "sentence_words", "headline_words", *_TABLES}, where="")
    numerals, attribution, terms = (file.table(tree, name) for name in ("numerals", "attribution", "terms"))
    file.known(numerals, {"below_ten", "large", "percent", "thousands"}, where="numerals.")
    file.known(attribution, {"required", "verbs"}, where="attribution.")
    builtin = file.choice(terms, "builtin", among=_BUILTIN, where="terms.")
    own = file.pairs({key: value for key, value in terms.items() if key != "builtin"}, where="terms.")
    shipped = {word: other for word, (other, _) in _builtin_terms().items()} if builtin else {}
    return HouseRules(
        avoid=file.pairs(file.table(tree, "avoid"), where="avoid."),
        terms=tuple({**shipped, **dict(own)}.items()),
        below_ten=file.choice(numerals, "below_ten", among=_BELOW_TEN, where="numerals."),
        large=file.choice(numerals, "large", among=_LARGE, where="numerals."),
        percent=file.choice(numerals, "percent", among=_PERCENT, where="numerals."),
        thousands=file.choice(numerals, "thousands", among=_THOUSANDS, where="numerals."),
        required=file.truth(attribution, "required", where="attribution."),
        verbs=file.strings(attribution, "verbs", where="attribution."),
        sentence_words=file.count(tree, "sentence_words"),
        headline_words=file.count(tree, "headline_words"),
        dates=file.choice(tree, "dates", among=_DATES),
        language=file.choice(tree, "language", among=_WRITTEN_IN),
    )


@dataclass(frozen=True, slots=True)
class _File:
    """Reads values out of the tables of one file, or says what is wrong with them."""

    name: str

    def known(self, table: Mapping[str, object], names: set[str], *, where: str) -> None:
        """Refuse a key that is none of these names."""
        for key in table:
            if key not in names:
                near = get_close_matches(key, sorted(names), n=1, cutoff=0.5)
                hint = f"the nearest is '{where}{near[0]}'" if near else f"there are {', '.join(sorted(names))}"
                raise SettingError(f"{self.name}: there is no house rule '{where}{key}'; {hint}")

    def _wrong(self, key: str, value: object, wanted: str) -> SettingError:
        return SettingError(f"{self.name}: {key} is {value!r}; it must be {wanted}")

    def table(self, tree: Mapping[str, object], key: str) -> Mapping[str, object]:
        """A table, empty where there is none."""
        value = tree.get(key, {})
        if not isinstance(value, dict):
            raise self._wrong(key, value, f"a table, under a line [{key}]")
        return value

    def choice(self, table: Mapping[str, object], key: str, *, among: tuple[_Choice, ...], where: str = "") -> _Choice:
        """One of a few words, the first where the key is absent."""
        value = table.get(key, among[0])
        for one in among:
            if one == value:
                return one
        raise self._wrong(where + key, value, " or ".join(map(repr, among[1:])))

    def count(self, table: Mapping[str, object], key: str) -> int:
        """A whole number from 1 on; 0 where the key is absent."""
        value = table.get(key, 0)
        if type(value) is not int or (key in table and value < 1):
            raise self._wrong(key, value, "a whole number, 1 or more")
        return value

    def truth(self, table: Mapping[str, object], key: str, *, where: str) -> bool:
        """True or false; false where the key is absent."""
        value = table.get(key, False)
        if not isinstance(value, bool):
            raise self._wrong(where + key, value, "true or false")
        return value

    def strings(self, table: Mapping[str, object], key: str, *, where: str) -> tuple[str, ...]:
        """A list of words."""
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one.strip() for one in value):
            raise self._wrong(where + key, value, "a list of words")
        return tuple(value)

    def pairs(self, table: Mapping[str, object], *, where: str) -> tuple[tuple[str, str], ...]:
        """Words and what is said of each."""
        found = []
        for key, value in table.items():
            if not isinstance(value, str) or not key.strip() or not value.strip():
                raise self._wrong(f"{where}{key!r}", value, "words between quotation marks")
            found.append((key.strip(), value.strip()))
        return tuple(found)


@cache
def _builtin_terms() -> Mapping[str, tuple[str, tuple[str, ...]]]:
    """Word of the mainland -> the word of Taiwan, and longer words that only look as if they held it."""
    lines = (files("groundwire.writing") / "terms.txt").read_text(encoding="utf-8").splitlines()
    parts = (line.partition(" ! ") for line in lines if not line.startswith("#"))
    return {pair.split()[0]: (pair.split()[1], tuple(others.split())) for pair, _, others in parts}


# --- in words ---------------------------------------------------------------------------------------------------------


def rules_in_words(rules: HouseRules, language: str) -> str:
    """The rules as a writing model is told them, in English, Traditional or Simplified Chinese; empty without rules."""
    told = [worded_rule("tell_language", language, rules.language)] if rules.language else []
    told += [worded_rule("tell_avoid", language, word, advice) for word, advice in rules.avoid]
    if rules.terms:
        told.append(worded_rule("tell_avoid_terms", language, ", ".join(f"{one} → {two}" for one, two in rules.terms)))
    told += [worded_rule(f"tell_{key}", language) for key in _asked(rules)]
    told += [worded_rule("tell_attribution", language)] if rules.required else []
    told += [worded_rule("tell_verbs", language, ", ".join(rules.verbs))] if rules.verbs else []
    for key, most in (("tell_sentence_words", rules.sentence_words), ("tell_headline_words", rules.headline_words)):
        told += [worded_rule(key, language, most)] if most else []
    told += [worded_rule("tell_dates", language, rules.dates)] if rules.dates else []
    return "\n".join([worded_rule("tell_intro", language), *(f"- {line}" for line in told)]) if told else ""


def _asked(rules: HouseRules) -> tuple[str, ...]:
    """The rules about how numbers are written, as keys of ``_FORMS``."""
    chosen = {
        "below_ten": rules.below_ten,
        "large": rules.large,
        "percent": rules.percent,
        "thousands": rules.thousands,
    }
    return tuple(f"{rule}_{choice}" for rule, choice in chosen.items() if choice)


@cache
def _table() -> Mapping[str, list[str]]:
    text = (files("groundwire.writing") / "house.toml").read_text(encoding="utf-8")
    return {key: list(forms) for key, forms in tomllib.loads(text).items()}


def worded_rule(key: str, language: str, *values: str | int) -> str:
    """What ``house.toml`` says of a rule, in English, Traditional or Simplified Chinese."""
    form, *rests = _table()[key][_LANGUAGES.get(language, 0)].split("{}")
    return form + "".join(f"{value}{rest}" for value, rest in zip(values, rests, strict=True))


# --- after writing ----------------------------------------------------------------------------------------------------


def check_house(article: Article, rules: HouseRules) -> tuple[StyleFinding, ...]:
    """What in an article is against the rules of a house, in reading order; nothing inside of quotations."""
    found = [finding for claim in article.claims for finding in _checked(claim, rules, language=article.language)]
    size = len(_LENGTH.findall(article.headline.text))
    if 0 < rules.headline_words < size:
        advice = worded_rule("headline_words", article.language, size, rules.headline_words)
        found.append(StyleFinding("headline_words", article.headline.text, advice, article.headline.id))
    if rules.language and article.language != rules.language:
        found.append(
            StyleFinding("language", article.language, worded_rule("language", article.language, rules.language))
        )
    return tuple(found)


def _checked(claim: Claim, rules: HouseRules, *, language: str) -> Iterator[StyleFinding]:
    text = outside_quotations(claim.text)
    listed = [("avoid", word, advice) for word, advice in rules.avoid]
    listed += [("terms", word, worded_rule("write", language, other)) for word, other in rules.terms]
    for rule, word, advice in _said(text, listed):
        yield StyleFinding(rule, word, advice, claim.id)
    for key in _asked(rules):
        for match in _numbers(key, text):
            yield StyleFinding("numerals", match.group().strip(), worded_rule(key, language), claim.id)
    yield from _quoting(claim, rules, language=language)
    for span in split_sentences(claim.text) if rules.sentence_words else ():
        size = len(_LENGTH.findall(claim.text[span.start : span.end]))
        if size > rules.sentence_words:
            advice = worded_rule("sentence_words", language, size, rules.sentence_words)
            yield StyleFinding("sentence_words", claim.text[span.start : span.end], advice, claim.id)
    for written in _dates(text, rules.dates) if rules.dates else ():
        yield StyleFinding("dates", written, worded_rule("dates", language, rules.dates), claim.id)


def outside_quotations(text: str) -> str:
    """The text with quotations and links blanked out, so that offsets stay."""
    spans = [quotation.outer for quotation in find_quotations(text)]
    spans += [Span(*match.span()) for match in _LINK.finditer(text)]
    for span in spans:
        text = text[: span.start] + "\x00" * (span.end - span.start) + text[span.end :]
    return text


def _said(text: str, listed: Sequence[tuple[str, str, str]]) -> Iterator[tuple[str, str, str]]:
    """The listed words that stand in a text, each with its rule and advice; of two that overlap the longer one."""
    free = bytearray(b"\x01" * len(text))
    found = []
    for rule, word, advice in sorted(listed, key=lambda entry: -len(entry[1])):
        if rule == "terms":
            _cover(text, free, known=_builtin_terms().get(word, ("", ()))[1])
        for match in _pattern(word).finditer(text):
            if all(free[match.start() : match.end()]):
                free[match.start() : match.end()] = bytes(match.end() - match.start())
                found.append((match.start(), rule, match.group(), advice))
    yield from (entry[1:] for entry in sorted(found))


def _cover(text: str, free: bytearray, *, known: Sequence[str]) -> None:
    for word in known:
        for match in re.finditer(re.escape(word), text):
            free[match.start() : match.end()] = bytes(len(word))


@lru_cache(maxsize=1024)
def _pattern(word: str) -> re.Pattern[str]:
    """A word with its edges: Latin words whole, in any case unless the rule has a capital; any white space."""
    body = r"\s+".join(map(re.escape, word.split()))
    before = rf"(?<![{_LATIN}0-9-])" if re.match(f"[{_LATIN}0-9]", word) else ""
    behind = rf"(?!['’-]?[{_LATIN}0-9])" if re.search(f"[{_LATIN}0-9]$", word) else ""
    return re.compile(before + body + behind, 0 if word != word.lower() else re.IGNORECASE)


def _numbers(key: str, text: str) -> Iterator[re.Match[str]]:
    """Numbers written against a rule; those of dates, names and what no one counts are left out."""
    dates = [mention.span for mention in find_dates(text)]
    counted = [q.span for q in find_quantities(text)]
    for match in _FORMS[key].finditer(text):
        dated = any(span.start < match.end() and match.start() < span.end for span in dates)
        if not dated and any(span.start < match.end() and match.start() < span.end for span in counted):
            yield match


def _quoting(claim: Claim, rules: HouseRules, *, language: str) -> Iterator[StyleFinding]:
    """Quotations without a speaker, or with a verb that the house does not use."""
    for quotation in find_quotations(claim.text) if rules.required or rules.verbs else ():
        if len(words(quotation.text)) < SHORTEST:
            continue
        said = said_by(claim.text, quotation.outer)
        if rules.required and said is None:
            yield StyleFinding("attribution", quotation.text, worded_rule("attribution", language), claim.id)
        if rules.verbs and said is not None and said[0] and said[0].lower() not in map(str.lower, rules.verbs):
            yield StyleFinding("verbs", said[0], worded_rule("verbs", language, ", ".join(rules.verbs)), claim.id)


def _dates(text: str, form: str) -> Iterator[str]:
    """The full dates of a text that are written in another form than the house's."""
    for match in _FULL_DATE.finditer(text):
        if not re.fullmatch(_DATE_FORMS[form], match.group()):
            yield match.group()
