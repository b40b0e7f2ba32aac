"""What an editor should know of the language of a drafted article: characters and words that stray in (CASES C6)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from groundwire.core.text import detect_language
from groundwire.core.types import Article, Brief
from groundwire.writing.reasons import note

_LATIN = re.compile(r"[A-Za-zÀ-ɏ][A-Za-zÀ-ɏ'’-]+")
_UNITS = frozenset(["km", "kg", "mm", "cm", "mg", "ml", "kW", "kWh", "MW", "GW", "mmHg", "pm", "am"])
_QUOTED = 12


def notes_on_language(article: Article, briefs: Sequence[Brief]) -> Iterator[str]:
    """For an article in Traditional Chinese: Simplified characters, and Latin words that are no names, units or URLs.

    A Latin word counts as a name where it begins with a capital or stands in a source in Chinese.
    """
    if article.language.lower() not in ("zh-tw", "zh-hant"):
        return
    texts = [claim.text for claim in article.claims] + [section.heading for section in article.sections]
    whole = "\n".join(texts)
    strange = [each for each in dict.fromkeys(whole) if detect_language(each) == "zh-CN"]
    if strange:
        yield note("note_simplified", "".join(strange[:_QUOTED]))
    chinese = " ".join(b.document.text for b in briefs if detect_language(b.document.text).startswith("zh"))
    known = {found.casefold() for found in _LATIN.findall(f"{article.topic} {chinese}")}
    plain = re.sub(r"https?://\S+", " ", whole)
    stray = dict.fromkeys(
        found
        for found in _LATIN.findall(plain)
        if found[0].islower() and found not in _UNITS and found.casefold() not in known
    )
    if stray:
        yield note("note_latin", ", ".join(list(stray)[:_QUOTED]))
