"""Grouping letters: systems that share a letter were not told apart, those that share none were."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from groundwire.core.errors import UsageError


def grouping_letters(told_apart: NDArray[np.bool_], *, order: Sequence[int]) -> tuple[str, ...]:
    """A compact letter display: two systems share a letter exactly where they were not told apart.

    Args:
        told_apart: shape (systems, systems), symmetric.
        order: all systems, best first; the best has the letter ``a``.

    Returns:
        The letters of each system, in the order of the rows; after ``z`` come ``aa``, ``ab``, …, parted by spaces.

    Raises:
        UsageError: the matrix is not square and symmetric, or the order does not name each system once.

    Source: Piepho 2004, insert and absorb.
    """
    systems = len(told_apart)
    if told_apart.shape != (systems, systems) or (told_apart != told_apart.T).any():
        raise UsageError(f"a symmetric square matrix is needed; its shape is {told_apart.shape}")
    if sorted(order) != list(range(systems)):
        raise UsageError(f"the order {tuple(order)} does not name each of {systems} systems once")
    groups: list[frozenset[int]] = [frozenset(range(systems))]
    for place, one in enumerate(order):
        for other in order[place + 1 :]:
            if told_apart[one, other]:
                groups = _parted(groups, one, other)
    best = {system: rank for rank, system in enumerate(order)}
    groups.sort(key=lambda group: sorted(best[system] for system in group))
    names = [_name(number) for number in range(len(groups))]
    glue = "" if len(groups) <= 26 else " "
    return tuple(
        glue.join(name for name, group in zip(names, groups, strict=True) if system in group)
        for system in range(systems)
    )


def _parted(groups: list[frozenset[int]], one: int, other: int) -> list[frozenset[int]]:
    """The groups with no group that holds both, and none that lies within another."""
    split = [
        part for group in groups for part in ((group - {one}, group - {other}) if {one, other} <= group else (group,))
    ]
    kept: list[frozenset[int]] = []
    for group in sorted(set(split), key=lambda group: (-len(group), sorted(group))):
        if not any(group <= larger for larger in kept):
            kept.append(group)
    return kept


def _name(number: int) -> str:
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("a") + rest) + letters
    return letters
