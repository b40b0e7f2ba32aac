"""The article that a model drafts: what it is asked. What is made of its reply is in ``draft_reading``.

Three ways to cite. ``sentences``: every line of the sources has a closed id, and every sentence of the article names
those that carry it. ``sources`` (ScoreRAG, arXiv:2506.03704): numbered references with title, date and summary, cited
by number and title. ``none``: the topic alone, the baseline.

Two forms of ``sentences``. A model that follows a schema is asked for JSON, where every sentence begins with ids out of
those that it was given; others for Markdown with markers. Tried on the sample archive with a model of 1.5B
parameters: in Markdown it cited nothing, in JSON every sentence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Literal

from groundwire.core import prompts
from groundwire.core.errors import UsageError
from groundwire.core.language import Capabilities, Request
from groundwire.core.loose_json import Json
from groundwire.core.prompts import Material
from groundwire.core.types import Brief, Citation
from groundwire.writing.briefing import citation_of, heading_of, length_limit, reply_tokens
from groundwire.writing.cited_sentences import sentence_schema
from groundwire.writing.orders import is_order
from groundwire.writing.write import language_of

Cite = Literal["sentences", "sources", "none"]
Form = Literal["auto", "json", "markdown"]

_PROMPTS: Mapping[Cite, str] = {"sentences": "write", "sources": "write-scorerag", "none": "write-zero-shot"}
_WORDS_A_SENTENCE = 18
_LEDE_SENTENCES, _SECTIONS = 3, 3
_UNKNOWN_DAY = "-"
_JSON_SIZE = 2
"""A reply in JSON is allowed so many times the tokens: ids, keys and blanks."""


@dataclass(frozen=True, slots=True)
class DraftSettings:
    """How an article is asked for.

    Attributes:
        cite: what the article cites.
        form: of the reply; ``auto``: JSON where sentences are cited and the model follows a schema.
        language: of the article; ``""``: that of the topic, or of the best source.
        as_of: the day that the article speaks of as today.
        max_words: the limit that the model is told; for Chinese in characters, 1.6 a word.
        max_sources: how many sources it is given, the best first; 1 and up.
        outline: the order of the article, in words for the model.
        house_rules: what the house asks of an article, in words for the model.
        prompts: a folder with prompts of the user's own.

    Raises:
        UsageError: a number is below 1, or JSON is wanted where no sentences are cited.
    """

    cite: Cite = "sentences"
    form: Form = "auto"
    language: str = ""
    as_of: date | None = None
    max_words: int = 400
    max_sources: int = 8
    outline: str = ""
    house_rules: str = ""
    prompts: Path | None = None

    def __post_init__(self) -> None:
        if self.max_words < 1 or self.max_sources < 1:
            raise UsageError(
                f"max_words is {self.max_words} and max_sources {self.max_sources}; both must be 1 or more"
            )
        if self.form == "json" and self.cite != "sentences":
            raise UsageError(f"the form 'json' names sentences, and cite is '{self.cite}'. Cite sentences, or leave it")


@dataclass(frozen=True, slots=True)
class Draft:
    """An article that is asked for.

    ``citations`` are what each id stands for, ``titles`` those of numbered references, by number; ``prompt`` names the
    file that the request was made from, ``notes`` are for the editor.
    """

    topic: str
    language: str
    settings: DraftSettings
    briefs: tuple[Brief, ...]
    request: Request
    prompt: str
    form: Literal["json", "markdown"]
    citations: Mapping[str, tuple[Citation, ...]] = field(default_factory=dict)
    titles: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def draft_of(topic: str, briefs: Sequence[Brief], *, settings: DraftSettings, capabilities: Capabilities) -> Draft:
    """What a model is asked for an article.

    Args:
        topic: what the article is about.
        briefs: best first; those that hold nothing are passed over, and those beyond ``max_sources`` are named.
        settings: how it is asked.
        capabilities: of the model.

    Raises:
        UsageError: the topic is blank, there is nothing to write from, or JSON is wanted from a model that follows no
            schema.
    """
    if not topic.strip():
        raise UsageError("the topic is blank; say in a few words what the article is about")
    usable = [] if settings.cite == "none" else [each for each in briefs if each.sentences or each.facts or each.text]
    if not usable and settings.cite != "none":
        raise UsageError(f"there are no briefs with anything to write from on '{topic}'; find and brief sources first")
    given, over = tuple(usable[: settings.max_sources]), usable[settings.max_sources :]
    form = _form(settings, capabilities)
    language = settings.language or language_of(topic, given)
    sources = [_source(brief, number, cite=settings.cite) for number, brief in enumerate(given, start=1)]
    citations = {name: found for material, ids in sources for name, found in ids.items()}
    titles = {str(number): brief.document.title for number, brief in enumerate(given, 1)}
    values: dict[str, prompts.Value] = {"topic": topic, "day": _day(given, settings.as_of)}
    values["most"] = length_limit(settings.max_words, language)
    rules = f"{settings.outline}\n{settings.house_rules}".strip()
    values |= {"rules": prompts.Lines(rules)} if rules else {}
    values |= {"sources": [material for material, _ in sources]} if given else {}
    name = "write-json" if form == "json" else _PROMPTS[settings.cite]
    prompt = prompts.load(name, prompts.nearest_language(language), folder=settings.prompts)
    rendered = prompts.render(prompt, values, system=capabilities.system)
    schema = json.dumps(_schema([each for each in citations if "." in each], settings)) if form == "json" else ""
    limit = length_limit(settings.max_words, language)
    tokens = reply_tokens(limit * _JSON_SIZE if form == "json" else limit, capabilities)
    request = Request(
        rendered.messages, tokens, schema=schema, prompt=rendered.fingerprint, purpose="writing the article"
    )
    notes = (*rendered.notes, *(f"left out, over {settings.max_sources} sources: {one.document.name}" for one in over))
    return Draft(
        topic, language, settings, given, request, f"{name}.{prompt.language}", form, citations,
        titles if settings.cite == "sources" else {}, notes,
    )  # fmt: skip


def _form(settings: DraftSettings, capabilities: Capabilities) -> Literal["json", "markdown"]:
    if settings.form == "json" and not capabilities.schema:
        raise UsageError("the form 'json' needs a model that follows a schema, and this one does not. Use 'markdown'")
    if settings.form == "auto":
        return "json" if settings.cite == "sentences" and capabilities.schema else "markdown"
    return settings.form


def _source(brief: Brief, number: int, *, cite: Cite) -> tuple[Material, dict[str, tuple[Citation, ...]]]:
    """One source as the model sees it, and what its ids stand for; the source itself can be cited as a whole."""
    document, head = brief.document, heading_of(brief.document)
    whole = (Citation(0, document.id),)
    if cite == "sources":
        text = brief.text or "\n".join(" ".join(sentence.text.split()) for sentence in brief.sentences)
        return Material("\n".join((*head, text)), str(number)), {str(number): whole, f"S{number}": whole}
    lines = list(_lines(brief, number))
    citations = {f"S{number}": whole, **{name: found for name, _, found in lines}}
    shown = prompts.id_lines((name, text) for name, text, _ in lines)
    return Material("\n".join((*head, shown)), f"S{number}"), citations


def _lines(brief: Brief, number: int) -> Iterator[tuple[str, str, tuple[Citation, ...]]]:
    """The lines of a source with their ids: its facts where it has some, else its sentences."""
    for place, fact in enumerate(brief.facts, start=1):
        yield f"S{number}.{place}", fact.text, fact.citations
    if brief.facts:
        return
    for place, sentence in enumerate(brief.sentences, start=1):
        if not is_order(sentence.text):
            yield f"S{number}.{place}", sentence.text, (citation_of(brief.document, sentence),)


def _day(briefs: Sequence[Brief], as_of: date | None) -> str:
    """The day of the article: as told, or that of the latest source."""
    known = [brief.document.published for brief in briefs if brief.document.published]
    found = as_of or max(known, default=None)
    return found.isoformat() if found else _UNKNOWN_DAY


def _schema(ids: Sequence[str], settings: DraftSettings) -> dict[str, Json]:
    """The schema of an article; so many sentences at most as its words allow."""
    sentence = sentence_schema(ids)
    whole = max(3, round(settings.max_words / _WORDS_A_SENTENCE))
    lede = min(_LEDE_SENTENCES, max(1, whole // 3))
    each = max(1, round((whole - lede) / _SECTIONS))

    def listed(items: Json, most: int) -> dict[str, Json]:
        return {"type": "array", "items": items, "minItems": 1, "maxItems": most}

    section: dict[str, Json] = {
        "type": "object", "properties": {"heading": {"type": "string"}, "sentences": listed(sentence, each)},
        "required": ["heading", "sentences"], "additionalProperties": False,
    }  # fmt: skip
    parts: dict[str, Json] = {
        "headline": sentence, "lede": listed(sentence, lede), "sections": listed(section, _SECTIONS),
    }  # fmt: skip
    return {"type": "object", "properties": parts, "required": list(parts), "additionalProperties": False}
