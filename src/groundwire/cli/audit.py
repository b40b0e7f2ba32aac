"""Audit a judge before its values are believed."""

from __future__ import annotations

import math
import os
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import json_option, settings_of
from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.audit_figures import Figure
    from groundwire.evaluation.model_judge import JudgeSettings, Mode
    from groundwire.flow.auditing import Audit, AuditedJudge, AuditSource
    from groundwire.flow.settings import Loaded

BUILTIN = "builtin"

_PROBES = ["repeats", "facts", "contexts", "length", "orders", "refusals", "places"]


@click.command()
@click.argument("judge", metavar="JUDGE")
@click.option("--items", "items_", type=click.Path(path_type=Path), metavar="FILE",
              help="Items of your own, as for judge; default: 24 that come with groundwire.")  # fmt: skip
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=response,contexts=passages.")
@click.option("--labels", type=click.Path(path_type=Path), metavar="FILE",
              help="What people said of the items (groundwire label read -o).")  # fmt: skip
@click.option("-n", "--n", "n", type=click.IntRange(min=2), help="Draw so many of the items; default: all.")
@click.option("--probe", "probes", multiple=True, type=click.Choice(_PROBES), help="Only this; repeatable.")
@click.option("--rubric", "rubrics", multiple=True, metavar="NAME", help="Only this rubric; repeatable.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Of the right answers.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge: compare meaning beside words.")
@click.option("--mode", type=click.Choice(["paper", "shared"]), default="shared", show_default=True,
              help="Of a model: a call a rubric, or one call an answer.")  # fmt: skip
@click.option("--expected", is_flag=True, help="Take the expectation of each number, where the model tells it.")
@click.option("--temperature", type=float, default=0.0, show_default=True, help="Of a model's replies.")
@click.option("--fixed-order", is_flag=True, help="Ask for the rubrics in one order in place of a drawn one.")
@click.option("--seed", type=int, help="Of draws, orders and tries.")
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE.json", help="Write everything as JSON.")
@json_option
@run_options
def audit(run: RunOptions, judge: str, items_: Path | None, map_: str | None, labels: Path | None, n: int | None,
          probes: tuple[str, ...], rubrics: tuple[str, ...], repeats: int, embedder: str | None, mode: Mode,
          expected: bool, temperature: float, fixed_order: bool, seed: int | None, out: Path | None,
          json_: bool) -> None:  # fmt: skip
    """Audit JUDGE (builtin, llama:NAME or http:NAME): what can its values be trusted for?

    It judges answers with known properties: does it repeat itself, know right from wrong, obey orders in what it
    judges, like length, know a refusal, agree with people? Without --n a model gets some 290 answers to judge.

    Example: groundwire audit http:judge -n 8
    """
    from groundwire.evaluation.audit import PROBES, AuditPlan
    from groundwire.evaluation.model_judge import JudgeSettings
    from groundwire.evaluation.rubrics import CCRS, rubrics_named
    from groundwire.flow.auditing import audit as audited
    from groundwire.flow.labelling import read_labels
    from groundwire.flow.settings import mapping

    _refuse_together(judge, embedder=embedder, labels=labels, items=items_)
    loaded = settings_of({"judge.embedder": embedder, "judge.seed": seed,
                          "judge.map": None if map_ is None else mapping(map_)})  # fmt: skip
    drawn = loaded.settings.judge
    plan = AuditPlan(
        probes=tuple(probe for probe in PROBES if not probes or probe in probes),
        repeats=repeats,
        rubrics=rubrics_named(rubrics) if rubrics else CCRS,
        level=drawn.level, resamples=drawn.resamples, seed=drawn.seed,
    )  # fmt: skip
    settings = JudgeSettings(mode, expected, 1, temperature, not fixed_order, drawn.seed,
                             loaded.settings.prompts_folder)  # fmt: skip
    source = _source(loaded, items_, n=n)
    given = () if labels is None else read_labels(labels)
    with ExitStack() as stack:
        asked = _judge(judge, loaded, run, settings=settings, stack=stack)
        found = audited(asked, source, plan=plan, labels=given)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(show.json_of(found.facts()) + "\n", encoding="utf-8")
        show.say(f"wrote {out}")
    show.as_json(found.facts()) if json_ else _show(found)
    _talk(found)


