"""Measure on labelled data: choose how to search, compare the ways that have names, compare raters."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, get_args

import click

from groundwire.cli import show
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import archive_of, archive_option, json_option, settings_of
from groundwire.core.errors import UsageError
from groundwire.core.types import RaterName

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.pairs import PairReading
    from groundwire.evaluation.questions import QuestionReading, Unscored
    from groundwire.flow.rate_bench import RateBench, RaterFigures
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
    """Compare ways to search, or raters, on your own labelled data."""


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


@bench.command()
@click.argument("pairs")
@click.option("--rater", "raters", multiple=True, type=click.Choice(get_args(RaterName)),
              help="Only this rater; repeatable. Default: all, or builtin where no model is named.")  # fmt: skip
@click.option("--model", "models", multiple=True, metavar="NAME", help="llama:NAME or http:NAME; repeatable.")
@archive_option
@click.option("--seed", type=int, help="Of the bootstrap.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write every rating as JSONL.")
@json_option
@run_options
def rate(run: RunOptions, pairs: str, raters: tuple[RaterName, ...], models: tuple[str, ...], archive: str | None,
         seed: int | None, out: Path | None, json_: bool) -> None:  # fmt: skip
    """Compare raters on labelled PAIRS of topic and article: how well each tells them apart, and what it costs.

    PAIRS is JSONL with topic, relevant (0 or 1, or a grade) and article (its text) or document (its id in --archive).
    A run that was stopped goes on from its ledger.

    Example: groundwire bench rate pairs.jsonl --model llama:smollm2-135m --rater builtin --rater likelihood
    """
    from groundwire.flow.model_settings import limits_of, model_of, prices_of
    from groundwire.flow.rate_bench import bench_rate

    loaded = settings_of({"archive": archive, "judge.seed": seed})
    settings = loaded.settings
    reading = _read_pairs(loaded, pairs, named=archive is not None)
    chosen = raters or (get_args(RaterName) if models else ("builtin",))
    with recording_of(loaded, run=run, limits=limits_of(settings, models), prices=prices_of(settings)) as recording:
        recording.input("pairs", Path(pairs).read_bytes())
        asked = {
            name: recording.model(
                name,
                partial(model_of, name, settings=settings, environment=os.environ, ledger=recording.ledger),
            )
            for name in models
        }
        with show.progress("rating") as progress:
            found = bench_rate(
                reading.pairs, names=chosen, models=asked, recording=recording, settings=settings, progress=progress
            )
        if out is not None:
            found.save(out)
            recording.output(out.name, out.read_bytes())
            show.say(f"wrote {len(found.rows())} rows to {out}")
    if json_:
        show.as_json({**found.facts(), "rejected": [asdict(one) for one in reading.rejects]})
    else:
        _show_rated(found)


def _read_pairs(loaded: Loaded, pairs: str, *, named: bool) -> PairReading:
    """The labelled pairs of a file; documents are looked up in the archive where one is named or there is one."""
    from groundwire.evaluation.pairs import read_pairs

    if named or Path(loaded.settings.archive).exists():
        with archive_of(loaded) as opened:
            reading = read_pairs(Path(pairs), documents=lambda name: opened.store.documents([name]).get(name))
    else:
        reading = read_pairs(Path(pairs), documents=lambda _: None)
    for reject in reading.rejects:
        show.say(f"row {reject.line} rejected: {reject.reason}")
    return reading


def _show_rated(found: RateBench) -> None:
    heads = ("rater", "model", "AUC", "in a topic", "tau to readings", "unscored", "calls", "tokens in", "cached",
             "out", "seconds", "price")  # fmt: skip
    show.table(heads, [_rater_row(each) for each in found.raters])
    for each in found.raters:
        if each.note:
            show.say(f"{each.name}: {each.note}")
    interval = found.raters[0].separation
    show.say(
        f"{len(found.pairs)} pairs in {found.clusters} topics; {interval.level:.0%} intervals by bootstrap over them, "
        f"seed {interval.seed}; builtin searched with {found.embedder}; seconds as the calls took when they were made"
    )


def _rater_row(each: RaterFigures) -> tuple[str, ...]:
    spent = each.spent
    price = f"{spent.money.amount.normalize():f} {spent.money.currency}" if spent.money else "–"
    counts = (each.separation.unscored, spent.calls, spent.input_tokens, spent.cached_tokens, spent.output_tokens)
    tau = _both(each.agreement) if each.agreement else "–"
    return (each.rater, each.model or "–", _both(each.separation), _both(each.within), tau,
            *(f"{count:,}" for count in counts), f"{spent.seconds:,.0f}", price)  # fmt: skip


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
