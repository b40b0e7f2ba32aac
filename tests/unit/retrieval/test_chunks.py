"""ScoreRAG's chunks: nothing is lost, none is too long, and they overlap by whole pieces."""

import json
from importlib.resources import files
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.sentences import split_sentences
from groundwire.core.types import Sentence, Span
from groundwire.retrieval.chunks import CHUNK_CHARACTERS, CHUNK_OVERLAP, sentences_in, split_chunks

PIECES = st.sampled_from(
    ["字", "a", " ", "\n", "\n\n", "\r\n", "。", "」", ". ", "!", "word ", "\U0001f30a", "é", "\t"]
)


@given(st.lists(PIECES, max_size=300).map("".join), st.integers(1, 60), st.data())
def test_every_character_lies_in_a_chunk_and_no_chunk_is_too_long(text: str, size: int, data: st.DataObject) -> None:
    overlap = data.draw(st.integers(0, size - 1))
    chunks = split_chunks(text, size=size, overlap=overlap)

    held = {place for chunk in chunks for place in range(chunk.start, chunk.end)}
    assert all(place in held for place, character in enumerate(text) if not character.isspace())
    assert all(0 < chunk.end - chunk.start <= size for chunk in chunks)
    pairs = list(pairwise(chunks))
    assert all(one.start < other.start and one.end < other.end for one, other in pairs)
    assert all(one.end - other.start <= overlap for one, other in pairs)


def test_the_papers_sizes_are_the_default_and_paragraphs_come_first() -> None:
    first, second = "A" * 300 + ".", "B" * 400 + "."
    text = f"{first}\n\n{second}"
    assert (CHUNK_CHARACTERS, CHUNK_OVERLAP) == (500, 50)
    assert [text[one.start : one.end].strip() for one in split_chunks(text)] == [first, second]


@pytest.mark.parametrize("mark", ["。", "！", "？」", ". ", '." '])
def test_a_long_paragraph_is_cut_at_the_ends_of_sentences(mark: str) -> None:
    sentence = "x" * 180 + mark
    chunks = split_chunks(sentence * 5)
    assert all((sentence * 5)[one.start : one.end].rstrip().endswith(mark.strip()) for one in chunks)
    assert len(chunks) == 3


STORIES = {
    row["id"]: row["text"]
    for row in map(json.loads, (files("groundwire.sample") / "stories.jsonl").read_text(encoding="utf-8").splitlines())
}


@pytest.mark.parametrize(
    ("size", "overlap", "story", "lengths", "of_all"),
    [
        (500, 50, "battery-05", [336, 458, 391], 96),
        (120, 30, "battery-05", [50, 92, 108, 84, 77, 108, 44, 93, 14, 120, 116, 108, 84, 82], 427),
        (120, 30, "typhoon-zh-01", [79, 80, 76, 76, 66], 427),
    ],
)
def test_chunks_are_those_of_langchains_splitter_with_the_same_separators(
    size: int, overlap: int, story: str, lengths: list[int], of_all: int
) -> None:
    """The values are of RecursiveCharacterTextSplitter, langchain-text-splitters 1.1.3.

    With our patterns as separators, keep_separator="end" and strip_whitespace=False.
    """
    cut = {name: split_chunks(text, size=size, overlap=overlap) for name, text in STORIES.items()}

    assert [one.end - one.start for one in cut[story]] == lengths
    assert sum(map(len, cut.values())) == of_all


def test_a_text_without_any_separator_is_cut_between_characters() -> None:
    chunks = split_chunks("字" * 1200)
    assert [one.end - one.start for one in chunks] == [500, 500, 300]
    assert [one.start for one in chunks] == [0, 450, 900]


def test_the_last_piece_of_a_chunk_begins_the_next_where_it_is_short_enough() -> None:
    text = "\n".join(f"line {number:02d}" for number in range(40))
    chunks = split_chunks(text, size=100, overlap=20)
    assert all(0 < one.end - other.start <= 20 for one, other in pairwise(chunks))


@pytest.mark.parametrize("text", ["", " \n\n\t "])
def test_nothing_makes_no_chunk(text: str) -> None:
    assert split_chunks(text) == ()


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 10), (10, -1)])
def test_sizes_that_cannot_be_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(ValueError, match=f"size is {size}"):
        split_chunks("x", size=size, overlap=overlap)


def test_a_chunk_has_the_sentences_that_lie_in_it_with_half_of_themselves() -> None:
    text = "One short. Two is a good deal longer than one. Three."
    spans = split_sentences(text)
    sentences = [
        Sentence(f"a#{at}", "a", 0, span.start, span.end, text[span.start : span.end]) for at, span in enumerate(spans)
    ]
    assert [one.text for one in sentences_in(Span(0, 30), sentences)] == ["One short.", sentences[1].text]
    assert [one.text for one in sentences_in(Span(0, 13), sentences)] == ["One short."]
    assert [one.text for one in sentences_in(Span(20, 25), sentences)] == [sentences[1].text]
    assert sentences_in(Span(900, 950), sentences) == ()
    long = Sentence("a#9", "a", 0, 0, 1000, "x" * 1000)
    assert sentences_in(Span(990, 1200), [long]) == (long,)
