"""What is found about a written article beside its verdicts: conflicts of its sources, its premise, style, repairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from groundwire.core.types import Citation, Claim


@dataclass(frozen=True, slots=True)
class Repair:
    """One change that was made to an article after it was checked; nothing changes without one.

    ``recited``: cites the words that carry it; ``quoted``: a quotation as the source has it; ``softened``: what no
    source says was taken out or attributed; ``cut``: the whole claim went, and ``after`` is None.
    """

    kind: Literal["recited", "quoted", "softened", "cut"]
    before: Claim
    after: Claim | None
    reason: str


@dataclass(frozen=True, slots=True)
class Statement:
    """One value that a source states of something: the words stand at ``citation``.

    ``subject`` are the names beside it, ``measure`` what is measured ("deaths"), empty where neither is known.
    ``value`` is the number in ``unit`` with its scale worked out (500 million: 500000000.0), ``written`` as the source
    has it. ``as_of`` is the day, month or year (ISO 8601) that it holds for, the source's own date where it does not
    say; empty where neither is known.
    """

    subject: str
    measure: str
    value: float
    unit: str
    written: str
    as_of: str
    citation: Citation


@dataclass(frozen=True, slots=True)
class Discord:
    """What sources say differently of one thing, in order of time.

    ``conflict``: for the same time, so they cannot all be right; ``update``: for later times, so the last one counts.
    """

    kind: Literal["conflict", "update"]
    statements: tuple[Statement, ...]
    reason: str


@dataclass(frozen=True, slots=True)
class PremiseNote:
    """Something that the topic takes for granted and the sources contradict: its words, and what the sources say."""

    item: str
    reason: str
    evidence: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class StyleFinding:
    """Words of an article that a house rule speaks against; ``claim_id`` is empty where the whole article is meant."""

    rule: str
    item: str
    advice: str
    claim_id: str = ""


@dataclass(frozen=True, slots=True)
class CitationQuality:
    """How well an article cites, over its ``claims`` that claim something; shares from 0 to 1, None of nothing.

    ``recall``: claims that their citations together carry. ``precision``: citations that carry their claim, or without
    which the others do not. ``cited``: claims that cite at all. ``undecided`` claims and citations are in none of them.
    """

    recall: float | None
    precision: float | None
    cited: float | None
    claims: int
    citations: int
    undecided: int = 0
