"""Hold a system's results to conditions: passed, failed, or undecided and about how many more values would decide.

A condition is passed where the whole interval of what was measured keeps it, failed where the whole interval breaks it.
Several conditions share their false alarms by Holm's steps, and the worst of them counts. Items that all have one value
say nothing of their spread, so a bar is then held against the share of items that may yet be at the end of the scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from statistics import fmean

from groundwire.core.errors import UsageError
from groundwire.core.types import Interval, Judgement
from groundwire.evaluation.bridge import bridged_comparison
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.conditions import Condition, GateOptions, GateResult, Held, Side, Unit, same_data
from groundwire.evaluation.decisions import Passing, decide, hold_to
from groundwire.evaluation.importers import FEWER_IS_BETTER
from groundwire.evaluation.joins import join, judges_of, refuse_two_judges, scales
from groundwire.evaluation.permutation import holm
from groundwire.evaluation.tails import normal_beyond, normal_quantile

_NEW, _OLD = "new", "old"


def hold(
    conditions: Sequence[Condition], *, new: Side, old: Side | None = None, options: GateOptions | None = None
) -> GateResult:
    """Hold new results to conditions, beside old ones where a condition compares.

    Args:
        conditions: one or more, each once.
        new: judgements of one system.
        old: likewise, for ``better`` and ``not_worse``.
        options: level, coverage and bridge.

    Returns:
        Every condition with its outcome. Comparisons are paired by item; of repeated runs the mean of each item is
        compared, while a bar is held against the means of the runs.

    Raises:
        UsageError: there is no condition or a condition twice, a measure is not there, both sides were not asked the
            same, two judges have judged one measure and no bridge is named, the sides look to be on two scales, or
            there is nothing to compare with.

    Source: Student's t over independent clusters (``decisions.hold_to``); Holm 1979; for items that are all alike the
    exact bound on a share of which n draws showed none (Clopper and Pearson 1934).
    """
    how = options or GateOptions()
    if not conditions or len(set(conditions)) < len(conditions):
        raise UsageError(f"{len(conditions)} conditions were given; give at least one, and each once")
    if old is None and any(one.compares for one in conditions):
        raise UsageError("'better' and 'not worse' need old results to compare with; give them with --against")
    notes = (*same_data(new, old), *_off_scale(conditions, new, old=old, options=how), *_twice(conditions, new, old))
    cases = [_case(one, new, old=old, options=how) for one in conditions]
    if how.bridge:
        notes = (*notes, *(f"{case.condition.measure}: on the scale of '{how.bridge}'" for case in cases
                           if case.bridged))  # fmt: skip
    return GateResult(_stepped(cases, how), how.level, tuple(dict.fromkeys(notes)))


def _off_scale(
    conditions: Sequence[Condition], new: Side, *, old: Side | None, options: GateOptions
) -> tuple[str, ...]:
    """What to say of values that look to be on another scale than the others.

    Raises:
        UsageError: those of a whole side do, and the sides are compared.
    """
    compared = {one.measure for one in conditions if one.compares} if not options.bridge else set()
    sides = [(_NEW, new)] if old is None else [(_NEW, new), (_OLD, old)]
    rows = [
        replace(one, system=name)
        for name, side in sides
        for one in chain.from_iterable(side.runs)
        if one.rubric in {condition.measure for condition in conditions} and not one.judge.startswith("builtin/")
    ]
    found = [scale for scale in scales(rows) if scale.note]
    for scale in found:
        values = {name: {one.value for one in rows if one.system == name and one.rubric == scale.measure} - {None}
                  for name, _ in sides}  # fmt: skip
        if scale.measure in compared and any(own and own <= set(scale.odd) for own in values.values()):
            raise UsageError(f"{scale.note}. Give both on one scale")
    return tuple(scale.note for scale in found)


def _twice(conditions: Sequence[Condition], *sides: Side | None) -> tuple[str, ...]:
    """What to say of items that a run has with two values: they are left out, and may have been meant as repeats."""
    notes = []
    for measure in dict.fromkeys(one.measure for one in conditions):
        seen: dict[tuple[int, str, str], set[float | None]] = {}
        runs = [run for side in sides if side is not None for run in side.runs]
        for number, run in enumerate(runs):
            for one in run:
                if one.rubric == measure:
                    seen.setdefault((number, one.item_id, one.judge), set()).add(one.value)
        differing = [item for (_, item, _), values in seen.items() if len(values) > 1]
        if differing:
            notes.append(
                f"{measure}: {len(differing):,} items stand twice with different values, as '{differing[0]}', and "
                "count as without one; repeats of a run are given as several files"
            )
    return tuple(notes)


@dataclass(frozen=True, slots=True)
class _Case:
    """A condition with what it is decided by.

    ``gains`` are above 0 where it is kept: sign x value + shift. ``bridged`` are mean, standard error and n of the
    gain, where two judges were bridged.
    """

    condition: Condition
    gains: tuple[float | None, ...]
    labels: tuple[str, ...] | None
    unit: Unit
    coverage: float
    judge: str
    sign: int
    shift: float
    bridged: tuple[float, float, int] | None = None


def _case(condition: Condition, new: Side, *, old: Side | None, options: GateOptions) -> _Case:
    if condition.compares and old is not None:
        return _comparing(condition, new, old=old, options=options)
    sign = 1 if condition.kind == "at_least" else -1
    rows = _rows(new, condition.measure, name=_NEW)
    judges = judges_of(list(chain.from_iterable(rows)))[condition.measure]
    if options.bridge in judges:
        rows = [[one for one in run if one.judge == options.bridge] for run in rows]
        judges = {options.bridge or "": (_NEW,)}
    refuse_two_judges(condition.measure, judges)
    runs = [_by_item(run) for run in rows]
    asked = sorted(set().union(*runs))
    common = [item for item in asked if all(run.get(item) is not None for run in runs)]
    if len(runs) > 1:
        found: list[float | None] = [_mean(run[item] for item in common) for run in runs]
        labels = None
    else:
        found, labels = [runs[0][item] for item in asked], _labels(asked, new)
    return _Case(
        condition,
        tuple(None if value is None else sign * (value - condition.bound) for value in found),
        labels,
        "runs" if len(runs) > 1 else "items",
        _share(len(common), len(asked) + new.rejected),
        next(iter(judges)),
        sign,
        -sign * condition.bound,
    )


def _comparing(condition: Condition, new: Side, *, old: Side, options: GateOptions) -> _Case:
    sides = {name: _rows(side, condition.measure, name=name) for name, side in ((_NEW, new), (_OLD, old))}
    every = [one for runs in sides.values() for run in runs for one in run]
    judges = judges_of(every)[condition.measure]
    bridging = len(judges) > 1 and options.bridge in judges
    if not bridging:
        refuse_two_judges(condition.measure, judges)
    sign = -1 if condition.measure in options.lower_is_better | _known_lower(every) else 1
    means = {name: _over_runs([_by_item(run) for run in runs]) for name, runs in sides.items() if not bridging}
    asked = sorted({one.item_id for one in every})
    gaps = [_less(means[_NEW].get(item), means[_OLD].get(item)) for item in asked] if means else []
    case = _Case(
        condition,
        tuple(None if gap is None else sign * gap + condition.bound for gap in gaps),
        _labels(asked, new, old),
        "items",
        _share(len(gaps) - gaps.count(None), len(asked) + new.rejected),
        options.bridge or "" if bridging else next(iter(judges)),
        sign,
        condition.bound,
    )
    return _bridged(case, sides, asked=len(asked) + new.rejected, options=options) if bridging else case


def _bridged(
    case: _Case, sides: Mapping[str, Sequence[Sequence[Judgement]]], *, asked: int, options: GateOptions
) -> _Case:
    """Both sides on the scale of one judge; the standard error is read off the normal interval of the difference."""
    if any(len(runs) > 1 for runs in sides.values()):
        raise UsageError("repeated runs cannot be bridged between judges; give one run a side")
    rows = [one for runs in sides.values() for run in runs for one in run]
    judged = Options(level=options.level, bridge=options.bridge, seed=options.seed)
    (pair,) = bridged_comparison(rows, options=judged).pairs
    found = pair.difference
    error = (found.high - found.low) / (2 * normal_quantile((1 + options.level) / 2))
    mean = case.sign * found.mean + case.shift
    scored = [{one.item_id for run in runs for one in run if one.value is not None} for runs in sides.values()]
    return replace(case, bridged=(mean, error, found.n), coverage=_share(len(scored[0] & scored[1]), asked))


def _stepped(cases: Sequence[_Case], options: GateOptions) -> tuple[Held, ...]:
    """By Holm's steps: the surest condition first, each at the level that is left until one is undecided."""
    chances = [_p(case, options) for case in cases]
    adjusted = holm(chances)
    held: dict[int, Held] = {}
    stopped: int | None = None
    for step, place in enumerate(sorted(range(len(cases)), key=lambda place: (chances[place], place))):
        left = len(cases) - (step if stopped is None else stopped)
        level = 1 - (1 - options.level) / left
        held[place] = _held(cases[place], p=adjusted[place], level=level, options=options)
        if held[place].outcome == "undecided" and stopped is None:
            stopped = step
    return tuple(held[place] for place in range(len(cases)))


