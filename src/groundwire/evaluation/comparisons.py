"""What a comparison is asked and what it says: options, and the results as plain values with their words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval
from groundwire.evaluation.decisions import Decision
from groundwire.evaluation.distributions import Ties
from groundwire.evaluation.joins import Coverage, Joined, Mismatch
from groundwire.evaluation.permutation import false_alarms

Adjust = Literal["tukey", "holm"]
How = Literal["exact", "monte carlo", "holm", "bridged", "none"]


@dataclass(frozen=True, slots=True)
class Options:
    """How systems are compared.

    Attributes:
        level: 0.95 bounds the false alarms of a family at 5 %.
        adjust: ``tukey``: the family is the pairs of one measure, by randomised Tukey HSD. ``holm``: two-system
            randomisation tests, adjusted over all pairs of all measures.
        margins: (measure, largest difference that does not matter); "" names all measures that have none of their own.
            Without one no pair is called equivalent.
        lower_is_better: measures of which less is better.
        tolerance: differences up to this count as ties, in wins and tie rates; never in the tests.
        bridge: the judge on whose scale measures of several judges are compared, through items judged by both.
        permutations: draws of the tests.
        resamples: of the intervals.
        seed: of all draws.
    """

    level: float = 0.95
    adjust: Adjust = "tukey"
    margins: tuple[tuple[str, float], ...] = ()
    lower_is_better: frozenset[str] = frozenset()
    tolerance: float = 0.0
    bridge: str | None = None
    permutations: int = 10_000
    resamples: int = 10_000
    seed: int = 0

    def check(self, measures: Sequence[str]) -> None:
        """Hold the options against the measures that there are.

        Raises:
            UsageError: a measure is named that is not there, or a number is out of range.
        """
        named = {name for name, _ in self.margins if name} | self.lower_is_better
        unknown = sorted(named - set(measures))
        if unknown:
            raise UsageError(f"there is no measure {', '.join(unknown)}; the measures are: {', '.join(measures)}")
        wrong = [margin for _, margin in self.margins if not 0 < margin < math.inf]
        if wrong or not 0.5 < self.level < 1 or not 0 <= self.tolerance < math.inf:
            raise UsageError(
                f"margins are {self.margins}, level {self.level} and tolerance {self.tolerance}; margins are above 0, "
                "level between 0.5 and 1, tolerance 0 or more"
            )
        if self.permutations < 1 or self.resamples < 1:
            raise UsageError(f"permutations is {self.permutations} and resamples {self.resamples}; 1 or more of each")

    def margin_of(self, measure: str) -> float | None:
        """The margin of equivalence of a measure, in its units, or None."""
        margins = dict(self.margins)
        return margins.get(measure, margins.get(""))

    def sign(self, measure: str) -> int:
        """1 where more is better, -1 where less is."""
        return -1 if measure in self.lower_is_better else 1


@dataclass(frozen=True, slots=True)
class Standing:
    """One system under one measure; two systems that share a letter were not told apart."""

    system: str
    mean: Interval
    letters: str
    coverage: Coverage


@dataclass(frozen=True, slots=True)
class PairComparison:
    """Two systems under one measure.

    Attributes:
        decision: of ``one`` against ``other``; equivalence comes first.
        difference: mean of one less other with its bootstrap interval, which does not allow for the number of pairs.
        p: adjusted for the number of pairs as the options say.
        tail: analytic p, for what lies below the smallest that was drawn; nan where exact, adjusted by Holm or bridged.
        d_z: effect sizes as ``Effects`` names them, with ``d_av`` and ``tukey``; nan where bridged.
        margin: of equivalence, or None.
        more: about how many more items would decide, if mean and spread stay; None where decided or unknown.
        wins: items on which one is better; ``ties`` and ``losses`` likewise.
        at_equal_length: the difference that length does not explain, where lengths were given.
    """

    measure: str
    one: str
    other: str
    decision: Decision
    difference: Interval
    p: float
    tail: float
    d_z: float
    d_av: float
    tukey: float
    margin: float | None
    more: int | None
    wins: int
    ties: int
    losses: int
    at_equal_length: Interval | None

    @property
    def words(self) -> str:
        """The verdict as a sentence without its full stop."""
        gap = self.difference
        figures = f"{gap.mean:+.3g} [{gap.low:.3g}, {gap.high:.3g}], {p_in_words(self.p)}, {gap.n} items"
        if self.decision in ("better", "worse"):
            return f"{self.one} is {self.decision} than {self.other}: {figures}"
        if self.decision == "equivalent":
            return f"{self.one} and {self.other} are equivalent within {self.margin:g}: {figures}"
        more = "" if self.more is None else f"; about {self.more:,} more item{'s' * (self.more > 1)} would decide"
        return f"undecided between {self.one} and {self.other}: {figures}{more}"


@dataclass(frozen=True, slots=True)
class MeasureComparison:
    """All systems under one measure.

    Attributes:
        measure: its name.
        judges: fingerprints; several only where bridged.
        how: where p comes from; ``none`` where there was nothing to compare, and ``notes`` say why.
        permutations: draws of the test, 0 where exact or bridged.
        standings: best first.
        pairs: in order of the systems' names.
        items: that all systems have a value of; ``left_out`` others were asked for.
        clusters: independent groups of them.
        ties: tie rates; None where nothing was compared.
        power: discriminative power, the share of pairs told apart.
        threshold: the smallest difference of means that randomised Tukey HSD tells apart; inf where none, nan where
            there was no such test.
        length_slope: points for twice the length, where lengths were given.
        notes: what a reader must know.
    """

    measure: str
    judges: tuple[str, ...]
    how: How
    permutations: int
    standings: tuple[Standing, ...]
    pairs: tuple[PairComparison, ...]
    items: int
    clusters: int
    left_out: int
    ties: Ties | None
    power: float
    threshold: float
    length_slope: Interval | None
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems under several measures, in the order in which the measures first appeared.

    ``mismatches`` names the items that a system lacks or has twice; ``options`` hold seed and draws. ``tables`` are the
    values, of each measure but those that were bridged.
    """

    measures: tuple[MeasureComparison, ...]
    systems: tuple[str, ...]
    mismatches: tuple[Mismatch, ...]
    notes: tuple[str, ...]
    options: Options
    tables: tuple[Joined, ...] = field(default=(), repr=False, compare=False)


def decided(gain: float, p: float, *, inner: tuple[float, float], margin: float | None, level: float) -> Decision:
    """What p, and the interval for equivalence, allow to say of a gain, which is above 0 where the first is better."""
    if margin is not None and -margin < inner[0] and inner[1] < margin:
        return "equivalent"
    if p < false_alarms(level):
        return "better" if gain > 0 else "worse"
    return "undecided"


def p_in_words(p: float) -> str:
    """A p-value as it is printed, never 0."""
    return "p < .001" if p < 0.001 else f"p = {p:.3f}".replace("0.", ".")
