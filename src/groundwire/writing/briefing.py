"""Briefs that a model makes of one source each: what it is asked, and what is made of its reply.

Two kinds. ``facts``: sentences of the source stand under closed ids (``S3.2``: the second shown sentence of the third
source), and every sentence of the brief names those that it rests on. ``summaries``: ScoreRAG's, running text without
ids whose content and length follow the band.

Source:
    ``summaries``: ScoreRAG (arXiv:2506.03704), its bands, contents and lengths in characters. Where we differ: what
    must not be quoted (orders to a model, hidden markup, furniture) is not shown, and for other languages than Chinese
    lengths are counted in words, ``CHARACTERS_A_WORD`` characters each.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from groundwire.core import prompts
from groundwire.core.cited_ids import read_citations
from groundwire.core.language import Capabilities, Reply, Request
from groundwire.core.loose_json import Json
from groundwire.core.prompts import Material
from groundwire.core.replies import Reading, declines, read_object, spoken, stopped
from groundwire.core.text import count_tokens, detect_language, words
from groundwire.core.types import Band, Brief, Citation, Claim, Document, ScoredSource, Sentence, Source
from groundwire.writing.cited_sentences import (
    CitedSentence,
    closed,
    items_of_json,
    sentence_schema,
    sentences_of_text,
)
from groundwire.writing.orders import is_order
from groundwire.writing.quotable import quotable
from groundwire.writing.reasons import note
from groundwire.writing.summarise import summarise, summarise_alike

BriefKind = Literal["facts", "summaries"]

SHOWN_TOKENS: Mapping[Band, int] = {"high": 700, "middle": 450, "low": 250, "trace": 120}
"""How much of a source a model is shown for ``facts``, by band; less for a short article."""
FACT_WORDS: Mapping[Band, int] = {"high": 150, "middle": 80, "low": 40, "trace": 20}
"""The most words of a brief of ``facts``, by band; fewer for a short article."""
LEAST_FACTS: Mapping[Band, int] = {"high": 3, "middle": 2, "low": 1, "trace": 0}
"""The fewest facts that a schema forces: a model of 1.5B parameters left the list empty for sources on the topic."""
SUMMARY_CHARACTERS: Mapping[Band, tuple[int, int]] = {
    "high": (300, 500), "middle": (150, 300), "low": (50, 150), "trace": (30, 50),
}  # fmt: skip
"""How many characters a summary has, by band (ScoreRAG)."""
CHARACTERS_A_WORD = 1.6
"""Chinese characters that say as much as an English word: limits in one are turned into the other with it."""

_NOTHING = re.compile(r"\W*nothing\W*", re.IGNORECASE)
_UNRATED: Band = "middle"
_TOKENS_A_WORD, _TOKENS_MORE, _THINKING_TOKENS = 3, 200, 2048
_TEXT_SHARE = 0.6
_WORDS_A_FACT = 20


@dataclass(frozen=True, slots=True)
class BriefSettings:
    """How briefs are asked for: what the model can do, and a folder with prompts of the user's own.

    ``article_words`` is the limit of the article that they serve. A brief of ``facts`` has at most half as many words,
    and its source is shown with at most four tokens a word: a short article needs no long briefs.
    """

    capabilities: Capabilities = field(default_factory=Capabilities)
    prompts: Path | None = None
    article_words: int = 400

    def fact_words(self, band: Band) -> int:
        """The most words of a brief of ``facts``."""
        return min(FACT_WORDS[band], math.ceil(self.article_words / 2))

    def shown_tokens(self, band: Band) -> int:
        """How much of a source a model is shown for ``facts``."""
        return min(SHOWN_TOKENS[band], 4 * self.article_words)


@dataclass(frozen=True, slots=True)
class BriefJob:
    """One source to be briefed.

    ``ids`` are the sentences that were shown, by id (``facts``); ``fallback`` is the brief without a model, whose
    sentences stay the evidence; ``prompt`` names the file that the request was made from.
    """

    kind: BriefKind
    fallback: Brief
    ids: Mapping[str, Sentence]
    request: Request
    prompt: str
    notes: tuple[str, ...] = ()


def brief_job(topic: str, scored: ScoredSource, *, number: int, kind: BriefKind, settings: BriefSettings) -> BriefJob:
    """What a model is asked about one source.

    Args:
        topic: what the article is about.
        scored: the source; without a band it counts as ``middle``.
        number: of the source among those of the article, from 1; its ids begin with it.
        kind: which brief.
        settings: how it is asked.
    """
    found = summarise([scored]) if scored.band else summarise_alike([scored.source])
    document = scored.source.document
    fallback = found[0] if found else Brief(document, scored.relevance, scored.band, ())
    allowed, left_out = quotable(document.text, _sentences(scored.source))
    make = _for_facts if kind == "facts" else _for_summary
    return make(topic, scored, number=number, settings=settings, allowed=allowed, brief=_noted(fallback, left_out))


def read_brief(job: BriefJob, reply: Reply, *, model: str) -> Reading[Brief]:
    """The brief that a reply holds.

    Of ``facts`` every sentence with a known id is a fact; one without is kept in ``text`` and named in the notes. A
    reply that says that there is nothing gives a brief without text, facts and sentences, which says so in its notes.
    A reply that was cut is kept and flagged.
    """
    text, _ = spoken(reply)
    halted = stopped(reply, text=text)
    if halted is not None and halted[0] != "truncated":
        return Reading(None, *halted, reply.text)
    cut = (note("brief_cut"),) if halted is not None else ()
    if not re.search(r"\w", text):
        return Reading(None, "unreadable", "the reply holds no words", reply.text)
    if job.request.schema:
        return _from_json(job, reply, model=model)
    if _NOTHING.fullmatch(text):
        return Reading(_nothing(job, model), "read", text=reply.text)
    if declines(text) and not read_citations(text, known=job.ids).markers and count_tokens(text) < 60:
        return Reading(None, "abstained", "the model declined to make a brief", reply.text)
    notes = (*job.notes, *cut)
    if job.kind == "summaries":
        return Reading(_summary(job, text, notes=notes), "read", text=reply.text)
    return _facts_of(job, sentences_of_text(text, known=job.ids), notes=notes, reply=reply)


def unbriefed(job: BriefJob, reason: str) -> Brief:
    """The brief where the model gave none: the source's own sentences, and a note that says so."""
    kept = job.fallback
    return replace(kept, notes=(*kept.notes, note("brief_none", reason)))


