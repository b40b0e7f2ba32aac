"""The nouns of groundwire: frozen, slotted dataclasses that hold what was read, found, written and judged.

Offsets are Unicode code points into the text of a document, end exclusive. Ratings and rubric values run 0 to 100.
Languages are ``en``, ``zh-TW``, ``zh-CN``, another BCP 47 tag, or ``""`` where unknown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import date
from pathlib import PurePath
from typing import Literal

Band = Literal["high", "middle", "low", "trace"]
Support = Literal["supported", "partly", "contradicted", "not_found", "background"]
Outcome = Literal["read", "recovered", "abstained", "out_of_range", "truncated", "unreadable"]
Mode = Literal["dense", "lexical", "hybrid"]
Fusion = Literal["zscore", "rrf"]
Context = Literal["passage", "exact", "pooled_rest", "pooled"]
Shape = Literal["sentences", "passages", "windows", "sifted", "diverse"]
Preset = Literal["passages", "sentences", "pareto", "window", "dslr", "mmr", "best"]
Unit = Literal["sentence", "passage"]
Part = Literal["text", "title"]

ROW_OF_FILE = re.compile(r"(:\d+|\[\d+\])$")
"""The end of an origin that is a row of a larger file: a line (``:12``), or a place in a list (``[0]``)."""
RaterName = Literal["builtin", "readings", "expected", "yesno", "likelihood"]


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters: ``text[start:end]``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Document:
    """One article as it was read; ``text`` is never changed afterwards.

    ``origin`` says where it came from (``/path/stories.jsonl:12``, or a bare path where the file is one document); in
    an archive it may hold several lines, one for each file that holds the document. ``notes`` hold what a reader had to
    decide (an encoding, a date that could not be read).
    """

    id: str
    text: str
    title: str = ""
    published: date | None = None
    source: str = ""
    url: str = ""
    language: str = ""
    origin: str = ""
    notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What people call it: the title, else the name of the (first) file without folder and row, else the id."""
        file = ROW_OF_FILE.sub("", self.origin.split("\n")[0])
        return " ".join(self.title.split()) or PurePath(file).name or self.id


@dataclass(frozen=True, slots=True)
class Sentence:
    """The smallest unit that is searched and cited; ``text == document.text[start:end]``."""

    id: str
    document_id: str
    passage: int
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of neighbouring sentences of one document; ``number`` counts from 0."""

    document_id: str
    number: int
    sentences: tuple[Sentence, ...]


@dataclass(frozen=True, slots=True)
class Filter:
    """What a search may return; an empty field allows everything. Dates are inclusive.

    A document without a date is left out as soon as either date is given.
    """

    published_from: date | None = None
    published_to: date | None = None
    sources: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """A sentence as a store found it; ``value`` is a dot product or a BM25 value, larger is better."""

    sentence: Sentence
    value: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A retrieved sentence, ``rank`` from 1.

    ``similarity`` is the weighted cosine of sentence and passage with the query (-1 to 1) and ``bm25`` the lexical
    value (0 and up); None where that side was not asked. ``strength`` is the value that ordered the hits.
    """

    sentence: Sentence
    rank: int
    strength: float
    similarity: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True)
