"""Open archives for the commands, and take documents out of one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.core.errors import ArchiveError

if TYPE_CHECKING:
    from groundwire.flow.manifests import Manifest
    from groundwire.flow.settings import Loaded
    from groundwire.retrieval.index import Archive

Flags = dict[str, object]

_FULL = ("no space left", "file too large", "quota exceeded")
_PLACE_IN_SOURCE = re.compile(r", /\S+:\d+:\d+$")

archive_option = click.option("--archive", "-a", metavar="FOLDER", help="The archive; default: groundwire.archive.")
snapshot_option = click.option("--snapshot", metavar="NAME", help="The archive as this snapshot of it has kept it.")
json_option = click.option("--json", "json_", is_flag=True, help="Print data as JSON.")


@dataclass(slots=True)
class Replay:
    """Lies in click's context while a run is replayed: which, from where, and what came of it."""

    ledger: str
    manifest: Manifest
    differences: tuple[str, ...] = ()
    recorded: bool = False


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--missing", is_flag=True, help="Also all documents whose files are no longer there.")
@archive_option
@json_option
def remove(ids: tuple[str, ...], missing: bool, archive: str | None, json_: bool) -> None:
    """Remove the documents with these IDs from an archive, with all their sentences.

    Nothing is asked; what goes is listed. Rows of a larger file (JSONL, CSV, ...) never count as missing. A document
    whose file is still there comes back when the file is added again. Exits with 1 when nothing was removed.

    Example: groundwire remove typhoon-wire-01
    """
    from groundwire.flow.adding import remove_documents

    loaded = settings_of({"archive": archive})
    with archive_of(loaded) as opened:
        removed = remove_documents(opened, ids, missing=missing)
    for line in removed.lines():
        show.say(line)
    if json_:
        show.as_json(removed)
    sys.exit(0 if removed.documents else 1)


def settings_of(flags: Flags) -> Loaded:
    """The settings of file, environment and flags; while a run is replayed, those that it was recorded with."""
    from groundwire.flow.settings import load

    context = click.get_current_context(silent=True)
    replay = context.find_object(Replay) if context else None
    if replay is not None:
        return replay.manifest.loaded()
    return load(folder=Path.cwd(), environment=os.environ, flags=flags)


def _is_given(loaded: Loaded) -> bool:
    return "embedder" in loaded.origins


@contextmanager
def archive_of(loaded: Loaded, *, create: bool = False, snapshot: str | None = None) -> Iterator[Archive]:
    """The archive of the settings, or a snapshot of it; what is not set by anybody is taken from its manifest."""
    from groundwire.flow.archives import making_of, open_archive

    archive = open_archive(
        loaded.settings.archive,
        embedder=loaded.settings.embedder if _is_given(loaded) else None,
        making=making_of(loaded),
        create=create,
        threads=loaded.settings.threads,
        snapshot=snapshot,
    )
    try:
        with explaining(loaded.settings.archive):
            yield archive
    finally:
        archive.close()


@contextmanager
def explaining(archive: str) -> Iterator[None]:
    """Say what an error of the engine means for an archive, in a line.

    Raises:
        ArchiveError: the engine failed.
    """
    try:
        yield
    except RuntimeError as error:
        if "lance" not in str(error).lower():
            raise
        raise _explained(error, archive) from error


def _explained(error: RuntimeError, archive: str) -> ArchiveError:
    """What an error of the engine means; where in its source it happened is left out."""
    reason = _PLACE_IN_SOURCE.sub("", str(error).partition("\n")[0])
    if any(sign in reason.lower() for sign in _FULL):
        return ArchiveError(
            f"{archive} cannot be written: {reason}. What was committed is kept: "
            "make room and run the same command again"
        )
    return ArchiveError(f"{archive} is damaged: {reason}. Restore it, or add the documents to a new archive")
