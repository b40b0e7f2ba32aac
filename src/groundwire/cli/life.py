"""Commands for the life of an archive: what it holds, its snapshots, its documents as a file, a new one from it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import click

from groundwire.cli import show
from groundwire.cli.upkeep import archive_of, archive_option, explaining, json_option, settings_of, snapshot_option
from groundwire.core.errors import UsageError
from groundwire.core.types import Context

if TYPE_CHECKING:
    from groundwire.flow.settings import Loaded


@click.command()
@archive_option
@snapshot_option
@json_option
def status(archive: str | None, snapshot: str | None, json_: bool) -> None:
    """Say what an archive is and holds, and the state that it is in.

    Example: groundwire status --archive stories.archive
    """
    show_status(settings_of({"archive": archive}), snapshot=snapshot, json_=json_)


def show_status(loaded: Loaded, *, snapshot: str | None, json_: bool) -> None:
    """Print what an archive is and holds."""
    from groundwire.flow.life import archive_facts, facts_lines

    with archive_of(loaded, snapshot=snapshot) as opened:
        facts = archive_facts(opened)
    if json_:
        show.as_json(facts)
    else:
        show.lines(facts_lines(facts))


@click.command()
@archive_option
@json_option
def compact(archive: str | None, json_: bool) -> None:
    """Make an archive as small and fast as it can be.

    Old versions are deleted, but for those that snapshots need. A search that runs meanwhile may fail and has to be
    asked again.   Example: groundwire compact
    """
    from groundwire.flow import life

    with archive_of(settings_of({"archive": archive})) as opened:
        done = life.compact(opened)
    for line in done.lines():
        show.say(line)
    if json_:
        show.as_json(done)


@click.command()
@archive_option
@snapshot_option
@click.option("--out", "-o", type=click.Path(path_type=Path), metavar="FILE", help="Where; default: stdout.")
@click.option("--force", is_flag=True, help="Replace FILE if it is there.")
def export(archive: str | None, snapshot: str | None, out: Path | None, force: bool) -> None:
    """Write all documents of an archive as JSONL.

    Added to a new archive, they make the same documents with the same ids and sentences. A file is written whole or not
    at all.   Example: groundwire export -o stories.jsonl
    """
    from groundwire.flow.life import export_documents, export_to_file

    loaded = settings_of({"archive": archive})
    with archive_of(loaded, snapshot=snapshot) as opened, show.progress("exporting") as progress:
        if out is None:
            done = export_documents(opened, sys.stdout.buffer.write)  # UTF-8 whatever the terminal speaks
            sys.stdout.buffer.flush()
        else:
            done = export_to_file(opened, out, replace_file=force, progress=progress)
    for line in done.lines():
        show.say(line)


@click.command()
@click.argument("name", required=False)
@click.option("--list", "list_", is_flag=True, help="Print all snapshots.")
@click.option("--forget", metavar="NAME", help="Give a snapshot up.")
@archive_option
@json_option
def snapshot(name: str | None, list_: bool, forget: str | None, archive: str | None, json_: bool) -> None:
    """Keep the archive as it is now under NAME.

    With --snapshot NAME, other commands work on it whatever was added, removed or compacted since. What is kept takes
    up space until it is forgotten and the archive compacted.   Example: groundwire snapshot 2024-11
    """
    from groundwire.flow.life import snapshot_line

    if sum(map(bool, (name, list_, forget))) != 1:
        raise UsageError("give a NAME to take a snapshot, or --list, or --forget NAME: one of them")
    with archive_of(settings_of({"archive": archive})) as opened:
        if forget:
            opened.forget_snapshot(forget)
        found = [opened.snapshot(name)] if name else list(opened.snapshots().values())
    if forget:
        show.say(f"'{forget}' is forgotten; groundwire compact deletes what only it needed")
    if json_:
        show.as_json(found)
    elif not forget:
        show.lines(map(snapshot_line, found))
    sys.exit(0)


@click.command()
@click.argument("target", type=click.Path(path_type=Path))
@archive_option
@click.option("--embedder", metavar="NAME", help="Of the new archive; default: that of the old one.")
@click.option("--context", type=click.Choice(get_args(Context)), help="What a sentence remembers in the new archive.")
@json_option
def rebuild(target: Path, archive: str | None, embedder: str | None, context: str | None, json_: bool) -> None:
    """Make the new archive TARGET from the documents of an archive, which stays as it is.

    For another embedder, another context, or an archive that a new version cannot search any more. Snapshots are not
    taken along. Killed and run again, it goes on.

    Example: groundwire rebuild new.archive --archive old.archive --embedder local:minilm
    """
    from groundwire.flow import rebuild as rebuilding
    from groundwire.flow.archives import making_of

    loaded = settings_of({"archive": archive, "index.context": context})
    with explaining(str(target)), show.progress("rebuilding") as progress:
        report = rebuilding.rebuild(
            loaded.settings.archive,
            target,
            embedder=embedder,
            making=making_of(loaded),
            threads=loaded.settings.threads,
            progress=progress,
        )
    show.say(f"{target}: {report.added:,} documents, {report.sentences:,} sentences")
    for name in report.empty:
        show.say(f"no sentence in {name}")
    if json_:
        show.as_json(report)
    sys.exit(1 if report.empty else 0)
