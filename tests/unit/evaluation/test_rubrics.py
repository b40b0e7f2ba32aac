from __future__ import annotations

import pytest

from groundwire.core.errors import UsageError
from groundwire.evaluation.rubrics import CCRS, CHOSEN, rubrics_named


def test_there_are_the_five_rubrics_of_the_paper_from_0_to_100() -> None:
    assert [rubric.name for rubric in CCRS] == [
        "contextual_coherence",
        "question_relevance",
        "information_density",
        "answer_correctness",
        "information_recall",
    ]
    assert {(rubric.lowest, rubric.highest) for rubric in CCRS} == {(0.0, 100.0)}
    assert all(rubric.asks.endswith("?") and "answer" in rubric.needs for rubric in CCRS)


def test_only_correctness_and_recall_need_a_reference() -> None:
    assert [rubric.name for rubric in CCRS if "reference" in rubric.needs] == [
        "answer_correctness",
        "information_recall",
    ]


def test_every_rubric_has_weights_above_zero() -> None:
    assert list(CHOSEN.weights) == [rubric.name for rubric in CCRS]
    assert all(weight > 0 for weights in CHOSEN.weights.values() for weight in weights.values())


def test_finds_rubrics_by_name_in_the_order_asked() -> None:
    assert [rubric.name for rubric in rubrics_named(["information_recall", "question_relevance"])] == [
        "information_recall",
        "question_relevance",
    ]
    assert rubrics_named([]) == ()


def test_refuses_an_unknown_name_and_a_name_twice() -> None:
    with pytest.raises(UsageError, match=r"no rubric is named 'faithfulness'\. There are: contextual_coherence"):
        rubrics_named(["faithfulness"])
    with pytest.raises(UsageError, match="asked for twice in: information_recall, information_recall"):
        rubrics_named(["information_recall", "information_recall"])
