"""What drifts into an article from its sources: another script, Latin words, half-width marks, days of theirs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from groundwire.core.findings import StyleFinding
from groundwire.core.mentions import find_dates
from groundwire.core.text import detect_language
from groundwire.core.types import Article, Claim, Document
from groundwire.writing.house_rules import outside_quotations, worded_rule

_HAN = "\u3400-\u4dbf\u4e00-\u9fff"
_WIDE_MARKS = {",": "，", ".": "。", ";": "；", ":": "：", "!": "！", "?": "？", "(": "（", ")": "）"}
_HALF_WIDTH = re.compile(rf"(?<=[{_HAN}])(?:[,.;:!?](?=[{_HAN}]|\s|$)|[()](?=[{_HAN}]))")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f][\w'’&.-]*(?: [A-Za-z\u00c0-\u024f][\w'’&.-]*)*", re.ASCII)


def check_script(article: Article, documents: Mapping[str, Document]) -> tuple[StyleFinding, ...]:
    """What in a Chinese article does not look like its language; nothing is found in an article in another.

    Characters of the other Chinese script and half-width marks between Chinese characters, also in quotations, and
    Latin words outside of quotations that are no name: one with a capital in the sources, all in capitals, a unit
    behind a number, or a word that a Chinese source uses too. Headings of sections are looked at too; what is found
    there names no claim.

    Args:
        article: its ``language`` says in which script it should be.
        documents: the sources by id.
    """
    language = article.language
    if language not in ("zh-TW", "zh-CN"):
        return ()
    chinese = " ".join(d.text + " " + d.title for d in documents.values() if detect_language(d.text)[:2] == "zh")
    known = frozenset(_names(" ".join(f"{d.text} {d.title} {d.source}" for d in documents.values())))
    known |= frozenset(word for match in _LATIN.finditer(chinese) for word in match.group().split())
    texts = [(claim.text, claim.id) for claim in article.claims]
    texts += [(section.heading, "") for section in article.sections]
    return tuple(finding for text, place in texts for finding in _findings(text, place, language=language, known=known))


def _findings(text: str, place: str, *, language: str, known: frozenset[str]) -> Iterator[StyleFinding]:
    other = "".join(dict.fromkeys(c for c in text if _written(c) not in ("", language)))
    if other:
        yield StyleFinding("script", other, worded_rule("script", language, language), place)
    for item in _strays(outside_quotations(text), known):
        yield StyleFinding("latin", item, worded_rule("latin", language), place)
    for match in _HALF_WIDTH.finditer(text):
        yield StyleFinding(
            "half_width", match.group(), worded_rule("half_width", language, _WIDE_MARKS[match.group()]), place
        )


def check_days(article: Article, documents: Mapping[str, Document]) -> tuple[StyleFinding, ...]:
    """Days that only the date of the source explains ("last Tuesday", 昨天), in an article without a day of its own.

    With ``as_of`` they are held against that day when claims are verified. Quotations are let alone, and sections whose
    heading names the year of the source.
    """
    if article.as_of is not None:
        return ()
    dated = [(claim, "") for claim in (article.headline, *article.lede)]
    dated += [(claim, section.heading) for section in article.sections for claim in section.claims]
    return tuple(found for claim, heading in dated for found in _days(claim, heading, documents, article.language))


def _days(claim: Claim, heading: str, documents: Mapping[str, Document], language: str) -> Iterator[StyleFinding]:
    cited = (documents[one.document_id] for one in claim.citations if one.document_id in documents)
    anchor = next((document.published for document in cited if document.published), None)
    if anchor is None or str(anchor.year) in heading:
        return
    for mention in find_dates(outside_quotations(claim.text), anchor=anchor):
        if mention.start and not mention.absolute and not mention.key.startswith("--"):
            days = dict.fromkeys(str(day) for day in (mention.start, mention.end) if day)
            yield StyleFinding(
                "relative_day", mention.text, worded_rule("relative_day", language, " – ".join(days)), claim.id
            )


@cache
def _written(character: str) -> str:
    """``zh-TW`` or ``zh-CN`` for a character of one script only, else nothing."""
    language = detect_language(character) if character >= "\u3400" else ""
    return language if language in ("zh-TW", "zh-CN") else ""


def _names(text: str) -> Iterator[str]:
    """The words of a text that have a capital."""
    return (word for match in _LATIN.finditer(text) for word in match.group().split() if word != word.lower())


def _strays(text: str, known: frozenset[str]) -> Iterator[str]:
    """Runs of Latin words in a Chinese text that are neither names of the sources nor abbreviations nor units."""
    for match in _LATIN.finditer(text):
        unit = re.search(r"\d\s?$", text[: match.start()]) is not None
        strays = [word for word in match.group().split() if not (word in known or word.isupper() or len(word) == 1)]
        if strays and not unit:
            yield " ".join(strays)
