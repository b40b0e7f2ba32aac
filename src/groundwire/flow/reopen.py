"""Exports read back: the JSON export whole, the Markdown export also after an editor has changed it by hand.

What Markdown cannot hold (offsets, ratings, bands, languages of sources, verdicts) is not there afterwards: its
citations point at whole documents. No word of the text is lost; a marker that no source answers to stays in its
sentence and is reported.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.core.sentences import split_sentences
from groundwire.core.text import detect_language
from groundwire.core.types import Article, Citation, Claim, NumberedSource, Section, Verdict
from groundwire.flow import render, wording
from groundwire.flow.findings import NOTHING, Findings
from groundwire.flow.links import is_dense, without_fragment
from groundwire.flow.markers import Line, read_line
from groundwire.flow.render import Provenance

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_EXAMPLE = "a line for each source: '[1] Title. Outlet, 2024-05-03. `document-id`'"
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:(?:^|[ \t]+)#+)?[ \t]*")
_BULLET = re.compile(r"\s*(?:[-*+][ \t]+|>[ \t]?)")
_RULE = re.compile(r"\s*(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,}|=+)")
_NUMBERED = re.compile(r"\[(?P<number>\d{1,9})\](?P<about>(?:[^`\\]|\\.)*)")
_TICKS = re.compile("`+")
_URL = re.compile(r"\s*<(?P<url>[^<>\s]*)>\s*")
_DATED = re.compile(r"(?:[,，]|^|(?<=[.!?。！？]))\s*(?P<date>\d{4}-\d{2}-\d{2})$")
_STOP = re.compile(r"(?:[.!?](?=\s|$)|[。！？])")


@dataclass(frozen=True, slots=True)
class MarkerNote:
    """A marker that could not be resolved: where it stood, its characters, and why."""

    claim_id: str
    marker: str
    reason: str

    def __str__(self) -> str:
        return f"{self.claim_id}: marker {self.marker}: {self.reason}".removeprefix(": ")


@dataclass(frozen=True, slots=True)
class Reopened:
    """What an export held.

    ``verdicts``, ``provenance`` and ``findings`` are only in JSON, ``notes`` only arise from Markdown.
    """

    article: Article
    verdicts: tuple[Verdict, ...] = ()
    provenance: Provenance | None = None
    notes: tuple[MarkerNote, ...] = ()
    findings: Findings = NOTHING


def reopen(text: str) -> Reopened:
    """The article of an export: JSON when the first character is a brace, Markdown otherwise.

    Raises:
        UsageError: another schema; Markdown without headline or list of sources, or with a source that names no
            document.
        UnreadableInput: the JSON is broken, or its content is not that of the schema.
    """
    shown = text.removeprefix("\ufeff")
    return _reopen_json(shown) if shown.lstrip().startswith("{") else _reopen_markdown(shown)


# JSON: pydantic reads the core types from their own declarations and refuses unknown keys and other types.


@dataclass(frozen=True, slots=True)
class _File:
    __pydantic_config__: ClassVar[dict[str, object]] = {"extra": "forbid", "strict": True}
    schema: str
    summary: dict[str, int]
    article: Article
    provenance: Provenance
    verdicts: tuple[Verdict, ...]
    findings: Findings


@cache
def _file_reader() -> TypeAdapter[_File]:
    from pydantic import TypeAdapter

    return TypeAdapter(_File)


def _reopen_json(text: str) -> Reopened:
    from pydantic import ValidationError

    verdicts: list[dict[str, object]] = []

    def take_apart(row: dict[str, object]) -> dict[str, object]:
        """What the export put into a citation and a claim on top of the core types is taken out again."""
        if "document_id" in row and "number" in row:
            row.pop("source_sha256", None)
        verdict = row.pop("verdict", None) if "citations" in row else None
        if isinstance(verdict, dict):
            verdicts.append({"claim": row, **verdict})
        return row

    try:
        content = json.loads(text, object_hook=take_apart)
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"This looks like a JSON export, but is not JSON: {error}.") from error
    if content.get("schema") != render.SCHEMA:
        raise UsageError(
            f"This JSON has the schema {content.get('schema')!r}; this version reopens '{render.SCHEMA}'. "
            "Reopen it with the version that wrote it, or export the article as Markdown."
        )
    content.pop("independence", None)
    beside = {key: content.pop(key) for key in ("repairs", "quality") if key in content}
    found = content.pop("findings", {})
    findings = {**found, **beside} if isinstance(found, dict) else found
    try:
        file = _file_reader().validate_json(json.dumps({**content, "findings": findings, "verdicts": verdicts}))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"])
        raise UnreadableInput(
            f"The JSON export has {error.error_count()} fault(s); the first is at '{place}': {first['msg']}. "
            "Export the article again, or put the value right."
        ) from error
    return Reopened(file.article, file.verdicts, file.provenance, findings=file.findings)


# Markdown: blocks, then words with the markers taken out, then sentences.


@dataclass(frozen=True, slots=True)
class _Block:
    """A heading (``level`` 1 to 6) or a paragraph (0); ``line`` counts from 1."""

    level: int
    lines: tuple[str, ...]
    line: int

    @property
    def kind(self) -> str:
        """Which of our own headings this is (a key of ``render.OWN_HEADINGS``), or nothing."""
        shown = self.lines[0].rstrip(":： ").casefold() if self.level else ""
        return next(
            (key for key in render.OWN_HEADINGS if shown in {word.casefold() for word in wording.word_table()[key]}), ""
        )

    @property
    def text(self) -> str:
        """The lines as one, with a space between them except inside Chinese and Japanese."""
        joined = self.lines[0]
        for line in self.lines[1:]:
            joined += ("" if is_dense(joined[-1]) and is_dense(line[0]) else " ") + line
        return joined


def _reopen_markdown(text: str) -> Reopened:
    parts = _sort_blocks(tuple(_blocks(text)))
    sources, remarks = _read_sources(parts["sources"])
    place = next((at for at, block in enumerate(parts["body"]) if block.level == 1), None)
    if place is None:
        raise UsageError("The Markdown has no headline. Give it one: a line that begins with '# '.")
    title, body = parts["body"][place], parts["body"][:place] + parts["body"][place + 1 :]
    facts = _read_facts(body[place].text) if place < len(body) and not body[place].level else None
    if facts is not None:
        del body[place]
    topic, writer, language, as_of = facts or ("", "", _guess_language(parts), None)
    draft = Draft({source.number: source.document_id for source in sources}, language)
    headline = draft.whole_claim(title.text)
    lede, sections = _read_body(body, draft)
    article = Article(
        topic=topic if facts else headline.text,
        headline=headline,
        lede=lede,
        sections=sections,
        sources=sources,
        language=language,
        writer=writer,
        as_of=as_of,
        notes=(*(render.plain_text(block.text) for block in parts["notes"]), *remarks),
    )
    return Reopened(article, notes=tuple(draft.notes))


def _blocks(text: str) -> Iterator[_Block]:
    held: list[str] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate((*lines, ""), start=1):
        heading = _HEADING.fullmatch(line)
        bullet = _BULLET.match(line)
        shown = "" if _RULE.fullmatch(line) else line[bullet.end() if bullet else 0 :].strip()
        if held and (heading or bullet or not shown):
            yield _Block(0, tuple(held), number - len(held))
            held = []
        if heading:
            yield _Block(len(heading[1]), ((heading[2] or "").strip(),), number)
        elif shown:
            held.append(shown)


def _sort_blocks(blocks: Sequence[_Block]) -> dict[str, list[_Block]]:
    """Blocks by where they belong; only behind the last list of sources are the other headings of ours known."""
    start = max((at for at, block in enumerate(blocks) if block.kind == "sources"), default=None)
    if start is None:
        raise UsageError(
            "The Markdown has no list of sources, so its markers point nowhere. End it with a heading "
            f"'## Sources' (資料來源, 资料来源) and {_EXAMPLE}."
        )
    parts: dict[str, list[_Block]] = {
        "body": list(blocks[:start]),
        "sources": [],
        "notes": [],
        "not_supported": [],
        "findings": [],
    }
    parts["heading"] = [blocks[start]]
    kind = "sources"
    for block in blocks[start + 1 :]:
        kind = (block.kind or "body") if block.level else kind
        if kind == "body" or not block.level:
            parts[kind].append(block)
    return parts


def _read_body(blocks: Sequence[_Block], draft: Draft) -> tuple[tuple[Claim, ...], tuple[Section, ...]]:
    lede: list[Claim] = []
    sections: list[tuple[str, list[Claim]]] = []
    for block in blocks:
        if block.level:
            sections.append((render.plain_text(block.text), []))
        else:
            (sections[-1][1] if sections else lede).extend(draft.claims(block.text))
    return tuple(lede), tuple(Section(heading, tuple(claims)) for heading, claims in sections)


def _read_facts(line: str) -> tuple[str, str, str, date | None] | None:
    """Topic, writer, language and day from the line beneath the headline, or None where it is an ordinary one."""
    words = wording.word_table()
    found = re.fullmatch(r"\*(\w+)(?:: |：)(.*)\*", line)
    if not found or found[1] not in words["topic"]:
        return None
    column = words["topic"].index(found[1])
    topic, *facts = found[2].split(" · ")
    named = {}
    for fact in facts:
        name, _, value = fact.replace("：", ": ", 1).partition(": ")
        named[name] = render.plain_text(value)
    language = named.get(words["language"][column], wording.LANGUAGES[column])
    language = "" if language in words["unknown"] else language
    before = words["as_of"][column].format(when="")
    days = (_read_date(fact.removeprefix(before)) for fact in facts if fact.startswith(before))
    return render.plain_text(topic), named.get(words["writer"][column], ""), language, next(days, None)


def _guess_language(parts: dict[str, list[_Block]]) -> str:
    """By the heading of the sources where it is Chinese, else by the text: French has 'Sources' too."""
    shown = parts["heading"][0].lines[0].rstrip(":： ")
    if shown in wording.word_table()["sources"][1:]:
        return wording.LANGUAGES[wording.word_table()["sources"].index(shown)]
    return detect_language(" ".join(render.plain_text(block.text) for block in parts["body"]))


def _read_sources(blocks: Sequence[_Block]) -> tuple[tuple[NumberedSource, ...], tuple[str, ...]]:
    """The numbered sources, and as remarks what else stands among them."""
    sources: dict[int, NumberedSource] = {}
    remarks: list[str] = []
    for block in blocks:
        for entry in re.split(r"\n(?=\[\d{1,9}\])", "\n".join(block.lines)):
            text = entry.replace("\n", " ")
            if not re.match(r"\[\d{1,9}\]", text):
                remarks.append(render.plain_text(text))
                continue
            source = _read_source(text, near=block.line)
            if source.number in sources:
                raise UsageError(f"Source [{source.number}] is listed twice, near line {block.line}. Keep one of them.")
            sources[source.number] = source
    if not sources:
        raise UsageError(f"The list of sources is empty. Add {_EXAMPLE}.")
    return tuple(sources.values()), tuple(remarks)


def _read_source(text: str, *, near: int) -> NumberedSource:
    numbered = _NUMBERED.match(text)
    spans, rest = _read_codes(text, numbered.end() if numbered else 0)
    url = _URL.fullmatch(rest)
    if numbered is None or not 1 <= len(spans) <= 2 or (rest.strip() and url is None):
        raise UsageError(
            f"The source near line {near} names no document: {text!r}. "
            f"It needs the document's id in backticks: {_EXAMPLE}."
        )
    about = re.sub(r"[.。]$", "", numbered["about"].strip())
    published = None
    dated = _DATED.search(about)
    if dated is not None and (published := _read_date(dated["date"])) is not None:
        about = about[: dated.start()]
    stops = list(_STOP.finditer(about))
    title, outlet = about, ""
    if stops:
        kept = stops[-1].end() if stops[-1][0] in "!?！？" else stops[-1].start()
        title, outlet = about[:kept], about[stops[-1].end() :]
    untitled = title in {f"*{word}*" for word in wording.word_table()["untitled"]}
    return NumberedSource(
        number=int(numbered["number"]),
        document_id=render.read_code(spans[0]),
        title="" if untitled else render.plain_text(title),
        source=render.plain_text(outlet.strip()),
        published=published,
        url=without_fragment(url["url"]) if url and url["url"] else render.read_code("".join(spans[1:])),
    )


def _read_codes(text: str, at: int) -> tuple[list[str], str]:
    """The code spans that stand from a place on, at most white space between them, and what follows them.

    A span ends at the next run of as many backticks as it began with.
    """
    runs = list(_TICKS.finditer(text, at))
    spans: list[str] = []
    place = 0
    while place < len(runs) and not text[at : runs[place].start()].strip():
        opening = runs[place]
        closing = next((n for n in range(place + 1, len(runs)) if len(runs[n][0]) == len(opening[0])), None)
        if closing is None:
            break
        spans.append(text[opening.end() : runs[closing].start()])
        at, place = runs[closing].end(), closing + 1
    return spans, text[at:]


def _read_date(text: str) -> date | None:
    """The date, or None where the digits are not one: they are words of the title then."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return None


