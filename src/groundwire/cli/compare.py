"""Compare systems by their result files: the verdict in words first, then what it rests on."""

from __future__ import annotations

import math
import re
import sys
import textwrap
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.upkeep import settings_of

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.comparisons import MeasureComparison, PairComparison, Standing
    from groundwire.flow.comparing import Compared

_WIDTH = 100
_LONGEST_NAME = 30
_LONGEST_IN_PAIR = 17
_MOST_LISTED = 5
_MOST_REASONS = 12
_HELD = re.compile(r"p [<=] |\d items|\[[^ ]+, [^ ]+\]")
_NO_BREAK = "\N{NO-BREAK SPACE}"


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--as", "as_", multiple=True, metavar="NAME=FILE",
              help="Call the system of FILE so; NAME=FILE among the files does the same.")  # fmt: skip
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Only this measure; repeatable.")
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=output,reference=gold.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge; default: words alone.")
@click.option("--margin", "margins", multiple=True, metavar="[NAME=]X",
              help="Differences below X do not matter; of one measure or of all. Repeatable.")  # fmt: skip
@click.option("--lower", multiple=True, metavar="NAME", help="A measure of which less is better; repeatable.")
@click.option("--adjust", type=click.Choice(["tukey", "holm"]), default="tukey", show_default=True,
              help="For many pairs of one measure, or of all measures.")  # fmt: skip
@click.option("--tolerance", type=float, default=0.0, show_default=True, help="Differences up to this are ties.")
@click.option("--cluster", default="", metavar="FIELD", help="What items share (a document); default: cluster.")
@click.option("--bridge", metavar="JUDGE", help="Bring measures of two judges to the scale of this one.")
@click.option("--level", type=float, help="Of intervals and tests; default: judge.level, 0.95.")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="Draws of the tests.")
@click.option("--seed", type=int, help="Of all draws; default: judge.seed, 0.")
@click.option("--csv", "csv_", type=click.Path(path_type=Path), metavar="FILE", help="Write a row a pair and measure.")
@click.option("--latex", type=click.Path(path_type=Path), metavar="FILE", help="Write a booktabs table.")
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE.json", help="Write everything as JSON.")
@click.option("--report", type=click.Path(path_type=Path), metavar="FILE.html", help="Write the page of 'report'.")
@click.option("--json", "json_", is_flag=True, help="Print everything as JSON.")
def compare(files: tuple[str, ...], as_: tuple[str, ...], measures: tuple[str, ...], map_: str | None,
            embedder: str | None, margins: tuple[str, ...], lower: tuple[str, ...], adjust: str, tolerance: float,
            cluster: str, bridge: str | None, level: float | None, permutations: int, seed: int | None,
            csv_: Path | None, latex: Path | None, out: Path | None, report: Path | None,
            json_: bool) -> None:  # fmt: skip
    """Say which system is better, by result FILEs: JSONL, CSV, RAGAS, DeepEval, RAGChecker, or TREC runs with qrels.

    Answers without values are judged by the built-in judge. Items are joined by id. Exits with 1 when a row was
    rejected, a system lacks an item or has it twice, or values look to be on two scales.

    Example: groundwire compare old.jsonl new.jsonl --margin 1
    """
    from groundwire.evaluation.comparisons import Options
    from groundwire.flow import comparison_exports as exports
    from groundwire.flow.comparing import ComparePlan, compare_files
    from groundwire.flow.settings import mapping

    loaded = settings_of({"judge.embedder": embedder, "judge.seed": seed, "judge.level": level,
                          "judge.map": None if map_ is None else mapping(map_)})  # fmt: skip
    judge = loaded.settings.judge
    options = Options(
        level=judge.level, adjust="holm" if adjust == "holm" else "tukey", margins=margins_of(margins),
        lower_is_better=frozenset(lower), tolerance=tolerance, bridge=bridge, permutations=permutations,
        resamples=judge.resamples, seed=judge.seed,
    )  # fmt: skip
    plan = ComparePlan(tuple(dict.fromkeys(measures)), cluster, options)
    with show.progress("judging") as progress:
        compared = compare_files((*files, *as_), settings=loaded.settings, plan=plan, progress=progress)
    say_read(compared)
    if json_:
        click.echo(exports.comparison_json(compared), nl=False)
    else:
        show.lines(map(shown, lines_of(compared)))
    for path, made in (
        (csv_, exports.comparison_csv),
        (latex, exports.comparison_latex),
        (out, exports.comparison_json),
        (report, _page),
    ):
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(made(compared), encoding="utf-8", errors="backslashreplace", newline="")
            show.say(f"wrote {path}")
    _say_unscored(compared)
    _say_drawn(compared)
    sys.exit(0 if compared.fits else 1)


def _page(compared: Compared) -> str:
    from groundwire.flow.report import render_report

    return render_report(compared)


def margins_of(given: Sequence[str]) -> tuple[tuple[str, float], ...]:
    """The margins of ``--margin``, by measure; an empty name is every measure.

    Raises:
        UsageError: one is no number.
    """
    from groundwire.core.errors import UsageError

    found = []
    for one in given:
        name, _, number = one.rpartition("=")
        try:
            found.append((name, float(number)))
        except ValueError as error:
            raise UsageError(
                f"--margin '{one}' is not of the form NAME=X or X, such as answer_correctness=2"
            ) from error
    return tuple(found)


