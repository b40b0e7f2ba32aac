"""Conditions that results are held to, and what became of them: passed, failed, or undecided.

``holding.hold`` decides them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval, Item, Judgement
from groundwire.evaluation.comparisons import p_in_words
from groundwire.evaluation.decisions import Passing

Kind = Literal["at_least", "at_most", "not_worse", "better"]
Unit = Literal["items", "runs"]

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Condition:
    """What is to hold of the new results.

    Attributes:
        kind: ``at_least`` and ``at_most`` hold a mean to ``bound``; ``not_worse``: than the old results by more than
            ``bound``, which is above 0; ``better``: than the old results, ``bound`` stays 0.
        measure: by its name in the results.
        bound: in units of the measure.

    Raises:
        UsageError: the bound is out of range.
    """

    kind: Kind
    measure: str
    bound: float = 0.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.bound) or (self.kind == "not_worse" and self.bound <= 0):
            what = "a margin above 0" if self.kind == "not_worse" else "a finite number"
            raise UsageError(f"the condition on '{self.measure}' has {self.bound:g}; give {what}")

    @property
    def compares(self) -> bool:
        """Whether it takes old results."""
        return self.kind in ("not_worse", "better")

    @property
    def words(self) -> str:
        """What is asked for."""
        return {
            "at_least": f"{self.measure} is at least {self.bound:g}",
            "at_most": f"{self.measure} is at most {self.bound:g}",
            "not_worse": f"{self.measure} is not worse by more than {self.bound:g}",
            "better": f"{self.measure} is better",
        }[self.kind]


@dataclass(frozen=True, slots=True)
class GateOptions:
    """How conditions are held.

    Attributes:
        level: 0.95 bounds the false alarms of all conditions together at 5 %.
        lower_is_better: further measures of which less is better, beside those that other tools define so.
        bridge: the judge on whose scale results of two judges are compared, through items that both have judged.
        coverage: the least share of the items that must have a value, 0 to 1; with less nothing is passed.
        seed: stands in the intervals; nothing is drawn.

    Raises:
        UsageError: a number is out of range.
    """

    level: float = 0.95
    lower_is_better: frozenset[str] = frozenset()
    bridge: str | None = None
    coverage: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1 or not 0 <= self.coverage <= 1:
            raise UsageError(f"level is {self.level} and coverage {self.coverage}; between 0.5 and 1, and 0 to 1")


@dataclass(frozen=True, slots=True)
class Side:
    """The results of one system.

    Attributes:
        runs: its judgements; several runs are repeats over the same items.
        items: the answers, where they are there, to see that both sides were asked the same.
        clusters: item id -> its group, where rows name one.
        rejected: rows that could not be read; they count as without a value.
    """

    runs: tuple[tuple[Judgement, ...], ...]
    items: tuple[Item, ...] = ()
    clusters: Mapping[str, str] = field(default_factory=dict)
    rejected: int = 0


@dataclass(frozen=True, slots=True)
class Held:
    """What became of one condition.

    Attributes:
        condition: as it was asked.
        outcome: ``passed``, ``failed`` or ``undecided``.
        value: the mean, or for a comparison that of new less old, with the interval at the level that Holm's steps
            leave to the condition.
        p: of a value at the bound, two-sided, adjusted by Holm.
        more: about how many more values would decide; None where decided or unknown.
        unit: what the values are of.
        coverage: share of the items that have a value, 0 to 1.
        judge: whose values they are.
        reason: why it is undecided, where that is not the interval alone.
    """

    condition: Condition
    outcome: Passing
    value: Interval
    p: float
    more: int | None
    unit: Unit
    coverage: float
    judge: str
    reason: str = ""

    @property
    def words(self) -> str:
        """The outcome as a sentence without its full stop."""
        found, sign = self.value, "+" if self.condition.compares else ""
        around = "" if math.isnan(found.low) else f" [{found.low:.4g}, {found.high:.4g}]"
        figures = f"{found.mean:{sign}.4g}{around}, {p_in_words(self.p)}, {found.n:,} {self.unit}"
        needed = "" if self.more is None else f", {self.more:,} more {self.unit} needed"
        why = f"; {self.reason}" if self.reason else ""
        left = f", {found.unscored:,} unscored" if found.unscored else ""
        return f"{self.outcome}{needed}: {self.condition.words}: {figures}{left}, coverage {self.coverage:.0%}{why}"


@dataclass(frozen=True, slots=True)
class GateResult:
    """All conditions in the order asked; ``outcome`` is the worst: failed, then undecided, then passed."""

    held: tuple[Held, ...]
    level: float
    notes: tuple[str, ...] = ()

    @property
    def outcome(self) -> Passing:
        """Of all conditions together."""
        found = {one.outcome for one in self.held}
        return "failed" if "failed" in found else "undecided" if "undecided" in found else "passed"

    @property
    def words(self) -> str:
        """A line a condition."""
        return "\n".join(one.words for one in self.held)


def same_data(new: Side, old: Side | None) -> tuple[str, ...]:
    """Refuse results on other questions or references under the same ids; say where that cannot be seen.

    Raises:
        UsageError: an id stands for different questions or references.
    """
    if old is None:
        return ()
    if not new.items or not old.items:
        return ("the questions are not in both results, so items are matched by their ids alone",)
    mine = {item.id: item for item in new.items}
    other = [(mine[item.id], item) for item in old.items if item.id in mine]
    for what, texts in (("question", _question), ("reference", _reference)):
        differing = [(texts(one), texts(two), one.id) for one, two in other if texts(one) and texts(two)]
        differing = [found for found in differing if found[0] != found[1]]
        if differing:
            one, two, item = differing[0]
            raise UsageError(
                f"{len(differing)} items have another {what} in the new results than in the old ones, as '{item}': "
                f"'{one[:_SHOWN]}' and '{two[:_SHOWN]}'. Results on different data are not compared"
            )
    return ()


def _question(item: Item) -> str:
    return " ".join(item.question.split())


def _reference(item: Item) -> str:
    return " ".join((item.reference or "").split())
