"""Articles with their verdicts as Markdown (for people to edit) and JSON (for programs, with provenance and hashes).

Both are read back by ``groundwire.flow.reopen``; the page is made by ``groundwire.flow.page``. The same input gives
the same bytes. Text of the archive is data: what Markdown would take for structure is escaped. A lone surrogate,
which UTF-8 cannot hold, becomes U+FFFD.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from html.entities import html5
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.types import Article, Citation, Claim, Document, NumberedSource, Support, Verdict
from groundwire.flow.findings import NOTHING, Findings, finding_lines, notes_in_words, repair_line
from groundwire.flow.links import MARK, is_dense, is_link, link_to, mend_surrogates
from groundwire.flow.wording import Words, fixed_words, word_table, words_language

SCHEMA = "groundwire.article/1"
"""The schema of the JSON export; the number goes up when a key changes its meaning or goes away."""

OWN_HEADINGS = ("sources", "not_supported", "findings", "notes")
"""Keys of the fixed words that head what follows an article in Markdown."""

Standing = Literal[Support, "unchecked"]
Json = Mapping[str, object]

ESCAPE = r"\\(?P<escaped>[!-/:-@\[-`{-~])|&(?P<entity>#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|\w{1,32});"
"""Pattern of one escaped character or entity in Markdown."""

_EMPHASIS = re.compile(r"(?<![\\*])(\*{1,3})(?=[^\s*])((?:\\.|[^\\*])*?(?<=\S))(?<!\\)\1(?!\*)")
_RANGE = re.compile(r"\s*(\d{1,9})(?:\s*[-–—~～]\s*(\d{1,9}))?\s*")
_SEVERITY: tuple[Standing, ...] = ("contradicted", "not_found", "partly", "background", "unchecked")
_BREAKS = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")
_MARKUP = re.compile(r"[\\`*_~<\]\[]|[【［](?=\^?\s*\d)|&(?=#?\w+;)")
_STOPS = re.compile(r"[.!?](?=\s|$)|[。！？]|(?<=\d)-(?=\d)")


@dataclass(frozen=True, slots=True)
class Provenance:
    """What an article was made with.

    ``version`` is groundwire's; ``created`` an ISO 8601 date and time, given by the caller and never read from the
    clock here; ``settings`` pairs of key and value; ``hashes`` pairs of document id and SHA-256 of its text.

    Raises:
        ValueError: ``created`` is not an ISO 8601 date and time.
    """

    version: str
    created: str
    archive: str = ""
    embedder: str = ""
    seed: int | None = None
    settings: tuple[tuple[str, str], ...] = ()
    hashes: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        datetime.fromisoformat(self.created)


def hash_texts(documents: Iterable[Document]) -> tuple[tuple[str, str], ...]:
    """Pairs of document id and SHA-256 (hexadecimal) of its text in UTF-8, by id, for ``Provenance.hashes``."""
    return tuple(sorted((d.id, hashlib.sha256(d.text.encode("utf-8", "surrogatepass")).hexdigest()) for d in documents))


def match_verdicts(article: Article, verdicts: Sequence[Verdict]) -> tuple[Verdict | None, ...]:
    """The verdict of each claim of ``article.claims``, in that order; None where there is none.

    Raises:
        UsageError: a verdict is about a claim that the article does not hold in this wording, or two are about one.
    """
    claims = article.claims
    by_id = {claim.id: place for place, claim in enumerate(claims)}
    if verdicts and len(by_id) != len(claims):
        raise UsageError(f"{len(claims)} claims share {len(by_id)} ids, so verdicts cannot be told apart. Number them.")
    matched: list[Verdict | None] = [None] * len(claims)
    for verdict in verdicts:
        place = by_id.get(verdict.claim.id)
        if place is None or claims[place] != verdict.claim:
            raise UsageError(
                f"The verdict on claim '{verdict.claim.id}' is about other words or citations than the article holds. "
                "Verify the article again after editing it."
            )
        if matched[place] is not None:
            raise UsageError(f"Claim '{verdict.claim.id}' has two verdicts; one was expected.")
        matched[place] = verdict
    return tuple(matched)


def standing(verdict: Verdict | None) -> Standing:
    """The support of a verdict, or ``unchecked`` where there is none."""
    return "unchecked" if verdict is None else verdict.support


def summarise_support(matched: Sequence[Verdict | None], words: Words) -> str:
    """One phrase: how many claims are supported, and how many were not checked."""
    unchecked = sum(verdict is None for verdict in matched)
    if unchecked == len(matched):
        return words["none_checked"]
    supported = sum(standing(verdict) == "supported" for verdict in matched)
    parts = [words["supported_of"].format(k=supported, n=len(matched))]
    if unchecked:
        parts.append(words["unchecked_count"].format(n=unchecked))
    return words["comma"].join(parts)


def unsupported(matched: Sequence[Verdict | None]) -> tuple[int, ...]:
    """Places of the claims that are not supported, the gravest first; nothing when no claim was checked."""
    if all(verdict is None for verdict in matched):
        return ()
    places = [place for place, verdict in enumerate(matched) if standing(verdict) != "supported"]
    return tuple(sorted(places, key=lambda place: (_SEVERITY.index(standing(matched[place])), place)))


def count_sources(article: Article, words: Words, *, independent: int | None = None) -> str:
    """``3 sources, 2 independent``, in the words given; without the second part where that is not known."""
    n = len(article.sources)
    counted = words["source_one" if n == 1 else "source_many"].format(n=n)
    if n > 1 and independent is not None:
        counted += words["comma"] + words["independent_count"].format(k=independent)
    return counted


def render_json(
    article: Article, *, provenance: Provenance, verdicts: Sequence[Verdict] = (), independence: Json | None = None,
    findings: Findings = NOTHING,
) -> str:  # fmt: skip
    """The article as JSON of schema ``groundwire.article/1``, UTF-8, keys always in the same order.

    Every claim carries its citations (document id, offsets, exact characters, SHA-256 of the source text or null) and
    its verdict with checks and who judged it, or null; ``independence``, ``findings``, ``repairs`` and ``quality`` are
    beside the article. ``reopen`` gives back an equal Article, equal verdicts, findings and provenance.

    Raises:
        UsageError: the verdicts do not belong to the article.
    """
    matched = match_verdicts(article, verdicts)
    hashes = dict(provenance.hashes)
    rows = [_claim_row(claim, verdict, hashes=hashes) for claim, verdict in zip(article.claims, matched, strict=True)]
    rest = iter(rows[1:])
    counts: dict[str, int] = {key: sum(standing(v) == key for v in matched) for key in ("supported", *_SEVERITY)}
    body = {
        **asdict(article),
        "headline": rows[0],
        "lede": [next(rest) for _ in article.lede],
        "sections": [{"heading": s.heading, "claims": [next(rest) for _ in s.claims]} for s in article.sections],
        "sources": [_source_row(source) for source in article.sources],
        "as_of": article.as_of.isoformat() if article.as_of else None,
    }
    found = asdict(findings)
    beside = {"repairs": found.pop("repairs"), "quality": found.pop("quality")}
    document = {
        "schema": SCHEMA,
        "summary": {"claims": len(rows), **counts},
        "article": body,
        **({"independence": independence} if independence is not None else {}),
        "findings": found,
        **beside,
        "provenance": asdict(provenance),
    }
    return mend_surrogates(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False)) + "\n"


def _claim_row(claim: Claim, verdict: Verdict | None, *, hashes: Mapping[str, str]) -> Json:
    row: dict[str, object] = {
        "id": claim.id,
        "text": claim.text,
        "citations": [_citation_row(citation, hashes) for citation in claim.citations],
        "verdict": None,
    }
    if verdict is not None:
        row["verdict"] = {
            "support": verdict.support,
            "reason": verdict.reason,
            "judged_by": verdict.judged_by,
            "evidence": [_citation_row(citation, hashes) for citation in verdict.evidence],
            "checks": [asdict(check) for check in verdict.checks],
        }
    return row


def _citation_row(citation: Citation, hashes: Mapping[str, str]) -> Json:
    return {**asdict(citation), "source_sha256": hashes.get(citation.document_id)}


def _source_row(source: NumberedSource) -> Json:
    return {**asdict(source), "published": source.published.isoformat() if source.published else None}


def render_markdown(
    article: Article,
    *,
    verdicts: Sequence[Verdict] = (),
    provenance: Provenance | None = None,
    independent: int | None = None,
    findings: Findings = NOTHING,
) -> str:
    """The article as Markdown for people to read and edit; ``reopen`` reads it back, edited or not.

    Markers stand behind the claim they belong to; offsets, ratings and verdicts are not in it. A claim that ends
    without a stop closes its paragraph, so that it does not run into the next one. ``independent``: how many sources.

    Raises:
        UsageError: the verdicts do not belong to the article.
    """
    words = fixed_words(article.language)
    matched = match_verdicts(article, verdicts)
    headline = _with_markers(article.headline, article)
    counts = (count_sources(article, words, independent=independent), summarise_support(matched, words))
    blocks = [f"# {headline}".rstrip(), _facts(article, provenance, words=words, counts=counts)]
    blocks += _paragraphs(article.lede, article)
    for section in article.sections:
        blocks.append(f"## {_heading(section.heading)}".rstrip())
        blocks += _paragraphs(section.claims, article)
    blocks.append(f"## {words['sources']}")
    blocks += [_source_line(source, words, cited=_first_words(source, article)) for source in article.sources]
    problems = [_problem(article.claims[place], matched[place], words=words) for place in unsupported(matched)]
    if problems:
        blocks += [f"## {words['not_supported']}", "\n".join(problems)]
    found = [
        *finding_lines(findings, article, words=words),
        *(repair_line(repair, words) for repair in findings.repairs),
    ]
    if found:
        listed = (f"- **{label}**{words['colon']}{escape_markdown(text)}" for label, text in found)
        blocks += [f"## {words['findings']}", "\n".join(listed)]
    if article.notes:
        blocks += [f"## {words['notes']}", "\n".join(f"- {escape_markdown(note)}" for note in notes_in_words(article))]
    return mend_surrogates("\n\n".join(block for block in blocks if block)) + "\n"


def _facts(article: Article, provenance: Provenance | None, *, words: Words, counts: tuple[str, str]) -> str:
    facts = [words["topic"] + words["colon"] + _dotless(article.topic)]
    if provenance is not None:
        facts.append(provenance.created[:10])
    if article.as_of is not None:
        facts.append(words["as_of"].format(when=article.as_of))
    facts.append(words["writer"] + words["colon"] + _dotless(article.writer))
    if article.language != words_language(article.language):
        facts.append(words["language"] + words["colon"] + _dotless(article.language or words["unknown"]))
    return f"*{' · '.join((*facts, *counts))}*"


def _dotless(text: str) -> str:
    return escape_markdown(text).replace("·", "&#183;")


def _heading(text: str) -> str:
    """A heading of the article that reads like one of ours starts with an entity, so that it is not taken for it."""
    reserved = {word.casefold() for key in OWN_HEADINGS for word in word_table()[key]}
    shown = escape_markdown(text)
    return _entity(shown[0]) + shown[1:] if shown.rstrip(":： ").casefold() in reserved else shown


def _paragraphs(claims: Sequence[Claim], article: Article) -> list[str]:
    """One paragraph, with no space between Chinese sentences; a bracket behind a marker would make a link of it."""
    paragraphs, text = [""], ""
    for claim in claims:
        shown = _with_markers(claim, article)
        runs_on = not paragraphs[-1] or (is_dense(text[-1:]) and is_dense(shown[:1]))
        paragraphs[-1] += shown if runs_on else f" {shown}"
        text = claim.text.rstrip()
        if ends_paragraph(text):
            paragraphs.append("")
    return paragraphs


def ends_paragraph(text: str) -> bool:
    """Whether a claim closes its paragraph: it ends without a stop, and would run into the next one."""
    return text.rstrip()[-1:] not in tuple(".!?。！？…」』”’\"'）)")


def _with_markers(claim: Claim, article: Article) -> str:
    """The claim with its markers; numbers in brackets that no source has stay as they are, to be noted again."""
    known = {source.number for source in article.sources}
    shown = re.sub(
        r"\\\[([\d\s,，、;；–—-]*\d\s*)\\\](?![(\[:])",
        lambda found: found[0] if resolve_marker(found[1], known)[0] else f"[{found[1]}]",
        escape_markdown(claim.text),
    )
    markers = "".join(f"[{number}]" for number in dict.fromkeys(citation.number for citation in claim.citations))
    gap = "" if is_dense(shown[-1:]) else " "
    return f"{shown}{gap}{markers}".strip()


def resolve_marker(listed: str, known: Container[int]) -> tuple[list[int], list[str]]:
    """The numbers of a marker that have a source, ranges expanded, and the parts that have none."""
    numbers: list[int] = []
    unknown: list[str] = []
    for part in re.split(r"[,，、;；]", listed):
        found = _RANGE.fullmatch(part)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
        if first <= last and all(number in known for number in range(first, last + 1)):
            numbers += range(first, last + 1)
        else:
            unknown.append(part.strip())
    return numbers, unknown


def escape_markdown(text: str) -> str:
    """Text on one line that Markdown shows as it is, whatever it holds; ``reopen`` takes the escapes out again."""
    line = _BREAKS.sub(" ", text).strip()
    line = _MARKUP.sub(lambda found: _escaped(found[0]), line)
    line = re.sub(r"^(?=[#+=>-])", r"\\", line)
    line = re.sub(r"^(\d{1,9})([.)])(?=\s|$)", lambda found: found[1] + _entity(found[2]), line)
    return re.sub(r"(?<!\\)#(?=#*$)", r"\\#", line)


def plain_text(markdown: str) -> str:
    """Markdown of one line as the text it shows: without escapes, entities and asterisks of emphasis."""
    return re.sub(ESCAPE, unescape, drop_emphasis(markdown))


def drop_emphasis(markdown: str) -> str:
    """The line without the asterisks that make words italic or bold."""
    return _EMPHASIS.sub(r"\2", markdown)


def unescape(found: re.Match[str]) -> str:
    """The character that a match of ``ESCAPE`` stands for; what is no entity stays as it is."""
    if found["escaped"]:
        return found["escaped"]
    name = found["entity"]
    if not name.startswith("#"):
        return html5.get(f"{name};", found[0])
    code = int(name[2:], 16) if name[1] in "xX" else int(name[1:])
    return chr(code) if code <= sys.maxunicode else found[0]


def _escaped(character: str) -> str:
    return f"\\{character}" if character.isascii() else _entity(character)


def _entity(character: str) -> str:
    return f"&#{ord(character)};"


def _first_words(source: NumberedSource, article: Article) -> str:
    """The first words that the article cites of a source, so that its link opens there."""
    cited = (one for claim in article.claims for one in claim.citations if one.document_id == source.document_id)
    return next((one.text for one in cited if one.text.strip() and one.part == "text"), "")


def _source_line(source: NumberedSource, words: Words, *, cited: str) -> str:
    """Unescaped stops and commas part title, outlet and date; those inside the outlet are written as entities."""
    outlet = _STOPS.sub(lambda found: _entity(found[0]), escape_markdown(source.source))
    title = escape_markdown(source.title) or f"*{words['untitled']}*"
    if not outlet:
        title = _STOPS.sub(lambda found: _entity(found[0]), title[:-1]) + title[-1:]
    printed = source.published.isoformat() if source.published else ""
    if outlet:
        printed = outlet + _sign(outlet, "，,") + printed if printed else outlet
    about = title if title[-1] in ".!?。！？" else title + _sign(title, "。.").rstrip()
    if printed:
        about += f"{'' if is_dense(about[-1]) else ' '}{printed}{_sign(outlet or title.rstrip('。'), '。.').rstrip()}"
    plain = is_link(source.url) and MARK not in source.url and not source.url.endswith("#")
    address = f" <{link_to(source.url, [cited])}>" if plain else f" {_code(source.url)}" if source.url else ""
    return f"[{source.number}] {about} {_code(source.document_id)}{address}"


def _sign(before: str, signs: str) -> str:
    """The wide sign behind a Chinese character, else the narrow one with a space."""
    return signs[0] if is_dense(before[-1:]) else f"{signs[1]} "


def _code(text: str) -> str:
    """A code span that gives the text back exactly: quoted as in JSON where a code span could not hold it."""
    plain = text.isprintable() and text == text.strip() and text[:1] not in ('"', "")
    held = text if plain else json.dumps(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", held)), default=0))
    pad = " " if len(fence) > 1 else ""
    return f"{fence}{pad}{held}{pad}{fence}"


def read_code(held: str) -> str:
    """The text of a code span, given what stands between its backticks."""
    text = held[1:-1] if held.startswith(" ") and held.endswith(" ") and held.strip() else held
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text))
    except json.JSONDecodeError:
        return text


def _problem(claim: Claim, verdict: Verdict | None, *, words: Words) -> str:
    reason = f" — {escape_markdown(verdict.reason)}" if verdict is not None and verdict.reason else ""
    return f"- **{words[standing(verdict)]}**{words['colon']}{escape_markdown(claim.text)}{reason}"
