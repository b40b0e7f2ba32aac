from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.findings import CitationQuality, Discord, PremiseNote, Repair, Statement, StyleFinding
from groundwire.core.types import Article, Citation, Claim, NumberedSource
from groundwire.flow.findings import Findings, changes, finding_lines, quality_in_words, repair_line
from groundwire.flow.wording import fixed_words

EN = fixed_words("en")


def joined(repair: Repair, *kinds: str) -> str:
    return "".join(one.text for one in changes(repair) if one.kind in kinds)


@given(st.text(max_size=40), st.none() | st.text(max_size=40))
def test_a_diff_holds_both_wordings_whole(before: str, after: str | None) -> None:
    repair = Repair("softened", Claim("c1", before), None if after is None else Claim("c1", after), "")

    assert joined(repair, "kept", "gone") == before
    assert joined(repair, "kept", "new") == (after or "")


def test_words_and_chinese_characters_are_compared_one_by_one() -> None:
    english = Repair("softened", Claim("c1", "It definitely rose 3.2 metres."), Claim("c1", "It rose 3.2 metres."), "")
    chinese = Repair("softened", Claim("c1", "水位一定會上升。"), Claim("c1", "水位會上升。"), "")

    assert joined(english, "gone") == " definitely"
    assert joined(chinese, "gone") == "一定"


def test_a_wording_that_is_mostly_new_is_shown_one_after_the_other() -> None:
    repair = Repair("quoted", Claim("c1", "alpha beta gamma"), Claim("c1", "one"), "")

    assert [one.kind for one in changes(repair)] == ["gone", "new"]


def test_everything_found_has_a_line() -> None:
    article = Article(
        "T", Claim("c1", "H"), (), (), (NumberedSource(1, "d1", "Title", "Post"), NumberedSource(2, "d2")), "en"
    )
    sides = tuple(Statement("storm", "deaths", 5, "", "five", "", Citation(1, name)) for name in ("d1", "d2", "d9"))
    found = Findings(
        (Discord("conflict", sides, ""), Discord("update", (), "")),
        (PremiseNote("three", "two"),),
        (StyleFinding("r", "", ""), StyleFinding("r", "w", "a")),
        quality=CitationQuality(None, 0.5, 1.0, 3, 2, 1),
        orders=("o",),
        thin=("t",),
        uncited=("u",),
    )

    assert list(finding_lines(found, article, words=EN)) == [
        ("Premise", "three: two"),
        ("Orders in a source", "o"),
        ("Thin evidence", "t"),
        ("Conflict", "storm, deaths: five ([1] Post); five ([2]); five (d9)"),
        ("Update", ""),
        ("House rule", "r"),
        ("House rule", "r · w: a"),
        ("Kept but not cited", "u"),
        (
            "How well it cites",
            EN["semicolon"].join(
                (
                    "citation recall no value",
                    "citation precision 50%",
                    "claims that cite 100%",
                    "3 claims, 2 citations, 1 undecided",
                )
            ),
        ),
    ]
    assert list(finding_lines(Findings(), article, words=EN)) == []
    assert "undecided" not in quality_in_words(CitationQuality(1.0, 1.0, 1.0, 1, 1), EN)


def test_a_repair_in_one_line_names_words_markers_and_reason() -> None:
    before = Claim("c1", "Old.", (Citation(1, "d1"), Citation(1, "d1")))

    assert repair_line(Repair("recited", before, Claim("c1", "Old.", (Citation(2, "d2"),)), "there"), EN) == (
        "Cited anew",
        "Old. [1] → Old. [2] — there",
    )
    assert repair_line(Repair("cut", before, None, ""), EN) == ("Cut", "Old. [1] → (cut)")


def test_a_rise_against_a_fall_is_told_with_signs() -> None:
    article = Article("T", Claim("c1", "H"), (), (), (), "en")
    rise = Statement("Brightwater", "", 3, "%", "3%", "", Citation(1, "a"))
    discord = Discord("conflict", (rise, replace(rise, value=-3, citation=Citation(2, "b"))), "")

    assert list(finding_lines(Findings((discord,)), article, words=EN)) == [
        ("Conflict", "Brightwater: +3% (a); −3% (b)")
    ]
