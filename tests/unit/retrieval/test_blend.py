"""The identity behind the query-time weight, and what a sentence remembers."""

import logging
import re
import shutil
import zlib
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiny_encoder import TinyEncoder

from groundwire.backends.hash_embedder import HashEmbedder
from groundwire.backends.memory_store import MemoryStore
from groundwire.backends.onnx_build import prepare
from groundwire.backends.onnx_embedder import OnnxEmbedder
from groundwire.core.errors import UsageError
from groundwire.core.ports import TokenVectors
from groundwire.core.types import Document, Filter, Passage, Sentence
from groundwire.retrieval.blend import blend, stacked_vectors, weighted_query


def unit(rows: int, dim: int, seed: int) -> np.ndarray:
    vectors = np.random.default_rng(seed).normal(size=(rows, dim))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


@given(st.floats(0, 1), st.integers(1, 9), st.integers(1, 64), st.integers(0, 1000))
def test_the_weighted_query_ranks_as_the_blended_vector_does(weight: float, rows: int, dim: int, seed: int) -> None:
    core, context, query = unit(rows, dim, seed), unit(rows, dim, seed + 1), unit(1, dim, seed + 2)[0]

    stacked = np.hstack([core, context]) @ weighted_query(query, sentence_weight=weight)

    np.testing.assert_allclose(stacked, blend(core, context, sentence_weight=weight) @ query, atol=1e-5)


def test_the_ends_of_the_weight_are_the_sentence_and_the_passage() -> None:
    core, context = unit(3, 8, 0), unit(3, 8, 1)

    assert np.array_equal(blend(core, context, sentence_weight=1), core)
    assert np.array_equal(blend(core, context, sentence_weight=0), context)


@pytest.mark.parametrize("weight", [-0.1, 1.1, float("nan")])
def test_a_weight_outside_0_to_1_is_refused(weight: float) -> None:
    with pytest.raises(ValueError, match="sentence_weight"):
        weighted_query(unit(1, 4, 0)[0], sentence_weight=weight)


def test_rows_of_different_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"\(2, 4\)"):
        blend(unit(2, 4, 0), unit(3, 4, 0))


class Letters:
    """Embeds a text as the counts of a, b, c; remembers what it was asked."""

    id, dimension = "letters", 3

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: list[str], *, role: str = "passage") -> np.ndarray:
        assert role == "passage"
        self.asked += texts
        return np.array([[text.count(letter) for letter in "abc"] for text in texts], dtype=np.float32).reshape(-1, 3)


def passage(*texts: str) -> Passage:
    return Passage("d", 0, tuple(Sentence(f"{i}", "d", 0, i, i + 1, text) for i, text in enumerate(texts)))


@pytest.mark.parametrize(
    ("context", "expected"),
    [
        ("passage", [[1, 0, 0, 1, 1, 1], [0, 1, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]]),
        ("exact", [[1, 0, 0, 0, 1, 1], [0, 1, 0, 1, 0, 1], [0, 0, 1, 1, 1, 0]]),
    ],
)
def test_a_sentence_remembers_its_passage_or_exactly_the_rest_of_it(context: str, expected: list[list[int]]) -> None:
    assert stacked_vectors([passage("a", "b", "c")], embedder=Letters(), context=context).tolist() == expected


@pytest.mark.parametrize("context", ["passage", "exact"])
def test_a_sentence_alone_in_its_passage_remembers_itself(context: str) -> None:
    assert stacked_vectors([passage("ab")], embedder=Letters(), context=context).tolist() == [[1, 1, 0, 1, 1, 0]]


def test_equal_texts_are_embedded_once() -> None:
    embedder = Letters()

    rows = stacked_vectors([passage("a", "b"), passage("a", "b"), passage("a")], embedder=embedder, context="passage")

    assert embedder.asked == ["a", "b", "a b"]
    assert rows.shape == (5, 6)
    assert np.array_equal(rows[0], rows[2])


def test_no_passage_gives_no_rows() -> None:
    assert stacked_vectors([], embedder=Letters(), context="exact").shape == (0, 6)


class Words:
    """An encoder whose words do not see each other: the vector of a text is the mean of those of its words.

    So the rest of a passage has the same vector whether it is encoded or taken out of a pass over the passage. Reads
    ``window`` words at most; ``asked`` holds what was read in passes over tokens. Signs are no words.
    """

    id, dimension = "words", 16

    def __init__(self, window: int = 10_000) -> None:
        self.window = window
        self.asked: list[str] = []
        self.encoded: list[str] = []

    def embed(self, texts: list[str], *, role: str = "passage") -> np.ndarray:
        assert role == "passage"
        self.encoded += texts
        rows = [np.sum([word_vector(word) for word in text.split() or [""]], axis=0) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32).reshape(-1, self.dimension)

    def embed_tokens(self, texts: list[str], *, role: str = "passage") -> tuple[TokenVectors, ...]:
        assert role == "passage"
        self.asked += texts
        made = []
        for text in texts:
            found = list(re.finditer(r"\s?[^\s!]+", text))
            kept = found[: self.window]
            vectors = [word_vector(each.group().strip()) for each in kept]
            made.append(
                TokenVectors(
                    np.array(vectors, np.float32).reshape(-1, self.dimension),
                    np.array([each.span() for each in kept], np.int64).reshape(-1, 2),
                    whole=len(kept) == len(found),
                )
            )
        return tuple(made)


@cache
def word_vector(word: str) -> np.ndarray:
    return np.random.default_rng(zlib.crc32(word.encode())).normal(size=16) + 0.3


