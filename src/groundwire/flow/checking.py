"""A written article -> its verdicts, how well it cites, and what is still undecided."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from groundwire.core.errors import UsageError
from groundwire.core.findings import CitationQuality
from groundwire.core.language import LanguageModel
from groundwire.core.prompts import LANGUAGES, load
from groundwire.core.replies import Reading
from groundwire.core.types import Article, Citation, Claim, Document, Filter, Verdict
from groundwire.flow.runs import Recording
from groundwire.retrieval.index import Archive
from groundwire.writing import model_check
from groundwire.writing.citation_quality import citation_quality, is_undecided
from groundwire.writing.model_check import Batch, CheckSettings
from groundwire.writing.verify import verify


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of checking an article.

    ``asked`` claims went to a model, and ``unread`` of them came back without a verdict that could be read, also when
    asked for once more. ``unsettled`` claims have nothing against them, but not all of their words for them, and
    nobody else decided; the unread are among them.
    """

    verdicts: tuple[Verdict, ...]
    quality: CitationQuality
    asked: int = 0
    unread: int = 0

    @property
    def unsettled(self) -> int:
        """How many claims nobody could decide."""
        return sum(map(is_undecided, self.verdicts))


def check_article(
    article: Article,
    documents: Mapping[str, Document],
    *,
    recording: Recording | None = None,
    model: LanguageModel | None = None,
    others: Iterable[Document] = (),
    how: CheckSettings | None = None,
) -> Checked:
    """Check every claim by the gates, and what they cannot settle by a model where one is given.

    Args:
        article: its ``as_of`` is the day by which its relative dates and an embargo of a source are read.
        documents: those it cites, by id.
        recording: the run that asks the model.
        model: who is asked; None: nobody.
        others: documents that were at hand and are not cited; searched to say where a claim stands instead.
        how: batches, and how much evidence is shown.

    Raises:
        UsageError: a model without a recording.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``; what was answered is in the ledger.
    """
    known = {**{document.id: document for document in others}, **documents}
    verdicts = verify(article, known, written=article.as_of)
    return check_verdicts(article, known, verdicts=verdicts, recording=recording, model=model, how=how)


