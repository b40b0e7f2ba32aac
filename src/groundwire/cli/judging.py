"""Judge answers: by the built-in judge, or by language models."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from groundwire.cli import show
from groundwire.cli.runs import RunOptions, recording_of, run_options
from groundwire.cli.upkeep import json_option, settings_of
from groundwire.core.errors import UsageError

if TYPE_CHECKING:
    from groundwire.core.language import LanguageModel
    from groundwire.evaluation.jury import Voting
    from groundwire.evaluation.model_judge import Mode
    from groundwire.flow.judging import JudgePlan, ModelJudged
    from groundwire.flow.runs import Recording
    from groundwire.flow.settings import Loaded, Settings


@click.command()
@click.argument("items", type=click.Path(path_type=Path))
@click.option("--map", "map_", metavar="OURS=THEIRS,…", help="Field names, such as answer=response,contexts=passages.")
@click.option("--embedder", metavar="NAME", help="Of the built-in judge: compare meaning beside words.")
@click.option("--model", "models", multiple=True, metavar="NAME",
              help="A judge, llama:NAME or http:NAME; repeatable: several make a jury.")  # fmt: skip
@click.option("--rubric", "rubrics", multiple=True, metavar="NAME", help="Only this rubric; repeatable.")
@click.option("--mode", type=click.Choice(["paper", "shared"]), default="shared", show_default=True,
              help="A call a rubric, or one call an answer.")  # fmt: skip
@click.option("--expected", is_flag=True, help="Take the expectation of each number, where the model tells it.")
@click.option("--repeats", type=click.IntRange(min=1), default=1, show_default=True, help="Of each judgement.")
@click.option("--temperature", type=float, help="Of the replies; default: 0, with several repeats 0.7.")
@click.option("--fixed-order", is_flag=True, help="Ask for the rubrics in one order in place of a drawn one.")
@click.option("--vote", type=click.Choice(["median", "mean", "trimmed"]), default="median", show_default=True,
              help="How several judges come to one value.")  # fmt: skip
@click.option("--claims", is_flag=True, help="Measure on single claims as well, as RAGChecker does.")
@click.option("--claims-only", is_flag=True, help="Measure on claims alone.")
@click.option("--extractor", metavar="NAME", help="Who finds the claims; default: each judge itself.")
@click.option("--batch", type=click.IntRange(min=1), default=5, show_default=True, help="Claims a call; 1: singly.")
@click.option("--out", "-o", type=click.Path(path_type=Path), help="Write every judgement as JSONL.")
@click.option("--seed", type=int, help="Of intervals, orders and repeats.")
@json_option
@run_options
def judge(run: RunOptions, items: Path, map_: str | None, embedder: str | None, models: tuple[str, ...],
          rubrics: tuple[str, ...], mode: Mode, expected: bool, repeats: int, temperature: float | None,
          fixed_order: bool, vote: Voting, claims: bool, claims_only: bool, extractor: str | None, batch: int,
          out: Path | None, seed: int | None, json_: bool) -> None:  # fmt: skip
    """Judge answers by the five rubrics of CCRS, by the built-in judge or by language models.

    ITEMS is JSONL with id, question, contexts, answer, reference and system. Several models are a jury: their median,
    how far they agree, and which verdict hangs on one of them. Exits with 1 when a row was rejected.

    Example: groundwire judge answers.jsonl --model http:judge --mode shared --claims -o judgements.jsonl
    """
    from groundwire.evaluation.comparisons import Options
    from groundwire.evaluation.model_judge import JudgeSettings
    from groundwire.evaluation.rubrics import CCRS, rubrics_named
    from groundwire.flow.judging import JudgePlan
    from groundwire.flow.settings import mapping

    names = None if map_ is None else mapping(map_)
    loaded = settings_of({"judge.embedder": embedder, "judge.seed": seed, "judge.map": names})
    _refuse_together(models, embedder, claims_only=claims_only, rubrics=rubrics)
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
    if not models:
        _built_in(items, loaded, rubrics=rubrics, claims=claims or claims_only, out=out, json_=json_)
    drawn = loaded.settings.judge
    settings = JudgeSettings(mode, expected, repeats, temperature, not fixed_order, drawn.seed,
                             loaded.settings.prompts_folder)  # fmt: skip
    chosen = () if claims_only else rubrics_named(rubrics) if rubrics else CCRS
    options = Options(level=drawn.level, resamples=drawn.resamples, seed=drawn.seed)
    plan = JudgePlan(settings, chosen, claims or claims_only, batch, vote, options)
    _by_models(items, _Asked(loaded, run, models, extractor, plan), out=out, json_=json_)


@dataclass(frozen=True, slots=True)
class _Asked:
    """Who is asked, and how."""

    loaded: Loaded
    run: RunOptions
    models: tuple[str, ...]
    extractor: str | None
    plan: JudgePlan


def _refuse_together(
    models: tuple[str, ...], embedder: str | None, *, claims_only: bool, rubrics: tuple[str, ...]
) -> None:
    if models and embedder is not None:
        raise UsageError("--embedder is of the built-in judge, and --model asks another; give one of them")
    if claims_only and (rubrics or not models):
        raise UsageError("--claims-only takes --model and no --rubric; the built-in judge takes --claims")


def _built_in(
    items: Path, loaded: Loaded, *, rubrics: tuple[str, ...], claims: bool, out: Path | None, json_: bool
) -> NoReturn:
    from groundwire.flow.experiment import judge_file

    with show.progress("judging") as progress:
        judged = judge_file(items, settings=loaded.settings, rubrics=rubrics, claims=claims, progress=progress)
    for note in judged.notes:
        show.say(note)
    if out is not None:
        judged.save(out)
        show.say(f"wrote {len(judged.judgements)} judgements to {out}")
    show.as_json(judged.summaries) if json_ else show.summaries(judged.summaries)
    sys.exit(0 if judged.judgements and not judged.rejected else 1)


def _by_models(items: Path, asked: _Asked, *, out: Path | None, json_: bool) -> NoReturn:
    from groundwire.evaluation.items import read_items
    from groundwire.flow.judging import judge_by_models
    from groundwire.flow.model_settings import limits_of, prices_of

    settings = asked.loaded.settings
    reading = read_items(items, mapping=settings.judge.map or None)
    for reject in reading.rejects:
        show.say(f"row {reject.line} rejected: {reject.reason}")
    everybody = [*asked.models, *([asked.extractor] if asked.extractor else [])]
    limits, prices = limits_of(settings, everybody), prices_of(settings)
    with recording_of(asked.loaded, run=asked.run, limits=limits, prices=prices) as recording:
        recording.input("items", items.read_bytes())
        with show.progress("judging") as progress:
            found = judge_by_models(
                reading.items,
                models=[_model(name, settings, recording=recording) for name in asked.models],
                recording=recording,
                plan=asked.plan,
                extractor=_model(asked.extractor, settings, recording=recording) if asked.extractor else None,
                progress=progress,
            )
        for file in found.save(out) if out is not None else ():
            recording.output(file.name, file.read_bytes())
            show.say(f"wrote {file}")
    show.as_json(found.facts()) if json_ else _show(found)
    sys.exit(1 if reading.rejects else 0)


def _model(name: str, settings: Settings, *, recording: Recording) -> LanguageModel:
    from groundwire.flow.model_settings import model_of

    return recording.model(
        name, partial(model_of, name, settings=settings, environment=os.environ, ledger=recording.ledger)
    )


def _show(found: ModelJudged) -> None:
    show.summaries(found.summaries)
    rows = [
        (
            judge,
            one.rubric,
            f"{one.spread:.1f}",
            "  ".join(f"{place}: {mean:.1f} ({n})" for place, mean, n in one.means),
        )
        for judge, several in found.places
        for one in several
        if len(one.means) > 1
    ]
    if rows:
        show.lines(["", f"means by place in the reply, orders drawn with seed {found.seed}"])
        show.table(("judge", "rubric", "spread", "place: mean (n)"), rows)
    if found.agreement:
        show.lines(["", "agreement of the judges (Krippendorff, interval scale)"])
        show.table(("rubric", "value", "n"), [
            (rubric, f"{one.value:.2f} [{one.low:.2f}, {one.high:.2f}]", str(one.units))
            for rubric, one in found.agreement
        ])  # fmt: skip
        show.lines(["", "each judge beside the median of the others"])
        show.table(("rubric", "judge", "mean", "bias", "apart", "n", "unscored"), [
            (one.rubric, one.judge, f"{one.mean:.1f}", f"{one.bias:+.1f}", f"{one.apart:.1f}", str(one.n),
             str(one.unscored))
            for one in found.standings
        ])  # fmt: skip
    for turn in found.turns:
        show.say(f"without {turn.left_out}: {turn.rubric}, {turn.one} against {turn.other}: {turn.before} becomes "
                 f"{turn.after}")  # fmt: skip
    for note in found.notes:
        show.say(f"warning: {note}")
