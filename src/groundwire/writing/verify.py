"""Decide for each claim of an article whether the words it cites carry it, without a model.

The gates of ``guards`` and ``quotes`` look at one thing each; here their findings become a verdict. The table of
decisions and its limits stand in ``docs/method/verification.md``.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from functools import cached_property

from groundwire.core.mentions import find_dates, find_quotations
from groundwire.core.quantities import find_quantities
from groundwire.core.sentences import split_sentences
from groundwire.core.text import normalise
from groundwire.core.types import Article, Check, Citation, Claim, Document, Span, Support, Verdict
from groundwire.writing.cited import Cited, citation_gate, resolve
from groundwire.writing.cuts import is_verbatim, marks_gate, part_gate, question_gate
from groundwire.writing.direction import direction_gate, negation_gate
from groundwire.writing.guards import (
    FOREIGN,
    Excerpt,
    Finding,
    claimed_words,
    coverage,
    date_gate,
    is_chinese,
    number_gate,
    sought_words,
    telling_words,
    wording_gate,
)
from groundwire.writing.names import names_gate
from groundwire.writing.quotes import TRANSLATED, find_quoted, name_gate, quotation_gate
from groundwire.writing.speakers import speaker_gate
from groundwire.writing.subjects import subject_gate

Splitter = Callable[[Document], tuple[Span, ...]]
MOST_SENTENCES = 5
"""How many sentences of a document that is cited as a whole may carry a claim."""
_WORD, _NUMBER = 4, 1  # what finding one is worth; a sentence is not chosen for its numbers alone
_LONG_QUOTATION = 20  # characters that are not alike by chance
_REPEATS = 0.8  # share of a headline's words in the topic that makes it a title rather than a claim


def split_document(document: Document) -> tuple[Span, ...]:
    """The sentences of a document's text."""
    return split_sentences(document.text, language=document.language)


def verify(
    article: Article,
    documents: Mapping[str, Document],
    *,
    written: date | None = None,
    sentences: Splitter = split_document,
) -> tuple[Verdict, ...]:
    """Check every claim of an article against the words it cites.

    Args:
        article: as written, or reopened from an export; citations without offsets cite the whole document.
        documents: the cited documents by id as they are today; one that is not there counts as missing. Others that
            are given are searched only to say where a quotation or statement stands instead.
        written: publication of the article. With it, ``yesterday`` in the article and ``yesterday`` in an older source
            are different days; without it, relative dates are read as those of the source.
        sentences: splits a document's text, each span a sentence.

    Returns:
        One verdict a claim, in reading order. Never raises, whatever the texts.
    """
    opened = {key: Opened(document, sentences) for key, document in documents.items()}
    return tuple(_decide(claim, article.topic, opened=opened, written=written) for claim in article.claims)


