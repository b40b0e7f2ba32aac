"""A comparison as one HTML page."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from groundwire.cli import show
from groundwire.cli.compare import margins_of, say_read
from groundwire.cli.upkeep import settings_of


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--out", "-o", type=click.Path(path_type=Path), required=True, metavar="FILE.html",
              help="Where the page is written.")  # fmt: skip
@click.option("--language", type=click.Choice(["en", "zh-TW"]), default="en", show_default=True,
              help="Of the page's own words.")  # fmt: skip
@click.option("--values", type=click.Path(path_type=Path), metavar="FILE.jsonl",
              help="Write every judgement as well, and link to it.")  # fmt: skip
@click.option("--date", "created", default="", metavar="TEXT", help="The date to print; default: none.")
@click.option("--measure", "measures", multiple=True, metavar="NAME", help="Only this measure; repeatable.")
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=output,reference=gold.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge; default: words alone.")
@click.option("--margin", "margins", multiple=True, metavar="[NAME=]X", help="Differences below X do not matter.")
@click.option("--lower", multiple=True, metavar="NAME", help="A measure of which less is better; repeatable.")
@click.option("--adjust", type=click.Choice(["tukey", "holm"]), default="tukey", show_default=True,
              help="For many pairs of one measure, or of all measures.")  # fmt: skip
@click.option("--tolerance", type=float, default=0.0, show_default=True, help="Differences up to this are ties.")
@click.option("--cluster", default="", metavar="FIELD", help="What items share (a document); default: cluster.")
@click.option("--bridge", metavar="JUDGE", help="Bring measures of two judges to the scale of this one.")
@click.option("--level", type=float, help="Of intervals and tests; default: judge.level, 0.95.")
@click.option("--permutations", type=int, default=10_000, show_default=True, help="Draws of the tests.")
@click.option("--seed", type=int, help="Of all draws; default: judge.seed, 0.")
def report(files: tuple[str, ...], out: Path, language: str, values: Path | None, created: str,
           measures: tuple[str, ...], map_: str | None, embedder: str | None, margins: tuple[str, ...],
           lower: tuple[str, ...], adjust: str, tolerance: float, cluster: str, bridge: str | None,
           level: float | None, permutations: int, seed: int | None) -> None:  # fmt: skip
    """Compare the systems of result FILEs and write one HTML page: the verdict, figures, every answer behind them.

    FILEs are as in 'compare'. The page loads nothing, and reads without scripts. Exits with 1 when a row was rejected,
    a system lacks an item or has it twice, or values look to be on two scales.

    Example: groundwire report old.jsonl new.jsonl -o report.html
    """
    from groundwire.evaluation.comparisons import Options
    from groundwire.flow.comparing import ComparePlan, compare_files
    from groundwire.flow.report import render_report, values_jsonl
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
        compared = compare_files(files, settings=loaded.settings, plan=plan, progress=progress)
    say_read(compared)
    beside = ""
    if values is not None:
        _write(values, values_jsonl(compared))
        beside = Path(_relative(values, out)).as_posix()
    _write(out, render_report(compared, language=language, created=created, values_file=beside))
    sys.exit(0 if compared.fits else 1)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    show.say(f"wrote {path} ({len(text.encode('utf-8')):,} bytes)")


def _relative(values: Path, out: Path) -> str:
    """Where one file is as seen from the other."""
    import os

    return os.path.relpath(values.resolve(), out.resolve().parent)
