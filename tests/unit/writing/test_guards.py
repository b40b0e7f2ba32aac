"""The gates: citations, quotations, numbers, dates and wording."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from groundwire.core.types import Citation, Document, Span
from groundwire.writing.cuts import marks_gate, part_gate, question_gate
from groundwire.writing.guards import (
    Excerpt,
    date_gate,
    find_words,
    is_chinese,
    number_gate,
    stem,
    wording_gate,
)
from groundwire.writing.quotes import TRANSLATED, find_quoted, name_gate, quotation_gate
from groundwire.writing.verify import citation_gate, resolve

PUBLISHED = date(2022, 9, 5)


def excerpt(text: str, *, identity: str = "a", published: date | None = None, source: str = "") -> Excerpt:
    return Excerpt(Document(identity, text, published=published, source=source), Span(0, len(text)), text)


# --- citations


TEXT = "Rain fell. The dam held. Rain fell. Nobody was hurt."


@pytest.mark.parametrize(
    ("citation", "text", "state", "span"),
    [
        (Citation(1, "a", 25, 35, "Rain fell."), TEXT, "unchanged", Span(25, 35)),
        (Citation(1, "a", 25, 35), TEXT, "unchanged", Span(25, 35)),
        (Citation(1, "a"), TEXT, "unchanged", Span(0, len(TEXT))),
        (Citation(1, "a", text="The dam held."), TEXT, "unchanged", Span(0, len(TEXT))),
        (Citation(1, "a", text="The dam broke."), TEXT, "changed", None),
        (Citation(1, "a", 27, 37, "Rain fell."), TEXT, "moved", Span(25, 35)),
        (Citation(1, "a", 2, 12, "Rain fell."), TEXT, "moved", Span(0, 10)),
        (Citation(1, "a", 900, 913, "The dam held."), TEXT, "moved", Span(11, 24)),
        (Citation(1, "a", 0, 13, "the  DAM held."), TEXT, "moved", Span(11, 24)),
        (Citation(1, "a", 11, 24, "The dam held."), "All was lost.", "changed", None),
        (Citation(1, "a", 900, 910), TEXT, "missing", None),
        (Citation(1, "a", -3, 4), TEXT, "missing", None),
        (Citation(1, "b", 0, 4), TEXT, "missing", None),
        (Citation(1, "a", 0, 5, "Title", part="title"), TEXT, "unchanged", Span(0, 5)),
    ],
)
def test_a_citation_is_unchanged_moved_changed_or_missing(
    citation: Citation, text: str, state: str, span: Span | None
) -> None:
    found = resolve(citation, {"a": Document("a", text, title="Title")})
    assert (found.state, found.excerpt and found.excerpt.span) == (state, span)
    assert bool(found.reason) == (state != "unchanged")


def test_the_citation_gate_passes_what_is_there_and_says_what_changed() -> None:
    documents = {"a": Document("a", TEXT)}
    found = [
        resolve(c, documents)
        for c in (Citation(1, "a", 27, 37, "Rain fell."), Citation(2, "b"), Citation(3, "a", 0, 3, "No."))
    ]
    checks = [finding.check for finding in citation_gate(found)]
    assert [(c.item, c.passed) for c in checks] == [("[1]", True), ("[2]", False), ("[3]", False)]
    assert "source changed" in checks[0].reason
    assert "source changed" in checks[2].reason
    assert "not in the archive" in checks[1].reason
    assert citation_gate([])[0].check.reason == "cites nothing"


def test_words_are_found_whole_and_with_their_offsets() -> None:
    assert find_words("art", "The party. Art!") == Span(11, 14)
    assert find_words("“it’s”  mine", 'x "it\'s"\nmine y') == Span(2, 13)
    assert find_words("cafe\u0301", "un cafe\u0301 noir") == Span(3, 8)
    assert find_words("", "text") is None
    assert find_words("tex", "text") is None


# --- quotations

QUOTE = (
    'The mayor said: "We lost a lot of houses in the flood. Nobody was left behind." '
    'Later she told reporters: "The river will be dredged next year, whatever it costs."'
)
CHINESE = "市長表示：「我們輸了這場比賽。我們會再回來。」隨後她說：「這條河明年會疏濬，不論花費多少。」"


@pytest.mark.parametrize(
    ("claim", "source", "passed", "reason"),
    [
        ('"We lost a lot of houses in the flood," she said.', QUOTE, True, ""),
        ("“We lost a lot of houses in the flood,” she said.", QUOTE, True, ""),
        ("‘we lost a lot of houses in the flood’, she said.", QUOTE, True, ""),
        ("She said 「We lost a lot of houses」.", QUOTE, True, ""),
        ('"We lost … houses in the flood."', QUOTE, True, ""),
        ('"We lost ... houses . . . the flood."', QUOTE, True, ""),
        ('"We lost a lot of [homes] in the flood."', QUOTE, True, ""),
        ('"[W]e lost a lot of houses."', QUOTE, True, ""),
        ('"houses … We lost"', QUOTE, False, "differs from the source"),
        ('"…"', QUOTE, None, ""),
        ('"… — …a"', QUOTE, False, ""),
        ('"We won a lot of houses in the flood."', QUOTE, False, "'won' where the source has 'lost'"),
        ('"We lost houses in the flood."', QUOTE, False, "'a lot of'"),
        ('"We lost a lot of houses. Nobody was left behind."', QUOTE, False, "leaves words of the source out"),
        ('"Nobody was left behind. The river will be dredged next year."', QUOTE, False, "2 different places"),
        ('"The moon is made of green cheese."', QUOTE, False, "stands in no cited source"),
        ('A "disgrace".', QUOTE, False, "stands in no cited source"),
        ('A "flood".', QUOTE, True, ""),
        ('The "art" of it.', "The party went on.", False, ""),
        ("市長說「我們輸了這場比賽」。", CHINESE, True, ""),
        ("市長說“我們輸了這場比賽”。", CHINESE, True, ""),
        ("市长说“我们输了这场比赛”。", CHINESE, True, "other Chinese script"),
        ("市長說「我們……比賽」。", CHINESE, True, ""),
        ("市長說「我們贏了這場比賽」。", CHINESE, False, "'贏' where the source has '輸'"),
        ("市長說「我們會再回來。這條河明年會疏濬」。", CHINESE, False, "2 different places"),
        ("市長說「我們失去很多房屋」。", QUOTE, False, "a translation that is not labelled"),
        ("市長說「我們失去很多房屋」（編譯）。", QUOTE, True, TRANSLATED),
    ],
)
def test_a_quotation_holds_word_for_word_or_fails_with_a_reason(
    claim: str, source: str, passed: bool | None, reason: str
) -> None:
    checks = [finding.check for finding in quotation_gate(claim, [excerpt(source)])]
    if passed is None:
        assert checks == []
        return
    assert [check.passed for check in checks] == [passed]
    assert reason in checks[0].reason


def test_a_quotation_inside_a_quotation_is_looked_at_once() -> None:
    (found,) = quotation_gate("他說：「我只說『好』而已」", [excerpt("他說：「我只說『好』而已。」")])
    assert found.check.passed


def test_a_quotation_that_stands_elsewhere_names_the_place() -> None:
    own, other = excerpt(f"{QUOTE} Pumps failed at noon."), excerpt("He said: “Pumps failed at noon.”", identity="b")
    claim = '"Pumps failed at noon," he said.'
    short = Excerpt(own.document, Span(0, len(QUOTE)), QUOTE)
    (inside,) = quotation_gate(claim, [short], elsewhere=[other, own])
    (outside,) = quotation_gate(claim, [excerpt(QUOTE)], elsewhere=[other])
    assert "outside the cited words" in inside.check.reason
    assert "'b' at 10-30, which is not cited" in outside.check.reason
    assert [inside.check.passed, outside.check.passed, inside.conflict, outside.conflict] == [False] * 4


def test_parts_of_a_quotation_come_in_order_near_each_other_in_one_paragraph() -> None:
    assert find_quoted("we won … in the end", "We won, and in the end all left.") == Span(0, 22)
    assert find_quoted("we won … in the end", "We won. We won it in the end.") == Span(0, 28)
    assert find_quoted("we won … in the end", "We won.\n\nIt was in the end.") is None
    assert find_quoted("we won … in the end", "We won" + " so" * 300 + " in the end.") is None
    assert find_quoted("we won … in the end", "We won" + " so" * 300 + " and we won in the end.") is not None
    assert find_quoted("…", "any … text") is not None


# --- numbers


@pytest.mark.parametrize(
    ("claim", "source", "passed", "conflict"),
    [
        ("It cost 5億元.", "It cost 500 million 元.", True, False),
        ("花了5億元", "花了5亿元", True, False),
        ("花了5萬元", "花了5億元", False, True),
        ("花了新台幣3億5,000萬元", "It cost NT$350 million.", True, False),
        ("60 percent of them", "60% of them", True, False),
        ("6 percentage points", "6%", False, True),
        ("上升0.3%", "上升0.3個百分點", False, True),
        ("12 people", "Twelve people", True, False),
        ("12 people", "12 buildings", False, True),
        ("12名學生", "12棟建築", False, True),
        ("12名学生", "十二名學生", True, False),
        ("$3.2 billion", "$3.2 million", False, True),
        ("€5", "$5", False, True),
        ("3 to 5 people", "3 people, then 5 people", True, False),
        ("3 to 6 people", "3 people, then 5 people", False, True),
        ("7 ships", "no ships at all", False, False),
        ("7 ships", "in 2021, at 7:30", False, False),
        ("one ship", "no ships at all", None, False),
    ],
)
def test_a_number_must_stand_in_the_source_with_value_and_unit(
    claim: str, source: str, passed: bool | None, conflict: bool
) -> None:
    found = number_gate(claim, [excerpt(source)])
    assert [(f.check.passed, f.conflict) for f in found] == ([] if passed is None else [(passed, conflict)])


def test_a_number_elsewhere_in_the_document_does_not_carry_the_claim() -> None:
    (found,) = number_gate(
        "7 ships", [excerpt("4 ships")], elsewhere=[excerpt("9 ships"), excerpt("4 ships. 7 ships.")]
    )
    assert not found.check.passed
    assert not found.conflict
    assert "not in the cited words" in found.check.reason


# --- dates


@pytest.mark.parametrize(
    ("claim", "source", "passed", "conflict"),
    [
        ("in 2022", "It rained.", True, False),
        ("in Q3 2022", "It rained.", True, False),
        ("on 5 September 2022", "It rained.", True, False),
        ("on 5 September 2022", "It rained yesterday.", False, True),
        ("in Q4 2023", "It rained.", False, True),
        ("in 2019", "It rained.", False, False),
        ("in 2019", "It rained in 2020.", False, True),
        ("in 2022", "It rained in 2020.", False, True),
        ("In 2022, as in 2020", "It rained in 2020.", True, False),
        ("in 2022", "It rained on 6 May.", True, False),
        ("in 2022", "去年5月6日下雨", False, True),
        ("in May 2022", "It rained on May 6.", True, False),
        ("on May 6, 2022", "It rained on May 6.", True, False),
        ("on May 6, 2021", "It rained on May 6.", False, True),
        ("on May 6, 2020", "It rained in May 2020.", False, False),
        ("上週二", "8月30日宣布", True, False),
        ("8月30日", "上週二宣布", True, False),
        ("2021年10月7日", "去年10月7日", True, False),
        ("2022年10月7日", "去年10月7日", False, True),
        ("on Sunday", "It rained yesterday.", True, False),
        ("on 4 September", "It rained yesterday.", True, False),
        ("民國111年", "2022年", True, False),
        ("last year", "in 2021", True, False),
        ("去年", "in 2020", False, True),
    ],
)
def test_a_date_must_be_named_by_the_source_or_its_publication(
    claim: str, source: str, passed: bool, conflict: bool
) -> None:
    for finding in date_gate(claim, [excerpt(source, published=PUBLISHED)]):
        assert (finding.check.passed, finding.conflict) == (passed, conflict)


def test_yesterday_in_the_article_is_not_yesterday_in_an_older_source() -> None:
    source = [excerpt("It rained yesterday.", published=PUBLISHED)]
    (later,) = date_gate("It rained yesterday.", source, written=date(2024, 1, 1))
    (quoted,) = date_gate('She said "it rained yesterday".', source, written=date(2024, 1, 1))
    (same_day,) = date_gate("It rained yesterday.", source, written=PUBLISHED)
    (unknown,) = date_gate("It rained yesterday.", [excerpt("It rained yesterday.")], written=None)
    assert "means 2022-09-04, here 2023-12-31" in later.check.reason
    assert later.conflict
    assert all(finding.check.passed for finding in (quoted, same_day, unknown))
    assert date_gate("It rained.", source) == ()
    (open_question,) = date_gate("It rained in 2019.", [excerpt("It rained last month.")])
    (two_days,) = date_gate("It rained today.", [excerpt("It rained yesterday.")])
    assert (open_question.check.passed, open_question.conflict) == (False, False)
    assert (two_days.check.passed, two_days.conflict) == (False, True)


# --- wording


def test_wording_passes_is_thin_or_speaks_of_something_else() -> None:
    source = [excerpt("The city opened a new bridge over the harbour.", source="Northline")]
    full = wording_gate("A new bridge over the harbour was opened, Northline reported.", source)
    thin = wording_gate("A new bridge opened with fireworks and music.", source)
    none = wording_gate("Cats like fish.", source)
    foreign = wording_gate("市府啟用新橋", source)
    nothing = wording_gate("Cats like fish.", [])
    assert [f.check.passed for f in (full, thin, none, foreign, nothing)] == [True, False, False, False, False]
    assert [f.conflict for f in (full, thin, none, foreign, nothing)] == [False, False, True, True, True]
    assert "different languages" in foreign.check.reason
    assert wording_gate("市府启用新桥", [excerpt("市府今天啟用新橋。")]).check.passed
    assert wording_gate("失業率來到百分之三點八", [excerpt("失業率來到3.8%。")]).check.passed


def test_endings_are_taken_off_for_comparing() -> None:
    assert {stem(word) for word in ("opened", "opening", "opens", "open")} == {"open"}
    assert (stem("press"), stem("sing"), stem("rose"), stem("sea")) == ("press", "sing", "ros", "sea")
    assert is_chinese("台北 101")
    assert not is_chinese("Taipei 台")
    assert not is_chinese("101")


@given(st.text(max_size=120), st.text(max_size=200), st.none() | st.dates(), st.none() | st.dates())
def test_no_text_makes_a_gate_raise(claim: str, source: str, published: date | None, written: date | None) -> None:
    excerpts = [excerpt(source, published=published)]
    quoted = f"“{claim}”"
    findings = [
        *quotation_gate(quoted, excerpts, elsewhere=excerpts),
        *number_gate(claim, excerpts, elsewhere=excerpts),
        *date_gate(claim, excerpts, written=written),
        wording_gate(claim, excerpts),
        *name_gate(claim, excerpts, elsewhere=excerpts),
        *marks_gate(claim, [source, claim]),
        *part_gate(claim, [source]),
        *question_gate(claim, [source, claim]),
    ]
    assert all(f.check.passed or f.check.reason for f in findings)


@given(
    st.text(alphabet="ab .…[]\"'“”說「」1我們", max_size=40), st.text(alphabet="ab .…[]\"'“”說「」1我們", max_size=60)
)
def test_what_is_found_as_a_quotation_stands_there(quote: str, text: str) -> None:
    found = find_quoted(quote, text)
    assert found is None or 0 <= found.start < found.end <= len(text)