@dataclass(slots=True)
class Draft:
    """Counts claims and collects notes while a text is read."""

    documents: dict[int, str]
    language: str
    count: int = 0
    notes: list[MarkerNote] = field(default_factory=list)

    def whole_claim(self, raw: str) -> Claim:
        """The line as one claim, however many sentences it has."""
        line = read_line(raw, self.documents)
        return self._claim(line, [(0, len(line.words))], at=0)

    def claims(self, raw: str) -> Iterator[Claim]:
        """The sentences of a paragraph; a marker belongs to the sentence it stands in or behind."""
        line = read_line(raw, self.documents)
        spans = [(span.start, span.end) for span in split_sentences(line.words, language=self.language)]
        if not spans and line.strays:
            spans = [(0, len(line.words))]
        if not spans:
            self.notes += [MarkerNote("", f"[{number}]", "no sentence stands before it") for _, number in line.marks]
        for at in range(len(spans)):
            yield self._claim(line, spans, at=at)

    def _claim(self, line: Line, spans: Sequence[tuple[int, int]], *, at: int) -> Claim:
        self.count += 1
        name = f"c{self.count}"
        start, end = spans[at]
        starts = [first for first, _ in spans]
        numbers = [number for place, number in line.marks if _owner(starts, place) == at]
        strays = [stray for stray in line.strays if _owner(starts, stray[0]) == at]
        self.notes += [
            MarkerNote(name, marker.strip(), "the list of sources has no such number") for _, marker in strays
        ]
        self.notes += [
            MarkerNote(name, marker, "looks like a marker, but is none; a marker is a number in brackets: [1]")
            for place, marker in line.alike
            if max(bisect_right(starts, place) - 1, 0) == at
        ]
        text = line.words[start:end]
        for place, marker in reversed(strays):
            inside = min(place - start, len(text)) if place > start else 0
            text = f"{text[:inside]}{marker}{text[inside:]}" if inside else f"{marker.lstrip()} {text}".rstrip()
        citations = (Citation(number, self.documents[number]) for number in dict.fromkeys(numbers))
        return Claim(name, text.strip(), tuple(citations))


def _owner(starts: Sequence[int], place: int) -> int:
    return max(bisect_left(starts, place) - 1, 0)