def citation_of(document: Document, sentence: Sentence) -> Citation:
    """A citation of a sentence, not yet numbered."""
    return Citation(0, document.id, sentence.start, sentence.end, sentence.text, sentence.id)


def heading_of(document: Document) -> tuple[str, ...]:
    """What a model is told of a document before its sentences: title, outlet and date; no title that gives orders."""
    title = "" if is_order(document.title) else " ".join(document.title.split())
    day = document.published.isoformat() if document.published else ""
    return tuple(filter(None, (title, ", ".join(filter(None, (" ".join(document.source.split()), day))))))


def length_limit(words_wanted: int, language: str) -> int:
    """A limit in words as it is told to a model: words, or characters where the language is Chinese."""
    return round(words_wanted * CHARACTERS_A_WORD) if prompts.nearest_language(language) != "en" else words_wanted


def reply_tokens(most: int, capabilities: Capabilities) -> int:
    """The most tokens of a reply of so many words or characters."""
    wanted = most * _TOKENS_A_WORD + _TOKENS_MORE + (_THINKING_TOKENS if capabilities.thinking else 0)
    return wanted if capabilities.context_tokens is None else min(wanted, max(1, capabilities.context_tokens // 3))


def _sentences(source: Source) -> tuple[Sentence, ...]:
    found = source.sentences or tuple({hit.sentence for hit in source.hits})
    return tuple(sorted(found, key=lambda sentence: (sentence.start, sentence.end)))


def _noted(brief: Brief, left_out: Sequence[str]) -> Brief:
    notes = tuple(dict.fromkeys((*brief.notes, *left_out)))
    return Brief(brief.document, brief.relevance, brief.band, brief.sentences, notes)


def _language(document: Document) -> str:
    return prompts.nearest_language(document.language or detect_language(document.text))


def _for_facts(
    topic: str, scored: ScoredSource, *, number: int, settings: BriefSettings, allowed: Sequence[Sentence], brief: Brief
) -> BriefJob:
    document, band = scored.source.document, scored.band or _UNRATED
    shown = _fitting(scored.source, allowed, budget_tokens=settings.shown_tokens(band))
    ids = {f"S{number}.{place}": sentence for place, sentence in enumerate(shown, start=1)}
    lines = prompts.id_lines((name, sentence.text) for name, sentence in ids.items())
    source = Material("\n".join((*heading_of(document), lines)), f"S{number}")
    language, can = _language(document), settings.capabilities
    fact_words = settings.fact_words(band)
    most = length_limit(fact_words, language)
    as_json = can.schema and bool(ids)
    name = "brief-json" if as_json else "brief"
    schema = _facts_schema(tuple(ids), scored.band, most_words=fact_words)
    prompt = prompts.load(name, language, folder=settings.prompts)
    values: Mapping[str, prompts.Value] = {"topic": topic, "source": source, "most": most}
    rendered = prompts.render(prompt, values, part=band, system=can.system)
    request = Request(
        rendered.messages, reply_tokens(2 * most if as_json else most, can),
        schema=json.dumps(schema) if as_json else "", prompt=rendered.fingerprint, purpose="brief",
    )  # fmt: skip
    return BriefJob("facts", brief, ids, request, f"{name}.{language}", rendered.notes)


def _facts_schema(ids: Sequence[str], band: Band | None, *, most_words: int) -> dict[str, Json]:
    """The schema of a brief; what nobody rated may hold nothing on the topic."""
    least = LEAST_FACTS[band] if band else 0
    most = max(least, math.ceil(most_words / _WORDS_A_FACT))
    facts: dict[str, Json] = {"type": "array", "items": sentence_schema(ids), "minItems": least, "maxItems": most}
    return {"type": "object", "properties": {"facts": facts}, "required": ["facts"], "additionalProperties": False}


def _fitting(source: Source, allowed: Sequence[Sentence], *, budget_tokens: int) -> tuple[Sentence, ...]:
    """The sentences that fit, those that the search found first, then from the beginning on; in source order."""
    by_id = {sentence.id: sentence for sentence in allowed}
    found = [
        by_id[hit.sentence.id] for hit in sorted(source.hits, key=lambda hit: hit.rank) if hit.sentence.id in by_id
    ]
    chosen: list[Sentence] = []
    for sentence in dict.fromkeys((*allowed[:1], *found, *allowed)):
        cost = count_tokens(sentence.text)
        if not chosen or cost <= budget_tokens:
            chosen.append(sentence)
            budget_tokens -= cost
    return tuple(sorted(chosen, key=lambda sentence: (sentence.start, sentence.end)))


def _for_summary(
    topic: str, scored: ScoredSource, *, number: int, settings: BriefSettings, allowed: Sequence[Sentence], brief: Brief
) -> BriefJob:
    document, band, can = scored.source.document, scored.band or _UNRATED, settings.capabilities
    left = math.inf if can.context_tokens is None else can.context_tokens * _TEXT_SHARE
    shown: list[Sentence] = []
    for sentence in allowed:
        left -= count_tokens(sentence.text)
        if left < 0:
            break
        shown.append(sentence)
    notes: tuple[str, ...] = ()
    if len(shown) < len(allowed):
        notes = (note("brief_shown", len(shown), len(allowed)),)
    least, most = summary_range(band, _language(document))
    prompt = prompts.load("brief-scorerag", _language(document), folder=settings.prompts)
    source = Material("\n".join((*heading_of(document), _running(document.text, shown))), f"S{number}")
    values: Mapping[str, prompts.Value] = {"topic": topic, "source": source, "least": least, "most": most}
    rendered = prompts.render(prompt, values, part=band, system=can.system)
    request = Request(rendered.messages, reply_tokens(most, can), prompt=rendered.fingerprint, purpose="brief")
    name = f"brief-scorerag.{prompt.language}"
    return BriefJob("summaries", brief, {}, request, name, (*rendered.notes, *notes))


def summary_range(band: Band, language: str) -> tuple[int, int]:
    """The least and the most characters of a summary in Chinese, words in any other language."""
    low, high = SUMMARY_CHARACTERS[band]
    if prompts.nearest_language(language) != "en":
        return low, high
    return round(low / CHARACTERS_A_WORD), round(high / CHARACTERS_A_WORD)


def _running(text: str, sentences: Sequence[Sentence]) -> str:
    """Sentences with the line breaks that stand between them."""
    pieces: list[str] = []
    end = 0
    for sentence in sentences:
        between = text[end : sentence.start] if pieces else ""
        pieces += ("\n" if "\n" in between else " " if between else "", sentence.text)
        end = sentence.end
    return "".join(pieces)


def _summary(job: BriefJob, text: str, *, notes: tuple[str, ...]) -> Brief:
    kept = job.fallback
    language = _language(kept.document)
    least, most = summary_range(kept.band or _UNRATED, language)
    size, unit = (len(words(text)), "words") if language == "en" else (len(re.sub(r"\s", "", text)), "characters")
    if not least <= size <= most:
        notes = (*notes, note("brief_length", size, unit, least, most))
    return Brief(kept.document, kept.relevance, kept.band, kept.sentences, (*kept.notes, *notes), text)


def _nothing(job: BriefJob, model: str) -> Brief:
    kept = job.fallback
    said = (*kept.notes, *job.notes, note("brief_nothing", model))
    return Brief(kept.document, kept.relevance, kept.band, (), said)


def _from_json(job: BriefJob, reply: Reply, *, model: str) -> Reading[Brief]:
    wanted: dict[str, Json] = {"type": "array", "items": sentence_schema()}
    schema: dict[str, Json] = {"type": "object", "properties": {"facts": wanted}, "required": ["facts"]}
    notes, whole = job.notes, reply
    if reply.finish == "length" and (kept := closed(spoken(reply)[0])) is not None:
        notes = (*notes, note("brief_cut_json", reply.usage.output_tokens, kept[1].strip()))
        whole = replace(reply, text=kept[0], finish="stop")
    found = read_object(whole, schema)
    if not isinstance(found.value, Mapping):
        return Reading(None, found.outcome, found.reason, reply.text)
    lines = tuple(items_of_json(found.value["facts"], known=job.ids))
    if not any(line.text for line in lines):
        return Reading(_nothing(job, model), "read", text=reply.text)
    return _facts_of(job, lines, notes=notes, reply=reply)


def _facts_of(job: BriefJob, lines: Sequence[CitedSentence], *, notes: tuple[str, ...], reply: Reply) -> Reading[Brief]:
    document, kept = job.fallback.document, job.fallback
    facts: list[Claim] = []
    more: list[str] = []
    for line in lines:
        if line.unknown:
            more.append(note("brief_unknown", ", ".join(line.unknown), line.text))
        if line.ids and line.text:
            citations = tuple(citation_of(document, job.ids[each]) for each in line.ids)
            facts.append(Claim(f"f{len(facts) + 1}", line.text, citations))
        elif line.text:
            more.append(note("brief_uncited", line.text))
    if not facts:
        return Reading(None, "unreadable", "no sentence of the brief names an id that was given", reply.text)
    used = {citation.sentence_id for fact in facts for citation in fact.citations}
    sentences = tuple(sentence for sentence in job.ids.values() if sentence.id in used)
    text = " ".join(line.text for line in lines if line.text)
    brief = Brief(document, kept.relevance, kept.band, sentences, (*kept.notes, *notes, *more), text, tuple(facts))
    return Reading(brief, "read", text=reply.text)
