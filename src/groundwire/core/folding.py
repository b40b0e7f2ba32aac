"""Traditional and Simplified Chinese made alike for counting words, never for showing.

An archive keeps folded text in a column of its own and folds the query alike, so that words are found across scripts.
``characters`` is what a new archive takes: the table that figures and dates are compared with. Measured by BM25 alone
(benchmarks/results/folding.json), a sentence is found first by its other script in .88 of all cases with it, in .70
without folding, and with opencc's tables as often as with it (differences of .001 or less, intervals within .005); in
one script nothing is lost. It needs nothing installed, so an archive is the same wherever it is made. With the extra
``zh``, ``opencc:tw2sp`` also makes one of the words that Taiwan and the mainland do not share (軟體, 软件), and
``opencc:t2s`` folds characters by opencc's tables.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Literal, get_args

from groundwire.core.errors import ArchiveError, MissingExtra
from groundwire.core.numerals import flatten

Folding = Literal["", "characters", "opencc:t2s", "opencc:tw2sp"]
"""How words are folded before they are counted; empty: not at all."""
FOLDINGS: tuple[str, ...] = get_args(Folding)
DEFAULT: Folding = "characters"

Fold = Callable[[str], str]


@cache
def folder(folding: str) -> Fold:
    """The function that folds a text; a text of ASCII alone comes back untouched.

    Args:
        folding: one of ``FOLDINGS``.

    Raises:
        ArchiveError: there is no such folding.
        MissingExtra: it needs opencc, which is not installed.
    """
    if folding not in FOLDINGS:
        raise ArchiveError(f"no folding is named {folding!r}; there are {', '.join(map(repr, FOLDINGS))}")
    if not folding:
        return str
    convert = flatten if folding == DEFAULT else _opencc(folding.removeprefix("opencc:"))
    return lambda text: text if text.isascii() else convert(text)


def _opencc(rules: str) -> Fold:
    try:
        from opencc import OpenCC
    except ImportError as error:
        raise MissingExtra(f"folding words with 'opencc:{rules}'", extra="zh") from error
    convert: Fold = OpenCC(rules).convert
    return convert
