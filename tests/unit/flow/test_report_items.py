"""Which items a report holds in full."""

import numpy as np
import pytest

from groundwire.core.types import Item, Judgement
from groundwire.evaluation.compare import compare
from groundwire.evaluation.comparisons import Options
from groundwire.evaluation.joins import Joined
from groundwire.flow import report_items
from groundwire.flow.comparing import Compared
from groundwire.flow.report_items import choose_items, widest_gaps


def made(n: int, *, contexts: bool = True, answers: bool = True) -> Compared:
    judgements = tuple(
        Judgement(f"q{i:04}", system, "f1", float(50 + i % 3 + shift), "read", "j")
        for system, shift in (("a", 0), ("b", 2)) for i in range(n)
    )  # fmt: skip
    items = tuple(
        Item(f"q{i:04}", "Why?", ("same",) if contexts else (system,), "Because. " * 10, {"a": None}.get(system, "R"),
             system)
        for system in "ab" for i in range(n)
    ) if answers else ()  # fmt: skip
    comparison = compare(judgements[:3] + judgements[n : n + 3], options=Options(permutations=20, resamples=20))
    return Compared(comparison, items, judgements, (), {}, None, None, ())


def test_the_widest_gaps_come_first_then_by_id_and_ties_never() -> None:
    values = np.array([[1.0, 1], [5, 2], [0, 3], [9, 1], [4, 4], [2, 3], [6, 1], [8, 1]])
    table = Joined("f1", "j", ("a", "b"), tuple(f"q{i}" for i in range(8)), values, (), ())

    found = widest_gaps(table, one="a", other="b")

    assert [gap.item for gap in found] == ["q3", "q7", "q6", "q1", "q2"]
    assert (found[0].one, found[0].other) == (9, 1)
    assert [gap.one for gap in widest_gaps(table, one="b", other="a")][:2] == [1, 1]
    even = Joined("f1", "j", ("a", "b"), ("q0", "q1"), np.ones((2, 2)), (), ())
    assert widest_gaps(even, one="a", other="b") == ()


def test_all_items_are_held_where_they_fit() -> None:
    chosen = choose_items(made(20), ["q0007"], seed=0)
    assert [view.id for view in chosen.views] == [f"q{i:04}" for i in range(20)]
    assert chosen.total == 20
    assert len(set(chosen.anchors.values())) == 20


def test_of_many_items_the_wanted_are_held_and_others_drawn_by_the_seed() -> None:
    found = made(1000)
    chosen = choose_items(found, ["q0999", "q0500"], seed=1)

    assert len(chosen.views) == report_items.MOST_ITEMS
    assert {"q0999", "q0500"} <= set(chosen.anchors)
    assert choose_items(found, [], seed=1).anchors == choose_items(found, [], seed=1).anchors
    assert choose_items(found, [], seed=1).anchors != choose_items(found, [], seed=2).anchors


def test_the_bytes_are_bounded_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_items, "MOST_BYTES", 10_000)
    chosen = choose_items(made(100), ["q0099"], seed=0)
    assert 0 < len(chosen.views) < 30
    assert "q0099" in chosen.anchors


def test_contexts_that_all_systems_share_are_held_once() -> None:
    shared, own = (choose_items(made(3, contexts=same), [], seed=0).views[0] for same in (True, False))
    assert (shared.shared, shared.contexts) == (True, ("same",))
    assert (own.shared, own.contexts) == (False, ())
    assert shared.reference == "R"
    assert [answer.system for answer in shared.answers] == ["a", "b"]


def test_values_without_answers_make_views_too() -> None:
    view = choose_items(made(3, answers=False), [], seed=0).views[0]
    assert view.question == ""
    assert [answer.item for answer in view.answers] == [None, None]
    assert view.answers[0].judgements[0].value == 50
