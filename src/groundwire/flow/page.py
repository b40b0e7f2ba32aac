"""An Article with its verdicts as one self-contained page: no request leaves it, and it works without scripts.

The article stands on the left; a claim opens its evidence on the right, on a phone beneath itself. Everything of the
archive is escaped and isolated (``<bdi>``); control characters that could turn or hide text are shown by their
number instead of taking effect. Only http and https addresses become links.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import quote

from groundwire.core.types import Article, Check, Citation, Claim, Document, NumberedSource, Verdict
from groundwire.flow.independence import Independence, claim_remark, source_remarks
from groundwire.flow.render import (
    Provenance,
    Standing,
    count_sources,
    is_dense,
    is_link,
    match_verdicts,
    mend_surrogates,
    standing,
    summarise_support,
    unsupported,
)
from groundwire.flow.wording import Words, fixed_words, words_language
from groundwire.writing.reasons import read_reason, worded, worded_verdict

if TYPE_CHECKING:
    from jinja2 import Template
    from markupsafe import Markup

_AROUND = 240
"""Characters of a source shown on either side of the words cited; a Chinese or Japanese one counts double."""
_PARAGRAPHS = re.compile(r"\s*\n\s*")
_CONTROL = re.compile(r"([\x00-\x08\v\f\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069])")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_FRAGMENT_LIMIT = 60
_FRAGMENTS = 4


@dataclass(frozen=True, slots=True)
class _Quote:
    """Words of a source with what stands around them; ``remark`` is a key of the fixed words."""

    number: int
    title: str
    outlet: str
    published: str
    lang: str
    before: str
    cited: str
    after: str
    remark: str
    link: str


@dataclass(frozen=True, slots=True)
class _ClaimView:
    anchor: str
    text: str
    lang: str
    gap: str
    numbers: tuple[int, ...]
    standing: Standing
    reason: str
    quotes: tuple[_Quote, ...]
    also: tuple[_Quote, ...]
    checks: tuple[Check, ...]
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
) -> str:
    """The article as one HTML file, fixed words in its language; the same input gives the same bytes.

    Args:
        article: what to show.
        verdicts: what checking it gave; a claim without one is shown as not checked.
        documents: the cited documents by id, for the words around each citation; without one, only the cited
            characters are shown, and the page says so.
        provenance: what the article was made with, for the foot of the page.
        independence: which sources are versions of one story; None: not known, and nothing is said about it.

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
        notes=article.notes,
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
            independence=claim_remark(self.independence, claim, words=words) if self.independence else "",
        )

    def quote(self, citation: Citation) -> _Quote:
        source = self._listed(citation)
        document = self.documents.get(citation.document_id)
        before, cited, after, remark = _around(citation, document)
        prefix = _prefix(before) if document is not None and document.text.count(cited) > 1 else ""
        return _Quote(
            number=source.number,
            title=source.title,
            outlet=source.source,
            published=source.published.isoformat() if source.published else "",
            lang=_language(source.language),
            before=before,
            cited=cited,
            after=after,
            remark=remark,
            link=_link(source.url, [cited] if cited else [], prefix=prefix),
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
            link=_link(source.url, list(cited)[:_FRAGMENTS]),
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


def _worded(check: Check, language: str) -> Check:
    return replace(check, reason=worded(read_reason(check.reason), language))


def _is_cited(found: Citation, claim: Claim) -> bool:
    place = (found.document_id, found.part, found.start, found.end)
    return place in {(c.document_id, c.part, c.start, c.end) for c in claim.citations}


def _around(citation: Citation, document: Document | None) -> tuple[str, str, str, str]:
    """What stands before, the words cited, what stands after, and a remark (a key of the fixed words)."""
    if document is None:
        return "", citation.text, "", "no_text"
    text = document.title if citation.part == "title" else document.text
    if citation.start is None or citation.end is None:
        return "", "", _cut_end(text, 0), "whole_document"
    cited = text[citation.start : citation.end]
    if not cited or citation.text not in ("", cited):
        return "", citation.text, "", "changed"
    remark = "in_title" if citation.part == "title" else ""
    return _cut_start(text, citation.start), cited, _cut_end(text, citation.end), remark


def _cut_start(text: str, end: int) -> str:
    around = _reach(text[max(0, end - _AROUND) : end])
    start = max(0, end - around)
    if start == 0:
        return _PARAGRAPHS.sub("\n", text[:end].lstrip())
    shown = text[start:end]
    space = re.search(r"\s", shown[:30])
    shown = shown[space.end() :] if space else shown
    while shown and unicodedata.combining(shown[0]):
        shown = shown[1:]
    return _PARAGRAPHS.sub("\n", f"…{shown.lstrip()}")


def _cut_end(text: str, start: int) -> str:
    end = start + _reach(text[start : start + _AROUND])
    if end >= len(text):
        return _PARAGRAPHS.sub("\n", text[start:].rstrip())
    shown = text[start:end]
    space = re.search(r"\s\S*$", shown[-30:])
    kept = len(shown) - len(space[0]) if space else len(shown)
    return _PARAGRAPHS.sub("\n", f"{shown[:kept].rstrip()}…")


def _reach(nearby: str) -> int:
    """How many characters around a citation are shown: half as many where they are mostly Chinese or Japanese."""
    return _AROUND // 2 if 2 * sum(is_dense(character) for character in nearby) > len(nearby) else _AROUND


def _prefix(before: str) -> str:
    """What stands right before words that a text holds more than once: a few words of the same line, or none."""
    line = before.rstrip().rpartition("\n")[2].removeprefix("…")
    return line[-8:] if is_dense(line[-1:]) else " ".join(line.split()[-3:])


def _link(url: str, cited: Sequence[str], *, prefix: str = "") -> str:
    """The address with a text fragment for the words cited, or nothing where it may not become a link."""
    if not is_link(url):
        return ""
    start = f"{_percent(prefix)}-," if prefix else ""
    directives = "&".join(f"text={start}{_fragment(words)}" for words in cited)
    if not directives:
        return url
    return f"{url}{'' if '#' in url else '#'}:~:{directives}"


def _fragment(cited: str) -> str:
    """``start`` or ``start,end`` of a text fragment (WICG scroll-to-text)."""
    line = " ".join(cited.split())
    if len(line) <= _FRAGMENT_LIMIT:
        return _percent(line)
    parts = line.split(" ")
    if len(parts) >= 10:
        return f"{_percent(' '.join(parts[:5]))},{_percent(' '.join(parts[-5:]))}"
    return f"{_percent(line[:15])},{_percent(line[-15:])}"


def _percent(text: str) -> str:
    return quote(mend_surrogates(text), safe="").replace("-", "%2D")


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
