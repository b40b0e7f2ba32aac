"""Commands about the instructions that models get: which there are, how they read, and what yours change."""

from __future__ import annotations

import sys
from difflib import unified_diff
from pathlib import Path

import click

from groundwire.cli import show
from groundwire.cli.upkeep import settings_of
from groundwire.core import prompts as files

_language = click.option(
    "--language", type=click.Choice(files.LANGUAGES), default="en", show_default=True, help="Of the instruction."
)
_folder = click.option(
    "--folder", type=click.Path(path_type=Path), help="Where yours are, as NAME.LANGUAGE.md; default: the setting."
)


@click.group()
def prompts() -> None:
    """List, show and compare the instructions that models get."""


@prompts.command(name="list")
@_folder
@click.option("--json", "json_", is_flag=True, help="Print data as JSON.")
def list_(folder: Path | None, json_: bool) -> None:
    """Every instruction with its fingerprint, and whether yours takes the place of ours."""
    own = _own_folder(folder)
    loaded = [files.load(name, language, folder=own) for name in files.names() for language in files.LANGUAGES]
    rows = [
        (each.name, each.language, each.fingerprint, "ours" if each.origin == "built in" else "yours", each.purpose)
        for each in loaded
    ]
    show.rows(("name", "language", "fingerprint", "whose", "for"), rows, json_=json_)
    known = {f"{each.name}.{each.language}.md" for each in loaded}
    for stray in sorted({path.name for path in own.glob("*.md")} - known) if own else ():
        show.say(f"{own}/{stray} takes no instruction's place: none has this name")


@prompts.command(name="show")
@click.argument("name")
@_language
@_folder
def show_(name: str, language: str, folder: Path | None) -> None:
    """Print the instruction NAME as it is used.

    A copy in the folder of your own prompts takes its place.   Example: groundwire prompts show rating --language zh-TW
    """
    prompt = files.load(name, language, folder=_own_folder(folder))
    click.echo(prompt.text, nl=False)
    show.say(f"{prompt.name} {prompt.language}, fingerprint {prompt.fingerprint}, {prompt.origin}")


@prompts.command()
@click.argument("name")
@_language
@_folder
def diff(name: str, language: str, folder: Path | None) -> None:
    """Print how your NAME differs from ours. Exits with 1 when it does."""
    ours, used = files.load(name, language), files.load(name, language, folder=_own_folder(folder))
    if used.origin == ours.origin:
        show.say(f"there is no {name}.{language}.md of yours: ours is used")
        return
    lines = list(unified_diff(ours.text.splitlines(), used.text.splitlines(), "ours", used.origin, lineterm=""))
    show.lines(lines)
    sys.exit(1 if lines else 0)


def _own_folder(given: Path | None) -> Path | None:
    """The folder of the user's prompts: the option's, else the setting's."""
    value = settings_of({}).settings.prompts if given is None else given
    return Path(value) if value else None
