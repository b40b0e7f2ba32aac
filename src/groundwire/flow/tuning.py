"""Choose how to search on labelled questions, by nested cross-validation over a grid of settings."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product

import numpy as np
from pydantic import ValidationError

from groundwire.core.errors import SettingError, UsageError
from groundwire.core.ports import Progress
from groundwire.core.types import Interval, Question
from groundwire.evaluation.questions import Unscored
from groundwire.evaluation.stats import in_words
from groundwire.evaluation.tune import Tuned, TuneSettings, tune
from groundwire.flow.searches import search_settings
from groundwire.flow.searching import (
    Measure,
    Placed,
    Way,
    measure,
    outcomes,
    place_questions,
    require_scored,
    without_value,
)
from groundwire.flow.settings import SearchOptions, Settings
from groundwire.retrieval.index import Archive
from groundwire.retrieval.search import PRESETS

Value = str | float | int
Grid = Mapping[str, tuple[Value, ...]]
"""The values that each setting may take, by the last part of its name (``sentence_weight``)."""

AXES = (
    "mode",
    "sentence_weight",
    "lexical_weight",
    "passage_words",
    "fusion",
    "shape",
    "neighbours",
    "k",
    "budget_tokens",
)
"""What can be tuned."""
_CURVES = ("sentence_weight", "lexical_weight", "passage_words", "neighbours", "k", "budget_tokens")
"""What a curve may run over; the first of these that the grid varies is the main axis."""
DEFAULT_GRID: Grid = {
    "mode": ("dense", "lexical", "hybrid"),
    "sentence_weight": tuple(tenth / 10 for tenth in range(11)),
    "lexical_weight": (0.25, 0.5),
    "passage_words": (0.0, 0.5),
}
_MODES = ("lexical", "dense", "hybrid")
_RANGE = re.compile(r"(-?[\d.]+):(-?[\d.]+):([\d.]+)")
_MOST_SETTINGS = 2000


@dataclass(frozen=True, slots=True)
class TunePlan:
    """What to choose among, by which measure, and how.

    Attributes:
        grid: the values of each setting; what is not named stays as the settings say.
        measure: ``ndcg@10``, or another of ``flow.searching.measure``; larger is better.
        folds: of the nested cross-validation.
        axis: what the curve runs over; empty: the first of weight, mix, neighbours, k and budget that is varied.
    """

    grid: Grid
    measure: str = "ndcg@10"
    folds: int = 5
    axis: str = ""


@dataclass(frozen=True, slots=True)
class Curve:
    """Means over all questions along an axis, the other settings fixed at the best that ``name`` allows."""

    name: str
    points: tuple[tuple[float, Interval], ...]


@dataclass(frozen=True, slots=True)
class TuneReport:
    """What ``tune`` found; ``ways`` are the settings of the grid, in the order of the columns that ``tuned`` counts."""

    measure: str
    ways: tuple[Way, ...]
    tuned: Tuned
    axis: str
    curves: tuple[Curve, ...]
    unscored: tuple[Unscored, ...]
    questions: int
    varied: tuple[str, ...]
    seed: int

    @property
    def chosen(self) -> Way:
        """The setting for use."""
        return self.ways[self.tuned.chosen]

    def to_write(self) -> dict[str, Value]:
        """The varied settings that matter in the chosen way, with their values."""
        return {name: value for name, value in _values(self.chosen).items() if name in self.varied}

    def differences(self) -> tuple[tuple[Interval, str], ...]:
        """Held-out minus each baseline, with what it allows to say."""
        return tuple((interval, in_words(interval, name)) for name, interval in self.tuned.differences)

    def facts(self) -> Mapping[str, object]:
        """Everything as plain data."""
        return {
            "measure": self.measure,
            "chosen": {"name": self.chosen.name, **_values(self.chosen)},
            "held_out": asdict(self.tuned.held_out),
            "differences": [
                {"against": name, **asdict(interval), "says": in_words(interval, name)}
                for name, interval in self.tuned.differences
            ],
            "alternatives": [self.ways[place].name for place in self.tuned.alternatives],
            "picks": [{"name": self.ways[place].name, "folds": times} for place, times in self.tuned.pick_counts()],
            "settings": [
                {"name": way.name, **asdict(mean)} for way, mean in zip(self.ways, self.tuned.means, strict=True)
            ],
            "axis": self.axis,
            "curves": [asdict(curve) for curve in self.curves],
            "questions": self.questions,
            "clusters": self.tuned.clusters,
            "folds": len(self.tuned.picks),
            "seed": self.seed,
            "unscored": [asdict(one) for one in self.unscored],
        }


def read_values(name: str, text: str) -> tuple[Value, ...]:
    """Read ``0,0.5,1`` or ``0:1:0.1`` (both ends in) as the values of a setting.

    Raises:
        UsageError: the setting cannot be tuned, or the text holds no value.
        SettingError: a value is out of its range.
    """
    if name not in AXES:
        raise UsageError(f"'{name}' cannot be tuned; there are {', '.join(AXES)}")
    if spaced := _RANGE.fullmatch(text.strip()):
        first, last, step = (float(part) for part in spaced.groups())
        if step <= 0 or last < first or (last - first) / step > _MOST_SETTINGS:
            raise UsageError(f"{name} is to run {text}; write FIRST:LAST:STEP with a step above 0, such as 0:1:0.1")
        parts = [f"{first + place * step:.10g}" for place in range(int((last - first) / step + 1e-9) + 1)]
    else:
        parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise UsageError(f"{name} is to take no value; write them as 0,0.5,1 or as 0:1:0.1")
    return tuple(dict.fromkeys(_checked(name, part) for part in parts))


def _checked(name: str, text: str) -> Value:
    try:
        value: Value = getattr(SearchOptions.model_validate({name: text}), name)
    except ValidationError as error:
        raise SettingError(f"search.{name} is to be tried with '{text}': {error.errors()[0]['msg']}") from error
    return value


def ways_of(grid: Grid, base: SearchOptions) -> tuple[Way, ...]:
    """Every combination once; settings that do not matter in it are at their defaults.

    Raises:
        UsageError: the grid is empty, names what cannot be tuned, or has more than 2,000 combinations.
    """
    if unknown := [name for name in grid if name not in AXES]:
        raise UsageError(f"'{unknown[0]}' cannot be tuned; there are {', '.join(AXES)}")
    count = int(np.prod([len(values) for values in grid.values()])) if grid else 0
    if not 0 < count <= _MOST_SETTINGS:
        raise UsageError(f"the grid has {count:,} combinations; give 1 to {_MOST_SETTINGS:,}")
    varied = tuple(name for name, values in grid.items() if len(values) > 1) or tuple(grid)
    found: dict[Way, None] = {}
    for combination in product(*grid.values()):
        options = base.model_copy(update=dict(zip(grid, combination, strict=True)))
        matters = _matters(options)
        idle = {name: SearchOptions.model_fields[name].default for name in AXES if name not in matters}
        options = options.model_copy(update=idle)
        name = " ".join(f"{axis}={_shown(getattr(options, axis))}" for axis in varied if axis in matters)
        found.setdefault(Way(name, search_settings(options), options.k, options.budget_tokens))
    return tuple(found)


def _matters(options: SearchOptions) -> set[str]:
    """Which of the axes have a say in a search with these settings."""
    matters = {"mode", "shape", "k", "budget_tokens"}
    if options.mode != "lexical" or options.shape == "diverse":
        matters.add("sentence_weight")
    if options.mode == "hybrid":
        matters |= {"lexical_weight", "fusion"}
    if options.mode != "dense":
        matters.add("passage_words")
    if options.shape == "windows":
        matters.add("neighbours")
    return matters


def _values(way: Way) -> dict[str, Value]:
    """The settings that matter in a way, by their names."""
    of_search = {name: getattr(way.search, name) for name in AXES if hasattr(way.search, name)}
    options = SearchOptions.model_validate({**of_search, "k": way.k, "budget_tokens": way.budget_tokens})
    matters = _matters(options)
    return {name: getattr(options, name) for name in AXES if name in matters}


def _shown(value: Value) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def costs_of(ways: Sequence[Way]) -> tuple[int, ...]:
    """The place of every way from the cheapest on.

    Fewer tokens and hits come first, then words before vectors before both, fewer parts switched on, fewer neighbours,
    and values that are nearer to the defaults.
    """
    plain = SearchOptions()

    def key(way: Way) -> tuple[float, ...]:
        own = way.search
        return (
            way.budget_tokens,
            way.k,
            _MODES.index(own.mode),
            own.shape != "sentences",
            own.passage_words > 0,
            own.neighbours,
            abs(own.sentence_weight - plain.sentence_weight),
            abs(own.lexical_weight - plain.lexical_weight),
            own.passage_words,
        )

    order = sorted(range(len(ways)), key=lambda place: key(ways[place]))
    return tuple(order.index(place) for place in range(len(ways)))


def tune_search(
    archive: Archive,
    questions: Sequence[Question],
    *,
    plan: TunePlan,
    settings: Settings,
    progress: Progress | None = None,
) -> TuneReport:
    """Choose the setting of the grid with the largest mean, and say what choosing so is worth on other questions.

    Baselines are ``default`` (our defaults), ``pareto``, and the settings as they are where they differ from both.

    Args:
        archive: what is searched.
        questions: with gold; those whose gold is not in the archive, or without what the measure needs, are unscored.
        plan: the grid, the measure, folds and axis.
        settings: what the grid does not name, how evidence is packed and intervals are drawn.
        progress: is told after every question.

    Raises:
        NothingFound: no question can be scored.
        UsageError: the plan makes no sense, or all questions are of one cluster.
    """
    by = measure(plan.measure)
    if by.kind.startswith("evidence_"):
        raise UsageError(f"{plan.measure} says how large the evidence is, not how good; tune by another measure")
    base = _deep_enough(settings.search, by)
    ways, fixed = ways_of(plan.grid, base), _baselines(base)
    axis = _axis(plan)
    placed, lost = place_questions(archive, questions)
    without = without_value(placed, [by])
    unscored = (*lost, *without)
    gone = {one.question_id for one in without}
    scored = [one for one in placed if one.question.id not in gone]
    require_scored(len(scored), unscored, asked=len(questions))
    _require_clusters(scored)
    found = outcomes(archive, scored, ways=(*ways, *fixed), measures=[by], settings=settings, progress=progress).values[
        :, :, 0
    ]
    tuned = tune(
        found[:, : len(ways)],
        clusters=[one.cluster for one in scored],
        costs=costs_of(ways),
        baselines={way.name: found[:, len(ways) + place] for place, way in enumerate(fixed)},
        how=_how(plan, settings),
    )
    varied = tuple(plan.grid)
    return TuneReport(
        by.name, ways, tuned, axis, _curves(ways, tuned, axis), unscored, len(scored), varied, settings.judge.seed
    )


def _how(plan: TunePlan, settings: Settings) -> TuneSettings:
    how = settings.judge
    if plan.folds < 2:
        raise UsageError(f"folds is {plan.folds}; at least 2 are needed, one to choose on and one to score")
    return TuneSettings(plan.folds, how.level, how.resamples, how.seed)


def _require_clusters(scored: Sequence[Placed]) -> None:
    clusters = {one.cluster for one in scored}
    if len(clusters) < 2:
        raise UsageError(
            f"all {len(scored)} questions belong to one cluster ({', '.join(clusters)}); settings are chosen on other "
            "clusters than those they are scored on, so give questions about 2 documents or more"
        )


def _deep_enough(options: SearchOptions, by: Measure) -> SearchOptions:
    """A measure of the first k hits needs as many."""
    enough = by.at if by.kind in ("recall", "ndcg") and by.at else 0
    return options.model_copy(update={"k": max(options.k, enough)})


def _baselines(base: SearchOptions) -> tuple[Way, ...]:
    plain = search_settings(SearchOptions())
    fixed = {"default": plain, "pareto": PRESETS["pareto"]}
    own = search_settings(base)
    if own not in fixed.values():
        fixed["settings"] = own
    return tuple(Way(name, search, base.k, base.budget_tokens) for name, search in fixed.items())


def _axis(plan: TunePlan) -> str:
    several = [name for name in _CURVES if len(plan.grid.get(name, ())) > 1]
    if plan.axis and plan.axis not in several:
        raise UsageError(f"a curve over '{plan.axis}' needs two values of it or more; there are {', '.join(several)}")
    return plan.axis or (several[0] if several else "")


def _curves(ways: Sequence[Way], tuned: Tuned, axis: str) -> tuple[Curve, ...]:
    """One curve for each mode and shape in which the axis matters."""
    if not axis:
        return ()
    families: dict[str, list[int]] = {}
    for place, way in enumerate(ways):
        if axis in _values(way):
            families.setdefault(_family(way), []).append(place)
    curves = []
    for name, places in families.items():
        best = max(places, key=lambda place: (tuned.means[place].mean, -place))
        others = _values(ways[best]) | {axis: ""}
        along = [place for place in places if _values(ways[place]) | {axis: ""} == others]
        points = sorted((float(_values(ways[place])[axis]), tuned.means[place]) for place in along)
        curves.append(Curve(name, tuple(points)))
    return tuple(curves)


def _family(way: Way) -> str:
    shape = "" if way.search.shape == "sentences" else f", {way.search.shape}"
    return f"{way.search.mode}{shape}"