def _say(message: str) -> None:
    show.say(shown(message))


def shown(line: str) -> str:
    """A line for a terminal: characters of the data that could turn or hide it are shown by their numbers."""
    return "".join(f"<U+{ord(one):04X}>" if unicodedata.category(one)[0] == "C" else one for one in line)


def say_read(compared: Compared) -> None:
    """What was read out of each file, what was rejected, and what was assumed; to stderr."""
    for source in compared.sources:
        systems = ", ".join(source.systems) or "no system"
        _say(f"{source.file}: {source.kind}, {source.rows} rows, {len(source.rejected)} rejected; {systems}")
        for reject in source.rejected[:_MOST_LISTED]:
            _say(f"  row {reject.line} rejected: {reject.reason}")
        if len(source.rejected) > _MOST_LISTED:
            _say(f"  and {len(source.rejected) - _MOST_LISTED} more; --json lists all")
        for note in source.notes:
            _say(f"  {note}")
    for note in (*compared.notes, *compared.comparison.notes):
        _say(note)


def _say_unscored(compared: Compared) -> None:
    """A line a system and reason, with the measures that have the same count of it."""
    found: dict[tuple[str, str, int], list[str]] = {}
    for one in compared.unscored:
        found.setdefault((one.system, one.reason, one.n), []).append(one.measure)
    rows = sorted(found.items(), key=lambda pair: (pair[0][0], -pair[0][2], pair[0][1]))
    for (system, reason, n), measures in rows[:_MOST_REASONS]:
        _say(f"{system}: {n:,} unscored ({', '.join(measures)}): {reason}")
    if len(rows) > _MOST_REASONS:
        _say(f"and {len(rows) - _MOST_REASONS} more reasons; --json lists all")


def _say_drawn(compared: Compared) -> None:
    options = compared.comparison.options
    judges = sorted({judge for measure in compared.comparison.measures for judge in measure.judges})
    _say(f"judged by: {'; '.join(judges)}")
    _say(
        f"paired by item; {100 * options.level:.4g}% bootstrap intervals of {options.resamples} resamples; up to "
        f"{options.permutations} permutations, p adjusted by {options.adjust}; seed {options.seed}"
    )


def lines_of(compared: Compared) -> Iterator[str]:
    """What the terminal shows, at most 100 columns wide where names allow: verdicts, figures, costs, what is amiss."""
    for scale in compared.scales:
        if scale.note:
            yield from _wrapped(f"beware: {scale.note}")
    for measure in compared.comparison.measures:
        yield from _verdict(measure)
    scales = {scale.measure: scale.words for scale in compared.scales}
    for measure in compared.comparison.measures:
        yield from _figures(measure, scale=scales.get(measure.measure, "0 to 100"))
    yield from _lengths(compared)
    yield from _costs(compared)
    yield from _mismatches(compared)


def _wrapped(text: str, *, indent: str = "") -> list[str]:
    """Lines of a sentence; a number stays with its unit, and p with its value."""
    held = _HELD.sub(lambda found: found[0].replace(" ", _NO_BREAK), text)
    made = textwrap.wrap(
        held, _WIDTH, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    return [line.replace(_NO_BREAK, " ") for line in made]


def _verdict(measure: MeasureComparison) -> Iterator[str]:
    yield from _wrapped(f"{measure.measure}: {_summary(measure)}")
    for pair in measure.pairs:
        yield from _wrapped(pair.words, indent="  ")
    for note in measure.notes:
        yield from _wrapped(note, indent="  ")
    yield ""


def _summary(measure: MeasureComparison) -> str:
    """Who is best in a few words."""
    if not measure.pairs:
        return "nothing to compare"
    first = measure.standings[0].system
    against = [pair for pair in measure.pairs if first in (pair.one, pair.other)]
    beaten = sum(pair.decision == ("better" if pair.one == first else "worse") for pair in against)
    if len(against) == 1:
        return f"{first} is better" if beaten else against[0].decision
    apart = sum(pair.decision in ("better", "worse") for pair in measure.pairs)
    told = f"{apart} of {len(measure.pairs)} pairs told apart"
    return f"{first} leads, better than {beaten} of {len(against)} others; {told}" if apart else told


def _figures(measure: MeasureComparison, *, scale: str) -> Iterator[str]:
    if not measure.pairs:
        return
    from groundwire.flow.comparison_exports import decimals

    places = decimals(measure)
    items = f"{measure.items:,} items" + (
        f" in {measure.clusters:,} groups" if measure.clusters != measure.items else ""
    )
    left_out = f", {measure.left_out:,} left out" if measure.left_out else ""
    yield f"{measure.measure}  ({scale}; {items}{left_out}; p {_test(measure)})"
    rows = [_standing(one, places) for one in measure.standings]
    yield from _table(("system", "mean", "interval", "group", "n", "unscored", "missing", "coverage"), rows)
    heads = ("one", "other", "difference", "d_z", "adjusted p", "wins/ties/losses", "at equal length")
    yield from _table(heads, [_pair(pair, measure, places) for pair in measure.pairs])
    slope = measure.length_slope
    if slope is not None and not math.isnan(slope.mean):
        yield f"  twice the length: {_signed(slope, places)} on the value"
    if measure.ties is not None:
        yield f"  ties {measure.ties.rate:.1%} of pairs of values; {measure.power:.0%} of pairs of systems told apart"
    yield ""


def _test(measure: MeasureComparison) -> str:
    return {
        "exact": "exact",
        "monte carlo": f"from {measure.permutations:,} permutations",
        "holm": "adjusted by Holm",
        "bridged": "bridged between judges",
    }.get(measure.how, measure.how)


def _standing(one: Standing, places: int) -> tuple[str, ...]:
    mean, covered = one.mean, one.coverage
    around = "–" if math.isnan(mean.low) else f"[{mean.low:z.{places}f}, {mean.high:z.{places}f}]"
    return (
        _cut(one.system, _LONGEST_NAME), f"{mean.mean:z.{places}f}", around, one.letters, f"{mean.n:,}",
        f"{covered.unscored:,}", f"{covered.missing + covered.ambiguous:,}", f"{covered.share:.1%}",
    )  # fmt: skip


def _pair(pair: PairComparison, measure: MeasureComparison, places: int) -> tuple[str, ...]:
    from groundwire.evaluation.comparisons import p_in_words

    names = _short([one.system for one in measure.standings])
    p = p_in_words(pair.p).removeprefix("p ").removeprefix("= ")
    equal = pair.at_equal_length
    return (
        names[pair.one], names[pair.other], f"{pair.difference.mean:+z.{places}f}",
        "–" if math.isnan(pair.d_z) else f"{pair.d_z:+z.2f}", p, f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}",
        "–" if equal is None or math.isnan(equal.mean) else _signed(equal, places),
    )  # fmt: skip


