"""An Article as a Word document: citations are footnotes with the words they rest on, findings are an appendix.

Needs python-docx (extra ``docx``), which knows no footnotes: their part is made here, as Word makes it. The same input
gives the same bytes. Everything of the archive is text; what XML cannot hold, or what could turn or hide text, becomes
U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from groundwire.core.errors import MissingExtra
from groundwire.core.types import Article, Citation, Claim, NumberedSource, Verdict
from groundwire.flow.findings import NOTHING, Findings, changes, finding_lines, markers, notes_in_words
from groundwire.flow.links import is_dense, link_to
from groundwire.flow.render import (
    Provenance,
    count_sources,
    ends_paragraph,
    match_verdicts,
    standing,
    summarise_support,
    unsupported,
)
from groundwire.flow.wording import Words, fixed_words, words_language
from groundwire.writing.reasons import worded_verdict

if TYPE_CHECKING:
    from docx.document import Document as WordDocument
    from docx.opc.part import Part, XmlPart

Look = Literal["plain", "strong", "soft", "gone", "new", "raised"]

_W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_NAMESPACES = f'xmlns:w="{_W}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
_FOOTNOTES = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
_UNSHOWN = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
_BREAKS = re.compile(r"[\t\n\v\f\r\x1c-\x1e\x85\u2028\u2029]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,8}(?:-[A-Za-z0-9]{1,8})*")
_LONGEST_LINK, _LONGEST_PROPERTY = 2048, 255
"""Word takes no longer address, and python-docx no longer property."""
_EAST_ASIAN = {"zh-TW": "PMingLiU", "zh-CN": "SimSun", "ja": "MS Mincho", "ko": "Batang"}
_LATIN = "Georgia"
_LOOKS: dict[Look, str] = {
    "plain": "",
    "strong": "<w:b/>",
    "soft": '<w:color w:val="5C5851"/>',
    "gone": '<w:strike/><w:color w:val="A3211B"/>',
    "new": '<w:color w:val="23603A"/><w:u w:val="single"/>',
    "raised": '<w:vertAlign w:val="superscript"/>',
}
_STYLES = (
    (
        '<w:style {0} w:type="paragraph" w:styleId="FootnoteText"><w:name w:val="footnote text"/>'
        '<w:basedOn w:val="Normal"/><w:uiPriority w:val="99"/>'
        '<w:pPr><w:spacing w:after="40" w:line="240" w:lineRule="auto"/></w:pPr>'
        '<w:rPr><w:sz w:val="18"/><w:szCs w:val="18"/></w:rPr></w:style>'
    ),
    (
        '<w:style {0} w:type="character" w:styleId="FootnoteReference"><w:name w:val="footnote reference"/>'
        '<w:basedOn w:val="DefaultParagraphFont"/><w:uiPriority w:val="99"/>'
        '<w:rPr><w:vertAlign w:val="superscript"/></w:rPr></w:style>'
    ),
    (
        '<w:style {0} w:type="character" w:styleId="Hyperlink"><w:name w:val="Hyperlink"/>'
        '<w:basedOn w:val="DefaultParagraphFont"/><w:uiPriority w:val="99"/>'
        '<w:rPr><w:color w:val="1D4F7C"/><w:u w:val="single"/></w:rPr></w:style>'
    ),
)
_SEPARATORS = (
    f"<w:footnotes {_NAMESPACES}>"
    '<w:footnote w:type="separator" w:id="-1"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
    '<w:footnote w:type="continuationSeparator" w:id="0"><w:p><w:r><w:continuationSeparator/></w:r></w:p></w:footnote>'
    "</w:footnotes>"
)
_NOTE_SETTINGS = f'<w:footnotePr {_NAMESPACES}><w:footnote w:id="-1"/><w:footnote w:id="0"/></w:footnotePr>'
_SIZES = {"Title": 48, "Subtitle": 19, "Heading1": 28, "Heading2": 24}


def render_docx(
    article: Article, *, provenance: Provenance, verdicts: Sequence[Verdict] = (), findings: Findings = NOTHING,
    independent: int | None = None,
) -> bytes:  # fmt: skip
    """The article as the bytes of a ``.docx`` file, fixed words in its language.

    Every citation is a footnote: source, outlet, date, the words cited and a link to them. Then come the list of
    sources and, on a page of its own, what an editor should know: claims that are not supported and why, conflicts,
    the premise, repairs with the words that went and came. ``provenance.created`` dates the file.

    Raises:
        MissingExtra: python-docx is not installed.
        UsageError: the verdicts do not belong to the article.
    """
    matched = match_verdicts(article, verdicts)
    words = fixed_words(article.language)
    counts = (count_sources(article, words, independent=independent), summarise_support(matched, words))
    document = _new_document(article, provenance)
    sheet = _Sheet(article, words, document.part, _footnotes_part(document))
    sheet.article(provenance, counts)
    sheet.appendix(matched, findings)
    _append(document.element.body, sheet.paragraphs)
    _append(sheet.notes.element, sheet.footnotes)
    held = BytesIO()
    document.save(held)
    return _settled(held.getvalue(), datetime.fromisoformat(provenance.created))


@dataclass(slots=True)
class _Sheet:
    """Paragraphs and footnotes, as XML, while a document is written; ``body`` and ``notes`` hold the links of each."""

    of: Article
    words: Words
    body: Part
    notes: XmlPart
    paragraphs: list[str] = field(default_factory=list)
    footnotes: list[str] = field(default_factory=list)

    def article(self, provenance: Provenance, counts: tuple[str, str]) -> None:
        """The article and its list of sources."""
        of, words = self.of, self.words
        self.add("Title", self.claim(of.headline))
        facts = [words["topic"] + words["colon"] + of.topic, provenance.created[:10]]
        facts += [words["as_of"].format(when=of.as_of)] if of.as_of else []
        facts += [words["writer"] + words["colon"] + of.writer, *counts]
        self.add("Subtitle", _run(" · ".join(facts), of.language))
        self.claims(of.lede)
        for section in of.sections:
            if section.heading.strip():
                self.add("Heading1", _run(section.heading, of.language))
            self.claims(section.claims)
        self.add("Heading1", _run(words["sources"], words_language(of.language)))
        for source in of.sources:
            self.add(
                "Normal", f"{_run(f'[{source.number}] ')}{self.source(source, self.body, link=link_to(source.url, ()))}"
            )

    def claims(self, claims: Sequence[Claim]) -> None:
        """Claims as paragraphs; one without a stop closes its paragraph."""
        held, last = "", ""
        for claim in claims:
            gap = " " if held and not (is_dense(last[-1:]) and is_dense(claim.text[:1])) else ""
            held, last = f"{held}{_run(gap)}{self.claim(claim)}", claim.text
            if ends_paragraph(claim.text):
                self.add("Normal", held)
                held = ""
        if held:
            self.add("Normal", held)

    def claim(self, claim: Claim) -> str:
        """The words of a claim with a footnote for each citation."""
        notes = [self.footnote(citation) for citation in claim.citations]
        return _run(claim.text, self.of.language) + _run(",", look="raised").join(notes)

    def footnote(self, citation: Citation) -> str:
        """Write a footnote; what stands in the text points at it."""
        number = len(self.footnotes) + 1
        source = next((one for one in self.of.sources if one.document_id == citation.document_id), None)
        listed = source or NumberedSource(citation.number, citation.document_id, citation.document_id)
        cited = citation.text.strip()
        link = link_to(listed.url, [citation.text])
        told = self.source(listed, self.notes, link=link if len(link) <= _LONGEST_LINK else listed.url)
        quoted = _run(f"「{cited}」 " if self.words["colon"] == "：" else f"“{cited}” ", listed.language)
        self.footnotes.append(
            f'<w:footnote {_NAMESPACES} w:id="{number}"><w:p><w:pPr><w:pStyle w:val="FootnoteText"/></w:pPr>'
            f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteRef/></w:r>{_run(" ")}'
            f"{quoted if cited else ''}{told}</w:p></w:footnote>"
        )
        return f'<w:r><w:rPr><w:rStyle w:val="FootnoteReference"/></w:rPr><w:footnoteReference w:id="{number}"/></w:r>'

    def source(self, source: NumberedSource, part: Part, *, link: str) -> str:
        """Title, outlet, date and address of a source."""
        title = _run(source.title or self.words["untitled"], source.language, look="strong")
        day = source.published.isoformat() if source.published else ""
        printed = self.words["comma"].join(filter(None, (source.source, day)))
        told = title + (_run(f" · {printed}", source.language) if printed else "")
        if not link or len(link) > _LONGEST_LINK:
            return told + (_run(f" {source.url}") if source.url else "")
        target = quote(link, safe="%:/?#[]@!$&'()*+,;=~-._")
        name = part.relate_to(target, f"{_NAMESPACES.split(chr(34))[3]}/hyperlink", is_external=True)
        shown = f'<w:r><w:rPr><w:rStyle w:val="Hyperlink"/></w:rPr><w:t>{escape(_clean(source.url))}</w:t></w:r>'
        return f"{told}{_run(' ')}<w:hyperlink r:id={quoteattr(name)}>{shown}</w:hyperlink>"

    def appendix(self, matched: Sequence[Verdict | None], findings: Findings) -> None:
        """What an editor should know, on a page of its own; nothing where there is nothing."""
        groups = (
            (self.words["not_supported"], tuple(self.problems(matched))),
            (self.words["findings"], tuple(self.findings(findings))),
            (self.words["repairs"], tuple(self.repairs(findings))),
            (self.words["notes"], tuple(_run(note, self.of.language) for note in notes_in_words(self.of))),
        )
        if not any(lines for _, lines in groups):
            return
        self.add("Heading1", _run(self.words["appendix"], words_language(self.of.language)), new_page=True)
        for heading, lines in groups:
            if lines:
                self.add("Heading2", _run(heading, words_language(self.of.language)))
            for line in lines:
                self.add("ListBullet", line)

    def problems(self, matched: Sequence[Verdict | None]) -> Iterator[str]:
        """Claims that are not supported, and why."""
        for place in unsupported(matched):
            claim, verdict = self.of.claims[place], matched[place]
            reason = worded_verdict(verdict, self.of.language) if verdict else ""
            yield self.labelled(self.words[standing(verdict)], f"{claim.text} {markers(claim)}".rstrip()) + (
                _run(f" — {reason}", self.of.language, look="soft") if reason else ""
            )

    def findings(self, findings: Findings) -> Iterator[str]:
        """Premise, conflicts and the rest, a line each."""
        for label, text in finding_lines(findings, self.of, words=self.words):
            yield self.labelled(label, text)

    def repairs(self, findings: Findings) -> Iterator[str]:
        """Each repair with the words that went and came, and why."""
        looks: dict[str, Look] = {"kept": "plain", "gone": "gone", "new": "new"}
        for repair in findings.repairs:
            runs = "".join(_run(one.text, self.of.language, look=looks[one.kind]) for one in changes(repair))
            after = markers(repair.after) if repair.after else ""
            if markers(repair.before) != after:
                runs += _run(" ") + _run(markers(repair.before), look="gone") + _run(after, look="new")
            reason = f" — {repair.reason}" if repair.reason else ""
            yield self.labelled(self.words[repair.kind], "") + runs + _run(reason, self.of.language, look="soft")

    def labelled(self, label: str, text: str) -> str:
        """A line that says what it is, in bold."""
        shown = _run(label + self.words["colon"], words_language(self.of.language), look="strong")
        return shown + _run(text, self.of.language)

    def add(self, style: str, runs: str, *, new_page: bool = False) -> None:
        """A paragraph of these runs."""
        breaks = "<w:pageBreakBefore/>" if new_page else ""
        self.paragraphs.append(f'<w:p {_NAMESPACES}><w:pPr><w:pStyle w:val="{style}"/>{breaks}</w:pPr>{runs}</w:p>')


def _run(text: str, language: str = "", *, look: Look = "plain") -> str:
    """A run of text in its language; Chinese, Japanese and Korean say so to the choice of fonts."""
    if not text:
        return ""
    tag = _east_asian(language)
    fonts = f'<w:rFonts w:hint="eastAsia" w:eastAsia="{_EAST_ASIAN[tag]}"/>' if tag else ""
    look_of = _LOOKS[look]
    own = language if _LANGUAGE.fullmatch(language) else ""
    spoken = f'<w:lang w:val="en-US" w:eastAsia="{tag}"/>' if tag else f'<w:lang w:val="{own}"/>' if own else ""
    return f'<w:r><w:rPr>{fonts}{look_of}{spoken}</w:rPr><w:t xml:space="preserve">{escape(_clean(text))}</w:t></w:r>'


def _east_asian(language: str) -> str:
    first = language.lower().split("-")[0]
    if first == "zh":
        return words_language(language)
    return first if first in _EAST_ASIAN else ""


def _clean(text: str) -> str:
    return _UNSHOWN.sub("\ufffd", _BREAKS.sub(" ", text))


def _append(parent: object, paragraphs: Sequence[str]) -> None:
    """Put paragraphs or notes into an element, before the settings of the page where it has them."""
    from docx.oxml import parse_xml

    last = parent.find(f"{{{_W}}}sectPr")  # type: ignore[attr-defined] # an lxml element, which has no types
    for paragraph in paragraphs:
        made = parse_xml(paragraph)
        parent.append(made) if last is None else last.addprevious(made)  # type: ignore[attr-defined] # as above


def _footnotes_part(document: WordDocument) -> XmlPart:
    from docx.opc.constants import RELATIONSHIP_TYPE
    from docx.opc.packuri import PackURI
    from docx.opc.part import XmlPart
    from docx.oxml import parse_xml

    part = XmlPart(PackURI("/word/footnotes.xml"), _FOOTNOTES, parse_xml(_SEPARATORS), document.part.package)
    document.part.relate_to(part, RELATIONSHIP_TYPE.FOOTNOTES)
    settings = document.settings.element
    settings.find(f"{{{_W}}}compat").addprevious(parse_xml(_NOTE_SETTINGS))
    return part


def _new_document(article: Article, provenance: Provenance) -> WordDocument:
    """An empty document on A4 whose styles are ours and whose language is the article's."""
    try:
        from docx import Document
    except ImportError as error:
        raise MissingExtra("writing a Word document", extra="docx") from error
    from docx.shared import Mm

    document = Document()
    section = document.sections[0]
    section.page_width, section.page_height = Mm(210), Mm(297)
    section.left_margin = section.right_margin = Mm(28)
    for name in [name for name, rel in document.part.package.rels.items() if rel.reltype.endswith("/thumbnail")]:
        del document.part.package.rels[name]
    _set_styles(document, article.language)
    held = document.core_properties
    held.title, held.subject = (_clean(text)[:_LONGEST_PROPERTY] for text in (article.headline.text, article.topic))
    held.author = held.last_modified_by = "groundwire"
    held.comments, held.language = (
        f"groundwire {provenance.version}"[:_LONGEST_PROPERTY],
        article.language[:_LONGEST_PROPERTY],
    )
    created = datetime.fromisoformat(provenance.created)
    held.created = held.modified = (created.astimezone(UTC) if created.tzinfo else created).replace(tzinfo=None)
    return document


