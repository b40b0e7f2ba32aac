"""Names without a model."""

import pytest

from groundwire.core.types import Document, Span
from groundwire.writing.guards import Excerpt, Finding
from groundwire.writing.names import find_names, names_gate, same_name


def gate(claim: str, source: str, *, rest: str = "") -> tuple[Finding, ...]:
    document = Document("d", f"{source} {rest}".strip(), source="Harbour News")
    cited = Excerpt(document, Span(0, len(source)), source)
    return names_gate(claim, [cited], elsewhere=[Excerpt(document, Span(0, len(document.text)), document.text)])


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (
            "The officials had said that Senator Jeff Flake of Arizona met with Dr. Ford.",
            ["Senator Jeff Flake of Arizona", "Dr. Ford"],
        ),
        ("Profits at HSBC rose in May.", ["HSBC"]),
        ("Zorblatt said so.", ["Zorblatt"]),
        ("Officials left. However, nobody knew.", []),
        ("Storm Hits Port As Crowds Leave", []),
        ("法官卡瓦諾在馬里蘭州被指控，蔡英文總統說。", ["卡瓦諾", "馬里蘭州", "蔡英文"]),
        ("這位知名的服裝設計師 Marta Jakubowski 昨天在倫敦。", ["倫敦", "Marta Jakubowski"]),
    ],
)
def test_names_are_found_where_their_form_tells(text: str, names: list[str]) -> None:
    found = find_names(text)
    assert [name.text for name in found] == names
    assert all(text[name.span.start :].startswith(name.text) for name in found)


@pytest.mark.parametrize(
    ("claim", "source", "rest", "conflict"),
    [
        ("The prize went to Ann Marlow on Friday.", "The prize went to Jo Halvor on Friday.", "Ann Marlow left.", True),
        ("The prize went to Ann Marlow on Friday.", "The prize went to Jo Halvor on Friday.", "", True),
        ("Officials in Ostrava praised the new bridge.", "Officials praised the new bridge.", "", False),
        ("颶風週五抵達英國海岸。", "颶風週五抵達法國海岸。", "", True),
        ("颶風週五抵達梁振邦海岸。", "颶風週五抵達法國海岸。", "", False),
    ],
)
def test_a_name_that_is_not_there_or_in_anothers_place_fails(
    claim: str, source: str, rest: str, *, conflict: bool
) -> None:
    failed = [finding for finding in gate(claim, source, rest=rest) if not finding.check.passed]
    assert failed
    assert any(finding.conflict for finding in failed) is conflict


@pytest.mark.parametrize(
    ("claim", "source", "rest"),
    [
        ("The prize went to Ann Marlow.", "The prize went to her.", "Ann Marlow left."),
        ("The storm reached the UN office.", "The storm reached the United Nations office.", ""),
        ("Voters in India agreed.", "Indians agreed.", ""),
        ("Harbour News says the bridge fell.", "The bridge fell.", ""),
        ("英國海岸有颶風。", "英国海岸有飓风。", ""),
        ("英國海岸有颶風。", "A storm is near the coast.", ""),
    ],
)
def test_a_name_for_a_pronoun_an_ending_and_another_script_pass(claim: str, source: str, rest: str) -> None:
    assert all(finding.check.passed for finding in gate(claim, source, rest=rest))


def test_names_are_the_same_by_a_word_a_part_or_initials() -> None:
    def one(text: str) -> object:
        return find_names(text)[0]

    assert same_name(one("seen by Ann Marlow"), one("seen by Mrs Marlow"))  # type: ignore[arg-type]
    assert same_name(one("at the UN"), one("at the United Nations"))  # type: ignore[arg-type]
    assert not same_name(one("seen by Ann Marlow"), one("seen by Jo Halvor"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "source", "other"),
    [
        ("消火局長趙定國在記者會上鞠躬致歉。", "消防局長趙定國在記者會上鞠躬致歉。", "消防局長"),
        ("市警政局表示，已逮捕三名嫌犯並移送法辦。", "市警察局表示，已逮捕三名嫌犯並移送法辦。", "警察局"),
        ("望潮區農會調查，外港蚵架全毀。", "望潮區漁會調查，外港蚵架全毀。", "區漁會"),
    ],
)
def test_an_office_with_another_character_is_another_name(claim: str, source: str, other: str) -> None:
    failed = [found.check for found in gate(claim, source) if not found.check.passed]

    assert [check.reason for check in failed] == [f"another name: the source has {other!r} here"]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("望潮市消防局指出，道路已經恢復通行。", "望潮市消防局表示，道路已經恢復通行。"),
        ("此局表示，道路已經恢復通行。", "該局表示，道路已經恢復通行。"),
        ("經濟部長說，新廠會在明年完工並開始生產。", "經濟部長說，新廠將在明年完工並開始生產。"),
        ("衛生局長在記者會上致歉，並提出改善計畫。", "卫生局长在记者会上致歉并提出改善计划。"),
        ("局長說，道路已經恢復通行。", "處長說，道路已經恢復通行。"),
    ],
)
def test_an_office_that_is_the_same_or_not_at_hand_is_let_alone(claim: str, source: str) -> None:
    assert not [found for found in gate(claim, source) if "another name" in found.check.reason]
