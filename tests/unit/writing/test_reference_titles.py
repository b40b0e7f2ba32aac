"""Citations by number and title: the title goes with its marker, another's title is flagged and stays."""

import pytest

from groundwire.writing.reference_titles import numbers_first, titles_behind

TITLES = {"1": "颱風淹城", "2": "The bell comes home", "3": ""}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("水漲了[1]【颱風淹城】。", "水漲了[1]。"),
        ("水漲了[1]《颱風淹城》。", "水漲了[1]。"),
        ("水漲了【1】〈颱風淹城〉。", "水漲了【1】。"),
        ("水漲了(1)「颱風淹城」。", "水漲了(1)。"),
        ("It rang [2] “The Bell comes home”.", "It rang [2]."),
        ('It rang [2] "The bell comes home".', "It rang [2]."),
        ("水漲了[1]【別的書】。", "水漲了[1]【別的書】。"),
        ("他說「颱風淹城」。", "他說「颱風淹城」。"),
    ],
)
def test_a_title_behind_its_number_is_part_of_the_marker(text: str, expected: str) -> None:
    assert titles_behind(text, TITLES) == (expected, [])


def test_a_number_with_the_title_of_another_source_is_flagged_and_the_title_stays() -> None:
    text, notes = titles_behind("水漲了[2]【颱風淹城】。", TITLES)

    assert text == "水漲了[2]【颱風淹城】。"
    assert notes == ["cites [2] with the title of source 1: 颱風淹城"]


def test_a_number_that_was_not_given_is_no_marker_of_a_title_in_round_brackets() -> None:
    assert titles_behind("水漲了(77)「颱風淹城」。", TITLES) == ("水漲了(77)「颱風淹城」。", [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("水漲了[1：颱風淹城]。", "水漲了[1]【颱風淹城】。"),
        ("水漲了【1. 颱風淹城】。", "水漲了[1]【颱風淹城】。"),
        ("It rang (2, The bell comes home).", "It rang [2]【The bell comes home】."),
        ("It rang [2, 3].", "It rang [2, 3]."),
        ("It rang (2, or so).", "It rang (2, or so)."),
    ],
)
def test_number_and_title_in_one_bracket_are_parted_where_the_title_is_known(text: str, expected: str) -> None:
    assert numbers_first(text, TITLES) == expected