@dataclass(frozen=True, slots=True)
class _Alike:
    """Gains that are all ``gain``, of ``n`` independent items; no gain is possible outside ``low`` to ``high``."""

    gain: float
    n: int
    low: float
    high: float

    @property
    def enough(self) -> float:
        """The share of items that, were they at the far end of the scale, would turn the mean; above 0."""
        far = self.low if self.gain > 0 else self.high
        return self.gain / (self.gain - far) if self.gain * far < 0 else 1.0

    @property
    def p(self) -> float:
        """Two-sided, of a mean at the bound, in the worst case."""
        return min(1.0, 2 * (1 - self.enough) ** self.n)

    def ends(self, level: float) -> tuple[float, float]:
        """The interval of the mean gain."""
        share = 1 - ((1 - level) / 2) ** (1 / self.n)
        return self.gain - share * (self.gain - self.low), self.gain + share * (self.high - self.gain)

    def more(self, level: float) -> int | None:
        """How many more items, if they are the same, would decide."""
        if self.enough == 1:
            return None
        return max(1, math.ceil(math.log((1 - level) / 2) / math.log1p(-self.enough)) - self.n)


def _alike(case: _Case) -> _Alike | None:
    """Of items that all have one value beside a bar; the scale is 0 to 1 or to 100, or unknown."""
    known = [(place, gain) for place, gain in enumerate(case.gains) if gain is not None]
    gain = known[0][1] if known else 0.0
    if case.condition.compares or case.unit == "runs" or not gain or any(other != gain for _, other in known):
        return None
    bound = case.condition.bound
    value = case.sign * gain + bound
    top = next((top for top in (1.0, 100.0) if max(value, bound) <= top), None)
    n = len(known) if case.labels is None else len({case.labels[place] for place, _ in known})
    if min(value, bound) < 0 or top is None or n < 2:
        return None
    low, high = sorted((case.sign * (0.0 - bound), case.sign * (top - bound)))
    return _Alike(gain, n, low, high)


