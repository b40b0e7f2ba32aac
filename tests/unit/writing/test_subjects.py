"""Who or what a claim speaks of."""

import pytest

from groundwire.writing.subjects import subject_gate


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("About 60% of the world can read.", "About 60% of Indians can read."),
        ("Farmers have left the old harbour since May.", "Sailors have left the old harbour since May."),
        ("約60%的農民領到補助。", "約60%的學生領到補助。"),
        ("農民將在五月離開舊港灣。", "水手將在五月離開舊港灣。"),
    ],
)
def test_another_subject_is_seen(claim: str, source: str) -> None:
    assert [finding.check.passed for finding in subject_gate(claim, [source])][:1] == [False]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("About 60% of Indian people can read.", "About 60% of Indians can read."),
        ("He said the harbour was closed.", "The mayor said the harbour was closed."),
        ("The company said the harbour was closed.", "HSBC said the harbour was closed."),
        ("The firm said the harbour was closed.", "The company said the harbour was closed."),
        ("The mayor stated that the harbour closed.", "The mayor said that the harbour closed."),
        ("警察說港灣已經關閉。", "警方說港灣已經關閉。"),
        ("儘管在五月，港灣關閉。", "雖然在五月，港灣關閉。"),
        ("About 60% of the world can read.", "約60%的學生領到補助。"),
        ("Twelve sailors left.", "12 sailors left."),
        ("A claim.", ""),
    ],
)
def test_the_same_subject_in_other_words_passes(claim: str, source: str) -> None:
    assert all(finding.check.passed for finding in subject_gate(claim, [source] if source else []))
