import logging
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoder import TinyEncoder

from groundwire.backends.onnx_build import BUILDER, prepare
from groundwire.backends.onnx_embedder import OnnxEmbedder
from groundwire.core.errors import MissingExtra, ModelError, UnreadableInput, UsageError
from groundwire.core.ports import Role, TokenCounter, TokenEmbedder

TEXTS = ("the cat", "一二三", "a", "zz top of the cat", "", "</s>", "the cat " * 40)


@pytest.fixture(scope="module")
def folder(tiny_encoder: TinyEncoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    source = Path(shutil.copy(tiny_encoder.q4, tmp_path_factory.mktemp("built") / "tiny.bin"))
    return prepare(tiny_encoder.model(file=source), source, progress=lambda *_: None)


@pytest.fixture(scope="module")
def embedder(folder: Path) -> OnnxEmbedder:
    return OnnxEmbedder(folder)


def test_it_names_itself_and_its_size(embedder: OnnxEmbedder) -> None:
    assert (embedder.id, embedder.dimension, embedder.max_tokens) == ("local:tiny", 32, 24)
    assert embedder.revision.startswith(f"{BUILDER}-")


def test_rows_are_unit_vectors_in_the_order_of_the_texts(embedder: OnnxEmbedder) -> None:
    rows = embedder.embed(TEXTS)

    assert rows.shape == (len(TEXTS), 32)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    alone = np.vstack([embedder.embed([text]) for text in TEXTS])
    np.testing.assert_allclose(rows, alone, atol=1e-5)


@settings(max_examples=25, deadline=None)
@given(texts=st.lists(st.text("abc the一二\t～", max_size=60), max_size=40), data=st.data())
def test_a_row_does_not_depend_on_its_neighbours(embedder: OnnxEmbedder, texts: list[str], data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(len(texts))))

    rows = embedder.embed(texts)
    shuffled = embedder.embed([texts[number] for number in order])

    np.testing.assert_allclose(shuffled, rows[list(order)], atol=1e-5)


def test_the_same_call_gives_the_same_bytes(folder: Path, embedder: OnnxEmbedder) -> None:
    first, second, third = embedder.embed(TEXTS), embedder.embed(TEXTS), OnnxEmbedder(folder).embed(TEXTS)

    assert first.tobytes() == second.tobytes() == third.tobytes()


def test_many_texts_are_embedded_in_several_batches(embedder: OnnxEmbedder) -> None:
    texts = [f"the {'cat ' * (number % 7)}{'abc'[number % 3]}" for number in range(100)]

    rows = embedder.embed(texts)

    alone = np.vstack([embedder.embed([text]) for text in texts])
    np.testing.assert_allclose(rows, alone, atol=1e-5)


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed([]).shape == (0, 32)
    assert embedder.embed_tokens([]) == ()


def test_a_query_has_another_prefix_than_a_passage(embedder: OnnxEmbedder) -> None:
    query, passage = embedder.embed(["the cat"], role="query"), embedder.embed(["the cat"])

    assert not np.allclose(query, passage, atol=1e-3)


def test_texts_that_are_cut_are_counted_and_said_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    fresh = OnnxEmbedder(folder)
    with caplog.at_level(logging.WARNING):
        fresh.embed(["the cat", "the cat " * 50, "cat " * 99])
        fresh.embed(["the cat " * 50])

    assert fresh.truncated == 3
    assert [record.getMessage() for record in caplog.records] == [
        "local:tiny read only the first 24 tokens of 2 text(s)"
    ]
    np.testing.assert_array_equal(fresh.embed(["the cat " * 50]), fresh.embed(["the cat " * 60]))


def test_markers_of_the_model_inside_a_text_are_only_text(embedder: OnnxEmbedder) -> None:
    (found,) = embedder.embed_tokens(["</s>"])

    assert [tuple(span) for span in found.offsets] == [(0, 1), (1, 2), (2, 3), (3, 4)]


@pytest.mark.parametrize("text", ["the cat", "一二 the cat三", " a  b\tc ", "", "the cat " * 40])
@pytest.mark.parametrize("role", ["query", "passage"])
def test_token_vectors_point_at_the_text_without_its_prefix(embedder: OnnxEmbedder, text: str, role: Role) -> None:
    (other, found) = embedder.embed_tokens(["a cat", text], role=role)

    assert found.vectors.shape == (len(found.offsets), 32)
    assert found.vectors.dtype == np.float32
    assert all(0 <= start < end <= len(text) for start, end in found.offsets)
    covered = {place for start, end in found.offsets for place in range(start, end)}
    skipped = "".join(each for place, each in enumerate(text) if place not in covered)
    assert not skipped.strip() or len(text) > 300
    assert "".join("a cat"[start:end] for start, end in other.offsets) == "a cat"


def test_the_mean_of_the_token_vectors_is_near_the_vector_of_the_text(embedder: OnnxEmbedder) -> None:
    text = "a b c d e f g h"
    (tokens,) = embedder.embed_tokens([text])
    mean = tokens.vectors.mean(axis=0)

    assert embedder.embed([text])[0] @ mean / np.linalg.norm(mean) > 0.9


def test_token_vectors_say_when_a_text_was_cut_and_nothing_is_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fresh = OnnxEmbedder(folder)
    with caplog.at_level(logging.WARNING):
        found = fresh.embed_tokens(["the cat", "the cat " * 50])

    assert [each.whole for each in found] == [True, False]
    assert (fresh.truncated, caplog.records) == (0, [])
    assert isinstance(fresh, TokenEmbedder)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("the cat", 3), ("the cat " * 40, 121)])
def test_tokens_are_counted_without_prefix_and_special_ones_however_long(
    embedder: OnnxEmbedder, text: str, tokens: int
) -> None:
    assert isinstance(embedder, TokenCounter)
    assert embedder.count_tokens(text) == tokens
    if tokens < 20:
        assert tokens == len(embedder.embed_tokens([text])[0].offsets)


def test_half_a_surrogate_pair_is_refused(embedder: OnnxEmbedder) -> None:
    with pytest.raises(UnreadableInput, match="text 1 "):
        embedder.embed(["fine", "half \ud800"])


def test_no_thread_is_too_few(folder: Path) -> None:
    with pytest.raises(UsageError, match="at least 1 thread"):
        OnnxEmbedder(folder, threads=0)


def test_two_threads_give_the_same_vectors(folder: Path, embedder: OnnxEmbedder) -> None:
    np.testing.assert_allclose(OnnxEmbedder(folder, threads=2).embed(TEXTS), embedder.embed(TEXTS), atol=1e-5)


def test_a_folder_without_an_encoder_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="groundwire models pull"):
        OnnxEmbedder(tmp_path)


@pytest.mark.parametrize("package", ["onnxruntime", "tokenizers"])
def test_without_its_packages_the_extra_is_named(package: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=r"groundwire\[local\]"):
        OnnxEmbedder(folder)
