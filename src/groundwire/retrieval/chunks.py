"""Texts cut into chunks of so many characters, as ScoreRAG cuts them, and the sentences that lie in a chunk.

The cut is the recursive one: at the coarsest separators that a text has, else at finer ones where a piece is still too
long. Separators stay at the end of what they close, so that nothing is lost and offsets are those of the text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from groundwire.core.types import Sentence, Span

CHUNK_CHARACTERS = 500
"""The longest chunk, in code points (ScoreRAG, arXiv:2506.03704)."""

CHUNK_OVERLAP = 50
"""The most characters that a chunk shares with the one before it (ScoreRAG, arXiv:2506.03704)."""

CUT = "recursive+1"
"""Name and version of the cut; a change of it makes other chunks."""

# Paragraph, line, sentence, space, character.
_SEPARATORS = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (r"\n[^\S\n]*\n", r"\n", r"[。！？]+[」』”’）]*|[.!?]+[\"'”’)\]]*\s", r"\s", r".")
)


def split_chunks(text: str, *, size: int = CHUNK_CHARACTERS, overlap: int = CHUNK_OVERLAP) -> tuple[Span, ...]:
    """Cut a text into chunks.

    Args:
        text: any text; the offsets of the spans are code points into it.
        size: the longest chunk; 1 and up.
        overlap: the most that a chunk repeats of the one before it, in whole pieces; 0 and up, less than ``size``.

    Returns:
        Spans in order, both ends rising. Every character that is not white space lies in one; blank chunks are left
        out.

    Raises:
        ValueError: size or overlap is out of range.
    """
    if size < 1 or not 0 <= overlap < size:
        raise ValueError(f"size is {size} and overlap {overlap}; size must be 1 or more, overlap 0 up to size - 1")
    spans = _split(text, Span(0, len(text)), separators=_SEPARATORS, size=size, overlap=overlap)
    return tuple(span for span in spans if text[span.start : span.end].strip())


def sentences_in(chunk: Span, sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
    """The sentences of a document that lie in one of its chunks: with half of themselves, or over half of the chunk.

    Where none does, the one that shares most with it, the first of equals; none where all lie outside.
    """
    shared = {
        sentence: min(sentence.end, chunk.end) - max(sentence.start, chunk.start)
        for sentence in sentences
        if sentence.start < chunk.end and chunk.start < sentence.end
    }
    length = chunk.end - chunk.start
    inside = tuple(
        sentence for sentence, common in shared.items() if 2 * common >= min(sentence.end - sentence.start, length)
    )
    return inside or tuple(sorted(shared, key=lambda sentence: (-shared[sentence], sentence.start))[:1])


def _split(text: str, span: Span, *, separators: Sequence[re.Pattern[str]], size: int, overlap: int) -> Iterator[Span]:
    """Chunks of a part of a text; the last separator fits every character, so that an end is always found."""
    found, *finer = _from_the_first_that_fits(text, span, separators)
    waiting: list[Span] = []
    for piece in _pieces(text, span, separator=found):
        if piece.end - piece.start <= size:
            waiting.append(piece)
            continue
        yield from _merged(waiting, size=size, overlap=overlap)
        waiting = []
        yield from _split(text, piece, separators=finer, size=size, overlap=overlap)
    yield from _merged(waiting, size=size, overlap=overlap)


def _from_the_first_that_fits(
    text: str, span: Span, separators: Sequence[re.Pattern[str]]
) -> Sequence[re.Pattern[str]]:
    place = next((place for place, one in enumerate(separators) if one.search(text, span.start, span.end)), -1)
    return separators[place:]


def _pieces(text: str, span: Span, *, separator: re.Pattern[str]) -> Iterator[Span]:
    """What lies between separators, each with the one that closes it."""
    ends = [found.end() for found in separator.finditer(text, span.start, span.end)]
    for start, end in pairwise(dict.fromkeys((span.start, *ends, span.end))):
        yield Span(start, end)


def _merged(pieces: Iterable[Span], *, size: int, overlap: int) -> Iterator[Span]:
    """Neighbouring pieces put together up to the size; the last of a chunk begin the next one, where they fit."""
    held: deque[Span] = deque()
    for piece in pieces:
        if held and piece.end - held[0].start > size:
            yield Span(held[0].start, held[-1].end)
            while held and (held[-1].end - held[0].start > overlap or piece.end - held[0].start > size):
                held.popleft()
        held.append(piece)
    if held:
        yield Span(held[0].start, held[-1].end)
