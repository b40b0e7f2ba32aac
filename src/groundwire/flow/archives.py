"""Open an archive: a folder with its manifest and its store, or one in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.folding import DEFAULT as DEFAULT_FOLDING
from groundwire.core.folding import Folding
from groundwire.core.folding import folder as folder_of_words
from groundwire.core.ports import Embedder
from groundwire.core.types import Context, Filter
from groundwire.flow.registry import LazyEmbedder
from groundwire.flow.registry import embedder as embedder_named
from groundwire.flow.settings import Loaded
from groundwire.retrieval.blend import POOLED, token_embedder
from groundwire.retrieval.corpus import PASSAGE_TOKENS
from groundwire.retrieval.files import only_writer
from groundwire.retrieval.index import Archive
from groundwire.retrieval.manifest import Manifest

if TYPE_CHECKING:
    from groundwire.backends.lance_store import LanceStore

MANIFEST = "manifest.json"
LAST_TABLE = "sentences.lance"
IN_MEMORY = "memory:"
DEFAULT_EMBEDDER = "local:e5-small"


@dataclass(frozen=True, slots=True)
class Making:
    """How an archive is made; what is None is as it was made or, in a new one, the default.

    Attributes:
        context: what stands for the rest of a passage (see ``retrieval.blend``).
        passage_tokens: how large a passage grows.
        passage_words: whether the words of whole passages are kept, for ``search.passage_words``.
        folding: how words are folded before they are counted (see ``core.folding``).
    """

    context: Context | None = None
    passage_tokens: int | None = None
    passage_words: bool | None = None
    folding: Folding | None = None


_AS_IT_IS = Making()


def making_of(loaded: Loaded) -> Making:
    """What somebody has set of how an archive is made; the rest is as it was made, or the default."""
    given = {field.name for field in fields(Making) if f"index.{field.name}" in loaded.origins}
    return Making(**{name: getattr(loaded.settings.index, name) for name in given})


def open_archive(
    path: str | Path,
    *,
    embedder: str | Embedder | None = None,
    making: Making = _AS_IT_IS,
    create: bool = True,
    threads: int = 1,
    snapshot: str | None = None,
) -> Archive:
    """Open the archive in a folder, or make it there; ``memory:`` gives one that lives as long as the process.

    Args:
        path: the folder, by custom ``NAME.archive``.
        embedder: its name (``local:e5-small``) or an object; None: the one that made the archive, or the default.
        making: how a new archive is made; one that is there must have been made so.
        create: whether to make an archive where there is none.
        threads: of a local embedder that is given by name.
        snapshot: open the archive as it was when this snapshot was taken; it is read only then.

    Raises:
        ArchiveError: there is none and ``create`` is false, the folder holds something else, the archive was made
            with another embedder or otherwise than ``making`` says, or there is no such snapshot.
        UsageError: a new archive's context needs the vectors of tokens, which the embedder does not give.
        ModelError: the embedder's model is not in the model folder; for an archive that is there already, it is looked
            for when something is embedded.
        MissingExtra: the store or the embedder needs an extra that is not installed.
    """
    archive = _opened(path, embedder=embedder, making=making, create=create and snapshot is None, threads=threads)
    if snapshot is None:
        return archive
    with opened(archive):
        return archive.at(snapshot)


def _opened(
    path: str | Path, *, embedder: str | Embedder | None, making: Making, create: bool, threads: int
) -> Archive:
    if str(path) == IN_MEMORY:
        from groundwire.backends.memory_store import MemoryStore

        model = _loaded(embedder or DEFAULT_EMBEDDER, threads)
        manifest = _new_manifest(model, making, engine="memory")
        store = MemoryStore(2 * model.dimension, folding=manifest.folding, passage_words=manifest.passage_words)
        return Archive(store, model, manifest=manifest, name=IN_MEMORY)
    folder = Path(path)
    if (folder / MANIFEST).exists():
        manifest = Manifest.load(folder / MANIFEST)
        _require_same(folder, manifest, making)
        if embedder in (None, manifest.embedder):
            embedder = LazyEmbedder(manifest.embedder, dimension=manifest.dimension, threads=threads)
        return _joined(folder, manifest, _loaded(embedder, threads))
    require_free(folder, create=create)
    model = _loaded(embedder or DEFAULT_EMBEDDER, threads)
    manifest = _new_manifest(model, making, engine=_engine())
    # Before anything else is there: a folder whose first tables were cut short is then known as an archive.
    folder.mkdir(parents=True, exist_ok=True)
    with only_writer(folder):
        if not (folder / MANIFEST).exists():
            manifest.save(folder / MANIFEST)
    return _opened(path, embedder=model, making=making, create=create, threads=threads)


@contextmanager
def opened(archive: Archive) -> Iterator[Archive]:
    """Close an archive at the end of a ``with`` block."""
    try:
        yield archive
    finally:
        archive.close()


def store_of(folder: Path, manifest: Manifest) -> LanceStore:
    """The store in the folder of an archive, opened or made as the manifest says."""
    from groundwire.backends.lance_store import LanceStore

    return LanceStore(
        folder,
        dimension=2 * manifest.dimension,
        folding=manifest.folding,
        passage_words=manifest.passage_words,
    )


def _joined(folder: Path, manifest: Manifest, model: Embedder) -> Archive:
    name = folder.name or str(folder)
    # Whoever comes while another process makes the tables waits for them.
    with nullcontext() if (folder / LAST_TABLE).exists() else only_writer(folder):
        store = store_of(folder, manifest)
    archive = Archive(store, model, manifest=manifest, name=name, folder=folder)
    if manifest.engine != _engine():
        _probe(archive, folder)
    return archive


def _probe(archive: Archive, folder: Path) -> None:
    """Ask an archive of another version of the engine both kinds of query, and note the version when they work.

    Raises:
        ArchiveError: they do not.
    """
    before, now = archive.manifest.engine, _engine()
    try:
        archive.store.dense(np.zeros(archive.store.dimension, dtype=np.float32), k=1, where=Filter())
        archive.store.lexical("a", k=1, where=Filter())
    except MissingExtra:
        return  # of another time: words are not folded here, and the version is noted when they are
    except (RuntimeError, ValueError, OSError) as error:
        raise ArchiveError(
            f"{folder} was written by {before} and cannot be searched by {now} ({error}). Install {before} again, or "
            f"make it anew from its own documents: groundwire rebuild NEW.archive --archive {folder}"
        ) from error
    replace(archive.manifest, engine=now).save(folder / MANIFEST)


def _engine() -> str:
    from groundwire.backends.lance_tables import engine

    return f"lancedb {engine().__version__}"


def _new_manifest(model: Embedder, making: Making, *, engine: str) -> Manifest:
    if making.context in POOLED:
        token_embedder(model, context=making.context)
    folding = DEFAULT_FOLDING if making.folding is None else making.folding
    folder_of_words(folding)  # refused here where it cannot be done here
    return Manifest(
        embedder=model.id,
        dimension=model.dimension,
        context=making.context or "passage",
        passage_tokens=making.passage_tokens or PASSAGE_TOKENS,
        engine=engine,
        folding=folding,
        passage_words=making.passage_words is not False,
    )


def _loaded(embedder: str | Embedder, threads: int) -> Embedder:
    return embedder_named(embedder, threads=threads) if isinstance(embedder, str) else embedder


def _require_same(folder: Path, manifest: Manifest, making: Making) -> None:
    for name, value in asdict(making).items():
        made_with = getattr(manifest, name)
        if value is not None and value != made_with:
            raise ArchiveError(
                f"{folder} was made with {name} = {made_with!r}, but {value!r} is asked for. Add the documents to "
                f"a new archive, or leave {name} as it is."
            )


def require_free(folder: Path, *, create: bool = True) -> None:
    """Make sure that a new archive can be made in a folder.

    Raises:
        ArchiveError: something is there already, or ``create`` is false.
    """
    if folder.is_file():
        raise ArchiveError(f"{folder} is a file; an archive is a folder. Give another name")
    if not create:
        raise ArchiveError(f"there is no archive at {folder}. Make it with: groundwire add --archive {folder} FILES")
    if folder.is_dir() and any(folder.iterdir()):
        raise ArchiveError(f"{folder} is a folder with other things in it and no archive. Give another name")
