"""Audit a judge before its values are believed."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import json_option, settings_of
from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.core.types import Interval
    from groundwire.evaluation.audit import AuditPlan
    from groundwire.evaluation.audit_figures import Figure
    from groundwire.evaluation.model_judge import JudgeSettings, Mode
    from groundwire.flow.auditing import Audit, AuditedJudge, AuditSource
    from groundwire.flow.runs import Recording
    from groundwire.flow.settings import Loaded

BUILTIN = "builtin"

_PROBES = ["repeats", "facts", "contexts", "length", "injection", "refusals", "places"]
_WIDTH = 100


@click.command()
@click.argument("judge", metavar="JUDGE")
@click.option("--items", "items_", type=click.Path(path_type=Path), metavar="FILE",
              help="Items of your own, as for judge; default: 24 that come with groundwire.")  # fmt: skip
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=response,contexts=passages.")
@click.option("--labels", type=click.Path(path_type=Path), metavar="FILE",
              help="What people said of the items (groundwire label read -o).")  # fmt: skip
@click.option("-n", "--n", "n", type=click.IntRange(min=2),
              help="Draw so many of the items; default: all. What people labelled is judged whole.")  # fmt: skip
@click.option("--probe", "probes", multiple=True, type=click.Choice(_PROBES), help="Only this; repeatable.")
@click.option("--rubric", "rubrics", multiple=True, metavar="NAME", help="Only this rubric; repeatable.")
@click.option("--repeats", type=click.IntRange(min=1), default=3, show_default=True, help="Of the right answers.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge: compare meaning beside words.")
@click.option("--mode", type=click.Choice(["paper", "shared"]),
              help="Of a model: a call a rubric, or one call an answer (default).")  # fmt: skip
@click.option("--expected", is_flag=True, help="Of a model: take the expectation of each number, where it tells it.")
@click.option("--temperature", type=float, help="Of a model's replies; default: 0.")
@click.option("--fixed-order", is_flag=True, help="Of a model: ask for the rubrics in one order, not a drawn one.")
@click.option("--seed", type=int, help="Of draws, orders and tries.")
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE.json", help="Write everything as JSON.")
@json_option
@run_options
def audit(run: RunOptions, judge: str, items_: Path | None, map_: str | None, labels: Path | None, n: int | None,
          probes: tuple[str, ...], rubrics: tuple[str, ...], repeats: int, embedder: str | None, mode: Mode | None,
          expected: bool, temperature: float | None, fixed_order: bool, seed: int | None, out: Path | None,
          json_: bool) -> None:  # fmt: skip
    """Audit JUDGE (builtin, llama:NAME or http:NAME): what can its values be trusted for?

    It judges answers with known properties: does it repeat itself, know right from wrong, obey orders in what it
    judges, like length, know a refusal, agree with people? Without -n a model gets some 290 answers to judge.

    Example: groundwire audit http:judge -n 8
    """
    from groundwire.evaluation.model_judge import JudgeSettings
    from groundwire.flow.settings import mapping

    _refuse_together(
        judge, embedder=embedder, for_models=mode is not None or temperature is not None or expected or fixed_order
    )
    if labels is not None and items_ is None:
        raise UsageError("--labels are of people on items of yours; give these with --items")
    loaded = settings_of({"judge.embedder": embedder, "judge.seed": seed,
                          "judge.map": None if map_ is None else mapping(map_)})  # fmt: skip
    settings = JudgeSettings(mode or "shared", expected, 1, temperature, not fixed_order, loaded.settings.judge.seed,
                             loaded.settings.prompts_folder)  # fmt: skip
    plan = _plan(loaded, probes=probes, rubrics=rubrics, repeats=repeats)
    asked = _Asked(loaded, _source(loaded, items_, n=n), plan, items_, labels)
    found = _built_in(asked, out=out) if judge == BUILTIN else _by_model(asked, judge, run, settings=settings, out=out)
    show.as_json(found.facts()) if json_ else show.lines(_lines(found))
    _talk(found)


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is audited with, whoever judges."""

    loaded: Loaded
    source: AuditSource
    plan: AuditPlan
    items: Path | None
    labels: Path | None

    def of(self, judge: AuditedJudge) -> Audit:
        """Audit this one."""
        from groundwire.flow.auditing import audit as audited
        from groundwire.flow.labelling import read_labels

        labels = () if self.labels is None else read_labels(self.labels)
        return audited(judge, self.source, plan=self.plan, labels=labels)


def _refuse_together(judge: str, *, embedder: str | None, for_models: bool) -> None:
    if judge != BUILTIN and embedder is not None:
        raise UsageError(f"--embedder is of the built-in judge, and '{judge}' is another; give one of them")
    if judge == BUILTIN and for_models:
        raise UsageError("--mode, --expected, --temperature and --fixed-order are of models, and the judge is built in")


