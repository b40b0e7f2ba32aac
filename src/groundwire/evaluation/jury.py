"""Several judges together: their mean or a value that one broken juror cannot turn, and how far they agree.

Every juror's value is kept beside the jury's. What the verdict would be without each of them is told as well.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median, pstdev
from typing import Literal

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Comparison, Options
from groundwire.evaluation.rater_agreement import Agreement, krippendorff

Voting = Literal["mean", "median", "trimmed"]
"""``trimmed``: the mean without the lowest and the highest value, from three jurors on."""

_Key = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class JurorStanding:
    """A juror beside the others.

    Attributes:
        rubric: under which.
        judge: its fingerprint.
        mean: of its values; nan where it has none.
        bias: mean of its value less the median of the others, over the items that both have; nan where there are none.
        apart: mean distance of the two, 0 to 100; nan where there are none.
        n: items that it has a value of; ``unscored`` others have none of it.
    """

    rubric: str
    judge: str
    mean: float
    bias: float
    apart: float
    n: int
    unscored: int


@dataclass(frozen=True, slots=True)
class Turn:
    """A verdict on a pair of systems that changes when a juror is left out."""

    left_out: str
    rubric: str
    one: str
    other: str
    before: str
    after: str


def jury(
    judged: Sequence[Sequence[Judgement]], *, voting: Voting = "median", least: int | None = None
) -> tuple[Judgement, ...]:
    """One judgement an item and rubric out of several judges' ones.

    Args:
        judged: what each judge made of the same items, each of another fingerprint for a rubric; joined by system, id
            and rubric.
        voting: how a value comes of several. The median and the trimmed mean bear one broken juror of three or more.
        least: how many values it takes; None: more than half of the jurors.

    Returns:
        In the order in which they first appear. A value is None with the outcome of the first juror who has none
        where too few have one; parts hold each juror's value (``juror_1`` is the first), their mean and spread.

    Raises:
        UsageError: there are fewer than two judges, two have one fingerprint, one has judged an item twice, or so many
            values can never be there.
    """
    tables = _tables(judged)
    needed = len(judged) // 2 + 1 if least is None else least
    if not 1 <= needed <= len(judged):
        raise UsageError(f"{needed} values out of {len(judged)} jurors were asked for; ask for 1 to {len(judged)}")
    keys = dict.fromkeys(key for table in tables for key in table)
    return tuple(_together([table.get(key) for table in tables], key=key, voting=voting, needed=needed,
                           name=_name(judged, voting, needed)) for key in keys)  # fmt: skip


def _tables(judged: Sequence[Sequence[Judgement]]) -> list[Mapping[_Key, Judgement]]:
    if len(judged) < 2:
        raise UsageError(f"{len(judged)} judges are no jury; give the judgements of two or more")
    tables: list[Mapping[_Key, Judgement]] = []
    for rows in judged:
        table = {(row.rubric, row.system, row.item_id): row for row in rows}
        if len(table) < len(rows):
            raise UsageError("a judge has judged an item twice under one rubric; a juror has one vote")
        tables.append(table)
    for rubric in dict.fromkeys(row.rubric for rows in judged for row in rows):
        prints = [{row.judge for row in rows if row.rubric == rubric} for rows in judged]
        seen = [name for names in prints for name in names]
        if any(len(names) > 1 for names in prints) or len(set(seen)) < len(seen):
            raise UsageError(f"'{rubric}' has jurors of one fingerprint, or a juror of several: {', '.join(seen)}")
    return tables


def _name(judged: Sequence[Sequence[Judgement]], voting: Voting, needed: int) -> str:
    """The fingerprint of a jury: how it votes, and a hash of who sits in it."""
    who = [sorted({row.judge for row in rows}) for rows in judged]
    digest = hashlib.sha256(repr((voting, needed, who)).encode()).hexdigest()[:12]
    return f"jury of {len(judged)}/{voting}/{digest}"


def _together(rows: Sequence[Judgement | None], *, key: _Key, voting: Voting, needed: int, name: str) -> Judgement:
    rubric, system, item_id = key
    votes = [(place, row.value) for place, row in enumerate(rows, 1) if row is not None and row.value is not None]
    values = [value for _, value in votes]
    parts = [(f"juror_{place}", value) for place, value in votes]
    silent = next((row for row in rows if row is not None and row.value is None), None)
    if len(values) < needed:
        told = "" if silent is None else f": {silent.reason}"
        kept = () if silent is None else tuple(part for part in silent.parts if part[0] == "answerable")
        return Judgement(
            item_id, system, rubric, None, "unreadable" if silent is None else silent.outcome, name,
            f"{len(values)} of {len(rows)} jurors have a value, and {needed} are needed{told}", (*parts, *kept),
        )  # fmt: skip
    full = len(values) == len(rows)
    reason = "" if full else f"{len(rows) - len(values)} of {len(rows)} jurors have no value"
    parts += [("mean", round(fmean(values), 6)), ("spread", round(pstdev(values), 6))]
    return Judgement(item_id, system, rubric, round(_vote(values, voting), 6), "read" if full else "recovered", name,
                     reason, tuple(parts))  # fmt: skip


def _vote(values: Sequence[float], voting: Voting) -> float:
    if voting == "median":
        return median(values)
    return fmean(sorted(values)[1:-1] if voting == "trimmed" and len(values) > 2 else values)


def jury_agreement(
    judged: Sequence[Sequence[Judgement]], *, level: float = 0.95, seed: int = 0
) -> tuple[tuple[str, Agreement], ...]:
    """Krippendorff's coefficient of the jurors for each rubric, on the interval scale, gaps allowed.

    Raises:
        UsageError: as ``jury``.
    """
    tables = _tables(judged)
    keys = dict.fromkeys(key for table in tables for key in table)
    return tuple(
        (
            rubric,
            krippendorff(
                [[_value(table, key) for table in tables] for key in keys if key[0] == rubric],
                scale="interval", level=level, seed=seed,
            ),
        )
        for rubric in dict.fromkeys(key[0] for key in keys)
    )  # fmt: skip


def _value(table: Mapping[_Key, Judgement], key: _Key) -> float | None:
    row = table.get(key)
    return None if row is None else row.value


def jurors(judged: Sequence[Sequence[Judgement]]) -> tuple[JurorStanding, ...]:
    """Each juror beside the median of the others, rubric by rubric: a broken one shows.

    Raises:
        UsageError: as ``jury``.
    """
    tables = _tables(judged)
    keys = dict.fromkeys(key for table in tables for key in table)
    return tuple(
        _standing(tables, place, rubric=rubric, keys=[key for key in keys if key[0] == rubric])
        for rubric in dict.fromkeys(key[0] for key in keys)
        for place in range(len(tables))
    )


def _standing(
    tables: Sequence[Mapping[_Key, Judgement]], place: int, *, rubric: str, keys: Sequence[_Key]
) -> JurorStanding:
    own = [_value(tables[place], key) for key in keys]
    gaps = []
    for key, value in zip(keys, own, strict=True):
        others = [_value(table, key) for number, table in enumerate(tables) if number != place]
        known = [other for other in others if other is not None]
        if value is not None and known:
            gaps.append(value - median(known))
    values = [value for value in own if value is not None]
    judge = next((row.judge for row in tables[place].values() if row.rubric == rubric), "")
    return JurorStanding(
        rubric=rubric,
        judge=judge,
        mean=fmean(values) if values else math.nan,
        bias=fmean(gaps) if gaps else math.nan,
        apart=fmean(map(abs, gaps)) if gaps else math.nan,
        n=len(values),
        unscored=len(own) - len(values),
    )


def turns(
    judged: Sequence[Sequence[Judgement]], *, voting: Voting = "median", options: Options | None = None
) -> tuple[Turn, ...]:
    """The verdicts on pairs of systems that leaving one juror out would change; none where none would.

    With two jurors the other one decides alone.

    Args:
        judged: as for ``jury``, with two systems or more.
        voting: how a value comes of several.
        options: of the comparison.

    Raises:
        UsageError: as ``jury`` and ``compare``.
    """
    whole = _verdicts(compare(jury(judged, voting=voting), options=options))
    found: list[Turn] = []
    for place, rows in enumerate(judged):
        rest = [other for number, other in enumerate(judged) if number != place]
        votes = jury(rest, voting=voting) if len(rest) > 1 else rest[0]
        without = _verdicts(compare(votes, options=options))
        name = rows[0].judge if rows else f"juror {place + 1}"
        found += [
            Turn(name, *pair, before=decision, after=without[pair])
            for pair, decision in whole.items()
            if pair in without and without[pair] != decision
        ]
    return tuple(found)


def _verdicts(compared: Comparison) -> dict[_Key, str]:
    return {
        (measure.measure, pair.one, pair.other): pair.decision
        for measure in compared.measures
        for pair in measure.pairs
    }
