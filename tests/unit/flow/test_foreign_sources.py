"""Entries of somebody's list of sources and the documents they stand for."""

import pytest

from groundwire.core.types import Document
from groundwire.flow.foreign_sources import address, match_sources, numbered

DOCUMENTS = (
    Document("k1", "x", title="Flood", url="https://www.example.org/a?id=7&utm_source=mail", origin="/s/03 flood.md"),
    Document("k2", "x", title="Flood in Tainan", url="http://example.org/b/", origin="/s/two.jsonl:12"),
    Document("k3", "x", title="台南淹水", origin="/s/report7.txt"),
    Document("k4", "x", title="", origin="/s/report7b.txt"),
    Document("k5", "x", title="Twins", origin="/s/p.txt"),
    Document("k6", "x", title="Twins", origin="/s/q.txt"),
)


@pytest.mark.parametrize(
    ("number", "entry", "expected", "why"),
    [
        (1, "See https://example.org/a?id=7.", "k1", "by its address"),
        (1, "<http://m.example.org/b#top>", "k2", "by its address"),
        (1, "Flood in Tainan, Example News", "k2", "by its title"),
        (1, "**Flood**, Example News", "k1", "by its title"),
        (1, "《台南淹水》，中央社", "k3", "by its title"),
        (1, "two.jsonl", "k2", "by the name of its file"),
        (1, "report7b", "k4", "by the name of its file"),
        (1, "our k5", "k5", "by its id"),
        (3, "an old clipping", "k1", "by the number in the name of its file"),
    ],
)
def test_an_entry_names_its_document(number: int, entry: str, expected: str, why: str) -> None:
    found = match_sources({str(number): entry}, {str(number): number}, documents=DOCUMENTS)
    assert found.documents == {number: expected}
    assert found.told[0].endswith(why)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("Twins, by two authors", "2 of the sources fit its title in the list: 'Twins, by two authors'"),
        ("something else", "none of the sources given is this one of the list: 'something else'"),
    ],
)
def test_what_fits_none_or_several_is_said(entry: str, why: str) -> None:
    found = match_sources({"1": entry}, {"1": 1}, documents=DOCUMENTS)
    assert (found.documents, found.missing) == ({}, {1: why})


def test_footnotes_with_names_get_the_numbers_that_are_free() -> None:
    assert list(numbered({"a": "", "1": "", "b": "", "3": ""})) == [(2, "a"), (1, "1"), (4, "b"), (3, "3")]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.example.org/a/", "http://example.org/a"),
        ("https://example.org/a?utm_source=x&utm_medium=y", "https://example.org/a"),
        ("https://example.org/a?utm_source=x&id=1", "https://example.org/a?id=1"),
        ("https://Example.org/a#part", "https://example.org/a,"),
    ],
)
def test_addresses_are_compared_without_what_does_not_matter(one: str, other: str) -> None:
    assert address(one) == address(other)
    assert address(one) != address("https://example.org/b")