def _set_styles(document: WordDocument, language: str) -> None:
    """Plain dark type; fonts and language stand in one place, the defaults."""
    from docx.oxml import parse_xml

    styles = document.styles.element
    for fonts in styles.findall(f".//{{{_W}}}rFonts"):
        fonts.getparent().remove(fonts)
    tag = _east_asian(language)
    own = language if _LANGUAGE.fullmatch(language) and not tag else "en-US"
    defaults = styles.find(f".//{{{_W}}}rPrDefault/{{{_W}}}rPr")
    eastern = _EAST_ASIAN[tag or "zh-TW"]
    defaults.insert(0, parse_xml(
        f'<w:rFonts {_NAMESPACES} w:ascii="{_LATIN}" w:hAnsi="{_LATIN}" w:eastAsia="{eastern}" w:cs="{_LATIN}"/>'
    ))  # fmt: skip
    spoken = defaults.find(f"{{{_W}}}lang")
    spoken.set(f"{{{_W}}}val", own)
    spoken.set(f"{{{_W}}}eastAsia", tag or "zh-TW")
    for name, size in _SIZES.items():
        style = next(one for one in styles.findall(f"{{{_W}}}style") if one.get(f"{{{_W}}}styleId") == name)
        for border in style.findall(f"{{{_W}}}pPr/{{{_W}}}pBdr"):
            border.getparent().remove(border)
        old = style.find(f"{{{_W}}}rPr")
        bold, colour = ("", "5C5851") if name == "Subtitle" else ("<w:b/>", "1C1B19")
        style.replace(old, parse_xml(
            f'<w:rPr {_NAMESPACES}>{bold}<w:color w:val="{colour}"/>'
            f'<w:sz w:val="{size}"/><w:szCs w:val="{size}"/></w:rPr>'
        ))  # fmt: skip
    for added in _STYLES:
        styles.append(parse_xml(added.format(_NAMESPACES)))


def _settled(packed: bytes, created: datetime) -> bytes:
    """The same files with the times of the article, so that the same article gives the same bytes."""
    stamp = max(created.timetuple()[:6], (1980, 1, 1, 0, 0, 0))
    held = BytesIO()
    with ZipFile(BytesIO(packed)) as source, ZipFile(held, "w", ZIP_DEFLATED) as target:
        for entry in source.infolist():
            fixed = ZipInfo(entry.filename, stamp)
            fixed.compress_type, fixed.create_system = ZIP_DEFLATED, 3
            target.writestr(fixed, source.read(entry.filename))
    return held.getvalue()