class Dropped:
    """A hit that did not become evidence, and why."""

    hit: Hit
    reason: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """Hits that fit a budget of ``budget`` tokens, in source order inside each document.

    ``headers`` are the lines that head documents, by document id, where they were asked for; ``tokens`` counts them.
    ``tokenizer`` names what counted.
    """

    hits: tuple[Hit, ...]
    tokens: int
    budget: int
    dropped: tuple[Dropped, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    tokenizer: str = "estimate"


@dataclass(frozen=True, slots=True)
class Source:
    """A document with the hits that speak for it, best first.

    ``sentences`` are all of the document's, in source order; ``embedder`` is whose similarities the hits carry.
    """

    document: Document
    hits: tuple[Hit, ...]
    sentences: tuple[Sentence, ...] = ()
    embedder: str = ""


@dataclass(frozen=True, slots=True)
class ScoredSource:
    """A source with its rating: the mean of its readable readings, 0 to 100, or None when unscored.

    ``band`` is None when the source is unscored or below 20; ``reason`` says what the rating rests on.
    """

    source: Source
    relevance: float | None
    readings: tuple[float, ...]
    band: Band | None
    reason: str


@dataclass(frozen=True, slots=True)
class Brief:
    """What one source contributes: verbatim sentences in source order; ``notes`` say what was left out and why.

    ``text`` is the summary that a model made of the source, empty where there is none. ``facts`` are its sentences
    where they cite: each with the source's sentences that it rests on. ``relevance`` and ``band`` are None where nobody
    rated.
    """

    document: Document
    relevance: float | None
    band: Band | None
    sentences: tuple[Sentence, ...]
    notes: tuple[str, ...] = ()
    text: str = ""
    facts: tuple[Claim, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """Points from a claim at the characters that carry it.

    ``number`` is the marker a reader sees. Without offsets the whole document is cited. ``text`` holds the characters
    as they stood when the article was written, so that a changed source is noticed. ``part`` says whether the offsets
    count in the text or in the title.
    """

    number: int
    document_id: str
    start: int | None = None
    end: int | None = None
    text: str = ""
    sentence_id: str = ""
    part: Part = "text"


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of an article, without its markers. ``id`` is unique within the article (``c1``, ``c2``, …)."""

    id: str
    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Section:
    """Claims under one heading; the heading is ours and claims nothing."""

    heading: str
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class NumberedSource:
    """An entry of the article's list of sources."""

    number: int
    document_id: str
    title: str = ""
    source: str = ""
    published: date | None = None
    url: str = ""
    language: str = ""
    relevance: float | None = None
    band: Band | None = None


@dataclass(frozen=True, slots=True)
class Article:
    """A written article. Every claim, the headline included, cites; ``notes`` are for the editor, not for print.

    ``as_of`` is the day it speaks of as today, None where nobody said.
    """

    topic: str
    headline: Claim
    lede: tuple[Claim, ...]
    sections: tuple[Section, ...]
    sources: tuple[NumberedSource, ...]
    language: str = ""
    writer: str = "builtin"
    notes: tuple[str, ...] = ()
    as_of: date | None = None

    @property
    def claims(self) -> tuple[Claim, ...]:
        """Every claim in reading order, the headline first."""
        body = (claim for section in self.sections for claim in section.claims)
        return (self.headline, *self.lede, *body)


@dataclass(frozen=True, slots=True)
class Check:
    """One gate's finding on one claim: ``kind`` names the gate, ``item`` the words of the claim it looked at."""

    kind: Literal[
        "citation", "quotation", "number", "date", "wording", "name", "speaker", "direction", "negation", "subject"
    ]
    item: str
    passed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome for one claim, with the characters that carry it and the gates' findings.

    ``judged_by`` is who decided: the ``gates``, or the id of the model that was asked where they could not settle it.
    """

    claim: Claim
    support: Support
    reason: str
    evidence: tuple[Citation, ...] = ()
    checks: tuple[Check, ...] = ()
    judged_by: str = "gates"


@dataclass(frozen=True, slots=True)
class Gold:
    """Characters of a document that a search should find: ``text[start:end]``; without offsets the whole document."""

    document_id: str
    start: int | None = None
    end: int | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """A labelled question: every ``gold`` place is wanted, and any one of ``answers`` answers it.

    ``sentence_ids`` name wanted sentences of one archive directly. Questions of one ``cluster`` (by custom an article)
    belong together when an interval is drawn; empty: the document of the first gold, or else the question itself.
    """

    id: str
    text: str
    gold: tuple[Gold, ...] = ()
    answers: tuple[str, ...] = ()
    cluster: str = ""
    sentence_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Item:
    """One question of an experiment with one system's answer; ``reference`` is None where there is no right answer."""

    id: str
    question: str
    contexts: tuple[str, ...]
    answer: str
    reference: str | None = None
    system: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A judge's value for one rubric and one item, 0 to 100, or None when ``outcome`` is not read or recovered.

    ``parts`` are the features the value was made of, by name; ``judge`` is the fingerprint of who judged.
    """

    item_id: str
    system: str
    rubric: str
    value: float | None
    outcome: Outcome
    judge: str
    reason: str = ""
    parts: tuple[tuple[str, float], ...] = field(default=())


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its interval at ``level`` (0.95), from ``n`` values, with the seed that drew it."""

    mean: float
    low: float
    high: float
    n: int
    unscored: int
    level: float
    seed: int
