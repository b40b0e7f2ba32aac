"""What ranked sentences become, against values worked out here."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Hit, Sentence
from groundwire.retrieval.shapes import best_passages, diverse, sifted, standardised, whole, windows


def sentence(document: str, number: int, *, passage: int = 0) -> Sentence:
    return Sentence(f"{document}{number}", document, passage, 10 * number, 10 * number + 5, f"{document} {number}")


A = tuple(sentence("a", number, passage=number // 3) for number in range(6))
B = tuple(sentence("b", number) for number in range(3))
HELD = {"a": A, "b": B}


def hits(*found: Sentence) -> list[Hit]:
    return [Hit(one, rank, 1 / rank) for rank, one in enumerate(found, start=1)]


def test_passages_stand_where_their_best_sentence_stands_and_are_whole() -> None:
    found = best_passages(hits(A[4], B[1], A[3], A[0]), HELD)

    assert [(one.document_id, one.number, strength) for one, strength in found] == [
        ("a", 1, 1),
        ("b", 0, 1 / 2),
        ("a", 0, 1 / 4),
    ]
    assert [one.id for one, _ in whole(found)] == ["a3", "a4", "a5", "b0", "b1", "b2", "a0", "a1", "a2"]


def test_a_document_that_is_gone_has_no_passage_and_no_window() -> None:
    assert best_passages(hits(B[0], A[0]), {"a": A})[0][0].document_id == "a"
    assert [one.id for one, _ in windows(hits(B[0], A[0]), {"a": A}, neighbours=0)] == ["a0"]


@pytest.mark.parametrize(
    ("neighbours", "expected"),
    [
        (0, ["a5", "b0", "a3"]),
        (1, ["a4", "a5", "b0", "b1", "a2", "a3"]),
        (9, ["a0", "a1", "a2", "a3", "a4", "a5", "b0", "b1", "b2"]),
    ],
)
def test_a_window_has_the_neighbours_in_order_and_every_sentence_once(neighbours: int, expected: list[str]) -> None:
    found = windows(hits(A[5], B[0], A[3]), HELD, neighbours=neighbours)

    assert [one.id for one, _ in found] == expected
    assert found[0][1] == 1


def test_sifting_keeps_what_is_well_above_the_mean_in_the_order_it_had() -> None:
    placed = [(one, 0.5) for one in (*A[:3], *B)]
    values = {"a0": 0.9, "a1": 0.1, "a2": 0.5, "b0": 0.8, "b2": 0.2}  # b1 was removed meanwhile

    kept = [one.id for one, _ in sifted(placed, values, threshold=0)]

    assert kept == ["a0", "a2", "b0"]
    assert [one.id for one, _ in sifted(placed, values, threshold=1)] == ["a0"]
    assert [one.id for one, _ in sifted(placed, values, threshold=-9)] == ["a0", "a1", "a2", "b0", "b2"]
    assert len(sifted(placed, dict.fromkeys(values, 0.3), threshold=0)) == 5
    assert sifted([], {}, threshold=0) == []


def test_diversity_passes_over_a_twin_of_what_was_taken() -> None:
    vectors = np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 0]], dtype=np.float32)
    relevance = np.array([0.9, 0.9, 0.6, 0.5])

    taken = diverse(hits(*A[:4]), vectors, relevance=relevance, diversity=0.5, k=3)

    assert [one.id for one, _ in taken] == ["a0", "a2", "a3"]
    assert [value for _, value in taken] == pytest.approx([0.45, 0.3, 0.25])
    assert [one.id for one, _ in diverse(hits(*A[:4]), vectors, relevance=relevance, diversity=0, k=9)] == [
        "a0",
        "a1",
        "a2",
        "a3",
    ]


@given(st.integers(0, 9), st.integers(1, 12), st.floats(0, 1), st.integers(0, 50))
def test_every_step_of_marginal_relevance_takes_the_best_that_is_left(
    n: int, k: int, diversity: float, seed: int
) -> None:
    source = np.random.default_rng(seed)
    vectors, relevance = source.normal(size=(n, 4)), source.uniform(-1, 1, n)
    ranked = hits(*(sentence("a", number) for number in range(n)))

    taken = diverse(ranked, vectors, relevance=relevance, diversity=diversity, k=k)

    assert len({one.id for one, _ in taken}) == len(taken) == min(n, k)
    values = [value for _, value in taken]
    assert values == sorted(values, reverse=True)
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    chosen: list[int] = []
    for one, value in taken:
        left = [number for number in range(n) if number not in chosen]
        worth = {
            number: (1 - diversity) * relevance[number]
            - diversity * max([0.0, *(units[number] @ units[other] for other in chosen)])
            for number in left
        }
        assert value == pytest.approx(max(worth.values()), abs=2e-6)
        chosen.append(one.start // 10)


def test_deviations_of_equal_values_and_of_none_are_zero() -> None:
    assert standardised(np.array([2.0, 2.0])).tolist() == [0, 0]
    assert standardised(np.array([])).size == 0
    assert standardised(np.array([1.0, 3.0])).tolist() == [-1, 1]
