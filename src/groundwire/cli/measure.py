"""Measure a search on labelled questions: choose its settings, or compare the ways that have names."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from groundwire.cli import show
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of
from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.questions import QuestionReading, Unscored
    from groundwire.flow.search_bench import SearchBench
    from groundwire.flow.settings import Loaded
    from groundwire.flow.tuning import Grid, TuneReport
    from groundwire.retrieval.index import Archive

_MOST_LISTED = 20

Command = TypeVar("Command", bound=Callable[..., None])


def _questions(command: Command) -> Command:
    """The options of every command that reads labelled questions."""
    for option in (
        json_option,
        click.option("--seed", type=int, help="Of the folds and the bootstrap."),
        click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as question=query,gold=spans."),
        archive_option,
        click.argument("questions"),
    ):
        command = option(command)
    return command


@click.command()
@_questions
@click.option(
    "--over",
    multiple=True,
    metavar="SETTING=VALUES",
    help="What to try: mode=dense,hybrid or "
    "sentence_weight=0:1:0.1; repeatable. Default: mode, sentence_weight, lexical_weight, passage_words.",
)
@click.option(
    "--measure",
    default="ndcg@10",
    show_default=True,
    metavar="NAME",
    help="Choose by this: ndcg@K, recall@K, reciprocal_rank, answer_in_context@BUDGET.",
)
@click.option("--folds", type=click.IntRange(min=2), default=5, show_default=True, help="Of the cross-validation.")
@click.option("--axis", default="", metavar="SETTING", help="What the curve runs over; default: the first that varies.")
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the curve as .svg or .png.")
@click.option("--write", "write_", is_flag=True, help="Write the chosen settings into groundwire.toml.")
def tune(questions: str, archive: str | None, map_: str | None, seed: int | None, json_: bool, over: tuple[str, ...],
         measure: str, folds: int, axis: str, plot: Path | None, write_: bool) -> None:  # fmt: skip
    """Choose how to search on the labelled QUESTIONS, and say what choosing so is worth on other questions.

    QUESTIONS is JSONL with id, question and gold, or sample: for those of the sample archive. Exits with 1 when no
    question could be scored.   Example: groundwire tune questions.jsonl --over sentence_weight=0:1:0.1 --plot curve.svg
    """
    from groundwire.flow.charts import require_chart, save_curves
    from groundwire.flow.settings import FILE_NAME
    from groundwire.flow.settings_file import write_settings
    from groundwire.flow.tuning import TunePlan, tune_search

    loaded = settings_of({"archive": archive, "judge.seed": seed})
    plan = TunePlan(_grid(over), measure, folds, axis)
    if plot is not None:
        require_chart(plot)
    with archive_of(loaded) as opened:
        reading = _read(opened, questions, map_)
        with show.progress("searching") as progress:
            report = tune_search(opened, reading.questions, plan=plan, settings=loaded.settings, progress=progress)
    report = replace(report, unscored=(*reading.unscored, *report.unscored))
    if json_:
        show.as_json({**report.facts(), "rejected": [asdict(one) for one in reading.rejects]})
    else:
        _show_tuned(report)
    if plot is not None:
        save_curves(report, plot)
        show.say(f"drew {plot}")
    if write_:
        write_settings(Path.cwd() / FILE_NAME, report.to_write())
        _say_written(report, loaded, FILE_NAME)


@click.group()
def bench() -> None:
    """Compare the ways to search that have names, on your own archive and questions."""


@bench.command()
@_questions
@click.option("--preset", "presets", multiple=True, metavar="NAME", help="Only this way, or default; repeatable.")
@click.option(
    "--budget",
    "budgets",
    multiple=True,
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Of the evidence; repeatable. Default: 300, 600 and 1200.",
)
@click.option(
    "--against", default="passages", show_default=True, metavar="NAME", help="What all others are compared with."
)
@click.option("-k", type=click.IntRange(min=1), default=100, show_default=True, help="Sentences to rank and pack.")
@click.option("--timed", type=click.IntRange(min=0), default=50, show_default=True, help="Questions to time as well.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write every value as JSONL.")
def search(questions: str, archive: str | None, map_: str | None, seed: int | None, json_: bool,
           presets: tuple[str, ...], budgets: tuple[int, ...], against: str, k: int, timed: int,
           out: Path | None) -> None:  # fmt: skip
    """Run presets under budgets on the labelled QUESTIONS, and compare them question by question.

    QUESTIONS is JSONL with id, question and gold, or sample: for those of the sample archive. Exits with 1 when no
    question could be scored.   Example: groundwire bench search questions.jsonl --budget 300 -o values.jsonl
    """
    from groundwire.flow.search_bench import BUDGETS, BenchPlan, bench_search
    from groundwire.flow.searching import preset_ways

    loaded = settings_of({"archive": archive, "judge.seed": seed})
    ways = preset_ways(presets, k=k) if presets else preset_ways(k=k)
    plan = BenchPlan(ways, tuple(dict.fromkeys(budgets)) or BUDGETS, against, timed)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    with archive_of(loaded) as opened:
        reading = _read(opened, questions, map_)
        with show.progress("searching") as progress:
            found = bench_search(opened, reading.questions, plan=plan, settings=loaded.settings, progress=progress)
    found = replace(found, unscored=(*reading.unscored, *found.unscored))
    if out is not None:
        found.save(out)
        show.say(f"wrote {len(found.outcomes.placed) * len(found.outcomes.ways)} rows to {out}")
    if json_:
        show.as_json({**found.facts(), "rejected": [asdict(one) for one in reading.rejects]})
    else:
        _show_bench(found, plan.budgets)


def _grid(over: Sequence[str]) -> Grid:
    from groundwire.flow.tuning import DEFAULT_GRID, read_values

    if not over:
        return DEFAULT_GRID
    grid: dict[str, tuple[str | float | int, ...]] = {}
    for part in over:
        name, sign, values = part.partition("=")
        if not sign or name in grid:
            raise UsageError(f"'{part}' is not SETTING=VALUES, each setting once, such as sentence_weight=0:1:0.1")
        grid[name] = read_values(name, values)
    return grid


def _read(archive: Archive, questions: str, map_: str | None) -> QuestionReading:
    from groundwire.flow.search_bench import read_question_file
    from groundwire.flow.searching import require_scored
    from groundwire.flow.settings import mapping

    reading = read_question_file(archive, questions, mapping=mapping(map_) if map_ else None)
    for reject in reading.rejects:
        show.say(f"row {reject.line} rejected: {reject.reason}")
    counts = f"{len(reading.questions)} questions, {len(reading.unscored)} unscored, {len(reading.rejects)} rejected"
    show.say(f"{reading.rows} rows: {counts}")
    require_scored(len(reading.questions), reading.unscored, asked=reading.rows)
    return reading


def _say_unscored(unscored: Sequence[Unscored]) -> None:
    for one in unscored[:_MOST_LISTED]:
        show.say(f"unscored {one.question_id}: {one.reason}")
    if len(unscored) > _MOST_LISTED:
        show.say(f"unscored: {len(unscored) - _MOST_LISTED} more, all of them in --json")


def _show_tuned(report: TuneReport) -> None:
    tuned = report.tuned
    _say_unscored(report.unscored)
    if report.curves:
        show.lines([f"{report.measure} over {report.axis}: means of all questions"])
        rows = [(curve.name, f"{x:g}", *_cells(mean)) for curve in report.curves for x, mean in curve.points]
        show.table(("mode", report.axis, "mean", "interval"), rows)
    mean, interval = _cells(tuned.held_out)
    show.lines(
        [
            f"chosen: {report.chosen.name}",
            f"held out: {report.measure} {mean} {interval}, each fold under what the other folds chose",
            *(
                f"held out minus {name}: {_signed(one)}: {says}"
                for (name, _), (one, says) in zip(tuned.differences, report.differences(), strict=True)
            ),
            *(f"chosen by {times} of {len(tuned.picks)} folds: {report.ways[place].name}"
              for place, times in tuned.pick_counts()),
        ]
    )  # fmt: skip
    near = [report.ways[place].name for place in tuned.alternatives]
    if near:
        show.lines([f"within one standard error, of {len(near)}, the cheapest: {near[0]}"])
    _foot(report.questions, tuned.clusters, tuned.held_out, report.unscored)


def _show_bench(found: SearchBench, budgets: Sequence[int]) -> None:
    _say_unscored(found.unscored)
    means = {(cell.way, cell.measure): cell.interval for cell in found.means}
    ways = [way.name for way in found.outcomes.ways]
    ranking = [each.name for each in found.outcomes.measures if each.kind in ("recall", "ndcg", "reciprocal_rank")]
    show.table(("preset", *ranking), [(way, *(_both(means[way, name]) for name in ranking)) for way in ways])
    kinds = ("answer_in_context", "gold_in_context", "evidence_tokens", "evidence_sentences")
    rows = [
        (str(budget), way, *(_both(means[way, f"{kind}@{budget}"]) for kind in kinds[:2]),
         *(f"{means[way, f'{kind}@{budget}'].mean:.1f}" for kind in kinds[2:]))
        for budget in budgets
        for way in ways
    ]  # fmt: skip
    show.lines([""])
    show.table(("budget", "preset", *kinds), rows)
    shown = [cell for cell in found.differences if not cell.measure.startswith("evidence_")]
    show.lines(["", f"paired differences, minus {found.against}"])
    show.table(
        ("measure", "preset", "difference", "says"),
        [(cell.measure, cell.way, _signed(cell.interval), cell.says) for cell in shown],
    )
    if found.latency:
        heads = ("preset", "p50 ms", "p95 ms", "CPU ms", "n")
        show.lines(["", "time a query, in a pass of its own without any memory of ours"])
        show.table(
            heads,
            [(one.way, f"{one.p50_milliseconds:.1f}", f"{one.p95_milliseconds:.1f}", f"{one.cpu_milliseconds:.1f}",
              str(one.n)) for one in found.latency],
        )  # fmt: skip
    show.say(
        f"encoder tokens: {found.index_tokens:,} for the archive (estimate), {found.query_tokens:.1f} a query "
        f"({found.tokenizer}); evidence counted by {found.evidence_tokenizer}"
    )
    _foot(len(found.outcomes.placed), found.clusters, found.means[0].interval, found.unscored)


def _foot(questions: int, clusters: int, interval: Interval, unscored: Sequence[Unscored]) -> None:
    show.say(
        f"{questions} questions in {clusters} clusters, {len(unscored)} unscored; {interval.level:.0%} intervals by "
        f"bootstrap over clusters, seed {interval.seed}"
    )


def _say_written(report: TuneReport, loaded: Loaded, file: str) -> None:
    written = report.to_write()
    show.say(f"wrote to [search] of {file}: {', '.join(f'{name} = {value}' for name, value in written.items())}")
    for name in written:
        if loaded.origins.get(f"search.{name}") == "environment":
            show.say(f"search.{name} is also set in the environment, which beats the file")


def _cells(interval: Interval) -> tuple[str, str]:
    """Mean and interval to three places; a dash for what could not be measured."""
    mean = "–" if math.isnan(interval.mean) else f"{interval.mean:.3f}"
    return mean, "–" if math.isnan(interval.low) else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _both(interval: Interval) -> str:
    return " ".join(_cells(interval))


def _signed(interval: Interval) -> str:
    if math.isnan(interval.low):
        return "–" if math.isnan(interval.mean) else f"{interval.mean:+.3f}"
    return f"{interval.mean:+.3f} [{interval.low:+.3f}, {interval.high:+.3f}]"
