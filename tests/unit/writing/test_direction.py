"""What turns a statement round: directions and negations."""

import pytest

from groundwire.writing.direction import direction_gate, negation_gate

TURNED = [
    ("Exports fell 5 percent in May.", "Exports rose 5 percent in May.", "rose"),
    (
        "The council rejected the harbour plan on Monday.",
        "The council approved the harbour plan on Monday.",
        "approved",
    ),
    ("Northfield lost the final in Oslo.", "Northfield won the final in Oslo.", "won"),
    ("財政部表示，五月出口減少5%。", "財政部表示，五月出口增加5%。", "增加"),
    ("财政部表示，五月出口下降5%。", "財政部表示，五月出口上升5%。", "上升"),
    ("議會否決了港灣計畫。", "議會通過了港灣計畫。", "通过"),
]
KEPT = [
    ("Exports increased by 5 percent in May.", "Exports rose 5 percent in May."),
    ("Harwick lost to Northfield in Oslo.", "Northfield beat Harwick in Oslo."),
    ("Exports did not fall in May.", "Exports rose in May."),
    ("Imports fell while exports rose.", "Exports rose while imports fell."),
    ("出口成長5%，進口減少。", "出口增加5%，進口減少。"),
    ("The mayor spoke.", "Exports rose 5 percent."),
    ("Exports rose.", ""),
]
NEGATED = [
    ("The minister said he would resign.", "The minister said he would not resign.", "leaves out 'not'"),
    ("The minister did not resign on Friday.", "The minister resigned on Friday.", "does not negate"),
    ("Police found evidence of arson.", "Police found no evidence of arson.", "leaves out 'no'"),
    ("He didn't sign the contract with the port.", "He did sign the contract with the port.", "does not negate"),
    ("市長參加了今天的港灣會議。", "市長沒有參加今天的港灣會議。", "leaves out"),
    ("市長沒有參加今天的港灣會議。", "市長參加了今天的港灣會議。", "does not negate"),
    ("部长会辞职并离开政府。", "部长不会辞职并离开政府。", "leaves out '不'"),
]
AGREED = [
    ("The minister won't resign.", "The minister will not resign."),
    ("She said no such thing about No. 10.", "She said no such thing about No. 10 at all."),
    ("No, the dam held.", "The dam held."),
    ("Not only the dam held.", "The dam held."),
    ("市長未參加會議。", "市長沒有參加會議。"),
    ("非洲不少國家參加會議。", "非洲許多國家參加會議。"),
    ("She denies the charge.", "She did not accept the charge."),
    ("Nothing here.", ""),
]


@pytest.mark.parametrize(("claim", "source", "named"), TURNED)
def test_the_opposite_direction_in_the_same_place_speaks_against_a_claim(claim: str, source: str, named: str) -> None:
    failed = [finding for finding in direction_gate(claim, [source]) if not finding.check.passed]
    assert failed
    assert all(finding.conflict for finding in failed)
    assert any(named in finding.check.reason for finding in failed)


@pytest.mark.parametrize(("claim", "source"), KEPT)
def test_another_way_of_saying_the_same_direction_passes(claim: str, source: str) -> None:
    assert all(finding.check.passed for finding in direction_gate(claim, [source] if source else []))


@pytest.mark.parametrize(("claim", "source", "reason"), NEGATED)
def test_a_negation_more_or_less_speaks_against_a_claim(claim: str, source: str, reason: str) -> None:
    failed = [finding for finding in negation_gate(claim, [source]) if not finding.check.passed]
    assert any(reason in finding.check.reason for finding in failed), failed
    assert all(finding.conflict for finding in failed)


@pytest.mark.parametrize(("claim", "source"), AGREED)
def test_what_is_negated_in_both_or_in_neither_passes(claim: str, source: str) -> None:
    assert all(finding.check.passed for finding in negation_gate(claim, [source] if source else []))
