"""The one way from a file with an article to its verdicts: ours against its archive, anybody's against a folder."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from groundwire.core.types import Article, Document
from groundwire.flow.article_scores import read_folder
from groundwire.flow.checking import Checked, check_verdicts, cited_documents, verify_article
from groundwire.flow.exports import read_article, text_of
from groundwire.flow.foreign import verify_foreign
from groundwire.flow.sourcing import Assistant
from groundwire.retrieval.index import Archive
from groundwire.writing.model_check import CheckSettings
from groundwire.writing.repair import diff_lines, repair_article


@dataclass(frozen=True, slots=True)
class Verified:
    """An article of a file with its verdicts; ``notes`` say what of it could not be read or resolved."""

    article: Article
    checked: Checked
    documents: Mapping[str, Document]
    notes: tuple[str, ...]

    def repairs(self) -> tuple[str, ...]:
        """What a repair would change, as lines of a diff; the file stays as it is."""
        done = repair_article(self.article, self.checked.verdicts, self.documents)
        return diff_lines(done.repairs, language=self.article.language)


def verify_own(
    path: Path, archive: Archive, *, assistant: Assistant | None = None, as_of: date | None = None
) -> Verified:
    """Check an article that groundwire wrote, also an edited one, against its archive as it is today.

    Raises:
        UnreadableInput, UsageError: as ``read_article``.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    reopened = read_article(path)
    article = replace(reopened.article, as_of=as_of) if as_of else reopened.article
    documents = cited_documents(archive, article)
    checked = check_verdicts(
        article,
        documents,
        verdicts=verify_article(article, archive),
        recording=assistant.recording if assistant else None,
        model=assistant.model if assistant else None,
    )
    return Verified(article, checked, documents, tuple(map(str, reopened.notes)))


def verify_with_sources(
    path: Path,
    folder: Path,
    *,
    assistant: Assistant | None = None,
    as_of: date | None = None,
    prompts: Path | None = None,
) -> Verified:
    """Check an article of anybody (Markdown, text or HTML) against the sources of a folder.

    Raises:
        UnreadableInput: the article or the sources cannot be read.
        MissingExtra: it is HTML, and trafilatura is not installed.
        ModelError, BudgetReached, CannotDo: as ``traffic.ask``.
    """
    documents = read_folder(folder)
    found = verify_foreign(
        text_of(path),
        documents.values(),
        recording=assistant.recording if assistant else None,
        model=assistant.model if assistant else None,
        how=CheckSettings(prompts=prompts),
        as_of=as_of,
    )
    notes = (*found.foreign.matched, *map(str, found.foreign.notes))
    return Verified(found.foreign.article, found.checked, documents, notes)
