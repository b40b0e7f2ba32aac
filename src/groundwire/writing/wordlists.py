"""The word lists of the gates, read once from ``turns.txt`` and ``names.txt``."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

_FOLDER = files("groundwire.writing")


@cache
def lines(name: str) -> Mapping[str, tuple[str, ...]]:
    """Kind -> its lines, in order, without comments.

    Args:
        name: ``turns`` or ``names``.
    """
    found: defaultdict[str, list[str]] = defaultdict(list)
    for line in (_FOLDER / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            kind, _, listed = line.partition(": ")
            found[kind].append(listed)
    return {kind: tuple(listed) for kind, listed in found.items()}


@cache
def words_of(name: str, kind: str) -> frozenset[str]:
    """The words of all lines of a kind."""
    return frozenset(word for line in lines(name)[kind] for word in line.split())


@cache
def axes(kind: str) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Word -> the (axis, side) pairs it stands on; a word may stand on several axes (``lose``).

    Args:
        kind: ``axis`` (English) or ``zh``.
    """
    found: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for number, line in enumerate(lines("turns")[kind]):
        for side, listed in enumerate(line.split(" | ")):
            for word in listed.split():
                found[word].append((number, side))
    return {word: tuple(places) for word, places in found.items()}
