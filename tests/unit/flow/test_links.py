from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.flow.links import is_link, link_to, without_fragment

LONG = "The council met on Monday and said that it would not pay for the bridge, which nobody had asked for."


@pytest.mark.parametrize(
    ("cited", "fragment"),
    [
        ("a-b, c & d", "a%2Db%2C%20c%20%26%20d"),
        (LONG, "The%20council%20met%20on%20Monday,which%20nobody%20had%20asked%20for."),
        ("first line\nlast line", "first%20line,last%20line"),
        ("颱風登陸，水位上升。", quote("颱風登陸，水位上升。")),
        ("颱風週五登陸，" + "水" * 60 + "。市府宣布停課。", f"{quote('颱風週五登陸，')},{quote('市府宣布停課。')}"),
        ("水" * 80, quote("水" * 80)),
        ("a" * 40 + " " + "b" * 40, "a" * 40 + "%20" + "b" * 40),
    ],
)
def test_a_link_opens_at_the_words_cited(cited: str, fragment: str) -> None:
    assert link_to("https://a.example/x", [cited]) == f"https://a.example/x#:~:text={fragment}"


@pytest.mark.parametrize(
    ("before", "prefix"),
    [
        ("Rain fell. It is shut. Noon came. ", "shut.%20Noon%20came.-,"),
        ("橋封閉。市長視察學校。", quote("市長視察學校。") + "-,"),
        ("市長視察", quote("市長視察") + "-,"),
        ("水" * 70, ""),
        ("", ""),
    ],
)
def test_what_stands_before_is_named_as_whole_words_or_not_at_all(before: str, prefix: str) -> None:
    assert link_to("https://a.example", ["x"], before=before) == f"https://a.example#:~:text={prefix}x"


def test_four_places_at_most_are_named_and_a_fragment_of_its_own_stays() -> None:
    link = link_to("https://a.example/x#top", ["a", " ", "b", "c", "d", "e"])

    assert link == "https://a.example/x#top:~:text=a&text=b&text=c&text=d"
    assert link_to("https://a.example/#:~:text=z", ["a"]) == "https://a.example/#:~:text=z"
    assert link_to("javascript:alert(1)", ["a"]) == ""


@given(st.from_regex(r"https://a\.example/[a-z/?=&%-]{0,9}(#[a-z]{1,5})?", fullmatch=True), st.text(max_size=90))
def test_the_address_comes_back_whatever_was_cited(url: str, cited: str) -> None:
    link = link_to(url, [cited])

    assert is_link(link)
    assert without_fragment(link) == url
