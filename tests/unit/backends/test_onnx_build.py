import math
import shutil
import struct
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tiny_encoder import TinyEncoder

from groundwire.backends.encoder_weights import Q4File, ZippedBert
from groundwire.backends.onnx_build import prepare, quantise_rows
from groundwire.core.errors import MissingExtra, ModelError

tokenizers = pytest.importorskip("tokenizers", reason="the extra 'local' is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="the extra 'local' is not installed")

IDS = [0, 6, 7, 10, 4, 20, 11, 12, 2]


class Progressed:
    def __init__(self) -> None:
        self.steps: list[tuple[int, int | None, str]] = []

    def __call__(self, done: int, total: int | None, label: str, /) -> None:
        self.steps.append((done, total, label))


def copy(file: Path, folder: Path) -> Path:
    place = folder / "tiny" / file.name
    place.parent.mkdir()
    return Path(shutil.copy(file, place))


def run(folder: Path, ids: list[int]) -> np.ndarray:
    session = onnxruntime.InferenceSession(str(folder / "model.onnx"), providers=["CPUExecutionProvider"])
    feed = {"input_ids": np.array([ids]), "attention_mask": np.ones((1, len(ids)), np.int64)}
    return session.run(None, feed)[0][0]


def reference(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The encoder as its paper writes it (Devlin et al. 2019), in float64, four heads, one text."""

    def normalised(x: np.ndarray, name: str) -> np.ndarray:
        centred = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12)
        return centred * weights[f"{name}.w"] + weights[f"{name}.b"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ weights[f"{name}.w"].T.astype(float) + weights[f"{name}.b"]

    x = weights["emb.word"][ids] + weights["emb.pos"][: len(ids)] + weights["emb.type"][0]
    x = normalised(x, "emb.ln")
    for layer in ("l0", "l1"):
        q, k, v = (linear(x, f"{layer}.{each}").reshape(len(ids), 4, 8).swapaxes(0, 1) for each in "qkv")
        match = np.exp(q @ k.swapaxes(1, 2) / math.sqrt(8))
        mixed = (match / match.sum(2, keepdims=True)) @ v
        x = normalised(x + linear(mixed.swapaxes(0, 1).reshape(len(ids), 32), f"{layer}.ao"), f"{layer}.aln")
        wide = linear(x, f"{layer}.fi")
        active = wide * (1 + np.vectorize(math.erf)(wide / math.sqrt(2))) / 2
        x = normalised(x + linear(active, f"{layer}.fo"), f"{layer}.oln")
    return x


def test_the_built_graph_gives_the_token_vectors_of_the_encoder(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    source = copy(tiny_encoder.q4, tmp_path)

    found = run(prepare(tiny_encoder.model(file=source), source, progress=Progressed()), IDS)

    wanted = reference(tiny_encoder.weights, IDS)
    cosines = (found * wanted).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(wanted, axis=1)
    assert cosines.min() > 0.999


def test_both_file_formats_give_the_same_encoder(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    found = []
    for file in (tiny_encoder.q4, tiny_encoder.zipped):
        (tmp_path / file.suffix).mkdir()
        source = copy(file, tmp_path / file.suffix)
        found.append(run(prepare(tiny_encoder.model(file=source), source, progress=Progressed()), IDS))

    np.testing.assert_array_equal(found[0], found[1])


def test_an_encoder_is_built_once_and_says_how_far_it_is(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    source = copy(tiny_encoder.q4, tmp_path)
    first, second = Progressed(), Progressed()

    folder = prepare(tiny_encoder.model(file=source), source, progress=first)
    again = prepare(tiny_encoder.model(file=source), source, progress=second)

    assert folder == again == source.parent
    assert [step[:2] for step in first.steps] == [(0, 2), (1, 2), (2, 2)]
    assert second.steps == []
    assert {each.name for each in folder.iterdir()} == {"tiny.bin", "model.onnx", "tokenizer.json", "meta.json"}
    assert [each.name for each in tmp_path.iterdir()] == ["tiny"]


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("meta.json", lambda good: good.replace(b'"builder": 1', b'"builder": 0'), "built by builder 0"),
        ("meta.json", lambda good: good.replace(b'"source_sha256": "', b'"source_sha256": "0'), "other weights"),
        ("meta.json", lambda good: good[:20], "meta.json cannot be read"),
        ("model.onnx", lambda good: good[:-1], "model.onnx does not have"),
        ("tokenizer.json", lambda _: None, "tokenizer.json does not have"),
    ],
    ids=["another builder", "other weights", "half a record", "half a model", "no tokenizer"],
)
def test_what_is_outdated_or_damaged_is_built_anew_aloud(
    name: str,
    change: Callable[[bytes], bytes | None],
    said: str,
    tiny_encoder: TinyEncoder,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    source = copy(tiny_encoder.q4, tmp_path)
    model = tiny_encoder.model(file=source)
    file = prepare(model, source, progress=Progressed()) / name
    good = file.read_bytes()
    changed = change(good)
    assert changed != good
    file.unlink() if changed is None else file.write_bytes(changed)

    prepare(model, source, progress=Progressed())

    assert file.read_bytes() == good
    assert said in caplog.text
    assert "building it anew" in caplog.text


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda whole: b"GGUF" + whole[4:], "does not begin with E5S1"),
        (lambda whole: whole[:40] + struct.pack("<i", 64) + whole[44:], "blocks of 64"),
        (lambda whole: whole[: len(whole) // 2], "cannot be read"),
        (lambda whole: whole[:100], "cannot be read"),
        (lambda whole: whole.replace(b"l1.q.w", b"l1.?.w"), "cannot be read"),
    ],
    ids=["another kind", "another block", "cut in its tensors", "cut in its head", "a tensor is missing"],
)
def test_a_broken_file_is_refused_and_nothing_is_built(
    change: Callable[[bytes], bytes], said: str, tiny_encoder: TinyEncoder, tmp_path: Path
) -> None:
    source = copy(tiny_encoder.q4, tmp_path)
    source.write_bytes(change(source.read_bytes()))

    with pytest.raises(ModelError, match=said):
        prepare(tiny_encoder.model(file=source), source, progress=Progressed())

    assert [each.name for each in source.parent.iterdir()] == ["tiny.bin"]


def test_a_checkpoint_in_another_precision_is_refused(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    source = copy(tiny_encoder.zipped, tmp_path)
    with zipfile.ZipFile(tiny_encoder.zipped) as old, zipfile.ZipFile(source, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name).replace(b'"F32"', b'"F16"'))

    with pytest.raises(ModelError, match="stored as F16"):
        prepare(tiny_encoder.model(file=source), source, progress=Progressed())


def test_without_onnx_the_extra_is_named(
    tiny_encoder: TinyEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = copy(tiny_encoder.q4, tmp_path)
    monkeypatch.setitem(sys.modules, "onnx", None)

    with pytest.raises(MissingExtra, match=r"groundwire\[local\]"):
        prepare(tiny_encoder.model(file=source), source, progress=Progressed())


def test_rows_of_a_tensor_are_those_of_the_whole(tiny_encoder: TinyEncoder) -> None:
    for checkpoint in (Q4File(tiny_encoder.q4), ZippedBert(tiny_encoder.zipped)):
        for name, size in (("emb.word", (3, 32)), ("emb.pos", (3, 32))):
            np.testing.assert_array_equal(checkpoint.tensor(name, *size, first=2), tiny_encoder.weights[name][2:5])


@pytest.mark.parametrize(
    ("text", "same_as"),
    [("the\tcat", "the cat"), ("c\x01at", "cat"), ("Ａ", "A"), ("the   cat", "the cat"), ("ﬁ", "fi")],
    ids=["a tab is a space", "control characters go", "full width folds", "spaces join", "ligatures part"],
)
def test_texts_are_normalised_before_they_are_cut_into_tokens(
    text: str, same_as: str, tiny_encoder: TinyEncoder
) -> None:
    tokenizer = tokenizers.Tokenizer.from_str(Q4File(tiny_encoder.q4).tokenizer())

    assert tokenizer.encode(text).ids == tokenizer.encode(same_as).ids


def test_the_full_width_tilde_is_kept(tiny_encoder: TinyEncoder) -> None:
    tokenizer = tokenizers.Tokenizer.from_str(Q4File(tiny_encoder.q4).tokenizer())

    assert tokenizer.encode("一～二~").tokens == ["\x01<s>", "▁", "一", "～", "二", "~", "\x01</s>"]


@given(hnp.arrays(np.float32, hnp.array_shapes(min_dims=2, max_dims=2), elements=st.floats(-1e3, 1e3, width=32)))
def test_a_quantised_number_is_at_most_half_a_step_away(matrix: np.ndarray) -> None:
    rows, scales = quantise_rows(matrix)

    assert rows.dtype == np.int8
    assert np.all(np.abs(rows * scales[:, None].astype(float) - matrix) <= scales[:, None] * 0.5001 + 1e-37)