class Opened:
    """A document with what is read out of it once, at first need, however many claims cite it."""

    def __init__(self, document: Document, sentences: Splitter) -> None:
        self.document = document
        self._split = sentences

    @cached_property
    def sentences(self) -> tuple[Excerpt, ...]:
        """The sentences of the text."""
        text = self.document.text
        return tuple(Excerpt(self.document, span, text[span.start : span.end]) for span in self._split(self.document))

    @cached_property
    def title(self) -> tuple[Excerpt, ...]:
        """The sentences of the title."""
        title = self.document.title
        spans = self._split(Document(self.document.id, title, language=self.document.language))
        return tuple(Excerpt(self.document, span, title[span.start : span.end], "title") for span in spans)

    def around(self, excerpt: Excerpt) -> tuple[Excerpt, ...]:
        """The whole sentences that an excerpt holds or touches."""
        sentences = self.title if excerpt.part == "title" else self.sentences
        return tuple(s for s in sentences if s.span.start < excerpt.span.end and excerpt.span.start < s.span.end)

    @cached_property
    def words(self) -> tuple[frozenset[str], ...]:
        """The content words of each sentence."""
        return tuple(sought_words(sentence.text) for sentence in self.sentences)

    @cached_property
    def places(self) -> Mapping[str, tuple[int, ...]]:
        """Word -> the sentences it stands in."""
        places: defaultdict[str, list[int]] = defaultdict(list)
        for number, found in enumerate(self.words):
            for word in found:
                places[word].append(number)
        return {word: tuple(numbers) for word, numbers in places.items()}

    def whole(self) -> Excerpt:
        """The whole text as one excerpt."""
        return Excerpt(self.document, Span(0, len(self.document.text)), self.document.text)

    def best(self, claim: str) -> tuple[Excerpt, ...]:
        """The sentences that together hold most of the claim's content words, in source order; at most five.

        A sentence is added while it brings two new words, or one that is a tenth of them. A quotation's own sentences
        come first, and the neighbour that brings most before one from afar.
        """
        wanted, chosen = set(claimed_words(claim) | sought_words(claim)), set(self._quoted(claim))
        for number in chosen:
            wanted -= self.words[number]
        least = _WORD * min(2.0, max(1.0, len(wanted) / 10))
        while wanted and len(chosen) < MOST_SENTENCES:
            gains: Counter[int] = Counter()
            for word in sorted(wanted):
                gains.update(dict.fromkeys(self.places.get(word, ()), _NUMBER if word[0].isdecimal() else _WORD))
            if not gains:
                break
            near = {n + step for n in chosen for step in (-1, 1)}
            number, gain = max(gains.items(), key=lambda pair: (pair[1] + _WORD // 2 * (pair[0] in near), -pair[0]))
            if gain < least and chosen:
                break
            chosen.add(number)
            wanted -= self.words[number]
        return tuple(self.sentences[number] for number in sorted(chosen))

    def _quoted(self, claim: str) -> list[int]:
        found = []
        for quotation in find_quotations(claim):
            place = find_quoted(quotation.text, self.document.text)
            if place is not None and len(quotation.text) > 2:
                found += [
                    n for n, s in enumerate(self.sentences) if s.span.start < place.end and place.start < s.span.end
                ]
        return found[:MOST_SENTENCES]


def _aimed(citation: Citation, claim: str, documents: Mapping[str, Document]) -> Citation:
    """A citation of a whole document by a claim that is its title, as a headline out of Markdown is: of the title."""
    document = documents.get(citation.document_id)
    if document is None or citation.start is not None or citation.part == "title":
        return citation
    is_title = document.title.strip() and normalise(document.title) == normalise(claim)
    return replace(citation, part="title") if is_title else citation


def _decide(
    claim: Claim, topic: str, *, opened: Mapping[str, Opened], written: date | None, widely: bool = True
) -> Verdict:
    """The verdict on one claim; ``widely``: where it fails, say which other words do carry it."""
    documents = {key: each.document for key, each in opened.items()}
    cited = [resolve(_aimed(citation, claim.text, documents), documents) for citation in claim.citations]
    findings = list(citation_gate(cited, written=written))
    if not claim.citations and _claims_nothing(claim, topic):
        return Verdict(claim, "background", "says nothing that a source would have to carry")
    excerpts = _excerpts(claim, cited, opened=opened)
    named = {c.document.id for c in cited if c.document}
    if not excerpts:
        findings += _in_another_language(claim, cited)
        findings += _said_elsewhere(claim, opened=opened, cited=named, written=written) if widely else []
        reasons = "; ".join(dict.fromkeys(f.check.reason for f in findings if not f.check.passed)) or "nothing alike"
        return Verdict(claim, "not_found", reasons, checks=_checks(findings))
    around = tuple(dict.fromkeys(s for e in excerpts for s in opened[e.document.id].around(e)))
    if any(is_verbatim(claim.text, run) for run in _runs(excerpts, around)):
        return _verdict(claim, findings, excerpts=excerpts, verbatim=True)
    findings += _compare(claim, excerpts, around, opened=opened, written=written)
    wording = findings.pop()
    if wording.conflict:
        wording = _named_elsewhere(claim, wording, opened=opened, cited=named, shown=excerpts)
    elif widely and not all(finding.check.passed for finding in (*findings, wording)):
        findings += _said_elsewhere(claim, opened=opened, cited=named, written=written)
    return _verdict(claim, [*findings, wording], excerpts=excerpts, verbatim=False)


def _in_another_language(claim: Claim, cited: Sequence[Cited]) -> list[Finding]:
    """That words cannot tell, where every cited text is Chinese and the claim is not, or the reverse."""
    texts = [one.document.text for one in cited if one.document is not None and one.document.text.strip()]
    if not texts or any(is_chinese(text) == is_chinese(claim.text) for text in texts):
        return []
    return [Finding(Check("wording", claim.text, passed=False, reason=FOREIGN), conflict=True)]


def _compare(
    claim: Claim,
    excerpts: Sequence[Excerpt],
    around: Sequence[Excerpt],
    *,
    opened: Mapping[str, Opened],
    written: date | None,
) -> list[Finding]:
    """What every gate but the citation's finds, the one for the wording last."""
    named = {citation.document_id for citation in claim.citations if citation.document_id in opened}
    others = [o.whole() for key, o in opened.items() if key not in named]
    own = [opened[key].whole() for key in sorted(named)]
    findings = [*quotation_gate(claim.text, excerpts, elsewhere=[*own, *others])]
    findings += number_gate(claim.text, excerpts, elsewhere=own)
    findings += date_gate(claim.text, excerpts, written=written)
    findings += name_gate(claim.text, excerpts, elsewhere=own)
    sentences = [sentence.text for sentence in around]
    findings += [*marks_gate(claim.text, sentences), *part_gate(claim.text, sentences)]
    compared = _compared(claim.text, findings)
    wording = wording_gate(compared, excerpts)
    findings += [] if wording.conflict else _turned(compared, around, documents=own)
    findings += question_gate(claim.text, sentences) if wording.check.passed else ()
    return [*findings, wording]


def _turned(claim: str, around: Sequence[Excerpt], *, documents: Sequence[Excerpt]) -> list[Finding]:
    """What turns a sentence of a claim round: another name, speaker, direction or subject, a negation more or less."""
    sentences = [sentence.text for sentence in around]
    findings = [*speaker_gate(claim, documents)]
    for span in split_sentences(claim):
        own = claim[span.start : span.end]
        if not is_verbatim(own, sentences):
            findings += names_gate(own, around, elsewhere=documents)
            findings += [*direction_gate(own, sentences), *negation_gate(own, sentences), *subject_gate(own, sentences)]
    return findings


def _compared(text: str, findings: Sequence[Finding]) -> str:
    """The claim without quotations that are labelled as translations: their words cannot stand in the source."""
    for finding in findings:
        if finding.check.kind == "quotation" and finding.check.reason == TRANSLATED:
            text = text.replace(finding.check.item, " ")
    return text


def _claims_nothing(claim: Claim, topic: str) -> bool:
    """Whether a claim without citations only repeats the topic, or has no word, number, date or quotation in it."""
    said = telling_words(claim.text)
    if find_quantities(claim.text) or find_dates(claim.text) or find_quotations(claim.text):
        return claim.text.strip() == topic.strip()
    return not said or coverage(said, telling_words(topic)) >= _REPEATS


def _excerpts(claim: Claim, cited: Sequence[Cited], *, opened: Mapping[str, Opened]) -> tuple[Excerpt, ...]:
    """The words that should carry a claim: those cited, or the best sentences of a document cited as a whole."""
    found: list[Excerpt] = []
    for one in cited:
        exact = one.citation.start is not None or one.citation.part == "title"
        if one.excerpt is not None and exact:
            found.append(one.excerpt)
        elif one.document is not None and one.document.text:
            found += opened[one.document.id].best(claim.text)
    return tuple(dict.fromkeys(found))


def _runs(excerpts: Sequence[Excerpt], around: Sequence[Excerpt]) -> Iterator[tuple[str, ...]]:
    """The texts of neighbouring sentences that the excerpts hold whole."""
    run: list[Excerpt] = []
    for sentence in around:
        whole = any(
            (e.document.id, e.part) == (sentence.document.id, sentence.part)
            and e.span.start <= sentence.span.start
            and sentence.span.end <= e.span.end
            for e in excerpts
        )
        text = sentence.document.title if sentence.part == "title" else sentence.document.text
        near = run and run[-1].document.id == sentence.document.id and run[-1].part == sentence.part
        if not whole or not near or text[run[-1].span.end : sentence.span.start].strip():
            yield tuple(one.text for one in run)
            run = []
        run += [sentence] if whole else []
    yield tuple(one.text for one in run)


def _named_elsewhere(
    claim: Claim, wording: Finding, *, opened: Mapping[str, Opened], cited: Container[str], shown: Sequence[Excerpt]
) -> Finding:
    """The failed wording check, with the place of a sentence that is not cited and does hold words, numbers and dates.

    The cited documents are searched first.
    """
    said = telling_words(claim.text)
    for key in sorted(opened, key=lambda key: (key not in cited, key)):
        best = [s for s in opened[key].best(claim.text) if s not in shown][:2]
        held = frozenset().union(*(telling_words(sentence.text) for sentence in best))
        gates = (*number_gate(claim.text, best), *date_gate(claim.text, best)) if best else ()
        if best and coverage(said, held) >= _REPEATS and all(finding.check.passed for finding in gates):
            own = max(best, key=lambda s: coverage(said, telling_words(s.text)))
            where = f"{key!r} at {own.span.start}-{own.span.end}"
            tail = "outside the cited words, has them" if key in cited else "which is not cited, has them"
            reason = f"{wording.check.reason}; {where}, {tail}"
            return Finding(Check("wording", claim.text, passed=False, reason=reason), conflict=True)
    return wording


def _said_elsewhere(
    claim: Claim, *, opened: Mapping[str, Opened], cited: Container[str], written: date | None
) -> list[Finding]:
    """Where a claim that fails is carried after all: a remark with the place, the cited documents searched first."""
    said = telling_words(claim.text)
    if not said:
        return []
    for key in sorted(opened, key=lambda key: (key not in cited, key)):
        best = opened[key].best(claim.text)
        if coverage(said, frozenset().union(*(telling_words(sentence.text) for sentence in best))) < _REPEATS:
            continue
        moved = replace(claim, citations=(Citation(0, key),))
        if _decide(moved, "", opened=opened, written=written, widely=False).support == "supported":
            own = max(best, key=lambda s: coverage(said, telling_words(s.text)))
            tail = "outside the cited words, says it" if key in cited else "which is not cited, says it"
            reason = f"{key!r} at {own.span.start}-{own.span.end}, {tail}"
            return [Finding(Check("citation", key, passed=False, reason=reason))]
    return []


def _checks(findings: Sequence[Finding]) -> tuple[Check, ...]:
    return tuple(finding.check for finding in findings)


def _verdict(claim: Claim, findings: Sequence[Finding], *, excerpts: Sequence[Excerpt], verbatim: bool) -> Verdict:
    failed = [finding for finding in findings if not finding.check.passed]
    support, reason = _support(failed, findings, verbatim=verbatim)
    evidence = _evidence(claim, excerpts) if support != "not_found" else ()
    notes = [f.check.reason for f in findings if f.check.kind == "citation" and f.check.passed and f.check.reason]
    return Verdict(claim, support, "; ".join([reason, *notes]), evidence, _checks(findings))


def _support(failed: Sequence[Finding], findings: Sequence[Finding], *, verbatim: bool) -> tuple[Support, str]:
    """The decision: whether the words are alike at all, then what speaks against the claim, then what is not there."""
    if not failed:
        return (
            "supported",
            "word for word in the source" if verbatim else "its words, numbers, dates and quotations are there",
        )
    reasons = "; ".join(_shown(finding.check) for finding in failed)
    wording = next((finding for finding in failed if finding.check.kind == "wording" and finding.conflict), None)
    if wording is not None and not _carried_otherwise(wording, findings):
        return "not_found", reasons
    if any(finding.conflict for finding in failed if finding is not wording):
        return "contradicted", reasons
    return "partly", reasons


def _carried_otherwise(wording: Finding, findings: Sequence[Finding]) -> bool:
    """Whether a long quotation stands in the source, or all that can be compared across languages does."""
    seen = [finding for finding in findings if finding.check.kind in ("quotation", "number", "date")]
    if any(f.check.kind == "quotation" and f.check.passed and len(f.check.item) > _LONG_QUOTATION for f in seen):
        return True
    return wording.check.reason == FOREIGN and bool(seen) and all(finding.check.passed for finding in seen)


def _shown(check: Check) -> str:
    return check.reason if check.kind in ("wording", "citation") else f"{check.kind} {check.item!r}: {check.reason}"


def _evidence(claim: Claim, excerpts: Sequence[Excerpt]) -> tuple[Citation, ...]:
    """Exact citations of the excerpts, under the number by which the claim cites their document."""
    numbers = {citation.document_id: citation for citation in reversed(claim.citations)}
    return tuple(
        Citation(
            numbers[e.document.id].number, e.document.id, e.span.start, e.span.end, e.text,
            sentence_id=numbers[e.document.id].sentence_id if numbers[e.document.id].start == e.span.start else "",
            part=e.part,
        )
        for e in excerpts
    )  # fmt: skip
