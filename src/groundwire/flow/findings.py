"""What was found about an article beside its verdicts, gathered for its exports, and worded for an editor."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from groundwire.core.findings import CitationQuality, Discord, PremiseNote, Repair, Statement, StyleFinding
from groundwire.core.types import Article, Claim
from groundwire.flow.wording import Words, words_language
from groundwire.writing.reasons import read_reason, worded, worded_note

_TOKEN = re.compile(r"[^\W_\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff]+(?:[.,'’-][^\W_\u3000-\u9fff]+)*|\s+|.", re.DOTALL)
_MOSTLY_NEW = 0.4
"""Below this likeness two wordings are shown one after the other: their words mixed could not be read."""


@dataclass(frozen=True, slots=True)
class Findings:
    """All that was found about an article; empty where nothing was found or nobody looked.

    ``orders``, ``thin`` and ``uncited`` are lines for people: sources that give orders to a model, where the evidence
    is thin, sources that were kept but never cited. ``origins`` say who the documents are that statements stand in, by
    id, for those that the article does not list.
    """

    discords: tuple[Discord, ...] = ()
    premise: tuple[PremiseNote, ...] = ()
    style: tuple[StyleFinding, ...] = ()
    repairs: tuple[Repair, ...] = ()
    quality: CitationQuality | None = None
    orders: tuple[str, ...] = ()
    thin: tuple[str, ...] = ()
    uncited: tuple[str, ...] = ()
    origins: tuple[tuple[str, str], ...] = ()


NOTHING = Findings()


@dataclass(frozen=True, slots=True)
class Change:
    """A run of words of a claim before and after a repair."""

    kind: Literal["kept", "gone", "new"]
    text: str


def changes(repair: Repair) -> tuple[Change, ...]:
    """What a repair did to the words of a claim: kept and gone ones joined are the old, kept and new ones the new.

    Words of alphabetic scripts and characters of Chinese and Japanese are compared.
    """
    old = _TOKEN.findall(repair.before.text)
    new = _TOKEN.findall(repair.after.text) if repair.after else []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    if matcher.ratio() < _MOSTLY_NEW:
        runs = [Change("gone", "".join(old)), Change("new", "".join(new))]
    else:
        runs = []
        for tag, start, end, first, last in matcher.get_opcodes():
            if tag == "equal":
                runs.append(Change("kept", "".join(old[start:end])))
                continue
            runs += [Change("gone", "".join(old[start:end])), Change("new", "".join(new[first:last]))]
    return tuple(run for run in runs if run.text)


def markers(claim: Claim) -> str:
    """The markers of a claim as a reader sees them: ``[1][3]``."""
    return "".join(f"[{number}]" for number in dict.fromkeys(citation.number for citation in claim.citations))


def origin_of(statement: Statement, article: Article, *, words: Words, origins: Mapping[str, str]) -> str:
    """Who states it: number, outlet or title, and date of the source; without a number where it is not listed."""
    name = statement.citation.document_id
    source = next((one for one in article.sources if one.document_id == name), None)
    if source is None:
        return origins.get(name, name)
    day = source.published.isoformat() if source.published else ""
    named = words["comma"].join(filter(None, (source.source or source.title, day)))
    return f"[{source.number}] {named}".rstrip()


def amount(statement: Statement, discord: Discord) -> str:
    """What a statement says, with its sign where another of the discord says the opposite: +3% and −3%."""
    if all(one.value >= 0 for one in discord.statements):
        return statement.written
    return f"{'−' if statement.value < 0 else '+'}{statement.written}"


def about(discord: Discord, *, words: Words) -> str:
    """What the statements of a discord are about, once: its subject, and its measure."""
    first = discord.statements[0] if discord.statements else None
    if first is None:
        return ""
    return words["comma"].join(filter(None, (first.subject, words.get(f"measure_{first.measure}", first.measure))))


def reason_in_words(reason: str, language: str) -> str:
    """The reason of a premise note or a discord, or a line on orders, in the language of an article."""
    return worded(read_reason(reason), words_language(language))


def notes_in_words(article: Article) -> tuple[str, ...]:
    """The notes on an article in its language."""
    return tuple(worded_note(note, words_language(article.language)) for note in article.notes)


def quality_in_words(quality: CitationQuality, words: Words) -> str:
    """Recall, precision and share cited, with their counts; what was undecided is named."""
    parts = [
        words[key].format(share=words["no_value"] if share is None else f"{share:.0%}")
        for key, share in (
            ("citation_recall", quality.recall),
            ("citation_precision", quality.precision),
            ("share_cited", quality.cited),
        )
    ]
    counted = words["quality_counts"].format(claims=quality.claims, citations=quality.citations)
    if quality.undecided:
        counted += words["comma"] + words["undecided"].format(n=quality.undecided)
    return words["semicolon"].join((*parts, counted))


def finding_lines(findings: Findings, article: Article, *, words: Words) -> Iterator[tuple[str, str]]:
    """Everything found but the repairs, as pairs of what it is and what it says, the gravest first."""
    for note in findings.premise:
        yield words["premise"], words["colon"].join((note.item, reason_in_words(note.reason, article.language)))
    for line in findings.orders:
        yield words["orders"], reason_in_words(line, article.language)
    for line in findings.thin:
        yield words["thin"], line
    for discord in findings.discords:
        said = words["semicolon"].join(
            f"{amount(one, discord)} ({origin_of(one, article, words=words, origins=dict(findings.origins))})"
            for one in discord.statements
        )
        yield (
            words[discord.kind],
            words["colon"].join(filter(None, (about(discord, words=words), said))),
        )
    for style in findings.style:
        said = words["colon"].join(filter(None, (style.item, style.advice)))
        yield words["style"], f"{style.rule} · {said}" if said else style.rule
    for line in findings.uncited:
        yield words["uncited"], line
    if findings.quality is not None:
        yield words["quality"], quality_in_words(findings.quality, words)


def repair_line(repair: Repair, words: Words) -> tuple[str, str]:
    """A repair in one line: what was done, and the words before and after with their markers."""
    before = f"{repair.before.text} {markers(repair.before)}".rstrip()
    after = f"{repair.after.text} {markers(repair.after)}".rstrip() if repair.after else words["gone"]
    reason = f" — {repair.reason}" if repair.reason else ""
    return words[repair.kind], f"{before} → {after}{reason}"
