"""Citations of closed ids: resolved or flagged, and no word of a draft is ever lost."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.cited_ids import read_citations, restore

FIVE = ("1", "2", "3", "4", "5")
CLOSED = ("S1.1", "S1.2", "S1.3", "S2.1", "S3.2", "S10.1")


@pytest.mark.parametrize(
    ("draft", "ids", "unknown", "words"),
    [
        # the rows of CASES C1
        ("It rose. [1][2]", ("1", "2"), (), "It rose."),
        ("It rose [1, 2].", ("1", "2"), (), "It rose."),
        ("It rose [1-3].", ("1", "2", "3"), (), "It rose."),
        ("It rose [0].", (), ("0",), "It rose."),
        ("It rose [6].", (), ("6",), "It rose."),
        ("It rose [2024].", (), (), "It rose [2024]."),
        ("It rose [2023-24].", (), (), "It rose [2023-24]."),
        ("It rose [^2].", ("2",), (), "It rose."),
        ("It rose (S3).", (), (), "It rose (S3)."),
        ("它上升了【4】。", ("4",), (), "它上升了。"),
        ("See https://made-up.example/4 for it [4].", ("4",), (), "See https://made-up.example/4 for it."),
        ("He said \"it rose [1] again\".", ("1",), (), 'He said "it rose again".'),
        ("It rose 3.5%[1].", ("1",), (), "It rose 3.5%."),
        ("It rose [1-7].", ("1", "2", "3", "4", "5"), ("6", "7"), "It rose."),
        ("It rose [3-1].", (), ("3-1",), "It rose."),
        ("It rose [1-9999].", (), ("1-9999",), "It rose."),
        ("It rose [1; 9].", ("1",), ("9",), "It rose."),
        ("It rose [1 and 2].", ("1", "2"), (), "It rose."),
        ("It rose [[1]].", ("1",), (), "It rose."),
        ("[1] It rose.", ("1",), (), " It rose."),
        ("a[1]b", ("1",), (), "a b"),
        ("他[1]說", ("1",), (), "他說"),
        ("one [1] two", ("1",), (), "one two"),
        ("one [1]two", ("1",), (), "one two"),
        ("x [ok] y [a1] [] [1.2.3]", (), (), "x [ok] y [a1] [] [1.2.3]"),
    ],
)  # fmt: skip
def test_numbers_are_resolved_or_flagged(
    draft: str, ids: tuple[str, ...], unknown: tuple[str, ...], words: str
) -> None:
    cited = read_citations(draft, known=(*FIVE, "a name that is no id"))

    assert tuple(each for marker in cited.markers for each in marker.ids) == ids
    assert cited.unknown == unknown
    assert cited.words == words
    assert restore(cited) == draft


@pytest.mark.parametrize(
    ("inside", "ids", "unknown"),
    [
        ("[S1.1]", ("S1.1",), ()),
        ("[S1.1, S3.2]", ("S1.1", "S3.2"), ()),
        ("[S1.1；S3.2]", ("S1.1", "S3.2"), ()),
        ("[s1.1]", ("S1.1",), ()),
        ("［Ｓ１．１］", ("S1.1",), ()),
        ("【S1.1、S3.2】", ("S1.1", "S3.2"), ()),
        ("(S1.1)", ("S1.1",), ()),
        ("（S1.1，S3.2）", ("S1.1", "S3.2"), ()),
        ("[S 1.1]", ("S1.1",), ()),
        ("[Source: S1.1]", ("S1.1",), ()),
        ("[來源：S1.1]", ("S1.1",), ()),
        ("[S1.1-S1.3]", ("S1.1", "S1.2", "S1.3"), ()),
        ("[S1.2–3]", ("S1.2", "S1.3"), ()),
        ("[S1.1 to S1.4]", ("S1.1", "S1.2", "S1.3"), ("S1.4",)),
        ("[S1.3-S3.2]", ("S1.3", "S2.1", "S3.2"), ()),
        ("[S3.2-S1.1]", (), ("s3.2-s1.1",)),
        ("[S1.3-S1.1]", (), ("s1.3-s1.1",)),
        ("[S1.1, 3.2]", ("S1.1", "S3.2"), ()),
        ("[S1.1 S1.1]", ("S1.1",), ()),
        ("[S9.9]", (), ("S9.9",)),
        ("[S1]", (), ("S1",)),
        ("[7]", (), ("7",)),
    ],
)
def test_ids_of_sentences_are_resolved_or_flagged(inside: str, ids: tuple[str, ...], unknown: tuple[str, ...]) -> None:
    cited = read_citations(f"It rose {inside}.", known=CLOSED)
    (marker,) = cited.markers

    assert marker.ids == ids
    assert tuple(each.lower() for each in marker.unknown) == tuple(each.lower() for each in unknown)
    assert (cited.words, marker.place, marker.text) == ("It rose.", 7, f" {inside}")
    assert restore(cited) == f"It rose {inside}."


@settings(deadline=None)  # the first call loads the table of characters
@given(
    st.lists(
        st.sampled_from(
            [
                "It rose",
                " ",
                "\n",
                "3.5%",
                "說",
                "。",
                "[S1.1]",
                "[S9.9]",
                "(S1.1)",
                "【1】",
                "[1-3]",
                "[2024]",
                "[",
                "]",
            ]
        )
        | st.text(max_size=5),
        max_size=20,
    ).map("".join)
)
def test_no_word_of_a_draft_is_lost_whatever_the_markers(draft: str) -> None:
    cited = read_citations(draft, known=(*FIVE, *CLOSED))

    assert restore(cited) == draft
    for marker in cited.markers:  # what was taken out holds nothing but brackets, ids and what joins them
        assert marker.ids or marker.unknown
        assert re.fullmatch(
            r"[\W\d_sS]*", re.sub(r"(?i)sources?|and|to|refs?|[來来]源|[和及與与至到]", "", marker.text)
        )


def test_a_long_draft_takes_no_time() -> None:
    many = (
        "[" * 20_000,
        "[1," * 5_000,
        "[1 " * 5_000,
        "(S1" * 5_000,
        " " * 20_000,
        "[" + "1 , " * 5_000,
        "[1" + " " * 20_000,
    )
    for draft in many:
        assert restore(read_citations(draft, known=CLOSED)) == draft
