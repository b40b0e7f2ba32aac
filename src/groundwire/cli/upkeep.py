"""Open archives for the commands, and take documents out of one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from groundwire.cli import show
from groundwire.core.errors import ArchiveError

if TYPE_CHECKING:
    from groundwire.flow.settings import Loaded
    from groundwire.retrieval.index import Archive

Flags = dict[str, object]

archive_option = click.option("--archive", "-a", metavar="FOLDER", help="The archive; default: groundwire.archive.")
json_option = click.option("--json", "json_", is_flag=True, help="Print data as JSON.")


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
    """The settings of file, environment and flags."""
    from groundwire.flow.settings import load

    return load(folder=Path.cwd(), environment=os.environ, flags=flags)


def _is_given(loaded: Loaded) -> bool:
    return "embedder" in loaded.origins


@contextmanager
def archive_of(loaded: Loaded, *, create: bool = False) -> Iterator[Archive]:
    """The archive of the settings; what is not set by anybody is taken from its manifest."""
    from groundwire.flow.archives import open_archive

    given = loaded.origins
    index = loaded.settings.index
    archive = open_archive(
        loaded.settings.archive,
        embedder=loaded.settings.embedder if _is_given(loaded) else None,
        context=index.context if "index.context" in given else None,
        passage_tokens=index.passage_tokens if "index.passage_tokens" in given else None,
        create=create,
        threads=loaded.settings.threads,
    )
    try:
        yield archive
    except RuntimeError as error:
        if "lance" not in str(error).lower():
            raise
        reason = str(error).partition("\n")[0]
        raise ArchiveError(
            f"{loaded.settings.archive} is damaged: {reason}. Restore it, or add the documents to a new archive"
        ) from error
    finally:
        archive.close()
