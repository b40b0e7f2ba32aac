"""Whether evidence holds an answer."""

import pytest

from groundwire.core.types import Evidence, Gold, Hit, Sentence
from groundwire.evaluation.evidence import answer_in_context, gold_in_context

TEXT = "The river rose by 3.5 metres. The mayor, Ms Lin, left. 颱風淹沒了港口。"


def evidence(*spans: tuple[str, int, int], text: str = TEXT) -> Evidence:
    sentences = [Sentence(f"{name}{start}", name, 0, start, end, text[start:end]) for name, start, end in spans]
    return Evidence(tuple(Hit(one, rank, 1.0) for rank, one in enumerate(sentences, start=1)), 9, 9)


FIRST, SECOND, THIRD = ("a", 0, 29), ("a", 30, 54), ("a", 55, 63)


@pytest.mark.parametrize(
    ("spans", "gold", "expected"),
    [
        ([FIRST], ["3.5 metres"], 1),
        ([FIRST], ["THE 3.5 Metres!"], 1),
        ([FIRST], ["5 metres"], 0),
        ([FIRST], ["metre"], 0),
        ([SECOND], ["mayor Ms Lin"], 1),
        ([SECOND], ["3.5 metres"], 0),
        ([SECOND], ["3.5 metres", "Lin"], 1),
        ([SECOND, FIRST], ["metres. The mayor"], 1),
        ([FIRST, ("b", 30, 54)], ["metres. The mayor"], 0),
        ([THIRD], ["港口"], 1),
        ([THIRD], ["海港"], 0),
        ([], ["港口"], 0),
    ],
)
def test_an_answer_must_stand_in_the_sentences_of_one_document(
    spans: list[tuple[str, int, int]], gold: list[str], expected: int
) -> None:
    assert answer_in_context(evidence(*spans), gold) == expected


@pytest.mark.parametrize(
    ("spans", "place", "expected"),
    [
        ([FIRST], (18, 28), 1),
        ([FIRST], (0, 29), 1),
        ([FIRST], (18, 34), 0),
        ([SECOND, FIRST], (18, 34), 1),
        ([FIRST, THIRD], (18, 60), 0),
        ([SECOND], (29, 34), 0),
        ([SECOND], (18, 28), 0),
        ([("b", 0, 29)], (18, 28), 0),
        ([FIRST, SECOND, THIRD], (18, 63), 1),
    ],
)
def test_a_place_must_be_covered_by_sentences_that_follow_each_other(
    spans: list[tuple[str, int, int]], place: tuple[int, int], expected: int
) -> None:
    assert answer_in_context(evidence(*spans), [Gold("a", *place)]) == expected


@pytest.mark.parametrize(
    ("gold", "said"),
    [
        ([], "no gold answer"),
        (["river", "?!"], "has no word or number"),
        ([Gold("a")], "runs from None to None"),
        ([Gold("a", 5, 5)], "runs from 5 to 5"),
    ],
)
def test_gold_that_cannot_be_looked_for_is_refused(gold: list[str | Gold], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        answer_in_context(evidence(FIRST), gold)


@pytest.mark.parametrize(
    ("spans", "places", "expected"),
    [
        ([FIRST], [(18, 28)], 1),
        ([FIRST], [(18, 28), (30, 34)], 0.5),
        ([FIRST, THIRD], [(18, 28), (30, 34), (55, 57)], 2 / 3),
        ([], [(18, 28)], 0),
    ],
)
def test_the_share_of_the_places_that_are_covered(
    spans: list[tuple[str, int, int]], places: list[tuple[int, int]], expected: float
) -> None:
    assert gold_in_context(evidence(*spans), [Gold("a", *place) for place in places]) == expected


def test_a_share_of_no_places_is_refused() -> None:
    with pytest.raises(ValueError, match="no gold answer"):
        gold_in_context(evidence(FIRST), [])
