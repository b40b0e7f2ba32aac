"""Dates and quotations in running text."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.agreement import dates_agree
from groundwire.core.mentions import find_dates, find_quotations
from groundwire.core.quotations import unclosed_marks

ANCHOR = date(2022, 9, 5)  # a Monday


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("May 6, 2024", "2024-05-06", "2024-05-06"),
        ("on 6 May 2023", "2023-05-06", "2023-05-06"),
        ("6th of May", "2022-05-06", "2022-05-06"),
        ("Sept. 11, 2001", "2001-09-11", "2001-09-11"),
        ("25 December", "2022-12-25", "2022-12-25"),
        ("May 2024", "2024-05-01", "2024-05-31"),
        ("in May", "2022-05-01", "2022-05-31"),
        ("in 2024", "2024-01-01", "2024-12-31"),
        ("the 1990s", "1990-01-01", "1999-12-31"),
        ("Q4 2023", "2023-10-01", "2023-12-31"),
        ("2023 Q1", "2023-01-01", "2023-03-31"),
        ("the third quarter", "2022-07-01", "2022-09-30"),
        ("the second quarter of 2021", "2021-04-01", "2021-06-30"),
        ("2024-05-06", "2024-05-06", "2024-05-06"),
        ("5月6日", "2022-05-06", "2022-05-06"),
        ("12月31日", "2022-12-31", "2022-12-31"),
        ("民國113年", "2024-01-01", "2024-12-31"),
        ("民國元年", "1912-01-01", "1912-12-31"),
        ("113年5月", "2024-05-01", "2024-05-31"),
        ("民國113年5月6日", "2024-05-06", "2024-05-06"),
        ("二〇二四年五月六日", "2024-05-06", "2024-05-06"),
        ("去年10月7日", "2021-10-07", "2021-10-07"),
        ("明年5月", "2023-05-01", "2023-05-31"),
        ("去年", "2021-01-01", "2021-12-31"),
        ("前年", "2020-01-01", "2020-12-31"),
        ("2023年第四季", "2023-10-01", "2023-12-31"),
        ("第三季", "2022-07-01", "2022-09-30"),
        ("去年第二季度", "2021-04-01", "2021-06-30"),
        ("1990年代", "1990-01-01", "1999-12-31"),
        ("yesterday", "2022-09-04", "2022-09-04"),
        ("today", "2022-09-05", "2022-09-05"),
        ("last Tuesday", "2022-08-30", "2022-08-30"),
        ("Tuesday", "2022-08-30", "2022-08-30"),
        ("Monday", "2022-09-05", "2022-09-05"),
        ("last Monday", "2022-08-29", "2022-08-29"),
        ("next Friday", "2022-09-09", "2022-09-09"),
        ("上週二", "2022-08-30", "2022-08-30"),
        ("上周二", "2022-08-30", "2022-08-30"),
        ("下週三", "2022-09-14", "2022-09-14"),
        ("星期天", "2022-09-04", "2022-09-04"),
        ("昨天", "2022-09-04", "2022-09-04"),
        ("今日", "2022-09-05", "2022-09-05"),
        ("上個月", "2022-08-01", "2022-08-31"),
        ("本週", "2022-09-05", "2022-09-11"),
        ("last year", "2021-01-01", "2021-12-31"),
        ("next month", "2022-10-01", "2022-10-31"),
        ("last quarter", "2022-04-01", "2022-06-30"),
        ("last decade", "2012-01-01", "2021-12-31"),
        ("three days ago", "2022-09-02", "2022-09-02"),
        ("a week ago", "2022-08-29", "2022-09-04"),
        ("兩年前", "2020-01-01", "2020-12-31"),
        ("3天前", "2022-09-02", "2022-09-02"),
        ("last May", "2022-05-01", "2022-05-31"),
        ("last December", "2021-12-01", "2021-12-31"),
        ("next September", "2023-09-01", "2023-09-30"),
        ("this September", "2022-09-01", "2022-09-30"),
        ("（中央社台北1日電）", "2022-09-01", "2022-09-01"),
        ("30日", "2022-08-30", "2022-08-30"),
        ("early May", "2022-05-01", "2022-05-10"),
        ("mid-May 2020", "2020-05-11", "2020-05-20"),
        ("end of June", "2022-06-21", "2022-06-30"),
        ("early 2021", "2021-01-01", "2021-04-30"),
        ("late last year", "2021-09-01", "2021-12-31"),
        ("second half of last year", "2021-07-01", "2021-12-31"),
        ("second half of the year", "2022-07-01", "2022-12-31"),
        ("summer of 2021", "2021-06-01", "2021-08-31"),
        ("FY21", "2021-01-01", "2021-12-31"),
        ("the '80s", "1980-01-01", "1989-12-31"),
        ("八十年代", "1980-01-01", "1989-12-31"),
        ("12月初", "2022-12-01", "2022-12-10"),
        ("上個月底", "2022-08-21", "2022-08-31"),
        ("年底", "2022-09-01", "2022-12-31"),
        ("去年元旦", "2021-01-01", "2021-01-01"),
        ("Christmas Day 2020", "2020-12-25", "2020-12-25"),
        ("day after tomorrow", "2022-09-07", "2022-09-07"),
        ("founded in November", "2021-11-01", "2021-11-30"),
        ("will open in November", "2022-11-01", "2022-11-30"),
        ("was held on 7 October", "2021-10-07", "2021-10-07"),
        ("已於11月完工", "2021-11-01", "2021-11-30"),
        ("March this year", "2022-03-01", "2022-03-31"),
    ],
)
def test_a_date_is_resolved_against_the_day_of_publication(text: str, start: str, end: str) -> None:
    (found,) = find_dates(text, anchor=ANCHOR)
    assert (str(found.start), str(found.end)) == (start, end)


@pytest.mark.parametrize(
    "text",
    [
        "2月30日",
        "Feb. 30",
        "he may go",
        "1,500 people",
        "2000 people",
        "1500公尺",
        "$2024",
        "may 6",
        "3日內",
        "39日",
        "去年2月30日",
    ],
)
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert [m for m in find_dates(text, anchor=ANCHOR) if m.granularity != "year"] == []


@pytest.mark.parametrize("text", ["22年5月", "農曆七月十五", "正月初五", "winter 2021"])
def test_what_may_mean_several_days_stays_open(text: str) -> None:
    (found,) = find_dates(text, anchor=ANCHOR)
    assert (found.text, found.start, found.end) == (text, None, None)


@pytest.mark.parametrize("text", ["early", "the early in bird", "13月初", "Feb. 30 last year"])
def test_a_part_of_nothing_is_no_date(text: str) -> None:
    assert [m for m in find_dates(text, anchor=ANCHOR) if m.granularity in ("part", "day")] == []


def test_without_an_anchor_a_date_is_kept_unresolved_unless_it_names_the_year() -> None:
    text = "yesterday, 6 May, 去年, 上週二, 1日, last May, Q4, 去年5月, May 2024, last week, 2024年"
    found = {mention.text: mention for mention in find_dates(text)}
    assert {word for word, mention in found.items() if mention.start} == {"May 2024", "2024年"}
    assert found["去年5月"].key == "year-1 --05"
    assert {word for word, mention in found.items() if mention.absolute} == {"May 2024", "2024年"}
    (leap,) = find_dates("29 February", anchor=ANCHOR)
    assert leap.start is None


@pytest.mark.parametrize("anchor", [date.min, date.max, date(9999, 12, 31), date(2024, 2, 29)])
def test_the_ends_of_the_calendar_are_no_trap(anchor: date) -> None:
    text = (
        "tomorrow, yesterday, next week, last week, next year, last month, 前年, 後年, 上週一, 下週日, 31日, in May, "
        "last May, next decade, 9999年, 5 weeks ago"
    )
    assert find_dates(text, anchor=anchor)


@pytest.mark.parametrize(
    ("claim", "source", "outcome"),
    [
        ("May 2024", "May 6, 2024", "same"),
        ("2024", "Q2 2024", "same"),
        ("May 6, 2024", "May 2024", "finer"),
        ("2023", "May 2024", "other"),
        ("5月6日", "6 May", "same"),
        ("6 May", "May 6, 2024", "same"),
        ("May 6, 2024", "6 May", "finer"),
        ("yesterday", "昨天", "same"),
        ("yesterday", "today", "other"),
        ("Tuesday", "May 2024", "other"),
    ],
)
def test_dates_agree_when_the_source_is_as_fine(claim: str, source: str, outcome: str) -> None:
    assert dates_agree(find_dates(f"in {claim}")[0], find_dates(f"in {source}")[0]) == outcome


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("He said \"we lost\" and 'we won' and don't.", ["we lost", "we won"]),
        ("“a ‘b c’ d”", ["a ‘b c’ d", "b c"]),
        ("「他說『好』了」", ["他說『好』了", "好"]),
        ("students’ work ‘was fine’ they say", ["was fine"]),
        ("worried about 'looking like muppets'", ["looking like muppets"]),
        ("‘It’s ours,’ she said.", ["It’s ours,"]),
        ("„Ja“ und «non»", ["Ja", "non"]),
        ("„“„", []),
        ("“unclosed", []),
        ("closed only”", []),
        ("5'11\" tall", []),
        ('one "line\nother" line', []),
        ("the '90s and rock 'n' roll", ["n"]),
        ("““", []),
        ('He said “we lost" today', ["we lost"]),
        ('He said "we lost” today', ["we lost"]),
        ('“abc" and “def" x', ["abc", "def"]),
        ('“He said "no" loudly” x', ['He said "no" loudly', "no"]),
        ("He said ``we lost'' now", ["we lost"]),
        ("&quot;we lost&quot;", ["we lost"]),
        ("”vi ses”", ["vi ses"]),
        ("‹a b›", ["a b"]),
        ("‚a b‘", ["a b"]),
        ("｢你好｣", ["你好"]),
        ("“a\nb” c", ["a\nb"]),
        ('“a\n"b” c', ["b"]),
        ("“ ”", []),
    ],
)
def test_quotations_are_found_with_the_span_of_their_inside(text: str, expected: list[str]) -> None:
    found = find_quotations(text)
    assert [text[q.span.start : q.span.end] for q in found] == [q.text for q in found] == expected


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("“unclosed", (0,)),
        ("5'11\" tall", ()),
        ("「open", (0,)),
        ("shut」", (4,)),
        ("“a” ‚b‘ ‘c", (8,)),
        ("x‘", ()),
        ("“a 「b”", ()),
        ("He said ``we lost", (8,)),
        ("&quot;we lost", (0,)),
        ("<q>we lost", (0,)),
    ],
)
def test_a_mark_that_is_not_closed_is_told(text: str, places: tuple[int, ...]) -> None:
    assert tuple(mark.start for mark in unclosed_marks(text)) == places


@settings(deadline=None)
@given(st.text(max_size=200), st.none() | st.dates())
def test_any_text_is_read_without_an_error(text: str, anchor: date | None) -> None:
    found = find_dates(text, anchor=anchor)
    assert all(text[m.span.start : m.span.end] == m.text for m in found)
    assert all(m.start is None or (m.end is not None and m.start <= m.end) for m in found)
    assert all(text[q.span.start : q.span.end] == q.text for q in find_quotations(text))
    assert all(q.outer.start < q.span.start <= q.span.end < q.outer.end for q in find_quotations(text))


@given(
    st.dates(date(1000, 1, 1), date(2999, 12, 31)),
    st.dates(),
    st.text(alphabet="0123456789月日年QMayJune ago去前上週二nextlastday,-/季第民國", max_size=40),
)
def test_any_mix_of_date_signs_is_read_without_an_error(written: date, anchor: date, noise: str) -> None:
    assert all(m.text in noise for m in find_dates(noise, anchor=anchor))
    assert find_dates(written.isoformat(), anchor=anchor)[0].start == written
