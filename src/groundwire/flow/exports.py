"""Written articles -> files, and files -> articles again."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

from groundwire.core.encodings import decode
from groundwire.core.errors import UnreadableInput, UsageError
from groundwire.flow.docx import render_docx
from groundwire.flow.independence import independence_row
from groundwire.flow.page import render_page
from groundwire.flow.pipeline import Written
from groundwire.flow.render import Provenance, hash_texts, render_json, render_markdown
from groundwire.flow.reopen import Reopened, reopen
from groundwire.flow.settings import Settings, names, value_of
from groundwire.retrieval.index import Archive

KINDS = (".md", ".html", ".json", ".docx")


def suffixes_of(paths: Sequence[str]) -> tuple[str, ...]:
    """The kinds of export that file names ask for.

    Raises:
        UsageError: a suffix is none of ``KINDS``.
    """
    for path in paths:
        if Path(path).suffix.lower() not in KINDS:
            raise UsageError(f"'{path}' ends in none of {', '.join(KINDS)}, so its format is not known")
    return tuple(Path(path).suffix.lower() for path in paths)


def export(
    archive: Archive, written: Written, *, kind: str, settings: Settings, created: datetime | None = None
) -> str:
    """The article as Markdown (``.md``), a self-contained page (``.html``) or JSON with provenance (``.json``).

    Raises:
        UsageError: the kind is another; a Word document is not text, and ``save`` writes it.
    """
    made = _provenance(archive, written, settings=settings, created=created)
    article, verdicts, found = written.article, written.verdicts, written.independence
    if kind == ".json":
        row = independence_row(found, article)
        return render_json(article, provenance=made, verdicts=verdicts, independence=row, findings=written.findings)
    if kind == ".html":
        return render_page(
            article,
            verdicts=verdicts,
            documents=written.documents,
            provenance=made,
            independence=found,
            findings=written.findings,
        )
    if kind != ".md":
        raise UsageError(
            f"'{kind}' is none of the kinds of text: .md, .html, .json. Save the article to a file instead."
        )
    return render_markdown(
        article, verdicts=verdicts, provenance=made, independent=found.independent, findings=written.findings
    )


def export_word(archive: Archive, written: Written, *, settings: Settings, created: datetime | None = None) -> bytes:
    """The article as a Word document (``.docx``): citations are footnotes, findings an appendix.

    Raises:
        MissingExtra: python-docx is not installed.
    """
    made = _provenance(archive, written, settings=settings, created=created)
    independent = written.independence.independent
    return render_docx(
        written.article, provenance=made, verdicts=written.verdicts, findings=written.findings, independent=independent
    )


def _provenance(archive: Archive, written: Written, *, settings: Settings, created: datetime | None) -> Provenance:
    return Provenance(
        version=version("groundwire"),
        created=(created or datetime.now().astimezone()).isoformat(timespec="seconds"),
        archive=archive.name,
        embedder=archive.embedder.id,
        settings=tuple((name, str(value_of(settings, name))) for name in names()),
        hashes=hash_texts(written.documents.values()),
    )


def save(
    archive: Archive, written: Written, *, path: Path, settings: Settings, created: datetime | None = None
) -> None:
    """Write one export, whole or not at all; its kind follows from the suffix.

    Raises:
        UsageError: the suffix is none of ``KINDS``.
        MissingExtra: the suffix is ``.docx``, and python-docx is not installed.
    """
    (kind,) = suffixes_of([str(path)])
    if kind == ".docx":
        held = export_word(archive, written, settings=settings, created=created)
    else:
        text = export(archive, written, kind=kind, settings=settings, created=created)
        held = text.encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.draft")
    draft.write_bytes(held)
    draft.replace(path)


def read_article(path: Path) -> Reopened:
    """Read an article that ``save`` wrote as JSON or Markdown, also after it was edited by hand.

    Raises:
        UnreadableInput: the file is not there, is a folder, or is not text.
        UsageError: it is not such an article; the message names the file.
    """
    if path.suffix.lower() in (".html", ".htm", ".docx"):
        raise UsageError(f"{path} is for readers; check the .md or .json of the same article")
    text = text_of(path)
    try:
        return reopen(text)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    except UnreadableInput as error:
        raise UnreadableInput(f"{path}: {error}") from error


def text_of(path: Path) -> str:
    """The text of a file, whatever its encoding.

    Raises:
        UnreadableInput: the file is not there, is a folder, or is not text.
    """
    try:
        return decode(path.read_bytes()).text
    except OSError as error:
        raise UnreadableInput(f"{path} cannot be read: {error.strerror}") from error
    except UnreadableInput as error:
        raise UnreadableInput(f"{path} cannot be read: {error}") from error
