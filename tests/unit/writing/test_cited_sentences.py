"""Sentences of a reply with the ids they name: a marker belongs to its sentence, and cut JSON loses no word."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.schemas import faults
from groundwire.writing.cited_sentences import (
    CitedSentence,
    closed,
    items_of_json,
    sentence_of_json,
    sentence_schema,
    sentences_of_text,
    texts_of_json,
)

KNOWN = ("S1", "S1.1", "S1.2", "S2.1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rose. [S1.1] It fell. [S1.2]", [("It rose.", ["S1.1"], []), ("It fell.", ["S1.2"], [])]),
        ("It rose [S1.1]. It fell [S1.2].", [("It rose.", ["S1.1"], []), ("It fell.", ["S1.2"], [])]),
        ("水漲了。[S1.1]人走了。[S2.1]", [("水漲了。", ["S1.1"], []), ("人走了。", ["S2.1"], [])]),
        ("[S1.1] It rose. It fell.", [("It rose.", ["S1.1"], []), ("It fell.", [], [])]),
        ("It rose.\n[S1.2] It fell.", [("It rose.", [], []), ("It fell.", ["S1.2"], [])]),
        ("It rose [S1.1-S1.2] and [S9.9] more.", [("It rose and more.", ["S1.1", "S1.2"], ["S9.9"])]),
        ("[S1.1][S7.7]", [("", ["S1.1"], ["S7.7"])]),
        ("…", []),
        ("", []),
    ],
)
def test_a_marker_belongs_to_the_sentence_that_it_ends_or_begins(
    text: str, expected: list[tuple[str, list[str], list[str]]]
) -> None:
    found = sentences_of_text(text, known=KNOWN)

    assert [(each.text, list(each.ids), list(each.unknown)) for each in found] == expected


def test_a_sentence_of_json_takes_the_ids_of_its_list_and_of_its_text() -> None:
    found = sentence_of_json("It rose [S1.2].", ["S1.1", "S1.1", "S8.1", "nonsense"], known=KNOWN)

    assert found == CitedSentence("It rose.", ("S1.1", "S1.2"), ("S8.1", "nonsense"))


def test_a_text_of_two_sentences_becomes_two_and_what_is_empty_none() -> None:
    value = [
        {"ids": ["S1.1"], "text": "It rose. It fell."},
        {"ids": [], "text": " "},
        {"ids": ["S1.1"], "text": "…"},
        "no object",
        {"ids": "S1.1", "text": "It stood."},
    ]

    found = list(items_of_json(value, known=KNOWN))

    assert found == [
        CitedSentence("It rose.", ("S1.1",)),
        CitedSentence("It fell.", ("S1.1",)),
        CitedSentence("", ("S1.1",)),
        CitedSentence("It stood.", ("S1.1",)),
    ]
    assert list(items_of_json("a text", known=KNOWN)) == []


def test_a_schema_forces_ids_out_of_those_given_and_without_ids_takes_any() -> None:
    strict, loose = sentence_schema(("S1.1",)), sentence_schema()

    assert not faults({"ids": ("S1.1",), "text": "x"}, strict)
    assert faults({"ids": ("S1.2",), "text": "x"}, strict)
    assert faults({"ids": (), "text": "x"}, strict)
    assert not faults({"ids": (), "text": "x"}, loose)
    assert list(strict["properties"]) == ["ids", "text"]  # type: ignore[arg-type]  # the ids come first


WHOLE = json.dumps(
    {"headline": {"ids": ["S1.1"], "text": 'One "two" [three} four'}, "lede": [{"ids": ["S1.2"], "text": "five six"}]}
)


@given(st.integers(min_value=0, max_value=len(WHOLE)))
def test_json_that_is_cut_anywhere_loses_no_word(place: int) -> None:
    cut = WHOLE[:place]

    found = closed(cut)

    if found is None:
        assert not re.search(r"[}]", re.sub(r'"(?:[^"\\]|\\.)*("|\Z)', "", cut))
        return
    value = json.dumps(json.loads(found[0]), ensure_ascii=False)
    strings = [each for each in re.findall(r"[a-z]+", cut) if each not in ("ids", "text", "headline", "lede")]
    kept = f"{value} {texts_of_json(found[1])} {found[1]}"
    assert all(each in kept for each in strings)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        (', {"ids": ["S1.1"], "text": "The water ro', "S1.1 The water ro"),
        (', {"te', "te"),
        ('"a\\"b", "c\\', 'a"b c'),
        ('"\\u12', "\\u12"),
        (": ,", ""),
    ],
)
def test_the_words_of_a_piece_of_json_are_those_of_its_strings(rest: str, expected: str) -> None:
    assert texts_of_json(rest) == expected