WEATHER = ("rain", "wind", "sun", "fog", "a", "of", "雨", "風")
WORDS = st.lists(st.sampled_from(WEATHER), min_size=1, max_size=5).map(" ".join)
PASSAGES = st.lists(st.lists(WORDS, min_size=1, max_size=5), max_size=4).map(
    lambda texts: [passage(*own) for own in texts]
)


@settings(max_examples=40, deadline=None)
@given(PASSAGES, st.sampled_from(["pooled_rest", "pooled"]), st.integers(1, 12))
def test_one_pass_gives_what_encoding_every_rest_gives_where_words_do_not_see_each_other(
    passages: list[Passage], context: str, window: int
) -> None:
    longest = max((len(one.text.split()) for each in passages for one in each.sentences), default=1)

    rows = stacked_vectors(passages, embedder=Words(max(window, longest)), context=context)

    np.testing.assert_allclose(rows, stacked_vectors(passages, embedder=Words(), context="exact"), atol=1e-5)


@pytest.mark.parametrize(
    ("context", "encoded", "asked"),
    [
        ("pooled_rest", ["rain fell", "sun", "fog"], ["rain fell sun"]),
        ("pooled", [], ["rain fell sun", "fog"]),
    ],
)
def test_what_is_read_is_what_the_context_says(context: str, encoded: list[str], asked: list[str]) -> None:
    embedder = Words()

    stacked_vectors([passage("rain fell", "sun"), passage("fog")], embedder=embedder, context=context)

    assert (embedder.encoded, embedder.asked) == (encoded, asked)


def test_a_passage_over_the_window_is_read_in_runs_of_whole_sentences() -> None:
    embedder = Words(window=5)

    stacked_vectors([passage("a b", "c d", "e f", "g")], embedder=embedder, context="pooled")

    assert embedder.asked == ["a b c d e f g", "e f g"]


def test_a_sentence_over_the_window_loses_its_end_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    embedder = Words(window=2)
    with caplog.at_level(logging.WARNING):
        rows = stacked_vectors([passage("a b c", "d")], embedder=embedder, context="pooled")

    assert embedder.asked == ["a b c d", "d"]
    assert "a sentence of 5 characters" in caplog.text
    np.testing.assert_allclose(rows[0], np.hstack(Words().embed(["a b", "d"])), atol=1e-6)


@pytest.mark.parametrize("context", ["pooled_rest", "pooled"])
def test_a_sentence_alone_remembers_itself_after_one_pass_too(context: str) -> None:
    (row,) = stacked_vectors([passage("rain fell")], embedder=Words(), context=context)

    np.testing.assert_allclose(row[:16], Words().embed(["rain fell"])[0], atol=1e-6)
    assert np.array_equal(row[:16], row[16:])


def test_a_sentence_without_a_token_is_encoded_by_itself_and_one_beside_it_remembers_itself() -> None:
    signs, words = stacked_vectors([passage("!!", "rain fell")], embedder=Words(), context="pooled")

    np.testing.assert_allclose(signs, np.hstack(Words().embed(["!!", "rain fell"])), atol=1e-6)
    assert np.array_equal(words[:16], words[16:])


@pytest.mark.parametrize("context", ["pooled_rest", "pooled"])
def test_no_passage_gives_no_rows_after_no_pass(context: str) -> None:
    assert stacked_vectors([], embedder=Words(), context=context).shape == (0, 32)


@pytest.mark.parametrize("context", ["pooled_rest", "pooled"])
def test_an_embedder_without_token_vectors_is_refused_by_name(context: str) -> None:
    with pytest.raises(UsageError, match=f"context '{context}' .* 'hash:16' does not give"):
        stacked_vectors([passage("rain")], embedder=HashEmbedder(16), context=context)


@settings(max_examples=25, deadline=None)
@given(PASSAGES, st.sampled_from(["passage", "exact", "pooled_rest", "pooled"]), st.floats(0, 1), st.integers(0, 99))
def test_a_store_ranks_by_the_vector_of_the_paper_whatever_the_context(
    passages: list[Passage], context: str, weight: float, seed: int
) -> None:
    store, query = MemoryStore(32, precision="float32"), unit(1, 16, seed)[0]
    named = [
        Sentence(f"{number}-{one.id}", "d", number, 10 * number + one.start, 10 * number + one.end, one.text)
        for number, each in enumerate(passages)
        for one in each.sentences
    ]
    rows = stacked_vectors(passages, embedder=Words(), context=context)
    store.put([Document("d", "")], named, vectors=rows, revisions=["1"])

    found = store.dense(weighted_query(query, sentence_weight=weight), k=99, where=Filter())

    papers = blend(rows[:, :16], rows[:, 16:], sentence_weight=weight) @ query
    expected = dict(zip([one.id for one in named], papers, strict=True))
    assert {match.sentence.id: match.value for match in found} == pytest.approx(expected, abs=1e-5)


def test_a_real_encoder_gives_sentence_and_rest_from_one_pass(tiny_encoder: TinyEncoder, tmp_path: Path) -> None:
    source = Path(shutil.copy(tiny_encoder.q4, tmp_path / "tiny.bin"))
    embedder = OnnxEmbedder(prepare(tiny_encoder.model(file=source), source, progress=lambda *_: None))
    texts = ["the cat a b", "c d e", "f"]
    (tokens,) = embedder.embed_tokens([" ".join(texts)])

    rows = stacked_vectors([passage(*texts)], embedder=embedder, context="pooled")

    of_second = tokens.vectors[(tokens.offsets.mean(axis=1) > 11) & (tokens.offsets.mean(axis=1) < 17)].sum(axis=0)
    rest = tokens.vectors.sum(axis=0) - of_second
    expected = np.hstack([of_second / np.linalg.norm(of_second), rest / np.linalg.norm(rest)])
    np.testing.assert_allclose(rows[1], expected, atol=1e-5)
