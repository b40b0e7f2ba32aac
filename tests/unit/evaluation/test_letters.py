"""Grouping letters say exactly which pairs were told apart."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.evaluation.letters import grouping_letters


def matrix(systems: int, pairs: set[tuple[int, int]]) -> np.ndarray:
    found = np.zeros((systems, systems), dtype=bool)
    for one, other in pairs:
        found[one, other] = found[other, one] = True
    return found


@pytest.mark.parametrize(
    ("systems", "pairs", "letters"),
    [
        (3, set(), ("a", "a", "a")),
        (3, {(0, 1), (0, 2), (1, 2)}, ("a", "b", "c")),
        (3, {(0, 2)}, ("a", "ab", "b")),
        (4, {(0, 2), (0, 3), (1, 3)}, ("a", "ab", "bc", "c")),
        (4, {(0, 1), (2, 3)}, ("ab", "cd", "ac", "bd")),  # not in a row
        (1, set(), ("a",)),
    ],
)
def test_known_displays(systems: int, pairs: set[tuple[int, int]], letters: tuple[str, ...]) -> None:
    assert grouping_letters(matrix(systems, pairs), order=range(systems)) == letters


@settings(max_examples=150, deadline=None)
@given(
    st.integers(1, 7).flatmap(
        lambda n: st.tuples(
            st.just(n), st.sets(st.sampled_from(list(combinations(range(n + 1), 2)))), st.permutations(range(n + 1))
        )
    )
)
def test_two_systems_share_a_letter_exactly_where_they_were_not_told_apart(
    case: tuple[int, set[tuple[int, int]], list[int]],
) -> None:
    systems, pairs, order = case[0] + 1, case[1], case[2]
    letters = [set(name) for name in grouping_letters(matrix(systems, pairs), order=order)]
    assert all(letters)
    assert "a" in letters[order[0]]
    for pair in combinations(range(systems), 2):
        assert (not letters[pair[0]] & letters[pair[1]]) == (pair in pairs)


def test_after_z_come_two_letters() -> None:
    found = grouping_letters(~np.eye(28, dtype=bool), order=range(28))
    assert found[25:] == ("z", "aa", "ab")


@pytest.mark.parametrize(
    ("told_apart", "order"),
    [
        (np.zeros((2, 3), dtype=bool), [0, 1]),
        (matrix(2, set()), [0, 0]),
        (np.triu(np.ones((2, 2), dtype=bool)), [0, 1]),
    ],
)
def test_what_is_no_display_is_refused(told_apart: np.ndarray, order: list[int]) -> None:
    with pytest.raises(UsageError):
        grouping_letters(told_apart, order=order)
