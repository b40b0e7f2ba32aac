"""Citations by number and title, ``[3]【title】``: the title is part of the marker where it is that of the number."""

from __future__ import annotations

import re
from collections.abc import Mapping

from groundwire.core.cited_ids import read_citations
from groundwire.core.text import normalise
from groundwire.writing.reasons import note

_TOGETHER = re.compile(
    r"[\[【（(]\s*(?P<number>\d{1,3})\s*[.．、:：,，\-–—\s]\s*(?P<title>[^\[\]【】\n]{2,300}?)\s*[\]】）)]"
)
_BEHIND = re.compile(
    r"(?P<marker>[\[【（(]\s*(?P<number>\d{1,3})\s*[\]】）)])(?P<gap>\s{0,3})"
    r"(?P<framed>《(?P<a>[^《》\n]{2,300})》|〈(?P<b>[^〈〉\n]{2,300})〉|「(?P<c>[^「」\n]{2,300})」"
    r"|【(?P<d>[^【】\n]{2,300})】|“(?P<e>[^“”\n]{2,300})”|\"(?P<f>[^\"\n]{2,300})\")"
)


def numbers_first(text: str, titles: Mapping[str, str]) -> str:
    """``[3: title]`` as ``[3]【title】``, where the title is one of those given."""
    known = {normalise(title) for title in titles.values() if title.strip()}

    def parted(found: re.Match[str]) -> str:
        return f"[{found['number']}]【{found['title']}】" if normalise(found["title"]) in known else found.group()

    return _TOGETHER.sub(parted, text)


def titles_behind(text: str, titles: Mapping[str, str]) -> tuple[str, list[str]]:
    """A text whose markers have lost the titles behind them that are those of their numbers; other titles stay.

    Returns:
        The text, and a note for each number with a title of another source.
    """
    by_title = {normalise(title): number for number, title in titles.items() if title.strip()}
    notes: list[str] = []

    def checked(found: re.Match[str]) -> str:
        title = next(each for each in (found[name] for name in "abcdef") if each)
        number = by_title.get(normalise(title))
        if number is None:
            return found.group()
        if normalise(titles.get(found["number"], "")) == normalise(title):
            return found["marker"]
        if read_citations(found["marker"], known=titles).markers:
            notes.append(note("note_title", found["number"], number, title))
        return found.group()

    return _BEHIND.sub(checked, text), notes
