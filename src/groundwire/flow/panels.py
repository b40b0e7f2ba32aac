"""What the page shows of the findings about an article: values ready for its template."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from groundwire.core.findings import Repair, Statement
from groundwire.core.types import Article, Citation
from groundwire.flow.excerpts import Quote
from groundwire.flow.findings import Change, Findings, about, changes, markers, quality_in_words, reason_in_words
from groundwire.flow.wording import fixed_words


@dataclass(frozen=True, slots=True)
class StatementView:
    """What one source states: the words around the value in ``quote``, the value itself in ``written``."""

    quote: Quote
    written: str
    start: str
    end: str
    as_of: str


@dataclass(frozen=True, slots=True)
class DiscordView:
    """A conflict or an update with its sides."""

    kind: str
    about: str
    reason: str
    statements: tuple[StatementView, ...]


@dataclass(frozen=True, slots=True)
class RepairView:
    """A repair as a diff; ``anchor`` is the claim on the page, nothing where it was cut."""

    kind: str
    changes: tuple[Change, ...]
    marks_before: str
    marks_after: str
    reason: str
    anchor: str


@dataclass(frozen=True, slots=True)
class PremiseView:
    """Words of the topic, and what the sources say instead."""

    item: str
    reason: str
    quotes: tuple[Quote, ...]


@dataclass(frozen=True, slots=True)
class FindingsView:
    """A panel each; ``style`` holds rule, words, advice and the claim on the page."""

    premise: tuple[PremiseView, ...]
    warnings: tuple[tuple[str, str], ...]
    discords: tuple[DiscordView, ...]
    repairs: tuple[RepairView, ...]
    style: tuple[tuple[str, str, str, str], ...]
    uncited: tuple[str, ...]
    quality: str


def show_findings(found: Findings, article: Article, *, quote: Callable[[Citation], Quote]) -> FindingsView:
    """The panels of a page; ``quote`` finds the words around a citation."""
    words = fixed_words(article.language)
    anchors = {claim.id: f"c{place}" for place, claim in enumerate(article.claims, start=1)}
    return FindingsView(
        premise=tuple(
            PremiseView(one.item, reason_in_words(one.reason, article.language), tuple(map(quote, one.evidence)))
            for one in found.premise
        ),
        warnings=(
            *((words["orders"], reason_in_words(line, article.language)) for line in found.orders),
            *((words["thin"], line) for line in found.thin),
        ),
        discords=tuple(
            DiscordView(
                one.kind,
                about(one, words=words),
                reason_in_words(one.reason, article.language),
                tuple(_show_statement(side, quote) for side in one.statements),
            )
            for one in found.discords
        ),
        repairs=tuple(_show_repair(one, anchors.get(one.after.id, "") if one.after else "") for one in found.repairs),
        style=tuple((one.rule, one.item, one.advice, anchors.get(one.claim_id, "")) for one in found.style),
        uncited=found.uncited,
        quality=quality_in_words(found.quality, words) if found.quality else "",
    )


def _show_statement(statement: Statement, quote: Callable[[Citation], Quote]) -> StatementView:
    """The words cited, parted at the value; unparted where the value does not stand among them."""
    held = quote(statement.citation)
    start, written, end = held.held.cited.partition(statement.written) if statement.written else ("", "", "")
    if not written:
        start, end = held.held.cited, ""
    return StatementView(held, written, start, end, statement.as_of)


def _show_repair(repair: Repair, anchor: str) -> RepairView:
    return RepairView(
        kind=repair.kind,
        changes=changes(repair),
        marks_before=markers(repair.before),
        marks_after=markers(repair.after) if repair.after else "",
        reason=repair.reason,
        anchor=anchor,
    )
