"""Runs of the ledger, and the options that every command takes which calls a model."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.cli.upkeep import Replay, json_option, settings_of

if TYPE_CHECKING:
    from decimal import Decimal

    from groundwire.flow.ledger import Ledger
    from groundwire.flow.manifests import Run
    from groundwire.flow.pace import Limits
    from groundwire.flow.plan import Price
    from groundwire.flow.records import Bill, Cost
    from groundwire.flow.runs import Recording
    from groundwire.flow.settings import Loaded

_ledger = click.option(
    "--ledger", metavar="FILE", help="Where model calls are written down; default: groundwire.ledger."
)


_COLUMNS = ("run", "state", "calls", "failed", "unanswered", "tokens", "money", "command")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """What the options of ``run_options`` were given."""

    ledger: str | None = None
    dry_run: bool = False
    fresh: bool = False
    budget: str | None = None
    budget_tokens: int | None = None
    budget_calls: int | None = None


def run_options(command: Callable[..., None]) -> Callable[..., None]:
    """The options of a command that calls models; it gets them as ``run``, a ``RunOptions``."""

    @click.option("--budget-calls", type=click.IntRange(min=0), metavar="N", help="Stop before more calls than this.")
    @click.option(
        "--budget-tokens", type=click.IntRange(min=0), metavar="N", help="Stop before more tokens, in and out."
    )
    @click.option("--budget", metavar="MONEY", help="Stop before more money than this, in the model's currency.")
    @click.option("--fresh", is_flag=True, help="Make every call anew, even if the ledger has the reply.")
    @click.option("--dry-run", is_flag=True, help="Say what the calls would come to, and make none.")
    @_ledger
    @wraps(command)
    def packed(ledger: str | None, dry_run: bool, fresh: bool, budget: str | None, budget_tokens: int | None,
               budget_calls: int | None, **others: object) -> None:  # fmt: skip
        command(run=RunOptions(ledger, dry_run, fresh, budget, budget_tokens, budget_calls), **others)

    return packed


@contextmanager
def recording_of(
    loaded: Loaded,
    *,
    run: RunOptions,
    limits: Limits | None = None,
    prices: Mapping[str, Price] | None = None,
) -> Iterator[Recording]:
    """The run that a command makes, or replays; a dry run ends with its plan, on stdout, at its first calls."""
    from groundwire.flow.ledger import Ledger
    from groundwire.flow.pace import Limits
    from groundwire.flow.plan import Budget
    from groundwire.flow.runs import How, PlanOnly, recorded

    replay = click.get_current_context().find_object(Replay)
    how = How(
        limits=limits or Limits(),
        budget=Budget(_money(run.budget), run.budget_tokens, run.budget_calls),
        mode="fresh" if run.fresh else "resume",
        prices=prices or {},
        dry_run=run.dry_run,
    )
    with Ledger(replay.ledger if replay else _file(loaded, run.ledger), create=replay is None) as ledger:
        try:
            with recorded(
                ledger,
                command=sys.argv[1:],
                settings=loaded,
                folder=str(Path.cwd()),
                how=how,
                replay_of=replay.manifest if replay else None,
            ) as recording:
                try:
                    yield recording
                finally:
                    if replay is None:
                        _say_bill(ledger, recording.run)
                    else:
                        replay.differences, replay.recorded = recording.differences, True
        except PlanOnly as planned:
            show.lines(str(planned).split("\n"))
            show.say("a dry run: nothing was sent, and what follows from these replies is not in the plan")
            sys.exit(0)


@click.group()
def runs() -> None:
    """List, show, replay and compare the runs that called models."""


@runs.command(name="list")
@_ledger
@json_option
def list_(ledger: str | None, json_: bool) -> None:
    """All runs, the oldest first, with what they called and paid."""
    from groundwire.flow.manifests import runs_of

    with _opened(ledger) as opened:
        rows = [_row(opened, run) for run in runs_of(opened)]
    show.rows(_COLUMNS, rows, json_=json_)


@runs.command(name="show")
@click.argument("run")
@_ledger
@json_option
def show_(run: str, ledger: str | None, json_: bool) -> None:
    """Show RUN (its id, the beginning of it, or `last`); as JSON, its manifest: what a replay would make again.

    Example: groundwire runs show last --json
    """
    from groundwire.flow.manifests import find_run, provenance

    with _opened(ledger) as opened:
        found = find_run(opened, run)
        if json_:
            click.echo(provenance(opened, found.manifest))
        else:
            show.lines(_about(opened, found))


@runs.command()
@click.argument("run")
@_ledger
def replay(run: str, ledger: str | None) -> None:
    """Make RUN again from the ledger alone: no call is made, and its files are written again.

    Exits with 1 when an output is not what it was.   Example: groundwire runs replay last
    """
    from groundwire.flow.manifests import find_run

    file = _file(settings_of({}), ledger)
    with _opened(ledger) as opened:
        found = find_run(opened, run)
    manifest = found.manifest
    if Path.cwd() != Path(manifest.folder):
        show.say(f"the run was made in {manifest.folder}, this is {Path.cwd()}")
    replayed = Replay(file, manifest)
    root = click.get_current_context().find_root()
    status: object = 0
    try:
        with root.command.make_context("groundwire", list(manifest.command), obj=replayed) as context:
            root.command.invoke(context)
    except SystemExit as done:
        status = done.code
    for name in replayed.differences:
        show.say(f"differs: {name}")
    if not replayed.recorded or replayed.differences:
        show.say(f"the run {manifest.id} was not made again as it was")
        sys.exit(1)
    show.say(f"the same as {manifest.id}: {len(manifest.outputs)} outputs; the command's exit status is {status or 0}")


@runs.command()
@click.argument("first")
@click.argument("second")
@_ledger
@json_option
def diff(first: str, second: str, ledger: str | None, json_: bool) -> None:
    """Name the first step in which runs FIRST and SECOND differ. Exits with 1 when there is one.

    Settings, inputs, seeds, prompts, models, then every request with its reply, then outputs.
    """
    from groundwire.flow.manifests import find_run, first_difference

    with _opened(ledger) as opened:
        manifests = [find_run(opened, name).manifest for name in (first, second)]
        found = first_difference(opened, first=manifests[0], second=manifests[1])
    if json_:
        show.as_json(found)
    elif found is None:
        show.say(f"{manifests[0].id} and {manifests[1].id} do not differ")
    else:
        show.lines([f"{found.step}: {found.name}", f"  {manifests[0].id}  {found.first}",
                    f"  {manifests[1].id}  {found.second}"])  # fmt: skip
    sys.exit(0 if found is None else 1)


@runs.command()
@click.option(
    "--older-than", type=click.IntRange(0, 36_500), metavar="DAYS", help="Runs that ended longer ago than this."
)
@click.option("--keep", type=click.IntRange(min=0), metavar="N", help="All runs but the latest N.")
@click.option("--dry-run", is_flag=True, help="Say what would go, and drop nothing.")
@_ledger
@json_option
def prune(older_than: int | None, keep: int | None, dry_run: bool, ledger: str | None, json_: bool) -> None:
    """Drop old runs with their calls, and make the file smaller; with both options, only runs that both name.

    A reply that a run which stays works with is kept, whoever paid for it; a run that is under way stays. What only
    dropped runs asked is paid for again when it is asked again.

    Example: groundwire runs prune --older-than 90 --dry-run
    """
    from groundwire.flow.manifests import old_runs

    if older_than is None and keep is None:
        raise click.UsageError("say which runs go: --older-than DAYS, --keep N, or both")
    with _opened(ledger) as opened:
        old = old_runs(opened, older_than_days=older_than, keep=keep)
        rows = [_row(opened, run) for run in old]
        gone = opened.prune((run.manifest.id for run in old), dry_run=dry_run)
        left = len(opened.runs()) - len(gone.runs) * dry_run
    show.rows(_COLUMNS, rows, json_=json_)
    shared = f", {gone.kept_calls} of dropped runs stay for others" if gone.kept_calls else ""
    freed = "a dry run: nothing was dropped" if dry_run else f"the file is {gone.freed_bytes:,} bytes smaller"
    verb = "would go" if dry_run else "went"
    show.say(f"{len(gone.runs)} runs {verb} with {gone.calls} calls{shared}; {left} runs stay; {freed}")


def _file(loaded: Loaded, given: str | None) -> str:
    return given or loaded.settings.ledger


def _opened(given: str | None) -> Ledger:
    from groundwire.flow.ledger import Ledger

    return Ledger(_file(settings_of({}), given), create=False)


def _money(text: str | None) -> Decimal | None:
    from decimal import Decimal, InvalidOperation

    if text is None:
        return None
    try:
        amount = Decimal(text)
    except InvalidOperation:
        amount = Decimal("NaN")
    if not amount.is_finite():
        raise click.BadParameter(f"'{text}' is no amount of money, such as 2.50", param_hint="--budget")
    return amount


def _say_bill(ledger: Ledger, run: str) -> None:
    """What a run paid, if it called anybody."""
    bill = ledger.bill(run)
    if bill.answered or bill.failed or bill.unanswered:
        tokens = f"{bill.input_tokens} tokens in, {bill.output_tokens} out{_estimated(bill)}"
        money = "".join(f", {_exact(cost)}" for cost in bill.money)
        lost = f", {bill.unanswered} sent and never answered" if bill.unanswered else ""
        show.say(f"run {run}: {bill.answered} calls answered, {bill.failed} failed{lost}; {tokens}{money}")


def _estimated(bill: Bill) -> str:
    return f" ({bill.estimated_tokens} of them estimated)" if bill.estimated_tokens else ""


def _exact(cost: Cost) -> str:
    return f"{cost.amount.normalize():f} {cost.currency}"


def _row(ledger: Ledger, run: Run) -> tuple[str, ...]:
    bill = ledger.bill(run.manifest.id)
    money = ", ".join(_exact(cost) for cost in bill.money) or "–"
    tokens = bill.input_tokens + bill.output_tokens
    counts = (bill.answered, bill.failed, bill.unanswered, tokens)
    return (run.manifest.id, run.state, *(str(count) for count in counts), money, " ".join(run.manifest.command))


def _about(ledger: Ledger, run: Run) -> Iterator[str]:
    """A run in lines."""
    manifest, bill = run.manifest, ledger.bill(run.manifest.id)
    asked = ledger.uses(manifest.id)
    yield f"run        {manifest.id} ({run.state})" + (f": {manifest.reason}" if manifest.reason else "")
    yield f"command    {' '.join(manifest.command)}"
    yield f"folder     {manifest.folder}"
    yield f"time       {manifest.started} – {manifest.ended or '?'}"
    yield f"versions   {', '.join(f'{name} {value}' for name, value in sorted(manifest.versions.items()))}"
    yield f"requests   {len(asked)}, {sum(use.reply is None for use in asked)} of them without a reply"
    yield f"calls      {bill.answered} answered, {bill.failed} failed, {bill.unanswered} sent and never answered"
    yield f"tokens     {bill.input_tokens} in ({bill.cached_tokens} cached), {bill.output_tokens} out{_estimated(bill)}"
    for cost in bill.money:
        yield f"money      {_exact(cost)}"
    for kind in ("inputs", "seeds", "prompts", "outputs"):
        for name, value in sorted(manifest.noted(kind).items()):
            yield f"{kind:<10} {name}  {value}"
    for name, able in sorted(manifest.models.items()):
        yield f"model      {name}  {', '.join(f'{key} {value}' for key, value in able.items())}"
    for name, origin in sorted(manifest.origins.items()):
        yield f"setting    {name} ({origin})"
