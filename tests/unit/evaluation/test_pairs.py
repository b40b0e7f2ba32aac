"""Rows of labelled pairs: taken whole, or rejected with the reason."""

import json
from datetime import date
from pathlib import Path

import pytest

from groundwire.core.errors import UnreadableInput
from groundwire.core.types import Document
from groundwire.evaluation.pairs import read_pairs

SHELF = {"d1": Document("d1", "The river rose.", title="River")}


def read(*rows: object) -> object:
    return read_pairs([row if isinstance(row, str) else json.dumps(row) for row in rows], documents=SHELF.get)


def test_a_pair_brings_its_article_or_names_a_document() -> None:
    found = read(
        {"id": "a", "topic": "floods", "article": "It rained.", "title": "Rain", "published": "2024-05-31",
         "language": "en", "relevant": 1},
        "",
        {"topic": "floods", "document": "d1", "relevant": 0.5, "cluster": "c"},
    )  # fmt: skip

    first, second = found.pairs
    assert first.document == Document("a", "It rained.", title="Rain", published=date(2024, 5, 31), language="en")
    assert (first.relevant, first.cluster) == (1, "floods")
    assert (second.id, second.document.id, second.document.text) == ("line 3", "line 3", "The river rose.")
    assert (second.relevant, second.cluster) == (0.5, "c")
    assert (found.rows, found.rejects) == (2, ())


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"article": "x", "relevant": 1}, "there is no topic"),
        ({"topic": "t", "relevant": 1}, "one of the two"),
        ({"topic": "t", "article": "x", "document": "d1", "relevant": 1}, "one of the two"),
        ({"topic": "t", "document": "gone", "relevant": 1}, "'gone' is not in the archive"),
        ({"topic": "t", "article": "x"}, "relevant is no number"),
        ({"topic": "t", "article": "x", "relevant": "yes"}, "relevant is no number"),
        ({"topic": "t", "article": "x", "relevant": [1]}, "relevant is no number"),
        ({"topic": ["t"], "article": "x", "relevant": 1}, "the topic is a list"),
        ({"topic": "t", "article": "x", "published": "5/6/2024", "relevant": 1}, "not a day"),
        ("{", "not JSON"),
        ("3", "not an object"),
    ],
)
def test_a_row_that_is_no_pair_is_rejected_with_its_reason(row: object, reason: str) -> None:
    found = read(row)

    assert found.pairs == ()
    assert reason in found.rejects[0].reason


def test_truth_values_are_labels_and_an_id_counts_once() -> None:
    rows = [{"id": "a", "topic": "t", "article": "x", "relevant": label} for label in (True, False)]

    found = read(*rows)

    assert [pair.relevant for pair in found.pairs] == [1]
    assert found.rejects[0].reason == "the id 'a' was already read on line 1"


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UnreadableInput, match=r"none\.jsonl is not there"):
        read_pairs(tmp_path / "none.jsonl", documents=SHELF.get)
