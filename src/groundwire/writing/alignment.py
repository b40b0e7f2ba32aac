"""A claim laid beside the sentence of its source that is most like it: what stayed, what was put for what.

Gates that ask which name, direction or subject was put in another's place need to know the place. English is laid out
by words, Chinese by characters (Simplified, so that both scripts compare).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property, lru_cache

from groundwire.core.numerals import flatten
from groundwire.writing.guards import stem

NEAR_COPY = 0.6
"""Share of a claim's tokens that must stand in order in a sentence before single replacements are read from it."""
MOST_TOKENS = 400
"""Longer texts are not laid beside each other: comparing is quadratic."""
_TOKEN = re.compile(r"[A-Za-z\u00c0-\u024f]+(?:['’.-][A-Za-z\u00c0-\u024f]+)*|\d+(?:[.,]\d+)*|[\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Token:
    """A word, number or Chinese character; ``key`` is what it is compared by, ``text`` as written."""

    key: str
    text: str
    start: int
    end: int

    @property
    def capital(self) -> bool:
        """Whether it is a Latin word that begins with a capital."""
        return self.text[0].isupper()


@lru_cache(maxsize=2048)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text, in order; offsets are those of the text."""
    flat = flatten(text).replace("’", "'")
    found = []
    for match in _TOKEN.finditer(flat):
        written = match.group()
        key = written if written[0] >= "\u3400" or written[0].isdecimal() else stem(written.lower().replace(".", ""))
        found.append(Token(key, written, match.start(), match.end()))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Edit:
    """Tokens of a claim that stand where a sentence has others; either side may be empty."""

    claim: tuple[Token, ...]
    source: tuple[Token, ...]
    at: int

    @property
    def replaced(self) -> bool:
        """Whether both sides say something."""
        return bool(self.claim and self.source)


@dataclass(frozen=True)
class Alignment:
    """A claim beside a sentence; ``share`` is how many of the claim's tokens stand there in order, 0 to 1."""

    claim: str
    sentence: str
    blocks: tuple[tuple[int, int, int], ...]
    share: float

    @property
    def near(self) -> bool:
        """Whether the claim is a near copy of the sentence, so that a replacement is one."""
        return self.share >= NEAR_COPY

    @cached_property
    def edits(self) -> tuple[Edit, ...]:
        """What differs, in order."""
        return tuple(self._edits())

    @cached_property
    def merged(self) -> tuple[Edit, ...]:
        """The edits, those parted by a single token taken together: two Chinese names may share a character."""
        own, others = tokens(self.claim), tokens(self.sentence)
        done: list[tuple[int, int, int, int]] = []
        one = two = 0
        for a, b, size in (*self.blocks, (len(own), len(others), 0)):
            if one < a or two < b:
                near = done and one - done[-1][1] <= 1
                first = done.pop() if near else (one, a, two, b)
                done.append((first[0], a, first[2], b))
            one, two = a + size, b + size
        return tuple(Edit(own[a:b], others[c:d], a) for a, b, c, d in done)

    def _edits(self) -> Iterator[Edit]:
        own, others = tokens(self.claim), tokens(self.sentence)
        one = two = 0
        for a, b, size in (*self.blocks, (len(own), len(others), 0)):
            if one < a or two < b:
                yield Edit(own[one:a], others[two:b], one)
            one, two = a + size, b + size


@lru_cache(maxsize=4096)
def align(claim: str, sentence: str) -> Alignment:
    """Lay a claim beside a sentence."""
    own, others = ([token.key for token in tokens(text)[:MOST_TOKENS]] for text in (claim, sentence))
    matcher = SequenceMatcher(None, own, others, autojunk=False)
    blocks = tuple((block.a, block.b, block.size) for block in matcher.get_matching_blocks() if block.size)
    return Alignment(claim, sentence, blocks, sum(size for _, _, size in blocks) / max(1, len(own)))


def nearest(claim: str, sentences: Sequence[str]) -> Alignment | None:
    """The claim beside the sentence that holds most of it in order; None where there is no sentence."""
    return max((align(claim, sentence) for sentence in sentences), key=lambda found: found.share, default=None)