def _plan(loaded: Loaded, *, probes: tuple[str, ...], rubrics: tuple[str, ...], repeats: int) -> AuditPlan:
    from groundwire.evaluation.audit import PROBES, AuditPlan
    from groundwire.evaluation.rubrics import CCRS, rubrics_named

    drawn = loaded.settings.judge
    return AuditPlan(
        probes=tuple(probe for probe in PROBES if not probes or probe in probes),
        repeats=repeats,
        rubrics=rubrics_named(rubrics) if rubrics else CCRS,
        level=drawn.level,
        resamples=drawn.resamples,
        seed=drawn.seed,
    )


def _source(loaded: Loaded, path: Path | None, *, n: int | None) -> AuditSource:
    from groundwire.flow.auditing import drawn, items_of, sample_items

    options = loaded.settings.judge
    source = sample_items() if path is None else items_of(path, mapping=options.map or None)
    return source if n is None else drawn(source, n, seed=options.seed)


def _built_in(asked: _Asked, *, out: Path | None) -> Audit:
    from groundwire.evaluation.judge import BuiltinJudge
    from groundwire.flow.auditing import BuiltIn
    from groundwire.flow.registry import embedder

    settings = asked.loaded.settings
    named = settings.judge.embedder
    found = asked.of(BuiltIn(BuiltinJudge(embedder(named, threads=settings.threads) if named else None)))
    if out is not None:
        _write(found, out)
    return found


def _by_model(asked: _Asked, name: str, run: RunOptions, /, *, settings: JudgeSettings, out: Path | None) -> Audit:
    from groundwire.flow.auditing import ByModel
    from groundwire.flow.model_settings import limits_of, model_of, prices_of

    ours = asked.loaded.settings
    limits, prices = limits_of(ours, [name]), prices_of(ours)
    with ExitStack() as stack:
        recording = stack.enter_context(recording_of(asked.loaded, run=run, limits=limits, prices=prices))
        _take_down(asked, recording)
        make = partial(model_of, name, settings=ours, environment=os.environ, ledger=recording.ledger)
        model = recording.model(name, make)
        progress = stack.enter_context(show.progress("judging"))
        found = asked.of(ByModel(model, recording=recording, settings=settings, progress=progress))
        if out is not None:
            _write(found, out)
            recording.output(out.name, out.read_bytes())
    return found


def _take_down(asked: _Asked, recording: Recording) -> None:
    for kind, path in (("items", asked.items), ("labels", asked.labels)):
        if path is not None:
            recording.input(kind, path.read_bytes())


def _write(found: Audit, out: Path) -> None:
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(show.json_of(found.facts()) + "\n", encoding="utf-8")
    show.say(f"wrote {out}")


def _lines(found: Audit) -> Iterator[str]:
    """One table with a title over each figure of several rubrics, then people, prices and what to beware of."""
    heads, *rows = show.columns(("  rubric", "value", "n", "unscored", "chance"), [_row(one) for one in found.figures])
    yield heads
    left = iter(rows)
    for (probe, what, unit), same in groupby(found.figures, key=lambda one: (one.probe, one.what, one.unit)):
        yield f"{probe}: {what}, {unit}"
        for one in same:
            yield next(left)
            yield from (f"    not seen: {wording}" for wording in one.missed)
    for beside in found.people:
        yield f"people: correlation with them under {beside.rubric}"
        for each in beside.correlations:
            around = "" if math.isnan(each.low) else f" [{each.low:.2f}, {each.high:.2f}]"
            value = "–" if math.isnan(each.value) else f"{each.value:.2f}"
            yield f"  {each.kind:<12}{value}{around}, n {each.n}, {each.unscored} unscored"
    yield ""
    yield from _prices(found)
    yield from (line for words in found.beware for line in wrap(f"beware: {words}", _WIDTH, subsequent_indent="  "))


def _prices(found: Audit) -> Iterator[str]:
    each = found.spent.per_answer
    yield f"{found.answers:,} answers were judged"
    yield (
        f"an answer takes {each['requests']:.2f} requests, {each['input_tokens']:,.0f} tokens in, "
        f"{each['output_tokens']:,.0f} out, {each['seconds']:.3g} seconds (of {found.spent.answers:,})"
    )


def _row(figure: Figure) -> tuple[str, ...]:
    value = figure.value
    chance = "" if figure.chance is None else f"{figure.chance:.1f}"
    return (f"  {figure.rubric or 'all'}", _figures(value, points=figure.unit == "points"), str(value.n),
            str(value.unscored), chance)  # fmt: skip


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
    show.say(f"judge {found.fingerprint}")
    show.say(
        f"{found.items} items ({found.source}); {plan.level:.0%} intervals, of shares by Wilson, else from "
        f"{plan.resamples:,} resamples; seed {plan.seed}; chance: two tries of the same, or 95 % of orders dealt anew"
    )