def _p(case: _Case, options: GateOptions) -> float:
    if case.bridged is not None:
        mean, error, _ = case.bridged
        return 2 * normal_beyond(abs(mean) / error) if error else float(mean == 0)
    alike = _alike(case)
    if alike is not None:
        return alike.p
    ruling = decide(case.gains, clusters=case.labels, level=options.level)
    at_bound = ruling.difference.low == ruling.difference.high == 0
    return 0.0 if at_bound and case.condition.kind != "better" else ruling.p


def _held(case: _Case, *, p: float, level: float, options: GateOptions) -> Held:
    outcome, gain, more = _ruled(case, level=level, seed=options.seed)
    reason = ""
    if outcome == "passed" and case.condition.kind == "better" and gain.low <= 0:
        outcome, reason = "undecided", "no item tells the two apart"
    if outcome == "passed" and case.coverage < options.coverage:
        outcome, reason = "undecided", f"fewer than {options.coverage:.0%} of the items have a value"
    if math.isnan(gain.low):
        reason = f"it takes 2 {case.unit} with a value to see how they spread"
    ends = [case.sign * (end - case.shift) for end in (gain.low, gain.high)]
    if case.sign < 0:
        ends.reverse()
    return Held(
        condition=case.condition,
        outcome=outcome,
        value=replace(gain, mean=case.sign * (gain.mean - case.shift), low=ends[0], high=ends[1]),
        p=p,
        more=more if outcome == "undecided" and not reason else None,
        unit=case.unit,
        coverage=case.coverage,
        judge=case.judge,
        reason=reason,
    )


