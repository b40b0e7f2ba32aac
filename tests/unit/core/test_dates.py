from __future__ import annotations

from datetime import UTC, date, datetime
from email.utils import format_datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from groundwire.core.dates import read_date

SIXTH_OF_MAY = date(2024, 5, 6)


@pytest.mark.parametrize(
    "written",
    [
        "2024-05-06",
        "2024-05-06T23:30:00+08:00",
        "2024-05-06T00:30:00.123456Z",
        "2024-05-06 10:00:00 UTC",
        "20240506",
        "20240506T101010Z",
        "20240506101010",
        20240506,
        "2024-W19-1",
        "Mon, 06 May 2024 10:00:00 GMT",
        "Mon, 6 May 2024 10:00:00 +0800 (CST)",
        "Mon May  6 10:00:00 2024",
        "May 6, 2024",
        "May 6th, 2024",
        "Monday, May 6, 2024 at 3:04 p.m. EDT",
        "6 May 2024",
        "6-May-2024",
        "2024/5/6",
        "2024.05.06",
        "2024年5月6日",
        "2024年05月06日 15:39",
        "２０２４年５月６日",
        "2024年5月6日（星期一）下午3:04",
        "二〇二四年五月六日",
        "2024년 5월 6일",
        "民國113年5月6日",
        "113年5月6日",
        "113/5/6",
        "202405061230",
        "2024050612",
        "20240506123059",
        202405061230,
        "2024年5月6日(一)",
        "西元2024年5月6日",
        "2024‑05‑06",
        "2024-05-06 10:00 (Taipei)",
        "中華民國一百一十三年五月六日",
        "民國一一三年五月六日",
        "  2024-05-06  ",
        1714953600,
        1714953600.5,
        1714953600000,
        "1714953600",
        1714953600000000,
        date(2024, 5, 6),
        datetime(2024, 5, 6, 23, 59, tzinfo=UTC),
    ],
)
def test_reads_what_people_write(written: object) -> None:
    assert read_date(written).value == SIXTH_OF_MAY


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("民國元年一月一日", date(1912, 1, 1)),
        ("民國99年5月6日", date(2010, 5, 6)),
        ("民國一一三年十二月廿三日", date(2024, 12, 23)),
        ("二〇二四年五月三十一日", date(2024, 5, 31)),
        ("民國一百年十月十日", date(2011, 10, 10)),
        ("Sept. 6, 2024", date(2024, 9, 6)),
        ("5/13/2024", date(2024, 5, 13)),
        ("13/5/2024", date(2024, 5, 13)),
        ("5/5/2024", date(2024, 5, 5)),
        ("2024-02-29", date(2024, 2, 29)),
    ],
)
def test_reads_the_less_usual(written: str, read: date) -> None:
    assert read_date(written).value == read


@pytest.mark.parametrize(
    ("written", "reason"),
    [
        ("5/6/2024", "day/month or month/day"),
        ("5.6.2024", "day/month or month/day"),
        ("5/6/24", "no full year"),
        ("2024-02-30", "impossible"),
        ("2023-02-29", "impossible"),
        ("2024-13-01", "impossible"),
        (20241301, "impossible"),
        ("2024130612", "impossible"),
        ("2024050625", "neither"),
        (100_000_000, "neither"),
        ("2024-W60-1", "impossible"),
        ("0999-01-01", "outside 1000 to 2200"),
        ("2201-01-01", "outside 1000 to 2200"),
        ("2024", "names no day"),
        ("2024-05", "names no day"),
        ("2024年5月", "names no day"),
        ("99年5月6日", "not a form"),
        ("令和6年5月6日", "not a form"),
        ("2024-05-06abc", "not a form"),
        ("2024-05-061", "not a form"),
        ("113/5/6 or so", "not a form"),
        ("5/6/2024 or so", "not a form"),
        ("2024-W19-1 or so", "not a form"),
        ("yesterday", "not a form"),
        ("", "no date given"),
        (" \u3000", "no date given"),
        (None, "no date given"),
        (True, "bool"),
        ([2024, 5, 6], "list"),
        (float("nan"), "nan"),
        (float("inf"), "inf"),
        (-5, "neither like"),
        (45418, "neither like"),
        (10**30, "neither like"),
        pytest.param(10**5000, "neither like", id="5000 digits"),
        pytest.param("一" * 100_000 + "年", "too long", id="100,000 numerals"),
    ],
)
def test_refuses_with_a_reason_and_never_guesses(written: object, reason: str) -> None:
    reading = read_date(written)

    assert reading.value is None
    assert reason in reading.reason


def test_an_order_settles_what_is_ambiguous() -> None:
    assert read_date("5/6/2024", order="day").value == date(2024, 6, 5)
    assert read_date("5/6/2024", order="month").value == date(2024, 5, 6)
    assert read_date("13/5/2024", order="month").value == date(2024, 5, 13)


def test_says_what_it_decided() -> None:
    assert "民國" in read_date("113年5月6日").reason
    assert "UTC" in read_date(1714953600).reason
    assert read_date("2024-05-06").reason == ""


@settings(deadline=None)
@given(st.dates(min_value=date(1000, 1, 1), max_value=date(2200, 12, 31)))
def test_iso_dates_come_back(day: date) -> None:
    assert read_date(day.isoformat()).value == day
    assert read_date(f"{day.year}年{day.month}月{day.day}日").value == day


@settings(deadline=None)
@given(st.datetimes(min_value=datetime(1900, 1, 1), max_value=datetime(2200, 1, 1)))
def test_mail_dates_come_back(moment: datetime) -> None:
    assert read_date(format_datetime(moment)).value == moment.date()


@settings(deadline=None)
@given(st.text(max_size=120) | st.integers() | st.floats() | st.booleans() | st.none())
def test_never_fails(value: object) -> None:
    reading = read_date(value)

    assert reading.value is not None or reading.reason
