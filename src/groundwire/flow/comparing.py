"""Result files -> judgements -> a comparison, with everything that a table or a report is made of."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from groundwire.core.errors import UsageError
from groundwire.core.ports import Progress
from groundwire.core.text import count_tokens
from groundwire.core.types import Item, Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Comparison, Options
from groundwire.evaluation.importers import FEWER_IS_BETTER, Answered
from groundwire.evaluation.joins import Scale, scales
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.result_rows import COSTS
from groundwire.evaluation.rubrics import CCRS, Rubric
from groundwire.flow.registry import embedder as embedder_named
from groundwire.flow.results import Results, SourceFile, _uncollected, read_result_files
from groundwire.flow.settings import Settings

__all__ = ["ComparePlan", "Compared", "CostOf", "SourceFile", "UnscoredOf", "compare_files", "compare_results"]

_WORDS = {"question": "a question", "contexts": "contexts", "answer": "an answer", "reference": "a reference"}
_PLACES = {rubric.name: place for place, rubric in enumerate(CCRS)}


@dataclass(frozen=True, slots=True)
class ComparePlan:
    """What is compared, and how.

    Attributes:
        measures: only these; none: all that the files hold, or, where answers have no values, those of the built-in
            judge.
        cluster: the field of the rows that names the group of an item; without one ``cluster``, where rows have it.
        options: of the statistics; ``lower_is_better`` is added to what RAGAS, DeepEval and RAGChecker define.
    """

    measures: tuple[str, ...] = ()
    cluster: str = ""
    options: Options = field(default_factory=Options)


@dataclass(frozen=True, slots=True)
class CostOf:
    """What answers of a system cost on average, by one field of the rows; ``n`` of ``answers`` say it."""

    system: str
    what: str
    mean: float
    n: int
    answers: int


@dataclass(frozen=True, slots=True)
class UnscoredOf:
    """How many items of a system are unscored under a measure, and why."""

    measure: str
    system: str
    reason: str
    n: int


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison with what it was made of.

    Attributes:
        comparison: the verdicts and figures.
        items: questions with answers, one a system and id, sorted by system and id; none for files that hold only
            values.
        judgements: every value, sorted by measure, system and item.
        sources: the files, sorted by name.
        costs: (system, item id) -> cost, tokens, seconds and kin, where rows have them.
        lengths: (system, item id) -> tokens of the answer (estimate), where all answers are there; else None.
        clusters: item id -> its group, where rows name one for all; else None.
        scales: of every measure, and what looks to be on another one.
        notes: for the person who asked.
    """

    comparison: Comparison
    items: tuple[Item, ...]
    judgements: tuple[Judgement, ...]
    sources: tuple[SourceFile, ...]
    costs: Mapping[Answered, Mapping[str, float]]
    lengths: Mapping[Answered, float] | None
    clusters: Mapping[str, str] | None
    notes: tuple[str, ...]
    scales: tuple[Scale, ...] = ()

    @property
    def fits(self) -> bool:
        """Whether all rows were taken, every system has every item once, and no value looks off its scale."""
        rejected = any(source.rejected for source in self.sources)
        return not rejected and not self.comparison.mismatches and not any(scale.note for scale in self.scales)

    @property
    def unscored(self) -> tuple[UnscoredOf, ...]:
        """What has no value, by measure, system and reason."""
        counted = Counter(
            (one.rubric, one.system, one.reason or one.outcome) for one in self.judgements if one.value is None
        )
        return tuple(UnscoredOf(*key, n) for key, n in counted.items())

    @property
    def mean_costs(self) -> tuple[CostOf, ...]:
        """Means per answer of whatever rows say that an answer cost, by field, then system."""
        answered = Counter(item.system for item in self.items)
        values: dict[tuple[str, str], list[float]] = {}
        for (system, _), spent in self.costs.items():
            for what, value in spent.items():
                values.setdefault((what, system), []).append(value)
        order = sorted(values, key=lambda key: (COSTS.index(key[0]), key[1]))
        return tuple(
            CostOf(system, what, math.fsum(found) / len(found), len(found), max(answered[system], len(found)))
            for what, system in order
            for found in (values[what, system],)
        )