def _ruled(case: _Case, *, level: float, seed: int) -> tuple[Passing, Interval, int | None]:
    """The outcome at a level, the gain beyond the bound with its interval, and how many more values would decide."""
    if case.bridged is not None:
        mean, error, n = case.bridged
        reach = normal_quantile((1 + level) / 2) * error
        gain = Interval(mean=mean, low=mean - reach, high=mean + reach, n=n, unscored=0, level=level, seed=seed)
        return _by_ends(gain), gain, None
    gate, alike = hold_to(case.gains, at_least=0.0, clusters=case.labels, level=level, seed=seed), _alike(case)
    if alike is None:
        return gate.outcome, gate.value, gate.more
    low, high = alike.ends(level)
    gain = replace(gate.value, low=low, high=high)
    return _by_ends(gain), gain, alike.more(level)


def _by_ends(gain: Interval) -> Passing:
    return "passed" if gain.low >= 0 else "failed" if gain.high < 0 else "undecided"


def _rows(side: Side, measure: str, *, name: str) -> list[list[Judgement]]:
    """The judgements of a measure, run by run, all under one name."""
    found = [[replace(one, system=name) for one in run if one.rubric == measure] for run in side.runs]
    if not all(found):
        there = sorted({one.rubric for run in side.runs for one in run})
        raise UsageError(f"the {name} results have no '{measure}'; they have: {', '.join(there) or 'nothing'}")
    return found


def _by_item(rows: Sequence[Judgement]) -> dict[str, float | None]:
    """Item id -> value, None where it has none, or two that differ."""
    (table,) = join(rows)
    values = dict(zip(table.items, table.values[:, 0].tolist(), strict=True))
    return {item: values.get(item) for item in dict.fromkeys(one.item_id for one in rows)}


def _over_runs(runs: Sequence[Mapping[str, float | None]]) -> dict[str, float | None]:
    """The mean of each item over the runs, None where a run has no value of it."""
    return {
        item: _mean(run[item] for run in runs) if all(run.get(item) is not None for run in runs) else None
        for item in set().union(*runs)
    }


def _mean(values: Iterable[float | None]) -> float | None:
    found = [value for value in values if value is not None]
    return fmean(found) if found else None


def _less(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _share(scored: int, asked: int) -> float:
    return scored / asked if asked else 0.0


def _labels(items: Sequence[str], *sides: Side) -> tuple[str, ...] | None:
    """The group of each item, where all have one."""
    known = {item: group for side in sides for item, group in side.clusters.items()}
    return tuple(known[item] for item in items) if items and all(item in known for item in items) else None


def _known_lower(judgements: Sequence[Judgement]) -> frozenset[str]:
    """Measures of which the tool that gave them says that less is better."""
    return frozenset(
        one.rubric for one in judgements if one.rubric in FEWER_IS_BETTER.get(one.judge.split(", ")[0], ())
    )
