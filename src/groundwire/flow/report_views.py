"""What a report says of each measure: the verdict in words, standings and pairs as rows, in the words of a language."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from groundwire.core.types import Interval
from groundwire.evaluation.comparisons import MeasureComparison, PairComparison, p_in_words
from groundwire.evaluation.joins import Joined
from groundwire.flow.comparison_exports import decimals
from groundwire.flow.page import _shown
from groundwire.flow.report_figures import Figure
from groundwire.flow.report_items import Gap, widest_gaps

if TYPE_CHECKING:
    from markupsafe import Markup

LANGUAGES = ("en", "zh-TW")
"""The languages that reports are in, by column of their words."""

Words = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: what is shown, and the number that it is sorted by."""

    shown: str
    order: str = ""


@dataclass(frozen=True, slots=True)
class StandingView:
    """A row of the standings."""

    system: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class PairView:
    """A pair: its verdict in words, its figures, and the items on which the two differ most."""

    anchor: str
    one: str
    other: str
    decision: str
    words: Markup
    cells: tuple[Cell, ...]
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class MeasureView:
    """A measure as the page shows it."""

    anchor: str
    name: str
    summary: Markup
    scale: str
    lower: bool
    facts: str
    notes: tuple[str, ...]
    standings: tuple[StandingView, ...]
    pairs: tuple[PairView, ...]
    figures: tuple[Figure, ...]
    valued: bool


@cache
def report_words(language: str) -> Words:
    """The fixed words of reports in one of ``LANGUAGES``."""
    text = (files("groundwire.flow") / "templates" / "report.toml").read_text(encoding="utf-8")
    return {key: row[LANGUAGES.index(language)] for key, row in tomllib.loads(text).items()}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a measure is shown by, besides its results; no table where judges were bridged or nothing was compared."""

    place: int
    table: Joined | None
    scale: str
    lower: bool
    figures: tuple[Figure, ...]


def measure_view(measure: MeasureComparison, facts: Facts, *, words: Words) -> MeasureView:
    """A measure in words and rows."""
    anchor = f"m{facts.place}"
    how = words[f"how_{measure.how.replace(' ', '_')}"].format(n=f"{measure.permutations:,}")
    groups = words["letters_groups"].format(n=f"{measure.clusters:,}") if measure.clusters < measure.items else ""
    said = words["letters_note"].format(
        n=f"{measure.items:,}", groups=groups, left_out=f"{measure.left_out:,}", how=how
    )
    return MeasureView(
        anchor=anchor,
        name=measure.measure,
        summary=summary(measure, words=words),
        scale=words["scale"].format(scale=facts.scale) if facts.scale else "",
        lower=facts.lower,
        facts=said,
        notes=measure.notes,
        standings=_standings(measure),
        pairs=tuple(
            _pair(pair, measure, table=facts.table, anchor=f"{anchor}p{place}", words=words)
            for place, pair in enumerate(measure.pairs, start=1)
        ),
        figures=facts.figures,
        valued=facts.table is not None or not measure.pairs,
    )


def summary(measure: MeasureComparison, *, words: Words) -> Markup:
    """Who is best in a few words."""
    if not measure.pairs:
        return _filled(words["nothing"], {})
    first = measure.standings[0].system
    against = [pair for pair in measure.pairs if first in (pair.one, pair.other)]
    beaten = sum(pair.decision == ("better" if pair.one == first else "worse") for pair in against)
    if len(against) == 1:
        if beaten:
            return _filled(words["is_better"], {"one": first})
        return _filled(words[f"both_{against[0].decision}"], {})
    apart = sum(pair.decision in ("better", "worse") for pair in measure.pairs)
    held = {"one": first, "beaten": str(beaten), "others": str(len(against)), "apart": str(apart)}
    return _filled(words["leads" if beaten else "no_leader"], held | {"pairs": str(len(measure.pairs))})


def verdict(pair: PairComparison, *, words: Words) -> Markup:
    """A pair in words, names isolated and escaped."""
    held = pair.difference
    gap = words["gap"].format(
        mean=f"{held.mean:+.3g}", low=f"{held.low:.3g}", high=f"{held.high:.3g}", p=p_in_words(pair.p), n=f"{held.n:,}"
    )
    if pair.more is not None and pair.decision == "undecided":
        gap += words["more_one" if pair.more == 1 else "more"].format(n=f"{pair.more:,}")
    margin = "" if pair.margin is None else f"{pair.margin:g}"
    return _filled(words[pair.decision], {"one": pair.one, "other": pair.other, "margin": margin, "gap": gap})


def _filled(template: str, held: Mapping[str, str]) -> Markup:
    """Our words with texts in them; the names of systems are the data's."""
    from markupsafe import Markup

    given = {name: _shown(text) if name in ("one", "other") else text for name, text in held.items()}
    return Markup(template).format(**given)  # noqa: S704 - the template is ours, what goes in is escaped


def _standings(measure: MeasureComparison) -> tuple[StandingView, ...]:
    places = decimals(measure)
    rows = []
    for one in measure.standings:
        mean, covered = one.mean, one.coverage
        missing = covered.missing + covered.ambiguous
        cells = (
            _number(mean.mean, f"{mean.mean:z.{places}f}"), Cell(_around(mean, places)), Cell(one.letters),
            _number(mean.n, f"{mean.n:,}"), _number(covered.unscored, f"{covered.unscored:,}"),
            _number(missing, f"{missing:,}"), _number(covered.share, f"{covered.share:.1%}"),
        )  # fmt: skip
        rows.append(StandingView(one.system, cells))
    return tuple(rows)


def _pair(
    pair: PairComparison, measure: MeasureComparison, *, table: Joined | None, anchor: str, words: Words
) -> PairView:
    places, equal = decimals(measure), pair.at_equal_length
    p = p_in_words(pair.p).removeprefix("p ").removeprefix("= ")
    length = Cell("–")
    if equal is not None and math.isfinite(equal.mean):
        length = _number(equal.mean, f"{equal.mean:+z.{places}f} {_around(equal, places)}")
    cells = (
        _number(pair.difference.mean, f"{pair.difference.mean:+z.{places}f}"),
        Cell(_around(pair.difference, places)), _number(pair.p, p), _number(pair.d_z, f"{pair.d_z:+z.2f}"),
        Cell(f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}", str(pair.wins)), length,
    )  # fmt: skip
    gaps = widest_gaps(table, one=pair.one, other=pair.other) if table is not None else ()
    return PairView(anchor, pair.one, pair.other, pair.decision, verdict(pair, words=words), cells, gaps)


def _number(value: float, shown: str) -> Cell:
    return Cell(shown, f"{value:.10g}") if math.isfinite(value) else Cell("–")


def _around(held: Interval, places: int) -> str:
    return f"[{held.low:z.{places}f}, {held.high:z.{places}f}]" if math.isfinite(held.low) else "–"
