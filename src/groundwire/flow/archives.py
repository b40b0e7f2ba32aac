"""Open an archive: a folder with its manifest and its store, or one in memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from groundwire.core.errors import ArchiveError
from groundwire.core.ports import Embedder
from groundwire.core.types import Context, Filter
from groundwire.flow.registry import LazyEmbedder
from groundwire.flow.registry import embedder as embedder_named
from groundwire.retrieval.blend import POOLED, token_embedder
from groundwire.retrieval.corpus import PASSAGE_TOKENS
from groundwire.retrieval.index import Archive, Manifest

MANIFEST = "manifest.json"
IN_MEMORY = "memory:"
DEFAULT_EMBEDDER = "local:e5-small"


def open_archive(
    path: str | Path,
    *,
    embedder: str | Embedder | None = None,
    context: Context | None = None,
    passage_tokens: int | None = None,
    create: bool = True,
    threads: int = 1,
) -> Archive:
    """Open the archive in a folder, or make it there; ``memory:`` gives one that lives as long as the process.

    Args:
        path: the folder, by custom ``NAME.archive``.
        embedder: its name (``local:e5-small``) or an object; None: the one that made the archive, or the default.
        context: what stands for the rest of a passage (see ``retrieval.blend``); None: that of the archive, or
            ``passage``.
        passage_tokens: how large a passage grows; None: that of the archive, or the default.
        create: whether to make an archive where there is none.
        threads: of a local embedder that is given by name.

    Raises:
        ArchiveError: there is none and ``create`` is false, the folder holds something else, or the archive was made
            with another embedder, context or passage size.
        UsageError: a new archive's context needs the vectors of tokens, which the embedder does not give.
        ModelError: the embedder's model is not in the model folder; for an archive that is there already, it is looked
            for when something is embedded.
        MissingExtra: the store or the embedder needs an extra that is not installed.
    """
    if str(path) == IN_MEMORY:
        from groundwire.backends.memory_store import MemoryStore

        model = _loaded(embedder or DEFAULT_EMBEDDER, threads)
        manifest = _new_manifest(model, context, passage_tokens, engine="memory")
        return Archive(MemoryStore(2 * model.dimension), model, manifest=manifest, name=IN_MEMORY)
    folder = Path(path)
    if (folder / MANIFEST).exists():
        manifest = Manifest.load(folder / MANIFEST)
        _require_same(folder, manifest, {"context": context, "passage_tokens": passage_tokens})
        if embedder in (None, manifest.embedder):
            embedder = LazyEmbedder(manifest.embedder, dimension=manifest.dimension, threads=threads)
        return _joined(folder, manifest, _loaded(embedder, threads))
    _require_free(folder, create=create)
    model = _loaded(embedder or DEFAULT_EMBEDDER, threads)
    manifest = _new_manifest(model, context, passage_tokens, engine=_engine())
    # Before anything else is there: a folder whose first tables were cut short is then known as an archive.
    folder.mkdir(parents=True, exist_ok=True)
    manifest.save(folder / MANIFEST)
    return _joined(folder, manifest, model)


@contextmanager
def opened(archive: Archive) -> Iterator[Archive]:
    """Close an archive at the end of a ``with`` block."""
    try:
        yield archive
    finally:
        archive.close()


def _joined(folder: Path, manifest: Manifest, model: Embedder) -> Archive:
    from groundwire.backends.lance_store import LanceStore

    archive = Archive(
        LanceStore(folder, dimension=2 * manifest.dimension),
        model,
        manifest=manifest,
        name=folder.name or str(folder),
        folder=folder,
    )
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
    except (RuntimeError, ValueError, OSError) as error:
        raise ArchiveError(
            f"{folder} was written by {before} and cannot be searched by {now} ({error}). Install {before} again, or "
            "add the documents to a new archive."
        ) from error
    replace(archive.manifest, engine=now).save(folder / MANIFEST)


def _engine() -> str:
    from groundwire.backends.lance_tables import engine

    return f"lancedb {engine().__version__}"


def _new_manifest(model: Embedder, context: Context | None, passage_tokens: int | None, *, engine: str) -> Manifest:
    if context in POOLED:
        token_embedder(model, context=context)
    return Manifest(
        embedder=model.id,
        dimension=model.dimension,
        context=context or "passage",
        passage_tokens=passage_tokens or PASSAGE_TOKENS,
        engine=engine,
    )


def _loaded(embedder: str | Embedder, threads: int) -> Embedder:
    return embedder_named(embedder, threads=threads) if isinstance(embedder, str) else embedder


def _require_same(folder: Path, manifest: Manifest, wanted: dict[str, Context | int | None]) -> None:
    for name, value in wanted.items():
        made_with = getattr(manifest, name)
        if value is not None and value != made_with:
            raise ArchiveError(
                f"{folder} was made with {name} = {made_with!r}, but {value!r} is asked for. Add the documents to "
                f"a new archive, or leave {name} as it is."
            )


def _require_free(folder: Path, *, create: bool) -> None:
    if folder.is_file():
        raise ArchiveError(f"{folder} is a file; an archive is a folder. Give another name")
    if not create:
        raise ArchiveError(f"there is no archive at {folder}. Make it with: groundwire add --archive {folder} FILES")
    if folder.is_dir() and any(folder.iterdir()):
        raise ArchiveError(f"{folder} is a folder with other things in it and no archive. Give another name")
