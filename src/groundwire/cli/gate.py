"""Hold new results to conditions, with an exit status of its own for what cannot be decided yet."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.compare import shown
from groundwire.cli.upkeep import json_option, settings_of
from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.evaluation.conditions import Condition, GateResult, Kind

EXIT_UNDECIDED = 4

_EXITS = {"passed": 0, "failed": 1, "undecided": EXIT_UNDECIDED}


@click.command()
@click.argument("new", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="NEW...")
@click.option("--against", multiple=True, type=click.Path(path_type=Path), metavar="OLD",
              help="The results to compare with; several are repeats.")  # fmt: skip
@click.option("--at-least", multiple=True, metavar="MEASURE=VALUE", help="The mean is this or more; repeatable.")
@click.option("--at-most", multiple=True, metavar="MEASURE=VALUE", help="The mean is this or less; repeatable.")
@click.option("--not-worse-than", multiple=True, metavar="MEASURE=MARGIN",
              help="Not worse than OLD by more than the margin; repeatable.")  # fmt: skip
@click.option("--better", multiple=True, metavar="MEASURE", help="Better than OLD; repeatable.")
@click.option("--system", default="", metavar="NAME", help="The one that counts, where NEW holds several.")
@click.option("--against-system", default="", metavar="NAME", help="The one that counts, where OLD holds several.")
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=output,reference=gold.")
@click.option("--qrels", type=click.Path(path_type=Path), metavar="FILE", help="What TREC runs are judged by.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge; default: words alone.")
@click.option("--lower", multiple=True, metavar="NAME", help="A measure of which less is better; repeatable.")
@click.option("--cluster", default="", metavar="FIELD", help="What items share (a document); default: cluster.")
@click.option("--bridge", metavar="JUDGE", help="Bring measures of two judges to the scale of this one.")
@click.option("--coverage", type=click.FloatRange(0, 1), default=0.8, show_default=True,
              help="The least share of items with a value; with less nothing passes.")  # fmt: skip
@click.option("--level", type=float, help="Of all conditions together; default: judge.level, 0.95.")
@click.option("--junit", "junit_", type=click.Path(path_type=Path), metavar="FILE.xml", help="Write JUnit's XML.")
@json_option
def gate(new: tuple[Path, ...], against: tuple[Path, ...], at_least: tuple[str, ...], at_most: tuple[str, ...],
         not_worse_than: tuple[str, ...], better: tuple[str, ...], system: str, against_system: str, map_: str | None,
         qrels: Path | None, embedder: str | None, lower: tuple[str, ...], cluster: str, bridge: str | None,
         coverage: float, level: float | None, junit_: Path | None, json_: bool) -> None:  # fmt: skip
    """Hold the results in NEW to conditions, alone or against those of OLD.

    Files are as for compare; several NEW are repeats of one run. Exits with 0 when every condition is passed, 1 when
    one is failed, 4 when one is undecided and none failed: then it says how many more items or runs would decide.

    Example: groundwire gate new.jsonl --against old.jsonl --not-worse-than answer_correctness=2
    """
    from groundwire.evaluation.conditions import GateOptions
    from groundwire.flow.gate import GateFiles, gate_files, junit
    from groundwire.flow.settings import mapping

    conditions = [
        *_bounded("at_least", at_least, option="--at-least"),
        *_bounded("at_most", at_most, option="--at-most"),
        *_bounded("not_worse", not_worse_than, option="--not-worse-than"),
        *_plain("better", better),
    ]
    if not conditions:
        raise UsageError("there is no condition; give --at-least, --at-most, --not-worse-than or --better")
    loaded = settings_of({"judge.embedder": embedder, "judge.level": level,
                          "judge.map": None if map_ is None else mapping(map_)})  # fmt: skip
    judge = loaded.settings.judge
    found = gate_files(
        conditions,
        files=GateFiles(new, against, system, against_system, qrels, cluster),
        settings=loaded.settings,
        options=GateOptions(judge.level, frozenset(lower), bridge, coverage, judge.seed),
    )
    _show(found, json_=json_)
    if junit_ is not None:
        junit_.parent.mkdir(parents=True, exist_ok=True)
        junit_.write_text(junit(found), encoding="utf-8")
        show.say(f"wrote {junit_}")
    sys.exit(_EXITS[found.outcome])


def _bounded(kind: Kind, given: tuple[str, ...], *, option: str) -> list[Condition]:
    from groundwire.evaluation.conditions import Condition

    found = []
    for one in given:
        measure, _, number = one.rpartition("=")
        try:
            bound = float(number)
        except ValueError:
            measure, bound = "", 0.0
        if not measure:
            raise UsageError(f"{option} '{one}' is not of the form MEASURE=NUMBER, such as answer_correctness=2")
        found.append(Condition(kind, measure, bound))
    return found


def _plain(kind: Kind, measures: tuple[str, ...]) -> list[Condition]:
    from groundwire.evaluation.conditions import Condition

    return [Condition(kind, measure) for measure in measures]


def _show(found: GateResult, *, json_: bool) -> None:
    for note in found.notes:
        show.say(shown(note))
    for judge in dict.fromkeys(one.judge for one in found.held):
        show.say(shown(f"judged by: {judge}"))
    if len(found.held) > 1:
        show.say(f"{len(found.held)} conditions at {found.level:.4g} together: Holm's steps, the worst counts")
    if json_:
        rows = [{**asdict(one), "words": one.words} for one in found.held]
        show.as_json({"outcome": found.outcome, "level": found.level, "conditions": rows, "notes": found.notes})
        return
    show.lines(shown(one.words) for one in found.held)
    if len(found.held) > 1:
        show.lines([found.outcome])
