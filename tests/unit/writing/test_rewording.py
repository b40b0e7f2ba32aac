"""Other words for a claim come from the claim and its sources alone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.text import words
from groundwire.core.types import Article, Citation, Claim, Document, Verdict
from groundwire.writing.rewording import as_the_source, exactly_quoted, parted, shortened, with_source_values
from groundwire.writing.verify import verify


def verdict(text: str, source: str) -> Verdict:
    """Of a claim that cites the whole of a source."""
    claim = Claim("c1", text, (Citation(1, "d"),))
    return verify(Article("T", claim, (), (), ()), {"d": Document("d", source)})[0]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("The city set aside money for bridges, and the king wept.", ["The city set aside money for bridges."]),
        ("The city set aside money for bridges because the king wept!", ["The city set aside money for bridges!"]),
        ("The city set aside money for bridges - the king wept", ["The city set aside money for bridges"]),
        (
            "The city of Tainan, which wept, set aside money for bridges.",
            ["The city of Tainan set aside money for bridges."],
        ),
        (
            "市府編列五億元修繕各地橋樑，總統哭了，農民回家。",
            [
                "市府編列五億元修繕各地橋樑，總統哭了。",
                "市府編列五億元修繕各地橋樑，農民回家。",
                "市府編列五億元修繕各地橋樑。",
            ],
        ),
        (
            "The city set aside money for it. The king wept for days.",
            ["The city set aside money for it.", "The king wept for days."],
        ),
        ("After the flood in the south, the king wept.", []),  # what is left could not stand alone
        ("The town flooded, the king wept.", []),  # too few words are left
        ("The bridge of the old town fell, the mayor said.", []),  # who says it stays
        ('The mayor of Tainan said that "homes, roads, and schools" fell.', []),  # inside a quotation
        ("Rain came to all of the south at 12:30 and to 1,200 homes.", []),
        ("", []),
    ],
)  # fmt: skip
def test_clauses_are_left_out_at_their_boundaries_only(text: str, kept: list[str]) -> None:
    assert [reworded.text for reworded in shortened(text)] == kept


@given(st.text(alphabet='ab, ;.!「」，。水火"', max_size=60))
def test_what_is_left_has_no_word_that_was_not_there(text: str) -> None:
    for reworded in shortened(text):
        assert len(reworded.text) <= len(text)
        assert set("".join(words(reworded.text))) <= set("".join(words(text)))


@pytest.mark.parametrize(
    ("text", "source", "now"),
    [
        ("It flooded 1,500 homes.", "It flooded 1,200 homes.", ["It flooded 1,200 homes."]),
        ("It flooded 1,500 homes.", "It flooded 1,200 homes of 9,000 homes.", []),  # which one?
        ("It flooded 1,500 homes.", "It flooded homes.", []),
        ("Of 1,500 homes 1,500 fell.", "Of 1,200 homes some fell.", []),  # which place?
        ("大水淹沒1500戶民宅。", "The flood hit 1,200 homes.", []),  # another language
        ("It rose by 5 percent.", "It rose by 5 percentage points.", ["It rose by 5 percentage points."]),
        ("It flooded 1,200 homes.", "It flooded 1,200 homes.", []),  # nothing is wrong
    ],
)
def test_a_wrong_value_becomes_the_only_one_it_can_have_been(text: str, source: str, now: list[str]) -> None:
    assert [reworded.text for reworded in with_source_values(verdict(text, source))] == now


def test_nothing_is_taken_from_a_source_without_anything_alike() -> None:
    assert list(with_source_values(verdict("Aliens landed 3 times.", "x"))) == []
    assert list(as_the_source(verdict("Aliens landed.", "x"))) == []


@pytest.mark.parametrize(
    ("quote", "source", "now"),
    [
        ("They will rebuild it now.", 'He said: "We will rebuild it now." Then he left.', "We will rebuild it now."),
        ("We can rebuild it all now", "He said: “We will rebuild it all now, and more.”", "We will rebuild it all now"),
        ("Surely we will rebuild all of it", "Lin said we will rebuild most of it soon.", "we will rebuild most of it"),
        ("我們一定會重建所有家園", "市長說：「我們一定要重建所有的家園。」", "我們一定要重建所有的家園"),
        ("Nothing like it was ever said", "He said: “We will rebuild it all now.”", None),
    ],
)  # fmt: skip
def test_a_near_quotation_takes_the_words_of_the_source(quote: str, source: str, now: str | None) -> None:
    found = list(exactly_quoted(verdict(f'Lin said: "{quote}"', source), [source]))

    assert [reworded.text for reworded in found] == ([] if now is None else [f'Lin said: "{now}"'])


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ('"The bridge is gone for good," said Lin Wei. "The school will open again," said Lin Wei.',
         ["quoted", "quoted", "left_out", "left_out"]),
        ('"The bridge is gone for good," said Lin Wei. "The school will open again," said Chen Li.',
         ["left_out", "left_out"]),
        ('"The bridge is gone," said Lin Wei.', []),
    ],
)  # fmt: skip
def test_a_joined_quotation_is_parted_under_one_name_only(source: str, kinds: list[str]) -> None:
    found = verdict('Lin Wei said: "The bridge is gone for good, and the school will open again."', source)

    reworded = list(parted(found, [source]))

    assert [one.kind for one in reworded] == kinds
    if "quoted" in kinds:
        assert reworded[0].text == 'Lin Wei said: "The bridge is gone for good … the school will open again."'
        assert reworded[1].text == 'Lin Wei said: "The bridge is gone for good" and "the school will open again."'


def test_a_joined_chinese_quotation_has_marks_of_its_own() -> None:
    source = "林偉說：「大橋已經全部倒塌。」陳麗回家了。林偉說：「學校明天重新開放。」"
    found = verdict("林偉說：「大橋已經全部倒塌，學校明天重新開放。」", source)

    assert [one.text for one in parted(found, [source])][:2] == [
        "林偉說：「大橋已經全部倒塌……學校明天重新開放。」",
        "林偉說：「大橋已經全部倒塌」，以及「學校明天重新開放。」",
    ]


def test_a_near_copy_becomes_the_sentence_of_the_source() -> None:
    source = "The river rose by three metres\n  on Monday night. Nobody was hurt."

    (found,) = as_the_source(verdict("The river fell by three metres on Monday night.", source))

    assert found.text == "The river rose by three metres on Monday night."
