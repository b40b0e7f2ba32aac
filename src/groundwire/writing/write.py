"""Briefs -> an article. The built-in writer is extractive: every sentence is a quotation of its source."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date

from groundwire.core.errors import NothingFound, UsageError
from groundwire.core.text import content_words, count_tokens, detect_language, normalise
from groundwire.core.types import Article, Brief, Citation, Claim, Document, NumberedSource, Section, Sentence
from groundwire.writing.orders import is_order
from groundwire.writing.reasons import note
from groundwire.writing.summarise import same_terms, terms_of

THIN_TOKENS = 40
"""With less evidence than this in all, repeats not counted, there is no article: a caption is not a story."""

REPEATED_WORDS = 0.75
"""A sentence that shares so much of its words with an earlier one adds no evidence, though a name or number differ."""

_NO_TOPIC = re.compile(
    r"\d+[年月日]?|\b(?:news|stor(?:y|ies)|articles?|reports?|headlines?|updates?|latest|today|yesterday|week|month|year"
    r"|everything|something|anything)\b(?:'s)?"
    r"|的?(?:最新|[今昨][天日年]|新[聞闻]|[報报][導道导]|消息|文章|主[題题]|[話话][題题]|事件|[東东]西|什[麼么]|一切)"
)
_OTHER_LANGUAGES: Mapping[str, str] = {"en": "In other languages", "zh": "其他語文的報導", "zh-cn": "其他语文的报道"}
_SIMPLIFIED = ("zh-cn", "zh-sg", "zh-hans")
_MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class WriteSettings:
    """How to write.

    Attributes:
        language: of the article; ``""``: that of the topic, or of the best source where the topic does not tell.
        max_tokens: the most tokens that lede and body may have together; the best sources are served first. The
            first sentence is taken even if it is longer by itself; the headline does not count.
        max_sources: how many sources may be cited.

    Raises:
        UsageError: a value is out of its range.
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
    """Claims with the document each was taken from, while an article grows.

    ``places`` finds a claim by its normalised words, ``terms`` are the words of each; ``repeats`` and ``crowded`` count
    by document the sentences that were left out.
    """

    left: int
    claims: list[tuple[str, Claim]] = field(default_factory=list)
    places: dict[str, int] = field(default_factory=dict)
    terms: list[tuple[str, ...]] = field(default_factory=list)
    repeats: Counter[str] = field(default_factory=Counter)
    crowded: Counter[str] = field(default_factory=Counter)

    def take(self, brief: Brief, sentence: Sentence) -> None:
        """Add a sentence; or a citation, where a claim has the same words; or pass it over and count it.

        A claim cites only sources in which its very words stand. A sentence that says the same in slightly other
        words is passed over: to cite it would present it as a source of words that it does not have.
        """
        name, content, size = brief.document.id, normalise(sentence.text), count_tokens(sentence.text)
        terms = terms_of(sentence.text)
        if content in self.places:
            self._cite(self.places[content], _citation(brief, sentence))
        elif any(same_terms(terms, known) for known in self.terms):
            self.repeats[name] += 1
        elif self.claims and size > self.left:
            self.crowded[name] += 1
        else:
            self.left -= size
            self.places[content] = len(self.claims)
            self.terms.append(terms)
            self.claims.append((name, Claim("", _on_one_line(sentence.text), (_citation(brief, sentence),))))

    def _cite(self, place: int, citation: Citation) -> None:
        owner, claim = self.claims[place]
        if all(known.document_id != citation.document_id for known in claim.citations):
            self.claims[place] = (owner, replace(claim, citations=(*claim.citations, citation)))


