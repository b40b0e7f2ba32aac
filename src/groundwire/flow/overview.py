"""What there is: settings, an archive, one document, the models, and whether this machine has what it needs."""

from __future__ import annotations

import platform
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from groundwire.core.errors import GroundwireError, NothingFound
from groundwire.core.types import Filter
from groundwire.flow.archives import IN_MEMORY, open_archive, opened
from groundwire.flow.model_states import model_states
from groundwire.flow.registry import embedder
from groundwire.flow.settings import Loaded, names, value_of
from groundwire.retrieval.index import Archive

Facts = Mapping[str, object]
Rows = tuple[tuple[str, ...], ...]

_PACKAGE = "groundwire"
_NAME = re.compile(r"[\w.-]+")
_EXTRA = re.compile(r"""extra\s*==\s*['"]([\w.-]+)""")


def settings_rows(loaded: Loaded) -> Rows:
    """Name, value and origin of every setting."""
    return tuple((name, str(value_of(loaded.settings, name)), loaded.origins.get(name, "default")) for name in names())


def filter_hint(archive: Archive, where: Filter) -> str:
    """What the archive has that a filter could have asked for, to follow "nothing found"; empty without a filter."""
    if where == Filter():
        return ""
    documents = archive.store.heads()
    outlets = sorted({document.source for document in documents if document.source})
    languages = sorted({document.language for document in documents if document.language})
    days = sorted(document.published for document in documents if document.published)
    found = [
        f"outlets: {_listed(outlets)}" if where.sources else "",
        f"languages: {_listed(languages)}" if where.languages else "",
    ]
    if (where.published_from or where.published_to) and days:
        found.append(f"days: {days[0]} to {days[-1]}")
    return "; the archive has " + "; ".join(part for part in found if part)


def document_rows(archive: Archive) -> Rows:
    """Id, date, outlet, language and title of every document, by id."""
    return tuple(
        (found.id, found.published.isoformat() if found.published else "", found.source, found.language, found.title)
        for found in archive.store.heads()
    )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return (", ".join(f"'{name}'" for name in names[:10]) or "none") + more


def document_facts(archive: Archive, document_id: str) -> Facts:
    """A document with its sentences and their offsets.

    Raises:
        NothingFound: the archive holds no document of this id.
    """
    document = archive.store.documents([document_id]).get(document_id)
    if document is None:
        raise NothingFound(
            f"{archive.name} holds no document '{document_id}'", searched=(f"{archive.counts().documents:,} documents",)
        )
    return {
        "id": document.id,
        "title": document.title,
        "published": document.published,
        "source": document.source,
        "url": document.url,
        "language": document.language,
        "read from": ", ".join(Path(line).name for line in document.origin.split("\n")),
        "notes": document.notes,
        "sentences": [
            {"start": sentence.start, "end": sentence.end, "passage": sentence.passage, "text": sentence.text}
            for sentence in archive.sentences([document_id]).get(document_id, ())
        ],
    }


def facts_lines(facts: Facts) -> Iterator[str]:
    """Facts as lines; a list of rows becomes one line a row."""
    for name, value in facts.items():
        if isinstance(value, list):
            yield f"{name}: {len(value)}"
            for row in value:
                yield f"  {row['start']:>6}-{row['end']:<6} {' '.join(str(row['text']).split())}"
        elif isinstance(value, tuple):
            yield from (f"{name}: {item}" for item in value)
        elif value not in ("", None):
            yield f"{name}: {value}"


def model_rows() -> Rows:
    """Name, whether it is here, size, licence and purpose of every model that can be had."""
    from groundwire.backends.model_files import available

    return tuple(
        (
            listed.model.name,
            "here" if listed.path else "no",
            f"{listed.model.size_bytes / 1e6:,.0f} MB",
            listed.model.licence,
            listed.model.about,
        )
        for listed in available()
    )


def examine(loaded: Loaded, *, environment: Mapping[str, str]) -> Rows:
    """Part, state (``works``, ``missing``, ``broken``) and a remark, for all that groundwire stands on.

    ``environment`` holds the keys of configured models.
    """
    return (
        ("python", "works", platform.python_version()),
        *(_part(name, packages) for name, packages in parts_of(requires(_PACKAGE) or ()).items()),
        *_embedder_state(loaded.settings.embedder),
        _store_state(),
        *_archive_state(loaded),
        *model_states(loaded, environment=environment),
    )


def parts_of(requirements: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """The packages of each part of groundwire, ``core`` first, then every extra: as its own metadata lists them."""
    found: dict[str, tuple[str, ...]] = {"core": ()}
    for line in requirements:
        named, extra = _NAME.match(line), _EXTRA.search(line)
        part = extra[1] if extra else "core"
        if named and part != "all":  # which repeats what the others need
            found[part] = (*found.get(part, ()), named[0])
    return found


def _part(name: str, packages: Iterable[str]) -> tuple[str, str, str]:
    versions = {package: _version(package) for package in packages}
    absent = [package for package, found in versions.items() if found is None]
    if absent:
        return (name, "missing", f"{', '.join(absent)}; run: pip install 'groundwire[{name}]'")
    return (name, "works", ", ".join(f"{package} {found}" for package, found in versions.items()))


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _embedder_state(name: str) -> Rows:
    try:
        model = embedder(name)
        shape = model.embed(["groundwire"], role="query").shape
    except GroundwireError as error:
        return (("embedder", "missing", f"{name}: {error}"),)
    return (("embedder", "works" if shape == (1, model.dimension) else "broken", f"{name}: {shape[1]} numbers"),)


def _store_state() -> tuple[str, str, str]:
    from tempfile import TemporaryDirectory

    from groundwire.core.types import Document

    try:
        with (
            TemporaryDirectory() as folder,
            opened(open_archive(Path(folder) / "probe", embedder="hash:32")) as archive,
        ):
            archive.add([Document("probe", "The river rose. 河水上漲。")])
            found = archive.search("river", k=1)
    except GroundwireError as error:
        return ("store", "missing", str(error))
    return ("store", "works" if found else "broken", "a sentence was written, indexed and found again")


def _archive_state(loaded: Loaded) -> Rows:
    path = loaded.settings.archive
    if path == IN_MEMORY or not Path(path).exists():
        return ()
    try:
        with opened(open_archive(path, create=False)) as archive:
            counts = archive.counts()
    except GroundwireError as error:
        return (("archive", "broken", str(error)),)
    return (("archive", "works", f"{path}: {counts.documents:,} documents, {counts.sentences:,} sentences"),)