def compare_files(
    files: Sequence[str | Path],
    *,
    settings: Settings,
    plan: ComparePlan | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Compare the systems of result files, whatever the order of files and rows.

    Args:
        files: see ``results.read_result_files``.
        settings: ``judge.map`` for field names, ``judge.embedder`` for the built-in judge, and without a plan how
            intervals are drawn.
        plan: what is compared, and how.
        progress: told how far the judging is.

    Raises:
        UsageError: there are fewer than two systems, two judges have judged one measure (and no bridge is named), a
            name is unknown, or an option is out of range.
        UnreadableInput: a file cannot be read.
        ModelError: the embedder that was asked for is not here.
    """
    judge = settings.judge
    wanted = plan or ComparePlan(options=Options(level=judge.level, resamples=judge.resamples, seed=judge.seed))
    results = read_result_files(files, mapping=judge.map or None, measures=wanted.measures, cluster=wanted.cluster)
    return compare_results(results, settings=settings, plan=wanted, progress=progress)


def compare_results(
    results: Results, *, settings: Settings, plan: ComparePlan, progress: Progress | None = None
) -> Compared:
    """Judge what has no values, and compare; see ``compare_files``."""
    _refuse_alone(results)
    rubrics, left_out = _to_judge(results, plan.measures)
    judged = _judged(results, rubrics, settings=settings, progress=progress)
    with _uncollected():
        return _compared(results, judged, plan=plan, left_out=left_out)


def _compared(results: Results, judged: Sequence[Judgement], *, plan: ComparePlan, left_out: Sequence[str]) -> Compared:
    judgements = tuple(sorted((*results.judgements, *judged), key=_by_measure))
    _refuse_absent(judgements, plan.measures)
    lengths, without_lengths = _lengths(results, judgements)
    clusters, without_clusters = _clusters(results, judgements, asked=bool(plan.cluster))
    options, lower = _with_known(plan.options, judgements)
    found_scales = scales([one for one in judgements if not one.judge.startswith("builtin/")])
    return Compared(
        comparison=compare(judgements, clusters=clusters, lengths=lengths, options=options),
        items=results.items,
        judgements=judgements,
        sources=results.sources,
        costs=results.costs,
        lengths=lengths,
        clusters=clusters,
        notes=tuple(filter(None, (*results.notes, *left_out, *lower, without_lengths, without_clusters,
                                  *_twice(results)))),
        scales=found_scales,
    )  # fmt: skip


def _refuse_alone(results: Results) -> None:
    systems = sorted({one.system for one in results.items} | {one.system for one in results.judgements})
    if len(systems) > 1:
        return
    held = "; ".join(f"{one.file} holds {', '.join(one.systems) or 'none'}" for one in results.sources)
    there = "is 1 system" if systems else "are no systems"
    raise UsageError(
        f"there {there}, and a comparison takes 2 or more: {held}. Give a file of another system, name files apart as "
        "in new=FILE, or give rows a field 'system'."
    )


def _to_judge(results: Results, measures: Sequence[str]) -> tuple[tuple[Rubric, ...], tuple[str, ...]]:
    """The rubrics that the built-in judge is to judge by, and why others are left out.

    It judges where a system has answers but no values, or where one of its rubrics was asked for that nobody judged.
    """
    answering, valued = {item.system for item in results.items}, {one.system for one in results.judgements}
    there = {one.rubric for one in results.judgements}
    asked = [rubric for rubric in CCRS if not measures or rubric.name in measures]
    if not answering - valued:
        asked = [rubric for rubric in asked if rubric.name in measures and rubric.name not in there]
    if not answering:
        return (), ()
    kept, left_out = [], []
    for rubric in asked:
        lacking = sorted(_lacking(results.items, rubric))
        if lacking:
            left_out.append(f"{rubric.name} was left out: {'; '.join(lacking)}")
        else:
            kept.append(rubric)
    return tuple(kept), tuple(left_out)


def _lacking(items: Sequence[Item], rubric: Rubric) -> list[str]:
    """Systems none of whose rows have what a rubric needs."""
    found = []
    for need in rubric.needs:
        having = {item.system for item in items if getattr(item, need)}
        lacking = sorted({item.system for item in items} - having)
        if lacking:
            found.append(f"no row of {', '.join(lacking)} has {_WORDS[need]}")
    return found


def _judged(
    results: Results, rubrics: Sequence[Rubric], *, settings: Settings, progress: Progress | None
) -> list[Judgement]:
    """What the built-in judge says of all answers, also of those under an id that a system has twice."""
    if not rubrics:
        return []
    named = settings.judge.embedder
    judge = BuiltinJudge(embedder_named(named, threads=settings.threads) if named else None)
    there = {(one.system, one.rubric) for one in results.judgements if one.judge == judge.fingerprint}
    found = list(judge.judge(results.items, rubrics=rubrics, progress=progress))
    for item in results.copies:
        found += judge.judge([item], rubrics=rubrics)
    return [one for one in found if (one.system, one.rubric) not in there]


def _by_measure(one: Judgement) -> tuple[int, str, str, str, str, float]:
    value = -math.inf if one.value is None else one.value
    return _PLACES.get(one.rubric, len(_PLACES)), one.rubric, one.system, one.item_id, one.judge, value


def _refuse_absent(judgements: Sequence[Judgement], measures: Sequence[str]) -> None:
    there = dict.fromkeys(one.rubric for one in judgements)
    absent = [name for name in measures if name not in there]
    if absent or not there:
        what = f"no row has a value of {', '.join(map(repr, absent))}" if absent else "no row has an answer or a value"
        raise UsageError(f"{what}; what there is: {', '.join(there) or 'nothing'}")


def _lengths(results: Results, judgements: Sequence[Judgement]) -> tuple[Mapping[Answered, float] | None, str]:
    if not results.items:
        return None, ""
    found = {(item.system, item.id): float(count_tokens(item.answer)) for item in results.items}
    lost = {place for one in judgements if one.value is not None and (place := (one.system, one.item_id)) not in found}
    if lost:
        return None, f"no difference at equal length, for {len(lost)} answers that have values are in no file"
    return found, ""


def _clusters(
    results: Results, judgements: Sequence[Judgement], *, asked: bool
) -> tuple[Mapping[str, str] | None, str]:
    if not results.clusters:
        return None, ""
    lost = {one.item_id for one in judgements} - results.clusters.keys()
    if lost and not asked:
        return None, f"the field 'cluster' is not used, for {len(lost)} items have none"
    return results.clusters, ""


def _with_known(options: Options, judgements: Sequence[Judgement]) -> tuple[Options, list[str]]:
    """The options, with the measures of which RAGAS, DeepEval and RAGChecker say that less is better."""
    known = {
        (tool, one.rubric)
        for one in judgements
        for tool in (one.judge.split(", ")[0],)
        if one.rubric in FEWER_IS_BETTER.get(tool, ())
    }
    notes = [f"less is better in {name}, as {tool} defines it" for tool, name in sorted(known)]
    lower = options.lower_is_better | {name for _, name in known}
    return replace(options, lower_is_better=lower), notes


def _twice(results: Results) -> list[str]:
    if not results.copies:
        return []
    one = results.copies[0]
    which = f"{len(results.copies)} answers stand under an id that was there before, as '{one.id}' of '{one.system}'"
    return [f"{which}; they count once where their values are the same, and not at all where they differ"]
