"""From a name to a backend: ``local:e5-small``, ``hash:256``; what others install joins through an entry point."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path

from groundwire.core.errors import ModelError, UsageError
from groundwire.core.language import Capabilities, LanguageModel
from groundwire.core.ports import Embedder, Matrix, Progress, Role, TokenCounter, TokenEmbedder, TokenVectors
from groundwire.core.secrets import Secret
from groundwire.core.text import count_tokens
from groundwire.flow.settings import ModelOptions

EMBEDDERS = "groundwire.embedders"
"""The entry point group of embedders: its name is the part before the colon, its object takes the part after it."""
MODELS = "groundwire.models"
"""The same for language models."""

_log = logging.getLogger(__name__)
_DEFAULT_DIMENSION = 256


def embedder(name: str, *, pull: bool = False, threads: int = 1, progress: Progress | None = None) -> Embedder:
    """The embedder of this name, loaded.

    Args:
        name: ``local:e5-small``, ``local:minilm``, ``hash:`` (256 numbers), ``hash:DIM``, or ``KIND:REST`` where KIND
            is an entry point of the group ``groundwire.embedders``.
        pull: fetch a missing model; without it nothing is downloaded.
        threads: of a local model.
        progress: told how far fetching and converting have come; None: it is logged.

    Raises:
        UsageError: the name is unknown; the message names the nearest.
        ModelError: the model is not here, and ``pull`` is off or failed.
        MissingExtra: the backend is not installed.
    """
    kind, colon, rest = name.partition(":")
    told = progress or _log_progress
    if colon and kind == "hash":
        return _hash(name, rest)
    if colon and kind == "local":
        return _local(name, rest, pull=pull, threads=threads, progress=told)
    others = _others()
    if colon and kind in others:
        made: Callable[[str], Embedder] = others[kind].load()
        return made(rest)
    raise _unknown(name, others)


def model(
    name: str,
    *,
    profiles: Mapping[str, ModelOptions],
    environment: Mapping[str, str],
    capabilities: Capabilities | None = None,
    threads: int = 1,
) -> LanguageModel:
    """The language model of this name; nothing is called, nothing is loaded yet.

    Args:
        name: ``http:NAME`` of the settings, ``llama:NAME`` of the catalogue, ``llama:FILE.gguf``, or ``KIND:REST``
            where KIND is an entry point of the group ``groundwire.models``.
        profiles: the endpoints of the settings.
        environment: holds the keys.
        capabilities: what an earlier probe found of an endpoint.
        threads: of a local model.

    Raises:
        UsageError: the name is unknown; the message names the nearest.
        SettingError: the profile cannot be used.
        ModelError: a local model is not here.
    """
    kind, colon, rest = name.partition(":")
    if colon and kind == "http" and rest in profiles:
        return _remote(rest, profiles[rest], environment, capabilities=capabilities)
    if colon and kind == "llama" and (rest in _local_models() or rest.endswith(".gguf")):
        return _llama(rest, threads=threads)
    others = _others(MODELS)
    if colon and kind in others:
        made: Callable[[str], LanguageModel] = others[kind].load()
        return made(rest)
    known = known_models(profiles)
    near = get_close_matches(name, known, n=1, cutoff=0.4)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise UsageError(
        f"no language model is named '{name}'.{hint} There are: {', '.join(known)}. An endpoint gets its name in "
        f"groundwire.toml: [models.NAME] with base_url and model"
    )


def known_models(profiles: Mapping[str, ModelOptions]) -> tuple[str, ...]:
    """Names that ``model`` takes; ``KIND:…`` where anything may follow."""
    own = (*(f"http:{name}" for name in profiles), *(f"llama:{name}" for name in _local_models()))
    return (*own, "llama:FILE.gguf", *(f"{kind}:…" for kind in sorted(_others(MODELS))))


def _local_models() -> tuple[str, ...]:
    from groundwire.backends.model_files import CATALOGUE

    return tuple(each.name for each in CATALOGUE.values() if each.kind == "gguf")


def _remote(
    name: str, options: ModelOptions, environment: Mapping[str, str], *, capabilities: Capabilities | None
) -> LanguageModel:
    from groundwire.backends.remote_models import Profile, RemoteModel

    profile = Profile(**dict(options))
    key = Secret.from_environment(options.key_variable, environment) if options.key_variable else None
    return RemoteModel(name, profile, key=key, capabilities=capabilities)


def _llama(name: str, *, threads: int) -> LanguageModel:
    from groundwire.backends import model_files
    from groundwire.backends.llama_models import LlamaModel

    if name in _local_models():
        return LlamaModel(model_files.path(name), name=name, threads=threads)
    file = Path(name).expanduser()
    if not file.is_file():
        raise ModelError(
            f"{file} is not there; give the path of a GGUF file, or pull one of: {', '.join(_local_models())}"
        )
    with file.open("rb") as read:
        digest = hashlib.file_digest(read, "sha256").hexdigest()
    return LlamaModel(file, name=f"{file.stem}@{digest[:8]}", threads=threads)


def pull(name: str, *, progress: Progress | None = None, from_file: Path | None = None) -> Path:
    """Fetch a model of the catalogue unless it is here, and make it ready; returns where it is.

    Raises:
        UsageError: the catalogue does not have the name.
        UnreadableInput: ``from_file`` cannot be read.
        ModelError: it could not be fetched, or is not the file that was expected.
        MissingExtra: an encoder was fetched, but what makes it ready is not installed.
    """
    from groundwire.backends import model_files
    from groundwire.backends.onnx_build import prepare

    told = progress or _log_progress
    place = model_files.pull(name, progress=told, from_file=from_file).path
    model = model_files.find(name)
    return prepare(model, place, progress=told) if model.kind == "encoder" else place


def model_path(name: str | None = None) -> Path:
    """Where a model is, or would be; without a name the folder that all models are kept in.

    Raises:
        UsageError: the catalogue does not have the name.
    """
    from groundwire.backends import model_files

    return model_files.model_folder() if name is None else model_files.place(model_files.find(name))


class LazyEmbedder:
    """An embedder that is loaded when it is first asked: reading, checking and searching by words need none."""

    def __init__(self, name: str, *, dimension: int, threads: int = 1) -> None:
        """Name it, and say how many numbers its vectors have, as a manifest does."""
        self.id = name
        self.dimension = dimension
        self._threads = threads

    @cached_property
    def loaded(self) -> Embedder:
        """The embedder itself.

        Raises:
            ModelError: its model is not here, or gives vectors of another length than was said.
        """
        found = embedder(self.id, threads=self._threads)
        if found.dimension != self.dimension:
            raise ModelError(f"'{self.id}' gives {found.dimension} numbers, but {self.dimension} are expected")
        return found

    def embed(self, texts: Sequence[str], *, role: Role = "passage") -> Matrix:
        """As the embedder itself."""
        return self.loaded.embed(texts, role=role)

    def count_tokens(self, text: str) -> int:
        """As the embedder itself counts, or as ``core.text`` estimates where it does not."""
        counter = self.loaded
        return counter.count_tokens(text) if isinstance(counter, TokenCounter) else count_tokens(text)

    def embed_tokens(self, texts: Sequence[str], *, role: Role = "passage") -> tuple[TokenVectors, ...]:
        """As the embedder itself.

        Raises:
            ModelError: it gives no vectors of tokens.
        """
        if not isinstance(self.loaded, TokenEmbedder):
            raise ModelError(f"'{self.id}' gives no vectors of tokens")
        return self.loaded.embed_tokens(texts, role=role)


def known_embedders() -> tuple[str, ...]:
    """Names that ``embedder`` takes; ``KIND:…`` where anything may follow."""
    from groundwire.backends.model_files import CATALOGUE

    local = (f"local:{model.name}" for model in CATALOGUE.values() if model.kind == "encoder")
    return (*local, f"hash:{_DEFAULT_DIMENSION}", *(f"{kind}:…" for kind in sorted(_others())))


def _hash(name: str, rest: str) -> Embedder:
    from groundwire.backends.hash_embedder import HashEmbedder

    if rest and not (rest.isascii() and rest.isdecimal()):
        raise UsageError(f"'{name}' does not say how many numbers a vector has; write it as 'hash:384'.")
    return HashEmbedder(int(rest) if rest else _DEFAULT_DIMENSION)


def _local(name: str, rest: str, *, pull: bool, threads: int, progress: Progress) -> Embedder:
    from groundwire.backends import model_files
    from groundwire.backends.onnx_build import prepare
    from groundwire.backends.onnx_embedder import OnnxEmbedder

    model = model_files.CATALOGUE.get(rest)
    if model is None or model.kind != "encoder":
        raise _unknown(name, _others())
    source = model_files.pull(rest, progress=progress).path if pull else model_files.path(rest)
    return OnnxEmbedder(prepare(model, source, progress=progress), threads=threads)


def _others(group: str = EMBEDDERS) -> Mapping[str, EntryPoint]:
    return {each.name: each for each in entry_points(group=group)}


def _unknown(name: str, others: Mapping[str, EntryPoint]) -> UsageError:
    known = known_embedders()
    near = get_close_matches(name, (*known, *others), n=1, cutoff=0.4)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return UsageError(f"no embedder is named '{name}'.{hint} There are: {', '.join(known)}.")


def _log_progress(done: int, total: int | None, label: str, /) -> None:
    _log.info("%s: %d of %s", label, done, "?" if total is None else total)
