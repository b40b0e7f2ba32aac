"""Repair the claims of an article that nothing carries: re-cite, quote exactly, soften, or cut. Never in silence.

For each claim the first change is taken after which ``verify`` calls it supported; where none is, the claim goes. What
each kind of repair may do is told in ``docs/guides/writing.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.findings import Repair
from groundwire.core.text import normalise
from groundwire.core.types import Article, Citation, Claim, Document, Section, Span, Verdict
from groundwire.writing.guards import coverage, telling_words
from groundwire.writing.orders import is_order
from groundwire.writing.reasons import worded_verdict
from groundwire.writing.rewording import Reworded, as_the_source, exactly_quoted, parted, shortened, with_source_values
from groundwire.writing.verify import Opened, split_document, verify
from groundwire.writing.write import renumbered

Kind = Literal["recited", "quoted", "softened", "cut"]
FINE = ("supported", "background")
"""Verdicts that leave a claim as it is."""
MOST_PLACES = 6
"""How many sentences are tried as a new citation of a claim, those that hold most of its words first."""
LEAST_SHARED = 0.3
"""A sentence that holds less of a claim's telling words is not tried."""

_LANGUAGES = {"en": 0, "zh-TW": 1, "zh-CN": 2}
_DONE: Mapping[str, tuple[str, str, str]] = {
    "recited": ("cites words that carry it", "改引有此內容的原文", "改引有此内容的原文"),
    "quoted": ("{!r} became {!r}, as the source has it", "「{}」依來源改為「{}」", "“{}”依来源改为“{}”"),
    "left_out": ("left out {!r}", "刪去「{}」", "删去“{}”"),
    "cut": ("no given source carries it", "所給來源均無此內容", "所给来源均无此内容"),
    "repeats": (
        "what its source says instead stands in another claim",
        "來源的說法已見於他句",
        "来源的说法已见于他句",
    ),
    "title": ("took the title of a source", "改用來源的標題", "改用来源的标题"),
    "topic": ("took the topic, for no source has a title", "來源均無標題，改用主題", "来源均无标题，改用主题"),
}
_KINDS: Mapping[Kind, tuple[str, str, str]] = {
    "recited": ("re-cited", "改引來源", "改引来源"),
    "quoted": ("as the source has it", "依原文更正", "依原文更正"),
    "softened": ("softened", "刪減", "删减"),
    "cut": ("cut", "整句刪除", "整句删除"),
}


