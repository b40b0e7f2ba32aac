"""What a model drafted -> an article whose sentences cite; no word of the draft is lost.

Headline, headings and sentences become parts of the article. What has no place in it goes into its notes: ids that the
model was not given, a list of sources that it added, numbers of list items, words beside a code fence, and what a
reply that was cut left unfinished. Marks of Markdown (``#``, ``*``, bullets, rules of tables) are no words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from groundwire.core.language import Reply
from groundwire.core.loose_json import Json
from groundwire.core.replies import Reading, declines, read_object, spoken, stopped
from groundwire.core.text import count_tokens, normalise
from groundwire.core.types import Article, Citation, Claim, Section
from groundwire.writing.cited_sentences import (
    CitedSentence,
    closed,
    items_of_json,
    sentence_schema,
    sentences_of_text,
    texts_of_json,
)
from groundwire.writing.drafts import Draft
from groundwire.writing.reasons import note
from groundwire.writing.reference_titles import numbers_first, titles_behind
from groundwire.writing.write import numbered

_REFUSAL_TOKENS = 80
_WORD = re.compile(r"\w")
_FENCE = re.compile(r"\s*(?:```|~~~)[`~]*\s*(?P<info>.*?)\s*$")
_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s*(?P<text>.*?)\s*#*\s*$")
_BOLD_LINE = re.compile(r"\s*(?:\*\*|__)(?P<text>[^*_]+)(?:\*\*|__)\s*[:：]?\s*$")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}$|\s*\|?(?:\s*:?-{2,}:?\s*\|)+\s*:?-*:?\s*$")
_BULLET = re.compile(r"\s*(?:>\s*)*(?:[-*+•·▪◦]\s+)?(?P<number>\d{1,2}[.)、]\s+(?=\S))?")
_ITEM = re.compile(r"\s*(?:[-*+•·▪◦]\s|\d{1,2}[.)、]\s|>|\|)")
_EMPHASIS = re.compile(r"(?<![0-9A-Za-z_*])(\*{1,3}|_{1,3}|~~|`)(?=[^\s*_])(.+?)(?<=[^\s*_])\1(?![0-9A-Za-z_*])")
_LISTING = "清單|清单|列表|一覽|一览"
_SOURCES = re.compile(
    r"(?:list of |the )?(?:sources?|references?|works cited|bibliography|citations?|footnotes?)(?: list| cited| used)?"
    rf"|(?:參考|参考|引用)(?:資料|资料|文獻|文献|來源|来源|新聞|新闻)(?:來源|来源|{_LISTING})?"
    rf"|(?:資料|资料|新聞|新闻)(?:來源|来源)(?:{_LISTING})?|(?:來源|来源)(?:{_LISTING})?|[註注]釋|注释",
    re.IGNORECASE,
)
_JSON = re.compile(r"(?:\s*```\w*)?\s*[\[{]\s*[\"{]|.*\"headline\"\s*:", re.DOTALL)
_FOOTNOTE = re.compile(r"\s*\[\^?[\w.]{1,8}\]\s*[:：]\s*\S")
_URL = re.compile(r"https?://[^\s<>\"'）)\]】，。；、]+|www\.[^\s<>\"'）)\]】，。；、]+", re.IGNORECASE)


@dataclass(slots=True)
class _Parts:
    """The parts of an article while a draft is read; ``headings[0]`` heads the lede and is empty."""

    headline: CitedSentence | None = None
    headings: list[str] = field(default_factory=lambda: [""])
    bodies: list[list[CitedSentence]] = field(default_factory=lambda: [[]])
    notes: list[str] = field(default_factory=list)

    def open(self, heading: str) -> None:
        self.headings.append(heading)
        self.bodies.append([])

    def take(self, found: Sequence[CitedSentence]) -> None:
        """Add sentences; a marker that stands alone is that of the sentence before it."""
        for sentence in found:
            before = self._last()
            if sentence.text or before is None:
                self.bodies[-1].append(sentence)
            else:
                ids = tuple(dict.fromkeys((*before.ids, *sentence.ids)))
                unknown = tuple(dict.fromkeys((*before.unknown, *sentence.unknown)))
                self.bodies[-1][-1] = CitedSentence(before.text, ids, unknown)

    def _last(self) -> CitedSentence | None:
        return self.bodies[-1][-1] if self.bodies[-1] else None


def read_draft(draft: Draft, reply: Reply, *, model: str) -> Reading[Article]:
    """The article that a reply holds.

    Args:
        draft: what was asked.
        reply: what came.
        model: the id of who wrote it.

    Returns:
        The article, also where the reply was cut (its notes say so) or has no headline (its first sentence becomes
        it). No value where the reply is empty, holds no words beside markers, or declines.
    """
    text, _ = spoken(reply)
    halted = stopped(reply, text=text)
    if halted is not None and halted[0] != "truncated":
        return Reading(None, *halted, reply.text)
    parts = _from_json(draft, reply) if draft.form == "json" else _from_markdown(draft, text)
    if parts is None and _JSON.match(text):
        why = "the reply is no JSON object with headline, lede and sections, each once and with nothing beside it"
        return Reading(None, halted[0] if halted else "unreadable", why, reply.text)
    if parts is None:  # what follows no schema may still be an article
        parts = _from_markdown(draft, text)
        parts.notes.append(note("note_form"))
    _with_headline(parts)
    if parts.headline is None:
        return Reading(
            None, "truncated" if halted else "unreadable", "the reply holds no words of an article", reply.text
        )
    cited = any(each.ids for body in parts.bodies for each in body) or parts.headline.ids
    if not cited and count_tokens(text) < _REFUSAL_TOKENS and declines(text):
        return Reading(None, "abstained", "the model declined to write", reply.text)
    if halted is not None:
        parts.notes.append(note("note_cut", draft.request.max_tokens))
    return Reading(_article(draft, parts, model=model), "read", text=reply.text)


def _article(draft: Draft, parts: _Parts, *, model: str) -> Article:
    headline = parts.headline or CitedSentence("")
    lede = tuple(_claim(draft, each) for each in parts.bodies[0] if each.text)
    sections = tuple(
        Section(heading, tuple(_claim(draft, each) for each in body if each.text))
        for heading, body in zip(parts.headings[1:], parts.bodies[1:], strict=True)
    )
    made = Article(
        draft.topic, _claim(draft, headline), lede, sections, (), draft.language, model, as_of=draft.settings.as_of
    )
    article = numbered(made, draft.briefs)
    notes = (
        *draft.notes,
        *parts.notes,
        *_unknown(parts),
        *_uncited(article, draft),
        *_repeats(article),
        *_links(article, draft),
    )
    return replace(article, notes=tuple(dict.fromkeys(notes)))


def _claim(draft: Draft, sentence: CitedSentence) -> Claim:
    found = [citation for name in sentence.ids for citation in draft.citations[name]]
    exact = {citation.document_id for citation in found if citation.start is not None}
    kept: dict[Citation, None] = {
        citation: None for citation in found if citation.start is not None or citation.document_id not in exact
    }
    return Claim("", sentence.text, tuple(kept))


def _with_headline(parts: _Parts) -> None:
    """Where there is no headline, the first sentence becomes it."""
    if parts.headline is not None and parts.headline.text:
        return
    stray = parts.headline
    parts.headline = None
    for body in parts.bodies:
        for place, sentence in enumerate(body):
            if sentence.text:
                parts.headline = body.pop(place)
                parts.notes.append(note("note_no_headline"))
                break
        if parts.headline is not None:
            break
    else:
        titled = [place for place, heading in enumerate(parts.headings) if _WORD.search(heading)]
        if titled:
            parts.headline = CitedSentence(parts.headings[titled[0]])
            parts.headings[titled[0]] = ""
    if stray is not None and parts.headline is not None:
        parts.notes += [note("note_unknown_alone", each) for each in stray.unknown]


def _unknown(parts: _Parts) -> Iterator[str]:
    bodies = [sentence for body in parts.bodies for sentence in body]
    for sentence in (parts.headline or CitedSentence(""), *bodies):
        for each in sentence.unknown:
            yield note("note_unknown", each, sentence.text or "a marker without words")


def _uncited(article: Article, draft: Draft) -> Iterator[str]:
    bare = sum(not claim.citations for claim in article.claims)
    if bare and draft.settings.cite != "none":
        yield note("note_uncited", bare, len(article.claims))


def _repeats(article: Article) -> Iterator[str]:
    counts = Counter(normalise(claim.text) for claim in article.claims)
    for claim in article.claims:
        if (count := counts.pop(normalise(claim.text), 1)) > 1:
            yield note("note_repeated", count, claim.text)


def _links(article: Article, draft: Draft) -> Iterator[str]:
    known = [brief.document.url for brief in draft.briefs if brief.document.url]
    for claim in article.claims:
        for found in _URL.finditer(claim.text):
            if not any(found.group().rstrip(".,;:!?") in url for url in known):
                yield note("note_address", found.group())


def _from_json(draft: Draft, reply: Reply) -> _Parts | None:
    parts = _Parts()
    whole = reply
    if reply.finish == "length":
        kept = closed(spoken(reply)[0])
        if kept is None:
            return None
        whole = replace(reply, text=kept[0], finish="stop")
        if rest := texts_of_json(kept[1]):
            parts.notes.append(note("note_unfinished", rest))
    found = read_object(whole, _loose_schema())
    value = found.value
    if not isinstance(value, Mapping) or not _same_words(value, whole.text):
        return None
    known = draft.citations
    parts.headline = next(items_of_json((value["headline"],), known=known), None) if "headline" in value else None
    parts.take(tuple(items_of_json(value.get("lede", ()), known=known)))
    given = value.get("sections", ())
    sections = [each for each in given if isinstance(each, Mapping)] if isinstance(given, Sequence) else []
    for section in sections:
        parts.open(_plain_heading(str(section["heading"]), draft, parts))
        parts.take(tuple(items_of_json(section.get("sentences", ()), known=known)))
    return parts


def _loose_schema() -> dict[str, Json]:
    """What a reply must follow to be read; a reply that was cut may lack its end."""
    sentence = sentence_schema()
    listed: dict[str, Json] = {"type": "array", "items": sentence}
    section: dict[str, Json] = {
        "type": "object", "properties": {"heading": {"type": "string"}, "sentences": listed}, "required": ["heading"],
        "additionalProperties": False,
    }  # fmt: skip
    parts: dict[str, Json] = {
        "headline": sentence, "lede": listed, "sections": {"type": "array", "items": section},
    }  # fmt: skip
    return {"type": "object", "properties": parts, "additionalProperties": False}


def _same_words(value: Json, text: str) -> bool:
    """Whether a reply is this value and nothing else: words around it, or a second value, would be lost."""
    start, end = text.find("{"), text.rfind("}")
    outside = re.sub(r"```\w*", "", text[:start] + text[end + 1 :])
    return not _WORD.search(outside) and len(re.findall(r'"headline"\s*:', text)) <= 1 and bool(value)


def _from_markdown(draft: Draft, text: str) -> _Parts:
    parts, paragraph, aside = _Parts(), list[str](), False
    text = numbers_first(text, draft.titles)

    def flush() -> None:
        if paragraph:
            parts.take(_sentences("\n".join(paragraph), draft, parts))
            paragraph.clear()

    for line in text.splitlines():
        fence = _FENCE.match(line)
        heading = _heading_in(line)
        if fence or _RULE.match(line) or not line.strip():
            flush()
            parts.notes += [note("note_fence", fence["info"])] if fence and fence["info"] else []
        elif heading is not None:
            flush()
            aside = _is_list_of_sources(heading)
            _take_heading(heading, draft, parts, aside=aside)
        elif aside or _FOOTNOTE.match(line):
            flush()
            parts.notes.append(note("note_of_list", line.strip()))
        else:
            if _ITEM.match(line):
                flush()
            paragraph.append(_plain(line, parts))
    flush()
    return parts


def _heading_in(line: str) -> str | None:
    found = _HEADING.match(line) or _BOLD_LINE.match(line)
    if found and _WORD.search(found["text"]):
        return found["text"]
    bare = line.strip().rstrip(":：")
    return bare if bare != line.strip() and _SOURCES.fullmatch(bare) else None


def _is_list_of_sources(heading: str) -> bool:
    return _SOURCES.fullmatch(re.sub(r"[*_:：\s]+$|^[*_\s]+", "", heading)) is not None


def _take_heading(heading: str, draft: Draft, parts: _Parts, *, aside: bool) -> None:
    first = parts.headline is None and len(parts.headings) == 1 and not parts.bodies[0]
    if aside:
        parts.notes.append(note("note_list", heading))
    elif first:
        found = _sentences(_unmarked(heading), draft, parts)
        ids = tuple(dict.fromkeys(each for one in found for each in one.ids))
        unknown = tuple(dict.fromkeys(each for one in found for each in one.unknown))
        parts.headline = CitedSentence(" ".join(filter(None, (one.text for one in found))), ids, unknown)
    else:
        parts.open(_plain_heading(heading, draft, parts))


def _plain_heading(heading: str, draft: Draft, parts: _Parts) -> str:
    """A heading without markers; what they were is noted, for a heading claims nothing."""
    found = _sentences(_unmarked(heading), draft, parts)
    text = " ".join(filter(None, (one.text for one in found)))
    listed = [each for one in found for each in (*one.ids, *one.unknown)]
    if listed:
        parts.notes.append(note("note_heading", text, ", ".join(listed)))
    return text


def _sentences(text: str, draft: Draft, parts: _Parts) -> tuple[CitedSentence, ...]:
    if draft.titles:
        text, notes = titles_behind(text, draft.titles)
        parts.notes += notes
    return sentences_of_text(text, known=draft.citations)


def _plain(line: str, parts: _Parts) -> str:
    """A line without the marks of lists, quotations, tables and emphasis; the number of an item is noted."""
    marks = _BULLET.match(line)
    if marks is not None and marks["number"]:
        parts.notes.append(note("note_number", marks["number"].strip()))
    line = _BULLET.sub("", line, count=1)
    line = line.strip()
    if line.startswith("|") and line.endswith("|") and len(line) > 1:
        line = " | ".join(cell.strip() for cell in line.strip("|").split("|"))
    return _unmarked(line)


def _unmarked(text: str) -> str:
    before = ""
    while before != text:
        before, text = text, _EMPHASIS.sub(r"\2", text)
    return text
