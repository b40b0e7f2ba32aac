"""An Article with its verdicts as one self-contained page: no request leaves it, and it works without scripts.

The article stands on the left; a claim opens its evidence on the right, on a phone beneath itself. Everything of the
archive is escaped and isolated (``<bdi>``); control characters that could turn or hide text are shown by their
number instead of taking effect. Only http and https addresses become links.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from groundwire.core.types import Article, Check, Citation, Claim, Document, NumberedSource, Verdict
from groundwire.flow.excerpts import Quote, excerpt
from groundwire.flow.findings import NOTHING, Findings, notes_in_words
from groundwire.flow.independence import Independence, claim_remark, source_remarks
from groundwire.flow.links import is_dense, link_to, mend_surrogates
from groundwire.flow.panels import show_findings
from groundwire.flow.render import (
    Provenance,
    Standing,
    count_sources,
    match_verdicts,
    standing,
    summarise_support,
    unsupported,
)
from groundwire.flow.wording import Words, fixed_words, words_language
from groundwire.writing.reasons import read_reason, worded, worded_verdict

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_CONTROL = re.compile(r"([\x00-\x08\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069])")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")


@dataclass(frozen=True, slots=True)
class _ClaimView:
    anchor: str
    text: str
    lang: str
    gap: str
    numbers: tuple[int, ...]
    standing: Standing
    reason: str
    quotes: tuple[Quote, ...]
    also: tuple[Quote, ...]
    checks: tuple[Check, ...]
    judged_by: str
    independence: str


@dataclass(frozen=True, slots=True)
class _SectionView:
    heading: str
    claims: tuple[_ClaimView, ...]


@dataclass(frozen=True, slots=True)
class _SourceView:
    number: int
    title: str
    outlet: str
    published: str
    lang: str
    rating: str
    remarks: tuple[str, ...]
    address: str
    link: str


@dataclass(frozen=True, slots=True)
class _ProvenanceView:
    facts: tuple[tuple[str, str], ...]
    settings: tuple[tuple[str, str], ...]
    hashes: tuple[tuple[str, str], ...]


def render_page(
    article: Article,
    *,
    verdicts: Sequence[Verdict] = (),
    documents: Mapping[str, Document] | None = None,
    provenance: Provenance | None = None,
    independence: Independence | None = None,
    findings: Findings = NOTHING,
) -> str:
    """The article as one HTML file, fixed words in its language; the same input gives the same bytes.

    Args:
        article: what to show.
        verdicts: what checking it gave; a claim without one is shown as not checked.
        documents: the cited documents by id, for the words around each citation; without one, only the cited
            characters are shown, and the page says so.
        provenance: what the article was made with, for the foot of the page.
        independence: which sources are versions of one story; None: not known, and nothing is said about it.
        findings: premise, conflicts, repairs and the like, each shown in a panel of its own.

    Raises:
        UsageError: the verdicts do not belong to the article.
    """
    words = fixed_words(article.language)
    matched = match_verdicts(article, verdicts)
    scene = _Scene(article, documents or {}, independence)
    views = [scene.claim(place, verdict) for place, verdict in enumerate(matched)]
    rest = iter(views[1:])
    css, js = _asset("article.css"), _asset("article.js")
    text = _template().render(
        words=words,
        lang=_language(article.language),
        words_lang=words_language(article.language),
        policy=_policy(css, js),
        css=_trusted(css),
        js=_trusted(js),
        topic=article.topic,
        writer=article.writer,
        created=provenance.created[:10] if provenance else "",
        support=summarise_support(matched, words),
        source_count=count_sources(article, words, independent=independence.independent if independence else None),
        headline=views[0],
        problems=[views[place] for place in unsupported(matched)],
        lede=[next(rest) for _ in article.lede],
        sections=[_SectionView(s.heading, tuple(next(rest) for _ in s.claims)) for s in article.sections],
        sources=[scene.source(source, words) for source in article.sources],
        notes=notes_in_words(article),
        found=show_findings(findings, article, quote=scene.quote),
        as_of=words["as_of"].format(when=article.as_of) if article.as_of else "",
        provenance=_provenance(provenance) if provenance else None,
    )
    return mend_surrogates(text) + "\n"


@dataclass(frozen=True, slots=True)
class _Scene:
    """An article among its documents."""

    article: Article
    documents: Mapping[str, Document]
    independence: Independence | None

    def claim(self, place: int, verdict: Verdict | None) -> _ClaimView:
        claim, words = self.article.claims[place], fixed_words(self.article.language)
        also = [found for found in (verdict.evidence if verdict else ()) if not _is_cited(found, claim)]
        return _ClaimView(
            anchor=f"c{place + 1}",
            text=claim.text,
            lang=self._language(claim),
            gap="" if is_dense(claim.text[-1:]) else " ",
            numbers=tuple(dict.fromkeys(citation.number for citation in claim.citations)),
            standing=standing(verdict),
            reason=worded_verdict(verdict, self.article.language) if verdict else "",
            quotes=tuple(self.quote(citation) for citation in claim.citations),
            also=tuple(self.quote(citation) for citation in also),
            checks=tuple(_worded(check, self.article.language) for check in (verdict.checks if verdict else ())),
            judged_by=_judge(verdict.judged_by, words) if verdict else "",
            independence=claim_remark(self.independence, claim, words=words) if self.independence else "",
        )

    def quote(self, citation: Citation) -> Quote:
        source = self._listed(citation)
        document = self.documents.get(citation.document_id)
        held = excerpt(citation, document)
        twice = document is not None and document.text.count(held.cited) > 1
        return Quote(
            number=source.number,
            title=source.title,
            outlet=source.source,
            published=source.published.isoformat() if source.published else "",
            lang=_language(source.language),
            held=held,
            link=link_to(source.url, [held.cited], before=held.before if twice else ""),
        )

    def source(self, source: NumberedSource, words: Words) -> _SourceView:
        cited = dict.fromkeys(
            citation.text
            for claim in self.article.claims
            for citation in claim.citations
            if citation.document_id == source.document_id and citation.text
        )
        rating = (
            words["unrated"] if source.relevance is None else words["relevance"].format(n=f"{source.relevance:.0f}")
        )
        return _SourceView(
            number=source.number,
            title=source.title,
            outlet=source.source,
            published=source.published.isoformat() if source.published else "",
            lang=_language(source.language),
            rating=f"{rating} · {words[source.band]}" if source.band else rating,
            remarks=source_remarks(self.independence, source.document_id, words=words) if self.independence else (),
            address=source.url,
            link=link_to(source.url, list(cited)),
        )

    def _language(self, claim: Claim) -> str:
        """That of the source where the claim is a quotation of it, else that of the article."""
        for citation in claim.citations:
            language = self._listed(citation).language
            if language and citation.text == claim.text:
                return _language(language)
        return _language(self.article.language)

    def _listed(self, citation: Citation) -> NumberedSource:
        """The entry of the list of sources, or one made from the document where evidence was found elsewhere."""
        for source in self.article.sources:
            if source.document_id == citation.document_id:
                return source
        document = self.documents.get(citation.document_id, Document(citation.document_id, "", citation.document_id))
        return NumberedSource(
            number=citation.number,
            document_id=document.id,
            title=document.name,
            source=document.source,
            published=document.published,
            url=document.url,
            language=document.language,
        )


def _judge(judged_by: str, words: Words) -> str:
    return words["gates"] if judged_by == "gates" else judged_by


def _worded(check: Check, language: str) -> Check:
    return replace(check, reason=worded(read_reason(check.reason), language))


def _is_cited(found: Citation, claim: Claim) -> bool:
    place = (found.document_id, found.part, found.start, found.end)
    return place in {(c.document_id, c.part, c.start, c.end) for c in claim.citations}


def _language(tag: str) -> str:
    """The tag where it is well formed, else nothing: unknown."""
    return tag if _LANGUAGE.fullmatch(tag) else ""


def _provenance(provenance: Provenance) -> _ProvenanceView:
    held = asdict(provenance)
    facts = tuple((name, str(held[name])) for name in ("created", "version", "archive", "embedder", "seed"))
    return _ProvenanceView(
        tuple((name, value) for name, value in facts if value not in ("", "None")),
        provenance.settings,
        provenance.hashes,
    )


def _asset(name: str) -> str:
    return (files("groundwire.flow") / "templates" / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def _policy(css: str, js: str) -> str:
    """Nothing is loaded, and only our own style and script, named by their hash, take effect."""
    return (
        f"default-src 'none'; style-src 'sha256-{_digest(css)}'; script-src 'sha256-{_digest(js)}'; "
        "base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters["shown"] = _shown
    environment.filters["bare"] = _bare
    return environment.from_string(_asset("article.html.j2"))


def _trusted(ours: str) -> Markup:
    """Our own style or script, which is not escaped; nothing of the archive comes here."""
    from markupsafe import Markup

    return Markup(ours)  # noqa: S704


def _shown(text: str) -> Markup:
    """Text of the archive, escaped and isolated; control characters are shown by their number."""
    from markupsafe import Markup

    pieces = [
        Markup('<span class="control">U+{:04X}</span>').format(ord(piece)) if _CONTROL.fullmatch(piece) else piece
        for piece in _CONTROL.split(str(text))
    ]
    return Markup("<bdi>{}</bdi>").format(Markup("").join(pieces)) if text else Markup("")


def _bare(text: str) -> str:
    """For places that hold no markup."""
    return _CONTROL.sub("", text)