def _signed(value: Interval, places: int) -> str:
    around = "" if math.isnan(value.low) else f" [{value.low:z.{places}f}, {value.high:z.{places}f}]"
    return f"{value.mean:+z.{places}f}{around}"


def _short(names: Sequence[str]) -> dict[str, str]:
    """Names cut for a table, or whole where two would look the same."""
    cut = {name: _cut(name, _LONGEST_IN_PAIR) for name in names}
    return cut if len(set(cut.values())) == len(names) else {name: name for name in names}


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [f"  {line}" for line in show.columns(heads, rows)]


def _lengths(compared: Compared) -> Iterator[str]:
    """How long the answers are, where that may speak for a difference."""
    if compared.lengths is None:
        return
    found: dict[str, list[float]] = {}
    for (system, _), length in compared.lengths.items():
        found.setdefault(system, []).append(length)
    yield "length of the answers (tokens, estimated)"
    rows = [(_cut(system, _LONGEST_NAME), f"{fmean(known):,.1f}", f"{median(known):,.4g}", f"{max(known):,.0f}",
             f"{len(known):,}") for system, known in sorted(found.items())]  # fmt: skip
    yield from _table(("system", "mean", "median", "longest", "n"), rows)
    yield ""


def _costs(compared: Compared) -> Iterator[str]:
    found = compared.mean_costs
    if not found:
        return
    fields = list(dict.fromkeys(one.what for one in found))
    by_place = {(one.system, one.what): one for one in found}
    yield "price per answer (means)"
    rows = []
    for system in sorted({one.system for one in found}):
        cells = [by_place.get((system, what)) for what in fields]
        told = max((one.n for one in cells if one is not None), default=0)
        answers = max((one.answers for one in cells if one is not None), default=0)
        rows.append((_cut(system, _LONGEST_NAME), *("–" if one is None else f"{one.mean:,.4g}" for one in cells),
                     f"{told:,} of {answers:,}"))  # fmt: skip
    yield from _table(("system", *fields, "answers that say so"), rows)
    yield ""


def _mismatches(compared: Compared) -> Iterator[str]:
    """What is missing or twice, once where it is the same in several measures."""
    found: dict[tuple[str, str], dict[str, list[str]]] = {}
    for one in compared.comparison.mismatches:
        found.setdefault((one.system, one.what), {}).setdefault(one.measure, []).append(one.item_id)
    if found:
        yield "does not fit"
    for (system, what), by_measure in sorted(found.items()):
        grouped: dict[tuple[str, ...], list[str]] = {}
        for measure, found_ids in by_measure.items():
            grouped.setdefault(tuple(found_ids), []).append(measure)
        for ids, of_measures in grouped.items():
            of = "" if len(of_measures) == len(compared.comparison.measures) else f" ({', '.join(of_measures)})"
            listed = ", ".join(_cut(item, 40) for item in ids[:_MOST_LISTED])
            more = f" and {len(ids) - _MOST_LISTED:,} more" if len(ids) > _MOST_LISTED else ""
            yield from _wrapped(f"{system}{of}: {what} {len(ids):,}: {listed}{more}", indent="  ")
