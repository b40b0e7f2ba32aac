"""Result files -> conditions that are passed, failed or undecided, for `groundwire gate` and the pytest plugin."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from xml.etree import ElementTree  # only written here, never read

from groundwire.core.errors import UsageError
from groundwire.core.types import Judgement
from groundwire.evaluation.conditions import Condition, GateOptions, GateResult, Side, same_data
from groundwire.evaluation.holding import hold
from groundwire.evaluation.importers import GIVEN
from groundwire.evaluation.judge import BuiltinJudge
from groundwire.evaluation.rubrics import CCRS
from groundwire.flow.registry import embedder as embedder_named
from groundwire.flow.results import Results, read_result_files
from groundwire.flow.settings import Settings

File = str | Path
_MOST_LISTED = 5
_UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class GateFiles:
    """Where results are.

    Attributes:
        new: a file, or several with repeats of the same run.
        old: likewise, to compare with.
        system: the one that counts where the new files hold several.
        old_system: the one that counts where the old files hold several.
        qrels: what TREC runs are judged by.
        cluster: the field that names the group of an item; without one ``cluster``, where rows have it.
    """

    new: tuple[File, ...]
    old: tuple[File, ...] = ()
    system: str = ""
    old_system: str = ""
    qrels: File | None = None
    cluster: str = ""


def gate_files(
    conditions: Sequence[Condition], *, files: GateFiles, settings: Settings, options: GateOptions | None = None
) -> GateResult:
    """Hold the results of files to conditions.

    Args:
        conditions: one or more, each once.
        files: of any kind that ``results.read_result_files`` reads. Answers without a value under a rubric of CCRS are
            judged by the built-in judge.
        settings: ``judge.map`` for field names, ``judge.embedder`` for the built-in judge.
        options: level, coverage and bridge; None: the level and seed of the settings.

    Raises:
        UsageError: as ``holding.hold``, or a file holds several systems and none is named.
        UnreadableInput: a file cannot be read.
        ModelError: the embedder that was asked for is not here.
    """
    judge = settings.judge
    how = options or GateOptions(level=judge.level, seed=judge.seed)
    measures = tuple(dict.fromkeys(one.measure for one in conditions))
    asked = _Asked(files, measures, settings)
    new, notes = _side(files.new, asked, what="new", system=files.system)
    old = None
    if files.old:
        old, more = _side(files.old, asked, what="old", system=files.old_system)
        notes += more
    found = hold(conditions, new=new, old=old, options=how)
    return replace(found, notes=tuple(dict.fromkeys((*notes, *found.notes))))


def gate_values(
    condition: Condition,
    *,
    new: Mapping[str, float | None] | Sequence[float | None],
    old: Mapping[str, float | None] | Sequence[float | None] | None = None,
    options: GateOptions | None = None,
) -> GateResult:
    """Hold values that are at hand to a condition: by item id, or in the order of the items.

    Raises:
        UsageError: as ``holding.hold``.
    """
    sides = [None if values is None else Side((_as_judgements(values, condition.measure),)) for values in (new, old)]
    if sides[0] is None or (sides[1] is None and condition.compares):
        raise UsageError(f"'{condition.words}' compares; give old values as well")
    return hold([condition], new=sides[0], old=sides[1], options=options)


def junit(found: GateResult, *, name: str = "groundwire gate") -> str:
    """The result as JUnit's XML, a test case a condition; undecided is a failure of the type ``undecided``."""
    bad = sum(one.outcome != "passed" for one in found.held)
    suite = ElementTree.Element("testsuite", name=name, tests=str(len(found.held)), failures=str(bad), errors="0")
    for one in found.held:
        case = ElementTree.SubElement(suite, "testcase", classname=name, name=_printable(one.condition.words))
        words = _printable(one.words)
        if one.outcome == "passed":
            ElementTree.SubElement(case, "system-out").text = words
        else:
            ElementTree.SubElement(case, "failure", type=one.outcome, message=words).text = words
    ElementTree.indent(suite)
    return ElementTree.tostring(suite, encoding="unicode") + "\n"


def _printable(text: str) -> str:
    return _UNPRINTABLE.sub("\ufffd", text)


def _as_judgements(values: Mapping[str, float | None] | Sequence[float | None], measure: str) -> tuple[Judgement, ...]:
    pairs = values.items() if isinstance(values, Mapping) else ((str(n), value) for n, value in enumerate(values))
    return tuple(
        Judgement(item, "", measure, value, "read" if value is not None else "unreadable", GIVEN)
        for item, value in pairs
    )


