"""Anybody's article, with anybody's sources: Markdown, plain text or HTML as claims that cite documents.

Markers are ``[1]``, ``[1, 3-4]``, ``[^2]``, ``[^note]``, ``(1)``, ``【4】``, superscripts, ``(S3)`` and links.
What a marker points at is looked up in the article's own list of sources or footnotes, and that entry among the
documents: by address, by title, by the name of the file, by its number; without a list, by order. No word is lost, and
a marker that points at nothing is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from groundwire.core.language import LanguageModel
from groundwire.core.text import detect_language
from groundwire.core.types import Article, Citation, Claim, Document, Section, Verdict
from groundwire.flow.checking import Checked, check_verdicts
from groundwire.flow.foreign_sources import Matched, address, listed, match_sources, numbered
from groundwire.flow.render import plain_text
from groundwire.flow.reopen import Draft, MarkerNote
from groundwire.flow.runs import Recording
from groundwire.retrieval.pages import read_fragment
from groundwire.writing.guards import claimed_words, coverage
from groundwire.writing.model_check import CheckSettings
from groundwire.writing.verify import Opened, split_document, verify

_HTML = re.compile(r"\A\s*(?:<!--.*?-->\s*)*<(?:!doctype|html|head|body|article|main|section|div|h1|p)\b", re.I | re.S)
_SUP = re.compile(r"<sup\b[^>]*>((?:(?!</sup>).)*?)</sup>", re.I | re.S)
_TAG = re.compile(r"<[^>]*>")
_LISTED_TAG = re.compile(r"<(/?)(ol|ul)\b[^>]*>|<li\b[^>]*>", re.I)
_ANCHOR = re.compile(r"<a\b[^>]*?href\s*=\s*[\"']?(https?://[^\"'\s>]+)[^>]*>(.*?)</a>", re.I | re.S)

_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-{3,})[ \t]*")
_RULE = re.compile(r"[ \t]*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")
_ITEM = re.compile(r"[ \t]*(?:(?:[-*+•‧·]|\d{1,3}[.)、．])[ \t]+|(?:>[ \t]?)+)")
_ENTRY = re.compile(
    r"[ \t]*(?:[-*+•][ \t]+)?(?:\[\^?(?P<key>\d{1,3}|[^\]\s]{1,40}(?=\](?!\()))\][:：]?|【(?P<corner>\d{1,3})】[:：]?"
    r"|[（(](?P<round>\d{1,3})[）)]|\^(?P<caret>\d{1,3})\b|(?P<plain>\d{1,3})[.)、．:：](?!\d))[ \t]*(?P<about>.*)"
)
_DEFINITION = re.compile(r" {0,3}\[(?:\^(?P<note>[^\]\s]+)|(?P<link>\d{1,3}))\]:[ \t]*(?P<about>.*)")
_LIST_HEADING = re.compile(
    r"(?:works cited|(?:list of )?(?:sources?|references?)|bibliography|(?:foot|end)?notes?|citations?"
    r"|(?:資料|参考|參考|引用|消息|资料|新聞|新闻)?(?:來源|来源|文獻|文献|資料|资料)|(?:註|注)(?:釋|释|解|腳|脚)?|腳註|脚注|附註|附注|出處|出处)"
    r"[ \t]*[:：]?",
    re.I,
)
_LINKED = re.compile(r"(?<!!)\[((?:[^\[\]]|\[\^?\d+\])*)\]\(<?(https?://[^\s()<>]+)>?(?:[ \t]+\"[^\"]*\")?\)")
_RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789", strict=True))
_RAISING = str.maketrans({digit: raised for raised, digit in _RAISED.items()})
_POWER = re.compile(r"\b(?:[kcdm]?m|ft|10)$|公里$|公尺$")
_SUPERSCRIPT = re.compile(
    r"(?<![\s\d])(?<!\b[kcdm]m)(?<!\bm)(?<!\bft)(?<!公里)(?<!公尺)([⁰¹²³⁴⁵⁶⁷⁸⁹]+(?:[,，˒·⁻][⁰¹²³⁴⁵⁶⁷⁸⁹]+)*)"
)
_NAMED_NOTE = re.compile(r"\[\^([^\]\s]+)\]")
_ROUND = re.compile(
    r"(?<![A-Za-z0-9])[（(](?:s|source|來源|来源|註|注)?[ \t]?(\d{1,3}(?:[ \t]*[,，、;-][ \t]*\d{1,3})*)[)）]"
    r"(?=[\s.,;:!?。，；：！？、」』”]|$)",
    re.I,
)
_SOURCE_ID = re.compile(r"\[(?:s|source[ \t]?|來源|来源)[ \t]?(\d{1,3})\]", re.I)
_STOPPED = re.compile(r"[.!?。！？…:：][\"'”’」』)）\]】\s]*(?:[\[【(（][^\]】)）]{1,20}[\]】)）])*$")
_MOST_TRIED = 3  # documents that a sentence without any marker is held against, the likeliest first


@dataclass(frozen=True, slots=True)
class ForeignArticle:
    """An article of somebody else: what it says and cites; ``marked`` says whether it has any marker at all.

    ``matched`` says in words which document each number stands for and why; ``notes`` what could not be resolved.
    """

    article: Article
    marked: bool
    matched: tuple[str, ...] = ()
    notes: tuple[MarkerNote, ...] = ()


@dataclass(frozen=True, slots=True)
class ForeignChecked:
    """A foreign article with what came of checking it."""

    foreign: ForeignArticle
    checked: Checked


@dataclass(slots=True)
class _Block:
    """A heading (``level`` 1 to 6) or a run of words (0)."""

    level: int
    lines: list[str]

    @property
    def text(self) -> str:
        """The lines as one; no space between lines of Chinese."""
        joined = self.lines[0]
        for line in self.lines[1:]:
            joined += ("" if joined[-1:] >= "\u2e80" and line[:1] >= "\u2e80" else " ") + line
        return joined


@dataclass(slots=True)
class _Parts:
    """An article taken apart: what it says, and the entries of its lists of sources by their key."""

    body: list[_Block] = field(default_factory=list)
    entries: dict[str, str] = field(default_factory=dict)


def read_foreign(text: str, documents: Iterable[Document], *, topic: str = "") -> ForeignArticle:
    """Read an article in Markdown, plain text or HTML, and find its sources among the documents.

    Headings claim nothing. Quoted blocks, list items and rows of tables are split into sentences as paragraphs are; a
    marker belongs to the sentence it stands in or behind. Where there is no marker at all, no claim cites.

    Args:
        text: the whole article.
        documents: the sources, in the order in which they were given.
        topic: what it is about; empty: its headline.

    Raises:
        MissingExtra: it is HTML, and trafilatura is not installed.
    """
    known = tuple(documents)
    shown = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    parts = _take_apart(_of_html(shown) if _HTML.match(shown) else shown)
    numbers = {key: number for number, key in numbered(parts.entries)}
    found = match_sources(parts.entries, numbers, documents=known)
    language = detect_language(" ".join(block.text for block in parts.body))
    draft = Draft(found.documents, language)
    reading = _Reading(numbers, found, known)
    title = next((block for block in parts.body if block.level), None)
    headline = Claim("c0", plain_text(title.text) if title else "")
    lede, sections = _read_body([block for block in parts.body if block is not title], draft, reading)
    article = Article(
        topic or headline.text, headline, lede, sections, listed(found.documents, known), language=language, writer=""
    )
    strange = tuple(replace(note, reason=found.missing.get(_digits(note.marker), note.reason)) for note in draft.notes)
    marked = any(claim.citations for claim in article.claims) or bool(strange)
    return ForeignArticle(article, marked, tuple(found.told), (*strange, *reading.notes))


def _digits(marker: str) -> int:
    found = re.search(r"\d+", marker)
    return int(found[0]) if found else -1


def _of_html(html: str) -> str:
    """HTML as text with headings, list numbers, footnote marks and addresses written out; hidden parts left out."""
    html = _SUP.sub(lambda found: _footnote(found[1], found.string[: found.start()]), html)
    html = _ANCHOR.sub(lambda found: f"[{_TAG.sub('', found[2])}]({found[1]})", html)
    html = re.sub(r"<h([1-6])\b[^>]*>\s*", lambda found: f"{found[0]}{'#' * int(found[1])} ", html, flags=re.I)
    html = re.sub(r"(</t[dh]>)(\s*<t[dh]\b)", r" | \1\2", html, flags=re.I)
    counts: list[int] = []

    def item(found: re.Match[str]) -> str:
        if found[2]:
            _ = counts.pop() if found[1] and counts else None
            counts.extend([] if found[1] else [0 if found[2].lower() == "ol" else -1])
            return found[0]
        if counts and counts[-1] >= 0:
            counts[-1] += 1
            return f"{found[0]}{counts[-1]}. "
        return f"{found[0]}- "

    return read_fragment(_LISTED_TAG.sub(item, html))[0]


def _footnote(inside: str, before: str) -> str:
    """A raised number as a marker; of a unit or of ten it is a power, and anything else stays as it is."""
    words = _TAG.sub("", inside).strip().strip("[]()")
    if _POWER.search(before[-12:]) and words.isdecimal():
        return words.translate(_RAISING)
    return f"[{words}]" if re.fullmatch(r"\d{1,3}(?:\s*[,，-]\s*\d{1,3})*", words) else _TAG.sub("", inside)


def _take_apart(text: str) -> _Parts:
    """Body and entries of an article; a list of sources begins at its heading, or at a numbered run at the end."""
    parts, listing = _Parts(), False
    lines = text.split("\n")
    end = _trailing(lines)
    key = ""
    for at, line in enumerate(lines):
        defined = _DEFINITION.fullmatch(line)
        heading = _heading(lines, at)
        if defined:
            key = defined["note"] or defined["link"]
            parts.entries[key] = defined["about"].strip()
        elif heading or _LIST_HEADING.fullmatch(line.strip()):
            level, words = heading or (2, line.strip())
            listing, key = bool(_LIST_HEADING.fullmatch(words.strip())), ""
            if not listing:
                parts.body.append(_Block(level, [words]))
        elif listing or at >= end:
            key = _add_entry(parts.entries, line, key)
        elif key and line[:1] in " \t" and line.strip():
            parts.entries[key] += f" {line.strip()}"
        else:
            key = ""
            _add_line(parts.body, line, fresh=not lines[at - 1].strip() if at else True)
    return _with_title(parts)


def _with_title(parts: _Parts) -> _Parts:
    """Plain text has no marks of headings: a first line alone that ends without a stop is the headline."""
    first = parts.body[0] if parts.body else None
    alone = first is not None and not first.level and len(first.lines) == 1 and len(parts.body) > 1
    if first is not None and alone and not _STOPPED.search(first.text) and not any(b.level == 1 for b in parts.body):
        first.level = 1
    return parts


def _heading(lines: Sequence[str], at: int) -> tuple[int, str] | None:
    """Level and words of a heading, or of the head of a table; what is underlined has its marks on the next line."""
    found = _HEADING.fullmatch(lines[at])
    if found:
        return len(found[1]), found[2]
    after = _UNDERLINE.fullmatch(lines[at + 1]) if at + 1 < len(lines) else None
    ruled = at + 1 < len(lines) and _TABLE_RULE.fullmatch(lines[at + 1]) and "|" in lines[at + 1]
    if ruled and "|" in lines[at]:
        return 6, _cells(lines[at])
    alone = not at or not lines[at - 1].strip()
    if after and alone and lines[at].strip() and not _ITEM.match(lines[at]):
        return (1 if after[1][0] == "=" else 2), lines[at].strip()
    return None


def _trailing(lines: Sequence[str]) -> int:
    """Where a run of lines begins that ends the text and is numbered in brackets from 1 on; the end where none is."""
    at, wanted = len(lines), None
    for place in range(len(lines) - 1, -1, -1):
        if not lines[place].strip():
            continue
        found = re.match(r"[ \t]*(?:\[\^?(\d{1,3})\]|【(\d{1,3})】)[:：]?[ \t]*\S", lines[place])
        number = int(found[1] or found[2]) if found else None
        if number is None or (wanted is not None and number != wanted):
            break
        at, wanted = place, number - 1
    return at if wanted == 0 else len(lines)


def _add_entry(entries: dict[str, str], line: str, key: str) -> str:
    """One more line of a list of sources; an entry without a number gets the next one."""
    if not line.strip() or _UNDERLINE.fullmatch(line):
        return ""
    found = _ENTRY.fullmatch(line)
    if found:
        name = found["key"] or found["corner"] or found["round"] or found["caret"] or found["plain"]
        entries[name] = found["about"].strip()
        return name
    bullet = _ITEM.match(line)
    if key and not bullet:
        entries[key] += f" {line.strip()}"
        return key
    name = str(max((int(each) for each in entries if each.isdecimal()), default=0) + 1)
    entries[name] = line[bullet.end() if bullet else 0 :].strip()
    return name


def _add_line(body: list[_Block], line: str, *, fresh: bool) -> None:
    if not line.strip() or _RULE.fullmatch(line) or _UNDERLINE.fullmatch(line) or _TABLE_RULE.fullmatch(line):
        return
    item, row = _ITEM.match(line), line.count("|") > 1
    words = line[item.end() if item else 0 :].strip()
    words = _cells(words) if row else words
    if fresh or item or row or not body or body[-1].level:
        body.append(_Block(0, [words]))
    else:
        body[-1].lines.append(words)


def _cells(row: str) -> str:
    """A row of a table as one line of words."""
    return " | ".join(cell.strip() for cell in row.strip().strip("|").split("|"))


@dataclass(slots=True)
class _Reading:
    """What is needed to read the markers of a line, and what was found wrong."""

    numbers: Mapping[str, int]
    found: Matched
    documents: Sequence[Document]
    notes: list[MarkerNote] = field(default_factory=list)

    def plain(self, raw: str) -> str:
        """A line with every kind of marker as a number in brackets; addresses of links become such, too."""
        text = _NAMED_NOTE.sub(lambda found: f"[{self.numbers.get(found[1], found[1])}]", raw)
        text = _SUPERSCRIPT.sub(lambda found: f"[{_lowered(found[1])}]", text)
        text = _SOURCE_ID.sub(lambda found: f"[{found[1]}]", text)
        text = _ROUND.sub(self._round, text)
        return _LINKED.sub(self._linked, text)

    def _round(self, found: re.Match[str]) -> str:
        """Round brackets are a marker only where every number in them is one of the list."""
        asked = [int(number) for number in re.findall(r"\d+", found[1])]
        known = self.found.documents.keys() | self.found.missing.keys()
        return f"[{found[1]}]" if self.numbers and set(asked) <= known else found[0]

    def _linked(self, found: re.Match[str]) -> str:
        """The words of a link, and the number of the document that it leads to."""
        words, wanted = found[1], address(found[2])
        fitting = [document for document in self.documents if document.url and address(document.url) == wanted]
        label = f"[{words}]" if re.fullmatch(r"\d{1,3}", words) else words
        if not fitting:
            self.notes.append(MarkerNote("", found[2], "leads to none of the sources given"))
            return label
        if label != words:  # [1](address): the address says what 1 is
            self.found.documents[int(words)] = fitting[0].id
        return label if label != words else f"{words} [{self._number(fitting[0].id)}]"

    def _number(self, document_id: str) -> int:
        for number, key in self.found.documents.items():
            if key == document_id:
                return number
        number = max((*self.found.documents, *self.found.missing, 0)) + 1
        self.found.documents[number] = document_id
        return number


def _lowered(raised: str) -> str:
    """Raised digits as ordinary ones."""
    return "".join(_RAISED.get(character, "-" if character == "⁻" else ",") for character in raised)


def _read_body(
    blocks: Sequence[_Block], draft: Draft, reading: _Reading
) -> tuple[tuple[Claim, ...], tuple[Section, ...]]:
    lede: list[Claim] = []
    sections: list[tuple[str, list[Claim]]] = []
    for block in blocks:
        if block.level:
            sections.append((plain_text(block.text), []))
        else:
            (sections[-1][1] if sections else lede).extend(draft.claims(reading.plain(block.text)))
    return tuple(lede), tuple(Section(heading, tuple(claims)) for heading, claims in sections)


def verify_foreign(
    text: str,
    documents: Iterable[Document],
    *,
    recording: Recording | None = None,
    model: LanguageModel | None = None,
    how: CheckSettings | None = None,
    as_of: date | None = None,
) -> ForeignChecked:
    """Read an article of anybody and check its claims against the sources that were given with it.

    Without a single marker every claim is held against the documents that are most like it; it still cites nothing,
    and its share of claims cited is 0.

    Args:
        text: the whole article.
        documents: the sources, in the order in which they were given.
        recording: the run that asks the model.
        model: who is asked about what the gates cannot settle; None: nobody.
        how: batches, and how much evidence is shown.
        as_of: the day of the article, by which its relative dates and an embargo of a source are read.

    Raises:
        MissingExtra: it is HTML, and trafilatura is not installed.
        ModelError, BudgetReached, CannotDo: as ``checking.check_article``.
    """
    known = tuple(documents)
    read = read_foreign(text, known)
    foreign = replace(read, article=replace(read.article, as_of=as_of))
    by_id = {document.id: document for document in known}
    verdicts = verify(foreign.article, by_id, written=as_of) if foreign.marked else _against_all(foreign.article, by_id)
    checked = check_verdicts(foreign.article, by_id, verdicts=verdicts, recording=recording, model=model, how=how)
    own = tuple(
        replace(verdict, claim=claim) for claim, verdict in zip(foreign.article.claims, checked.verdicts, strict=True)
    )
    return ForeignChecked(foreign, replace(checked, verdicts=own))


def _against_all(article: Article, documents: Mapping[str, Document]) -> tuple[Verdict, ...]:
    """The verdict on each claim by the document that carries it, or else by the one that is most like it."""
    opened = {key: Opened(document, split_document) for key, document in documents.items()}
    found = []
    for claim in article.claims:
        words = claimed_words(claim.text)
        alike = sorted(
            (-coverage(words, frozenset().union(*(claimed_words(s.text) for s in each.best(claim.text)))), number, key)
            for number, (key, each) in enumerate(opened.items(), start=1)
        )[:_MOST_TRIED]
        trials = tuple(replace(claim, citations=(Citation(number, key),)) for _, number, key in alike)
        trial = replace(article, headline=replace(claim, citations=()), lede=trials, sections=())
        plain, *tried = verify(trial, documents, written=article.as_of)
        best = next((one for one in tried if one.support == "supported"), tried[0] if tried else plain)
        found.append(plain if plain.support == "background" else best)
    return tuple(found)
