"""Make an archive anew from the documents that it holds: after a change of engine, embedder, splitter or making."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from groundwire.core.errors import ArchiveError
from groundwire.core.ports import Embedder, Progress
from groundwire.core.types import Document
from groundwire.flow.archives import MANIFEST, Making, open_archive, opened, require_free, store_of
from groundwire.retrieval.files import only_writer
from groundwire.retrieval.index import AddReport
from groundwire.retrieval.manifest import Manifest

if TYPE_CHECKING:
    from groundwire.backends.lance_store import LanceStore

_AS_IT_WAS = Making()
_WORDS_DECIDED_SINCE = 3
"""The format since which an archive was told whether to keep the words of passages and how to fold them."""


def rebuild(
    source: str | Path,
    target: str | Path,
    *,
    embedder: str | Embedder | None = None,
    making: Making = _AS_IT_WAS,
    threads: int = 1,
    progress: Progress | None = None,
) -> AddReport:
    """Add all documents of an archive to a new one; the old one is left as it is, without its snapshots in the new.

    Nothing is searched in the old archive and no index is asked, so one that this version of the engine cannot search
    will do, or one with damaged indexes, as long as its documents can be read. The new one is built beside its place,
    as ``TARGET.building``, and moved there when it is complete; killed and run again, it goes on.

    Args:
        source: the folder of the old archive; nobody else writes to it meanwhile.
        target: the folder of the new one, which is not there yet.
        embedder: its name or an object; None: that of the old archive.
        making: how the new one is made; what is None is as in the old one, or, where that was made before it could be
            chosen, the default.
        threads: of a local embedder that is given by name.
        progress: is told after every commit.

    Raises:
        ArchiveError: the old archive cannot be read, the place of the new one is taken, or what is left of an earlier
            try was made otherwise.
        GroundwireError: as ``open_archive`` and ``Archive.add`` say.
    """
    old_folder, new_folder = Path(source), Path(target)
    manifest = Manifest.load(old_folder / MANIFEST)
    require_free(new_folder)
    building = new_folder.with_name(new_folder.name + ".building")
    new = open_archive(
        building, embedder=embedder or manifest.embedder, making=_as_in(manifest, making), threads=threads
    )
    with opened(new), only_writer(old_folder), closing(store_of(old_folder, manifest)) as old:
        with _reading(old_folder):
            ids = list(old.revisions())
        new.remove(new.store.revisions().keys() - ids)
        report = new.add(_documents(old, folder=old_folder), progress=progress)
    if new_folder.is_dir():
        new_folder.rmdir()
    building.rename(new_folder)
    return report


def _as_in(manifest: Manifest, making: Making) -> Making:
    """The making with what is None taken from the old archive."""
    context, tokens = making.context or manifest.context, making.passage_tokens or manifest.passage_tokens
    making = replace(making, context=context, passage_tokens=tokens)
    if manifest.format < _WORDS_DECIDED_SINCE:
        return making
    return replace(
        making,
        passage_words=manifest.passage_words if making.passage_words is None else making.passage_words,
        folding=manifest.folding if making.folding is None else making.folding,
    )


def _documents(old: LanceStore, *, folder: Path) -> Iterator[Document]:
    with _reading(folder):
        yield from old.every_document()


@contextmanager
def _reading(folder: Path) -> Iterator[None]:
    try:
        yield
    except (RuntimeError, OSError) as error:
        raise ArchiveError(
            f"the documents of {folder} cannot be read ({error}). Restore it, or add the files to a new archive"
        ) from error