@dataclass(frozen=True, slots=True)
class _Asked:
    """What files are read for."""

    files: GateFiles
    measures: tuple[str, ...]
    settings: Settings


def _side(paths: Sequence[File], asked: _Asked, *, what: str, system: str) -> tuple[Side, list[str]]:
    """The results of one side, and what there is to say about its files."""
    whole = [Path(path).resolve() for path in paths]
    if not paths or len(set(whole)) < len(whole):
        raise UsageError(f"{len(paths)} files of {what} results were given; give at least one, and each once")
    read = [_run(path, asked, what=what, system=system) for path in paths]
    sides = [side for side, _ in read]
    for side in sides[1:]:
        same_data(side, sides[0])
    joined = Side(
        tuple(side.runs[0] for side in sides),
        tuple(chain.from_iterable(side.items for side in sides)),
        {item: group for side in sides for item, group in side.clusters.items()},
        sum(side.rejected for side in sides),
    )
    return joined, [note for _, notes in read for note in notes]


def _run(path: File, asked: _Asked, *, what: str, system: str) -> tuple[Side, list[str]]:
    files, judge = asked.files, asked.settings.judge
    together = [path] if files.qrels is None else [path, files.qrels]
    results = read_result_files(together, mapping=judge.map or None, measures=asked.measures, cluster=files.cluster)
    if not results.items and not results.judgements:
        raise UsageError(_without(set(asked.measures), path, together=together, asked=asked))
    chosen = _system(results, path=path, what=what, wanted=system)
    given = [one for one in results.judgements if one.system == chosen]
    judged = _judged(results, asked, system=chosen, there={one.rubric for one in given})
    absent = set(asked.measures) - {one.rubric for one in (*given, *judged)}
    if absent:
        raise UsageError(_without(absent, path, together=together, asked=asked))
    items = tuple(one for one in results.items if one.system == chosen)
    rejected = sum(len(source.rejected) for source in results.sources)
    return Side(((*given, *judged),), items, results.clusters, rejected), [*results.notes, *_said(results)]


def _system(results: Results, *, path: File, what: str, wanted: str) -> str:
    """The system that counts: the one that is named, or the only one."""
    there = sorted({one.system for one in results.items} | {one.system for one in results.judgements})
    held = f"{path} holds {'the systems ' if len(there) > 1 else ''}{', '.join(map(repr, there))}"
    if wanted and wanted not in there:
        raise UsageError(f"{held}, and no '{wanted}'")
    if not wanted and len(there) != 1:
        raise UsageError(f"{held}; name the one that counts as the {what} results")
    return wanted or there[0]


def _without(absent: set[str], path: File, *, together: Sequence[File], asked: _Asked) -> str:
    """Which measures a file lacks, and which it has."""
    every = read_result_files(together, mapping=asked.settings.judge.map or None, cluster=asked.files.cluster)
    there = dict.fromkeys(one.rubric for one in every.judgements)
    if every.items:
        there |= dict.fromkeys(rubric.name for rubric in CCRS)
    return f"{path} has no {', '.join(sorted(absent))}; its measures are: {', '.join(there) or 'none'}"


def _judged(results: Results, asked: _Asked, *, system: str, there: set[str]) -> tuple[Judgement, ...]:
    """What the built-in judge says under the rubrics that are asked for and that nobody judged."""
    rubrics = [rubric for rubric in CCRS if rubric.name in asked.measures and rubric.name not in there]
    items = [one for one in results.items if one.system == system]
    if not rubrics or not items:
        return ()
    named = asked.settings.judge.embedder
    judge = BuiltinJudge(embedder_named(named, threads=asked.settings.threads) if named else None)
    copies = [one for one in results.copies if one.system == system]
    again = tuple(row for one in copies for row in judge.judge([one], rubrics=rubrics))
    return judge.judge(items, rubrics=rubrics) + again


def _said(results: Results) -> list[str]:
    found: list[str] = []
    for source in results.sources:
        systems = ", ".join(source.systems) or "no system"
        found.append(f"{source.file}: {source.kind}, {source.rows} rows, {len(source.rejected)} rejected; {systems}")
        found += [f"  row {reject.line} rejected: {reject.reason}" for reject in source.rejected[:_MOST_LISTED]]
        found += [f"  {note}" for note in source.notes]
    return found