@dataclass(frozen=True, slots=True)
class Repaired:
    """An article after repair, and what was changed in reading order."""

    article: Article
    repairs: tuple[Repair, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """What becomes of one claim; ``claim`` is None where it goes."""

    kind: Kind
    claim: Claim | None
    reason: str


def repair_article(
    article: Article, verdicts: Sequence[Verdict], documents: Mapping[str, Document], /, *, written: date | None = None
) -> Repaired:
    """Repair every claim whose verdict is neither supported nor background.

    Tried in this order: other citations; the source's exact words in place of a near quotation, or its one value in
    place of a wrong number, date or speaker; leaving out clauses; the source's whole sentence in place of a near copy;
    leaving out the claim, also where it would then say what another claim says. A headline that cannot be
    kept becomes the title of a source. The first change that ``verify`` calls supported is taken.

    Args:
        article: as written.
        verdicts: of its claims, in reading order.
        documents: the sources that may be cited, by id.
        written: publication of the article, as for ``verify``.

    Returns:
        The article itself where nothing was repaired. Otherwise its claims and sources are numbered again; the
        ``after`` of a repair is the claim as it stands in the new article.

    Raises:
        UsageError: there are not as many verdicts as claims.
    """
    if len(verdicts) != len(article.claims):
        raise UsageError(f"the article has {len(article.claims)} claims, but {len(verdicts)} verdicts were given")
    shop = Workshop(article, documents, written)
    fixes = [None if verdict.support in FINE else shop.fix(verdict) for verdict in verdicts]
    if fixes and fixes[0] is not None and fixes[0].claim is None:
        fixes[0] = shop.headline(verdicts[0])
    return with_fixes(article, fixes, documents)


def with_fixes(article: Article, fixes: Sequence[Fix | None], documents: Mapping[str, Document], /) -> Repaired:
    """An article with a change to some of its claims, numbered again; itself where there is none."""
    if not any(fixes):
        return Repaired(article, ())
    claims = iter([claim if fix is None else fix.claim for claim, fix in zip(article.claims, fixes, strict=True)])
    headline = next(claims) or article.headline
    lede = _kept(article.lede, claims)
    sections = [Section(section.heading, _kept(section.claims, claims)) for section in article.sections]
    changed = replace(article, headline=headline, lede=lede, sections=tuple(part for part in sections if part.claims))
    after = renumbered(changed, documents)
    left = iter(after.claims)
    repairs = []
    for before, fix in zip(article.claims, fixes, strict=True):
        now = None if fix is not None and fix.claim is None else next(left)
        if fix is not None:
            repairs.append(Repair(fix.kind, before, now, fix.reason))
    return Repaired(after, tuple(repairs))


def _kept(claims: Sequence[Claim], fixed: Iterator[Claim | None]) -> tuple[Claim, ...]:
    return tuple(claim for claim in [next(fixed) for _ in claims] if claim is not None)


class Workshop:
    """Tries changes to the claims of one article; its sources are split into sentences once."""

    def __init__(self, article: Article, documents: Mapping[str, Document], written: date | None) -> None:
        self._article, self._documents, self._written = article, documents, written
        self._said = {normalise(claim.text) for claim in article.claims[1:]}
        self._split: dict[str, tuple[Span, ...]] = {}
        self._opened = {key: Opened(document, self._sentences) for key, document in documents.items()}

    def _sentences(self, document: Document) -> tuple[Span, ...]:
        # A title is split as a document of its own under the same id.
        key = f"{document.id}\n{document.text}"
        if key not in self._split:
            self._split[key] = split_document(document)
        return self._split[key]

    def carries(self, claim: Claim) -> bool:
        """Whether ``verify`` calls a claim supported."""
        cited = {
            c.document_id: self._documents[c.document_id] for c in claim.citations if c.document_id in self._opened
        }
        alone = Article(self._article.topic, claim, (), (), ())
        (verdict,) = verify(alone, cited, written=self._written, sentences=self._sentences)
        return verdict.support == "supported"

    def fix(self, verdict: Verdict) -> Fix:
        """The first change after which a claim is supported; the last resort is to cut it."""
        claim = verdict.claim
        for citations in self._places(claim):
            if self.carries(changed := replace(claim, citations=citations)):
                return Fix("recited", changed, self.why("recited", verdict))
        repeats = False
        for reworded in self._rewordings(verdict):
            now, said = replace(claim, text=reworded.text), normalise(reworded.text)
            fixed = self._fixed(now, reworded, verdict) if said not in self._said else None
            repeats |= said in self._said
            if fixed is not None:
                self._said.add(said)
                return fixed
        done = "repeats" if repeats else "cut"
        return Fix("cut", None, self.why(done, verdict))

    def _fixed(self, now: Claim, reworded: Reworded, verdict: Verdict) -> Fix | None:
        """A claim in other words with the first citations that carry them; None where none do."""
        for citations in (now.citations, *self._places(now)):
            if self.carries(changed := replace(now, citations=citations)):
                done: Kind = "softened" if reworded.kind == "left_out" else "quoted"
                return Fix(done, changed, self.why(reworded.kind, verdict, *reworded.values))
        return None

    def _rewordings(self, verdict: Verdict) -> Iterator[Reworded]:
        cited = [self._documents[c.document_id] for c in verdict.claim.citations if c.document_id in self._opened]
        others = [document for key, document in sorted(self._documents.items()) if document not in cited]
        texts = [document.text for document in dict.fromkeys([*cited, *others])]
        yield from parted(verdict, texts)
        yield from exactly_quoted(verdict, texts)
        yield from with_source_values(verdict)
        if verdict.claim != self._article.headline:
            yield from shortened(verdict.claim.text)
        yield from as_the_source(verdict)

    def _places(self, claim: Claim) -> Iterator[tuple[Citation, ...]]:
        """Citations to try: single sentences by the share of the claim they hold, then those of a document together.

        Each is tried alone, then beside what the claim cites already.
        """
        said = telling_words(claim.text)
        own = {citation.document_id for citation in claim.citations}
        found: list[tuple[bool, float, tuple[Citation, ...]]] = []
        for key in sorted(self._opened):
            best = self._opened[key].best(claim.text)
            places = [Citation(0, key, e.span.start, e.span.end, e.text) for e in best]
            shares = [coverage(said, telling_words(place.text)) for place in places]
            alone = [(share, (place,)) for share, place in zip(shares, places, strict=True) if share >= LEAST_SHARED]
            together = coverage(said, frozenset().union(*(telling_words(place.text) for place in places)))
            found += [(key not in own, -share, tried) for share, tried in alone]
            found += [(key not in own, -together, tuple(places))] if len(places) > 1 and alone else []
        ranked = [tried for _, _, tried in sorted(found, key=lambda one: (one[1], one[0], one[2][0].document_id))]
        yield from ranked[:MOST_PLACES]
        for tried in ranked[: MOST_PLACES // 2] if claim.citations else ():
            yield tuple(dict.fromkeys((*claim.citations, *tried)))

    def headline(self, verdict: Verdict) -> Fix:
        """A headline in place of one that cannot be kept: the title of the first source that has one, or the topic."""
        listed = [source.document_id for source in self._article.sources]
        for key in dict.fromkeys((*listed, *sorted(self._documents))):
            title = self._documents[key].title if key in self._documents else ""
            if title.strip() and not is_order(title):
                citation = Citation(0, key, 0, len(title), title, part="title")
                claim = Claim(verdict.claim.id, " ".join(title.split()), (citation,))
                if self.carries(claim):
                    return Fix("quoted", claim, self.why("title", verdict))
        return Fix("softened", Claim(verdict.claim.id, self._article.topic), self.why("topic", verdict))

    def why(self, done: str, verdict: Verdict, *values: str) -> str:
        """What was done and what was wrong, in the language of the article."""
        language = self._article.language
        return f"{_worded(done, language, *values)}; {worded_verdict(verdict, language)}"


def _worded(key: str, language: str, *values: str) -> str:
    return _DONE[key][_LANGUAGES.get(language, 0)].format(*values)


def diff_lines(repairs: Sequence[Repair], *, language: str = "en") -> tuple[str, ...]:
    """Repairs as lines for people: ``- old``, ``+ new`` where something stays, and why, indented.

    Args:
        repairs: in the order in which they are shown.
        language: of the word for what was done: ``en``, ``zh-TW`` or ``zh-CN``; the reasons are the article's.
    """
    lines = []
    for repair in repairs:
        lines.append(f"- {_line(repair.before)}")
        lines += [f"+ {_line(repair.after)}"] if repair.after is not None else []
        lines.append(f"  {_KINDS[repair.kind][_LANGUAGES.get(language, 0)]}: {repair.reason}")
    return tuple(lines)


def _line(claim: Claim) -> str:
    numbers = dict.fromkeys(citation.number for citation in claim.citations)
    return " ".join([" ".join(claim.text.split()), *(f"[{number}]" for number in numbers)])
