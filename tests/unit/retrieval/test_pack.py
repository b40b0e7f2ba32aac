"""Packing hits under a budget."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.errors import UsageError
from groundwire.core.types import Document, Evidence, Hit, Sentence
from groundwire.retrieval.pack import PackSettings, pack


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


DAY = date(2024, 5, 6)


def document(
    name: str, *, title: str = "", source: str = "", text: str = "", published: date | None = None
) -> Document:
    return Document(name, text, title=title, source=source, published=published)


def kept_ranks(evidence: Evidence) -> list[int]:
    return sorted(kept.rank for kept in evidence.hits)


def reasons(evidence: Evidence) -> dict[int, str]:
    return {dropped.hit.rank: dropped.reason for dropped in evidence.dropped}


@pytest.mark.parametrize(
    ("again", "reason"),
    [
        ("The river rose by 3 metres on Monday night.", "nearly the same words as the hit of rank 1 (overlap 0.89,"),
        ("The river rose by 4 metres on Monday.", ""),
        ("The river fell far behind on some other day by 3.", ""),
        ("The river rose by 3 metres on Monday!", "nearly the same words as the hit of rank 1 (overlap 1.00,"),
    ],
)
def test_nearly_the_same_words_are_taken_once_unless_a_number_differs(again: str, reason: str) -> None:
    hits = [hit(1, "a", 0, "The river rose by 3 metres on Monday."), hit(2, "b", 0, again)]

    evidence = pack(hits, budget_tokens=999, settings=PackSettings(near_duplicates=0.8))

    assert reasons(evidence).get(2, "").startswith(reason)
    assert bool(reasons(evidence)) == bool(reason)
    assert len(pack(hits, budget_tokens=999).hits) == 2


def test_sentences_without_a_word_are_no_near_duplicates() -> None:
    hits = [hit(1, "a", 0, "?!"), hit(2, "b", 0, "!!")]

    assert len(pack(hits, budget_tokens=99, settings=PackSettings(near_duplicates=0.5)).hits) == 2


def test_a_cap_of_a_source_lets_others_go_first_and_yields_when_there_is_room() -> None:
    documents = {name: document(name, source=source) for name, source in (("a", "CNA"), ("b", "CNA"), ("c", "BBC"))}
    hits = [hit(1, "a", 0, "one1"), hit(2, "b", 0, "two2"), hit(3, "a", 9, "six6"), hit(4, "c", 0, "ten10")]
    options = PackSettings(per_source=1)

    tight = pack(hits, budget_tokens=9, count=letters, settings=options, documents=documents)
    wide = pack(hits, budget_tokens=99, count=letters, settings=options, documents=documents)

    assert kept_ranks(tight) == [1, 4]
    assert kept_ranks(pack(hits, budget_tokens=9, count=letters)) == [1, 2]
    late = "the cap of 1 for the source 'CNA' was reached; then 4 tokens do not fit into the 0 left of 9"
    assert reasons(tight) == {2: late, 3: late}
    assert kept_ranks(wide) == [1, 2, 3, 4]


def test_documents_without_a_source_or_unknown_ones_count_by_themselves() -> None:
    hits = [hit(1, "a", 0, "one1"), hit(2, "b", 0, "two2"), hit(3, "c", 0, "six6")]

    evidence = pack(
        hits, budget_tokens=8, count=letters, settings=PackSettings(per_source=1), documents={"a": document("a")}
    )

    assert kept_ranks(evidence) == [1, 2]


STORY = (
    "The river rose by 3 metres on Monday night and the old bridge in the harbour district was closed to all traffic, "
    "the city government said. Two hundred people spent the night in schools. The mayor asked for more pumps and boats."
)
OTHER = (
    "A report of our own: residents near the harbour told this newspaper that they had waited for hours before anyone "
    "came, and that the bridge had been closed long before the city government said so in public."
)


def test_a_cap_of_a_story_counts_all_its_versions() -> None:
    documents = {
        "a": document("a", source="CNA", text=STORY),
        "b": document("b", source="BBC", text="By our reporter. " + STORY),
        "c": document("c", source="DPA", text=OTHER),
    }
    hits = [hit(1, "a", 0, "one1"), hit(2, "b", 0, "two2"), hit(3, "c", 0, "six6")]

    evidence = pack(hits, budget_tokens=8, count=letters, settings=PackSettings(per_story=1), documents=documents)

    assert kept_ranks(evidence) == [1, 3]
    assert reasons(evidence)[2].startswith("the cap of 1 for the story 'a' was reached; then")


def test_headers_are_paid_for_once_a_document() -> None:
    documents = {"a": document("a", title="Flood", published=DAY), "b": document("b"), "c": document("c", title="Rain")}
    hits = [hit(1, "a", 0, "aaaa"), hit(2, "a", 9, "bb"), hit(3, "b", 0, "cc"), hit(4, "c", 0, "dd")]
    options = PackSettings(headers=True)

    evidence = pack(hits, budget_tokens=32, count=letters, settings=options, documents=documents)
    tight = pack(hits, budget_tokens=31, count=letters, settings=options, documents=documents)

    assert evidence.headers == (("a", "Flood (2024-05-06)"), ("c", "Rain"))
    assert evidence.tokens == len("Flood (2024-05-06)" + "aaaa" + "bb" + "cc" + "Rain" + "dd") == 32
    assert tight.headers == evidence.headers[:1]
    assert reasons(tight) == {4: "6 tokens do not fit into the 5 left of 31"}


LINES = [Sentence(f"a@{n}", "a", 0, 10 * n, 10 * n + 4, f"s{n:03}") for n in range(9)]


def line_hit(rank: int, number: int) -> Hit:
    return Hit(LINES[number], rank, 1 / rank, 0.5)


def numbers(evidence: Evidence) -> list[int]:
    return [kept.sentence.start // 10 for kept in evidence.hits]


@pytest.mark.parametrize(
    ("budget", "neighbours", "expected"),
    [(31, 1, [1, 5, 8]), (32, 0, [1, 5, 8]), (32, 1, [0, 1, 2, 4, 5, 6, 7, 8]), (33, 2, [0, 1, 2, 3, 4, 5, 6, 7])],
)
def test_neighbours_come_along_where_the_budget_holds_eight_sentences(
    budget: int, neighbours: int, expected: list[int]
) -> None:
    hits = [line_hit(1, 5), line_hit(2, 1), line_hit(3, 8)]

    evidence = pack(
        hits, budget_tokens=budget, count=letters, settings=PackSettings(neighbours=neighbours), sentences={"a": LINES}
    )

    assert numbers(evidence) == expected
    assert evidence.tokens == 4 * len(expected) <= budget


def test_a_hit_that_came_as_a_neighbour_stands_in_its_own_right() -> None:
    hits = [line_hit(1, 5), line_hit(2, 6), line_hit(3, 0)]

    evidence = pack(hits, budget_tokens=99, count=letters, settings=PackSettings(neighbours=1), sentences={"a": LINES})

    assert numbers(evidence) == [0, 1, 4, 5, 6, 7]
    assert [kept.rank for kept in evidence.hits] == [3, 3, 1, 1, 2, 2]
    assert [kept.similarity for kept in evidence.hits] == [0.5, None, None, 0.5, 0.5, None]
    assert evidence.dropped == ()


def test_a_hit_whose_document_is_not_known_has_no_neighbours() -> None:
    options = PackSettings(neighbours=1)

    assert numbers(pack([line_hit(1, 5)], budget_tokens=99, settings=options)) == [5]
    assert numbers(pack([line_hit(1, 5)], budget_tokens=99, settings=options, sentences={"a": LINES[:3]})) == [5]
    assert pack([], budget_tokens=9, settings=options).hits == ()


@given(
    st.lists(st.tuples(st.integers(0, 3), st.text("ab1 ", min_size=1, max_size=12)), max_size=15),
    st.integers(1, 60),
    st.integers(0, 2),
    st.sampled_from([None, 0.5, 1.0]),
    st.sampled_from([None, 1, 2]),
)
def test_whatever_the_settings_every_hit_is_kept_or_dropped_and_the_budget_holds(
    drawn: list[tuple[int, str]], budget: int, neighbours: int, near: float | None, cap: int | None
) -> None:
    hits = [hit(rank, f"d{name}", 20 * rank, text) for rank, (name, text) in enumerate(drawn, start=1)]
    documents = {
        f"d{number}": document(f"d{number}", title="T" * number, source="x" * (number % 2)) for number in range(4)
    }
    own = {name: [one.sentence for one in hits if one.sentence.document_id == name] for name in documents}
    options = PackSettings(neighbours, headers=True, near_duplicates=near, per_source=cap, per_story=cap)

    evidence = pack(hits, budget_tokens=budget, count=letters, settings=options, documents=documents, sentences=own)

    kept, dropped = [one.sentence.id for one in evidence.hits], [one.hit.sentence.id for one in evidence.dropped]
    assert sorted([*kept, *dropped]) == sorted(one.sentence.id for one in hits)
    heads = sum(len(text) for _, text in evidence.headers)
    assert evidence.tokens == sum(len(one.sentence.text) for one in evidence.hits) + heads <= budget
    assert [name for name, _ in evidence.headers] == [
        name for name in dict.fromkeys(one.sentence.document_id for one in evidence.hits) if name != "d0"
    ]


@pytest.mark.parametrize(
    ("option", "named"),
    [
        ({"neighbours": -1}, "neighbours is -1"),
        ({"near_duplicates": 0.0}, "near_duplicates is 0.0"),
        ({"near_duplicates": 1.1}, "near_duplicates is 1.1"),
        ({"per_source": 0}, "per_source is 0"),
        ({"per_story": 0}, "per_story is 0"),
    ],
)
def test_a_way_to_pack_that_is_out_of_range_is_refused_by_name(option: dict[str, object], named: str) -> None:
    with pytest.raises(UsageError, match=named):
        PackSettings(**option)


def test_the_evidence_names_what_counted() -> None:
    assert pack([], budget_tokens=1).tokenizer == "estimate"
    assert pack([], budget_tokens=1, settings=PackSettings(tokenizer="local:tiny")).tokenizer == "local:tiny"