def check_verdicts(
    article: Article,
    documents: Mapping[str, Document],
    *,
    verdicts: Sequence[Verdict],
    recording: Recording | None = None,
    model: LanguageModel | None = None,
    how: CheckSettings | None = None,
) -> Checked:
    """The same for verdicts of the gates that are there already, one a claim, in order.

    Raises:
        UsageError: a model without a recording.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    found, asked, unread = tuple(verdicts), 0, 0
    if model is not None:
        if recording is None:
            raise UsageError(f"'{model.id}' is to check claims, but no run is given that asks it")
        found, asked, unread = _ask(found, documents, model=model, recording=recording, how=how or CheckSettings())
    return Checked(found, citation_quality(article, documents, verdicts=found), asked, unread)


def _ask(
    verdicts: tuple[Verdict, ...],
    documents: Mapping[str, Document],
    *,
    model: LanguageModel,
    recording: Recording,
    how: CheckSettings,
) -> tuple[tuple[Verdict, ...], int, int]:
    """The verdicts once the model has spoken, of how many claims it was asked, and how many have no word."""
    able = recording.capabilities(model)
    doubts = model_check.doubts(verdicts, documents, settings=how)
    first = model_check.batches(doubts, settings=how, capabilities=able)
    _take_down(first, recording, how)
    words = _read(first, model=model, recording=recording)
    further = [
        more
        for batch in first
        if (more := model_check.again(batch, [words[d.place] for d in batch.doubts], settings=how, capabilities=able))
    ]
    words |= _read(further, model=model, recording=recording)
    found = list(verdicts)
    for doubt in doubts:
        found[doubt.place] = model_check.judged(doubt, words[doubt.place], model=model.id)
    return tuple(found), len(doubts), sum(reading.value is None for reading in words.values())


def _read(batches: Sequence[Batch], *, model: LanguageModel, recording: Recording) -> dict[int, Reading[str]]:
    """The word for each claim of these batches, by its place."""
    requests = [batch.request for batch in batches]
    answers = recording.ask(requests, model=model) if requests else ()
    return {
        doubt.place: reading
        for batch, answer in zip(batches, answers, strict=True)
        for doubt, reading in zip(batch.doubts, model_check.read(batch, answer), strict=True)
    }


def _take_down(batches: Sequence[Batch], recording: Recording, how: CheckSettings) -> None:
    """Note the prompts that are used."""
    used = {batch.request.prompt for batch in batches}
    for name in ("verify", "entail"):
        for language in LANGUAGES:
            found = load(name, language, folder=how.prompts)
            if found.fingerprint in used:
                recording.prompt(f"{name}.{language}", found.fingerprint)


def verify_article(article: Article, archive: Archive) -> tuple[Verdict, ...]:
    """Check each claim of an article, also one written before the archive changed, against what it cites.

    A file without an id of its own has another id once it was edited. Where the archive no longer holds a cited
    document, but the very words stand in another one, the claim is checked there, and the verdict's reason says so.
    """
    homes = _new_homes(archive, article)
    moved = _moved(article, homes)
    verdicts = verify(moved, cited_documents(archive, moved), written=article.as_of)
    return tuple(
        replace(verdict, claim=claim, reason="; ".join([verdict.reason, *_remarks(claim, homes)]))
        for claim, verdict in zip(article.claims, verdicts, strict=True)
    )


def _new_homes(archive: Archive, article: Article) -> dict[Citation, Citation]:
    """Citations of documents that are gone -> the same words in another document.

    Where a document's words stand in another one, that is what has become of it: its title and what no longer stands
    there are looked for in it, too. Without words of its own a citation stands for the whole document, and the words of
    the claim are looked for.
    """
    documents = cited_documents(archive, article)
    lost: dict[Citation, list[str]] = {}
    for claim in article.claims:
        for citation in claim.citations:
            if citation.document_id not in documents:
                lost.setdefault(citation, []).append(citation.text if citation.text.strip() else claim.text)
    homes: dict[Citation, Citation] = {}
    for citation, texts in lost.items():
        found = [home for text in texts if (home := _where_it_stands(archive, citation, text=text))]
        if citation.part == "text" and found:
            homes[citation] = found[0]
    successors = {citation.document_id: found.document_id for citation, found in homes.items()}
    for citation in lost:
        if citation not in homes and citation.document_id in successors:
            homes[citation] = replace(citation, document_id=successors[citation.document_id], sentence_id="")
    return homes


def _where_it_stands(archive: Archive, citation: Citation, *, text: str) -> Citation | None:
    for match in archive.store.lexical(text, k=5, where=Filter()):
        found = match.sentence
        if found.text == text and not citation.text:
            return replace(citation, document_id=found.document_id)
        if found.text == text:
            return replace(
                citation, document_id=found.document_id, start=found.start, end=found.end, sentence_id=found.id
            )
    return None


def _moved(article: Article, homes: Mapping[Citation, Citation]) -> Article:
    def moved(claim: Claim) -> Claim:
        return replace(claim, citations=tuple(homes.get(citation, citation) for citation in claim.citations))

    return replace(
        article,
        headline=moved(article.headline),
        lede=tuple(map(moved, article.lede)),
        sections=tuple(replace(section, claims=tuple(map(moved, section.claims))) for section in article.sections),
    )


def _remarks(claim: Claim, homes: Mapping[Citation, Citation]) -> list[str]:
    return [
        f"source changed: '{citation.document_id}' is gone, words of it stand in '{homes[citation].document_id}'"
        for citation in claim.citations
        if citation in homes
    ]


def cited_documents(archive: Archive, article: Article) -> Mapping[str, Document]:
    """The documents an article cites or lists, by id, as far as the archive holds them."""
    cited = {citation.document_id for claim in article.claims for citation in claim.citations}
    listed = {source.document_id for source in article.sources}
    return archive.store.documents(sorted(cited | listed))
