"""What a terminal shows: data on stdout as plain lines or JSON, talk and progress on stderr."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from datetime import date
from io import TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from groundwire.core.findings import CitationQuality
    from groundwire.core.ports import Progress
    from groundwire.core.types import Document, Evidence, Hit, Interval, Verdict
    from groundwire.evaluation.stats import Summary
    from groundwire.flow.versions import ArchiveCopies


def prepare() -> None:
    """Let a stream that cannot hold a character print its escape instead of failing (a console in cp1252, say)."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def say(message: str) -> None:
    """Talk: one line on stderr."""
    click.echo(message, err=True)


def step(done: int, total: int | None, label: str, /) -> None:
    """Progress where no bar can be drawn: a line a step on stderr."""
    say(f"{label} ({done} of {'?' if total is None else total})")


def as_json(value: object) -> None:
    """Data: one JSON value on stdout, as ``json_of`` writes it."""
    click.echo(json_of(value))


def json_of(value: object) -> str:
    """A value as JSON; dataclasses become objects, dates ISO strings, numbers that are none null."""
    return json.dumps(_plain(value), ensure_ascii=False, indent=2)


def lines(rows: Iterable[str]) -> None:
    """Data: lines on stdout."""
    for row in rows:
        click.echo(row)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Data: columns on stdout, as wide as their contents; wide characters count double."""
    lines(columns(heads, rows))


def columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """The lines of a table."""
    from rich.cells import cell_len

    widths = [max(cell_len(str(row[place])) for row in (heads, *rows)) for place in range(len(heads))]
    for row in (heads, *rows):
        cells = [str(cell) + " " * (width - cell_len(str(cell))) for cell, width in zip(row, widths, strict=True)]
        yield "  ".join(cells).rstrip()


def rows(heads: Sequence[str], found: Sequence[Sequence[str]], *, json_: bool) -> None:
    """Data: a table, or a list of objects."""
    if json_:
        as_json([dict(zip(heads, row, strict=True)) for row in found])
    else:
        table(heads, found)


def hits_as_json(found: Sequence[Hit], documents: Mapping[str, Document], *, marks: Mapping[str, str]) -> None:
    """Data: hits with the head of their document, and the letter of the story that it is a version of."""
    rows = []
    for hit in found:
        document = documents[hit.sentence.document_id]
        about = {"title": document.title, "source": document.source, "published": document.published}
        rows.append({**asdict(hit), **about, "story": marks.get(document.id)})
    as_json(rows)


def hits(found: Sequence[Hit], documents: Mapping[str, Document], *, marks: Mapping[str, str]) -> None:
    """Ranked sentences with where they stand, and the letter of the story that their document is a version of."""
    for hit in found:
        mark = marks.get(hit.sentence.document_id)
        click.echo(f"{hit.rank:>3}  {' '.join(hit.sentence.text.split())}")
        click.echo(f"     {_place(hit, documents)}  [{_values(hit)}]{f'  story {mark}' if mark else ''}")
    if marks:
        stories, held = len(set(marks.values())), len({hit.sentence.document_id for hit in found})
        say(f"{held} documents, {held - len(marks) + stories} independent; those of one story are versions of it")


def evidence(packed: Evidence, documents: Mapping[str, Document]) -> None:
    """Packed sentences under the head of their document, then what was left out."""
    last = ""
    headers = dict(packed.headers)
    for hit in packed.hits:
        document = documents[hit.sentence.document_id]
        if document.id != last:
            click.echo(f"# {headers.get(document.id) or _head(document)}")
            last = document.id
        click.echo(" ".join(hit.sentence.text.split()))
    counted = f"{packed.tokens} of {packed.budget} tokens ({packed.tokenizer})"
    say(f"{counted}, {len(packed.hits)} sentences; {len(packed.dropped)} left out")
    for dropped in packed.dropped:
        say(f"  left out, rank {dropped.hit.rank}: {dropped.reason}")


def copies(found: ArchiveCopies) -> None:
    """Documents that are versions of one story, and under them the numbers in which they differ."""
    for story in found.stories:
        click.echo(f"story {story.mark}: {len(story.documents)} versions")
        for document in story.documents:
            click.echo(f"  {document.id}  {_head(document)}")
        for one in story.differences:
            here, there = ", ".join(one.numbers), ", ".join(one.others)
            click.echo(f"    {one.document_id} has {here}, {one.shared_by} of its other versions {there}: {one.text}")
    several = len(found.stories)
    say(f"{found.compared} documents compared, {found.independent} independent; stories in versions: {several}")


def verdicts(found: Sequence[Verdict]) -> None:
    """One line a claim, with the reason and the checks that failed."""
    for verdict in found:
        click.echo(f"{verdict.support:<12} {verdict.claim.id:<4} {verdict.claim.text}")
        if verdict.reason:
            click.echo(f"{'':<17} {verdict.reason}")
    supported = sum(verdict.support == "supported" for verdict in found)
    say(f"{supported} of {len(found)} claims supported")


def quality(found: CitationQuality) -> None:
    """How well an article cites, in a line."""
    shares = {"recall": found.recall, "precision": found.precision, "cited": found.cited}
    told = ", ".join(f"{name} {'–' if share is None else f'{share:.2f}'}" for name, share in shares.items())
    say(f"citations: {told} ({found.claims} claims, {found.citations} citations, {found.undecided} undecided)")


def summaries(found: Sequence[Summary]) -> None:
    """Means with intervals, coverage and what was unscored."""
    heads = ("rubric", "system", "mean", "interval", "n", "unscored", "outcomes")
    rows = [
        (
            item.rubric,
            item.system or "–",
            number(item.interval.mean),
            interval(item.interval),
            str(item.interval.n),
            str(item.interval.unscored),
            ", ".join(f"{name} {count}" for name, count in item.outcomes),
        )
        for item in found
    ]
    table(heads, rows)
    if found:
        first = found[0]
        say(f"judge {first.judge}; {first.interval.level:.0%} bootstrap intervals, seed {first.interval.seed}")


def number(value: float) -> str:
    """One decimal; a dash for what could not be measured."""
    return "–" if math.isnan(value) else f"{value:.1f}"


def interval(value: Interval) -> str:
    """``[low, high]``, or a dash where there are too few values for one."""
    return "–" if math.isnan(value.low) else f"[{value.low:.1f}, {value.high:.1f}]"


@contextmanager
def progress(label: str) -> Iterator[Progress | None]:
    """A progress bar on stderr for the length of a ``with`` block; none where nobody is looking."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=None)

        def report(done: int, total: int | None, words: str, /) -> None:
            bar.update(task, completed=done, total=total, description=f"{label} {words}".strip())

        yield report


def _place(hit: Hit, documents: Mapping[str, Document]) -> str:
    document = documents.get(hit.sentence.document_id)
    head = _head(document) if document else hit.sentence.document_id
    return f"{head}  {hit.sentence.document_id} {hit.sentence.start}-{hit.sentence.end}"


def _head(document: Document) -> str:
    day = document.published.isoformat() if document.published else ""
    named = document.name if document.name != document.id else ""
    return " · ".join(part for part in (named, document.source, day) if part) or document.id


def _values(hit: Hit) -> str:
    parts = [f"strength {hit.strength:.3f}"]
    if hit.similarity is not None:
        parts.append(f"similarity {hit.similarity:.3f}")
    if hit.bm25 is not None:
        parts.append(f"bm25 {hit.bm25:.2f}")
    return ", ".join(parts)


def _plain(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
