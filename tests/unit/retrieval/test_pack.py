"""Packing hits under a budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Hit, Sentence
from groundwire.retrieval.pack import pack


def hit(rank: int, document: str, start: int, text: str) -> Hit:
    return Hit(Sentence(f"{document}@{start}", document, 0, start, start + len(text), text), rank, 1 / rank)


def letters(text: str) -> int:
    return len(text)


def test_skips_what_does_not_fit_and_goes_on() -> None:
    hits = [hit(1, "a", 0, "aaaa"), hit(2, "a", 9, "b" * 9), hit(3, "a", 20, "cc")]

    evidence = pack(hits, budget_tokens=6, count=letters)

    assert [kept.rank for kept in evidence.hits] == [1, 3]
    assert (evidence.tokens, evidence.budget) == (6, 6)
    assert evidence.dropped[0].hit.rank == 2
    assert evidence.dropped[0].reason == "9 tokens do not fit into the 2 left of 6"


def test_restores_the_source_order_and_keeps_the_order_of_documents() -> None:
    hits = [hit(1, "b", 50, "one"), hit(2, "a", 0, "two"), hit(3, "b", 10, "three")]

    evidence = pack(hits, budget_tokens=100, count=letters)

    assert [(kept.sentence.document_id, kept.sentence.start) for kept in evidence.hits] == [
        ("b", 10),
        ("b", 50),
        ("a", 0),
    ]


@pytest.mark.parametrize("again", ["The river rose.", "the  river\nROSE."])
def test_the_same_words_are_taken_once_and_the_reason_names_the_first(again: str) -> None:
    evidence = pack([hit(1, "a", 0, "The river rose."), hit(2, "b", 0, again)], budget_tokens=100)

    assert len(evidence.hits) == 1
    assert evidence.dropped[0].reason == "same words as the hit of rank 1"


def test_a_budget_below_one_is_refused() -> None:
    with pytest.raises(UsageError, match="budget_tokens is 0"):
        pack([], budget_tokens=0)


@given(st.lists(st.text("ab", min_size=1, max_size=12), max_size=20), st.integers(1, 40))
def test_every_hit_is_kept_or_dropped_with_a_reason_and_the_budget_holds(texts: list[str], budget: int) -> None:
    hits = [hit(rank, f"d{rank % 3}", rank, text) for rank, text in enumerate(texts, start=1)]

    evidence = pack(hits, budget_tokens=budget, count=letters)

    ranks = [kept.rank for kept in evidence.hits] + [dropped.hit.rank for dropped in evidence.dropped]
    assert sorted(ranks) == [item.rank for item in hits]
    assert evidence.tokens == sum(len(kept.sentence.text) for kept in evidence.hits) <= budget
    assert all(dropped.reason for dropped in evidence.dropped)
