"""Briefs -> an article. The built-in writer is extractive: every sentence is a quotation of its source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.text import count_tokens, detect_language
from groundwire.core.types import Article, Brief, Citation, Claim, NumberedSource, Section, Sentence
from groundwire.writing.summarise import same_statement

THIN_TOKENS = 40
"""With less evidence than this in all there is no article: a caption is not a story."""

_OTHER_LANGUAGES: Mapping[str, str] = {"en": "In other languages", "zh": "其他語言的報導", "zh-CN": "其他语言的报道"}
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How to write.

    Attributes:
        language: of the article; ``""``: that of the topic.
        max_tokens: about how long the body may become; the best sources are served first.
        max_sources: how many sources may be cited.
    """

    language: str = ""
    max_tokens: int = 900
    max_sources: int = 8

    def __post_init__(self) -> None:
        if self.max_tokens < THIN_TOKENS:
            raise UsageError(f"max_tokens is {self.max_tokens}; an article needs {THIN_TOKENS} or more")
        if self.max_sources < 1:
            raise UsageError(f"max_sources is {self.max_sources}; it must be 1 or more")


@dataclass(slots=True)
class _Draft:
    """Claims by document, while an article grows; a claim that several sources make is one claim."""

    left: int
    claims: list[tuple[str, Claim]]

    def take(self, brief: Brief, sentence: Sentence) -> None:
        """Add a sentence, or a citation to the claim that says the same; pass over what does not fit."""
        for place, (owner, claim) in enumerate(self.claims):
            if same_statement(claim.text, sentence.text):
                if all(citation.document_id != brief.document.id for citation in claim.citations):
                    cited = (*claim.citations, _citation(brief, sentence))
                    self.claims[place] = (owner, replace(claim, citations=cited))
                return
        size = count_tokens(sentence.text)
        if size <= self.left:
            self.left -= size
            claim = Claim("", " ".join(sentence.text.split()), (_citation(brief, sentence),))
            self.claims.append((brief.document.id, claim))


def write(
    topic: str, briefs: Sequence[Brief], *, settings: WriteSettings | None = None, searched: Sequence[str] = ()
) -> Article:
    """Write an article whose every sentence is a quotation of a source, tied to document and offsets.

    Headline: the title of the best source. Lede: the first sentence of the best source in the article's language and
    one from the next. Body: one section a source, oldest first, sources in another language at the end. What several
    sources say is said once and cites them all.

    Raises:
        NothingFound: the briefs together hold less than ``THIN_TOKENS`` tokens; ``searched`` goes into the error.
    """
    settings = settings or WriteSettings()
    language = settings.language or detect_language(topic)
    ordered = _in_language_first(briefs, language)[: settings.max_sources]
    found = sum(count_tokens(sentence.text) for brief in ordered for sentence in brief.sentences)
    if found < THIN_TOKENS:
        raise NothingFound(_refusal(topic, ordered, found), searched=tuple(searched))
    lede, body = _drafted(ordered, settings.max_tokens)
    headline = _headline(ordered[0])
    sections = _sections(body, ordered, language=language)
    return _numbered(Article(topic, headline, lede, sections, (), language), ordered)


def _refusal(topic: str, briefs: Sequence[Brief], found: int) -> str:
    if not briefs:
        return f"the archive holds nothing about '{topic}'; no article was written"
    return (
        f"the archive holds too little about '{topic}' for an article: {found} tokens in {len(briefs)} document(s), "
        f"{THIN_TOKENS} are needed; no article was written"
    )


def _in_language_first(briefs: Sequence[Brief], language: str) -> list[Brief]:
    return sorted(briefs, key=lambda brief: (not _speaks(brief, language), -brief.relevance, brief.number))


def _speaks(brief: Brief, language: str) -> bool:
    spoken = brief.document.language or detect_language(brief.document.text)
    return spoken[:2] == language[:2] if language else True


def _drafted(briefs: Sequence[Brief], max_tokens: int) -> tuple[tuple[Claim, ...], list[tuple[str, Claim]]]:
    draft = _Draft(max_tokens, [])
    for brief in briefs[:2]:
        draft.take(brief, brief.sentences[0])
    leading = len(draft.claims)
    for brief in briefs:
        for sentence in brief.sentences:
            draft.take(brief, sentence)
    return tuple(claim for _, claim in draft.claims[:leading]), draft.claims[leading:]


def _headline(brief: Brief) -> Claim:
    title = brief.document.title
    if not title.strip():
        sentence = brief.sentences[0]
        return Claim("", " ".join(sentence.text.split()), (_citation(brief, sentence),))
    citation = Citation(0, brief.document.id, 0, len(title), title, part="title")
    return Claim("", " ".join(title.split()), (citation,))


def _citation(brief: Brief, sentence: Sentence) -> Citation:
    return Citation(0, brief.document.id, sentence.start, sentence.end, sentence.text, sentence.id)


def _sections(claims: Sequence[tuple[str, Claim]], briefs: Sequence[Brief], *, language: str) -> tuple[Section, ...]:
    def place(brief: Brief) -> tuple[bool, date, int]:
        return (not _speaks(brief, language), brief.document.published or date.max, brief.number)

    sections = []
    for brief in sorted(briefs, key=place):
        own = tuple(claim for owner, claim in claims if owner == brief.document.id)
        if own:
            sections.append(Section(_heading(brief, language), own))
    return tuple(sections)


def _heading(brief: Brief, language: str) -> str:
    document = brief.document
    parts = [document.source or document.title or document.id, _written_date(document.published, language)]
    heading = ", ".join(part for part in parts if part) if language[:2] != "zh" else "　".join(filter(None, parts))
    if _speaks(brief, language):
        return heading
    other = _OTHER_LANGUAGES.get(language) or _OTHER_LANGUAGES.get(language[:2], _OTHER_LANGUAGES["en"])
    return f"{other}: {heading}" if language[:2] != "zh" else f"{other}：{heading}"


def _written_date(day: date | None, language: str) -> str:
    if day is None:
        return ""
    if language[:2] == "zh":
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def _numbered(article: Article, briefs: Sequence[Brief]) -> Article:
    """Number claims and sources in reading order; sources that nothing cites are not listed."""
    cited = dict.fromkeys(citation.document_id for claim in article.claims for citation in claim.citations)
    of_id = {brief.document.id: brief for brief in briefs}
    numbers = {document_id: number for number, document_id in enumerate(cited, start=1)}
    counter = iter(range(1, len(article.claims) + 1))

    def finished(claim: Claim) -> Claim:
        citations = tuple(
            sorted(
                (replace(citation, number=numbers[citation.document_id]) for citation in claim.citations),
                key=lambda citation: citation.number,
            )
        )
        return Claim(f"c{next(counter)}", claim.text, citations)

    return replace(
        article,
        headline=finished(article.headline),
        lede=tuple(finished(claim) for claim in article.lede),
        sections=tuple(Section(part.heading, tuple(map(finished, part.claims))) for part in article.sections),
        sources=tuple(_source(of_id[document_id], numbers) for document_id in cited),
    )


def _source(brief: Brief, numbers: Mapping[str, int]) -> NumberedSource:
    document = brief.document
    return NumberedSource(
        number=numbers[document.id],
        document_id=document.id,
        title=document.title,
        source=document.source,
        published=document.published,
        url=document.url,
        language=document.language,
        relevance=brief.relevance,
        band=brief.band,
    )
