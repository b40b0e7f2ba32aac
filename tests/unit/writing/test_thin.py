"""An article on little evidence says so (CASES B1)."""

from __future__ import annotations

import pytest

from groundwire.core.types import Band, Brief, Document, Sentence
from groundwire.writing.thin import FEW_SENTENCES, thin_notes


def brief(
    name: str, *, sentences: int = FEW_SENTENCES, relevance: float | None = 80.0, band: Band | None = "high"
) -> Brief:
    found = tuple(Sentence(f"{name}{n}", name, 0, 10 * n, 10 * n + 9, "Nine char") for n in range(sentences))
    return Brief(Document(name, "x"), relevance, band, found)


LOW = brief("a", relevance=44.0, band="low")


@pytest.mark.parametrize(
    ("briefs", "independent", "notes"),
    [
        ([brief("a"), brief("b")], 2, ()),
        ([brief("a")], 1, ("rests on a single source",)),
        ([brief("a"), brief("b")], 1, ("rests on 2 sources that are versions of one story",)),
        ([brief("a", sentences=1), brief("b", sentences=2)], 2, ("rests on no more than 3 sentences of its sources",)),
        ([LOW, brief("b", relevance=25, band="trace")], 2, ("no source rates above 44 of 100",)),
        ([brief("a", relevance=None, band=None), brief("b", relevance=25, band="trace")], 2, ()),
        ([brief("a", relevance=44, band="low"), brief("b", relevance=75)], 2, ()),
        ([], 0, ()),
    ],
)  # fmt: skip
def test_thin_evidence_is_named(briefs: list[Brief], independent: int, notes: tuple[str, ...]) -> None:
    assert thin_notes(briefs, independent=independent) == notes


def test_a_sentence_that_two_briefs_share_counts_once() -> None:
    notes = thin_notes([brief("a", sentences=4), brief("a", sentences=4), brief("b", sentences=0)], independent=2)

    assert notes == ("rests on no more than 4 sentences of its sources",)


def test_notes_are_worded_in_both_chinese_scripts() -> None:
    briefs = [brief("a", sentences=2, relevance=31, band="low")]

    assert thin_notes(briefs, independent=1, language="zh-TW") == (
        "僅依據單一來源", "僅依據來源中的 2 個句子", "沒有來源的評分超過 31 分（滿分 100）",
    )  # fmt: skip
    assert thin_notes(briefs, independent=1, language="zh-CN")[0] == "仅依据单一来源"