def write(
    topic: str, briefs: Sequence[Brief], *, settings: WriteSettings | None = None, searched: Sequence[str] = ()
) -> Article:
    """Write an article whose every sentence is a quotation of a source, tied to document and offsets.

    Headline: the title of the best source, or its first sentence where the title cannot be used, which the body then
    does not repeat. Lede: the first sentence of the best source and of the next one in the same language. Body: one
    section a source, oldest first, sources in another language, or in the other Chinese script, at the end. What
    several sources say in the same words is said once and cites them all; what repeats it in nearly the same words is
    left out, and ``notes`` count it.

    Args:
        topic: what the article is about.
        briefs: best first; those in the article's language are served before the others.
        settings: how to write.
        searched: what was looked at, line by line; it goes into the error.

    Raises:
        UsageError: the topic has no word of its own: only function words, numbers or words like "news".
        NothingFound: the briefs together hold less than ``THIN_TOKENS`` tokens, near repeats counted once.
    """
    settings = settings or WriteSettings()
    if not content_words(_NO_TOPIC.sub(" ", normalise(topic))):
        raise UsageError(
            f"the topic is '{topic}', which names no person, place, thing or event, so every story fits it equally. "
            "Add a word for what the article is about, as in 'flood relief in Tainan'."
        )
    usable = [brief for brief in briefs if brief.sentences]
    language = settings.language or language_of(topic, usable)
    ordered = sorted(usable, key=lambda brief: (not _speaks(brief, language), -(brief.relevance or 0.0)))
    ordered = ordered[: settings.max_sources]
    found = _evidence(sentence.text for brief in ordered for sentence in brief.sentences)
    if found < THIN_TOKENS:
        raise NothingFound(_refusal(topic, ordered, found), searched=tuple(searched))
    draft, leading = _drafted(ordered, settings.max_tokens, language=language)
    headline, body = _title(ordered[0]), draft.claims
    if headline is None:
        headline = body[0][1]
        body, leading = (body[1:], max(leading - 1, 1)) if len(body) > 1 else (body, leading)
    lede = tuple(claim for _, claim in body[:leading])
    sections = _sections(body[leading:], ordered, language=language)
    notes = _notes(draft, ordered, max_tokens=settings.max_tokens)
    return numbered(Article(topic, headline, lede, sections, (), language, notes=notes), ordered)


def _evidence(texts: Iterable[str]) -> int:
    """Tokens of the texts; one that shares nearly all its words with an earlier one, in any order, adds none."""
    known: list[frozenset[str]] = []
    found = 0
    for text in texts:
        terms = frozenset(terms_of(text))
        if not any(len(terms & one) >= REPEATED_WORDS * max(len(terms), len(one)) for one in known):
            found += count_tokens(text)
        known.append(terms)
    return found


def _refusal(topic: str, briefs: Sequence[Brief], found: int) -> str:
    if not briefs:
        return f"the archive holds nothing about '{topic}'; no article was written"
    return (
        f"the archive holds too little about '{topic}' for an article: {found} tokens in {len(briefs)} document(s), "
        f"{THIN_TOKENS} are needed; no article was written"
    )


def language_of(topic: str, briefs: Sequence[Brief]) -> str:
    """The topic's language; where it is too short to tell, that of the best source that fits."""
    language = detect_language(topic)
    if language not in ("", "zh"):
        return language
    spoken = [_spoken(brief) for brief in sorted(briefs, key=lambda brief: -(brief.relevance or 0.0))]
    return next((found for found in spoken if found.startswith(language)), language)


def _spoken(brief: Brief) -> str:
    named = brief.document.language
    return named if named.lower() not in ("", "zh") else detect_language(brief.document.text)


def _speaks(brief: Brief, language: str) -> bool:
    """Whether a source is in the article's language, and for Chinese in its script; True where either is unknown."""
    spoken = _spoken(brief)
    if not spoken or not language:
        return True
    return _base(spoken) == _base(language) and (spoken == "zh" or _is_simplified(spoken) == _is_simplified(language))


def _base(language: str) -> str:
    return language.lower().partition("-")[0]


def _is_simplified(language: str) -> bool:
    return language.lower().startswith(_SIMPLIFIED)


def _drafted(briefs: Sequence[Brief], max_tokens: int, *, language: str) -> tuple[_Draft, int]:
    """The draft, and how many of its claims are the lede."""
    draft = _Draft(max_tokens)
    leaders = [brief for brief in briefs[:2] if _speaks(brief, language)] or briefs[:1]
    for brief in leaders:
        draft.take(brief, brief.sentences[0])
    leading = len(draft.claims)
    draft.repeats.clear()  # the same sentences come again below
    draft.crowded.clear()
    for brief in briefs:
        for sentence in brief.sentences:
            draft.take(brief, sentence)
    return draft, leading


