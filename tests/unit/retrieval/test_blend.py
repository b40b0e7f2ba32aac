"""The identity behind the query-time weight, and what a sentence remembers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Passage, Sentence
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
