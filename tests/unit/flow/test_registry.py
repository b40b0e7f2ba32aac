import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from tiny_encoder import TinyEncoder

from groundwire.backends import model_files
from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.core.errors import MissingExtra, ModelError, UsageError
from groundwire.flow import registry
from groundwire.flow.registry import LazyEmbedder, embedder


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GROUNDWIRE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.fixture
def tiny(tiny_encoder: TinyEncoder, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a model that the catalogue calls 'tiny', outside the model folder."""
    entry = tiny_encoder.model(file=tiny_encoder.q4)
    monkeypatch.setitem(model_files.CATALOGUE, "tiny", entry)
    return tiny_encoder.q4


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that brings an embedder of its own through an entry point."""
    (tmp_path / "theirs.py").write_text(
        "from groundwire.backends.hash_embedder import HashEmbedder\n"
        "def make(rest):\n    return HashEmbedder(len(rest))\n"
    )
    information = tmp_path / "theirs-1.0.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: theirs\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(f"[{registry.EMBEDDERS}]\nletters = theirs:make\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "theirs", raising=False)


@pytest.mark.parametrize(("name", "dimension"), [("hash:", 256), ("hash:384", 384), ("hash:1", 1)])
def test_a_hash_embedder_has_the_size_that_its_name_says(name: str, dimension: int) -> None:
    found = registry.embedder(name)

    assert isinstance(found, HashEmbedder)
    assert (found.id, found.dimension) == (f"hash:{dimension}", dimension)


@pytest.mark.parametrize("name", ["hash:many", "hash:-3", "hash:1.5", "hash:³"])
def test_a_hash_embedder_of_no_size_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="hash:384"):
        registry.embedder(name)


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("local:e5-smal", "local:e5-small"),
        ("e5-small", "local:e5-small"),
        ("local:minlm", "local:minilm"),
        ("local:smollm2-135m", None),
        ("hash", "hash:256"),
        ("", None),
        ("http://nowhere", None),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str, nearest: str | None) -> None:
    with pytest.raises(UsageError, match="There are: local:e5-small, local:minilm, hash:256") as caught:
        registry.embedder(name)

    assert nearest is None or f"Did you mean '{nearest}'?" in str(caught.value)


def test_a_missing_model_is_not_fetched_but_named(shelf: Path) -> None:
    with pytest.raises(ModelError, match="Run: groundwire models pull e5-small"):
        registry.embedder("local:e5-small")

    assert not shelf.exists()


def test_a_model_that_was_pulled_is_made_ready_and_loaded(tiny: Path, shelf: Path) -> None:
    steps: list[str] = []
    folder = registry.pull("tiny", from_file=tiny, progress=lambda *step: steps.append(step[2]))

    found = registry.embedder("local:tiny")

    assert folder == shelf / "tiny"
    assert steps
    assert (found.id, found.dimension) == ("local:tiny", 32)
    assert found.embed(["the cat"]).shape == (1, 32)


def test_pulling_on_demand_uses_what_is_there(tiny: Path, shelf: Path, caplog: pytest.LogCaptureFixture) -> None:
    (shelf / "tiny").mkdir(parents=True)
    shutil.copy(tiny, shelf / "tiny")

    with caplog.at_level("INFO"):
        found = registry.embedder("local:tiny", pull=True, threads=2)

    assert found.id == "local:tiny"
    assert "converting layers: 2 of 2" in caplog.text


def test_a_language_model_is_only_fetched(
    shelf: Path, tmp_path: Path, tiny_encoder: TinyEncoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own.gguf"
    own.write_bytes(tiny_encoder.q4.read_bytes())
    entry = tiny_encoder.model(file=own)
    monkeypatch.setitem(model_files.CATALOGUE, "chat", type(entry)(**{**fields(entry), "name": "chat", "kind": "gguf"}))

    assert registry.pull("chat", from_file=own) == shelf / "chat" / "own.gguf"
    assert [each.name for each in (shelf / "chat").iterdir()].count("model.onnx") == 0


def fields(entry: model_files.Model) -> dict[str, object]:
    return {name: getattr(entry, name) for name in entry.__slots__}


def test_the_path_of_a_model_is_known_before_it_is_there(shelf: Path) -> None:
    assert registry.model_path() == shelf
    assert registry.model_path("e5-small") == shelf / "e5-small" / "e5-small-q4.bin"
    with pytest.raises(UsageError, match="no model is named"):
        registry.model_path("?")


@pytest.mark.usefixtures("installed")
def test_an_installed_package_adds_an_embedder() -> None:
    assert registry.embedder("letters:abcd").dimension == 4
    assert registry.known_embedders()[-1] == "letters:…"


@pytest.mark.usefixtures("installed")
def test_the_own_kinds_cannot_be_replaced_and_a_bare_kind_is_not_enough() -> None:
    with pytest.raises(UsageError, match="Did you mean 'letters"):
        registry.embedder("letters")


@pytest.mark.usefixtures("shelf")
def test_a_missing_extra_is_named(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)

    with pytest.raises(MissingExtra, match="local"):
        registry.pull("tiny", from_file=tiny)


def test_a_lazy_embedder_is_loaded_when_it_is_asked() -> None:
    lazy = LazyEmbedder("hash:32", dimension=32)

    assert "loaded" not in vars(lazy)
    assert np.array_equal(lazy.embed(["flood"]), embedder("hash:32").embed(["flood"]))
    with pytest.raises(ModelError, match="gives no vectors of tokens"):
        lazy.embed_tokens(["flood"])


def test_a_lazy_embedder_must_be_what_it_was_said_to_be() -> None:
    with pytest.raises(ModelError, match="'hash:32' gives 32 numbers, but 64 are expected"):
        LazyEmbedder("hash:32", dimension=64).embed(["flood"])