def _refuse_together(judge: str, *, embedder: str | None, labels: Path | None, items: Path | None) -> None:
    if judge != BUILTIN and embedder is not None:
        raise UsageError(f"--embedder is of the built-in judge, and '{judge}' is another; give one of them")
    if labels is not None and items is None:
        raise UsageError("--labels are of people on items of yours; give these with --items")


def _source(loaded: Loaded, path: Path | None, *, n: int | None) -> AuditSource:
    from groundwire.flow.auditing import drawn, items_of, sample_items

    options = loaded.settings.judge
    source = sample_items() if path is None else items_of(path, mapping=options.map or None)
    return source if n is None else drawn(source, n, seed=options.seed)


def _judge(name: str, loaded: Loaded, run: RunOptions, *, settings: JudgeSettings, stack: ExitStack) -> AuditedJudge:
    from groundwire.evaluation.judge import BuiltinJudge
    from groundwire.flow.auditing import BuiltIn, ByModel
    from groundwire.flow.model_settings import limits_of, model_of, prices_of
    from groundwire.flow.registry import embedder

    if name == BUILTIN:
        named = loaded.settings.judge.embedder
        return BuiltIn(BuiltinJudge(embedder(named, threads=loaded.settings.threads) if named else None))
    limits, prices = limits_of(loaded.settings, [name]), prices_of(loaded.settings)
    progress = stack.enter_context(show.progress("judging"))
    recording = stack.enter_context(recording_of(loaded, run=run, limits=limits, prices=prices))
    make = partial(model_of, name, settings=loaded.settings, environment=os.environ, ledger=recording.ledger)
    return ByModel(recording.model(name, make), recording=recording, settings=settings, progress=progress)


def _show(found: Audit) -> None:
    heads = ("probe", "rubric", "what", "value", "n", "unscored")
    show.table(heads, [_row(one) for one in found.figures])
    for one in found.people:
        for each in one.correlations:
            around = "" if math.isnan(each.low) else f" [{each.low:.2f}, {each.high:.2f}]"
            show.lines([f"people  {one.rubric}  {each.kind} {each.value:.2f}{around}, n {each.n}, {each.unscored} unscored"])
    spent, each_ = found.spent, found.per_answer
    show.lines([
        "",
        f"{found.answers:,} answers, {spent.calls:,} calls; an answer: {each_['calls']:.2f} calls, "
        f"{each_['input_tokens']:,.0f} tokens in, {each_['output_tokens']:,.0f} out, {each_['seconds']:.3g} seconds",
    ])  # fmt: skip
    show.lines(["", *(f"beware: {words}" for words in found.beware)] if found.beware else [])


def _row(figure: Figure) -> tuple[str, ...]:
    note = f"; {figure.note}" if figure.note else ""
    return (
        figure.probe, figure.rubric or "–", figure.what + note, _figures(figure.value, points=figure.unit == "points"),
        str(figure.value.n), str(figure.value.unscored),
    )  # fmt: skip


def _figures(value: Interval, *, points: bool) -> str:
    if math.isnan(value.mean):
        return "–"
    scale, places = (1, 1) if points else (100, 0)
    mean = f"{value.mean * scale:z.{places}f}"
    around = "" if math.isnan(value.low) else f" [{value.low * scale:z.{places}f}, {value.high * scale:z.{places}f}]"
    return f"{mean}{around}{'' if points else ' %'}"


def _talk(found: Audit) -> None:
    for note in found.notes:
        show.say(note)
    plan = found.plan
    show.say(f"judge {found.judge}: {found.fingerprint}")
    show.say(
        f"{found.items} items ({found.source}); {plan.level:.0%} intervals, of shares of counts by Wilson, else from "
        f"{plan.resamples:,} resamples; seed {plan.seed}"
    )