def _notes(draft: _Draft, briefs: Sequence[Brief], *, max_tokens: int) -> tuple[str, ...]:
    notes = []
    for brief in briefs:
        name, title = brief.document.id, brief.document.name
        if draft.repeats[name]:
            notes.append(f"{title}: {note('left_alike', draft.repeats[name])}")
        if draft.crowded[name]:
            notes.append(f"{title}: {note('left_over', draft.crowded[name], max_tokens)}")
    return tuple(notes)


def _title(brief: Brief) -> Claim | None:
    """The title of a source as a claim; None where there is none, or where it gives orders."""
    title = brief.document.title
    if not title.strip() or is_order(title):
        return None
    return Claim("", _on_one_line(title), (Citation(0, brief.document.id, 0, len(title), title, part="title"),))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _citation(brief: Brief, sentence: Sentence) -> Citation:
    return Citation(0, brief.document.id, sentence.start, sentence.end, sentence.text, sentence.id)


def _sections(claims: Sequence[tuple[str, Claim]], briefs: Sequence[Brief], *, language: str) -> tuple[Section, ...]:
    def place(brief: Brief) -> tuple[bool, date]:
        return (not _speaks(brief, language), brief.document.published or date.max)

    sections = []
    for brief in sorted(briefs, key=place):
        own = tuple(claim for owner, claim in claims if owner == brief.document.id)
        if own:
            sections.append(Section(_heading(brief, language), own))
    return tuple(sections)


def _heading(brief: Brief, language: str) -> str:
    """Outlet and date; without an outlet the title, then the name of the file, and the id where none can be used."""
    document, chinese = brief.document, _base(language) == "zh"
    known = (document.source, document.title, replace(document, title="").name)
    names = (_on_one_line(name) for name in known if name.strip() and not is_order(name))
    parts = [next(names, document.id), _written_date(document.published, language)]
    heading = ("　" if chinese else ", ").join(filter(None, parts))
    if _speaks(brief, language):
        return heading
    wanted = "zh-cn" if _is_simplified(language) else _base(language)
    return f"{_OTHER_LANGUAGES.get(wanted, _OTHER_LANGUAGES['en'])}{'：' if chinese else ': '}{heading}"


def _written_date(day: date | None, language: str) -> str:
    if day is None:
        return ""
    if _base(language) == "zh":
        return f"{day.year}年{day.month}月{day.day}日"
    return f"{day.day} {_MONTHS[day.month - 1]} {day.year}"


def numbered(article: Article, briefs: Sequence[Brief]) -> Article:
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


def renumbered(article: Article, documents: Mapping[str, Document]) -> Article:
    """Number an article again whose claims were moved or changed; its sources keep what is known of them.

    Args:
        article: its list of sources may lack what its claims cite, and hold what they do not.
        documents: by id; needed for what is cited and not listed. What is in neither is listed by its id alone.
    """
    listed = {source.document_id: source for source in article.sources}
    cited = dict.fromkeys(citation.document_id for claim in article.claims for citation in claim.citations)
    return numbered(article, [_brief(key, listed.get(key), documents.get(key)) for key in cited])


def _brief(key: str, listed: NumberedSource | None, document: Document | None) -> Brief:
    """What the list of sources needs to know of a document."""
    if listed is None:
        return Brief(document or Document(key, ""), None, None, ())
    known = Document(key, "", listed.title, listed.published, listed.source, listed.url, listed.language)
    return Brief(known, listed.relevance, listed.band, ())


def _source(brief: Brief, numbers: Mapping[str, int]) -> NumberedSource:
    document = brief.document
    return NumberedSource(
        number=numbers[document.id],
        document_id=document.id,
        title=document.title or ("" if document.name == document.id else document.name),
        source=document.source,
        published=document.published,
        url=document.url,
        language=document.language,
        relevance=brief.relevance,
        band=brief.band,
    )
